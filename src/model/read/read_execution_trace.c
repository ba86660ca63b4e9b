/* SPDX-License-Identifier: Apache-2.0
 *
 * PyTorch execution traces as a graph: a node for each call, with the shapes of its outputs, its
 * float operations, and edges to the calls whose outputs it reads. There are no times.
 */
#include "model/read/read.h"
#include "flops/flops.h"
#include "model/sniff.h"
#include "trace/read/chrome/execution_trace.h"

#define RANK_MAX    16
#define OUTPUTS_MAX 64
#define UNKNOWN     (-1) /* float operations are unknown */

/* Adds the shapes of the outputs, "[[2,3],[4]]". */
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

/* Returns the shape of the first output in a list of shapes; empty: it has none. */
static struct str first_shape(struct str shapes)
{
	size_t end = str_find_char(shapes, ']');

	return str_starts(shapes, S("[[")) && end != SIZE_MAX ? str_sub(shapes, 1, end) : S("");
}

/* Replaces the separators of a list of calls by blanks. */
static struct str one_line(struct arena *a, struct str s)
{
	return str_replace_char(a, str_replace_char(a, s, '\n', ' '), '\t', ' ');
}

/* Stores the call, so that the command flops can count it again with its reasons and bytes. */
static void put_counted(struct ingest *to, const struct et_call *c, struct work *work)
{
	struct scratch own;

	scratch_open(&own, work);
	struct sb list = sb_in(&own.a);
	flops_put_call(&list,
	        &(struct op_call_text){ one_line(&own.a, c->name), one_line(&own.a, c->shapes),
	                one_line(&own.a, c->dtypes), one_line(&own.a, c->values),
	                one_line(&own.a, first_shape(c->output_shapes)) });
	ingest_flags(to, NODE_CALL);
	ingest_facts(to, ingest_string(to, sb_str(&list)));
	scratch_close(&own);
}

/* Counts the float operations of a call. Sets *class to the unit that computes them. */
static struct flops flops_of(const struct et_call *c, enum flops_class *class)
{
	const struct op_row *row = c->annotation ? NULL : flops_find_op(c->name);

	*class = row ? flops_class_of(row->formula) : CLASS_NONE;
	if (!row)
		return (struct flops){ .lack = LACK_NOTHING };
	struct op_call call = flops_read_call(row, c->name, c->shapes, c->dtypes, c->values);
	call.output = flops_read_call(row, c->name, c->output_shapes, STR_NONE, STR_NONE).in[0];
	return flops_of_call(&call);
}

/* Counts calls, inner calls first: a call counts unless a call inside it has counted work of the
 * same class or a heavier class. Returns the float operations of each call; UNKNOWN if they are not
 * known. */
static int64_t *count_flops(const struct execution_trace *x, struct arena *a)
{
	int64_t *flops = ARENA_ARRAY(a, x->calls.n, int64_t);
	struct imap inside;

	imap_init(&inside, a);
	for (size_t i = x->calls.n; i-- > 0;) {
		const struct et_call *c = &x->calls.v[i];
		enum flops_class class;
		uint32_t counted = CLASS_NONE, around = CLASS_NONE;
		const struct flops f = flops_of(c, &class);
		imap_get(&inside, (uint64_t)c->id, &counted);
		if (class > counted)
			flops[i] = f.lack ? UNKNOWN : f.flops;
		counted = class > counted && !f.lack ? class : counted;
		imap_get(&inside, (uint64_t)c->around, &around);
		if (counted > around)
			imap_put(&inside, (uint64_t)c->around, counted, true);
	}
	return flops;
}

static void put_call(
        struct ingest *to, const struct execution_trace *x, const struct et_call *c, int64_t flops)
{
	struct str type = c->annotation ? S("annotation") : c->name;
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
	if (flops)
		put_counted(to, c, x->a->work);
	uint32_t node = ingest_end_node(to);
	if (flops == UNKNOWN)
		ingest_set_uncounted(to, node);
	else if (flops)
		ingest_set_float_ops(to, node, flops);
}

int sniff_execution_trace(struct str head, struct str path)
{
	(void)path;
	if (str_is_binary(head) || !str_contains(head, S("\"nodes\"")) ||
	        str_contains(head, S("\"traceEvents\"")))
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
	const int64_t *flops = count_flops(x, a);
	for (size_t i = 0; i < x->calls.n; i++)
		put_call(to, x, &x->calls.v[i], flops[i]);
	const struct run_process process = run_process_of_calls(s->name, a->work);
	s->facts->pid = process.pid > 0 ? process.pid : 0;
	src_set_content(s, str_fmt(a, "schema %.*s", STR(x->schema)));
	src_count_unused(s, S("nodes of processes, threads and steps"), x->markers);
	return true;
}
