/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of ops in XSpaces, and names of stats.
 */
#include "trace/xspace_internal.h"

/* ---- stats ---- */

void xspace_stat_use(struct xstat_name *n)
{
	static const struct {
		const char *name;
		enum xstat_use use;
		uint32_t key;
	} rows[] = {
		{ "tf_op", XSTAT_TF_OP, 0 },
		{ "level 0", XSTAT_LEVEL0, 0 },
		{ "annotation", XSTAT_ANNOTATION, 0 },
		{ "correlation_id", XSTAT_CORRELATION, 0 },
		{ "device_offset_ps", XSTAT_DEVICE_OFFSET, 0 },
		{ "device_duration_ps", XSTAT_DEVICE_DURATION, 0 },
		{ "kernel_details", XSTAT_KERNEL_DETAILS, 0 },
		{ "memcpy_details", XSTAT_COPY_DETAILS, 0 },
		{ "memset_details", XSTAT_SET_DETAILS, 0 },
		{ "_r", XSTAT_ROOT, 0 },
		{ "step_num", XSTAT_ARG, ARG_STEP },
		{ "hlo_op", XSTAT_ARG, ARG_OP },
		{ "hlo_module", XSTAT_ARG, ARG_MODULE_NAME },
		{ "hlo_category", XSTAT_ARG, ARG_OP_CATEGORY },
		{ "program_id", XSTAT_ARG, ARG_PROGRAM },
		{ "symbol_id", XSTAT_ARG, ARG_OP_ID },
		{ "flops", XSTAT_ARG, ARG_FLOPS },
		{ "bytes_accessed", XSTAT_ARG, ARG_BYTES_ACCESSED },
		{ "source", XSTAT_ARG, ARG_SOURCE },
		{ "source_stack", XSTAT_ARG, ARG_STACK },
		{ "shape_with_layout", XSTAT_ARG, ARG_SHAPES },
		{ "group_id", XSTAT_ARG, ARG_GROUP },
		{ "run_id", XSTAT_ARG, ARG_RUN },
		{ "allocator_name", XSTAT_ARG, ARG_ALLOCATOR },
		{ "requested_bytes", XSTAT_ARG, ARG_REQUESTED },
		{ "allocation_bytes", XSTAT_ARG, ARG_BYTES },
		{ "addr", XSTAT_ARG, ARG_ADDRESS },
		{ "bytes_allocated", XSTAT_ARG, ARG_ALLOCATED_TOTAL },
		{ "bytes_reserved", XSTAT_ARG, ARG_RESERVED_TOTAL },
		{ "bytes_available", XSTAT_ARG, ARG_AVAILABLE_TOTAL },
		{ "peak_bytes_in_use", XSTAT_ARG, ARG_PEAK_TOTAL },
		{ "index_on_host", XSTAT_ARG, ARG_DEVICE },
		{ "device_ordinal", XSTAT_ARG, ARG_DEVICE },
	};

	n->use = XSTAT_NONE;
	n->key = ID_NONE;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (str_eq(n->name, str_of(rows[i].name))) {
			n->use = rows[i].use;
			n->key = rows[i].key;
			return;
		}
}

bool xspace_detail(struct str details, struct str key, struct str *value)
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

/* "grid:2,1,1 block:128,1,1 regs:38 static_shared:64 dynamic_shared:0"; "shm:" is the old name. */
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
		if (!xspace_detail(details, str_of(rows[i].name), &value))
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

	if ((xspace_detail(details, S("size"), &value) ||
	            xspace_detail(details, S("num_bytes"), &value)) &&
	        num_parse_i64(value, &bytes))
		build_arg_int(x->b, ARG_BYTES, bytes);
}

/* ---- ops ---- */

/* [A-Za-z0-9.][A-Za-z0-9_.\/>-]* */
static bool is_tf_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!char_is_letter(s.p[i]) && !char_is_digit(s.p[i]) && s.p[i] != '.' &&
		        (!i || !strchr("_\\/>-", s.p[i])))
			return false;
	return s.n > 0;
}

/* [A-Z_][A-Za-z0-9_]* */
static bool is_tf_type(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '_' && !char_is_letter(s.p[i]) && (!i || !char_is_digit(s.p[i])))
			return false;
	return s.n > 0 && !(s.p[0] >= 'a' && s.p[0] <= 'z');
}

/* Reads the type of a JAX op: [a-z_][a-z0-9_]*, possibly followed by [...], which is dropped. */
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
