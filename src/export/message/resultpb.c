/* SPDX-License-Identifier: Apache-2.0
 *
 * Results as messages: GraphNodeProto for scope and graph, MultiGraphNodeProto for op and code,
 * AdviceProto. Trees may have any depth: sizes are added up from the last entry to the first, then
 * every entry is written in order; the fields after its children are written when those are
 * complete.
 */
#include "export/out.h"
#include "export/message/pbput.h"

#define MESSAGE_MAX ((uint64_t)INT32_MAX) /* largest message that parsers accept */

/* A number of an entry. */
struct result_field {
	uint8_t field, value;
	bool total;
};

static const struct result_field graph_numbers[] = {
	{ 2, V_MICROS, false },
	{ 3, V_BYTES, false },
	{ 4, V_PARAMS, false },
	{ 6, V_MICROS, true },
	{ 7, V_BYTES, true },
	{ 8, V_PARAMS, true },
	{ 13, V_FLOAT_OPS, false },
	{ 14, V_FLOAT_OPS, true },
	{ 17, V_ACCELERATOR_MICROS, false },
	{ 18, V_CPU_MICROS, false },
	{ 19, V_ACCELERATOR_MICROS, true },
	{ 20, V_CPU_MICROS, true },
	{ 21, V_RUNS, false },
	{ 22, V_RUNS, true },
	{ 23, V_DEFINITIONS, true },
	{ 24, V_PEAK_BYTES, false },
	{ 25, V_RESIDUAL_BYTES, false },
	{ 26, V_OUTPUT_BYTES, false },
	{ 27, V_PEAK_BYTES, true },
	{ 28, V_RESIDUAL_BYTES, true },
	{ 29, V_OUTPUT_BYTES, true },
};
static const struct result_field multi_numbers[] = {
	{ 2, V_MICROS, false },
	{ 3, V_BYTES, false },
	{ 4, V_PARAMS, false },
	{ 5, V_FLOAT_OPS, false },
	{ 6, V_MICROS, true },
	{ 7, V_BYTES, true },
	{ 8, V_PARAMS, true },
	{ 9, V_FLOAT_OPS, true },
	{ 12, V_ACCELERATOR_MICROS, false },
	{ 13, V_CPU_MICROS, false },
	{ 14, V_ACCELERATOR_MICROS, true },
	{ 15, V_CPU_MICROS, true },
	{ 16, V_PEAK_BYTES, false },
	{ 17, V_RESIDUAL_BYTES, false },
	{ 18, V_OUTPUT_BYTES, false },
	{ 19, V_PEAK_BYTES, true },
	{ 20, V_RESIDUAL_BYTES, true },
	{ 21, V_OUTPUT_BYTES, true },
};
#define COUNT(list) (sizeof(list) / sizeof *(list))

enum { GRAPH_DEVICES = 10, GRAPH_CHILDREN = 12, GRAPH_TENSOR = 15, GRAPH_INPUT_SHAPES = 16 };
enum { MULTI_NODES = 10, MULTI_CHILDREN = 11 };
enum { METRICS = 100, METRIC_NAME = 1, METRIC_OWN = 2, METRIC_TOTAL = 3 };

/* One message of the result tree. */
struct item {
	struct str name;
	const struct tally *self, *total;
	uint32_t node;     /* node of the model, or ID_NONE */
	uint32_t kept;     /* op and code: the entry whose graph nodes the message contains, or
	                      ID_NONE */
	struct str tensor; /* an encoded TFProfTensorProto; empty if there is none */
};

struct tree_out {
	const struct result *r;
	const struct query *q;
	const struct model *m;
	struct tally none;
	bool multi;
	uint32_t n;     /* number of messages: the shown entries, for op preceded by the root */
	uint64_t *size; /* indexed by message: its size; initially the sum of its children's
	                   sizes */
	struct pbput b;
};

/* Returns message i. For op, message 0 is the root, which is not shown. */
static struct item get_item(const struct tree_out *x, uint32_t i)
{
	const struct query *q = x->q;
	bool op = view_is(x->r->kind, VIEW_LIST);

	if (op && i == 0)
		return (struct item){ ROOT_NAME, &x->none, &x->r->root, ID_NONE, ID_NONE,
			STR_NONE };
	const struct entry *s = &x->r->shown[op ? i - 1 : i];
	uint32_t at = q->kept.at[s->kept];
	return (struct item){ q->tree->name[at], s->self, s->total,
		q->tree->node ? q->tree->node[at] : ID_NONE, x->multi && at ? s->kept : ID_NONE,
		x->r->tensors ? x->r->tensors[i].message : STR_NONE };
}

