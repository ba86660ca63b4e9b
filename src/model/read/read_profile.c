/* SPDX-License-Identifier: Apache-2.0
 *
 * ProfileProto. The input is read twice, because nodes refer to later nodes by key, and
 * texts of call stacks follow the nodes. The first pass collects keys, names and texts; in the
 * second pass, each node is a leaf that is decoded by hand (read_profile_node.c). No message is
 * unpacked.
 */
#include "base/sort.h"
#include "model/read/read_attr.h"
#include "model/read/read_exec.h"
#include "model/read/read_leaf.h"
#include "model/read/read_profile_node.h"
#include "model/read/read_stack.h"

enum { NOTE_PROFILE_INPUT = 0x500, NOTE_PROFILE_TUPLE, NOTE_PROFILE_STEP }; /* kinds of notes */

struct profile_in {
	struct numbers keys; /* indexed by node entry: its key */
	VEC(uint32_t) names; /* indexed by node entry: string id of its name */
	uint32_t *place1;    /* indexed by key: 1 + the last index with that key; NULL if keys are
	                        large */
	size_t n_place1;
	struct imap place_of; /* key: key of a node; used instead of place1 */
	struct numbers steps;
	struct stacks stacks;
	bool has_trace;
	size_t place; /* index of the current node entry in the second pass */
	struct profile_node n;
	struct exec x;
	uint64_t lost_inputs; /* number of inputs with unknown keys */
	uint64_t repeated;    /* number of nodes that share a key or a name with another node */
	/* For damaged files: the missing keys, and the steps that have records. */
	struct imap lost_nodes, ran;
	uint32_t lost_from; /* name of the first node with a missing input */
};

/* ---- first pass ---- */

/* Reads only the key and the name of an entry of nodes. */
static bool index_node(struct pb_reading *r, struct profile_in *p)
{
	struct str name = S("");
	struct map_entry e;
	struct leaf l;

	if (!read_entry(r, r->leaf, PROFILE_NODE_DEPTH - 1, ENTRY_MESSAGE, &e))
		return false;
	l = leaf_below(e.value, PROFILE_NODE_DEPTH);
	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES))
			name = read_text(r, &l);
		else
			leaf_skip(&l);
	}
	VEC_PUSH(r->a, &p->keys, e.key);
	VEC_PUSH(r->a, &p->names, ingest_string(r->to, name));
	return reading_end(r, &l);
}

static void index_field(struct pb_reading *r, struct profile_in *p)
{
	struct leaf l;
	uint64_t v;

	switch (LEAF_TAG(r->w.field, r->w.type)) {
	case LEAF_TAG(1, WIRE_BYTES):
		if (reading_leaf(r))
			index_node(r, p);
		break;
	case LEAF_TAG(2, WIRE_VARINT):
		if (wire_u64(&r->w, &v))
			p->has_trace = v != 0;
		break;
	case LEAF_TAG(3, WIRE_VARINT):
		if (wire_u64(&r->w, &v))
			VEC_PUSH(r->a, &p->steps, (int64_t)v);
		break;
	case LEAF_TAG(3, WIRE_BYTES):
		if (!reading_leaf(r))
			break;
		for (l = leaf_of(r->leaf); l.p < l.end && !l.bad;) {
			v = leaf_varint(&l);
			VEC_PUSH(r->a, &p->steps, (int64_t)v);
		}
		reading_end(r, &l);
		break;
	case LEAF_TAG(4, WIRE_BYTES):
		if (reading_leaf(r))
			stacks_read_text(&p->stacks, r, r->leaf);
		break;
	case LEAF_TAG(5, WIRE_VARINT): wire_skip(&r->w); break; /* miss_accelerator_stream */
	default: src_count_unused(r->w.s, S("unknown fields"), 1); wire_skip(&r->w);
	}
}

