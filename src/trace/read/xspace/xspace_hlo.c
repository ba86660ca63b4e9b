/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled programs (HloProto) of an XSpace: the data about ops that the events lack, and the
 * graph. Only these fields are read:
 *
 *   HloProto         module 1  buffer_assignment 3 (hlo_buffers.c)
 *   HloModule        entry_name 2  computations 3  id 5  entry_id 6
 *                    schedule 7 {sequences 1 {key 1, value 2 {instruction_ids 1}}}
 *                    stack_frame_index 17
 *   HloComputation   name 1  instructions 2  id 5  root_id 6
 *   HloInstruction   name 1  opcode 2  shape 3  metadata 7  fusion_kind 11  window 15
 *                    convolution 16  custom_call_target 28  dot 30  fft_length 32  id 35
 *                    operands 36
 *                    called_computations 38  backend_config 43
 *   OpMetadata       op_type 1  op_name 2  source_file 3  source_line 4  stack_frame_id 15
 *   StackFrameIndex  files 1  functions 2  locations 3 {file 1, function 2, line 3, column 4}
 *                    frames 4 {location 1, parent 2}; ids count from 1
 */
#include "trace/read/xspace/xspace_internal.h"

#define STACK_MAX 256 /* maximum number of frames in a call stack, which may be cyclic */

struct location {
	uint64_t file, function, line, column;
};
struct stack_frame {
	uint64_t location, parent;
};

struct module {
	struct xspace *x;
	struct xprogram *p;
	int64_t entry;
	VEC(struct str) files, functions;
	VEC(struct location) locations;
	VEC(struct stack_frame) frames;
	VEC(struct str) metadata; /* indexed by instruction of the program */
};

/* ---- the index of call stacks ---- */

static void read_numbers(struct str bytes, uint64_t *v, uint32_t n)
{
	struct leaf l = leaf_of(bytes);

	while (leaf_next(&l)) {
		uint32_t field = l.tag >> 3;
		if (l.tag == LEAF_TAG(field, WIRE_VARINT) && field >= 1 && field <= n)
			v[field - 1] = leaf_varint(&l);
		else
			leaf_skip(&l);
	}
}

static void read_stack_index(struct module *m, struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	uint64_t v[4];

	while (leaf_next(&l)) {
		memset(v, 0, sizeof v);
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_BYTES): VEC_PUSH(m->x->a, &m->files, leaf_bytes(&l)); break;
		case LEAF_TAG(2, WIRE_BYTES):
			VEC_PUSH(m->x->a, &m->functions, leaf_bytes(&l));
			break;
		case LEAF_TAG(3, WIRE_BYTES):
			read_numbers(leaf_bytes(&l), v, 4);
			VEC_PUSH(m->x->a, &m->locations,
			        ((struct location){ v[0], v[1], v[2], v[3] }));
			break;
		case LEAF_TAG(4, WIRE_BYTES):
			read_numbers(leaf_bytes(&l), v, 2);
			VEC_PUSH(m->x->a, &m->frames, ((struct stack_frame){ v[0], v[1] }));
			break;
		default: leaf_skip(&l);
		}
	}
}

/* Appends the line of a frame: "file.py(12): function". */
static void put_frame(const struct module *m, uint64_t frame, struct sb *b)
{
	uint64_t at = m->frames.v[frame - 1].location;
	const struct location *l;

	if (!at || at > m->locations.n)
		return;
	l = &m->locations.v[at - 1];
	if (!l->file || l->file > m->files.n)
		return;
	if (b->n)
		sb_char(b, '\n');
	sb_put(b, m->files.v[l->file - 1]);
	sb_fmt(b, "(%llu): ", (unsigned long long)l->line);
	if (l->function && l->function <= m->functions.n)
		sb_put(b, m->functions.v[l->function - 1]);
}

