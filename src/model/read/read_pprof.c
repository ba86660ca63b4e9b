/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof profiles: samples, each a call stack with a value for every sample type. Texts,
 * functions and locations follow the samples, so the file is read twice. Each distinct stack
 * becomes a node, named by the path of its functions; the sample type determines the metric of its
 * values.
 */
#include "model/read/pprof_internal.h"
#include "model/sniff.h"

#define PATH_LEVELS 256 /* functions of a path; further ones are only in the call stack */
#define PATH_NAME   256 /* maximum number of bytes of a function's name in a path */
#define PATH_FEW    8   /* functions of a path after all paths have taken PATHS_FREE bytes */
#define PATHS_FREE  ((size_t)4 << 20) /* bytes of paths with up to PATH_LEVELS functions */
#define STACK_MAX   4096              /* maximum number of lines in a call stack */
static bool bad_record(struct pprof_in *p)
{
	return wire_fail(&p->w, p->w.record_at, "bad sample, location or function");
}

/* ---- first pass: the tables that samples refer to ---- */

static struct sample_type read_type(struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	struct sample_type t = { 0, 0 };

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_VARINT))
			t.name = leaf_varint(&l);
		else if (l.tag == LEAF_TAG(2, WIRE_VARINT))
			t.unit = leaf_varint(&l);
		else
			leaf_skip(&l);
	}
	return t;
}

static void read_line(struct pprof_in *p, struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	struct pprof_line line = { 0, 0 };

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_VARINT))
			line.function = leaf_varint(&l);
		else if (l.tag == LEAF_TAG(2, WIRE_VARINT))
			line.line = (int64_t)leaf_varint(&l);
		else
			leaf_skip(&l);
	}
	VEC_PUSH(p->a, &p->lines, line);
}

static bool read_location(struct pprof_in *p, struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	struct pprof_location made = { .line0 = (uint32_t)p->lines.n };
	uint64_t id = 0;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): id = leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_VARINT): made.address = leaf_varint(&l); break;
		case LEAF_TAG(4, WIRE_BYTES): read_line(p, leaf_bytes(&l)); break;
		default: leaf_skip(&l);
		}
	}
	made.n_lines = (uint32_t)p->lines.n - made.line0;
	imap_put(&p->location_of, id, (uint32_t)p->locations.n, false);
	VEC_PUSH(p->a, &p->locations, made);
	return !l.bad;
}

static bool read_function(struct pprof_in *p, struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	struct pprof_function made = { 0, 0 };
	uint64_t id = 0, system = 0;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): id = leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_VARINT): made.name = leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_VARINT): system = leaf_varint(&l); break;
		case LEAF_TAG(4, WIRE_VARINT): made.file = leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
	made.name = made.name ? made.name : system;
	imap_put(&p->function_of, id, (uint32_t)p->functions.n, false);
	VEC_PUSH(p->a, &p->functions, made);
	return !l.bad;
}

static bool take_field(struct pprof_in *p)
{
	struct str bytes;
	uint64_t v;

	switch (LEAF_TAG(p->w.field, p->w.type)) {
	case LEAF_TAG(1, WIRE_BYTES):
		if (!wire_leaf(&p->w, &bytes))
			return false;
		if (p->types.n < TYPES_MAX)
			VEC_PUSH(p->a, &p->types, read_type(bytes));
		return true;
	case LEAF_TAG(4, WIRE_BYTES):
		return wire_leaf(&p->w, &bytes) && (read_location(p, bytes) || bad_record(p));
	case LEAF_TAG(5, WIRE_BYTES):
		return wire_leaf(&p->w, &bytes) && (read_function(p, bytes) || bad_record(p));
	case LEAF_TAG(6, WIRE_BYTES):
		if (!wire_leaf(&p->w, &bytes))
			return false;
		VEC_PUSH(p->a, &p->texts, str_copy(p->a, bytes));
		return true;
	case LEAF_TAG(14, WIRE_VARINT):
		if (!wire_u64(&p->w, &v))
			return false;
		p->preferred = v;
		return true;
	default: return wire_skip(&p->w);
	}
}

/* Counts a reference to a text. A file that was cut off between two records has fewer texts. */
static void check_text(struct pprof_in *p, uint64_t index)
{
	p->missing_texts += index && index >= p->texts.n;
}