/* Maps keys to indices. The original's keys count from 0, so an array suffices. */
static void index_keys(struct arena *a, struct profile_in *p)
{
	size_t most = 2 * p->keys.n + 1024;
	bool small = true;

	for (size_t i = 0; i < p->keys.n && small; i++)
		small = p->keys.v[i] >= 0 && (uint64_t)p->keys.v[i] < most;
	imap_init(&p->place_of, a);
	imap_init(&p->lost_nodes, a);
	imap_init(&p->ran, a);
	p->n_place1 = small ? most : 0;
	p->place1 = small ? ARENA_ARRAY(a, most, uint32_t) : NULL;
	for (uint32_t i = 0; i < p->keys.n; i++) {
		if (small)
			p->place1[p->keys.v[i]] = i + 1;
		else
			imap_put(&p->place_of, (uint64_t)p->keys.v[i], i, true);
	}
}

/* Returns the last index with a key. Returns false if no node has the key. */
static bool find_place(const struct profile_in *p, int64_t key, uint32_t *place)
{
	if (!p->place1)
		return imap_get(&p->place_of, (uint64_t)key, place);
	if (key < 0 || (uint64_t)key >= p->n_place1 || !p->place1[key])
		return false;
	*place = p->place1[key] - 1;
	return true;
}

/* ---- second pass ---- */

/* Returns the output of source `key` that the node uses. Returns -1, which is not an output, if it
 * is not recorded. */
static int32_t node_slot(const struct profile_node *n, int64_t key)
{
	size_t i;

	BISECT(i, 0, n->slots.n, n->slots.v[i].key < key);
	return i < n->slots.n && n->slots.v[i].key == key ? (int32_t)n->slots.v[i].number : -1;
}

/* Counts an input whose key no node has. */
static void lose_input(struct pb_reading *r, struct profile_in *p, uint32_t name, int64_t key)
{
	if (p->lost_inputs++ == 0)
		p->lost_from = name;
	if (r->w.s->damage->recover)
		imap_put(&p->lost_nodes, (uint64_t)key, 0, false);
}

static void say_inputs(struct pb_reading *r, struct profile_in *p, uint32_t name)
{
	const struct profile_node *n = &p->n;

	for (size_t i = 0; i < n->inputs.n; i++) {
		const struct map_entry *e = &n->inputs.v[i];
		uint32_t place;
		if (find_place(p, e->number, &place))
			ingest_input(
			        r->to, (int32_t)e->key, p->names.v[place], node_slot(n, e->number));
		else
			lose_input(r, p, name, e->number);
	}
}

/* Adds a completely decoded node. */
static void say_facts(struct pb_reading *r, struct profile_in *p, uint32_t node)
{
	const struct profile_node *n = &p->n;
	struct ingest *to = r->to;

	ingest_given_types(to, node);
	for (size_t i = 0; i < n->types.n; i++)
		ingest_add_type(to, node, ingest_string(to, n->types.v[i]));
	if (n->float_ops)
		ingest_set_float_ops(to, node, n->float_ops);
	if (n->device.n || n->host.n)
		ingest_set_device(to, node, n->device.n ? ingest_device(to, n->device) : ID_NONE,
		        n->host.n ? ingest_string(to, n->host) : ID_NONE);
	ingest_set_stack(to, node, stacks_frame(&p->stacks, to, n->stack));
}

/* Adds the executions. Uses only the last execution of each step, and only validates the others. If
 * node is ID_NONE, only validates all of them. */
static bool walk_execs(struct pb_reading *r, struct profile_in *p, uint32_t node)
{
	struct entries *v = &p->n.execs;

	for (size_t i = 0; i < v->n; i++) {
		uint32_t to = entries_last(v, i) ? node : ID_NONE;
		if (!read_exec(r, &p->x, v->v[i].key, to, v->v[i].value))
			return false;
	}
	return true;
}

/* Validates the executions without storing them. */
static bool judge_execs(struct pb_reading *r, struct profile_in *p)
{
	uint64_t before = p->x.short_tuples;
	bool ok = walk_execs(r, p, ID_NONE);

	p->x.short_tuples = before;
	for (size_t i = 0; ok && i < p->n.execs.n; i++)
		imap_put(&p->ran, (uint64_t)p->n.execs.v[i].key, 0, false);
	return ok;
}