/* Returns the call stack of a frame, outermost first; empty if there is none. */
static struct str call_stack(const struct module *m, uint64_t frame)
{
	uint64_t way[STACK_MAX];
	struct sb b = sb_in(m->x->a);
	size_t n = 0;

	for (; frame && frame <= m->frames.n && n < STACK_MAX;
	        frame = m->frames.v[frame - 1].parent)
		way[n++] = frame;
	while (n)
		put_frame(m, way[--n], &b);
	return sb_str(&b);
}

/* ---- instructions ---- */

/* Reads the numbers of a repeated field, packed or one at a time. */
static void take_ids(struct leaf *l, struct arena *a, struct xids *to)
{
	if ((l->tag & 7) == WIRE_VARINT) {
		VEC_PUSH(a, to, (int64_t)leaf_varint(l));
		return;
	}
	struct leaf packed = leaf_of(leaf_bytes(l));
	while (packed.p < packed.end && !packed.bad) {
		uint64_t v = leaf_varint(&packed);
		if (!packed.bad)
			VEC_PUSH(a, to, (int64_t)v);
	}
	l->bad |= packed.bad;
}

static bool read_instruction(struct module *m, struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	struct xinstruction made = { .id = 0 };
	struct str metadata = STR_NONE;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_BYTES): made.name = leaf_bytes(&l); break;
		case LEAF_TAG(2, WIRE_BYTES): made.opcode = leaf_bytes(&l); break;
		case LEAF_TAG(3, WIRE_BYTES): made.shape = leaf_bytes(&l); break;
		case LEAF_TAG(7, WIRE_BYTES): metadata = leaf_bytes(&l); break;
		case LEAF_TAG(11, WIRE_BYTES): made.fusion = leaf_bytes(&l); break;
		case LEAF_TAG(15, WIRE_BYTES): made.window = leaf_bytes(&l); break;
		case LEAF_TAG(16, WIRE_BYTES): made.convolution = leaf_bytes(&l); break;
		case LEAF_TAG(28, WIRE_BYTES): made.target = leaf_bytes(&l); break;
		case LEAF_TAG(30, WIRE_BYTES): made.dot = leaf_bytes(&l); break;
		case LEAF_TAG(32, WIRE_BYTES):
		case LEAF_TAG(32, WIRE_VARINT): take_ids(&l, m->x->a, &made.lengths); break;
		case LEAF_TAG(35, WIRE_VARINT): made.id = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(36, WIRE_BYTES):
		case LEAF_TAG(36, WIRE_VARINT): take_ids(&l, m->x->a, &made.operands); break;
		case LEAF_TAG(38, WIRE_BYTES):
		case LEAF_TAG(38, WIRE_VARINT): take_ids(&l, m->x->a, &made.calls); break;
		case LEAF_TAG(43, WIRE_BYTES): made.config = leaf_bytes(&l); break;
		default: leaf_skip(&l);
		}
	}
	if (l.bad)
		return false;
	imap_put(&m->p->of_id, (uint64_t)made.id, (uint32_t)m->p->instructions.n, false);
	VEC_PUSH(m->x->a, &m->p->instructions, made);
	VEC_PUSH(m->x->a, &m->metadata, metadata);
	return true;
}

