/* SPDX-License-Identifier: Apache-2.0
 *
 * The command "summary".
 */
#include "lib/path_input.h"

#include "export/summary_out.h"
#include "export/table/why_out.h"
#include "lib/options.h"

#define FILES_NAMED 4 /* maximum number of files that the commands of the page repeat */

/* ---- inputs ---- */

static bool read_checkpoint(struct session *s, struct checkpoint_summary *c)
{
	struct arena *a = &s->query_arena;
	struct ckpt_tensor t;
	struct scratch own;

	if (!s->ckpt)
		return true;
	c->found = true;
	c->path = ckpt_path(s->ckpt);
	struct ckpt_list *l = ckpt_list(s->ckpt, a, &s->error);
	if (!l)
		return false;
	scratch_open(&own, &s->work);
	while (ckpt_next(l, &own.a, &t)) {
		c->tensors++;
		c->elements = num_add(c->elements, t.elements);
		c->bytes = num_add_u64(c->bytes, ckpt_bytes(s->ckpt, &t, &own.a));
		arena_clear(&own.a);
	}
	scratch_close(&own);
	return !s->error.code;
}

/* ---- numbers ---- */

static void add_up(const struct query *q, struct summary_page *p)
{
	struct tally all = { 0 };

	for (size_t i = 0; i < q->m->nodes.n; i++)
		tally_add(&all, &q->tallies[i]);
	p->device_us = view_value(q, &all, V_ACCELERATOR_MICROS);
	p->host_us = view_value(q, &all, V_CPU_MICROS);
	p->float_ops = view_value(q, &all, V_FLOAT_OPS);
	p->uncounted = all.v[V_UNCOUNTED];
	p->bounded = tally_is_bound(&all, V_FLOAT_OPS);
	p->requested_bytes = view_value(q, &all, V_BYTES);
}

/* Fills in the hottest entries of a view. Operation types without times or memory are ordered by
 * their number of nodes. */
static bool add_hottest(struct session *s, const struct opts *o, const struct view_ops *v,
        struct summary_page *p, struct hottest_table *t)
{
	struct query q = { .o = o };
	struct hottest h;

	if (!session_query(s, v, &q) || !view_open(&q, &s->error))
		return false;
	if (v->traits & VIEW_PATHS)
		add_up(&q, p);
	bool times = p->device_us.v || p->host_us.v;
	enum metric_id memory = session_memory_metric(s);
	enum metric_id m = times                   ? view_time_metric(q.m)
	                   : memory != M_NONE      ? memory
	                   : v->traits & VIEW_LIST ? M_OCCURRENCE
	                                           : M_PARAMS;
	bool ok = view_hottest(
	        &q, m == M_OCCURRENCE ? V_DEFINITIONS : metrics[m].value, &h, &s->error);
	if (ok)
		hottest_fill(t, &q, &h, m, p->rows, true);
	view_close(&q);
	return ok;
}

/* True if all files have formats of TensorFlow, which other files of TensorFlow can complete. */
static bool all_original(const struct model *m)
{
	size_t n = 0;

	while (n < m->files.n && input_is_original(m->files.v[n].format))
		n++;
	return n == m->files.n;
}

/* Fills the tables of nodes and types of a page. rows: maximum number of rows. */
static bool add_nodes_and_types(
        struct session *s, const struct opts *o, size_t rows, struct summary_page *p)
{
	p->rows = rows;
	p->device_us = p->host_us = p->float_ops = p->requested_bytes = (struct fraction){ 0, 1 };
	return add_hottest(s, o, view_with(VIEW_PATHS), p, &p->nodes) &&
	       add_hottest(s, o, view_with(VIEW_LIST), p, &p->ops);
}

