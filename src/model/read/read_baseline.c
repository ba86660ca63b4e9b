/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads baselines, tfprof's own text format: a line for each node and one for each step in which it
 * ran, with fields separated by tabs. Names use \xNN for characters that would end a field. No
 * edges, no call stacks.
 *
 *   tfprof baseline 1
 *   ticks PER_MICROSECOND
 *   step  ID
 *   node  NAME  TYPE  SHAPE  FLOAT_OPS  DEVICE  TYPES
 *   run   STEP  RUNS  ACCELERATOR_TIME  CPU_TIME  BYTES  PEAK  RESIDUAL  OUTPUT
 *         KERNELS  BYTES_ACCESSED  FLOAT_OPS  UNCOUNTED
 *   end   CHECKSUM
 *
 * CHECKSUM is the CRC-32C of all lines before, in eight hexadecimal digits; each line counts with a
 * newline, whatever ends it. Baselines of older versions have none.
 *
 * This is the form for traces and recordings. Other baselines have no line "ticks", times in
 * whole microseconds, and runs without the last four numbers. Runs of older versions have no
 * UNCOUNTED.
 */
#include "base/crc32c.h"
#include "model/read/read.h"

#define FIELDS_MAX 13
#define FIELDS_OLD 12 /* number of fields for traces in older versions, without the last one */
#define FIELDS_RUN 9  /* number of fields without those of traces */

struct baseline_reading {
	struct ingest *to;
	struct arena *a;
	struct src *s;
	struct err *e;
	size_t line;
	uint32_t node, device; /* node and device of the last node line; ID_NONE before the first */
	struct str field[FIELDS_MAX];
	size_t n;
	bool ticks;        /* true: the line "ticks" was read */
	bool ended;        /* true: the end line was read, so the file is complete */
	uint32_t checksum; /* checksum of the lines before the current one */
};

