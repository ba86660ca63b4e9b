/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges and marks of NVTX in an export of Nsight Systems, and the ranges that are steps.
 */
#include "trace/nsys_internal.h"

#include "base/sort.h"
#include "trace/passes.h"

enum nsys_event_type {
	TYPE_CATEGORY = 33,
	TYPE_MARK = 34,
	TYPE_PUSH_POP = 59,
	TYPE_START_END = 60,
	TYPE_CATEGORY_TEXT = 64,
	TYPE_MARK_TEXT = 65,
	TYPE_PUSH_POP_TEXT = 70,
	TYPE_START_END_TEXT = 71,
	TYPE_DOMAIN = 75
};
enum {
	RANGE_START,
	RANGE_END,
	RANGE_TYPE,
	RANGE_TEXT,
	RANGE_TEXT_ID,
	RANGE_THREAD,
	RANGE_DOMAIN,
	RANGE_JSON,
	RANGE_JSON_ID,
	RANGE_N
};

/* A range's name as PyTorch writes it: "aten::mm, op_id = 7, seq = 8, sizes = [[2], [3]]". */
struct nsys_range {
	struct str name, sizes;
	int64_t sequence; /* -1: none */
};

static struct nsys_range parse_name(struct str s)
{
	static const struct str op = S(", op_id = "), seq = S(", seq = "), sizes = S(", sizes = ");
	struct nsys_range out = { s, STR_NONE, -1 };
	struct str rest = s;

	for (;;) {
		size_t comma = rest.n ? str_find_char(rest, ',') : SIZE_MAX;
		if (comma == SIZE_MAX)
			return out;
		rest = str_sub(rest, comma, SIZE_MAX);
		bool is_seq = str_starts(rest, seq), is_sizes = str_starts(rest, sizes);
		if ((is_seq || is_sizes || str_starts(rest, op)) && out.name.n == s.n)
			out.name.n -= rest.n;
		if (is_sizes && !out.sizes.p)
			out.sizes = str_sub(rest, sizes.n, SIZE_MAX);
		rest = str_sub(rest, is_seq ? seq.n : 1, SIZE_MAX);
		size_t end = str_find_char(rest, ',');
		if (is_seq && out.sequence < 0 &&
		        !num_parse_i64(str_sub(rest, 0, end), &out.sequence))
			out.sequence = -1;
	}
}

static struct str range_text(struct nsys *x, struct sqlite_rows *r)
{
	struct str text = sqlite_in_text(r, RANGE_TEXT);

	if (!text.p && !sqlite_in_null(r, RANGE_TEXT_ID))
		text = trace_str(build_trace(x->b), nsys_name(x, sqlite_in_int(r, RANGE_TEXT_ID)));
	return text.p ? text : S("");
}

/* Returns the event of a range; its domain, unless it is the default one, is an argument. */
static uint32_t range_event(struct nsys *x, struct sqlite_rows *r, const struct imap *domains,
        const struct nsys_range *n, enum trace_category category)
{
	uint64_t domain = (uint64_t)sqlite_in_int(r, RANGE_DOMAIN);
	uint32_t name = build_string(x->b, n->name), event, text;

	if (domain && imap_get(domains, domain, &text))
		build_arg_text(
		        x->b, build_key(x->b, S("domain")), trace_str(build_trace(x->b), text));
	else if (domain)
		build_arg_int(x->b, build_key(x->b, S("domain")), (int64_t)domain);
	if (n->sizes.p)
		build_arg_text(x->b, ARG_SHAPES, n->sizes);
	event = build_event(x->b, category, name);
	if (n->sequence >= 0)
		build_arg_int(x->b, ARG_SEQUENCE, n->sequence);
	return event;
}

/* Returns the payload of a range as JSON. */
static void put_payload(struct nsys *x, struct sqlite_rows *r)
{
	struct str json = sqlite_in_text(r, RANGE_JSON);

	if (!json.p && !sqlite_in_null(r, RANGE_JSON_ID))
		json = trace_str(build_trace(x->b), nsys_name(x, sqlite_in_int(r, RANGE_JSON_ID)));
	if (json.n)
		build_arg_text(x->b, build_key(x->b, S("payload")), json);
}