bool session_profile_ops(struct session *s, const struct opts *o, const struct table **out)
{
	struct summary_page *p = ARENA_NEW(&s->query_arena, struct summary_page);

	*out = NULL;
	if (s->model.traces.n || s->recording.n || !s->model.nodes.n || !all_original(&s->model))
		return true;
	if (!session_need_all(s, false) ||
	        !session_seal(s)) /* the times of devices are of all steps */
		return false;
	if (!add_nodes_and_types(s, o, SIZE_MAX, p))
		return false;
	if ((p->host_us.v > 0 || p->device_us.v > 0) && p->ops.x.rows)
		*out = &p->ops.x;
	return true;
}

bool session_host_ops(struct session *s, const struct opts *o, const struct table **out)
{
	struct summary_page *p = ARENA_NEW(&s->query_arena, struct summary_page);

	*out = NULL;
	if (!s->model.nodes.n || s->recording.n || session_memory_metric(s) != M_NONE)
		return true;
	if (!add_nodes_and_types(s, o, SUMMARY_ROWS, p))
		return false;
	if (p->host_us.v > 0 && p->ops.x.rows)
		*out = &p->ops.x;
	return true;
}

/* ---- advice for the reader ---- */

static void add_missing(struct summary_page *p, bool missing, const char *what, const char *how)
{
	if (missing && p->n_missing < SUMMARY_MISSING)
		p->missing[p->n_missing++] = (struct missing){ what, how };
}

static void find_missing(const struct session *s, struct summary_page *p)
{
	const struct model *m = &s->model;
	bool spool = session_has_source(s, ROLE_SPOOL), trace = m->traces.n > 0, pytorch = false;
	bool files = !spool && !trace && !session_has_source(s, ROLE_BASELINE) && all_original(m);
	bool graph = session_has_source(s, ROLE_GRAPH) && !m->steps.n;
	const struct facts *f = &p->facts;

	if (!f->nodes && p->checkpoint.found) {
		add_missing(p, true, "nodes and times", "a checkpoint has only variables");
		return;
	}
	bool op_log = session_has_source(s, ROLE_OPLOG);
	const char *in_op_log = op_log ? "not in the op log" : "--op_log_path";
	if (!f->nodes && op_log) {
		add_missing(p, true, "graph and times", "an op log only completes a graph");
		return;
	}
	if (session_memory_metric(s) != M_NONE)
		return;
	for (size_t i = 0; i < m->traces.n; i++)
		pytorch |= m->traces.v[i].t->source == TRACE_KINETO;
	add_missing(p, files && !f->edges && !session_has_source(s, ROLE_PROFILE), "graph",
	        "--graph_path");
	add_missing(p, !m->steps.n && !s->n_later, "times and memory",
	        files ? "--run_meta_path, of a run with FULL_TRACE" : "not in the file");
	add_missing(p, trace && !f->devices.n, "device work", "not in the file");
	add_missing(p, !m->has_traces, "call stacks",
	        files     ? in_op_log
	        : pytorch ? "with_stack=True"
	                  : "not recorded");
	add_missing(p, !p->float_ops.v && !s->n_later, "float operations",
	        !files  ? graph ? "see flops" : "not recorded"
	        : graph ? "--op_log_path, or see flops"
	                : in_op_log);
	add_missing(p, files && !p->checkpoint.found, "values of variables", "--checkpoint_path");
}

/* Returns the files as words of a command line. */
static struct str file_words(struct session *s)
{
	struct sb b = sb_in(&s->query_arena);

	for (size_t i = 0; i < s->sources.n && s->sources.n <= FILES_NAMED; i++) {
		sb_char(&b, ' ');
		sb_put_word(&b, s->sources.v[i].path);
	}
	return b.n ? sb_str(&b) : S(" FILES");
}

static void add_next(struct session *s, struct summary_page *p, bool prompt, const char *command)
{
	struct str line =
	        prompt ? str_of(command)
	               : str_fmt(&s->query_arena, "tfprof %s%.*s", command, STR(file_words(s)));

	strs_add(&s->query_arena, &p->next, line);
}