/* Adds the attributes of the node. Its executions follow. */
static uint32_t say_node(struct pb_reading *r, struct profile_in *p, uint32_t name)
{
	struct profile_node *n = &p->n;
	uint32_t node;

	say_inputs(r, p, name);
	if (n->shape.n)
		ingest_node_shape(r->to, ingest_shape(r->to, n->shape.v, n->shape.n));
	for (size_t i = 0; i < n->outputs.n; i++)
		ingest_output(
		        r->to, (int32_t)n->outputs.v[i].key, (uint32_t)n->outputs.v[i].number);
	attr_settings_say(r->to, &n->settings);
	attrs_say(r->to, &n->kept);
	node = ingest_end_node(r->to);
	say_facts(r, p, node);
	return node;
}

/* Reads a node and adds it, unless its key or name is a duplicate. A node is validated completely
 * before it is added, so that the data before damage is usable. */
static bool take_node(struct pb_reading *r, struct profile_in *p, struct str bytes, uint32_t place)
{
	struct profile_node *n = &p->n;
	uint32_t node = ID_NONE, last = 0;

	if (!read_profile_node(r, n, bytes, &p->stacks))
		return false;
	if (r->w.s->damage->recover && !judge_execs(r, p))
		return false;
	if (find_place(p, p->keys.v[place], &last) && last == place &&
	        ingest_node(r->to, p->names.v[place], ingest_string(r->to, n->op)))
		node = say_node(r, p, p->names.v[place]);
	p->repeated += node == ID_NONE;
	return walk_execs(r, p, node);
}

/* Reads an entry of nodes. */
static bool take_entry(struct pb_reading *r, struct profile_in *p)
{
	struct map_entry e;

	if (!read_entry(r, r->leaf, PROFILE_NODE_DEPTH - 1, ENTRY_MESSAGE, &e))
		return false;
	if (p->place == p->keys.n || p->keys.v[p->place] != e.key)
		return reading_refuse(r, NULL, "the input changed while it was read");
	if (!take_node(r, p, e.value, (uint32_t)p->place))
		return false;
	p->place++;
	return true;
}

/* Counts the skipped data and adds notes about it. */
static void say_notes(struct src *s, struct ingest *to, const struct profile_in *p)
{
	const struct str lost_inputs = S("inputs from missing nodes"),
	                 short_tuples = S("execution times without a start and a duration");
	struct notes *notes = ingest_notes(to);

	src_count_unused(s, lost_inputs, p->lost_inputs);
	src_count_unused(s, short_tuples, p->x.short_tuples);
	src_count_unused(s, S("nodes with a duplicate key or name"), p->repeated);
	if (p->lost_inputs)
		note_kind(notes, NOTE_PROFILE_INPUT, "%.*s, ignored; the first of '%.*s'",
		        STR(str_counted(notes->a, p->lost_inputs, lost_inputs)),
		        STR(model_str(ingest_model(to), p->lost_from)));
	if (p->x.short_tuples)
		note_kind(notes, NOTE_PROFILE_TUPLE, "%.*s, ignored",
		        STR(str_counted(notes->a, p->x.short_tuples, short_tuples)));
}

static void say_steps(struct src *s, struct ingest *to, const struct profile_in *p)
{
	for (size_t i = 0; i < p->steps.n; i++)
		ingest_step(to, p->steps.v[i]);
	if (p->has_trace)
		ingest_has_traces(to);
	say_notes(s, to, p);
}

/* ---- overlay on a base model ---- */

/* Keys that have been read, if they are as small as in the original's files. */
struct keys {
	bool *seen;
	uint64_t n;
};

static bool new_key(struct keys *k, int64_t key)
{
	if (key < 0 || (uint64_t)key >= k->n || k->seen[key])
		return false;
	return k->seen[key] = true;
}

/* Reads an entry of a node of the base model: its name and executions; skips the rest. Also returns
 * false if the base model lacks the node, or the node occurs twice. */
