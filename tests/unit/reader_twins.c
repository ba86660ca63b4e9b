/* SPDX-License-Identifier: Apache-2.0
 *
 * Reference readers: messages unpacked as a whole by protobuf-c and added to the model, slow and
 * simple.
 */
#include "pb_twin.h"
#include "reader_rig.h"
#include "tf_graph.pb-c.h"
#include "tfprof_log.pb-c.h"

#define MAX(a, b) ((a) > (b) ? (a) : (b))

static ProtobufCMessage *unpack(
        struct src *s, const ProtobufCMessageDescriptor *d, struct arena *a, struct err *e)
{
	struct str all;

	return src_all(s, &all) ? pb_unpack(d, all, s->name, a, e) : NULL;
}

static uint32_t shape_of(struct ingest *to, const Tensorflow__TensorShapeProto *p)
{
	int64_t dims[1000] = { 1 };
	size_t n = p ? p->n_dim : 0;

	for (size_t i = 0; i < n && i < 1000; i++)
		dims[i] = p->dim[i]->size;
	return ingest_shape(to, dims, !n && !(p && p->unknown_rank) ? 1 : n);
}

/* Returns the last attribute with this key, or NULL. */
static const Tensorflow__AttrValue *attr(const Tensorflow__NodeDef *n, const char *key)
{
	static const Tensorflow__AttrValue none = TENSORFLOW__ATTR_VALUE__INIT;

	for (size_t i = n->n_attr; i-- > 0;)
		if (!strcmp(n->attr[i]->key, key))
			return n->attr[i]->value ? n->attr[i]->value : &none;
	return &none;
}

/* Adds the type of the attribute T. */
static void say_type(struct ingest *to, const Tensorflow__AttrValue *v)
{
	if (v && v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TYPE && v->type > 0 &&
	        v->type < 100)
		ingest_flags(to, (uint32_t)v->type << NODE_TYPE_SHIFT);
}

static void say_graph_node(struct ingest *to, const Tensorflow__NodeDef *n)
{
	const Tensorflow__AttrValue *shape = attr(n, "shape"), *format = attr(n, "data_format");
	const Tensorflow__AttrValue *outputs = attr(n, "_output_shapes");

	if (!ingest_node(to, ingest_string(to, str_of(n->name)), ingest_string(to, str_of(n->op))))
		return;
	for (size_t i = 0; i < n->n_input; i++) {
		const char *in = n->input[i];
		struct str name = str_make(in, strcspn(in, ":"));
		if (*in == '^' && name.n)
			name = str_make(in + 1, name.n - 1);
		ingest_input(to, (int32_t)i, ingest_string(to, name), 0);
	}
	if (shape->value_case == TENSORFLOW__ATTR_VALUE__VALUE_SHAPE)
		ingest_node_shape(to, shape_of(to, shape->shape));
	if (outputs->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST)
		for (size_t i = 0; i < outputs->list->n_shape; i++)
			ingest_output(to, (int32_t)i, shape_of(to, outputs->list->shape[i]));
	if (format->value_case == TENSORFLOW__ATTR_VALUE__VALUE_S &&
	        str_eq(str_make(format->s.data, format->s.len), S("NHWC")))
		ingest_flags(to, NODE_NHWC);
	say_type(to, attr(n, "T"));
	ingest_end_node(to);
}

bool twin_graph(struct src *s, struct ingest *to, struct arena *a, struct err *e)
{
	const Tensorflow__GraphDef *g = (void *)unpack(s, &tensorflow__graph_def__descriptor, a, e);

	for (size_t i = 0; g && i < g->n_node; i++)
		say_graph_node(to, g->node[i]);
	return g;
}

/* ---- call stacks: texts are map entries, the last of a key counts ---- */

#define TEXT_OF(map, n, id, out)                                                                   \
	do {                                                                                       \
		(out) = ID_NONE;                                                                   \
		for (size_t t_ = (n); t_-- > 0 && (out) == ID_NONE;)                               \
			if ((map)[t_]->key == (id))                                                \
				(out) = ingest_string(to, str_of((map)[t_]->value));               \
	} while (0)
#define SAY_STACK(node, def, map, n)                                                               \
	do {                                                                                       \
		struct frame f_ = { .parent = ID_NONE };                                           \
		for (size_t k_ = 0; (def) && k_ < (def)->n_traces; k_++) {                         \
			const Tensorflow__Tfprof__CodeDef__Trace *c_ = (def)->traces[k_];          \
			TEXT_OF(map, n, c_->file_id, f_.file);                                     \
			TEXT_OF(map, n, c_->function_id, f_.function);                             \
			TEXT_OF(map, n, c_->line_id, f_.source);                                   \
			f_.line = c_->lineno;                                                      \
			f_.func_start_line = c_->func_start_line;                                  \
			f_.parent = ingest_frame(to, &f_);                                         \
		}                                                                                  \
		ingest_set_stack(to, node, f_.parent);                                             \
	} while (0)

