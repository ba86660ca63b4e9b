/* SPDX-License-Identifier: Apache-2.0
 *
 * The command "diff". From arguments to a report: loads the sides, chooses the metrics, makes the
 * sides of the view, merges them, finds the differences, writes them, judges the gates.
 */

#include "lib/diff.h"
#include "why/run_difference.h"

#define NOISE_STEPS   16      /* minimum number of steps of each side for tests */
#define NOISE_NUMBERS 2000000 /* maximum number of a metric's values for all nodes and steps */

struct asked {
	enum metric_id metrics[M_N]; /* metrics of the columns come first */
	int64_t least[M_N];
	uint32_t n, columns, order;
};

/* ---- metrics ---- */

static uint32_t add_metric(struct asked *k, enum metric_id m)
{
	uint32_t i = 0;

	while (i < k->n && k->metrics[i] != m)
		i++;
	if (i == k->n)
		k->metrics[k->n++] = m;
	return i;
}

/* Lists the columns of a report that are not implied by its other columns. */
static void take_columns(struct asked *k, const struct answer *x)
{
	unsigned brought = 0;

	for (uint32_t i = 0; i < x->columns; i++)
		brought |= metrics[x->metric[i]].brings;
	for (uint32_t i = 0; i < x->columns; i++)
		if (!(brought & METRIC_BIT(x->metric[i])))
			add_metric(k, x->metric[i]);
}

static bool take_selected(struct session *s, struct asked *k, const struct diff_request *w)
{
	for (enum metric_id m = 0; m < M_N; m++) {
		if (!(w->o.select.metrics & METRIC_BIT(m)))
			continue;
		if (metrics[m].value == V_NONE)
			return session_fail(s, ERR_INVALID_ARGUMENT,
			        "-select: '%s' has no numbers to compare", metrics[m].name);
		add_metric(k, m);
	}
	return k->n || session_fail(s, ERR_INVALID_ARGUMENT, "-select: nothing to compare");
}

/* True if all sides are models without steps. */
static bool graphs_alone(const struct diff_sides *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].answer || d->v[i].s->model.steps.n || d->v[i].s->n_later ||
		        d->v[i].s->n_older)
			return false;
	return true;
}

/* Returns the metric of sides that have memory and no times, or M_NONE. */
static enum metric_id memory_of_all(const struct diff_sides *d)
{
	enum metric_id found = M_NONE;

	for (size_t i = 0; i < d->n; i++) {
		enum metric_id m = d->v[i].answer ? M_NONE : session_memory_metric(d->v[i].s);
		if (m == M_NONE || (i && m != found))
			return M_NONE;
		found = m;
	}
	return found;
}

/* Returns the selected metrics, or the metrics of the first report among the sides, then the
 * metrics used only for decisions. */
static bool choose_metrics(struct diff_sides *d, const struct diff_request *w, struct asked *k)
{
	const struct answer *text = NULL;
	enum metric_id memory = w->select_given ? M_NONE : memory_of_all(d);

	*k = (struct asked){ .order = 0 };
	for (size_t i = 0; i < d->n && !text; i++)
		text = d->v[i].answer;
	if (text && !w->select_given)
		take_columns(k, text);
	else if (memory != M_NONE)
		add_metric(k, memory);
	else if (!w->select_given && graphs_alone(d))
		add_metric(k, M_PARAMS);
	else if (!take_selected(d->s, k, w))
		return false;
	k->columns = k->n;
	if (w->order_given && metrics[w->o.order.by].value == V_NONE)
		k->order = DIFF_BY_NAME;
	else if (w->order_given)
		k->order = add_metric(k, w->o.order.by);
	if (w->o.output.kind == OUT_TIMELINE)
		add_metric(k, M_MICROS);
	for (enum metric_id m = 0; m < M_N; m++)
		if ((metrics[m].uses & USE_MIN) && w->o.min[m])
			k->least[add_metric(k, m)] = w->o.min[m];
	for (uint32_t i = 0; i < k->columns; i++) {
		enum unit unit = metrics[k->metrics[i]].unit;
		bool any = k->metrics[i] == memory && !w->given.min_sizes.n;
		if (!w->o.min[k->metrics[i]] && !any)
			k->least[i] = unit == UNIT_BYTES  ? w->min_size
			              : unit == UNIT_TIME ? w->min_micros
			                                  : 0;
	}
	return true;
}

