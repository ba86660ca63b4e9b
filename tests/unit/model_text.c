/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints a sealed model as text: everything that a reader can fill, for any format.
 */
#include "model_text.h"

static void put_shape(struct sb *b, const struct model *m, uint32_t shape)
{
	sb_char(b, '[');
	for (size_t i = 0; i < model_rank(m, shape); i++)
		sb_fmt(b, " %lld", (long long)model_dim(m, shape, i));
	sb_put(b, S(" ]"));
}

static void put_frames(struct sb *b, const struct model *m, uint32_t id)
{
	while (id != ID_NONE) {
		struct frame f;
		memcpy(&f, m->frames.strings[id].p, sizeof f);
		sb_fmt(b, "  at %.*s:%d %.*s(%d) <%.*s>%s\n", STR(model_str(m, f.file)), f.line,
		        STR(model_str(m, f.function)), f.func_start_line,
		        STR(model_str(m, f.source)), f.file == ID_NONE ? " nowhere" : "");
		id = f.parent;
	}
}

static void put_node(struct sb *b, const struct model *m, uint32_t i)
{
	const struct node *n = &m->nodes.v[i];
	size_t n_types;
	const uint32_t *types = model_types(m, n->types, &n_types);

	sb_fmt(b, "%.*s = %.*s on '%.*s' host '%.*s' flags %x float_ops %lld params %lld shape ",
	        STR(node_name(m, i)), STR(model_str(m, n->op)), STR(device_name(m, n->device)),
	        STR(model_str(m, n->host)), n->flags, (long long)n->float_ops,
	        (long long)n->params);
	put_shape(b, m, n->shape);
	sb_put(b, S("\n  types"));
	for (size_t t = 0; t < n_types; t++)
		sb_fmt(b, " %.*s", STR(model_str(m, types[t])));
	sb_char(b, '\n');
	for (uint32_t k = m->input0.v[i]; k < m->input0.v[i + 1]; k++) {
		uint32_t from = m->inputs.v[k];
		struct str name = from & INPUT_UNKNOWN ? model_str(m, from & ~INPUT_UNKNOWN)
		                                       : node_name(m, from);
		sb_fmt(b, "  in %d %s'%.*s' %d\n", model_input_index(m, i, k),
		        from & INPUT_UNKNOWN ? "?" : "", STR(name), model_input_slot(m, k));
	}
	for (uint32_t k = m->output0.v[i]; k < m->output0.v[i + 1]; k++) {
		sb_fmt(b, "  out %d ", m->output_slot.v[k]);
		put_shape(b, m, m->output_shape.v[k]);
		sb_char(b, '\n');
	}
	for (uint32_t k = m->attr0.v[i]; k < m->attr0.v[i + 1]; k++)
		sb_fmt(b, "  attr %.*s %zu bytes\n", STR(model_str(m, m->attrs.v[k].key)),
		        m->attrs.v[k].value.n);
	if (n->flags & NODE_STACK)
		put_frames(b, m, n->frame);
}

static void put_memory(struct sb *b, const uint8_t *p, const uint8_t *end)
{
	struct mem_item m;

	while (mem_next(&p, end, &m)) {
		sb_fmt(b, "  mem %d %lld: %lld %lld %lld %lld use %lld temp %lld %lld %lld %lld",
		        m.allocation, (long long)m.time, (long long)m.bytes, (long long)m.peak,
		        (long long)m.residual, (long long)m.output, (long long)m.in_use,
		        (long long)m.host_temp, (long long)m.host_persistent,
		        (long long)m.accelerator_temp, (long long)m.accelerator_persistent);
		const uint8_t *o = m.outputs;
		for (size_t i = 0; i < m.n_outputs; i++) {
			struct mem_output out;
			mem_next_output(&o, &out);
			sb_fmt(b, " %d:%lld@%llx", out.slot, (long long)out.bytes,
			        (unsigned long long)out.ptr);
		}
		sb_char(b, '\n');
	}
}

static void put_step(struct sb *b, const struct model *m, const struct step *s)
{
	sb_fmt(b, "step %lld\n", (long long)s->id);
	for (uint32_t c = 0; c < s->n_cells; c++) {
		sb_fmt(b, " %.*s runs %lld %lld..%lld\n", STR(node_name(m, s->cell_node[c])),
		        (long long)s->cell_runs[c], (long long)s->cell_start[c],
		        (long long)s->cell_end[c]);
		for (uint32_t i = s->cell_span0[c]; i < s->cell_span0[c + 1]; i++)
			sb_fmt(b, "  span %d '%.*s' %lld %lld\n", s->span_kind[i],
			        STR(device_name(m, s->devices[s->span_device[i]])),
			        (long long)s->span_start[i], (long long)s->span_length[i]);
		put_memory(b, s->mem + s->cell_mem0[c], s->mem + s->cell_mem0[c + 1]);
	}
}

/* Writes the whole model as text. */
struct str model_text(struct arena *a, const struct model *m)
{
	struct sb b = sb_in(a);

	sb_fmt(&b, "traces %d\n", m->has_traces);
	for (uint32_t i = 0; i < m->nodes.n; i++)
		put_node(&b, m, i);
	for (size_t i = 0; i < m->steps.n; i++)
		put_step(&b, m, m->steps.v[i]);
	return sb_str(&b);
}
