/* SPDX-License-Identifier: Apache-2.0
 *
 * The op view: operation types as a list, each with the sum of itself and all types after it.
 */
#include "base/sort.h"
#include "view/view.h"

/* Lists the types that nodes have, as string ids in byte order. of[string id] becomes the entry. */
static size_t list_types(const struct model *m, uint32_t *of, uint32_t *list, struct arena *a)
{
	size_t n = 0;

	for (uint32_t i = 0; i < m->nodes.n; i++) {
		uint32_t op = m->nodes.v[i].op;
		if (!of[op])
			list[n++] = op;
		of[op] = 1;
	}
	sort_strings(a, list, n, m->strings.strings);
	for (size_t i = 0; i < n; i++)
		of[list[i]] = (uint32_t)i + 1;
	return n;
}

void view_op_build(const struct model *m, struct tree *t, struct arena *a, struct notes *notes)
{
	struct scratch own;

	(void)notes;
	scratch_open(&own, a->work);
	uint32_t *of = ARENA_ARRAY(&own.a, m->strings.n, uint32_t);
	uint32_t *list = ARENA_ARRAY(&own.a, m->nodes.n, uint32_t);
	t->n = (uint32_t)list_types(m, of, list, &own.a) + 1;
	t->parent = ARENA_ARRAY(a, t->n, uint32_t);
	t->end = ARENA_ARRAY(a, t->n, uint32_t);
	t->name = ARENA_ARRAY(a, t->n, struct str);
	t->entry_of = ARENA_ARRAY(a, m->nodes.n, uint32_t);
	t->parent[0] = ID_NONE;
	t->end[0] = t->n;
	t->name[0] = ROOT_NAME;
	for (uint32_t i = 1; i < t->n; i++) {
		t->end[i] = i + 1;
		t->name[i] = model_str(m, list[i - 1]);
	}
	for (uint32_t i = 0; i < m->nodes.n; i++)
		t->entry_of[i] = of[m->nodes.v[i].op];
	tree_members(t, m, a);
	scratch_close(&own);
}

static int by_option(const void *ctx, uint32_t a, uint32_t b)
{
	const struct query *q = ctx;

	return view_order(q, q->kept.self, a, b);
}

/* Returns the kept entries except the root, in list order. */
static void make_list(struct query *q)
{
	struct kept *k = &q->kept;

	k->list = ARENA_ARRAY(q->a, k->n, uint32_t);
	for (uint32_t i = 1; i < k->n; i++)
		k->list[i - 1] = i;
	if (!q->o->order.none)
		sort_stable(q->a, k->list, k->n - 1, by_option, q);
}

/* Quirk 18: an empty start list begins at the first entry. */
static uint32_t find_start(struct query *q)
{
	uint32_t i = 0, n = q->kept.n - 1;

	if (pattern_is_all(q->start) || pattern_is_empty(q->start))
		return 0;
	while (i < n && !pattern_match(q->start, view_name(q, q->kept.list[i])))
		i++;
	return i;
}

/* Chooses the shown entries, beginning at the start. -max_depth counts places from 0, or from 1 if
 * an option that the original lacks is in use; hidden entries count too. */
static void choose(struct query *q, struct result *r)
{
	const uint32_t *list = q->kept.list;
	int64_t depth = opts_op_depth(q->o, q->a);
	uint32_t start = find_start(q), i = start, n = q->kept.n - 1;

	r->shown = ARENA_ARRAY(q->a, n, struct entry);
	r->hidden[HIDDEN_START] = start;
	for (; i < n && (int64_t)(i - start) <= depth; i++) {
		struct entry x = { .kept = list[i],
			.parent = r->n - 1,
			.depth = r->n,
			.accounted = true,
			.self = &q->kept.self[list[i]],
			.total = &q->kept.total[list[i]] };
		if (pattern_match(q->trim, view_name(q, x.kept)))
			break;
		enum hidden_by why = view_hides(q, x.kept, i - start);
		if (why == HIDDEN_N)
			r->shown[r->n++] = x;
		else
			r->hidden[why]++;
	}
	bool deep = i < n && (int64_t)(i - start) > depth;
	r->hidden[deep ? HIDDEN_DEPTH : HIDDEN_TRIM] += n - i;
	for (; deep && i < n; i++)
		tally_add(&r->deep, &q->kept.self[list[i]]);
	for (i = 0; i < r->n; i++)
		r->shown[i].end = r->n;
}

/* Computes totals over the shown entries only. */
static void reaccount(struct query *q, struct result *r)
{
	for (uint32_t i = r->n; i-- > 0;) {
		const struct entry *x = &r->shown[i];
		struct tally *total = &q->kept.total[x->kept];
		*total = *x->self;
		if (i + 1 < r->n)
			tally_add(total, x[1].total);
	}
	r->root = r->n ? *r->shown[0].total : (struct tally){ 0 };
}

void view_op_account(struct query *q)
{
	view_keep_members(q);
}

bool view_op_show(struct query *q, struct result *r, struct err *e)
{
	view_keep_members(q);
	make_list(q);
	view_sum_list(q);
	r->empty = q->tree->n == 1;
	r->root = q->kept.total[0];
	choose(q, r);
	if (q->o->displayed_only)
		reaccount(q, r);
	return view_patterns_ok(q, e);
}