/* ---- names ---- */

static struct str base_name(struct str path)
{
	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	return str_base(path);
}

static bool all_different(const struct strs *v)
{
	for (size_t i = 0; i < v->n; i++)
		for (size_t k = 0; k < i; k++)
			if (str_eq(v->v[i], v->v[k]))
				return false;
	return true;
}

/* Returns the names of the sides: A and B or, for more sides, the file names, or their numbers if
 * the names are equal. The columns of data keep the names left and right, which programs read. */
static struct strs choose_names(struct arena *a, const struct diff_request *w)
{
	bool data = output_rows[w->o.output.kind].flags & OUT_ROWS;
	const struct str pair[] = { data ? S("left") : S("A"), data ? S("right") : S("B") };
	struct strs names = { 0 };

	if (w->given.names.n)
		return w->given.names;
	for (size_t i = 0; i < w->sides.n; i++)
		strs_add(a, &names, w->sides.n == 2 ? pair[i] : base_name(w->sides.v[i]));
	for (size_t i = 0; i < names.n && !all_different(&names); i++)
		names.v[i] = str_fmt(a, "%zu", i + 1);
	return names;
}

/* ---- merging ---- */

static bool by_rules(void *rules, struct str from, struct arena *a, struct str *to, struct err *e)
{
	return pattern_subst_apply(rules, from, a, to, e);
}

/* Applies the renames found between scopes to names of nodes. */
struct renamed {
	struct intern from;
	VEC(struct str) to;
};

static bool by_scope(void *user, struct str from, struct arena *a, struct str *to, struct err *e)
{
	const struct renamed *r = user;
	uint32_t id = intern_find(&r->from, from);

	(void)a;
	(void)e;
	*to = id == ID_NONE ? from : r->to.v[id];
	return true;
}

/* Matches the nodes of the graph view in the scope view, where renames are visible. */
static bool rename_by_scope(
        struct diff_sides *d, const struct diff_request *w, const struct side **sides)
{
	struct diff_sides scopes = *d;
	struct arena *a = d->a;
	struct alias *aliases;
	struct compare c;

	scopes.with_steps = false;
	if (!diff_sides_make(&scopes, view_with(VIEW_PATHS), d->o, d->metrics, 0) ||
	        !diff_merge(&scopes, w, &c, &aliases))
		return false;
	for (uint32_t s = 0; s < d->n; s++) {
		struct renamed r = { 0 };
		intern_init(&r.from, a);
		for (uint32_t i = 1; i < c.n; i++) {
			struct str name =
			        compare_has(&c, s, i) ? c.side[s]->name[c.at[s][i]] : STR_NONE;
			if (name.n && !str_eq(name, c.name[i]) &&
			        intern_add_kept(&r.from, name) == r.to.n)
				VEC_PUSH(a, &r.to, c.name[i]);
		}
		if (r.to.n && !(sides[s] = side_rename(sides[s], by_scope, &r, a, &d->s->error)))
			return false;
	}
	return true;
}

bool diff_merge(struct diff_sides *d, const struct diff_request *w, struct compare *c,
        struct alias **aliases)
{
	struct arena *a = d->a;
	const struct side **sides = ARENA_ARRAY(a, d->n, const struct side *);
	struct pattern_subst *rules;
	bool ok = true;

	if (!pattern_subst_compile(&rules, a, w->o.rename, &d->s->error))
		return false;
	for (size_t i = 0; i < d->n && ok; i++) {
		sides[i] = d->v[i].side;
		if (w->o.rename.n)
			sides[i] = side_rename(sides[i], by_rules, rules, a, &d->s->error);
		ok = sides[i] != NULL;
	}
	pattern_subst_free(rules);
	if (!ok)
		return false;
	if (view_is(d->view->kind, VIEW_EDGES) && !w->given.by_path &&
	        !rename_by_scope(d, w, sides))
		return false;
	if (view_is(d->view->kind, VIEW_EDGES))
		compare_graph(sides, (uint32_t)d->n, a);
	compare_sides(c, sides, (uint32_t)d->n, a);
	*aliases = NULL;
	if (!w->given.by_path)
		match_renamed(c, aliases, a);
	return true;
}

