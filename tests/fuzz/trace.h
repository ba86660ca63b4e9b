/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the targets of trace readers. Properties: reading in one window and in pieces gives the
 * same trace and notes; every slice is returned, in the order of its track.
 */
#ifndef TFPROF_TESTS_FUZZ_TRACE_H
#define TFPROF_TESTS_FUZZ_TRACE_H

#include "rig.h"
#include "trace/trace_build.h"

struct outcome {
	uint32_t slices;
	size_t notes, strings;
	uint64_t hash;
	bool good;
};

static bool tick(void *user, uint64_t done, uint64_t size)
{
	(void)user;
	return done <= size;
}

static void add_hash(struct outcome *o, const void *p, size_t n)
{
	o->hash = o->hash * 31 + hash_bytes(p, n);
}

/* Goes over the slices of a track. */
static void walk(struct outcome *o, const struct trace *t, uint32_t track)
{
	struct slice_iter i = trace_slices(t, track);
	int64_t last = INT64_MIN;
	uint32_t n = 0;

	for (struct slice s; slice_next(&i, &s); n++) {
		if (s.start < last || s.length < 0 || s.start > INT64_MAX - s.length)
			abort();
		last = s.start;
		struct str args = s.args;
		for (struct argument x; argument_next(&args, &x);)
			add_hash(o, &x.key, sizeof x.key);
		int64_t fields[] = { s.start, s.length, s.correlation, s.event };
		add_hash(o, fields, sizeof fields);
	}
	if (n != t->tracks.v[track].n)
		abort();
	o->slices += n;
}

typedef bool trace_reader(struct src *s, struct trace_build *to, struct arena *a, struct err *e);

static struct outcome read_trace(trace_reader *read, struct trace *t, struct str bytes,
        uint64_t wants, bool pieces, struct arena *a)
{
	struct err e = { .a = a };
	struct outcome o = { 0 };
	struct scratch own;
	struct trace_build *b;
	struct notes notes;
	struct src *s;

	scratch_open(&own, a->work);
	notes_init(&notes, a);
	b = build_open(t, wants, &notes, &own.a);
	if (!src_memory(&s, &own.a, S("input"), bytes, &e))
		abort();
	if (pieces)
		src_on_progress(s, tick, NULL);
	src_keep(s);
	s->e = &e;
	o.good = read(s, b, &own.a, &e);
	if (o.good != (e.code == ERR_NONE))
		abort();
	build_seal(b);
	scratch_close(&own);
	for (uint32_t i = 0; i < t->tracks.n; i++)
		walk(&o, t, i);
	if (o.slices != t->n_slices)
		abort();
	o.notes = notes.list.n;
	o.strings = t->strings.n;
	return o;
}

/* Reads the bytes twice and compares. */
static inline int fuzz_trace(trace_reader *read, const uint8_t *data, size_t size)
{
	struct account account = { .limit = FUZZ_LIMIT };
	struct work work = { .account = &account };
	struct str bytes = str_make(data, size);
	struct arena a;

	arena_init(&a, &work);
	if (!setjmp(work.escape)) {
		uint64_t wants = size % 2 ? ARG_BITS_ALL : 0;
		struct outcome one = read_trace(read, trace_new(&a), bytes, wants, false, &a);
		struct outcome two = read_trace(read, trace_new(&a), bytes, wants, true, &a);
		if (one.good != two.good || one.slices != two.slices || one.notes != two.notes ||
		        one.strings != two.strings || one.hash != two.hash)
			abort();
	}
	arena_free(&a);
	return 0;
}

#endif
