/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of views, and the start of every query: step, patterns, tallies.
 */
#include "view/step_columns.h"

enum { NOTE_STOPPED = 0x900 }; /* a kind of note */

#define VIEW(id, name, columns, traits, made_up, doc, help)                                        \
	{ #name, VK_##id, traits, doc, help, made_up, view_##name##_build, view_##name##_account,  \
		view_##name##_show },
const struct view_ops views[VK_N] = {
#include "metric/view.def"
};
#undef VIEW

const struct view_ops *view_with(enum view_trait trait)
{
	enum vk kind = 0;

	while (kind < VK_N - 1 && !view_is(kind, trait))
		kind++;
	return &views[kind];
}

/* Quirk 21: a missing step is reported in these words, and nothing else is printed. */
static bool no_step(struct query *q, struct str asked, struct err *e)
{
	struct sb b = sb_in(q->a);

	for (size_t i = 0; i < q->m->step_ids.n; i++)
		sb_fmt(&b, "%lld ", (long long)q->m->step_ids.v[i]);
	struct str steps = sb_str(&b), shown = steps.n ? str_sub(steps, 0, steps.n - 1) : S("none");
	note_line(q->notes, "Options -step=%.*s not found.\nAvailable steps: %.*s\n", STR(asked),
	        STR(steps));
	return err_set(e, ERR_STEP, "step %.*s is not loaded; available steps: %.*s", STR(asked),
	        STR(shown));
}

/* Checks the steps: every number of a list, and at least one number of a range, must exist. */
static bool check_steps(struct query *q, struct err *e)
{
	const struct step_set *s = &q->o->steps;

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].from == s->v[i].to && !model_step(q->m, s->v[i].from))
			return no_step(q, str_fmt(q->a, "%lld", (long long)s->v[i].from), e);
	return !s->n || q->n_steps || no_step(q, s->text, e);
}

/* True if the numbers come from selected steps instead of the average in the model. */
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

/* Returns the numbers of the nodes: in one step, in several steps, or the average that the model
 * stores. */
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

/* Matches the patterns once per set of types instead of once per node. */
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
	q->over = model_steps(q->m, q->step ? 1 : q->n_steps);
	return true;
}

void view_note_stopped(struct notes *notes)
{
	uint32_t said;

	if (imap_get(&notes->kinds, NOTE_STOPPED, &said))
		return;
	note_kind(notes, NOTE_STOPPED,
	        "some numbers are 2^63 - 1 or -2^63, where sums stop: the true numbers may be "
	        "larger");
}

/* True if a shown total, the root's total or the total of everything has reached the limit of its
 * type. */
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
	if (ok)
		view_limit(r);
	if (ok && q->o->stats)
		stats_add(r);
	if (ok && q->o->by == BY_WORKER && !workers_in_rows(q->o))
		worker_columns_add(r);
	if (ok && has_stopped(r))
		view_note_stopped(q->notes);
	view_close(q);
	return ok;
}
