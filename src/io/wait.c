/* SPDX-License-Identifier: Apache-2.0
 *
 * Waits for a descriptor in slices, so that a cancel can be checked in between.
 */
#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#define WAIT_SLICE 50 /* ms: longest delay until a cancel is detected */

bool wait_ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };
	int rc = poll(&p, 1, WAIT_SLICE);

	return rc > 0 || (rc < 0 && errno != EINTR);
}

int wait_reader(const char *path, int flags, const struct work *w)
{
	int fd;

	while ((fd = open(path, flags | O_NONBLOCK)) < 0 && (errno == ENXIO || errno == EINTR)) {
		if (work_cancelled(w)) {
			errno = ECANCELED;
			break;
		}
		poll(NULL, 0, WAIT_SLICE);
	}
	return fd;
}
