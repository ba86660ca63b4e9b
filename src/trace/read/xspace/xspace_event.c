/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts events of an XSpace to slices: category, time, and stats as arguments. A stat of an
 * event overrides the same stat of its metadata.
 *
 * Events with the same metadata and equal bytes of their shared stats are of the same kind: they
 * have the same category and are slices of the same trace event. A kind is interpreted once; all
 * later events of the kind are found in a table.
 */
#include "base/sort.h"
#include "trace/read/xspace/xspace_internal.h"

#define SHIFT_MAX     64 /* maximum difference between the numbers of one run on two devices */
#define UNKNOWN_EVENT "(unknown)" /* name of events without metadata */

/* State of the conversion of one event. */
struct xevent {
	struct xline_walk *l;
	const struct xmeta *meta; /* NULL if the file lacks it */
	uint64_t id;              /* id of the metadata */
	int64_t offset, duration, count;
	bool has_count;
	size_t own;    /* number of the event's own stats; shared stats follow them */
	uint32_t uses; /* uses of these stats, as bits */
};

/* ---- stats ---- */

static inline const struct xstat *find_in(
        const struct xstat *v, size_t n, enum xstat_use use, uint32_t key)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].name->use == use && (use != XSTAT_ARG || v[i].name->key == key))
			return &v[i];
	return NULL;
}

static const struct xstat *find_stat(const struct xevent *e, enum xstat_use use, uint32_t key)
{
	struct xspace *x = e->l->x;
	const struct xstat *s = find_in(x->stats.v, x->stats.n, use, key);

	return s || !e->meta ? s : find_in(e->meta->stats, e->meta->n, use, key);
}

static struct str text_of(const struct xevent *e, enum xstat_use use, uint32_t key)
{
	const struct xstat *s = find_stat(e, use, key);

	return s && s->type == ARG_TEXT ? s->text : STR_NONE;
}

/* Reads a stat as a number: a signed or unsigned 64-bit number, or a text of digits. */
static bool number_of(const struct xevent *e, enum xstat_use use, uint32_t key, int64_t *out)
{
	const struct xstat *s = find_stat(e, use, key);

	if (!s)
		return false;
	if (s->type == ARG_TEXT)
		return num_parse_i64(s->text, out);
	*out = s->type == ARG_REAL ? num_from_real(s->real) : s->i;
	return true;
}

static void put_stat(struct xspace *x, const struct xstat *s)
{
	struct xstat_name *n = s->name;

	if (n->use > XSTAT_STEP)
		return;
	if (n->key == ID_NONE) {
		if (!build_wants(x->b, ARG_N))
			return;
		n->key = build_key(x->b, n->name);
	}
	switch (s->type) {
	case ARG_INT: build_arg_int(x->b, n->key, s->i); break;
	case ARG_UINT: build_arg_uint(x->b, n->key, (uint64_t)s->i); break;
	case ARG_REAL: build_arg_real(x->b, n->key, s->real); break;
	case ARG_TEXT: build_arg_text(x->b, n->key, s->text); break;
	}
}

/* ---- arguments ---- */

/* Returns the framework op that device work names; empty if there is none. */
static struct str framework_op(const struct xevent *e)
{
	struct str op = text_of(e, XSTAT_TF_OP, 0);

	if (!op.p)
		op = text_of(e, XSTAT_LEVEL0, 0);
	if (!op.p) {
		op = text_of(e, XSTAT_ANNOTATION, 0);
		op = str_sub(op, 0, str_find_char(op, '#'));
	}
	if (text_of(e, XSTAT_ARG, ARG_OP).n && str_starts(op, S("XlaModule:")))
		return STR_NONE; /* the op is the whole program; the compiled op is more
		                    informative */
	return op;
}

static void put_framework_op(const struct xevent *e)
{
	struct str text = framework_op(e);
	struct xop op;

	if (!text.n)
		return;
	op = xspace_op(text);
	build_arg_text(e->l->x->b, ARG_SCOPE, op.name);
	if (op.type.n)
		build_arg_text(e->l->x->b, ARG_OP_TYPE, op.type);
}