/* ---- unmatched nodes ---- */

/* Fails with the most likely reason why the first and the last side have no common nodes. */
static bool fail_apart(
        const struct diff_sides *d, const struct compare *c, const struct strs *names)
{
	struct session *s = d->s;
	struct arena *a = &s->query_arena;
	struct str why = S("they look like different models"), prefix;
	struct unmatched l;

	unmatched_find(&l, c, a);
	if (l.n_case)
		why = str_fmt(a,
		        "they differ in case ('%.*s', '%.*s'): -rename can make them the same",
		        STR(l.one), STR(l.two));
	else if ((prefix = unmatched_prefix(&l)).n)
		why = str_fmt(a, "the names of one side are below '%.*s': -rename 's|^%.*s/||'",
		        STR(prefix), STR(prefix));
	if (memory_of_all(d) == M_LIVE_BYTES)
		return session_fail(s, ERR_FAILED,
		        "nothing matches: %.*s and %.*s have no scope in common\n"
		        "hint: 'memory A B' compares the live sets by line",
		        STR(names->v[0]), STR(names->v[names->n - 1]));
	return session_fail(s, ERR_FAILED,
	        "nothing matches: %.*s has %zu nodes, such as '%.*s', %.*s has %zu, such as "
	        "'%.*s'; %.*s",
	        STR(names->v[0]), (size_t)l.first.n, STR(l.first.n ? l.first.v[0] : S("")),
	        STR(names->v[names->n - 1]), (size_t)l.last.n, STR(l.last.n ? l.last.v[0] : S("")),
	        STR(why));
}

/* Adds a note if names of the two sides differ only in case. */
static void note_case(struct session *s, const struct compare *c)
{
	struct scratch own;
	struct unmatched l;

	scratch_open(&own, &s->work);
	unmatched_find(&l, c, &own.a);
	if (l.n_case)
		note_line(&s->notes,
		        "names that differ only in case: %zu, such as '%.*s' and '%.*s'; they "
		        "are different nodes\n",
		        l.n_case, STR(l.one), STR(l.two));
	scratch_close(&own);
}

/* ---- steps ---- */

/* Returns the number of steps of each side that tests use. The table and the gates use the same
 * number, so that they do not contradict each other. */
static uint32_t steps_tested(const struct diff_sides *d)
{
	size_t nodes = 1;

	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].s->model.nodes.n > nodes)
			nodes = d->v[i].s->model.nodes.n;
	size_t steps = NOISE_NUMBERS / nodes;
	return steps > NOISE_STEPS ? (uint32_t)steps : NOISE_STEPS;
}

/* Makes the sides with the numbers of their steps. */
static bool make_with_steps(struct diff_sides *d, const struct view_ops *view, const struct opts *o,
        const enum metric_id *wanted, uint32_t n)
{
	d->with_steps = true;
	d->steps_most = steps_tested(d);
	bool ok = diff_sides_make(d, view, o, wanted, n);
	d->with_steps = false;
	d->steps_most = 0;
	return ok;
}

/* ---- gates ---- */

struct judging {
	struct diff_sides *d;
	const struct diff_request *w;
	bool texts;
};

static bool compare_for_gate(void *user, const struct view_ops *view, const struct gate *g,
        bool with_steps, struct compare *c, struct str *lack)
{
	const struct judging *j = user;
	const enum metric_id wanted[] = { g->metric,
		M_OCCURRENCE }; /* a printed report lacks the number */
	struct alias *aliases;

	j->d->number = g->number;
	j->d->phase = g->phase;
	j->d->share = gate_is_share(g);
	bool ok = with_steps ? make_with_steps(j->d, view, &j->w->o, wanted, 2)
	                     : diff_sides_make(j->d, view, &j->w->o, wanted, j->texts ? 1 : 2);
	j->d->number = STEP_NONE;
	for (size_t i = 0; ok && g->number != STEP_NONE && i < j->d->n && !lack->p; i++)
		if (j->d->v[i].lack.p)
			*lack = str_fmt(
			        j->d->a, "%.*s: %.*s", STR(j->d->v[i].word), STR(j->d->v[i].lack));
	return ok && diff_merge(j->d, j->w, c, &aliases);
}

