/* SPDX-License-Identifier: Apache-2.0
 *
 * The command "peek": one op, kernel, module or line, and what is around it.
 */
#include "lib/options.h"

#include "export/table/peek_out.h"
#include "io/paths.h"

#define EXPECTED                                                                                   \
	"such as in 'tfprof peek aten::mm FILE'; it can be a part of the name of an op, kernel, "  \
	"driver call, module or line, or a pattern"

bool check_peek(struct session *s, const struct request *r)
{
	if (r->help)
		return true;
	if (!r->topics.n)
		return session_fail(s, ERR_INVALID_ARGUMENT, "peek: a name expected, " EXPECTED);
	struct str name = r->topics.v[0];
	if (r->topics.n > 1)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "peek: only one name expected, not %zu", r->topics.n);
	if (r->takes_files && !r->files.n && path_exists(&s->query_arena, name))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "peek: '%.*s' is a file: a name expected before it, " EXPECTED, STR(name));
	return true;
}

/* Finds the metric that orders rows. */
static bool find_metric(struct session *s, const struct request *r, enum metric_id *m)
{
	*m = r->opts.order.by;
	if (!r->opts.order.given || *m >= M_N || metrics[*m].value == V_NONE || *m == M_MICROS)
		*m = session_main_metric(s);
	return session_has_metric(s, *m);
}

/* Fails because no name matches, and lists the kinds of names that were compared. */
static bool fail_unknown(struct session *s, const struct request *r, const struct peek *p)
{
	struct sb b = sb_in(&s->query_arena);

	for (int i = 0; i < PEEK_KINDS; i++)
		if (p->searched[i])
			sb_fmt(&b, "%s%u %s%s", b.n ? ", " : "", p->searched[i], peek_kinds[i],
			        p->searched[i] == 1 ? "" : "s");
	return session_fail(s, ERR_FAILED,
	        "peek: nothing is named '%.*s', and the pattern matches none of the names (%.*s); "
	        "'top', 'kernels' and 'devices' list names",
	        STR(r->topics.v[0]), STR(sb_str(&b)));
}

static bool answer(struct session *s, const struct request *r, const struct query *scope,
        const struct query *code, struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);
	struct peek_request request = { .top = (size_t)r->top,
		.section = r->section,
		.columns = r->opts.wide ? 0 : s->columns };
	struct peek p;

	if (!find_metric(s, r, &request.metric))
		return false;
	enum value of = metrics[request.metric].value;
	if (!peek_find(
	            scope, code, r->topics.v[0], of, view_other_time(scope->m, of), &p, &s->error))
		return false;
	if (scope->tree->n <= 1)
		return session_fail(s, ERR_FAILED,
		        "peek: the files have no ops, nodes or lines; 'summary' shows what they "
		        "have");
	if (!p.names.v.n)
		return fail_unknown(s, r, &p);
	if (!p.found && request.section > 0)
		return session_fail(s, ERR_FAILED,
		        "peek: %zu names match '%.*s', and --table needs one; without --table, "
		        "peek "
		        "lists them",
		        p.names.v.n, STR(r->topics.v[0]));
	return peek_write(&p, &request, &r->opts.output, &to, &s->error);
}

bool run_peek(struct session *s, const struct request *r, struct sink *out)
{
	struct query scope = { .o = &r->opts }, code;

	if (!session_query_calls(s, &scope, &code) || !view_open(&scope, &s->error))
		return false;
	bool ok = answer(s, r, &scope, &code, out);
	view_close(&scope);
	return ok;
}