static void put_all(struct xspace *x, const struct xstat *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_stat(x, &v[i]);
}

/* ---- categories ---- */

/* Returns the category of an event on a TPU. Events of the line "XLA Ops" without program or symbol
 * are not ops. */
static enum trace_category tpu_category(const struct xevent *e)
{
	int64_t program, symbol;

	if (!e->meta)
		return CATEGORY_OP;
	if (!number_of(e, XSTAT_ARG, ARG_PROGRAM, &program) ||
	        !number_of(e, XSTAT_ARG, ARG_OP_ID, &symbol) || !symbol)
		return CATEGORY_OTHER;
	return xspace_program_category(text_of(e, XSTAT_ARG, ARG_OP_CATEGORY));
}

static enum trace_category gpu_category(const struct xevent *e)
{
	struct str name = e->meta ? e->meta->name : STR_NONE;

	if (find_stat(e, XSTAT_KERNEL_DETAILS, 0))
		return CATEGORY_KERNEL;
	if (find_stat(e, XSTAT_SET_DETAILS, 0) || str_starts(name, S("Memset")))
		return CATEGORY_SET;
	if (find_stat(e, XSTAT_COPY_DETAILS, 0) || str_starts(name, S("Memcpy")))
		return CATEGORY_COPY;
	return CATEGORY_KERNEL;
}

/* True for annotations that TensorFlow and JAX mark as steps. */
static bool is_step(const struct xevent *e)
{
	int64_t root, step;

	return e->l->x->marks && number_of(e, XSTAT_ROOT, 0, &root) && root &&
	       number_of(e, XSTAT_STEP, ARG_STEP, &step);
}

/* True for the execution of a compiled op on a thread (CPU backend of XLA). */
static bool is_compiled(const struct xevent *e)
{
	return text_of(e, XSTAT_ARG, ARG_OP).n > 0;
}

static enum trace_category host_category(const struct xevent *e)
{
	struct str name = e->meta ? e->meta->name : STR_NONE;

	if (str_eq(name, S("MemoryAllocation")) || str_eq(name, S("MemoryDeallocation")))
		return CATEGORY_ALLOCATION;
	if (str_starts(name, S("$")))
		return CATEGORY_FRAME;
	if (find_stat(e, XSTAT_CORRELATION, 0))
		return CATEGORY_CALL;
	if (is_step(e))
		return CATEGORY_STEP;
	return is_compiled(e) || xspace_op(name).kind != XOP_NONE ? CATEGORY_OP
	                                                          : CATEGORY_ANNOTATION;
}

static enum trace_category category_of(const struct xevent *e)
{
	switch (e->l->role) {
	case XLINE_WORK: return e->l->plane->kind == XPLANE_TPU ? tpu_category(e) : gpu_category(e);
	case XLINE_THREAD: return host_category(e);
	case XLINE_MODULES: return CATEGORY_MODULE;
	case XLINE_STEPS: return CATEGORY_STEP;
	case XLINE_DERIVED: break;
	}
	return CATEGORY_OTHER;
}

/* ---- events of the trace ---- */

static uint32_t module_name(const struct xevent *e)
{
	uint32_t name = ID_NONE;
	int64_t program;

	if (number_of(e, XSTAT_ARG, ARG_PROGRAM, &program))
		imap_get(&e->l->x->module_of, (uint64_t)program, &name);
	return name;
}

/* Returns the instruction that device work executes, or NULL. Sets *in to the program of the
 * instruction. */
static struct xinstruction *instruction(const struct xevent *e, const struct xprogram **in)
{
	struct str op = text_of(e, XSTAT_ARG, ARG_OP);
	int64_t program;
	size_t at;