static bool is_source(const struct model *m, enum trace_source source)
{
	return m->traces.n && m->traces.v[0].t->source == source;
}

static void find_next(struct session *s, struct summary_page *p, bool prompt)
{
	bool times = p->device_us.v || p->host_us.v || s->n_later;

	if (p->checkpoint.found && !p->facts.nodes) {
		struct sb b = sb_in(&s->query_arena);
		sb_put_word(&b, p->checkpoint.path);
		struct str path = sb_str(&b);
		const char *before = prompt ? "" : "tfprof ";
		struct arena *a = &s->query_arena;
		strs_add(a, &p->next, str_fmt(a, "%scheckpoint %.*s", before, STR(path)));
		strs_add(a, &p->next, str_fmt(a, "%scheckpoint --verify %.*s", before, STR(path)));
		strs_add(a, &p->next, str_fmt(a, "%shelp checkpoint", before));
		return;
	}
	if (!p->facts.nodes && session_has_source(s, ROLE_OPLOG)) {
		strs_add(&s->query_arena, &p->next,
		        str_fmt(&s->query_arena, "%s GRAPH%.*s", prompt ? "load" : "tfprof summary",
		                STR(file_words(s))));
		return;
	}
	if (session_has_source(s, ROLE_SPOOL) && !prompt)
		add_next(s, p, prompt, "gpu");
	if (is_source(&s->model, TRACE_FLIGHT)) {
		add_next(s, p, prompt, "collectives");
		return;
	}
	if (is_source(&s->model, TRACE_TIMELINE)) {
		add_next(s, p, prompt, "memory");
		return;
	}
	if (is_source(&s->model, TRACE_SNAPSHOT) || session_memory_metric(s) != M_NONE) {
		add_next(s, p, prompt, "memory");
		add_next(s, p, prompt, "memory --by=kind");
		add_next(s, p, prompt, "code");
		return;
	}
	if (!times) {
		bool params = p->facts.params > 0;
		add_next(s, p, prompt, "op -select occurrence -order_by occurrence");
		add_next(s, p, prompt, params ? "top -by params" : "graph -max_depth 3");
		add_next(s, p, prompt,
		        params ? "scope -select params -order_by params -max_depth 3"
		               : "scope -select op_types -max_depth 3");
		return;
	}
	if (p->verdict.sentence.p || p->verdict.left_out)
		add_next(s, p, prompt, "why");
	add_next(s, p, prompt, "top");
	if (s->model.traces.n && p->facts.devices.n)
		add_next(s, p, prompt, "kernels");
	add_next(s, p, prompt, "scope -order_by micros -max_depth 3");
	if (p->next.n < 3)
		add_next(s, p, prompt, "advise");
}

/* ---- verdict ---- */

/* Largest inputs of which the verdict is found. */
#define VERDICT_SLICES_MAX  2000000
#define VERDICT_BYTES_MAX   (64 << 20)
#define VERDICT_DEVICES_MAX 64

/* True if finding the verdict takes at most about the time of the rest of a summary. */
static bool has_cheap_verdict(const struct session *s)
{
	uint64_t slices = 0, devices = 0;

	if (s->recording.n)
		return s->recording.bytes <= VERDICT_BYTES_MAX;
	for (size_t i = 0; i < s->model.traces.n; i++) {
		const struct trace *t = s->model.traces.v[i].t;
		if (t->sums)
			return false;
		slices += t->n_slices;
		devices += t->devices.n;
	}
	return slices <= VERDICT_SLICES_MAX && devices <= VERDICT_DEVICES_MAX;
}

/* Finds the verdict of why on all steps. Sets nothing for two runs. Sets only out->left_out if the
 * verdict would take too long. False: the trace cannot be read. */