/* Judges each gate in memory of its own, because each gate makes its views anew. */
static bool judge(
        struct diff_sides *d, const struct diff_request *w, struct gate_result **results, size_t *n)
{
	struct arena *a = &d->s->query_arena;
	struct judging j = { .d = d, .w = w };
	struct gate_request request = {
		.compare = compare_for_gate, .user = &j, .level = w->given.level, .e = &d->s->error
	};
	struct scratch own;
	bool ok = true;

	for (size_t i = 0; i < d->n; i++) {
		j.texts |= d->v[i].answer != NULL;
		request.steps += d->v[i].s->model.steps.n;
	}
	request.texts = j.texts;
	*n = w->gates.n;
	*results = ARENA_ARRAY(a, *n, struct gate_result);
	diff_sides_mark(d);
	scratch_open(&own, &d->s->work);
	d->a = &own.a;
	for (size_t i = 0; ok && i < *n; i++) {
		struct gate_result *to = &(*results)[i];
		ok = gate_judge(&w->gates.v[i], &request, &own.a, to);
		to->text = str_copy(a, to->text);
		diff_sides_reset(d);
		arena_clear(&own.a);
	}
	d->a = a;
	scratch_close(&own);
	return ok;
}

/* Adds a note for each gate. Fails if a gate fails, or if a gate is inconclusive and this is not
 * allowed. */
static bool check_gates(
        struct session *s, const struct gate_result *v, size_t n, bool allow_inconclusive)
{
	size_t failed = 0, undecided = 0;

	for (size_t i = 0; i < n; i++) {
		failed += v[i].verdict == GATE_FAILS;
		undecided += v[i].verdict == GATE_INCONCLUSIVE;
		note_line(&s->notes, "gate %.*s %s%s: %.*s\n", STR(v[i].rule),
		        v[i].verdict == GATE_INCONCLUSIVE ? "is " : "",
		        gate_verdict_name(v[i].verdict), STR(v[i].text));
	}
	if (allow_inconclusive)
		undecided = 0;
	if (failed && undecided)
		return session_fail(s, ERR_FAILED, "%zu of %zu gates fail, %zu inconclusive",
		        failed, n, undecided);
	if (undecided)
		return session_fail(s, ERR_FAILED,
		        "%zu of %zu %s inconclusive; --allow-inconclusive accepts that", undecided,
		        n, n == 1 ? "gate is" : "gates are");
	return !failed || session_fail(s, ERR_FAILED, "%zu of %zu %s", failed, n,
	                          n == 1 ? "gate fails" : "gates fail");
}

/* ---- the command ---- */

/* Options that select data of a profile do not apply to a printed report. */
static void note_texts(const struct diff_sides *d, const struct opts *o)
{
	const struct {
		const char *name;
		bool set;
	} chosen[] = { { "-step", o->step >= 0 || o->steps.n },
		{ "-account_type_regexes", !strs_is_one(&o->account, S(".*")) },
		{ "-device_regexes", !strs_is_one(&o->devices, S(".*")) },
		{ "-worker_regexes", !strs_is_one(&o->workers, S(".*")) } };

	for (size_t i = 0; i < d->n; i++)
		for (size_t k = 0; k < sizeof chosen / sizeof *chosen; k++)
			if (d->v[i].answer && chosen[k].set)
				note_line(&d->s->notes,
				        "note: %s has no effect on '%.*s', which is text output\n",
				        chosen[k].name, STR(d->v[i].word));
}

