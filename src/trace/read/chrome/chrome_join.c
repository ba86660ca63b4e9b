/* SPDX-License-Identifier: Apache-2.0
 *
 * Joins a Kineto trace with the execution trace of the same run, by the numbers of record
 * functions: ops get the shapes, types and values of their inputs where the trace lacks them, and
 * the trace gets a graph.
 */
#include "trace/read/chrome/chrome_json.h"
#include "trace/read/chrome/execution_trace.h"

bool chrome_join_open(struct chrome *c, struct err *e)
{
	struct str path = src_calls_path(c->json.s);
	struct execution_trace *x;
	struct src *s;
	bool ok;

	if (!path.n)
		return true;
	if (!src_open(&s, c->a, path, e))
		return false;
	ok = execution_trace_read(&x, s, build_notes(c->b), c->a, e) && src_finish(s);
	src_close(s);
	c->calls = x;
	return ok && !src_failed(s);
}

static void put_text(struct chrome *c, uint32_t key, struct str text)
{
	if (text.n > 2) /* not an empty list */
		build_arg_text(c->b, key, text);
}

/* Returns the call of an event, and its number. Old versions of PyTorch have no "Record function
 * id"; their "External id" is the same number. Other versions use the External id differently, so
 * the names must also be equal. */
static const struct et_call *call_of(
        struct chrome *c, const struct chrome_event *v, int64_t *record)
{
	const struct et_call *call;

	if (event_has_arg(v, CARG_RECORD))
		return chrome_number(c, &v->arg[CARG_RECORD], 0, record)
		               ? execution_trace_call(c->calls, *record)
		               : NULL;
	if (!event_has(v, KEY_NAME) || !chrome_arg_of(c, v, ARG_EXTERNAL, record))
		return NULL;
	call = execution_trace_call(c->calls, *record);
	return call && str_eq(call->name, chrome_text(c, &v->key[KEY_NAME])) ? call : NULL;
}

void chrome_join(struct chrome *c, const struct chrome_event *v, bool own)
{
	int64_t record;
	const struct et_call *call = call_of(c, v, &record);
	uint64_t has = 0;

	if (!call)
		return;
	if (own) {
		build_arg_int(c->b, ARG_RECORD, record);
		c->joined++;
		return;
	}
	for (unsigned i = CARG_OTHERS; i < n_argument_rows; i++)
		if (event_has_arg(v, i))
			has |= ARG_BIT(argument_rows[i].key);
	if (!(has & ARG_BIT(ARG_SHAPES)))
		put_text(c, ARG_SHAPES, call->shapes);
	if (!(has & ARG_BIT(ARG_DTYPES)))
		put_text(c, ARG_DTYPES, call->dtypes);
	if (!(has & ARG_BIT(ARG_VALUES)))
		put_text(c, ARG_VALUES, call->values);
}

void chrome_join_end(struct chrome *c)
{
	const struct execution_trace *x = c->calls;
	uint32_t first = (uint32_t)build_trace(c->b)->nodes.n;

	if (!x)
		return;
	for (size_t i = 0; i < x->calls.n; i++) {
		const struct et_call *call = &x->calls.v[i];
		build_arg_text(c->b, ARG_SCOPE, call->path);
		if (call->record > 0)
			build_arg_int(c->b, ARG_RECORD, call->record);
		build_node(c->b, 0, call->name, call->annotation ? S("annotation") : call->name,
		        STR_NONE);
	}
	for (uint32_t i = 0; i < x->calls.n; i++)
		for (uint32_t k = 0; k < x->calls.v[i].n_producers; k++)
			build_node_input(c->b, first + i,
			        first + x->producers.v[x->calls.v[i].producer0 + k]);
	note_line(build_notes(c->b),
	        "note: %.*s: %llu of its events are among the %zu calls of the execution trace "
	        "'%.*s'\n",
	        STR(c->json.s->name), (unsigned long long)c->joined, (size_t)x->calls.n,
	        STR(src_calls_path(c->json.s)));
}
