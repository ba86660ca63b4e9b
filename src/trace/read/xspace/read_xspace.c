/* SPDX-License-Identifier: Apache-2.0
 *
 * XSpace, the file of TensorFlow 2's and JAX's profiler: planes, lines, metadata; see
 * xspace_internal.h. Reads the input in two or three passes and stores no events.
 */
#include <inttypes.h>

#include "trace/read/xspace/xspace_internal.h"

#define TICKS_PER_US   1000000
#define CLOCK_SMALL_NS ((int64_t)1 << 52) /* later times are counted from the first one */
#define MANGLED        "\xEF\xBF\xBD"     /* text that text tools write in place of invalid UTF-8 */
#define MANGLED_LOOK   ((size_t)4096)

#define XLINE_EVENT LEAF_TAG(4, WIRE_BYTES)

/* ---- sniffing ---- */

static bool is_plane_name(struct str s)
{
	return str_starts(s, S("/device:")) || str_starts(s, S("/host:")) ||
	       str_eq(s, S("Task Environment"));
}

int sniff_xspace(struct str head, struct str path)
{
	struct leaf l = leaf_of(head);
	struct str name = str_base(path);
	uint64_t n = 0;

	if (leaf_next(&l) && l.tag == LEAF_TAG(1, WIRE_BYTES)) {
		n = leaf_varint(&l);
		l.end = l.bad || n > (uint64_t)(l.end - l.p) ? l.end : l.p + n;
		if (leaf_next(&l) && l.tag == LEAF_TAG(1, WIRE_VARINT)) {
			leaf_varint(&l);
			leaf_next(&l);
		}
		if (l.tag == LEAF_TAG(2, WIRE_BYTES) && is_plane_name(leaf_bytes(&l)) && !l.bad)
			return 100;
	}
	return str_ends(name, S(".xplane.pb")) || str_ends(name, S(".xplane.pb.gz")) ? 60 : 0;
}

/* ---- the first pass: metadata and heads ---- */

static struct str keep(struct xspace *x, struct str s)
{
	return str_copy(x->a, s);
}

/* Reads an entry of a map from id to message. */
static bool map_entry(struct str bytes, int64_t *key, struct str *value)
{
	struct leaf l = leaf_of(bytes);

	*key = 0;
	*value = STR_NONE;
	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_VARINT))
			*key = (int64_t)leaf_varint(&l);
		else if (l.tag == LEAF_TAG(2, WIRE_BYTES))
			*value = leaf_bytes(&l);
		else
			leaf_skip(&l);
	}
	return !l.bad;
}

static void read_stat_name(struct xspace *x, struct xplane *p, struct str entry)
{
	struct str message, name = STR_NONE;
	int64_t id;

	if (!map_entry(entry, &id, &message)) {
		x->bad++;
		return;
	}
	struct leaf l = leaf_of(message);
	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(2, WIRE_BYTES))
			name = leaf_bytes(&l);
		else
			leaf_skip(&l);
	}
	x->bad += l.bad;
	xspace_add_stat_name(x, p, (uint64_t)id, name);
}

/* Stores the bytes of an XEventMetadata, because the names of its stats may follow later. */
static void read_event_meta(struct xspace *x, struct xplane *p, struct str entry)
{
	struct xmeta made = { .n = 0 };
	int64_t id;

	if (!map_entry(entry, &id, &made.display)) { /* the bytes of the message, until it is
		                                        parsed */
		x->bad++;
		return;
	}
	made.display = keep(x, made.display);
	imap_put(&p->meta_of, (uint64_t)id, (uint32_t)p->metas.n, true);
	VEC_PUSH(x->a, &p->metas, made);
}

static void parse_meta(struct xspace *x, struct xplane *p, struct xmeta *m)
{
	struct leaf l = leaf_of(m->display);
	VEC(struct xstat) stats = { .v = NULL };
	struct xstat stat;

	m->display = STR_NONE;
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(2, WIRE_BYTES): m->name = leaf_bytes(&l); break;
		case LEAF_TAG(4, WIRE_BYTES): m->display = leaf_bytes(&l); break;
		case LEAF_TAG(5, WIRE_BYTES):
			if (xspace_stat(x, p, leaf_bytes(&l), &stat))
				VEC_PUSH(x->a, &stats, stat);
			break;
		default: leaf_skip(&l);
		}
	}
	x->bad += l.bad;
	m->stats = stats.v;
	m->n = stats.n;
}

