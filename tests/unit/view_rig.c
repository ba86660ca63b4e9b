/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers for tests of views: small models described as text.
 */
#include "view_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct view_rig *view_rig(struct arena *a)
{
	struct view_rig *r = ARENA_NEW(a, struct view_rig);

	r->a = a;
	r->m.a = a;
	notes_init(&r->notes, a);
	r->in = ingest_open(&r->m, &r->notes, false);
	opts_preset(&r->o, a);
	ingest_begin(r->in, a);
	return r;
}

uint32_t rig_node(struct view_rig *r, const char *name, const char *op, const char *inputs)
{
	struct strs from = str_split(r->a, str_of(inputs), ' ');
	uint32_t node;

	assert_true(ingest_node(
	        r->in, ingest_string(r->in, str_of(name)), ingest_string(r->in, str_of(op))));
	for (size_t i = 0; i < from.n; i++)
		ingest_input(r->in, (int32_t)i, ingest_string(r->in, from.v[i]), 0);
	node = ingest_end_node(r->in);
	ingest_set_float_ops(r->in, node, (int64_t)1 << (node < 62 ? node : 0));
	return node;
}

void rig_stack(struct view_rig *r, uint32_t node, const char *stack)
{
	struct strs frames = str_split(r->a, str_of(stack), ' ');
	uint32_t at = ID_NONE;

	for (size_t i = 0; i < frames.n; i++) {
		size_t colon = str_rfind_char(frames.v[i], ':');
		struct frame f = { .parent = at, .line = 1, .source = ID_NONE };
		f.file = ingest_string(r->in, str_sub(frames.v[i], 0, colon));
		f.function = ingest_string(r->in, str_sub(frames.v[i], colon + 1, SIZE_MAX));
		at = ingest_frame(r->in, &f);
	}
	ingest_set_stack(r->in, node, at);
	ingest_has_traces(r->in);
}

void rig_device(struct view_rig *r, uint32_t node, const char *device)
{
	ingest_set_device(
	        r->in, node, ingest_device(r->in, str_of(device)), ingest_string(r->in, S("")));
}

void rig_ran(struct view_rig *r, uint32_t node, int64_t step, int64_t cpu, int64_t accelerator)
{
	struct cell_in cell = { .runs = 1, .start = 1000, .end = 1000 + cpu + accelerator };
	uint32_t device = ingest_device(r->in, S("/gpu:0"));

	ingest_cell(r->in, step, node, &cell);
	if (cpu)
		ingest_span(r->in, SPAN_CPU, device, 1000, cpu);
	if (accelerator)
		ingest_span(r->in, SPAN_ACCELERATOR, device, 1000, accelerator);
}

void rig_done(struct view_rig *r)
{
	struct err e = { .a = r->a };

	ingest_commit(r->in);
	assert_true(ingest_seal(r->in, &e));
}

void rig_set(struct view_rig *r, const char *name, const char *value)
{
	struct err e = { .a = r->a };

	const struct option *row = view_option(str_of(name));

	assert_non_null(row);
	assert_true(opts_set(&r->o, r->a, row, str_of(value), &e));
}

const struct tree *rig_tree(void *rig, enum vk kind)
{
	struct view_rig *r = rig;

	if (!r->built[kind]) {
		r->trees[kind].kind = kind;
		views[kind].build(&r->m, &r->trees[kind], r->a, &r->notes);
		r->built[kind] = true;
	}
	return &r->trees[kind];
}

bool rig_request(struct view_rig *r, enum vk kind, struct query *q, struct result *x)
{
	*q = (struct query){ .m = &r->m, .o = &r->o, .a = r->a, .notes = &r->notes };
	q->tree = rig_tree(r, kind);
	r->e = (struct err){ .a = r->a };
	return view_run(&views[kind], q, x, &r->e);
}

struct str rig_shown(struct view_rig *r, enum vk kind)
{
	struct sb b = sb_in(r->a);
	struct query q;
	struct result x;

	if (!rig_request(r, kind, &q, &x))
		return S("failed");
	for (uint32_t i = 0; i < x.n; i++) {
		assert_true(x.shown[i].end > i && x.shown[i].end <= x.n);
		if (i)
			sb_char(&b, ' ');
		sb_repeat(&b, '.', x.shown[i].depth);
		sb_put(&b, q.tree->name[q.kept.at[x.shown[i].kept]]);
		sb_fmt(&b, "=%lld", (long long)x.shown[i].total->v[V_FLOAT_OPS]);
	}
	return sb_str(&b);
}

struct str rig_lines(struct view_rig *r, enum vk kind)
{
	struct sink *to = sink_memory(r->a);
	struct query q;
	struct result x;

	if (!rig_request(r, kind, &q, &x))
		return S("failed");
	if (kind == VK_OP)
		text_op(&x, to, r->a);
	else
		text_tree(&x, to, r->a);
	return sink_text(to);
}

struct str rig_notes(struct view_rig *r)
{
	struct str text = notes_text(r->a, &r->notes);

	r->notes.list.n = 0;
	return text;
}