static bool take_known(struct pb_reading *r, struct profile_in *p, struct keys *keys)
{
	struct str name;
	uint32_t node;
	struct map_entry e;

	return read_entry(r, r->leaf, PROFILE_NODE_DEPTH - 1, ENTRY_MESSAGE, &e) &&
	       new_key(keys, e.key) && read_profile_node_known(r, &p->n, e.value, &name) &&
	       ingest_base_node(r->to, name, &node) && walk_execs(r, p, node);
}

/* Reads, in one pass, a profile whose nodes are all in the base model. Returns false if some are
 * not, or the profile is malformed. */
static bool read_known(struct src *s, struct ingest *to, struct arena *a)
{
	struct profile_in *p = ARENA_NEW(a, struct profile_in);
	struct err e = { .a = a };
	struct pb_reading r;
	struct keys keys = { .n = 2 * ingest_base_nodes(to) + 1024 };
	bool ok = true;

	reading_init(&r, s, "ProfileProto", to, a, &e);
	stacks_init(&p->stacks, a);
	keys.seen = ARENA_ARRAY(a, keys.n, bool);
	while (ok && wire_next(&r.w)) {
		switch (LEAF_TAG(r.w.field, r.w.type)) {
		case LEAF_TAG(1, WIRE_BYTES):
			ok = reading_leaf(&r) && take_known(&r, p, &keys);
			break;
		case LEAF_TAG(4, WIRE_BYTES): wire_skip(&r.w); break;
		default: index_field(&r, p);
		}
	}
	if (!ok || r.w.bad)
		return false;
	say_steps(s, to, p);
	return true;
}

static bool no_second_time(const struct src *s, struct err *e)
{
	return err_set(e, ERR_IO, "%.*s: cannot be read a second time", STR(s->name));
}

/* Estimates how many nodes and steps a damaged profile lost. */
static void say_lost(struct src_damage *d, struct ingest *to, const struct profile_in *p)
{
	uint64_t steps = 0;
	uint32_t found;

	d->groups = p->ran.n;
	d->lost = p->keys.n - p->place + p->lost_nodes.n;
	for (size_t i = 0; i < p->steps.n; i++)
		steps += !imap_get(&p->ran, (uint64_t)p->steps.v[i], &found);
	if (steps)
		note_kind(ingest_notes(to), NOTE_PROFILE_STEP,
		        "%llu steps are lost: none of their records was kept",
		        (unsigned long long)steps);
}

/* Reads a binary ProfileProto. Quirk 20: miss_accelerator_stream is ignored. */
bool read_profile(struct src *s, struct ingest *to, struct arena *a, struct err *e)
{
	struct profile_in *p = ARENA_NEW(a, struct profile_in);
	struct pb_reading r;

	if (ingest_overlay_begin(to)) {
		if (read_known(s, to, a))
			return true;
		ingest_overlay_end(to, a);
		s->facts->unused.n = 0;
		*s->damage = (struct src_damage){ .recover = s->damage->recover, .at = UINT64_MAX };
		if (!src_rewind(s))
			return no_second_time(s, e);
	}
	reading_init(&r, s, "ProfileProto", to, a, e);
	stacks_init(&p->stacks, a);
	attrs_init(&p->n.kept, a);
	while (wire_next(&r.w))
		index_field(&r, p);
	if (!wire_done(&r.w, p->keys.n))
		return false;
	if (!src_rewind(s))
		return no_second_time(s, e);
	index_keys(a, p);
	wire_init(&r.w, s, "ProfileProto", e);
	while (wire_next(&r.w)) {
		if (LEAF_TAG(r.w.field, r.w.type) != LEAF_TAG(1, WIRE_BYTES))
			wire_skip(&r.w);
		else if (reading_leaf(&r))
			take_entry(&r, p);
	}
	if (!wire_done(&r.w, p->place))
		return false;
	if (s->damage->recover && e->code)
		say_lost(s->damage, to, p);
	say_steps(s, to, p);
	return true;
}