/* Reads a computation. The instructions read before its end belong to it. */
static bool read_computation(struct module *m, struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	struct xcomputation made = { .first = m->p->instructions.n };
	bool good = true;

	while (good && leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(2, WIRE_BYTES): good = read_instruction(m, leaf_bytes(&l)); break;
		case LEAF_TAG(5, WIRE_VARINT): made.id = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(6, WIRE_VARINT): made.root = (int64_t)leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
	made.end = m->p->instructions.n;
	imap_put(&m->p->computation_of, (uint64_t)made.id, (uint32_t)m->p->computations.n, false);
	VEC_PUSH(m->x->a, &m->p->computations, made);
	return good && !l.bad;
}

/* Reads the compiler's metadata of an instruction: framework op and source. */
static void read_metadata(struct module *m, struct str bytes, struct xinstruction *to)
{
	struct leaf l = leaf_of(bytes);
	struct str type = S(""), name = S(""), file = S("");
	uint64_t line = 0, frame = 0;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_BYTES): type = leaf_bytes(&l); break;
		case LEAF_TAG(2, WIRE_BYTES): name = leaf_bytes(&l); break;
		case LEAF_TAG(3, WIRE_BYTES): file = leaf_bytes(&l); break;
		case LEAF_TAG(4, WIRE_VARINT): line = leaf_varint(&l); break;
		case LEAF_TAG(15, WIRE_VARINT): frame = leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
	if (l.bad)
		return;
	if (name.n)
		to->op = xspace_op(str_fmt(m->x->a, "%.*s:%.*s", STR(name), STR(type)));
	to->stack = call_stack(m, frame);
	if (file.n)
		to->source = str_fmt(m->x->a, "%.*s:%llu", STR(file), (unsigned long long)line);
}

/* ---- modules ---- */

/* True for instructions that run their computations unchanged. The computations of other
 * instructions are part of these instructions. */
static bool runs_computations(const struct xinstruction *i)
{
	return str_eq(i->opcode, S("while")) || str_eq(i->opcode, S("call")) ||
	       str_eq(i->opcode, S("conditional")) || str_eq(i->opcode, S("async-start"));
}

/* Marks the instructions that run, starting at the entry. Instructions that call computations get
 * the roots of these computations as operands. */
static void mark_running(struct module *m)
{
	VEC(uint32_t) todo = { .v = NULL };
	uint32_t at;

	if (!imap_get(&m->p->computation_of, (uint64_t)m->entry, &at))
		return;
	VEC_PUSH(m->x->a, &todo, at);
	m->p->computations.v[at].runs = true;
	while (todo.n) {
		const struct xcomputation *c = &m->p->computations.v[todo.v[--todo.n]];
		for (size_t i = c->first; i < c->end; i++) {
			struct xinstruction *x = &m->p->instructions.v[i];
			x->runs = true;
			if (!runs_computations(x))
				continue;
			for (size_t k = 0; k < x->calls.n; k++) {
				if (!imap_get(&m->p->computation_of, (uint64_t)x->calls.v[k], &at))
					continue;
				VEC_PUSH(m->x->a, &x->operands, m->p->computations.v[at].root);
				if (!m->p->computations.v[at].runs)
					VEC_PUSH(m->x->a, &todo, at);
				m->p->computations.v[at].runs = true;
			}
		}
	}
}

/* Reads a sequence of the schedule, if it belongs to the entry computation. */
static bool read_sequence(struct module *m, struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	struct str sequence = S("");
	struct xids ids = { 0 };
	int64_t computation = 0;

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_VARINT))
			computation = (int64_t)leaf_varint(&l);
		else if (l.tag == LEAF_TAG(2, WIRE_BYTES))
			sequence = leaf_bytes(&l);
		else
			leaf_skip(&l);
	}
	if (l.bad || computation != m->entry)
		return !l.bad;
	l = leaf_of(sequence);
	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES) || l.tag == LEAF_TAG(1, WIRE_VARINT))
			take_ids(&l, m->x->a, &ids);
		else
			leaf_skip(&l);
	}
	for (size_t i = 0; i < ids.n; i++)
		VEC_PUSH(m->x->a, &m->p->schedule, ids.v[i]);
	return !l.bad;
}

static bool read_schedule(struct module *m, struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	bool good = true;

	while (good && leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES))
			good = read_sequence(m, leaf_bytes(&l));
		else
			leaf_skip(&l);
	}
	return good && !l.bad;
}

