/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the targets of readers whose traces have allocations. Property: the rows of each live
 * set add up to the bytes in use.
 */
#ifndef TFPROF_TESTS_FUZZ_MEMORY_H
#define TFPROF_TESTS_FUZZ_MEMORY_H

#include "trace.h"
#include "device/memory_use.h"

#define EXACT_BYTES ((int64_t)1 << 50) /* sums of larger numbers are limited, not exact */

static void check_rows(const struct memory_pool *p)
{
	int64_t sum = 0;

	if (!p->known_live || p->whole_device)
		return;
	for (size_t i = 0; i < p->live.n; i++) {
		if (p->live.v[i].bytes > EXACT_BYTES || p->live.v[i].bytes < -EXACT_BYTES)
			return;
		sum += p->live.v[i].bytes;
	}
	if (p->allocated < EXACT_BYTES && p->moment_live < EXACT_BYTES && sum != p->moment_live)
		abort();
}

/* Computes the use of memory by line, with the use over time, or by another property. */
static void check_use(const struct trace *t, enum memory_by by, struct moment at, struct arena *a)
{
	const struct memory_request request = {
		.by = by, .at = at, .over_time = by == MEMORY_BY_LINE
	};
	struct memory_use use = { 0 };

	memory_use_trace(t, &request, &use, a);
	for (size_t i = 0; i < use.pools.n; i++)
		check_rows(&use.pools.v[i]);
	memory_sort_pools(&use, a);
	memory_compare(&use, a);
	memory_compare_ranks(&use, a);
}

/* Reads the bytes and computes the use of memory in a way that depends on their number. */
static inline int fuzz_memory(trace_reader *read, const uint8_t *data, size_t size)
{
	struct account account = { .limit = FUZZ_LIMIT };
	struct work work = { .account = &account };
	struct arena a;

	arena_init(&a, &work);
	if (!setjmp(work.escape)) {
		struct trace *t = trace_new(&a);
		read_trace(read, t, str_make(data, size), ARG_BITS_ALL, false, &a);
		check_use(t, (enum memory_by)(size % (MEMORY_BY_MODULE + 1)),
		        (struct moment){ .kind = size & 8 ? MOMENT_PEAK : MOMENT_END }, &a);
	}
	arena_free(&a);
	return 0;
}

#endif
