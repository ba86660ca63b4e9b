/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits the rows of an answer (-top).
 */
#include "base/sort.h"
#include "view/view.h"

/* Orders shown entries by the numbers of -order_by, then as printed. */
static int by_numbers(const void *ctx, uint32_t a, uint32_t b)
{
	const struct result *r = ctx;

	return view_order(r->q, r->q->kept.total, r->shown[a].kept, r->shown[b].kept);
}

/* Returns the entries that stay: the first shown entry, which is the root, and `most` other
 * entries. Without an order by numbers, these are the first entries in printed order. */
static bool *choose(const struct result *r, uint32_t most)
{
	struct arena *a = r->q->a;
	enum metric_id by = r->q->o->order.by;
	uint32_t *order = ARENA_ARRAY(a, r->n, uint32_t);
	bool *stays = ARENA_ARRAY(a, r->n, bool);

	for (uint32_t i = 0; i < r->n; i++)
		order[i] = i;
	if (r->n && by < M_N && metrics[by].value != V_NONE && !r->q->o->order.none)
		sort_stable(a, order + 1, r->n - 1, by_numbers, (void *)(uintptr_t)r);
	for (uint32_t i = 0; i < r->n && i <= most; i++)
		stays[order[i]] = true;
	return stays;
}

/* Drops the entries that do not stay, with the entries below them. */
static void drop(struct result *r, const bool *stays)
{
	uint32_t *place = ARENA_ARRAY(r->q->a, r->n, uint32_t), n = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t up = r->shown[i].parent;
		place[i] = ID_NONE;
		if (!stays[i] || (up != ID_NONE && place[up] == ID_NONE))
			continue;
		struct entry x = r->shown[i];
		x.parent = up == ID_NONE ? ID_NONE : place[up];
		x.end = n + 1;
		place[i] = n;
		r->shown[n++] = x;
	}
	for (uint32_t i = n; i-- > 1;) {
		struct entry *up = &r->shown[r->shown[i].parent];
		if (up->end < r->shown[i].end)
			up->end = r->shown[i].end;
	}
	r->hidden[HIDDEN_TOP] = r->n - n;
	r->n = n;
}

/* Keeps the first rows of a list. */
static void cut_list(struct result *r, uint32_t most)
{
	r->hidden[HIDDEN_TOP] = r->n - most;
	r->n = most;
	for (uint32_t i = 0; i < r->n; i++)
		r->shown[i].end = r->n;
}

void view_limit(struct result *r)
{
	int64_t top = r->q->o->top;
	bool list = view_is(r->kind, VIEW_LIST);

	if (top <= 0 || top >= (int64_t)r->n - !list)
		return;
	if (list)
		cut_list(r, (uint32_t)top);
	else
		drop(r, choose(r, (uint32_t)top));
}