/* Returns the parent of a message. For op, each entry is the only child of the previous entry. */
static uint32_t item_parent(const struct tree_out *x, uint32_t i)
{
	return i == 0 ? ID_NONE : view_is(x->r->kind, VIEW_LIST) ? i - 1 : x->r->shown[i].parent;
}
static uint32_t item_end(const struct tree_out *x, uint32_t i)
{
	return view_is(x->r->kind, VIEW_LIST) ? x->n : x->r->shown[i].end;
}

static int64_t rounded(const struct query *q, const struct tally *t, enum value v)
{
	return fraction_in(view_value(q, t, v), 1);
}

/* Writes the numbers of the fields from `from` to `to`, in reverse order. */
static void put_numbers(struct pbput *b, const struct query *q, const struct result_field *list,
        size_t n, unsigned from, unsigned to, const struct item *x)
{
	while (n-- > 0) {
		const struct tally *t = list[n].total ? x->total : x->self;
		if (list[n].field >= from && list[n].field <= to)
			pbput_i64(b, list[n].field, rounded(q, t, list[n].value));
	}
}

/* True if the original's messages have a field for a metric. */
static bool has_field(enum metric_id m)
{
	size_t i = 0;

	for (enum metric_id before = 0; before < m; before++)
		if (metrics[before].value == metrics[m].value)
			return false; /* another name for that number */
	while (i < COUNT(graph_numbers) && graph_numbers[i].value != metrics[m].value)
		i++;
	return i < COUNT(graph_numbers);
}

/* Writes the selected metrics that have no field. */
static void put_metrics(struct pbput *b, const struct query *q, const struct item *x)
{
	for (enum metric_id m = M_N; m-- > 0;) {
		size_t mark = pbput_size(b);
		enum value v = metrics[m].value;
		if (!(q->o->select.metrics & METRIC_BIT(m)) || v == V_NONE || has_field(m))
			continue;
		pbput_i64(b, METRIC_TOTAL, rounded(q, x->total, v));
		pbput_i64(b, METRIC_OWN, rounded(q, x->self, v));
		pbput_item(b, METRIC_NAME, str_of(metrics[m].name));
		pbput_close(b, METRICS, mark);
	}
}

static void put_shape(struct pbput *b, const struct model *m, uint32_t shape)
{
	size_t rank = model_rank(m, shape), mark;

	if (!rank)
		pbput_i64(b, 3, 1); /* the field unknown_rank */
	while (rank-- > 0) {
		mark = pbput_size(b);
		pbput_i64(b, 1, model_dim(m, shape, rank));
		pbput_close(b, 2, mark);
	}
}

static void put_input_shapes(struct pbput *b, const struct model *m, uint32_t node)
{
	for (uint32_t i = m->input0.v[node + 1]; i-- > m->input0.v[node];) {
		size_t entry = pbput_size(b), value = entry;
		put_shape(b, m, model_input_shape(m, i));
		pbput_close(b, 2, value);
		pbput_number(b, 1, model_input_index(m, node, i));
		pbput_close(b, GRAPH_INPUT_SHAPES, entry);
	}
}

/* Writes the fields of a GraphNodeProto that follow its children, and the fields that precede
 * them. */
static void put_graph_tail(struct pbput *b, const struct query *q, const struct item *x)
{
	put_metrics(b, q, x);
	put_numbers(b, q, graph_numbers, COUNT(graph_numbers), GRAPH_INPUT_SHAPES + 1, METRICS, x);
	if (x->node != ID_NONE)
		put_input_shapes(b, q->m, x->node);
	pbput_text(b, GRAPH_TENSOR, x->tensor);
	put_numbers(
	        b, q, graph_numbers, COUNT(graph_numbers), GRAPH_CHILDREN, GRAPH_INPUT_SHAPES, x);
}
static void put_graph_head(struct pbput *b, const struct query *q, const struct item *x)
{
	const struct model *m = q->m;

	if (x->node != ID_NONE && m->nodes.v[x->node].device != ID_NONE)
		pbput_item(b, GRAPH_DEVICES, device_name(m, m->nodes.v[x->node].device));
	put_numbers(b, q, graph_numbers, COUNT(graph_numbers), 0, GRAPH_DEVICES, x);
	pbput_text(b, 1, x->name);
}

/* Writes the graph nodes that an entry of op or code includes. The totals of each node are its own
 * numbers. */
