/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of views, and the beginning that all queries share: step, patterns, tallies.
 */
#include "view/stats.h"
#include "view/worker_columns.h"
#include "view/workers.h"

enum { NOTE_STOPPED = 0x900 }; /* kind of note */

const struct view_ops *const views[VK_N] = { &view_scope, &view_graph, &view_op, &view_code };

/* Quirk 21: a step that is not there is said in these words, and nothing else is printed. */
static bool no_step(struct query *q, struct str asked, struct err *e)
{
	struct sb b = sb_in(q->a);

	for (size_t i = 0; i < q->m->step_ids.n; i++)
		sb_fmt(&b, "%lld ", (long long)q->m->step_ids.v[i]);
	struct str steps = sb_str(&b), shown = steps.n ? str_sub(steps, 0, steps.n - 1) : S("none");
	note_line(q->notes, "Options -step=%.*s not found.\nAvailable steps: %.*s\n", STR(asked),
	        STR(steps));
	return err_set(e, ERR_STEP, "there is no step %.*s; available steps: %.*s", STR(asked),
	        STR(shown));
}

/* Each number of a list has to be there, of a range some. */
static bool check_steps(struct query *q, struct err *e)
{
	const struct step_set *s = &q->o->steps;

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].from == s->v[i].to && !model_step(q->m, s->v[i].from))
			return no_step(q, str_fmt(q->a, "%lld", (long long)s->v[i].from), e);
	return !s->n || q->n_steps || no_step(q, s->text, e);
}

/* Is it some of the steps whose numbers are wanted, not the average that the model keeps? */
static bool names_steps(const struct query *q)
{
	return opts_names_steps(q->o) || q->workers;
}

static bool find_steps(struct query *q, struct err *e)
{
	q->steps = ARENA_ARRAY(q->a, q->m->steps.n, const struct step *);
	if (q->only) {
		q->step = q->steps[q->n_steps++] = q->only;
		return true;
	}
	if (!workers_choose(q, e))
		return false;
	workers_steps(q);
	if (q->o->step >= 0 && !q->n_steps)
		return no_step(q, str_fmt(q->a, "%lld", (long long)q->o->step), e);
	if (!check_steps(q, e))
		return false;
	if (names_steps(q) && q->n_steps == 1)
		q->step = q->steps[0];
	return true;
}

/* The numbers of the nodes: of a step, of some, or the average that the model keeps. */
static struct tally *find_tallies(const struct query *q)
{
	if (!q->step && names_steps(q))
		return model_tallies_over(q->m, q->steps, q->n_steps, q->a);
	return model_tallies(q->m, q->step, q->a);
}

static bool compile(struct query *q, struct err *e)
{
	const struct opts *o = q->o;

	return pattern_compile(&q->account, q->a, &o->account, e) &&
	       pattern_compile(&q->start, q->a, &o->start, e) &&
	       pattern_compile(&q->trim, q->a, &o->trim, e) &&
	       pattern_compile(&q->show, q->a, &o->show, e) &&
	       pattern_compile(&q->hide, q->a, &o->hide, e) &&
	       (o->devices.n == 0 || strs_is_one(&o->devices, S(".*")) ||
	               pattern_compile(&q->devices, q->a, &o->devices, e));
}

void view_close(struct query *q)
{
	pattern_free(q->account);
	pattern_free(q->start);
	pattern_free(q->trim);
	pattern_free(q->show);
	pattern_free(q->hide);
	if (q->devices)
		pattern_free(q->devices);
}

bool view_patterns_ok(const struct query *q, struct err *e)
{
	return !pattern_failed(q->account, e) && !pattern_failed(q->start, e) &&
	       !pattern_failed(q->trim, e) && !pattern_failed(q->show, e) &&
	       !pattern_failed(q->hide, e) && (!q->devices || !pattern_failed(q->devices, e));
}