/* Stores the name of a program: "jit_f(1234)" is the name of program 1234. */
static void learn_module(struct xspace *x, struct str name)
{
	size_t open = str_rfind_char(name, '(');
	uint64_t program = 0;

	if (open == SIZE_MAX || !str_ends(name, S(")")) || open + 2 >= name.n)
		return;
	for (size_t i = open + 1; i + 1 < name.n; i++) {
		if (name.p[i] < '0' || name.p[i] > '9')
			return;
		program = program * 10 + (uint64_t)(name.p[i] - '0');
	}
	imap_put(&x->module_of, program, build_string(x->b, str_sub(name, 0, open)), false);
}

static bool read_line_head(struct xspace *x, struct xplane *p)
{
	struct xline made = { .id = 0 };
	struct wire *w = &x->w;
	struct str bytes, display = STR_NONE;
	uint64_t v;

	if (!wire_enter(w))
		return false;
	while (wire_next(w)) {
		uint32_t tag = LEAF_TAG(w->field, w->type);
		if (tag == LEAF_TAG(1, WIRE_VARINT) && wire_u64(w, &v))
			made.id = (int64_t)v;
		else if (tag == LEAF_TAG(3, WIRE_VARINT) && wire_u64(w, &v))
			made.timestamp_ns = (int64_t)v;
		else if (tag == LEAF_TAG(2, WIRE_BYTES) && wire_leaf(w, &bytes))
			made.name = keep(x, bytes);
		else if (tag == LEAF_TAG(11, WIRE_BYTES) && wire_leaf(w, &bytes))
			display = keep(x, bytes);
		else if (!w->bad && tag != LEAF_TAG(1, WIRE_VARINT))
			wire_skip(w);
		while (wire_leaf_ahead(w, XLINE_EVENT, &bytes))
			;
	}
	if (display.n)
		made.name = display;
	VEC_PUSH(x->a, &p->lines, made);
	return wire_leave(w);
}

/* Refuses a plane that claims to be longer than the file. */
static bool check_length(struct xspace *x)
{
	struct wire *w = &x->w;
	struct src *s = w->s;
	uint64_t rest, length = w->stop[w->depth - 1] - src_at(s);
	struct str head;

	if (!src_rest(s, src_at(s), &rest) || length <= rest)
		return true;
	head = str_make(s->p, (size_t)(s->end - s->p));
	x->as_text = str_contains(str_sub(head, 0, MANGLED_LOOK), S(MANGLED));
	if (s->damage->recover && !x->as_text)
		return true;
	s->damage->missing = length - rest;
	if (x->as_text)
		return wire_fail(w, w->record_at + 1,
		        "field 1 has a length of %" PRIu64
		        " bytes, past the end of the input, which has %" PRIu64 " more\n"
		        "hint: the file was copied as text, which damages it: copy it in binary "
		        "mode",
		        length, rest);
	return wire_fail(w, w->record_at + 1,
	        "field 1 has a length of %" PRIu64 " bytes, past the end of the input, which has "
	        "%" PRIu64 " more",
	        length, rest);
}

static bool read_plane_heads(struct xspace *x, struct xplane *p)
{
	struct wire *w = &x->w;
	struct str bytes;

	if (!wire_enter(w) || !check_length(x))
		return false;
	while (wire_next(w)) {
		if (w->type != WIRE_BYTES) {
			wire_skip(w);
		} else if (w->field == 3) {
			read_line_head(x, p);
		} else if (w->field == 2 || w->field == 4 || w->field == 5 || w->field == 6) {
			if (!wire_leaf(w, &bytes))
				break;
			if (w->field == 2)
				p->name = keep(x, bytes);
			else if (w->field == 4)
				read_event_meta(x, p, bytes);
			else if (w->field == 5)
				read_stat_name(x, p, bytes);
			else
				VEC_PUSH(x->a, &p->raw_stats, keep(x, bytes));
		} else {
			wire_skip(w);
		}
	}
	return wire_leave(w);
}

/* ---- planes and lines in the trace ---- */

static void describe_device(struct xspace *x, struct xplane *p)
{
	struct trace_device *d = build_device_at(x->b, p->device);

	for (size_t i = 0; i < p->raw_stats.n; i++) {
		struct xstat s;
		if (!xspace_stat(x, p, p->raw_stats.v[i], &s))
			continue;
		struct str name = s.name->name;
		double number = s.type == ARG_REAL ? s.real : (double)s.i;
		if (str_eq(name, S("device_type_string")) && s.type == ARG_TEXT)
			d->model = build_string(x->b, s.text);
		else if (str_eq(name, S("peak_teraflops_per_second")))
			d->peak_flops = number * 1e12;
		else if (str_eq(name, S("peak_hbm_bw_gigabytes_per_second")))
			d->peak_bytes = number * 1e9;
		else if (str_eq(name, S("memory_bandwidth")))
			d->peak_bytes = number;
		else if (str_eq(name, S("memory_size")))
			d->memory = num_from_real(number);
	}
}