	if (!e->l->x->programs.n || !number_of(e, XSTAT_ARG, ARG_PROGRAM, &program))
		return NULL;
	if (!op.n && e->meta)
		op = e->meta->display;
	while ((at = str_find(op, S("::"))) != SIZE_MAX)
		op = str_sub(op, at + 2, SIZE_MAX);
	return hlo_find(e->l->x, (uint64_t)program, op, in);
}

/* Adds the data of an instruction that the program has and the event lacks. */
static void put_instruction(
        const struct xevent *e, const struct xprogram *p, struct xinstruction *i)
{
	struct xspace *x = e->l->x;

	if (!text_of(e, XSTAT_ARG, ARG_OP_CATEGORY).n)
		build_arg_text(x->b, ARG_OP_CATEGORY, hlo_category(x, i));
	if (!framework_op(e).n && i->op.name.n) {
		build_arg_text(x->b, ARG_SCOPE, i->op.name);
		if (i->op.type.n)
			build_arg_text(x->b, ARG_OP_TYPE, i->op.type);
	}
	if (i->stack.n && !text_of(e, XSTAT_ARG, ARG_STACK).n)
		build_arg_text(x->b, ARG_STACK, i->stack);
	else if (i->source.n && !text_of(e, XSTAT_ARG, ARG_SOURCE).n)
		build_arg_text(x->b, ARG_SOURCE, i->source);
	struct hlo_copy copy;
	if (e->l->plane->kind == XPLANE_TPU && hlo_find_copy(p, i, &copy)) {
		build_arg_text(x->b, ARG_COPY_WAY, str_of(copy.way));
		build_arg_int(x->b, ARG_BYTES, copy.bytes);
		build_arg_int(x->b, ARG_PAGEABLE, 0); /* the runtime pins such memory */
	}
	if (build_wants(x->b, ARG_CALLS))
		build_arg_text(x->b, ARG_CALLS, hlo_calls(x, p, i));
}

/* Sets the arguments from the shared stats of an event. */
static void put_shared(const struct xevent *e, enum trace_category category)
{
	struct xspace *x = e->l->x;
	struct str details;

	if (x->stats.n > e->own)
		put_all(x, x->stats.v + e->own, x->stats.n - e->own);
	if (category == CATEGORY_ALLOCATION ||
	        (e->l->role == XLINE_WORK && e->l->plane->kind == XPLANE_GPU))
		put_framework_op(e);
	details = text_of(e, XSTAT_KERNEL_DETAILS, 0);
	if (details.n)
		xspace_put_kernel(x, details);
	details = text_of(e, category == CATEGORY_SET ? XSTAT_SET_DETAILS : XSTAT_COPY_DETAILS, 0);
	if (details.n && (category == CATEGORY_COPY || category == CATEGORY_SET))
		xspace_put_bytes(x, details);
}

/* Creates the trace event for a kind of events. */
static uint32_t make_event(const struct xevent *e, enum trace_category category)
{
	struct xspace *x = e->l->x;
	struct str name = e->meta ? e->meta->name : S(UNKNOWN_EVENT);
	bool compiled = e->l->role == XLINE_WORK ||
	                (e->l->role == XLINE_THREAD && category == CATEGORY_OP && is_compiled(e));
	const struct xprogram *program = NULL;
	struct xinstruction *of = compiled ? instruction(e, &program) : NULL;

	build_args_clear(x->b);
	if (e->meta) {
		put_all(x, e->meta->stats, e->meta->n);
		if (e->l->role == XLINE_WORK && e->l->plane->kind == XPLANE_TPU) {
			uint32_t module = module_name(e);
			put_framework_op(e);
			if (module != ID_NONE)
				build_arg_text(x->b, ARG_MODULE_NAME,
				        trace_str(build_trace(x->b), module));
		}
		if (of)
			put_instruction(e, program, of);
		if (e->meta->display.n && category != CATEGORY_FRAME) {
			build_arg_text(x->b, ARG_LONG_NAME, name);
			name = e->meta->display;
		}
	}
	if (e->meta && category == CATEGORY_OP && e->l->role == XLINE_THREAD && !is_compiled(e)) {
		struct xop op = xspace_op(e->meta->name);
		name = op.name;
		if (op.type.n)
			build_arg_text(x->b, ARG_OP_TYPE, op.type);
	}
	put_shared(e, category);
	return build_event(x->b, category, build_string(x->b, name));
}

