/* SPDX-License-Identifier: Apache-2.0
 *
 * The live set over time.
 */
#include "device/memory_moments.h"

#include "base/fmt.h"

bool memory_is_peak_text(const struct moment *at, const struct memory_pool *p, struct arena *a)
{
	struct sb b = sb_in(a);

	if (at->kind != MOMENT_TIME || !p->use.n)
		return false;
	fmt_time(&b, num_sub(p->use.v[p->most].ns, p->use.v[0].ns));
	return str_eq(sb_str(&b), at->text);
}

#define PARTS 100 /* of the time; each has at most one moment */

static size_t part_of(const struct memory_pool *p, size_t i)
{
	double from = (double)p->use.v[0].ns, length = (double)p->use.v[p->use.n - 1].ns - from;

	return length > 0 ? (size_t)(((double)p->use.v[i].ns - from) / length * PARTS) : 0;
}

/* Chooses the largest use of the next part of the time that has one. */
static void choose(struct memory_moments *m)
{
	const struct memory_pool *p = m->p;
	size_t i = m->next;

	m->chosen = i < p->use.n ? i : SIZE_MAX;
	for (; i < p->use.n && part_of(p, i) == part_of(p, m->next); i++)
		if (p->use.v[i].bytes > p->use.v[m->chosen].bytes)
			m->chosen = i;
	m->next = i;
}

void memory_moments_open(
        struct memory_moments *m, struct memory_pool *p, struct arena *a, struct arena *scratch)
{
	*m = (struct memory_moments){ .p = p, .a = a };
	imap_init(&m->place, scratch);
	choose(m);
}

/* The largest owners, the largest first. */
struct largest {
	uint32_t v[MEMORY_MOMENT_ROWS];
	uint32_t n;
};

/* Adds an owner if it is among the largest. Owners of equal size stay in order. */
static void insert(struct largest *to, const struct memory_owner *v, uint32_t i)
{
	uint32_t at = to->n;

	while (at && v[to->v[at - 1]].bytes < v[i].bytes)
		at--;
	if (at == MEMORY_MOMENT_ROWS)
		return;
	to->n += to->n < MEMORY_MOMENT_ROWS;
	memmove(&to->v[at + 1], &to->v[at], (to->n - 1 - at) * sizeof *to->v);
	to->v[at] = i;
}

/* Returns the number of an owner among those of the pool's moments. */
static uint32_t place_of(struct memory_moments *m, const struct memory_owner *v, uint32_t i)
{
	uint32_t at;

	if (imap_get(&m->place, i, &at))
		return at;
	at = (uint32_t)m->p->moment_owners.n;
	VEC_PUSH(m->a, &m->p->moment_owners, v[i]);
	imap_put(&m->place, i, at, false);
	return at;
}

void memory_moments_put(
        struct memory_moments *m, const struct memory_owner *v, size_t n, uint32_t pool)
{
	const struct memory_moment *at = &m->p->use.v[m->chosen];
	struct memory_live_at made = { .ns = at->ns, .bytes = at->bytes };
	struct largest rows = { .n = 0 };

	for (uint32_t i = 0; i < n; i++) {
		if (!v[i].bytes || (pool != ID_NONE && v[i].pool != pool))
			continue;
		insert(&rows, v, i);
		made.all++;
	}
	made.first = m->p->moment_rows.n;
	made.n = rows.n;
	for (uint32_t i = 0; i < rows.n; i++) {
		const struct memory_owner *o = &v[rows.v[i]];
		VEC_PUSH(m->a, &m->p->moment_rows,
		        ((struct memory_moment_row){
		                place_of(m, v, rows.v[i]), o->bytes, o->buffers }));
	}
	VEC_PUSH(m->a, &m->p->live_at, made);
	choose(m);
}