static void put_graph_nodes(struct pbput *b, const struct query *q, uint32_t kept)
{
	uint32_t n;
	const uint32_t *nodes = view_members(q, kept, &n);

	while (n-- > 0) {
		struct item x = { node_name(q->m, nodes[n]), &q->tallies[nodes[n]],
			&q->tallies[nodes[n]], nodes[n], ID_NONE, STR_NONE };
		size_t mark = pbput_size(b);
		if (!view_matches(q, nodes[n]))
			continue;
		put_graph_tail(b, q, &x);
		put_graph_head(b, q, &x);
		pbput_close(b, MULTI_NODES, mark);
	}
}

static void put_tail(struct tree_out *x, const struct item *i)
{
	if (!x->multi) {
		put_graph_tail(&x->b, x->q, i);
		return;
	}
	put_metrics(&x->b, x->q, i);
	put_numbers(&x->b, x->q, multi_numbers, COUNT(multi_numbers), MULTI_CHILDREN, METRICS, i);
}
static void put_head(struct tree_out *x, const struct item *i)
{
	if (!x->multi) {
		put_graph_head(&x->b, x->q, i);
		return;
	}
	if (i->kept != ID_NONE)
		put_graph_nodes(&x->b, x->q, i->kept);
	put_numbers(&x->b, x->q, multi_numbers, COUNT(multi_numbers), 0, MULTI_NODES, i);
	pbput_text(&x->b, 1, i->name);
}

static void find_sizes(struct tree_out *x)
{
	for (uint32_t i = x->n; i-- > 0;) {
		struct item item = get_item(x, i);
		uint32_t up = item_parent(x, i);
		pbput_clear(&x->b);
		put_tail(x, &item);
		put_head(x, &item);
		x->size[i] += pbput_size(&x->b);
		if (up != ID_NONE)
			x->size[up] += 1 + varint_size(x->size[i]) + x->size[i];
	}
}

static void flush(struct tree_out *x, struct sink *to)
{
	sink_put(to, pbput_str(&x->b));
	pbput_clear(&x->b);
}

static void write_items(struct tree_out *x, struct sink *to)
{
	uint32_t open = ID_NONE; /* the innermost message whose children are being written */

	pbput_clear(&x->b);
	for (uint32_t i = 0; i <= x->n; i++) {
		while (open != ID_NONE && (i == x->n || item_end(x, open) <= i)) {
			struct item done = get_item(x, open);
			put_tail(x, &done);
			flush(x, to);
			open = item_parent(x, open);
		}
		if (i == x->n)
			break;
		struct item item = get_item(x, i);
		if (i)
			pbsink_open(to, x->multi ? MULTI_CHILDREN : GRAPH_CHILDREN, x->size[i]);
		put_head(x, &item);
		flush(x, to);
		open = i;
	}
}

bool result_write(const struct result *r, struct sink *to, struct err *e)
{
	struct scratch own;
	struct tree_out x = { .r = r, .q = r->q, .m = r->q->m };

	x.multi = !view_is(r->kind, VIEW_NODES);
	x.n = r->n + view_is(r->kind, VIEW_LIST);
	scratch_open(&own, r->q->a->work);
	pbput_init(&x.b, &own.a);
	x.size = ARENA_ARRAY(&own.a, x.n, uint64_t);
	find_sizes(&x);
	uint64_t size = x.n ? x.size[0] : 0;
	if (size <= MESSAGE_MAX)
		write_items(&x, to);
	scratch_close(&own);
	return size <= MESSAGE_MAX ||
	       err_set(e, ERR_RESOURCE,
	               "the result message would have %llu bytes; 2147483647 is "
	               "the most that can be read",
	               (unsigned long long)size);
}

void result_write_refused(struct sink *to)
{
	pbsink_open(to, 1, ROOT_NAME.n);
	sink_put(to, ROOT_NAME);
}

void advice_write(const struct advice *advice, struct sink *to, struct arena *scratch)
{
	struct pbput b;

	pbput_init(&b, scratch);
	for (enum checker_id c = CHECK_N; c-- > 0;) {
		size_t entry = pbput_size(&b);
		if (!advice->asked[c])
			continue;
		for (size_t i = advice->reports[c].n; i-- > 0;)
			pbput_item(&b, 2, advice->reports[c].v[i]);
		pbput_close(&b, 2, entry);
		pbput_item(&b, 1, str_of(advise_name(c)));
		pbput_close(&b, 1, entry);
	}
	sink_put(to, pbput_str(&b));
}
