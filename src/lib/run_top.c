/* SPDX-License-Identifier: Apache-2.0
 *
 * The command "top": nodes or lines by their own numbers.
 */
#include "lib/options.h"

#include "export/summary_out.h"

/* True if nodes can be ordered by the metric. */
static bool is_number(enum metric_id m)
{
	return m < M_N && metrics[m].value != V_NONE;
}

/* Returns the metric to sort by: from -order_by, otherwise the main metric of
 * the session. */
static bool find_metric(struct session *s, const struct request *r, enum metric_id *m)
{
	if (r->opts.by == BY_WORKER)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "top cannot show a column for each worker; scope -by worker can");
	*m = r->opts.order.by;
	if (!is_number(*m) && r->opts.order.given)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "top ranks by a number; scope and op have -order_by name");
	if (!is_number(*m))
		*m = session_main_metric(s);
	if (*m == M_MICROS)
		*m = view_time_metric(&s->model);
	return session_has_metric(s, *m);
}

/* Data for the members of documents besides the rows. */
struct more {
	const struct query *q;
	const struct hottest *h;
	enum metric_id metric;
};

static void put_members(struct document *d, const void *user)
{
	const struct more *more = user;

	document_text(d, "metric", str_of(metrics[more->metric].name));
	document_fraction(
	        d, "total", model_fraction(more->q->m, more->q->over, more->h->of, more->h->total));
	if (more->h->other != V_NONE)
		document_fraction(d,
		        more->h->other == V_CPU_MICROS ? "total_self_micros"
		                                       : "total_accelerator_micros",
		        model_fraction(
		                more->q->m, more->q->over, more->h->other, more->h->other_total));
}

static bool write_top(struct session *s, const struct request *r, struct query *q, enum metric_id m,
        struct sink *out)
{
	struct emit to = session_emit(s, q->tree->kind, out);
	struct hottest h;
	struct hottest_table t;
	struct query shown;
	bool text = !out_is_data(r->opts.output.kind);

	if (!view_hottest(q, metrics[m].value, &h, &s->error))
		return false;
	shown = *q;
	if (!view_rename(&shown, &s->error))
		return false;
	hottest_fill(&t, &shown, &h, m, (size_t)r->top, false);
	t.x.key = "nodes";
	t.x.schema = "tfprof/top";
	t.x.version = 2;
	t.x.all = "-n 0";
	t.x.members = put_members;
	t.x.user = &(struct more){ q, &h, m };
	if (text && !h.n)
		note_line(&s->notes, "note: no node that the options select has %s above 0\n",
		        metrics[m].name);
	return table_write(&t.x, (size_t)r->top, &r->opts.output, r->opts.wide ? 0 : s->columns,
	        &to, &s->error);
}

/* True if -by source must rank the lines of call stacks: those of a trace are a grouping. */
static bool wants_lines(const struct session *s, const struct opts *o)
{
	return o->by == BY_SOURCE && !s->model.traces.n && s->model.has_traces &&
	       !session_has_snapshots(s);
}

/* Begins the query: of the nodes, or of the source lines. own: options for source lines. */
static bool begin(struct session *s, const struct request *r, struct query *q, struct opts *own)
{
	if (!session_need_steps(s, q->o) || !session_seal(s))
		return false;
	if (!wants_lines(s, &r->opts))
		return session_query(s, view_with(VIEW_PATHS), q);
	*own = r->opts;
	own->by = BY_NONE;
	q->o = own;
	if (!session_query(s, view_with(VIEW_TRACES), q))
		return false;
	q->tree = view_lines(q->m, q->tree, q->a);
	return true;
}

bool run_top(struct session *s, const struct request *r, struct sink *out)
{
	struct query q = { .o = &r->opts };
	enum metric_id m = M_NAME;
	struct opts own;

	if (!begin(s, r, &q, &own) || !find_metric(s, r, &m) || !view_open(&q, &s->error))
		return false;
	session_note_averages(s, &r->opts);
	bool ok = write_top(s, r, &q, m, out);
	view_close(&q);
	return ok;
}
