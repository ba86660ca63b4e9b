/* SPDX-License-Identifier: Apache-2.0
 *
 * Op names in XSpaces, and the meaning of stats by name.
 */
#include "trace/read/xspace/xspace_internal.h"

#define DERIVED_FIRST 0xDEADBEEFu /* low 32 bits of the ids of derived lines */
#define DERIVED_IDS   512

/* ---- stats ---- */

/* Stats that tfprof interprets, and other stats that all events of a kind share. */
static const struct {
	const char *name;
	enum xstat_use use;
	uint32_t key;
	bool shared;
} uses[] = {
	{ "tf_op", XSTAT_TF_OP, 0, true },
	{ "level 0", XSTAT_LEVEL0, 0, true },
	{ "annotation", XSTAT_ANNOTATION, 0, true },
	{ "correlation_id", XSTAT_CORRELATION, 0, false },
	{ "device_offset_ps", XSTAT_DEVICE_OFFSET, 0, false },
	{ "device_duration_ps", XSTAT_DEVICE_DURATION, 0, false },
	{ "kernel_details", XSTAT_KERNEL_DETAILS, 0, true },
	{ "memcpy_details", XSTAT_COPY_DETAILS, 0, true },
	{ "memset_details", XSTAT_SET_DETAILS, 0, true },
	{ "_r", XSTAT_ROOT, 0, true },
	{ "step_num", XSTAT_STEP, ARG_STEP, false },
	{ "hlo_op", XSTAT_ARG, ARG_OP, true },
	{ "hlo_module", XSTAT_ARG, ARG_MODULE_NAME, true },
	{ "hlo_category", XSTAT_ARG, ARG_OP_CATEGORY, true },
	{ "program_id", XSTAT_ARG, ARG_PROGRAM, true },
	{ "symbol_id", XSTAT_ARG, ARG_OP_ID, true },
	{ "flops", XSTAT_ARG, ARG_FLOPS, true },
	{ "bytes_accessed", XSTAT_ARG, ARG_BYTES_ACCESSED, true },
	{ "source", XSTAT_ARG, ARG_SOURCE, true },
	{ "source_stack", XSTAT_ARG, ARG_STACK, true },
	{ "shape_with_layout", XSTAT_ARG, ARG_SHAPES, true },
	{ "group_id", XSTAT_ARG, ARG_GROUP, false },
	{ "run_id", XSTAT_ARG, ARG_RUN, false },
	{ "allocator_name", XSTAT_ARG, ARG_ALLOCATOR, true },
	{ "requested_bytes", XSTAT_ARG, ARG_REQUESTED, false },
	{ "allocation_bytes", XSTAT_ARG, ARG_BYTES, false },
	{ "addr", XSTAT_ARG, ARG_ADDRESS, false },
	{ "bytes_allocated", XSTAT_ARG, ARG_ALLOCATED_TOTAL, false },
	{ "bytes_reserved", XSTAT_ARG, ARG_RESERVED_TOTAL, false },
	{ "bytes_available", XSTAT_ARG, ARG_AVAILABLE_TOTAL, false },
	{ "peak_bytes_in_use", XSTAT_ARG, ARG_PEAK_TOTAL, false },
	{ "index_on_host", XSTAT_ARG, ARG_DEVICE, false },
	{ "device_ordinal", XSTAT_ARG, ARG_DEVICE, false },
	{ "context_id", XSTAT_NONE, ID_NONE, true },
	{ "name", XSTAT_NONE, ID_NONE, true },
	{ "prefix", XSTAT_NONE, ID_NONE, true },
	{ "theoretical_occupancy_pct", XSTAT_NONE, ID_NONE, true },
	{ "occupancy_min_grid_size", XSTAT_NONE, ID_NONE, true },
	{ "occupancy_suggested_block_size", XSTAT_NONE, ID_NONE, true },
	{ "core_type", XSTAT_NONE, ID_NONE, true },
	{ "replica_id", XSTAT_NONE, ID_NONE, true },
};

struct xstat_name xspace_stat_use(struct str name)
{
	for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
		if (str_eq(name, str_of(uses[i].name)))
			return (struct xstat_name){ .name = name,
				.use = uses[i].use,
				.key = uses[i].key,
				.shared = uses[i].shared };
	return (struct xstat_name){ .name = name, .use = XSTAT_NONE, .key = ID_NONE };
}

void xspace_add_stat_name(struct xspace *x, struct xplane *p, uint64_t id, struct str name)
{
	struct xstat_name made = xspace_stat_use(str_copy(x->a, name));

	imap_put(&p->name_of, id, (uint32_t)p->names.n, true);
	VEC_PUSH(x->a, &p->names, made);
	if (!p->near)
		p->near = ARENA_ARRAY(x->a, XSTAT_NEAR, uint32_t);
	if (id < XSTAT_NEAR)
		p->near[id] = (uint32_t)p->names.n;
}

