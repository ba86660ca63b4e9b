/* SPDX-License-Identifier: Apache-2.0
 *
 * The responses of the command serve: documents of command lines, from the session of all inputs or
 * the session of one worker's trace.
 */
#include "cli/serve.h"
#include "export/page/html.h"

/* True if a command may run: views and tables with any options except those that write files. */
static bool may_run(struct session *q, const struct request *r)
{
	const struct command *c = r->command;
	const struct opts *o = &r->opts;

	if (!c || !(c->view || c->table || c->run == run_advise))
		return session_fail(
		        q, ERR_INVALID_ARGUMENT, "the server does not run this command");
	if (o->output.kind != OUT_JSON || o->output.outfile.n || o->viz || o->dump_to_file.n)
		return session_fail(
		        q, ERR_INVALID_ARGUMENT, "the server supports only -output json");
	return true;
}

static bool same_words(const struct strs *a, const struct strs *b)
{
	size_t i = 0;

	while (i < a->n && i < b->n && str_eq(a->v[i], b->v[i]))
		i++;
	return i == a->n && i == b->n;
}

/* A request to one session. */
struct run_request {
	struct report_parts parts;
	struct strs words;
	struct sink *out;
};

static bool run_in(struct session *q, void *ctx)
{
	struct run_request *x = ctx;
	struct request r;

	report_list(q, &x->parts);
	for (size_t i = 0; i < x->parts.v.n; i++)
		if (same_words(&x->words, &x->parts.v.v[i].words))
			return report_write(q, &x->words, x->out);
	if (x->words.n && str_eq(x->words.v[0], S("slices")))
		return report_write(q, &x->words, x->out);
	return cmd_parse(q, &x->words, NULL, &r) && may_run(q, &r) && r.command->run(q, &r, x->out);
}

bool served_run(struct session *q, struct served *v, const struct strs *words, struct sink *out)
{
	struct run_request request = { .parts = v->parts, .words = *words, .out = out };
	int64_t k = 0;

	if (!str_starts(request.words.v[0], S("@")))
		return run_in(q, &request);
	if (!num_parse_i64(str_sub(request.words.v[0], 1, SIZE_MAX), &k) || k < 1 ||
	        (size_t)k > v->traces)
		return session_fail(q, ERR_INVALID_ARGUMENT, "the requested trace is not loaded");
	request.parts = v->trace_parts[k - 1];
	request.words = (struct strs){ request.words.v + 1, request.words.n - 1, 0 };
	return session_guard(v->trace[k - 1], run_in, &request) ||
	       session_fail_as(q, &v->trace[k - 1]->error);
}

static void put_words(
        struct json *j, const char *key, size_t trace, const struct strs *words, struct sb *b)
{
	json_key(j, str_of(key));
	json_array(j);
	if (trace) {
		b->n = 0;
		sb_fmt(b, "@%zu", trace);
		json_string(j, sb_str(b));
	}
	for (size_t i = 0; i < words->n; i++)
		json_bytes(j, b, words->v[i]);
	json_array_end(j);
}

/* Lists the parts. trace: number of the worker's trace, or 0. */
static void list_parts(struct json *j, const struct report_parts *p, size_t trace, struct sb *b)
{
	for (size_t i = 0; i < p->v.n; i++) {
		json_line(j);
		json_object(j);
		json_key(j, S("name"));
		json_bytes(j, b, str_of(p->v.v[i].name));
		put_words(j, "words", 0, &p->v.v[i].command, b);
		put_words(j, "run", trace, &p->v.v[i].words, b);
		json_object_end(j);
	}
}

bool served_list(struct session *q, struct served *v, struct sink *out)
{
	struct report_parts parts = v->parts;
	struct sb b = sb_in(&q->query_arena);
	struct json j;

	report_list(q, &parts);
	json_init(&j, out);
	json_object(&j);
	json_key(&j, S("version"));
	json_i64(&j, 1);
	json_key(&j, S("tool"));
	json_bytes(&j, &b, S(TFPROF_VERSION));
	json_key(&j, S("entries"));
	json_i64(&j, (int64_t)q->model.nodes.n);
	json_key(&j, S("documents"));
	json_array(&j);
	list_parts(&j, &parts, 0, &b);
	for (size_t k = 0; k < v->traces; k++) {
		parts = v->trace_parts[k];
		report_list(v->trace[k], &parts);
		list_parts(&j, &parts, k + 1, &b);
	}
	json_array_end(&j);
	json_object_end(&j);
	return true;
}

/* ---- loading ---- */

bool served_load(struct session *q, struct served *v, const struct report_inputs *in)
{
	struct strs paths;

	if (!report_load(q, in, &q->sticky, &v->parts))
		return false;
	if (v->parts.compares)
		return true;
	if (!session_seal(q) || !report_try(q, &v->parts))
		return false;
	report_trace_paths(q, &paths);
	for (; v->traces < paths.n; v->traces++) {
		struct session *t =
		        report_trace_open(q, &paths, v->traces, &v->trace_parts[v->traces]);
		if (!t)
			return false;
		v->trace[v->traces] = t;
	}
	return true;
}

void served_drop(void *served)
{
	struct served *v = served;

	while (v->traces)
		session_free(v->trace[--v->traces]);
}