/* ---- kinds ---- */

/* Creates the kind of an event and interprets its shared stats. */
static struct xkind make_kind(struct xevent *e, struct str shared)
{
	struct xspace *x = e->l->x;
	struct leaf l = leaf_of(shared);
	struct xkind made;
	struct xstat stat;

	while (leaf_next(&l))
		if (xspace_stat(x, e->l->plane, leaf_bytes(&l), &stat))
			VEC_PUSH(x->a, &x->stats, stat);
	made.category = category_of(e);
	made.event = make_event(e, made.category);
	x->stats.n = e->own;
	return made;
}

/* Returns the metadata with an id, or NULL. */
static struct xmeta *meta_of(const struct xplane *p, uint64_t id)
{
	uint32_t i;

	return imap_get(&p->meta_of, id, &i) ? &p->metas.v[i] : NULL;
}

/* Finds or creates the kind of an event. x->key contains the shared stats of the event. */
static struct xkind kind_of(struct xevent *e)
{
	struct xspace *x = e->l->x;
	struct str shared = str_make(
	        x->key.v + sizeof(struct xkind_head), x->key.n - sizeof(struct xkind_head));
	int64_t step;
	const struct xkind_head head = { .meta = e->id,
		.plane = (uint32_t)(e->l->plane - x->planes.v),
		.role = (uint16_t)e->l->role,
		.correlates = e->uses >> XSTAT_CORRELATION & 1,
		.steps = e->uses >> XSTAT_STEP & 1 && number_of(e, XSTAT_STEP, ARG_STEP, &step) };
	uint64_t unused = x->bad + x->compressed;
	struct xmeta *meta = meta_of(e->l->plane, e->id);
	struct xkind kind;
	struct str key;
	uint32_t i;

	memcpy(x->key.v, &head, sizeof head);
	key = str_make(x->key.v, x->key.n);
	if (meta && meta->kind && str_eq(intern_str(&x->kind_keys, meta->kind - 1), key))
		i = meta->kind - 1;
	else
		i = intern_find(&x->kind_keys, key);
	if (meta)
		meta->kind = i + 1; /* ID_NONE + 1 is 0 */
	e->meta = meta;
	if (i != ID_NONE)
		return x->kinds.v[i];
	kind = make_kind(e, shared);
	if (unused == x->bad + x->compressed) { /* unusable stats must be counted for each event */
		intern_add(&x->kind_keys, key);
		VEC_PUSH(x->a, &x->kinds, kind);
	}
	return kind;
}

/* ---- slices ---- */

/* Sets the run of an op to the run of the program that contains the op. Compares event times,
 * because device times of ops and runs are on different clocks. */
static void put_run(const struct xevent *e, int64_t start)
{
	const struct xplane *p = e->l->plane;
	size_t i;

	BISECT(i, 0, p->runs.n, p->runs.v[i].start <= start);
	if (i && start < p->runs.v[i - 1].end)
		build_arg_int(e->l->x->b, ARG_RUN, num_add(p->runs.v[i - 1].run, p->run_shift));
}

/* Shifts the run that the event's own stats name. */
static void shift_run(struct xevent *e)
{
	for (size_t i = 0; i < e->own; i++) {
		struct xstat *s = &e->l->x->stats.v[i];
		if (s->name->use == XSTAT_ARG && s->name->key == ARG_RUN &&
		        (s->type == ARG_INT || s->type == ARG_UINT))
			s->i = num_add(s->i, e->l->plane->run_shift);
	}
}