static bool fault(struct baseline_reading *r, const char *what)
{
	return err_set(r->e, ERR_DATA_LOSS, "'%.*s': line %zu: %s", STR(r->s->name), r->line, what);
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns a field without its escapes. */
static struct str plain(struct baseline_reading *r, struct str s)
{
	struct sb b = sb_in(r->a);

	if (str_find_char(s, '\\') == SIZE_MAX)
		return s;
	for (size_t i = 0; i < s.n; i++) {
		bool code = i + 3 < s.n && s.p[i] == '\\' && s.p[i + 1] == 'x' &&
		            hex(s.p[i + 2]) >= 0 && hex(s.p[i + 3]) >= 0;
		sb_char(&b,
		        code ? (char)(uint8_t)(hex(s.p[i + 2]) * 16 + hex(s.p[i + 3])) : s.p[i]);
		i += code ? 3 : 0;
	}
	return sb_str(&b);
}

static bool split(struct baseline_reading *r, struct str line)
{
	for (r->n = 0;;) {
		size_t tab = str_find_char(line, '\t');
		if (r->n == FIELDS_MAX)
			return fault(r, "there are too many fields");
		r->field[r->n++] = str_sub(line, 0, tab);
		if (tab == SIZE_MAX)
			return true;
		line = str_sub(line, tab + 1, SIZE_MAX);
	}
}

/* Reads a shape such as 3x3x64, or - for none. */
static bool read_shape(struct baseline_reading *r, struct str s, uint32_t *shape)
{
	VEC(int64_t) dims = { 0 };

	*shape = ID_NONE;
	if (str_eq(s, S("-")))
		return true;
	struct strs parts = str_split(r->a, s, 'x');
	for (size_t i = 0; i < parts.n; i++) {
		int64_t d;
		if (!num_parse_i64(parts.v[i], &d))
			return fault(r, "not a shape, such as 3x3x64");
		VEC_PUSH(r->a, &dims, d);
	}
	int64_t none = 0;
	*shape = ingest_shape(r->to, dims.n ? dims.v : &none, dims.n);
	return true;
}

static void set_device(struct baseline_reading *r, struct str name)
{
	r->device = ID_NONE;
	if (!name.n)
		return;
	name = str_lower(r->a, name);
	r->device = ingest_device(r->to, name);
	ingest_set_device(r->to, r->node, r->device, ingest_string(r->to, device_host(r->a, name)));
}

static bool read_node(struct baseline_reading *r)
{
	uint32_t shape;
	int64_t float_ops;

	if (r->n != 7 || !num_parse_i64(r->field[4], &float_ops))
		return fault(
		        r, "a node has six fields: name, type, shape, float_ops, device, types");
	if (!read_shape(r, r->field[3], &shape))
		return false;
	if (!ingest_node(r->to, ingest_string(r->to, plain(r, r->field[1])),
	            ingest_string(r->to, plain(r, r->field[2]))))
		return fault(r, "there is a node of this name already");
	if (shape != ID_NONE)
		ingest_node_shape(r->to, shape);
	r->node = ingest_end_node(r->to);
	ingest_set_float_ops(r->to, r->node, float_ops);
	set_device(r, plain(r, r->field[5]));
	ingest_given_types(r->to, r->node);
	struct strs types = str_split(r->a, r->field[6], '|');
	for (size_t i = 0; i < types.n; i++)
		ingest_add_type(r->to, r->node, ingest_string(r->to, plain(r, types.v[i])));
	return true;
}

static bool read_run_line(struct baseline_reading *r)
{
	int64_t v[FIELDS_MAX] = { 0 };
	uint8_t packed[MEM_ITEM_MAX];

	if (r->ticks ? r->n != FIELDS_MAX && r->n != FIELDS_OLD : r->n != FIELDS_RUN)
		return fault(r, r->ticks ? "a run has twelve numbers: step, runs, times, bytes, "
		                           "kernels, float operations and uncounted calls"
		                         : "a run has eight numbers: step, runs, times and bytes");
	if (r->node == ID_NONE)
		return fault(r, "a run without a node before it");
	for (size_t i = 1; i < r->n; i++)
		if (!num_parse_i64(r->field[i], &v[i]))
			return fault(r, "not an integer");
	struct cell_in cell = { .runs = v[2] };
	struct mem_item m = { .bytes = v[5],
		.peak = v[6],
		.residual = v[7],
		.output = v[8],
		.kernels = v[9],
		.bytes_accessed = v[10],
		.flops = v[11],
		.uncounted = v[12] };
	uint32_t device = r->device;
	if (device == ID_NONE)
		device = ingest_device(r->to, S("unknown"));
	ingest_cell(r->to, v[1], r->node, &cell);
	if (v[3])
		ingest_span(r->to, SPAN_ACCELERATOR, device, 0, v[3]);
	if (v[4])
		ingest_span(r->to, SPAN_CPU, device, 0, v[4]);
	if (v[5] || v[6] || v[7] || v[8] || v[9] || v[10] || v[11] || v[12])
		ingest_mem(r->to, packed, (size_t)(mem_put(packed, &m) - packed));
	return true;
}

static bool read_ticks(struct baseline_reading *r)
{
	int64_t ticks;

	if (r->line != 2 || r->n != 2 || !num_parse_i64(r->field[1], &ticks) ||
	        (ticks != 1000 && ticks != 1000000))
		return fault(r, "the second line may only state the ticks per microsecond: 1000 or "
		                "1000000");
	ingest_ticks(r->to, (uint32_t)ticks);
	r->ticks = true;
	return true;
}

/* Reads the fields of the end line. */
static bool read_end(struct baseline_reading *r)
{
	r->ended = true;
	if (r->n == 1) {
		note_line(ingest_notes(r->to),
		        "note: '%.*s' has no checksum, because an older version saved it: damage "
		        "to its numbers cannot be detected\n",
		        STR(r->s->name));
		return true;
	}
	struct str expected = str_fmt(r->a, "%08x", (unsigned)r->checksum);
	return (r->n == 2 && str_eq(r->field[1], expected)) ||
	       fault(r, "checksum mismatch: the file was damaged or "
	                "edited");
}

static bool read_line(struct baseline_reading *r, struct str line)
{
	int64_t id;

	if (!line.n || line.p[0] == '#')
		return true;
	if (r->ended)
		return fault(r, "text after the end line");
	if (!split(r, line))
		return false;
	if (str_eq(r->field[0], S("end")))
		return read_end(r);
	if (str_eq(r->field[0], S("ticks")))
		return read_ticks(r);
	if (str_eq(r->field[0], S("node")))
		return read_node(r);
	if (str_eq(r->field[0], S("run")))
		return read_run_line(r);
	if (!str_eq(r->field[0], S("step")) || r->n != 2 || !num_parse_i64(r->field[1], &id))
		return fault(r, "a line begins with step, node, run or end");
	ingest_step(r->to, id);
	return true;
}

bool read_baseline(struct src *s, struct ingest *to, struct arena *a, struct err *e)
{
	struct baseline_reading r = { to, a, s, e, .node = ID_NONE };
	struct str text;

	if (!src_all(s, &text))
		return false;
	while (text.n) {
		size_t end = str_find_char(text, '\n');
		struct str line = str_sub(text, 0, end);
		text = end == SIZE_MAX ? STR_NONE : str_sub(text, end + 1, SIZE_MAX);
		if (line.n && line.p[line.n - 1] == '\r')
			line.n--;
		if (++r.line == 1 && !str_eq(line, S(BASELINE_HEAD)))
			return fault(&r, "a baseline begins with '" BASELINE_HEAD "'");
		if (r.line > 1 && !read_line(&r, line))
			return false;
		r.checksum = crc32c_more(crc32c_more(r.checksum, line.p, line.n), "\n", 1);
	}
	if (!r.line)
		return fault(&r, "it is empty");
	return r.ended || fault(&r, "the line 'end' is missing: the file is truncated");
}
