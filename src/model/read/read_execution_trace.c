/* SPDX-License-Identifier: Apache-2.0
 *
 * PyTorch execution traces as a graph: a node for each call, with the shapes of its outputs, its
 * float operations, and edges to the calls whose outputs it reads. Nothing has a time.
 */
#include "model/read/read.h"
#include "model/sniff.h"
#include "trace/read/chrome/execution_trace.h"

#define RANK_MAX    16
#define OUTPUTS_MAX 64

/* Adds the shapes of the outputs: "[[2,3],[4]]". */
static void put_outputs(struct ingest *to, struct str shapes)
{
	int64_t dims[RANK_MAX], n = 0;
	size_t rank = 0, outputs = 0;
	bool inside = false, digits = false;

	for (size_t i = 1; i < shapes.n && outputs < OUTPUTS_MAX; i++) {
		char c = shapes.p[i];
		if (char_is_digit(c)) {
			n = num_add(num_mul(n, 10), c - '0');
			digits = true;
			continue;
		}
		if (digits && rank < RANK_MAX)
			dims[rank++] = n;
		digits = false;
		n = 0;
		if (c == ']' && inside)
			ingest_output(to, (int32_t)outputs++, ingest_shape(to, dims, rank));
		if (c == '[' || c == ']')
			rank = 0;
		inside = c == '[' || (inside && c != ']');
	}
}

static void put_call(struct ingest *to, const struct execution_trace *x, const struct et_call *c)
{
	struct str type = c->annotation ? S("annotation") : c->name;
	int64_t flops = c->annotation ? 0 : shape_flops(c->name, c->shapes, c->values);
	int32_t inputs = 0;

	if (!ingest_node(to, ingest_string(to, c->path), ingest_string(to, type)))
		return;
	for (uint32_t k = 0; k < c->n_producers; k++) {
		uint32_t from = x->producers.v[c->producer0 + k];
		bool again = false;
		for (uint32_t j = 0; j < k && j < OUTPUTS_MAX && !again; j++)
			again = x->producers.v[c->producer0 + j] == from;
		if (!again)
			ingest_input(to, inputs++, ingest_string(to, x->calls.v[from].path), 0);
	}
	put_outputs(to, c->output_shapes);
	uint32_t node = ingest_end_node(to);
	if (flops)
		ingest_set_float_ops(to, node, flops);
}

int sniff_execution_trace(struct str head, struct str path)
{
	(void)path;
	if (!str_contains(head, S("\"nodes\"")) || str_contains(head, S("\"traceEvents\"")))
		return 0;
	return str_contains(head, S("-chakra.")) ||
	                       str_contains(head, S("[pytorch|profiler|execution_")) ||
	                       (str_contains(head, S("\"rf_id\"")) &&
	                               str_contains(head, S("\"inputs\"")))
	               ? 100
	               : 0;
}

bool read_execution_trace(struct src *s, struct ingest *to, struct arena *a, struct err *e)
{
	struct execution_trace *x;

	if (!execution_trace_read(&x, s, ingest_notes(to), a, e))
		return false;
	if (!x->calls.n)
		return err_set(e, ERR_DATA_LOSS,
		        "%.*s: no calls: an execution trace with at least one was expected",
		        STR(s->name));
	for (size_t i = 0; i < x->calls.n; i++)
		put_call(to, x, &x->calls.v[i]);
	src_set_content(s, str_fmt(a, "schema %.*s", STR(x->schema)));
	src_count_unused(s, S("nodes of processes, threads and steps"), x->markers);
	return true;
}