static void append(struct xevent *e)
{
	struct xspace *x = e->l->x;
	int64_t start = num_add(e->l->base, e->offset), length = e->duration, correlation = 0;
	struct xkind kind = kind_of(e);
	int64_t event_start = start;

	if (e->l->plane->kind == XPLANE_TPU) {
		int64_t offset, duration;
		if (number_of(e, XSTAT_DEVICE_OFFSET, 0, &offset) &&
		        number_of(e, XSTAT_DEVICE_DURATION, 0, &duration)) {
			start = num_sub(offset, num_mul(build_trace(x->b)->origin_ns, 1000));
			length = duration;
		}
	}
	number_of(e, XSTAT_CORRELATION, 0, &correlation);
	build_args_clear(x->b);
	if (e->l->plane->run_shift)
		shift_run(e);
	put_all(x, x->stats.v, x->stats.n);
	if (e->has_count)
		build_arg_int(x->b, ARG_COUNT, e->count);
	if (e->l->role == XLINE_WORK && e->l->plane->runs.n)
		put_run(e, event_start);
	if (kind.category == CATEGORY_ALLOCATION)
		build_instant(x->b, e->l->track, kind.event, start, correlation);
	else
		build_slice(x->b, e->l->track, kind.event, start, length, correlation);
}

/* Reads a stat that consists of an id and one number, as most stats do. */
static bool take_number(
        const uint8_t *p, const uint8_t *end, struct xstat_name *name, struct xstat *out)
{
	uint64_t v = 0;

	if (!name || p == end || (*p != LEAF_TAG(3, WIRE_VARINT) && *p != LEAF_TAG(4, WIRE_VARINT)))
		return false;
	out->name = name;
	out->type = *p++ == LEAF_TAG(3, WIRE_VARINT) ? ARG_UINT : ARG_INT;
	bool ok = varint_get(&p, end, &v) && p == end;
	out->i = (int64_t)v;
	return ok;
}

/* Stores a stat of the event, or appends the bytes of a shared stat to the key. */
static void take_stat(struct xevent *e, struct str bytes)
{
	const uint8_t *p = (const uint8_t *)bytes.p, *end = p + bytes.n;
	struct xspace *x = e->l->x;
	struct xstat_name *name = NULL;
	uint64_t id;

	if (bytes.n > 1 && *p++ == LEAF_TAG(1, WIRE_VARINT) && varint_get(&p, end, &id))
		name = xspace_stat_name(e->l->plane, id);
	if (!name || !name->shared) {
		VEC_ROOM(x->a, &x->stats, 1);
		struct xstat *stat = &x->stats.v[x->stats.n];
		if (!take_number(p, end, name, stat) && !xspace_stat(x, e->l->plane, bytes, stat))
			return;
		if (!stat->name->shared) {
			e->uses |= 1u << stat->name->use;
			x->stats.n++;
			return;
		}
	}
	VEC_ROOM(x->a, &x->key, 1 + VARINT_MAX + bytes.n);
	x->key.v[x->key.n++] = LEAF_TAG(4, WIRE_BYTES);
	uint8_t *to = varint_put(x->key.v + x->key.n, bytes.n);
	memcpy(to, bytes.p, bytes.n);
	x->key.n = (size_t)(to - x->key.v) + bytes.n;
}

/* Parses an event. Stores its own stats in x->stats, and the bytes of the shared stats in
 * x->key. Inlined, because a call for each event costs 7 % of the time of `op`. */
static inline __attribute__((always_inline)) bool parse_event(struct xevent *e, struct str bytes)
{
	struct xspace *x = e->l->x;
	struct leaf l = leaf_of(bytes);

	x->stats.n = 0;
	x->key.n = 0;
	VEC_ROOM(x->a, &x->key, sizeof(struct xkind_head));
	x->key.n = sizeof(struct xkind_head);
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): e->id = leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_VARINT): e->offset = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_VARINT): e->duration = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(4, WIRE_BYTES): take_stat(e, leaf_bytes(&l)); break;
		case LEAF_TAG(5, WIRE_VARINT):
			e->count = (int64_t)leaf_varint(&l);
			e->has_count = true;
			break;
		default: leaf_skip(&l);
		}
	}
	e->own = x->stats.n;
	return !l.bad;
}

