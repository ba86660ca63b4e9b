/* SPDX-License-Identifier: Apache-2.0
 *
 * The use of memory over time by kind.
 */
#include "device/memory_kinds.h"

#define PARTS 500 /* number of parts of the time; each has at most two moments */

uint8_t memory_kinds_add(struct memory_use *out, struct str kind, struct arena *a)
{
	size_t i = 0;

	while (i < out->kinds.n && !str_eq(out->kinds.v[i], kind))
		i++;
	if (i == out->kinds.n && i + 1 < MEMORY_KINDS)
		VEC_PUSH(a, &out->kinds, str_copy(a, kind));
	else if (i == out->kinds.n && i < MEMORY_KINDS)
		VEC_PUSH(a, &out->kinds, S("other"));
	return (uint8_t)(i < MEMORY_KINDS ? i : MEMORY_KINDS - 1);
}

void memory_kinds_open(struct memory_kinds *k, size_t first, size_t n, int64_t start, int64_t end,
        struct arena *scratch)
{
	k->first = first;
	k->n_rows = n;
	k->rows = ARENA_ARRAY(scratch, n, struct kinds_row);
	k->start = start;
	k->length = num_sub(end, start);
}

void memory_kinds_change(struct memory_kinds *k, size_t row, uint8_t kind, int64_t bytes)
{
	struct kinds_row *r = &k->rows[row];

	r->level[kind] = num_add(r->level[kind], bytes);
	r->sum = num_add(r->sum, bytes);
}

static void put(struct memory_kinds *k, size_t row, int64_t at, const int64_t *bytes)
{
	struct memory_by_kind made = { .ns = k->t ? trace_ns(k->t, at) : at };

	memcpy(made.bytes, bytes, sizeof made.bytes);
	VEC_PUSH(k->a, &k->out->pools.v[k->first + row].by_kind, made);
}

/* Stores the moments of the current part. */
static void end_part(struct memory_kinds *k, size_t row)
{
	struct kinds_row *r = &k->rows[row];

	if (!r->any)
		return;
	put(k, row, r->best_at, r->best);
	if (memcmp(r->level, r->best, sizeof r->level) != 0)
		put(k, row, r->at, r->level);
	r->any = false;
}

void memory_kinds_before(struct memory_kinds *k, size_t row, int64_t at)
{
	double share = k->length > 0 ? (double)num_sub(at, k->start) / (double)k->length : 0;
	size_t part = share > 0 ? (size_t)(share * PARTS) : 0;

	if (part != k->rows[row].part)
		end_part(k, row);
	k->rows[row].part = part;
}

void memory_kinds_after(struct memory_kinds *k, size_t row, int64_t at)
{
	struct kinds_row *r = &k->rows[row];

	if (!r->any || r->sum > r->best_sum) {
		memcpy(r->best, r->level, sizeof r->best);
		r->best_sum = r->sum;
		r->best_at = at;
	}
	r->at = at;
	r->any = true;
}

void memory_kinds_close(struct memory_kinds *k)
{
	for (size_t i = 0; i < k->n_rows; i++)
		end_part(k, i);
}