/* Patterns are asked once for each set of types, not for each node. */
static void match_sets(struct query *q)
{
	const struct model *m = q->m;
	uint32_t *matches = ARENA_ARRAY(q->a, m->type0.n, uint32_t);

	for (uint32_t set = 0; set + 1 < m->type0.n; set++) {
		size_t n;
		const uint32_t *types = model_types(m, set, &n);
		for (size_t p = 0; p < pattern_count(q->account); p++) {
			bool any = false;
			for (size_t t = 0; t < n && !any; t++)
				any = pattern_match_one(q->account, p, model_str(m, types[t]));
			matches[set] += any;
		}
		if (pattern_is_all(q->account))
			matches[set] = 1;
	}
	q->set_matches = matches;
}

bool view_open(struct query *q, struct err *e)
{
	if (!find_steps(q, e))
		return false;
	if (!compile(q, e)) {
		view_close(q);
		return false;
	}
	match_sets(q);
	if (!q->tallies)
		q->tallies = find_tallies(q);
	return true;
}

void view_note_stopped(struct notes *notes)
{
	uint32_t said;

	if (imap_get(&notes->kinds, NOTE_STOPPED, &said))
		return;
	note_kind(notes, NOTE_STOPPED,
	        "some numbers are 2^63 - 1 or -2^63, where sums stop: the true ones may lie "
	        "beyond");
}

/* Does a total that is shown stand where sums stop, or the root's, or that of all there is? */
static bool has_stopped(const struct result *r)
{
	const struct kept *k = &r->q->kept;
	bool any = value_stopped(r->root.v, V_N) || (k->n && value_stopped(k->total[0].v, V_N));

	for (uint32_t i = 0; i < r->n && !any; i++)
		any = value_stopped(r->shown[i].total->v, V_N);
	return any;
}

bool view_run(const struct view_ops *v, struct query *q, struct result *r, struct err *e)
{
	memset(r, 0, sizeof *r);
	r->q = q;
	r->kind = v->kind;
	if (!view_open(q, e))
		return false;
	bool ok = v->show(q, r, e) && view_patterns_ok(q, e);
	if (ok && q->o->stats)
		stats_add(r);
	if (ok && q->o->by == BY_WORKER && !workers_in_rows(q->o))
		worker_columns_add(r);
	if (ok && has_stopped(r))
		view_note_stopped(q->notes);
	view_close(q);
	return ok;
}

/* Quirk 7: the root stays as it was made, not accounted. */
void view_keep(struct query *q, const bool *keep, const bool *accounted)
{
	const struct tree *t = q->tree;
	struct kept *k = &q->kept;
	uint32_t *index = ARENA_ARRAY(
	        q->a, t->n, uint32_t); /* kept entry of it or its nearest kept ancestor */
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

/* Does one of the -min_ options hide the entry? */
static bool below_least(const struct query *q, uint32_t kept)
{
	const struct tally *self = view_self(q, kept), *total = &q->kept.total[kept];

	for (enum metric_id m = 0; m < M_N; m++) {
		enum on on = metrics[m].in[q->tree->kind].min_on;
		if (!(metrics[m].uses & USE_MIN) || on == ON_NOTHING)
			continue;
		int64_t v = on == ON_NODES  ? view_nodes(q, kept)
		            : on == ON_SELF ? self->v[metrics[m].value]
		                            : total->v[metrics[m].value];
		if (v < q->o->min[m])
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
	/* What ".*" alone shows is everything; a newline would not match it. */
	if (!(pattern_is_all(q->show) || pattern_match(q->show, name)) ||
	        pattern_match(q->hide, name))
		return HIDDEN_NAME;
	return view_on_device(q, kept) ? HIDDEN_N : HIDDEN_NAME;
}

int view_order(const struct query *q, const struct tally *tallies, uint32_t a, uint32_t b)
{
	const struct metric *by = &metrics[q->o->order.by];
	enum on on = by->in[q->tree->kind].order_on;
	struct str name_a = view_name(q, a), name_b = view_name(q, b);
	int64_t x, y;

	if (str_eq(name_a, ROOT_NAME) || str_eq(name_b, ROOT_NAME))
		return str_eq(name_b, ROOT_NAME) - str_eq(name_a, ROOT_NAME);
	if (on == ON_NOTHING)
		return str_cmp(name_a, name_b);
	x = on == ON_NODES ? view_nodes(q, a) : tallies[a].v[by->value];
	y = on == ON_NODES ? view_nodes(q, b) : tallies[b].v[by->value];
	return (x < y) - (x > y);
}