void xspace_event(struct xline_walk *line, struct str bytes)
{
	struct xevent e = { .l = line };

	if (parse_event(&e, bytes))
		append(&e);
	else
		line->x->bad++;
}

/* ---- runs ---- */

void xspace_run(struct xline_walk *line, struct str bytes)
{
	struct xspace *x = line->x;
	struct xevent e = { .l = line };
	uint64_t bad = x->bad, compressed = x->compressed; /* xspace_event counts these stats */
	struct xrun made;

	if (parse_event(&e, bytes) && number_of(&e, XSTAT_ARG, ARG_RUN, &made.run)) {
		made.start = num_add(line->base, e.offset);
		made.end = num_add(made.start, e.duration);
		const struct xmeta *meta = meta_of(line->plane, e.id);
		made.program = meta ? meta->name : STR_NONE;
		VEC_PUSH(x->a, &line->plane->runs, made);
	}
	x->bad = bad;
	x->compressed = compressed;
}

static int by_start(const void *v, uint32_t a, uint32_t b)
{
	const struct xrun *x = (const struct xrun *)v + a, *y = (const struct xrun *)v + b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return (x->run > y->run) - (x->run < y->run);
}

/* Returns how many runs of p are runs of the same program on the other device after a shift of
 * their numbers, or -1 if one is a run of another program. of: index in most->runs by number. */
static int64_t agreeing(
        const struct xplane *p, const struct xplane *most, const struct imap *of, int64_t shift)
{
	int64_t n = 0;
	uint32_t k;

	for (size_t i = 0; i < p->runs.n; i++) {
		const struct xrun *r = &p->runs.v[i];
		if (!imap_get(of, (uint64_t)num_add(r->run, shift), &k))
			continue;
		if (!str_eq(most->runs.v[k].program, r->program))
			return -1;
		n++;
	}
	return n;
}

/* Returns the smallest shift up to SHIFT_MAX with which every run of p is a run of the same program
 * on the other device; 0 if there is none, or if equal numbers name runs of one program already. */
static int64_t shift_of(const struct xplane *p, const struct xplane *most, const struct imap *of)
{
	if (agreeing(p, most, of, 0) >= 0)
		return 0;
	for (int64_t d = 1; d <= SHIFT_MAX; d++) {
		if (agreeing(p, most, of, d) == (int64_t)p->runs.n)
			return d;
		if (agreeing(p, most, of, -d) == (int64_t)p->runs.n)
			return -d;
	}
	return 0;
}

void xspace_join_runs(struct xspace *x)
{
	const struct xplane *most = NULL;
	struct imap of;
	uint64_t shifted = 0;

	for (size_t i = 0; i < x->planes.n; i++) {
		struct xplane *p = &x->planes.v[i];
		sort_array(x->a, p->runs.v, p->runs.n, sizeof(struct xrun), by_start);
		if (!most || p->runs.n > most->runs.n)
			most = p;
	}
	imap_init(&of, x->a);
	for (size_t i = 0; most && i < most->runs.n; i++)
		imap_put(&of, (uint64_t)most->runs.v[i].run, (uint32_t)i, false);
	for (size_t i = 0; i < x->planes.n; i++) {
		struct xplane *p = &x->planes.v[i];
		p->run_shift = p == most ? 0 : shift_of(p, most, &of);
		shifted += p->run_shift != 0;
	}
	note_count(build_notes(x->b), shifted,
	        "note: %llu {device numbers its|devices number their} runs of programs differently "
	        "from "
	        "%.*s, so runs are joined by their programs\n",
	        (unsigned long long)shifted, STR(most ? most->name : STR_NONE));
}