/* Adds notes about nodes of one side only, and about the reason for an empty answer. */
static void note_nodes(struct session *s, const struct diff *d, const struct strs *names)
{
	struct sb b = sb_in(&s->query_arena);

	if (names->n < 2) /* only gates are judged */
		return;
	for (int i = 0; i < 2; i++)
		if (d->only[i])
			sb_fmt(&b, "%s%llu only in %.*s", b.n ? ", " : "",
			        (unsigned long long)d->only[i],
			        /* NOLINTNEXTLINE: every side has a name */
			        STR(names->v[i ? names->n - 1 : 0]));
	if (d->aliases)
		sb_fmt(&b, "%s%zu renamed", b.n ? ", " : "", d->aliases);
	if (!d->n)
		sb_fmt(&b, "%sno difference to show (--delta %g%%)", b.n ? ", " : "",
		        d->request->delta * 100);
	if (b.n)
		note_line(&s->notes, "nodes: %llu in both, %.*s\n", (unsigned long long)d->both,
		        STR(sb_str(&b)));
}

/* Returns the share that the first and the last side have in common in a metric: the sum of the
 * smaller of both shares of each node. */
static double common_share(const struct compare *c, uint32_t metric)
{
	double all[2] = { 0 }, common = 0;
	uint32_t side[2] = { 0, c->sides - 1 };

	for (uint32_t i = 0; i < c->n; i++)
		for (int k = 0; k < 2; k++) {
			const int64_t *v = compare_self(c, side[k], i);
			all[k] += v ? (double)v[metric] : 0;
		}
	for (uint32_t i = 0; i < c->n; i++) {
		const int64_t *left = compare_self(c, side[0], i);
		const int64_t *right = compare_self(c, side[1], i);
		if (!left || !right || all[0] <= 0 || all[1] <= 0)
			continue;
		double x = (double)left[metric] / all[0], y = (double)right[metric] / all[1];
		common += x < y ? x : y;
	}
	return all[0] > 0 && all[1] > 0 ? common : 1;
}

/* Adds a note if the sides have so little time in common that they are probably different
 * programs. Text output may lack nodes, so it is not judged. */
static void note_unlike(const struct diff_sides *d, const struct compare *c, const struct asked *k,
        const struct strs *names)
{
	uint32_t time = 0;

	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].answer)
			return;
	while (time < k->columns && metrics[k->metrics[time]].unit != UNIT_TIME)
		time++;
	double common = time < k->columns ? common_share(c, time) : 1;
	if (common < RUN_COMMON_LEAST)
		note_line(&d->s->notes,
		        "note: %.*s and %.*s are probably different programs: nodes of both have "
		        "%.1f%% of their time (%s)\n",
		        STR(names->v[0]), STR(names->v[names->n - 1]), common * 100,
		        metrics[k->metrics[time]].name);
}

/* Makes the sides of the answer. If times of several steps are compared, appends the numbers of the
 * steps for the test that finds noise. */
static bool make_compared(struct diff_sides *d, const struct diff_request *w, struct asked *k,
        struct noise_request *noise)
{
	size_t steps = 0;
	bool times = false;
	bool ok = w->given.all ? out_is_data(w->o.output.kind) : w->o.output.kind != OUT_LEGACY;

	for (size_t i = 0; i < d->n; i++) {
		steps += d->v[i].s->model.steps.n;
		ok &= !d->v[i].answer && d->v[i].s->model.steps.n;
	}
	for (uint32_t i = 0; i < k->columns; i++)
		times |= metrics[k->metrics[i]].unit == UNIT_TIME;
	*noise = (struct noise_request){ .level = w->given.level,
		.steps = ok && times && steps > d->n && k->n < M_N };
	if (noise->steps)
		noise->runs = add_metric(k, M_OCCURRENCE);
	noise->n = k->n;
	const struct view_ops *view = &views[w->given.view];
	ok = noise->steps ? make_with_steps(d, view, &w->o, k->metrics, k->n)
	                  : diff_sides_make(d, view, &w->o, k->metrics, k->n);
	for (size_t i = 1; i < d->n && ok; i++) /* -step may leave only one step of each side */
		noise->steps &= shift_possible(d->v[0].side->values.n / k->n - 1,
		        d->v[i].side->values.n / k->n - 1, noise->level);
	return ok;
}