static void put_range(struct nsys *x, struct sqlite_rows *r, uint32_t track, uint32_t event,
        int64_t start, int64_t length)
{
	if (sqlite_in_null(r, RANGE_END)) {
		struct nsys_open open = { track, event, start };
		build_args_clear(x->b);
		VEC_PUSH(x->a, &x->open, open);
	} else {
		put_payload(x, r);
		build_slice(x->b, track, event, start, length, 0);
	}
}

/* Ranges that may end in any order, and on other threads, are on a track of their own, which is
 * derived: it repeats the time of others. */
static uint32_t free_track(struct nsys *x, int64_t thread)
{
	uint32_t track = build_track_named(
	        x->b, nsys_process(x, thread), ID_NONE, TRACK_THREAD, S("NVTX start-end ranges"));

	build_track_at(x->b, track)->derived = true;
	return track;
}

/* ---- steps ---- */

/* True if ranges of that name are steps. */
static bool is_step(struct nsys *x, struct str name)
{
	uint32_t id = build_string(x->b, name), is;

	if (!imap_get(&x->step_names, id, &is)) {
		is = x->step_pattern ? step_range_matches(x->step_pattern, name)
		                     : step_range_is_common(name);
		imap_put(&x->step_names, id, is, false);
	}
	return is;
}

static int by_start(const void *steps, uint32_t a, uint32_t b)
{
	const struct nsys_step *x = (const struct nsys_step *)steps + a;
	const struct nsys_step *y = (const struct nsys_step *)steps + b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->length < y->length) - (x->length > y->length);
}

/* Numbers the steps of each process in their order, unless their names have numbers that differ. */
static void number_steps(struct nsys *x)
{
	uint32_t there;
	struct imap seen; /* process, number */
	bool named = true;

	imap_init(&seen, x->a);
	for (size_t i = 0; i < x->steps.n; i++) {
		const struct nsys_step *s = &x->steps.v[i];
		uint64_t key = (uint64_t)s->process << 32 | (uint32_t)s->number;
		if (!s->outermost)
			continue;
		named &= s->number >= 0 && s->number <= INT32_MAX && !imap_get(&seen, key, &there);
		imap_put(&seen, key, 0, true);
	}
	for (size_t i = 0, n = 0; i < x->steps.n && !named; i++) {
		if (i && x->steps.v[i].process != x->steps.v[i - 1].process)
			n = 0;
		if (x->steps.v[i].outermost)
			x->steps.v[i].number = (int64_t)n++;
	}
}

/* Adds the steps. A range inside of another one of the same process is an ordinary one. */
static void put_steps(struct nsys *x)
{
	int64_t end = INT64_MIN;

	sort_array(x->a, x->steps.v, x->steps.n, sizeof *x->steps.v, by_start);
	for (size_t i = 0; i < x->steps.n; i++) {
		struct nsys_step *s = &x->steps.v[i];
		if (s->length < 0)
			s->length = x->last > s->start ? num_sub(x->last, s->start) : 0;
		if (i && s->process != x->steps.v[i - 1].process)
			end = INT64_MIN;
		s->outermost = s->start >= end;
		if (s->outermost)
			end = num_add(s->start, s->length);
	}
	number_steps(x);
	for (size_t i = 0; i < x->steps.n; i++) {
		const struct nsys_step *s = &x->steps.v[i];
		if (s->outermost)
			build_arg_int(x->b, ARG_STEP, s->number);
		uint32_t event =
		        build_event(x->b, s->outermost ? CATEGORY_STEP : CATEGORY_OP, s->name);
		build_slice(x->b, s->track, event, s->start, s->length, 0);
	}
}