static bool find_verdict(struct session *s, struct summary_verdict *out)
{
	struct arena *a = &s->query_arena;
	struct path_replays in;
	struct opts o;

	if (!session_has_path(s))
		return true;
	out->left_out = !has_cheap_verdict(s);
	if (out->left_out)
		return true;
	opts_preset(&o, a);
	if (!path_replays_find(s, &o, &in))
		return false;
	if (path_are_runs(&in, FILES_AS_AUTO))
		return true;
	const struct why *why = path_why(s, &in, &o);
	out->sentence = why_verdict(why, a);
	out->cause = why_verdict_id(why);
	if (in.steps.marked && why_is_per_step(why) && why->busy > 0)
		out->step_ns = trace_ns(why->x->depend.t, why->step);
	return true;
}

/* ---- the page ---- */

/* Finds the pool of the loaded snapshots with the largest peak. */
static void find_pool(struct session *s, struct summary_page *p)
{
	const struct memory_request request = { .by = MEMORY_BY_AUTO };
	struct memory_use *use = ARENA_NEW(&s->query_arena, struct memory_use);

	for (size_t i = 0; i < s->model.traces.n; i++)
		memory_use_trace(s->model.traces.v[i].t, &request, use, &s->query_arena);
	for (size_t i = 0; i < use->pools.n; i++)
		if (!p->pool || memory_pool_peak(&use->pools.v[i]) > memory_pool_peak(p->pool))
			p->pool = &use->pools.v[i];
}

static bool make_page(struct session *s, bool prompt, bool all, struct summary_page *p)
{
	struct arena *a = &s->query_arena;
	struct opts o;

	opts_preset(&o, a);
	if (all && !session_need_steps(s, &o))
		return false;
	if (!session_seal(s) || !read_checkpoint(s, &p->checkpoint))
		return false;
	p->m = &s->model;
	p->device_us = p->host_us = p->float_ops = p->requested_bytes = (struct fraction){ 0, 1 };
	p->coverage = session_coverage(s);
	p->prompt = prompt;
	p->columns = s->columns;
	p->rows = p->rows ? p->rows : SUMMARY_ROWS;
	p->ops.x.a = p->nodes.x.a = a; /* without nodes, the tables stay empty */
	p->waiting = s->n_later + s->n_older;
	if (s->model.nodes.n && !s->n_later && !session_has_snapshots(s))
		if (!add_hottest(s, &o, view_with(VIEW_PATHS), p, &p->nodes) ||
		        !add_hottest(s, &o, view_with(VIEW_LIST), p, &p->ops))
			return false;
	facts_find(&s->model, s->recording.n ? &s->recording : NULL, &s->recording_options,
	        &p->facts, a);
	if (session_has_snapshots(s))
		find_pool(s, p);
	if (p->facts.devices.n && !find_verdict(s, &p->verdict))
		return false;
	find_missing(s, p);
	find_next(s, p, prompt);
	return true;
}

bool summary_write(struct session *s, bool prompt, struct sink *out)
{
	struct summary_page *p = ARENA_NEW(&s->query_arena, struct summary_page);

	if (!make_page(s, prompt, false, p))
		return false;
	struct emit to = session_emit(s, view_with(VIEW_PATHS)->kind, out);
	p->from = &to.from;
	summary_page_text(p, &s->query_arena, out);
	return true;
}

bool run_summary(struct session *s, const struct request *r, struct sink *out)
{
	struct summary_page *p = ARENA_NEW(&s->query_arena, struct summary_page);

	if (r->opts.top >= 0)
		p->rows = r->opts.top ? (size_t)r->opts.top : SIZE_MAX;
	if (!make_page(s, r->prompt, true, p))
		return false;
	if (opts_names_steps(&r->opts)) /* from set */
		note_line(&s->notes, "note: -step does not apply to summary, which shows all "
		                     "steps; 'top' and 'op' apply it\n");
	struct emit to = session_emit(s, view_with(VIEW_PATHS)->kind, out);
	p->from = &to.from;
	if (r->opts.wide || r->opts.output.outfile.n)
		p->columns = 0;
	return summary_page_write(p, &r->opts.output, &to, &s->error);
}