static bool answer(struct diff_sides *d, const struct diff_request *w, struct sink *out)
{
	struct session *s = d->s;
	struct arena *a = &s->query_arena;
	struct strs names = choose_names(a, w);
	struct emit to = { .a = a, .out = out, .notes = &s->notes, .arrays = s->arrays };
	struct diff_answer x = { .view = &views[w->given.view],
		.words = &w->sides,
		.names = &names,
		.min_size = w->min_size,
		.top = w->given.top > 0 ? (size_t)w->given.top : 0,
		.per_run = w->given.per_run,
		.allow_inconclusive = w->given.allow_inconclusive,
		.legacy = w->o.output.kind == OUT_LEGACY };
	struct gate_result *gates;
	struct alias *aliases;
	struct noise_request noise;
	struct compare c;
	struct asked k;
	struct diff diff;

	if (!all_different(&names))
		return session_fail(
		        s, ERR_INVALID_ARGUMENT, "--names: two sides have the same name");
	note_texts(d, &w->o);
	if (!choose_metrics(d, w, &k) || !make_compared(d, w, &k, &noise) ||
	        !diff_merge(d, w, &c, &aliases))
		return false;
	noise.c = &c;
	noise_open(&noise, a);
	bool first = w->given.swap != x.legacy; /* the first side minus the last */
	struct difference_request request = { .c = &c,
		.alias = aliases,
		.o = &w->o,
		.metrics = k.metrics,
		.n = k.n,
		.columns = k.columns,
		.order = k.order,
		.from = first ? 0 : c.sides - 1,
		.to = first ? c.sides - 1 : 0,
		.delta = w->given.delta,
		.least = k.least,
		.noise = w->given.all || x.legacy ? NULL : &noise,
		.test = noise.steps ? &noise : NULL };
	if (!diff_run(&diff, &request, a, &s->error))
		return false;
	if (!diff.both)
		return fail_apart(d, &c, &names);
	note_nodes(s, &diff, &names);
	note_unlike(d, &c, &k, &names);
	if (memory_of_all(d) == M_LIVE_BYTES)
		note_line(&s->notes, "note: 'memory A B' compares the live sets by line\n");
	note_case(s, &c);
	if (!judge(d, w, &gates, &x.n_gates))
		return false;
	x.d = &diff;
	x.gates = gates;
	bool alone = d->n == 1 && w->o.output.kind == OUT_STDOUT; /* notes have the gates */
	return (alone || diff_write(&x, &to, &s->error)) &&
	       check_gates(s, gates, x.n_gates, x.allow_inconclusive);
}

/* Compares the rows of a table or the phases of a server's steps instead of nodes. */
static bool answer_tables(struct diff_sides *d, const struct diff_request *w, struct sink *out)
{
	struct session *s = d->s;
	struct emit to = {
		.a = &s->query_arena, .out = out, .notes = &s->notes, .arrays = s->arrays
	};
	struct gate_result *gates;
	size_t n;

	struct strs names = choose_names(to.a, w);
	bool phases = w->given.by || w->given.of == DIFF_OF_PHASES;
	return judge(d, w, &gates, &n) &&
	       (phases ? diff_by_phase(d, w, &to) : diff_of_tables(d, w, &names, &to)) &&
	       check_gates(s, gates, n, w->given.allow_inconclusive);
}

/* Groups kernels by function: in traces of different formats, only the functions have equal
 * names. */
static void group_functions(const struct diff_sides *d, struct diff_request *w)
{
	const struct view_ops *v = &views[w->given.view];

	if (w->given.by_path || !(v->traits & (VIEW_PATHS | VIEW_LIST)) ||
	        !diff_sides_mix_formats(d))
		return;
	w->o.by = BY_FUNCTION;
	note_line(&d->s->notes,
	        "note: the traces are of different formats: kernels are matched by function "
	        "(--match=path: nodes by their paths)\n");
}

bool diff_command(struct session *s, const struct request *r, struct sink *out)
{
	struct diff_request w;
	struct diff_sides d;

	if (!diff_read(s, &r->topics, &w) || !diff_sides_load(&d, s, &w))
		return false;
	if (!w.given.of)
		group_functions(&d, &w);
	s->account.stop = &s->cancel;
	bool ok = w.given.by || w.given.of ? answer_tables(&d, &w, out) : answer(&d, &w, out);
	diff_sides_close(&d);
	return ok;
}
