/* SPDX-License-Identifier: Apache-2.0
 *
 * The sides of a diff: each is loaded into its own session, several at a time.
 */
#include "lib/diff.h"
#include "lib/jobs.h"
#include "io/paths.h"

/* ---- loading ---- */

/* Reads the side if it is a printed report, and sets *is. */
static bool try_answer(struct session *s, struct diff_side *x, struct str path, bool *is)
{
	struct arena *a = &s->model_arena;
	struct src *in;

	*is = false;
	if (!src_open(&in, a, path, &s->error))
		return false;
	src_need(in, ANSWER_HEAD);
	bool ok = !src_failed(in);
	*is = ok && answer_sniff(str_make(in->p, (size_t)(in->end - in->p)));
	if (*is) {
		x->answer = ARENA_NEW(a, struct answer);
		ok = answer_read(x->answer, in, a, &s->error);
		x->answer->file = str_copy(a, x->word);
	}
	src_close(in);
	return ok;
}

static bool load_side(struct session *s, void *ctx)
{
	struct diff_side *x = ctx;
	struct arena *a = &s->query_arena;
	struct strs files = { 0 };
	struct str path = x->path;
	bool is_answer;

	if (str_starts(path, S(BASELINE_PREFIX))) {
		path = str_sub(path, sizeof BASELINE_PREFIX - 1, SIZE_MAX);
		if (!baseline_path(&path, a, &s->error))
			return false;
	} else if (!path_exists(a, path)) {
		files = str_split(a, path, ',');
		return flags_load_files(s, &files);
	} else if (!path_is_folder(a, path)) {
		if (!try_answer(s, x, path, &is_answer))
			return false;
		if (is_answer)
			return true;
	}
	strs_add(a, &files, path);
	return flags_load_files(s, &files);
}

/* Stores the error of the side's session. The text remains in the memory of the session. */
static void keep_error(struct diff_side *x)
{
	x->code = x->s->error.code ? x->s->error.code : ERR_FAILED;
	x->failed = x->s->error.text;
	x->partial = x->s->error.partial;
}

bool diff_side_failed(struct session *s, const struct diff_side *x)
{
	struct sb b = sb_in(&s->query_arena);

	sb_put_name(&b, x->word);
	sb_put(&b, S(": "));
	sb_put(&b, x->s->error.text);
	return err_text(&s->error, x->s->error.code, sb_str(&b));
}

static void run_load(void *ctx, size_t i, struct work *w)
{
	struct diff_sides *d = ctx;

	(void)w;
	if (!d->v[i].is_job && !session_guard(d->v[i].s, load_side, &d->v[i]))
		keep_error(&d->v[i]);
}

static bool go_on(void *ctx, size_t job, bool escaped, struct pool *p)
{
	struct diff_sides *d = ctx;

	(void)job;
	(void)escaped;
	(void)p;
	work_poll(&d->s->work);
	return true;
}

static void close_sides(void *sides)
{
	struct diff_sides *d = sides;

	for (size_t i = 0; i < d->n; i++) {
		arena_free(&d->v[i].made);
		if (!d->v[i].is_job)
			session_free(d->v[i].s);
	}
	d->n = 0;
}

void diff_sides_close(struct diff_sides *d)
{
	work_unguard(&d->s->work, &d->guard);
	close_sides(d);
}

static void collect_notes(struct session *s, struct session *from)
{
	if (s == from)
		return;
	struct notes said = notes_take(&from->load_notes, NOTES_OF_OPS, &s->query_arena);

	note_append(&s->notes, &said);
	note_append(&s->notes, &from->notes);
	from->notes.list.n = 0;
}

/* Collects the notes of the sides, and the first failure. */
static bool collect(struct diff_sides *d)
{
	struct session *s = d->s;

	for (size_t i = 0; i < d->n; i++) {
		struct diff_side *x = &d->v[i];
		enum status code = x->code == ERR_STEP ? ERR_FAILED : x->code;
		struct sb word = sb_in(d->a);
		if (!code) {
			collect_notes(s, x->s);
			continue;
		}
		sb_put_name(&word, x->word);
		if (str_contains(x->failed, sb_str(&word)) ||
		        str_starts(x->word, S(BASELINE_PREFIX)))
			session_fail_text(s, code, x->failed);
		else
			session_fail_text(s, code,
			        str_fmt(d->a, "'%.*s': %.*s", STR(sb_str(&word)), STR(x->failed)));
		s->error.partial = x->partial;
		return false;
	}
	return true;
}

static void run_all(struct diff_sides *d, void (*run)(void *, size_t, struct work *))
{
	const struct par_ops ops = { run, go_on, NULL };

	par_run(&ops, d, d->n, d->s->threads, &d->s->work);
}

