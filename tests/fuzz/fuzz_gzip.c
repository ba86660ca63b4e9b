/* SPDX-License-Identifier: Apache-2.0
 *
 * gzip: the input is decompressed as gzip data, up to a limit, and also compressed and decompressed
 * again.
 */
#include "io/gz.h"
#include "io/src.h"
#include "rig.h"

#define UNPACKED_MAX ((size_t)16 << 20)

/* Reads all data, up to the limit. */
static size_t unpack(struct arena *a, struct str bytes, struct str *out, bool recover)
{
	struct err e = { .a = a };
	struct src *s;

	if (!src_memory(&s, a, S("input"), bytes, &e))
		abort();
	s->damage->recover = recover;
	src_need(s, UNPACKED_MAX);
	if (src_failed(s) != (e.code != ERR_NONE) || (recover && src_failed(s)))
		abort();
	*out = str_make(s->p, (size_t)(s->end - s->p));
	return out->n;
}

static void check(struct arena *a, struct str bytes)
{
	struct err e = { .a = a };
	struct str out, more;

	unpack(a, bytes, &out, false);
	unpack(a, bytes, &more, true);
	if (!str_eq(str_sub(more, 0, out.n), out))
		abort();
	struct sink *to = sink_memory(a), *gz = gzip_sink(a, to);
	sink_put(gz, bytes);
	if (!sink_close(gz, &e))
		abort();
	unpack(a, sink_text(to), &out, false);
	if (!str_eq(out, bytes))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_within(check, data, size);
}