static void begin_plane(struct xspace *x, struct xplane *p)
{
	int64_t index = 0;

	p->kind = xspace_plane_kind(p->name);
	p->device = ID_NONE;
	for (size_t i = 0; p->kind == XPLANE_METADATA && i < p->metas.n; i++)
		hlo_read_programs(x, p, p->metas.v[i].display);
	for (size_t i = 0; i < p->metas.n; i++) {
		parse_meta(x, p, &p->metas.v[i]);
		if (p->kind == XPLANE_TPU)
			learn_module(x, p->metas.v[i].name);
	}
	if (p->kind != XPLANE_TPU && p->kind != XPLANE_GPU)
		return;
	num_parse_i64(str_sub(p->name, sizeof "/device:TPU:" - 1, SIZE_MAX), &index);
	p->device = build_device(x->b, x->process,
	        p->kind == XPLANE_TPU ? DEVICE_KIND_TPU : DEVICE_KIND_GPU, index, p->name);
	describe_device(x, p);
}

static void begin_line(struct xline_walk *l)
{
	struct xspace *x = l->x;
	struct xplane *p = l->plane;
	enum trace_track_kind kind = TRACK_THREAD;
	struct trace_track *k;

	if (p->device != ID_NONE)
		kind = l->role == XLINE_WORK && p->kind == XPLANE_GPU ? TRACK_STREAM : TRACK_LINE;
	if (p->kind == XPLANE_OTHER || p->kind == XPLANE_METADATA) {
		struct str name = str_fmt(x->a, "%.*s %lld", STR(p->name), (long long)l->line->id);
		l->track = build_track_named(x->b, x->process, ID_NONE, TRACK_LINE, name);
	} else {
		l->track = build_track(x->b, x->process, p->device, kind, l->line->id);
		k = build_track_at(x->b, l->track);
		k->name = build_string(x->b, l->line->name);
	}
	k = build_track_at(x->b, l->track);
	k->derived = l->role == XLINE_DERIVED || l->role == XLINE_STEPS;
	k->clock = p->kind == XPLANE_TPU ? CLOCK_DEVICE : CLOCK_HOST;
}

/* Decides whether annotations of threads are steps: only if the file has neither a line of steps
 * nor groups. */
static void choose_steps(struct xspace *x)
{
	x->marks = true;
	for (size_t i = 0; i < x->planes.n; i++) {
		const struct xplane *p = &x->planes.v[i];
		for (size_t j = 0; j < p->lines.n; j++)
			x->marks &= p->device == ID_NONE || !str_eq(p->lines.v[j].name, S("Steps"));
		for (size_t j = 0; j < p->names.n; j++)
			x->marks &= p->names.v[j].key != ARG_GROUP;
	}
}

/* Chooses the origin of time. Very late times are counted from the first time, so that picoseconds
 * fit. */
static void choose_origin(struct xspace *x)
{
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (size_t i = 0; i < x->planes.n; i++)
		for (size_t j = 0; j < x->planes.v[i].lines.n; j++) {
			int64_t at = x->planes.v[i].lines.v[j].timestamp_ns;
			first = at < first ? at : first;
			last = at > last ? at : last;
		}
	build_origin(x->b, last > CLOCK_SMALL_NS ? first : 0, last > CLOCK_SMALL_NS);
}

/* ---- the passes over events ---- */

/* Calls `take` for each event of the line that the cursor enters. */
static bool read_events(struct xline_walk *l, void (*take)(struct xline_walk *l, struct str bytes))
{
	struct wire *w = &l->x->w;
	struct str bytes;

	if (!wire_enter(w))
		return false;
	while (wire_next(w)) {
		if (w->field != 4 || w->type != WIRE_BYTES)
			wire_skip(w);
		else if (wire_leaf(w, &bytes))
			take(l, bytes);
		while (wire_leaf_ahead(w, XLINE_EVENT, &bytes))
			take(l, bytes);
	}
	return wire_leave(w);
}