bool xspace_stat(struct xspace *x, const struct xplane *p, struct str bytes, struct xstat *out)
{
	struct leaf l = leaf_of(bytes);
	uint64_t ref = 0, bits;
	bool has_ref = false;
	int64_t id = 0;

	*out = (struct xstat){ .type = ARG_INT };
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): id = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_FIXED64):
			bits = leaf_fixed64(&l);
			memcpy(&out->real, &bits, sizeof bits);
			out->type = ARG_REAL;
			break;
		case LEAF_TAG(3, WIRE_VARINT):
			out->i = (int64_t)leaf_varint(&l);
			out->type = ARG_UINT;
			break;
		case LEAF_TAG(4, WIRE_VARINT):
			out->i = (int64_t)leaf_varint(&l);
			out->type = ARG_INT;
			break;
		case LEAF_TAG(5, WIRE_BYTES):
			out->text = leaf_bytes(&l);
			out->type = ARG_TEXT;
			break;
		case LEAF_TAG(7, WIRE_VARINT):
			ref = leaf_varint(&l);
			has_ref = true;
			break;
		case LEAF_TAG(6, WIRE_BYTES): /* bytes; ignored */
		case LEAF_TAG(8, WIRE_BYTES): /* compressed text: counted as unused */
			x->compressed += l.tag == LEAF_TAG(8, WIRE_BYTES);
			leaf_skip(&l);
			id = INT64_MIN;
			break;
		default: leaf_skip(&l);
		}
	}
	x->bad += l.bad;
	if (has_ref) {
		const struct xstat_name *text = xspace_stat_name(p, ref);
		if (!text)
			return false;
		out->text = text->name;
		out->type = ARG_TEXT;
	}
	out->name = xspace_stat_name(p, (uint64_t)id);
	return !l.bad && out->name;
}

/* Reads the number after "key:" in "size:4 dest:1 async:1". Returns false if the key is missing. */
static bool read_detail(struct str details, struct str key, struct str *value)
{
	for (struct str s = details; s.n;) {
		size_t n = 0;
		while (n < s.n && s.p[n] != ' ' && s.p[n] != '\n')
			n++;
		struct str word = str_sub(s, 0, n);
		if (str_starts(word, key) && word.n > key.n && word.p[key.n] == ':') {
			*value = str_sub(word, key.n + 1, SIZE_MAX);
			return true;
		}
		s = str_sub(s, n + 1, SIZE_MAX);
		if (n >= details.n)
			break;
	}
	return false;
}

/* Reads "grid:2,1,1 block:128,1,1 regs:38 static_shared:64 dynamic_shared:0"; "shm:" is the old
 * name. */
void xspace_put_kernel(struct xspace *x, struct str details)
{
	static const struct {
		const char *name;
		uint32_t key;
		bool text;
	} rows[] = {
		{ "grid", ARG_GRID, true },
		{ "block", ARG_BLOCK, true },
		{ "regs", ARG_REGISTERS, false },
		{ "static_shared", ARG_STATIC_SHARED, false },
		{ "dynamic_shared", ARG_DYNAMIC_SHARED, false },
		{ "shm", ARG_STATIC_SHARED, false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct str value;
		int64_t number;
		if (!read_detail(details, str_of(rows[i].name), &value))
			continue;
		if (rows[i].text)
			build_arg_text(x->b, rows[i].key, value);
		else if (num_parse_i64(value, &number))
			build_arg_int(x->b, rows[i].key, number);
	}
}

void xspace_put_bytes(struct xspace *x, struct str details)
{
	struct str value;
	int64_t bytes;

	if ((read_detail(details, S("size"), &value) ||
	            read_detail(details, S("num_bytes"), &value)) &&
	        num_parse_i64(value, &bytes))
		build_arg_int(x->b, ARG_BYTES, bytes);
}

/* ---- categories ---- */

static bool starts_with_one(struct str s, const char *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_starts(s, str_of(v[i])))
			return true;
	return false;
}

enum trace_category xspace_program_category(struct str hlo)
{
	static const char *const collectives[] = { "all-reduce", "all-gather", "all-to-all",
		"reduce-scatter", "collective", "send", "recv" };
	static const char *const copies[] = { "copy-start", "copy-done" };

	if (starts_with_one(hlo, collectives, sizeof collectives / sizeof *collectives))
		return CATEGORY_COMMUNICATION;
	if (starts_with_one(hlo, copies, sizeof copies / sizeof *copies))
		return CATEGORY_COPY;
	return CATEGORY_OP;
}

/* ---- ops ---- */