static bool read_module(struct module *m, struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	struct str stacks = STR_NONE, schedule = S("");
	bool good = true;

	while (good && leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_BYTES): m->p->name = leaf_bytes(&l); break;
		case LEAF_TAG(3, WIRE_BYTES): good = read_computation(m, leaf_bytes(&l)); break;
		case LEAF_TAG(5, WIRE_VARINT): m->p->id = leaf_varint(&l); break;
		case LEAF_TAG(6, WIRE_VARINT): m->entry = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(7, WIRE_BYTES): schedule = leaf_bytes(&l); break;
		case LEAF_TAG(17, WIRE_BYTES): stacks = leaf_bytes(&l); break;
		default: leaf_skip(&l);
		}
	}
	if (!good || l.bad || !read_schedule(m, schedule))
		return false;
	read_stack_index(m, stacks);
	for (size_t i = 0; i < m->p->instructions.n; i++)
		/* NOLINTNEXTLINE: each instruction has metadata */
		read_metadata(m, m->metadata.v[i], &m->p->instructions.v[i]);
	return true;
}

/* True for instructions whose result can share the memory of an operand. */
static bool passes_operands(const struct xinstruction *i)
{
	static const char *const opcodes[] = { "bitcast", "tuple", "get-tuple-element",
		"copy-start", "copy-done", "optimization-barrier", "add-dependency", "domain" };

	for (size_t k = 0; k < sizeof opcodes / sizeof *opcodes; k++)
		if (str_eq(i->opcode, str_of(opcodes[k])))
			return true;
	return runs_computations(i) || str_contains(i->opcode, S("async-")) ||
	       str_eq(i->opcode, S("custom-call"));
}

/* Returns the schedule position of the last use of each instruction; 0: none. A result that the
 * program returns is used after all instructions. */
static uint32_t *last_uses(const struct xprogram *p, struct arena *a)
{
	uint32_t *uses = ARENA_ARRAY(a, p->instructions.n, uint32_t), i, of;
	uint32_t n = (uint32_t)p->schedule.n;

	for (uint32_t at = n; at > 0; at--) {
		if (!imap_get(&p->of_id, (uint64_t)p->schedule.v[at - 1], &i))
			continue;
		const struct xinstruction *in = &p->instructions.v[i];
		if (at == n)
			uses[i] = n + 1;
		uint32_t last = passes_operands(in) && uses[i] > at ? uses[i] : at;
		for (size_t k = 0; k < in->operands.n; k++)
			if (imap_get(&p->of_id, (uint64_t)in->operands.v[k], &of) &&
			        uses[of] < last)
				uses[of] = last;
	}
	return uses;
}

/* Reads a compiled program (HloProto). Counts a damaged program, and leaves it out. */
static void read_hlo(struct xspace *x, uint64_t program, struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	struct xprogram made = { .program = program };
	struct module m = { .x = x, .p = &made };
	struct str buffers = S("");
	uint32_t earlier;

	x->hlo_bytes = num_add_u64(x->hlo_bytes, bytes.n);
	imap_init(&made.of_id, x->a);
	imap_init(&made.computation_of, x->a);
	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES))
			l.bad |= !read_module(&m, leaf_bytes(&l));
		else if (l.tag == LEAF_TAG(3, WIRE_BYTES))
			buffers = leaf_bytes(&l);
		else
			leaf_skip(&l);
	}
	if (l.bad) {
		x->bad++;
		return;
	}
	mark_running(&m);
	imap_init(&made.of_name, x->a);
	for (uint32_t i = 0; i < made.instructions.n; i++)
		imap_put(&made.of_name, intern_add(&x->hlo_names, made.instructions.v[i].name), i,
		        false);
	if (!imap_get(&x->program_of, program, &earlier))
		x->bad += !hlo_read_buffers(x, &made, buffers, last_uses(&made, x->a));
	imap_put(&x->program_of, program, (uint32_t)x->programs.n, false);
	if (made.id)
		imap_put(&x->program_of, made.id, (uint32_t)x->programs.n, false);
	VEC_PUSH(x->a, &x->programs, made);
}

/* ---- stats of metadata ---- */