bool diff_sides_load(struct diff_sides *d, struct session *s, const struct diff_request *w)
{
	struct arena *a = &s->query_arena;
	unsigned threads = s->threads / (unsigned)w->sides.n;

	*d = (struct diff_sides){
		.s = s, .a = a, .per_run = w->given.per_run, .number = STEP_NONE
	};
	d->v = ARENA_ARRAY(a, w->sides.n, struct diff_side);
	work_guard(&s->work, &d->guard, close_sides, d);
	for (size_t i = 0; i < w->sides.n; i++) {
		struct diff_side *x = &d->v[i];
		x->word = w->sides.v[i];
		x->path = diff_side_path(s, x->word, &x->step);
		if (!diff_check_step(s, x->word, x->step)) {
			diff_sides_close(d);
			return false;
		}
		x->s = jobs_find(s->jobs, x->path);
		x->is_job = x->s != NULL;
		if (!x->is_job)
			x->s = session_new_part(s);
		if (!x->s)
			work_escape(&s->work);
		arena_init(&x->made, &x->s->work);
		d->n++;
		if (x->is_job)
			continue;
		x->s->threads = threads ? threads : 1;
		x->s->recover = s->recover;
		x->s->reading = s->reading;
		x->s->watch = session_not_cancelled(s);
		x->s->parent_cancel = &s->cancel;
	}
	run_all(d, run_load);
	if (collect(d))
		return true;
	diff_sides_close(d);
	return false;
}

static bool has_kernels(const struct trace *t)
{
	for (size_t i = 0; i < t->events.n; i++)
		if (t->events.v[i].category == CATEGORY_KERNEL)
			return true;
	return false;
}

bool diff_sides_mix_formats(const struct diff_sides *d)
{
	bool mixed = false;

	for (size_t i = 0; i < d->n; i++) {
		const struct model *m = &d->v[i].s->model;
		if (d->v[i].answer || m->traces.n != 1 || m->workers.n > 1 ||
		        !has_kernels(m->traces.v[0].t))
			return false;
		mixed |= m->traces.v[0].t->source != d->v[0].s->model.traces.v[0].t->source;
	}
	return mixed;
}

/* ---- conversion to sides of a view ---- */

struct side_request {
	const struct view_ops *view;
	const struct opts *o;
	const enum value *values;
	uint32_t n;
	bool per_run;         /* recorded numbers are per execution of each node */
	const int64_t *steps; /* followed by the same values for each of these steps */
	uint32_t n_steps;
	int64_t ticks_per_us; /* ticks in which the side stores times (struct side_values) */
};

/* Makes a query whose view has accounted. */
static bool account(struct session *s, const struct side_request *request, struct query *q)
{
	if (!session_group(s, request->view, q) || !view_open(q, &s->error))
		return false;
	if (request->per_run)
		side_per_run(q);
	request->view->account(q);
	return true;
}

/* Returns the numbers of one step. */
static bool fill_step(struct session *s, const struct side_request *request, uint32_t i,
        struct side *out, struct arena *scratch)
{
	struct opts o = *request->o;
	struct query q = { .o = &o, .a = scratch, .notes = &s->notes };

	o.step = request->steps[i];
	o.steps.n = 0;
	if (!account(s, request, &q))
		return false;
	side_fill(out, &q, (i + 1) * request->n, request->n);
	view_close(&q);
	return true;
}

/* Returns the accounted entries of a view as a side of a comparison, in a. The names belong to the
 * model and its trees. Only the options for steps, types and devices apply. */
static bool query_side(
        struct session *s, const struct side_request *request, struct side *out, struct arena *a)
{
	struct query q = { .o = request->o, .notes = &s->notes };
	uint32_t n = request->n * (request->n_steps + 1);
	enum value *values = ARENA_ARRAY(a, n, enum value);
	struct scratch own;

	if (!session_need_steps(s, request->o) || !session_seal(s))
		return false;
	session_begin_query(s);
	if (view_is(request->view->kind, VIEW_TRACES) && !s->model.has_traces)
		return session_fail(s, ERR_FAILED,
		        "call stacks are missing: load an op log, or a profile with call stacks");
	for (uint32_t i = 0; i < n; i++)
		values[i] = request->values[i % request->n];
	scratch_open(&own, &s->work);
	q.a = &own.a;
	bool ok = account(s, request, &q);
	if (ok) {
		const struct side_values made = { values, n, request->ticks_per_us,
			model_ticks(&s->model) > 1 };
		side_from_query(out, &q, &made, a);
		ok = view_patterns_ok(&q, &s->error);
		view_close(&q);
	}
	for (uint32_t i = 0; i < request->n_steps && ok; i++) {
		arena_clear(&own.a);
		ok = fill_step(s, request, i, out, &own.a);
	}
	if (ok && value_stopped(out->total, n))
		view_note_stopped(&s->notes);
	scratch_close(&own);
	return ok;
}

/* Lists the chosen steps. Of more than `most` steps (above 1; 0: no limit), lists that number of
 * evenly spaced steps. */