/* True for texts of the form [A-Za-z0-9.][A-Za-z0-9_.\/>-]*. */
static bool is_tf_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool inside = c == '_' || c == '/' || c == '-' || c == '>' || c == '\\';
		if (!char_is_letter(c) && !char_is_digit(c) && c != '.' && !(inside && i))
			return false;
	}
	return s.n > 0;
}

/* True for texts of the form [A-Z_][A-Za-z0-9_]*. */
static bool is_tf_type(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '_' && !char_is_letter(s.p[i]) && (!i || !char_is_digit(s.p[i])))
			return false;
	return s.n > 0 && !(s.p[0] >= 'a' && s.p[0] <= 'z');
}

/* Returns the type of a JAX op: [a-z_][a-z0-9_]*, without a following [...]. */
static struct str jax_type(struct str s)
{
	struct str type = str_sub(s, 0, str_find_char(s, '['));

	for (size_t i = 0; i < type.n; i++)
		if (type.p[i] != '_' && !(type.p[i] >= 'a' && type.p[i] <= 'z') &&
		        (!i || !char_is_digit(type.p[i])))
			return STR_NONE;
	if (type.n < s.n && !str_ends(s, S("]")))
		return STR_NONE;
	return type;
}

/* Returns the last level of a path, without a trailing "_<number>". */
static struct str last_level(struct str path)
{
	struct str s = str_base(path);
	size_t at = str_rfind_char(s, '_');
	int64_t number;

	if (at != SIZE_MAX && at + 1 < s.n && char_is_digit(s.p[at + 1]) &&
	        num_parse_i64(str_sub(s, at + 1, SIZE_MAX), &number))
		s = str_sub(s, 0, at);
	return s;
}

static bool is_copy(struct str name)
{
	static const char *const names[] = { "MEMCPYHTOD", "MEMCPYDTOH", "MEMCPYDTOD",
		"MEMCPYHTOH" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t n = 0;
		while (n < name.n && names[i][n] && (name.p[n] & ~0x20) == names[i][n])
			n++;
		if (!names[i][n])
			return true;
	}
	return false;
}

struct xop xspace_op(struct str name)
{
	size_t colon = str_find_char(name, ':');
	struct str left = str_sub(name, 0, colon), right;
	struct xop op = { .kind = XOP_NONE, .name = name, .type = S("") };

	if (colon == SIZE_MAX) {
		op.kind = is_copy(name) ? XOP_COPY : XOP_NONE;
		return op;
	}
	right = str_sub(name, colon + 1, SIZE_MAX);
	if (str_eq(left, S("Iterator")))
		return (struct xop){ XOP_DATASET, name, S("Dataset") };
	op.name = left;
	op.type = right;
	if (is_tf_name(left) && is_tf_type(right)) {
		op.kind = XOP_TF;
		return op;
	}
	op.type = jax_type(right.n ? right : last_level(left));
	if (op.type.n && left.n)
		return (struct xop){ XOP_JAX, left, op.type };
	return (struct xop){ XOP_NONE, name, S("") };
}

/* ---- planes and lines ---- */

enum xplane_kind xspace_plane_kind(struct str name)
{
	if (str_starts(name, S("/device:TPU:")))
		return XPLANE_TPU;
	if (str_starts(name, S("/device:GPU:")))
		return XPLANE_GPU;
	if (str_eq(name, S("/host:CPU")))
		return XPLANE_HOST;
	return str_eq(name, S("/host:metadata")) ? XPLANE_METADATA : XPLANE_OTHER;
}

static bool is_derived(struct str name, int64_t id)
{
	static const char *const names[] = { "Framework Ops", "TensorFlow Ops",
		"Framework Name Scope", "TensorFlow Name Scope", "Source code", "Source Code" };

	if ((uint32_t)id - DERIVED_FIRST < DERIVED_IDS && (id > INT32_MAX || id < 0))
		return true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_eq(name, str_of(names[i])))
			return true;
	return false;
}

enum xline_role xspace_line_role(enum xplane_kind plane, struct str name, int64_t id)
{
	if (plane != XPLANE_TPU && plane != XPLANE_GPU)
		return plane == XPLANE_HOST && !is_derived(name, id) ? XLINE_THREAD : XLINE_DERIVED;
	if (str_eq(name, S("Steps")))
		return XLINE_STEPS;
	if (plane == XPLANE_TPU) {
		if (str_eq(name, S("XLA Modules")))
			return XLINE_MODULES;
		return str_eq(name, S("XLA Ops")) ? XLINE_WORK : XLINE_DERIVED;
	}
	return is_derived(name, id) || str_eq(name, S("XLA Modules")) || str_eq(name, S("XLA Ops"))
	               ? XLINE_DERIVED
	               : XLINE_WORK;
}