static bool is_program(struct str stat)
{
	return str_eq(stat, S("Hlo Proto")) || str_eq(stat, S("hlo_proto"));
}

/* Reads the compiled program in a stat, if the stat contains one. */
static void read_program(
        struct xspace *x, const struct xplane *p, uint64_t program, struct str stat)
{
	struct leaf l = leaf_of(stat);
	struct str bytes = STR_NONE;
	uint32_t name = ID_NONE;

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_VARINT))
			imap_get(&p->name_of, leaf_varint(&l), &name);
		else if (l.tag == LEAF_TAG(6, WIRE_BYTES))
			bytes = leaf_bytes(&l);
		else
			leaf_skip(&l);
	}
	if (bytes.n && name != ID_NONE && is_program(p->names.v[name].name))
		read_hlo(x, program, bytes);
}

void hlo_read_programs(struct xspace *x, const struct xplane *p, struct str meta)
{
	struct leaf l = leaf_of(meta);
	uint64_t program = 0;

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_VARINT))
			program = leaf_varint(&l);
		else if (l.tag == LEAF_TAG(5, WIRE_BYTES))
			read_program(x, p, program, leaf_bytes(&l));
		else
			leaf_skip(&l);
	}
}

struct xinstruction *hlo_find(
        struct xspace *x, uint64_t program, struct str name, const struct xprogram **in)
{
	uint32_t at, id = intern_find(&x->hlo_names, name), i;
	struct xprogram *p;

	if (id == ID_NONE || !imap_get(&x->program_of, program, &at))
		return NULL;
	p = &x->programs.v[at];
	if (!imap_get(&p->of_name, id, &i))
		return NULL;
	p->used = true;
	*in = p;
	return &p->instructions.v[i];
}

/* ---- adding to the trace ---- */

struct str hlo_category(struct xspace *x, const struct xinstruction *i)
{
	if (!str_eq(i->opcode, S("fusion")) || i->fusion.n < 2)
		return i->opcode;
	/* kLoop, kInput, kOutput, kCustom */
	return str_fmt(x->a, "%c%.*s fusion", (char)(i->fusion.p[1] | 0x20), (int)(i->fusion.n - 2),
	        i->fusion.p + 2);
}

/* Adds the arguments that device work has to the node of the graph. */
static void put_node_args(struct xspace *x, const struct xprogram *p, const struct xinstruction *i)
{
	build_args_clear(x->b);
	build_arg_text(x->b, ARG_MODULE_NAME, p->name);
	if (i->op.name.n)
		build_arg_text(x->b, ARG_SCOPE, i->op.name);
	if (i->op.type.n)
		build_arg_text(x->b, ARG_OP_TYPE, i->op.type);
	if (i->stack.n)
		build_arg_text(x->b, ARG_STACK, i->stack);
	else if (i->source.n)
		build_arg_text(x->b, ARG_SOURCE, i->source);
}

static void build_program(struct xspace *x, const struct xprogram *p)
{
	uint32_t *node = ARENA_ARRAY(x->a, p->instructions.n, uint32_t), source;

	for (size_t i = 0; i < p->instructions.n; i++) {
		const struct xinstruction *in = &p->instructions.v[i];
		node[i] = ID_NONE;
		if (!in->runs)
			continue;
		put_node_args(x, p, in);
		node[i] = build_node(x->b, p->program, in->name, in->opcode, hlo_category(x, in));
	}
	for (size_t i = 0; i < p->instructions.n; i++)
		for (size_t k = 0; node[i] != ID_NONE && k < p->instructions.v[i].operands.n; k++)
			if (imap_get(&p->of_id, (uint64_t)p->instructions.v[i].operands.v[k],
			            &source) &&
			        node[source] != ID_NONE)
				build_node_input(x->b, node[i], node[source]);
}

void hlo_build(struct xspace *x)
{
	for (size_t i = 0; i < x->programs.n; i++)
		if (x->programs.v[i].used)
			build_program(x, &x->programs.v[i]);
}