static void check_texts(struct pprof_in *p)
{
	for (size_t i = 0; i < p->types.n; i++) {
		check_text(p, p->types.v[i].name);
		check_text(p, p->types.v[i].unit);
	}
	for (size_t i = 0; i < p->functions.n; i++) {
		check_text(p, p->functions.v[i].name);
		check_text(p, p->functions.v[i].file);
	}
}

/* ---- the second reading: samples ---- */

/* Adds a label to the labels of the sample. Returns false if the label is malformed. */
static bool read_label(struct pprof_in *p, struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	uint64_t key = 0, text = 0;
	int64_t number = 0;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): key = leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_VARINT): text = leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_VARINT): number = (int64_t)leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
	check_text(p, key);
	check_text(p, text);
	if (!text && str_eq(pprof_text(p, key), S("bytes")))
		return !l.bad; /* the label is the size of an object, derived from its values */
	sb_put(&p->labels, p->labels.n ? S(",") : S(""));
	sb_put(&p->labels, pprof_text(p, key));
	sb_char(&p->labels, '=');
	if (text)
		sb_put(&p->labels, pprof_text(p, text));
	else
		sb_fmt(&p->labels, "%lld", (long long)number);
	return !l.bad;
}

/* Reads a repeated number, packed or not. */
static void read_numbers(struct pprof_in *p, struct leaf *l, bool values)
{
	struct leaf one = { 0 };
	bool packed = (l->tag & 7) == WIRE_BYTES;

	if (packed)
		one = leaf_of(leaf_bytes(l));
	do {
		if (packed && one.p == one.end)
			return;
		uint64_t v = leaf_varint(packed ? &one : l);
		if (values)
			VEC_PUSH(p->a, &p->amounts, (int64_t)v);
		else
			VEC_PUSH(p->a, &p->ids, v);
		l->bad |= one.bad;
	} while (packed && !l->bad);
}

/* Adds the values of a sample to the values of its stack. */
static void add_sample(struct pprof_in *p)
{
	size_t before = p->stacks.n, n = p->types.n;
	uint32_t count = (uint32_t)p->ids.n, i;

	p->key.n = 0;
	sb_put(&p->key, str_make(&count, sizeof count));
	sb_put(&p->key, str_make(p->ids.v, count * sizeof *p->ids.v));
	sb_put(&p->key, sb_str(&p->labels));
	i = intern_add(&p->stacks, sb_str(&p->key));
	if (p->stacks.n != before)
		for (size_t k = 0; k < n; k++)
			VEC_PUSH(p->a, &p->values, 0);
	p->short_samples += p->amounts.n != n && n < TYPES_MAX;
	for (size_t k = 0; k < n && k < p->amounts.n; k++) {
		int64_t v = p->amounts.v[k];
		p->negative += v < 0;
		p->values.v[i * n + k] = num_add(p->values.v[i * n + k], v < 0 ? 0 : v);
	}
	p->samples++;
}

static bool read_sample(struct pprof_in *p, struct str bytes)
{
	struct leaf l = leaf_of(bytes);

	p->ids.n = p->amounts.n = p->labels.n = 0;
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT):
		case LEAF_TAG(1, WIRE_BYTES): read_numbers(p, &l, false); break;
		case LEAF_TAG(2, WIRE_VARINT):
		case LEAF_TAG(2, WIRE_BYTES): read_numbers(p, &l, true); break;
		case LEAF_TAG(3, WIRE_BYTES): l.bad |= !read_label(p, leaf_bytes(&l)); break;
		default: leaf_skip(&l);
		}
	}
	if (l.bad)
		return false;
	add_sample(p);
	return true;
}

static bool read_samples(struct pprof_in *p)
{
	struct str bytes;

	while (wire_next(&p->w)) {
		if (p->w.field != 2 || p->w.type != WIRE_BYTES) {
			wire_skip(&p->w);
			continue;
		}
		if (wire_leaf(&p->w, &bytes) && !read_sample(p, bytes))
			bad_record(p);
	}
	return wire_done(&p->w, p->samples);
}

/* ---- nodes ---- */

/* Appends a function as a level of a path. */
static void put_level(struct sb *path, struct str name)
{
	if (path->n)
		sb_char(path, '/');
	if (!name.n)
		name = S("(unknown)");
	name = str_sub(name, 0, PATH_NAME);
	for (size_t i = 0; i < name.n; i++)
		sb_char(path, name.p[i] == '/' ? '.' : name.p[i]);
}