static void read_line(struct xspace *x, struct xplane *p, size_t line, enum xpass pass)
{
	struct xline_walk l = { .x = x, .plane = p };

	if (line >= p->lines.n) {
		wire_skip(&x->w);
		return;
	}
	l.line = &p->lines.v[line];
	l.role = xspace_line_role(p->kind, l.line->name, l.line->id);
	l.base = num_mul(num_sub(l.line->timestamp_ns, build_trace(x->b)->origin_ns), 1000);
	if (pass == XPASS_EVENTS) {
		begin_line(&l);
		read_events(&l, xspace_event);
	} else if (l.role == XLINE_MODULES) {
		read_events(&l, xspace_run);
	} else {
		wire_skip(&x->w);
	}
}

static bool read_plane_lines(struct xspace *x, struct xplane *p, enum xpass pass)
{
	struct wire *w = &x->w;
	size_t line = 0;

	if (!wire_enter(w))
		return false;
	while (wire_next(w)) {
		if (w->field == 3 && w->type == WIRE_BYTES)
			read_line(x, p, line++, pass);
		else
			wire_skip(w);
	}
	return wire_leave(w);
}

/* True if a plane has a line of runs. */
static bool has_runs(const struct xspace *x)
{
	for (size_t i = 0; i < x->planes.n; i++) {
		const struct xplane *p = &x->planes.v[i];
		for (size_t j = 0; j < p->lines.n; j++)
			if (xspace_line_role(p->kind, p->lines.v[j].name, p->lines.v[j].id) ==
			        XLINE_MODULES)
				return true;
	}
	return false;
}

/* ---- all ---- */

static void say(struct xspace *x, const char *what, struct str text)
{
	struct sb b = sb_in(x->a);

	sb_put_name(&b, text);
	note_line(build_notes(x->b), "note: the profiler's %s: %.*s\n", what, STR(sb_str(&b)));
}

static void read_top(struct xspace *x, enum xpass pass)
{
	struct wire *w = &x->w;
	struct str bytes;
	size_t plane = 0;

	while (wire_next(w)) {
		if (w->type != WIRE_BYTES) {
			wire_skip(w);
		} else if (w->field == 1 && pass == XPASS_HEADS) {
			struct xplane made = { .device = ID_NONE };
			imap_init(&made.name_of, x->a);
			imap_init(&made.meta_of, x->a);
			VEC_PUSH(x->a, &x->planes, made);
			read_plane_heads(x, &x->planes.v[x->planes.n - 1]);
		} else if (w->field == 1 && plane < x->planes.n) {
			read_plane_lines(x, &x->planes.v[plane++], pass);
		} else if (w->field >= 2 && w->field <= 4 && pass == XPASS_HEADS) {
			if (!wire_leaf(w, &bytes))
				break;
			if (w->field == 4)
				build_process_at(x->b, x->process)->host =
				        build_string(x->b, bytes);
			else
				say(x, w->field == 2 ? "error" : "warning", bytes);
		} else {
			if (w->field > 4 && pass == XPASS_HEADS)
				src_count_unused(w->s, S("unknown fields"), 1);
			wire_skip(w);
		}
	}
}

bool read_xspace(struct src *s, struct trace_build *to, struct arena *a, struct err *e)
{
	struct xspace x = { .b = to, .a = a };
	struct err later = { .a = e->a };

	build_start(to, TRACE_XSPACE, TICKS_PER_US);
	x.process = build_process(to, 0);
	imap_init(&x.module_of, a);
	imap_init(&x.program_of, a);
	intern_init(&x.hlo_names, a);
	intern_init(&x.kind_keys, a);
	wire_init(&x.w, s, "an XSpace", e);
	read_top(&x, XPASS_HEADS);
	if (!wire_done(&x.w, x.as_text ? 0 : x.planes.n) || x.as_text)
		return false;
	for (size_t i = 0; i < x.planes.n; i++)
		begin_plane(&x, &x.planes.v[i]);
	choose_origin(&x);
	choose_steps(&x);
	for (enum xpass pass = has_runs(&x) ? XPASS_RUNS : XPASS_EVENTS; pass <= XPASS_EVENTS;
	        pass++) {
		if (!src_rewind(s))
			return false;
		wire_init(&x.w, s, "an XSpace",
		        e->code ? &later : e); /* the damage has already been reported */
		read_top(&x, pass);
		if (pass == XPASS_RUNS)
			xspace_join_runs(&x);
	}
	hlo_build(&x);
	src_count_unused(s, S("compressed texts"), x.compressed);
	src_count_unused(s, S("damaged messages"), x.bad);
	note_count(build_notes(to), x.bad,
	        "note: %.*s: %llu {message of the XSpace is|messages of the XSpace are} damaged "
	        "and left out\n",
	        STR(s->name), (unsigned long long)x.bad);
	return wire_done(&x.w, x.planes.n);
}
