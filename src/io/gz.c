/* SPDX-License-Identifier: Apache-2.0
 *
 * The only file that calls zlib. Its state lives in an arena, so nothing must be closed if a call
 * fails. Independent of files and their contents.
 */
#include "io/gz.h"

#include <assert.h>
#include <limits.h>
#define ZLIB_CONST
#include <zlib.h>

#define GZ_WRAP   (MAX_WBITS + 16) /* gzip header and trailer instead of zlib's */
#define GZ_MEMORY 8                /* zlib's default */
#define GZ_OUT    ((size_t)64 << 10)

enum gunzip_state { GUNZIP_MEMBER, GUNZIP_BETWEEN, GUNZIP_PADDING };

struct gunzip {
	z_stream z;
	enum gunzip_state state;
};

/* Allocates for zlib. */
static void *gz_alloc(void *a, unsigned n, unsigned size)
{
	return arena_array(a, n, size, _Alignof(max_align_t));
}

/* No-op: the arena releases everything at once. */
static void gz_free(void *a, void *p)
{
	(void)a;
	(void)p;
}

/* zlib's counts are unsigned int. */
static unsigned gz_clip(size_t n)
{
	return n > UINT_MAX ? UINT_MAX : (unsigned)n;
}

/* True for the two bytes of magic and the only existing method. */
bool gz_is(struct str head)
{
	return head.n >= 3 && memcmp(head.p, "\x1f\x8b\x08", 3) == 0;
}

static struct gunzip *open_wrapped(struct arena *a, int bits)
{
	struct gunzip *g = ARENA_NEW(a, struct gunzip);
	int rc;

	g->z = (z_stream){ .zalloc = gz_alloc, .zfree = gz_free, .opaque = a };
	rc = inflateInit2(&g->z, bits);
	assert(rc == Z_OK);
	(void)rc;
	return g;
}

struct gunzip *gunzip_open(struct arena *a)
{
	return open_wrapped(a, GZ_WRAP);
}

struct gunzip *gunzip_open_zlib(struct arena *a)
{
	return open_wrapped(a, MAX_WBITS);
}

/* Continues after the end of a member: with padding or the next member. */
static bool gunzip_between(struct gunzip *g, struct str *in, const char **why)
{
	while (in->n && *in->p == 0) {
		g->state = GUNZIP_PADDING;
		in->p++;
		in->n--;
	}
	if (in->n == 0)
		return true;
	if (g->state == GUNZIP_PADDING || (uint8_t)*in->p != 0x1f) {
		*why = "something else follows it";
		return false;
	}
	inflateReset(&g->z);
	g->state = GUNZIP_MEMBER;
	return true;
}

/* Returns the fault in the data after inflate has failed. */
static const char *gunzip_fault(const struct gunzip *g)
{
	if (!g->z.msg)
		return "it is broken";
	if (strcmp(g->z.msg, "incorrect data check") == 0)
		return "the checksum does not match the data";
	if (strcmp(g->z.msg, "incorrect length check") == 0)
		return "the length does not match the data";
	return g->z.msg;
}

/* Decompresses as much data as fits. */
int gunzip_run(struct gunzip *g, struct str *in, uint8_t **out, uint8_t *out_end, const char **why)
{
	int rc;

	if (g->state != GUNZIP_MEMBER && !gunzip_between(g, in, why))
		return -1;
	if (in->n == 0 || *out == out_end)
		return 0;
	g->z.next_in = (const Bytef *)in->p;
	g->z.avail_in = gz_clip(in->n);
	g->z.next_out = *out;
	g->z.avail_out = gz_clip((size_t)(out_end - *out));
	rc = inflate(&g->z, Z_NO_FLUSH);
	in->n -= (size_t)((const char *)g->z.next_in - in->p);
	in->p = (const char *)g->z.next_in;
	*out = g->z.next_out;
	if (rc == Z_STREAM_END) {
		g->state = GUNZIP_BETWEEN;
	} else if (rc != Z_OK) {
		*why = gunzip_fault(g);
		return -1;
	}
	return 1;
}

bool gunzip_at_end(const struct gunzip *g)
{
	return g->state != GUNZIP_MEMBER;
}

void gunzip_restart(struct gunzip *g)
{
	inflateReset(&g->z);
	g->state = GUNZIP_MEMBER;
}

struct gzip {
	z_stream z;
	struct sink *to;
	uint8_t out[GZ_OUT];
};

/* Runs deflate until it has consumed its input (or, with Z_FINISH, written all output). */
static bool gzip_run(struct gzip *g, int flush, struct err *why)
{
	int rc;

	do {
		g->z.next_out = g->out;
		g->z.avail_out = GZ_OUT;
		rc = deflate(&g->z, flush);
		assert(rc != Z_STREAM_ERROR);
		(void)rc;
		sink_put(g->to, str_make(g->out, GZ_OUT - g->z.avail_out));
	} while (g->z.avail_out == 0);
	return sink_ok(g->to) || sink_copy_error(g->to, why);
}

/* Compresses n bytes. */
static bool gzip_put(void *user, const void *p, size_t n, struct err *why)
{
	struct gzip *g = user;

	g->z.next_in = p;
	for (; n; n -= gz_clip(n)) {
		g->z.avail_in = gz_clip(n);
		if (!gzip_run(g, Z_NO_FLUSH, why))
			return false;
	}
	return true;
}

/* Ends the stream with its trailer. */
static bool gzip_finish(void *user, struct err *why)
{
	struct gzip *g = user;

	g->z.avail_in = 0;
	return gzip_run(g, Z_FINISH, why);
}

static const struct sink_ops gzip_ops = { .put = gzip_put, .finish = gzip_finish };

struct sink *gzip_sink(struct arena *a, struct sink *to)
{
	struct gzip *g = ARENA_NEW(a, struct gzip);
	int rc;

	g->to = to;
	g->z = (z_stream){ .zalloc = gz_alloc, .zfree = gz_free, .opaque = a };
	rc = deflateInit2(
	        &g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZ_WRAP, GZ_MEMORY, Z_DEFAULT_STRATEGY);
	assert(rc == Z_OK);
	(void)rc;
	return sink_new(a, &gzip_ops, g);
}