static uint32_t list_steps(
        const struct session *s, const struct opts *o, int64_t *ids, uint32_t most)
{
	uint32_t n = 0, kept = 0;

	for (size_t i = 0; i < s->model.steps.n; i++)
		if (opts_has_step(o, s->model.steps.v[i]->id))
			ids[n++] = s->model.steps.v[i]->id;
	if (most < 2 || n <= most)
		return n;
	for (uint64_t i = 0; i < most; i++)
		ids[kept++] = ids[i * (n - 1) / (most - 1)];
	return kept;
}

struct making {
	struct diff_sides *d;
	struct diff_side *x;
};

static bool make_side(struct session *s, void *ctx)
{
	const struct making *m = ctx;
	const struct diff_sides *d = m->d;
	enum value values[M_N];
	struct opts o = *d->o;
	struct side_request request = { .view = d->view,
		.o = &o,
		.values = values,
		.n = d->n_metrics,
		.per_run = d->per_run,
		.ticks_per_us = d->ticks_per_us };
	struct arena *a = &m->x->made;

	m->x->side = ARENA_NEW(a, struct side);
	if (m->x->answer && m->x->step.n)
		return session_fail(s, ERR_FAILED, "text output has no steps: '@%.*s' needs one",
		        STR(m->x->step));
	if (!diff_choose_step(s, m->x->step, &o))
		return false;
	if (d->number != STEP_NONE)
		return diff_number_side(s, d, &o, m->x);
	if (m->x->answer && d->per_run)
		return session_fail(s, ERR_FAILED,
		        "text output does not state how often a node ran: --per=run cannot be "
		        "used");
	if (m->x->answer)
		return answer_side(m->x->answer, d->view->kind, d->metrics, d->n_metrics,
		        d->ticks_per_us, m->x->side, a, &s->error);
	for (uint32_t k = 0; k < d->n_metrics; k++)
		values[k] = metrics[d->metrics[k]].value;
	int64_t *steps = ARENA_ARRAY(&s->query_arena, s->model.steps.n, int64_t);
	request.steps = steps;
	if (d->with_steps)
		request.n_steps = list_steps(s, &o, steps, d->steps_most);
	return query_side(s, &request, m->x->side, a);
}

static void run_make(void *ctx, size_t i, struct work *w)
{
	struct diff_sides *d = ctx;
	struct making m = { d, &d->v[i] };

	(void)w;
	if (!m.x->is_job && !session_guard(m.x->s, make_side, &m))
		keep_error(m.x);
}

/* Makes the sides of loaded jobs on this thread, because two sides may belong to one job. The job
 * that runs the command already has its recovery point. */
static bool make_of_jobs(struct diff_sides *d)
{
	for (size_t i = 0; i < d->n; i++) {
		struct making m = { d, &d->v[i] };
		if (!m.x->is_job)
			continue;
		if (m.x->s == d->s && !make_side(d->s, &m))
			return false;
		if (m.x->s != d->s && !session_guard(m.x->s, make_side, &m)) {
			keep_error(m.x);
			/* The next side of the same job releases the text. */
			m.x->failed = str_copy(d->a, m.x->failed);
		}
	}
	return true;
}

static bool check_empty(struct diff_sides *d)
{
	for (size_t i = 0; i < d->n && d->number == STEP_NONE; i++)
		if (d->v[i].side->n < 2)
			return session_fail(d->s, ERR_FAILED,
			        "'%.*s' has nothing to compare in the %s view", STR(d->v[i].word),
			        d->view->name);
	return true;
}

/* Returns the ticks per microsecond for which the times of all sides are whole numbers. */
static int64_t shortest_ticks(const struct diff_sides *d)
{
	int64_t ticks = 1;

	for (size_t i = 0; i < d->n; i++)
		if (model_ticks(&d->v[i].s->model) > ticks)
			ticks = model_ticks(&d->v[i].s->model);
	return ticks;
}

bool diff_sides_make(struct diff_sides *d, const struct view_ops *view, const struct opts *o,
        const enum metric_id *wanted, uint32_t n)
{
	d->view = view;
	d->o = o;
	d->metrics = wanted;
	d->n_metrics = n;
	do { /* repeated if steps that were read meanwhile have shorter ticks */
		d->ticks_per_us = shortest_ticks(d);
		run_all(d, run_make);
		if (!make_of_jobs(d) || !collect(d))
			return false;
	} while (shortest_ticks(d) > d->ticks_per_us);
	return check_empty(d);
}

void diff_sides_mark(struct diff_sides *d)
{
	for (size_t i = 0; i < d->n; i++)
		d->v[i].mark = arena_mark(&d->v[i].made);
}

void diff_sides_reset(struct diff_sides *d)
{
	for (size_t i = 0; i < d->n; i++)
		arena_reset(&d->v[i].made, d->v[i].mark);
}
