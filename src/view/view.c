/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps shared by the views after a query has begun: the kept entries, their sums, hiding, and the
 * order of siblings.
 */
#include "view/view.h"

/* Quirk 7: the root stays as created, not accounted. */
void view_keep(struct query *q, const bool *keep, const bool *accounted)
{
	const struct tree *t = q->tree;
	struct kept *k = &q->kept;
	uint32_t *index = ARENA_ARRAY(q->a, t->n,
	        uint32_t); /* the node's kept entry, or the entry of its nearest kept ancestor */
	uint32_t n = 1;

	for (uint32_t i = 1; i < t->n; i++)
		n += keep[i];
	k->at = ARENA_ARRAY(q->a, n, uint32_t);
	k->parent = ARENA_ARRAY(q->a, n, uint32_t);
	k->end = ARENA_ARRAY(q->a, n, uint32_t);
	k->accounted = ARENA_ARRAY(q->a, n, bool);
	k->parent[0] = ID_NONE;
	k->n = 1;
	for (uint32_t i = 1; i < t->n; i++) {
		index[i] = index[t->parent[i]];
		if (!keep[i])
			continue;
		k->at[k->n] = i;
		k->parent[k->n] = index[i];
		k->accounted[k->n] = accounted[i];
		index[i] = k->n++;
	}
	for (uint32_t i = k->n; i-- > 0;) {
		k->end[i] = k->end[i] > i ? k->end[i] : i + 1;
		if (i && k->end[k->parent[i]] < k->end[i])
			k->end[k->parent[i]] = k->end[i];
	}
}

void view_sum(struct query *q)
{
	struct kept *k = &q->kept;

	k->total = ARENA_ARRAY(q->a, k->n, struct tally);
	for (uint32_t i = k->n; i-- > 1;) {
		tally_add(&k->total[i], view_self(q, i));
		tally_add(&k->total[k->parent[i]], &k->total[i]);
	}
}

void view_sum_list(struct query *q)
{
	struct kept *k = &q->kept;
	uint32_t n = k->n - 1, *list = k->list;

	k->total = ARENA_ARRAY(q->a, k->n, struct tally);
	for (uint32_t i = n; i-- > 0;) {
		k->total[list[i]] = *view_self(q, list[i]);
		if (i + 1 < n)
			tally_add(&k->total[list[i]], &k->total[list[i + 1]]);
	}
	if (n)
		k->total[0] = k->total[list[0]];
}

const struct tally *view_self(const struct query *q, uint32_t kept)
{
	static const struct tally made_up = { .v[V_DEFINITIONS] = 1 };
	uint32_t node;

	if (q->kept.self)
		return &q->kept.self[kept];
	node = q->tree->node[q->kept.at[kept]];
	return node == ID_NONE ? &made_up : &q->tallies[node];
}

static bool on_device(struct query *q, uint32_t node)
{
	return pattern_match(q->devices,
	        node == ID_NONE ? S("") : device_name(q->m, q->m->nodes.v[node].device));
}

bool view_on_device(struct query *q, uint32_t kept)
{
	uint32_t n;

	if (!q->devices || kept == 0)
		return true;
	if (!q->kept.nodes)
		return on_device(q, q->tree->node[q->kept.at[kept]]);
	const uint32_t *members = view_members(q, kept, &n);
	for (uint32_t i = 0; i < n; i++)
		if (view_matches(q, members[i]) && on_device(q, members[i]))
			return true;
	return false;
}

/* True if one of the -min_ options hides the entry. */
static bool below_least(const struct query *q, uint32_t kept)
{
	const struct tally *self = view_self(q, kept), *total = &q->kept.total[kept];

	for (enum metric_id m = 0; m < M_N; m++) {
		enum on on = metric_in(&metrics[m], q->tree->kind)->min_on;
		if (!(metrics[m].uses & USE_MIN) || on == ON_NOTHING)
			continue;
		int64_t v = on == ON_NODES  ? view_nodes(q, kept)
		            : on == ON_SELF ? self->v[metrics[m].value]
		                            : total->v[metrics[m].value];
		int64_t per = on == ON_NODES ? 1 : view_value(q, self, metrics[m].value).per;
		if (v < num_mul(q->o->min[m], per))
			return true;
	}
	return false;
}

enum hidden_by view_hides(struct query *q, uint32_t kept, int64_t depth)
{
	struct str name = view_name(q, kept);

	if (str_eq(name, ROOT_NAME))
		return HIDDEN_N;
	if (below_least(q, kept))
		return HIDDEN_MIN;
	if (depth > q->o->max_depth)
		return HIDDEN_DEPTH;
	/* The pattern ".*" alone matches everything. As a regular expression it would not match a
	 * newline. */
	if (!(pattern_is_all(q->show) || pattern_match(q->show, name)) ||
	        pattern_match(q->hide, name))
		return HIDDEN_NAME;
	return view_on_device(q, kept) ? HIDDEN_N : HIDDEN_NAME;
}

static bool has_device_time(const struct model *m)
{
	for (size_t i = 0; i < m->steps.n; i++)
		for (uint32_t k = 0; k < m->steps.v[i]->n_spans; k++)
			if (m->steps.v[i]->span_kind[k] == SPAN_ACCELERATOR)
				return true;
	return false;
}

enum metric_id view_time_metric(const struct model *m)
{
	if (!m->parallel_times)
		return M_MICROS;
	return has_device_time(m) ? M_ACCELERATOR_MICROS : M_SELF_MICROS;
}

enum value view_other_time(const struct model *m, enum value of)
{
	if (!m->parallel_times)
		return V_NONE;
	return of == V_ACCELERATOR_MICROS ? V_CPU_MICROS
	       : of == V_CPU_MICROS       ? V_ACCELERATOR_MICROS
	                                  : V_NONE;
}

int view_order(const struct query *q, const struct tally *tallies, uint32_t a, uint32_t b)
{
	const struct metric *by = &metrics[q->o->order.by];
	enum on on = metric_in(by, q->tree->kind)->order_on;
	struct str name_a = view_name(q, a), name_b = view_name(q, b);
	int64_t x, y;

	if (str_eq(name_a, ROOT_NAME) || str_eq(name_b, ROOT_NAME))
		return str_eq(name_b, ROOT_NAME) - str_eq(name_a, ROOT_NAME);
	if (on == ON_NOTHING)
		return str_cmp(name_a, name_b);
	x = on == ON_NODES ? view_nodes(q, a) : tallies[a].v[by->value];
	y = on == ON_NODES ? view_nodes(q, b) : tallies[b].v[by->value];
	enum value other = view_other_time(q->m, by->value);
	if (x == y && other != V_NONE) {
		x = tallies[a].v[other];
		y = tallies[b].v[other];
	}
	return (x < y) - (x > y);
}