bool twin_oplog(struct src *s, struct ingest *to, struct arena *a, struct err *e)
{
	const Tensorflow__Tfprof__OpLogProto *o =
	        (void *)unpack(s, &tensorflow__tfprof__op_log_proto__descriptor, a, e);

	for (size_t i = 0; o && i < o->n_log_entries; i++) {
		const Tensorflow__Tfprof__OpLogEntry *l = o->log_entries[i];
		uint32_t node = model_find(ingest_model(to), str_of(l->name));
		if (node == ID_NONE)
			continue;
		for (size_t t = 0; t < l->n_types; t++)
			ingest_add_type(to, node, ingest_string(to, str_of(l->types[t])));
		if (l->float_ops)
			ingest_set_float_ops(to, node, l->float_ops);
		if (!l->code_def)
			continue;
		ingest_has_traces(to);
		SAY_STACK(node, l->code_def, o->id_to_string, o->n_id_to_string);
	}
	return o;
}

/* ---- profile ---- */

/* Sorts pointers to map entries by key; of equal keys the last stays. */
#define TIDY(list, n)                                                                              \
	do {                                                                                       \
		size_t kept_ = 0;                                                                  \
		for (size_t i_ = 1; i_ < (n); i_++)                                                \
			for (size_t k_ = i_; k_ && (list)[k_ - 1]->key > (list)[k_]->key; k_--) {  \
				void *swap_ = (list)[k_];                                          \
				(list)[k_] = (list)[k_ - 1];                                       \
				(list)[k_ - 1] = swap_;                                            \
			}                                                                          \
		for (size_t i_ = 0; i_ < (n); i_++)                                                \
			if (i_ + 1 == (n) || (list)[i_]->key != (list)[i_ + 1]->key)               \
				(list)[kept_++] = (list)[i_];                                      \
		(n) = kept_;                                                                       \
	} while (0)

static void say_memory(struct ingest *to, const Tensorflow__Tfprof__ExecProfile *x, struct arena *a)
{
	for (size_t i = 0; i < x->n_memory_execs; i++) {
		Tensorflow__Tfprof__ExecMemory *p = x->memory_execs[i];
		TIDY(p->output_memory, p->n_output_memory);
		uint8_t *buf =
		        ARENA_ARRAY(a, MEM_ITEM_MAX + p->n_output_memory * MEM_OUTPUT_MAX, uint8_t);
		struct mem_item m = { .time = p->memory_micros,
			.bytes = p->requested_bytes,
			.peak = p->peak_bytes,
			.residual = p->residual_bytes,
			.output = p->output_bytes,
			.in_use = p->allocator_bytes_in_use,
			.host_temp = p->host_temp_bytes,
			.host_persistent = p->host_persistent_bytes,
			.accelerator_temp = p->accelerator_temp_bytes,
			.accelerator_persistent = p->accelerator_persistent_bytes,
			.n_outputs = p->n_output_memory };
		uint8_t *w = mem_put(buf, &m);
		for (size_t k = 0; k < p->n_output_memory; k++) {
			const Tensorflow__Tfprof__Memory *v = p->output_memory[k]->value;
			struct mem_output o = { p->output_memory[k]->key, v ? v->bytes : 0,
				v ? v->ptr : 0 };
			w = mem_put_output(w, &o);
		}
		ingest_mem(to, buf, (size_t)(w - buf));
	}
	for (size_t i = 0; i < x->n_allocations; i++) {
		struct mem_item m = { .allocation = true,
			.time = x->allocations[i]->alloc_micros,
			.bytes = x->allocations[i]->alloc_bytes };
		uint8_t buf[MEM_ITEM_MAX];
		ingest_mem(to, buf, (size_t)(mem_put(buf, &m) - buf));
	}
}

static bool among(const struct strs *v, struct str s)
{
	for (size_t i = 0; i < v->n; i++)
		if (str_eq(v->v[i], s))
			return true;
	return false;
}

/* Spans of accelerator_execs or cpu_execs; devices that have some are added to seen. */
#define SAY_TIMES(list, n, kind)                                                                   \
	for (size_t i = 0; i < (n); i++) {                                                         \
		struct str key = str_of((list)[i]->key);                                           \
		const Tensorflow__Tfprof__ExecTime *t = (list)[i]->value;                          \
		bool last = true;                                                                  \
		for (size_t k = i + 1; k < (n); k++)                                               \
			last &= strcmp((list)[k]->key, (list)[i]->key) != 0;                       \
		for (size_t k = 0; last && t && k < t->n_times; k++) {                             \
			if (t->times[k]->n_int64_values < 2)                                       \
				continue;                                                          \
			strs_add(a, &seen, key);                                                   \
			ingest_span(to, kind, ingest_device(to, key),                              \
			        t->times[k]->int64_values[0], t->times[k]->int64_values[1]);       \
		}                                                                                  \
		strs_add(a, &named, key);                                                          \
	}

