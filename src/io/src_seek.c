/* SPDX-License-Identifier: Apache-2.0
 *
 * Skips bytes of an input without reading them.
 */
#define _GNU_SOURCE /* SEEK_DATA */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/src.h"

/* Seeks n bytes forward from p in a regular file, or to its end if the end is nearer. */
static bool src_seek(struct src_inner *in, uint64_t n)
{
	struct src *s = &in->pub;
	uint64_t at = src_at(s);
	struct stat st;
	bool ok;

	if (fstat(in->fd, &st) == 0) /* the file may have grown or shrunk */
		in->raw_size =
		        (uint64_t)st.st_size > in->base ? (uint64_t)st.st_size - in->base : 0;
	ok = in->raw_size > at && n <= in->raw_size - at;
	if (ok)
		s->end_at = at + n;
	else if (in->raw_size > s->end_at)
		s->end_at = in->raw_size;
	in->raw_at = s->end_at;
	s->p = s->end = in->buf;
	in->first = in->ended = false;
	return ok;
}

/* Skips n bytes. */
bool src_skip(struct src *s, uint64_t n)
{
	struct src_inner *in = s->in;
	uint64_t have = (uint64_t)(s->end - s->p);

	if (n > have && !in->failed && in->regular && in->raw_size && !in->gz)
		return src_seek(in, n);
	while (n > have) {
		n -= have;
		s->p = s->end;
		if (!src_fill(in, 1))
			return false;
		have = (uint64_t)(s->end - s->p);
	}
	s->p += n;
	return true;
}

/* requires that all unread bytes are consumed */
void src_pass_hole(struct src *s)
{
	struct src_inner *in = s->in;
	uint64_t at = in->base + s->end_at;
	off_t data;

	if (s->p != s->end || !in->regular || !in->owned || in->gz || in->fd < 0)
		return;
	data = lseek(in->fd, (off_t)at, SEEK_DATA);
	if (data > (off_t)at || (data < 0 && errno == ENXIO && in->raw_size > s->end_at))
		src_seek(in, data < 0 ? UINT64_MAX : (uint64_t)data - at);
}
