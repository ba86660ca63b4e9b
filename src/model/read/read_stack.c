/* SPDX-License-Identifier: Apache-2.0
 *
 * Call stacks of op logs and profiles. Most stacks of a file are equal bytes, so each distinct one
 * is decoded once. Texts may follow the stacks that use them: frames are created when requested.
 */
#include "model/read/read_leaf.h"
#include "model/read/read_stack.h"

void stacks_init(struct stacks *s, struct arena *a)
{
	memset(s, 0, sizeof *s);
	s->a = a;
	imap_init(&s->text_of, a);
	intern_init(&s->defs, a);
	VEC_PUSH(a, &s->trace0, 0);
}

/* Reads an entry of id_to_string. */
bool stacks_read_text(struct stacks *s, struct pb_reading *r, struct str bytes)
{
	struct stack_text t = { .string = ID_NONE };
	struct map_entry e;

	if (!read_entry(r, bytes, 1, ENTRY_TEXT, &e))
		return false;
	t.text = str_copy(s->a, e.value);
	imap_put(&s->text_of, (uint64_t)e.key, (uint32_t)s->texts.n, true);
	VEC_PUSH(s->a, &s->texts, t);
	return true;
}

static bool read_trace(struct stacks *s, struct pb_reading *r, struct str bytes, unsigned depth)
{
	struct leaf l = leaf_below(bytes, depth);
	struct code_trace t = { 0 };

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(2, WIRE_VARINT): t.line = (int32_t)leaf_varint(&l); break;
		case LEAF_TAG(5, WIRE_VARINT): t.func_start_line = (int32_t)leaf_varint(&l); break;
		case LEAF_TAG(6, WIRE_VARINT): t.file = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(7, WIRE_VARINT): t.function = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(8, WIRE_VARINT): t.source = (int64_t)leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
	VEC_PUSH(s->a, &s->traces, t);
	return reading_end(r, &l);
}

/* Reads a CodeDef. Decodes its traces if its bytes are new. */
bool stacks_read(
        struct stacks *s, struct pb_reading *r, struct str bytes, unsigned depth, uint32_t *id)
{
	struct leaf l = leaf_below(bytes, depth);
	size_t before = s->defs.n;

	*id = intern_add(&s->defs, bytes);
	if (s->defs.n == before)
		return true;
	while (leaf_next(&l)) {
		if (l.tag != LEAF_TAG(1, WIRE_BYTES))
			leaf_skip(&l);
		else if (!read_trace(s, r, leaf_bytes(&l), depth + 1))
			return false;
	}
	VEC_PUSH(s->a, &s->trace0, s->traces.n);
	VEC_PUSH(s->a, &s->frame, ID_NONE);
	VEC_PUSH(s->a, &s->framed, false);
	return reading_end(r, &l);
}

/* Returns the string for a text id; ID_NONE if the id has no text. */
static uint32_t text_string(struct stacks *s, struct ingest *to, int64_t id)
{
	uint32_t i;

	if (!imap_get(&s->text_of, (uint64_t)id, &i))
		return ID_NONE;
	if (s->texts.v[i].string == ID_NONE)
		s->texts.v[i].string = ingest_string(to, s->texts.v[i].text);
	return s->texts.v[i].string;
}

/* Returns the innermost frame. Traces list the outermost frame first. */
uint32_t stacks_frame(struct stacks *s, struct ingest *to, uint32_t id)
{
	struct frame f = { .parent = ID_NONE };

	if (s->framed.v[id])
		return s->frame.v[id];
	for (size_t i = s->trace0.v[id]; i < s->trace0.v[id + 1]; i++) {
		const struct code_trace *t = &s->traces.v[i];
		f.file = text_string(s, to, t->file);
		f.function = text_string(s, to, t->function);
		f.source = text_string(s, to, t->source);
		f.line = t->line;
		f.func_start_line = t->func_start_line;
		f.parent = ingest_frame(to, &f);
	}
	s->framed.v[id] = true;
	s->frame.v[id] = f.parent;
	return f.parent;
}