/* Adds a frame below its caller, and the level of the path. */
static uint32_t put_frame(struct pprof_in *p, uint32_t parent, struct str name, struct str file,
        int64_t line, struct sb *path, unsigned level)
{
	struct frame f = { .parent = parent, .source = ID_NONE };

	if (level >= STACK_MAX) {
		p->deeper++;
		return parent;
	}
	f.file = ingest_string(p->to, file);
	f.function = ingest_string(p->to, name);
	f.line = line > 0 && line <= INT32_MAX ? (int32_t)line : 0;
	if (!file.n && !f.line)
		f.line = LINE_NONE;
	if (level < (p->path_bytes < PATHS_FREE ? PATH_LEVELS : PATH_FEW))
		put_level(path, name);
	return ingest_frame(p->to, &f);
}

static struct str function_name(const struct pprof_in *p, uint32_t function)
{
	struct str name = pprof_text(p, p->functions.v[function].name);

	return name.n ? name : S("(unknown)");
}

/* Adds the frames of a stack, outermost first. Returns the innermost frame. Sets *leaf to its
 * function. */
static uint32_t put_stack(
        struct pprof_in *p, const char *ids, uint32_t n, struct sb *path, struct str *leaf)
{
	uint32_t frame = ID_NONE, at;
	unsigned level = 0;

	*leaf = S("(unknown)");
	for (uint32_t i = n; i-- > 0;) {
		uint64_t id;
		memcpy(&id, ids + i * sizeof id, sizeof id);
		if (!imap_get(&p->location_of, id, &at)) {
			p->missing_places++;
			frame = put_frame(
			        p, frame, *leaf = S("(unknown)"), S(""), 0, path, level++);
			continue;
		}
		const struct pprof_location *l = &p->locations.v[at];
		if (!l->n_lines) {
			*leaf = str_fmt(p->a, "0x%llx", (unsigned long long)l->address);
			frame = put_frame(p, frame, *leaf, S(""), 0, path, level++);
		}
		for (uint32_t k = l->n_lines; k-- > 0;) {
			const struct pprof_line *line = &p->lines.v[l->line0 + k];
			struct str file = S("");
			*leaf = S("(unknown)");
			if (imap_get(&p->function_of, line->function, &at)) {
				*leaf = function_name(p, at);
				file = pprof_text(p, p->functions.v[at].file);
			} else {
				p->missing_places++;
			}
			frame = put_frame(p, frame, *leaf, file, line->line, path, level++);
		}
	}
	return frame;
}

/* Adds a node for a path. Appends a number if the name exists. */
static uint32_t put_node(struct pprof_in *p, struct sb *path, struct str type)
{
	uint32_t name = ingest_string(p->to, sb_str(path)), op = ingest_string(p->to, type);
	uint32_t count = 0, base = name;

	p->path_bytes += path->n;
	imap_get(&p->names, base, &count);
	imap_put(&p->names, base, count + 1, true);
	if (count) {
		sb_fmt(path, "#%u", count + 1);
		name = ingest_string(p->to, sb_str(path));
	}
	if (!ingest_node(p->to, name, op))
		return ingest_model(p->to)->node_of[name] - 1;
	return ingest_end_node(p->to);
}

static int64_t value_of(const struct pprof_in *p, uint32_t stack, enum meaning m)
{
	int type = p->type_of[m];

	return type < 0 ? 0 : num_mul(p->values.v[stack * p->types.n + (size_t)type], p->scale[m]);
}

static void put_cell(struct pprof_in *p, uint32_t node, uint32_t stack)
{
	int64_t cpu = value_of(p, stack, MEANS_CPU), gpu = value_of(p, stack, MEANS_ACCELERATOR);
	struct mem_item m = { .bytes = value_of(p, stack, MEANS_BYTES),
		.peak = value_of(p, stack, MEANS_PEAK),
		.residual = value_of(p, stack, MEANS_RESIDUAL),
		.output = value_of(p, stack, MEANS_OUTPUT) };
	struct cell_in cell = {
		.runs = p->type_of[MEANS_COUNT] < 0 ? 1 : value_of(p, stack, MEANS_COUNT),
		.start = 1,
		.end = num_add(1, cpu > gpu ? cpu : gpu)
	};
	uint8_t item[MEM_ITEM_MAX];

	ingest_cell(p->to, 0, node, &cell);
	if (m.bytes || m.peak || m.residual || m.output) {
		uint8_t *end = mem_put(item, &m);
		mem_close(item, end);
		ingest_mem(p->to, item, (size_t)(end - item));
	}
	if (cpu)
		ingest_span(p->to, SPAN_CPU, p->cpu, 1, cpu);
	if (gpu)
		ingest_span(p->to, SPAN_ACCELERATOR, p->streams, 1, gpu);
}