static void take_step(struct nsys *x, struct sqlite_rows *r, struct str name, uint32_t track,
        int64_t start, int64_t length)
{
	struct nsys_step made = { .process = nsys_process(x, sqlite_in_int(r, RANGE_THREAD)),
		.track = track,
		.name = build_string(x->b, name),
		.start = start,
		.length = sqlite_in_null(r, RANGE_END) ? -1
		          : length < 0                 ? 0
		                                       : length,
		.number = step_range_number(name) };

	VEC_PUSH(x->a, &x->steps, made);
}

/* ---- rows ---- */

/* Reads a range or mark whose type is known. */
static void take_range(struct nsys *x, struct sqlite_rows *r, struct imap *domains, int64_t type)
{
	int64_t thread = sqlite_in_int(r, RANGE_THREAD), start = sqlite_in_int(r, RANGE_START);
	bool nested = type == TYPE_PUSH_POP || type == TYPE_PUSH_POP_TEXT;
	int64_t length =
	        sqlite_in_null(r, RANGE_END) ? 0 : num_sub(sqlite_in_int(r, RANGE_END), start);
	struct nsys_range n = parse_name(range_text(x, r));
	uint32_t track, event;

	x->last = num_add(start, length) > x->last ? num_add(start, length) : x->last;
	x->rows++;
	if (type == TYPE_MARK || type == TYPE_MARK_TEXT) {
		event = range_event(x, r, domains, &n, CATEGORY_OTHER);
		put_payload(x, r);
		build_instant(x->b, nsys_thread(x, thread), event, start, 0);
		return;
	}
	track = nested ? nsys_thread(x, thread) : free_track(x, thread);
	if (is_step(x, n.name)) {
		take_step(x, r, n.name, track, start, length);
		return;
	}
	event = range_event(x, r, domains, &n, nested ? CATEGORY_OP : CATEGORY_ANNOTATION);
	put_range(x, r, track, event, start, length);
}

static void read_range(struct nsys *x, struct sqlite_rows *r, struct imap *domains)
{
	int64_t type = sqlite_in_has(r, RANGE_TYPE) ? sqlite_in_int(r, RANGE_TYPE) : TYPE_PUSH_POP;

	switch (type) {
	case TYPE_DOMAIN:
		imap_put(domains, (uint64_t)sqlite_in_int(r, RANGE_DOMAIN),
		        build_string(x->b, range_text(x, r)), true);
		return;
	case TYPE_PUSH_POP:
	case TYPE_PUSH_POP_TEXT:
	case TYPE_START_END:
	case TYPE_START_END_TEXT:
	case TYPE_MARK:
	case TYPE_MARK_TEXT: break;
	default: return; /* names of categories, ends of domains */
	}
	if (sqlite_in_null(r, RANGE_START))
		x->timeless++;
	else
		take_range(x, r, domains, type);
}

bool nsys_read_ranges(struct nsys *x)
{
	static const char *const columns[RANGE_N] = { "start", "end", "eventType", "text", "textId",
		"globalTid", "domainId", "jsonText", "jsonTextId" };
	struct sqlite_rows *r;
	struct imap domains; /* number -> string id */

	if (!step_range_compile(&x->step_pattern, x->a, x->s->options->step, x->e))
		return false;
	r = sqlite_in_rows(x->db, "NVTX_EVENTS", columns, RANGE_N);
	imap_init(&domains, x->a);
	imap_init(&x->step_names, x->a);
	while (r && sqlite_in_next(r))
		read_range(x, r, &domains);
	bool ok = !x->step_pattern || !pattern_failed(x->step_pattern, x->e);
	pattern_free(x->step_pattern);
	return ok;
}

void nsys_close_ranges(struct nsys *x)
{
	put_steps(x);
	for (size_t i = 0; i < x->open.n; i++)
		build_slice(x->b, x->open.v[i].track, x->open.v[i].event, x->open.v[i].start,
		        x->last > x->open.v[i].start ? num_sub(x->last, x->open.v[i].start) : 0, 0);
	if (x->open.n)
		note_line(build_notes(x->b),
		        "note: %zu NVTX ranges do not end: they end with the recording\n",
		        x->open.n);
}