static void say_exec(struct ingest *to, uint32_t node, int64_t step,
        const Tensorflow__Tfprof__ExecProfile *x, struct arena *a)
{
	static const Tensorflow__Tfprof__ExecProfile none = TENSORFLOW__TFPROF__EXEC_PROFILE__INIT;
	struct strs seen = { 0 }, named = { 0 };

	x = x ? x : &none;
	struct cell_in c = { x->run_count, x->all_start_micros, x->latest_end_micros };
	ingest_cell(to, step, node, &c);
	SAY_TIMES(x->accelerator_execs, x->n_accelerator_execs, SPAN_ACCELERATOR)
	SAY_TIMES(x->cpu_execs, x->n_cpu_execs, SPAN_CPU)
	for (size_t i = 0; i < x->n_devices; i++)
		strs_add(a, &named, str_of(x->devices[i]));
	for (size_t i = 0; i < named.n; i++) {
		if (among(&seen, named.v[i]))
			continue;
		strs_add(a, &seen, named.v[i]);
		ingest_span(to, SPAN_SEEN, ingest_device(to, named.v[i]), 0, 0);
	}
	say_memory(to, x, a);
}

/* Adds the layout and the type of a node: the last attribute of each key counts. */
static void say_attrs(struct ingest *to, const Tensorflow__Tfprof__ProfileNode *n)
{
	for (size_t i = n->n_attrs; i-- > 0;)
		if (!strcmp(n->attrs[i]->key, "data_format")) {
			const Tensorflow__AttrValue *v = n->attrs[i]->value;
			if (v && v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_S &&
			        str_eq(str_make(v->s.data, v->s.len), S("NHWC")))
				ingest_flags(to, NODE_NHWC);
			break;
		}
	for (size_t i = n->n_attrs; i-- > 0;)
		if (!strcmp(n->attrs[i]->key, "T")) {
			say_type(to, n->attrs[i]->value);
			break;
		}
}

static void say_profile_node(
        struct ingest *to, const Tensorflow__Tfprof__ProfileProto *p, size_t at, struct arena *a)
{
	static Tensorflow__Tfprof__ProfileNode none = TENSORFLOW__TFPROF__PROFILE_NODE__INIT;
	Tensorflow__Tfprof__ProfileNode *n = p->nodes[at]->value ? p->nodes[at]->value : &none;

	for (size_t i = at + 1; i < p->n_nodes; i++)
		if (p->nodes[i]->key == p->nodes[at]->key)
			return;
	if (!ingest_node(to, ingest_string(to, str_of(n->name)), ingest_string(to, str_of(n->op))))
		return;
	TIDY(n->inputs, n->n_inputs);
	TIDY(n->src_output_index, n->n_src_output_index);
	TIDY(n->output_shapes, n->n_output_shapes);
	TIDY(n->execs, n->n_execs);
	for (size_t i = 0; i < n->n_inputs; i++) {
		int32_t slot = -1;
		for (size_t k = 0; k < n->n_src_output_index; k++)
			if (n->src_output_index[k]->key == n->inputs[i]->value)
				slot = n->src_output_index[k]->value;
		for (size_t k = p->n_nodes; k-- > 0;)
			if (p->nodes[k]->key == n->inputs[i]->value) {
				const char *name =
				        p->nodes[k]->value ? p->nodes[k]->value->name : "";
				ingest_input(to, n->inputs[i]->key, ingest_string(to, str_of(name)),
				        slot);
				break;
			}
	}
	for (size_t i = 0; i < n->n_output_shapes; i++) {
		const Tensorflow__Tfprof__Tuple *t = n->output_shapes[i]->value;
		uint32_t shape = ingest_shape(to,
		        t && t->n_int64_values ? t->int64_values : (int64_t[1]){ 0 },
		        t ? t->n_int64_values : 0);
		ingest_output(to, n->output_shapes[i]->key, shape);
	}
	if (n->n_shape)
		ingest_node_shape(to, ingest_shape(to, n->shape, n->n_shape));
	say_attrs(to, n);
	uint32_t node = ingest_end_node(to);
	ingest_given_types(to, node);
	for (size_t i = 0; i < n->n_op_types; i++)
		ingest_add_type(to, node, ingest_string(to, str_of(n->op_types[i])));
	if (n->float_ops)
		ingest_set_float_ops(to, node, n->float_ops);
	if (*n->canonical_device || *n->host_device)
		ingest_set_device(to, node,
		        *n->canonical_device ? ingest_device(to, str_of(n->canonical_device))
		                             : ID_NONE,
		        *n->host_device ? ingest_string(to, str_of(n->host_device)) : ID_NONE);
	SAY_STACK(node, n->trace, p->id_to_string, p->n_id_to_string);
	for (size_t i = 0; i < n->n_execs; i++)
		say_exec(to, node, n->execs[i]->key, n->execs[i]->value, a);
}

bool twin_profile(struct src *s, struct ingest *to, struct arena *a, struct err *e)
{
	const Tensorflow__Tfprof__ProfileProto *p =
	        (void *)unpack(s, &tensorflow__tfprof__profile_proto__descriptor, a, e);

	for (size_t i = 0; p && i < p->n_nodes; i++)
		say_profile_node(to, p, i, a);
	for (size_t i = 0; p && i < p->n_steps; i++)
		ingest_step(to, p->steps[i]);
	if (p && p->has_trace)
		ingest_has_traces(to);
	return p;
}