static void put_nodes(struct pprof_in *p)
{
	const struct model *m = ingest_model(p->to);

	for (uint32_t i = 0; i < p->stacks.n; i++) {
		struct str key = intern_str(&p->stacks, i), leaf;
		struct sb path = sb_in(p->a);
		uint32_t n, frame, node, device;

		memcpy(&n, key.p, sizeof n);
		frame = put_stack(p, key.p + sizeof n, n, &path, &leaf);
		struct str labels = str_sub(key, sizeof n + n * sizeof(uint64_t), SIZE_MAX);
		if (labels.n)
			put_level(&path, labels);
		if (!path.n)
			put_level(&path, leaf);
		node = put_node(p, &path, leaf);
		device = value_of(p, i, MEANS_ACCELERATOR) ? p->gpu : p->cpu;
		ingest_set_device(p->to, node, device, m->devices.v[device].host);
		if (labels.n)
			ingest_add_type(p->to, node, ingest_string(p->to, labels));
		ingest_set_stack(p->to, node, frame);
		put_cell(p, node, i);
	}
	if (p->stacks.n)
		ingest_has_traces(p->to);
}

static void note_flaws(struct pprof_in *p)
{
	struct notes *notes = ingest_notes(p->to);

	note_count(notes, p->negative,
	        "note: %llu negative {value of a sample counts|values of samples count} as 0\n",
	        (unsigned long long)p->negative);
	note_count(notes, p->deeper,
	        "note: %llu {line of a call stack is|lines of call stacks are} left out: only the "
	        "outermost 4096 of a stack are used\n",
	        (unsigned long long)p->deeper);
	note_count(notes, p->short_samples,
	        "note: '%.*s' is damaged: %llu {sample does|samples do} not have one value for "
	        "each of "
	        "the %zu sample types\n",
	        STR(p->w.s->name), (unsigned long long)p->short_samples, p->types.n);
	note_count(notes, p->missing_texts,
	        "note: '%.*s' is incomplete: %llu {reference|references} to a text beyond its "
	        "string table of %zu texts\n",
	        STR(p->w.s->name), (unsigned long long)p->missing_texts, p->texts.n);
	note_count(notes, p->missing_places,
	        "note: '%.*s' is incomplete: %llu {reference|references} to a location or function "
	        "that the file does not have, shown as (unknown)\n",
	        STR(p->w.s->name), (unsigned long long)p->missing_places);
}

/* Fails for a profile that lacks a part which the nodes require. */
static bool nothing_in(struct src *s, const char *what, struct err *e)
{
	s->damage->kept = 0;
	return err_set(e, ERR_DATA_LOSS, "%.*s: %s", STR(s->name), what);
}

bool read_pprof(struct src *s, struct ingest *to, struct arena *a, struct err *e)
{
	struct pprof_in *p = ARENA_NEW(a, struct pprof_in);

	*p = (struct pprof_in){ .to = to, .a = a, .labels = sb_in(a), .key = sb_in(a) };
	imap_init(&p->function_of, a);
	imap_init(&p->location_of, a);
	imap_init(&p->names, a);
	intern_init(&p->stacks, a);
	wire_init(&p->w, s, "pprof profile", e);
	while (wire_next(&p->w))
		take_field(p);
	check_texts(p);
	if (!wire_done(&p->w, p->locations.n))
		return false;
	if (!p->texts.n)
		return nothing_in(s, "no string table: a complete pprof profile was expected", e);
	if (!src_rewind(s) || !pprof_choose_types(p, s->options->sample, e))
		return false;
	*e = (struct err){
		.a = e->a
	}; /* the second reading reports the damage with its position */
	wire_init(&p->w, s, "pprof profile", e);
	if (!read_samples(p))
		return false;
	if (!p->samples)
		return nothing_in(
		        s, "no samples: a pprof profile with at least one was expected", e);
	p->cpu = ingest_device(to, S("/job:localhost/replica:0/task:0/device:cpu:0"));
	p->gpu = ingest_device(to, S("/job:localhost/replica:0/task:0/device:gpu:0"));
	p->streams =
	        ingest_device(to, S("/job:localhost/replica:0/task:0/device:gpu:0/stream:all"));
	ingest_ticks(to, 1000);
	put_nodes(p);
	note_flaws(p);
	pprof_count_unused(p);
	return true;
}
