/* SPDX-License-Identifier: Apache-2.0
 *
 * The connections of serve: which are idle, and which are closed first.
 */
#include "cli/serve.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* Returns the inode of a connection to the server, or 0 if the descriptor is not such a
 * connection. */
static ino_t connection(const struct serve_clients *c, int fd)
{
	struct sockaddr_in at = { 0 };
	socklen_t n = sizeof at, size = sizeof(int);
	int listens = 1;
	struct stat st;

	if (getsockname(fd, (struct sockaddr *)&at, &n) || at.sin_family != AF_INET ||
	        ntohs(at.sin_port) != c->port)
		return 0;
	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) || listens || fstat(fd, &st))
		return 0;
	return st.st_ino;
}

void serve_clients_check(struct serve_clients *c)
{
	for (int fd = 0; fd < SERVE_FILES_MAX; fd++) {
		struct serve_client *x = &c->v[fd];
		ino_t now = connection(c, fd);
		if (now != x->socket)
			*x = (struct serve_client){ .socket = now };
		x->checks++;
		if (now && x->checks > (x->answered ? SERVE_ANSWER_CHECKS : SERVE_REQUEST_CHECKS))
			shutdown(fd, SHUT_RDWR);
	}
}

/* True if a connection waits for a request. */
static bool is_idle(const struct serve_clients *c, int fd)
{
	ino_t now = connection(c, fd);
	int unread = 0;

	return now && (now != c->v[fd].socket || !c->v[fd].answered) &&
	       !ioctl(fd, FIONREAD, &unread) && !unread;
}

unsigned serve_clients_end_idle(struct serve_clients *c)
{
	unsigned ended = 0;

	/* A request that follows its connection immediately arrives in the meantime. */
	poll(NULL, 0, SERVE_GRACE_MS);
	for (int fd = 0; fd < SERVE_FILES_MAX; fd++)
		if (is_idle(c, fd)) {
			shutdown(fd, SHUT_RDWR);
			ended++;
		}
	return ended;
}

void serve_clients_restart(struct serve_clients *c, int fd, bool answered)
{
	if (fd >= 0 && fd < SERVE_FILES_MAX)
		c->v[fd] = (struct serve_client){ connection(c, fd), 0, answered };
}
