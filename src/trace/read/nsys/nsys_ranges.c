/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges and marks of NVTX in an Nsight Systems export, and the ranges that are steps.
 */
#include "trace/read/nsys/nsys_internal.h"

#include "base/sort.h"
#include "trace/pass/serving.h"
#include "trace/pass/step_range.h"

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
	RANGE_JSON_ID
};
const char *const nsys_range_columns[] = { "start", "end", "eventType", "text", "textId",
	"globalTid", "domainId", "jsonText", "jsonTextId", NULL };

/* A range name in PyTorch's form: "aten::mm, op_id = 7, seq = 8, sizes = [[2], [3]]". */
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

	if (text.p)
		return text;
	if (sqlite_in_null(r, RANGE_TEXT_ID))
		return S("");
	return trace_str(build_trace(x->b), nsys_name(x, sqlite_in_int(r, RANGE_TEXT_ID)));
}

/* Returns the event of a range. Its domain, unless it is the default domain, is an argument. */
static uint32_t range_event(struct nsys *x, struct sqlite_rows *r, const struct nsys_range *n,
        enum trace_category category)
{
	uint64_t domain = (uint64_t)sqlite_in_int(r, RANGE_DOMAIN);
	uint32_t name = build_string(x->b, n->name), event, text;

	if (domain && imap_get(&x->domains, domain, &text))
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

/* Adds the payload of a range as JSON. */
static void put_payload(struct nsys *x, struct sqlite_rows *r)
{
	struct str json = sqlite_in_text(r, RANGE_JSON);

	if (!json.p && !sqlite_in_null(r, RANGE_JSON_ID))
		json = trace_str(build_trace(x->b), nsys_name(x, sqlite_in_int(r, RANGE_JSON_ID)));
	if (json.n)
		build_arg_text(x->b, build_key(x->b, S("payload")), json);
}

/* Returns the length of a range without an end: up to the latest end in the file. */
static int64_t until_last(const struct nsys *x, int64_t start)
{
	return x->last > start ? num_sub(x->last, start) : 0;
}

static void put_range(struct nsys *x, struct sqlite_rows *r, uint32_t track, uint32_t event,
        int64_t start, int64_t length)
{
	bool open = sqlite_in_null(r, RANGE_END);

	x->open_ranges += open;
	if (x->sum) { /* all rows have been read */
		x->put(x, track, event, start, open ? until_last(x, start) : length, 0);
	} else if (!open) {
		put_payload(x, r);
		x->put(x, track, event, start, length, 0);
	} else {
		struct nsys_open made = { track, event, start };
		build_args_clear(x->b);
		VEC_PUSH(x->a, &x->open, made);
	}
}

/* Returns a derived track for ranges that may end in any order and on other threads. It is separate
 * because such ranges repeat the time of other slices. */
static uint32_t free_track(struct nsys *x, int64_t thread)
{
	uint32_t track = build_track_named(
	        x->b, nsys_process(x, thread), ID_NONE, TRACK_THREAD, S("NVTX start-end ranges"));

	build_track_at(x->b, track)->derived = true;
	return track;
}

/* ---- steps ---- */

/* True for the name of a step of an LLM server. */
static bool is_served(struct nsys *x, struct str name)
{
	struct serving_step served;

	return !x->step_pattern && serving_parse(name, &served);
}

/* True if ranges with that name are steps: names that the user's pattern matches, otherwise common
 * step names and names of LLM servers. */
static bool is_step(struct nsys *x, struct str name)
{
	uint32_t id, is;

	if (!x->step_pattern)
		return step_range_is_common(name) || (!x->summing && is_served(x, name));
	id = build_string(x->b, name);
	if (!imap_get(&x->step_names, id, &is)) {
		is = step_range_matches(x->step_pattern, name);
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

/* Numbers the steps of each process in their order, unless their names contain distinct numbers. */
static void number_steps(struct nsys *x)
{
	uint32_t there;
	struct imap seen; /* set of process and number */
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

/* Adds the steps. A step range inside another step range of the same process is not a step. The
 * steps of an LLM server have no numbers: their names state the phase (trace_steps.h). */
void nsys_put_steps(struct nsys *x)
{
	int64_t end = INT64_MIN;

	sort_array(x->a, x->steps.v, x->steps.n, sizeof *x->steps.v, by_start);
	for (size_t i = 0; i < x->steps.n; i++) {
		struct nsys_step *s = &x->steps.v[i];
		if (s->length < 0)
			s->length = until_last(x, s->start);
		if (i && s->process != x->steps.v[i - 1].process)
			end = INT64_MIN;
		s->outermost = !s->served && s->start >= end;
		if (s->outermost)
			end = num_add(s->start, s->length);
	}
	number_steps(x);
	for (size_t i = 0; i < x->steps.n; i++) {
		struct nsys_step *s = &x->steps.v[i];
		if (s->outermost)
			build_arg_int(x->b, ARG_STEP, s->number);
		s->event = build_event(
		        x->b, s->outermost || s->served ? CATEGORY_STEP : CATEGORY_OP, s->name);
		build_slice(x->b, s->track, s->event, s->start, s->length, 0);
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
		.number = step_range_number(name),
		.served = is_served(x, name) };

	VEC_PUSH(x->a, &x->steps, made);
}

/* ---- rows ---- */

/* True if the row is a range or a mark. Other rows define domains and categories. */
static bool is_range(int64_t type)
{
	switch (type) {
	case TYPE_PUSH_POP:
	case TYPE_PUSH_POP_TEXT:
	case TYPE_START_END:
	case TYPE_START_END_TEXT:
	case TYPE_MARK:
	case TYPE_MARK_TEXT: return true;
	default: return false;
	}
}

static bool is_mark(int64_t type)
{
	return type == TYPE_MARK || type == TYPE_MARK_TEXT;
}

static bool is_nested(int64_t type)
{
	return type == TYPE_PUSH_POP || type == TYPE_PUSH_POP_TEXT;
}

static int64_t type_of(struct sqlite_rows *r)
{
	return sqlite_in_has(r, RANGE_TYPE) ? sqlite_in_int(r, RANGE_TYPE) : TYPE_PUSH_POP;
}

static int64_t length_of(struct sqlite_rows *r)
{
	if (sqlite_in_null(r, RANGE_END))
		return 0;
	return num_sub(sqlite_in_int(r, RANGE_END), sqlite_in_int(r, RANGE_START));
}

/* Returns the track of a range or a mark. */
static uint32_t track_of(struct nsys *x, struct sqlite_rows *r, int64_t type)
{
	int64_t thread = sqlite_in_int(r, RANGE_THREAD);

	return is_nested(type) || is_mark(type) ? nsys_thread(x, thread) : free_track(x, thread);
}

static void put_range_or_mark(struct nsys *x, struct sqlite_rows *r, int64_t type)
{
	int64_t start = sqlite_in_int(r, RANGE_START), length = length_of(r);
	struct nsys_range n = parse_name(range_text(x, r));
	uint32_t track = track_of(x, r, type), event;

	x->last = num_add(start, length) > x->last ? num_add(start, length) : x->last;
	x->rows++;
	if (is_mark(type) && x->sum)
		return;
	if (is_mark(type)) {
		event = range_event(x, r, &n, CATEGORY_OTHER);
		put_payload(x, r);
		build_instant(x->b, track, event, start, 0);
		return;
	}
	if (is_step(x, n.name)) {
		if (!x->sum)
			take_step(x, r, n.name, track, start, length);
		return;
	}
	event = range_event(x, r, &n, is_nested(type) ? CATEGORY_OP : CATEGORY_ANNOTATION);
	put_range(x, r, track, event, start, length);
}

void nsys_take_range(struct nsys *x, struct sqlite_rows *r, unsigned which)
{
	int64_t type = type_of(r);

	(void)which;
	if (type == TYPE_DOMAIN)
		imap_put(&x->domains, (uint64_t)sqlite_in_int(r, RANGE_DOMAIN),
		        build_string(x->b, range_text(x, r)), true);
	else if (is_range(type) && sqlite_in_null(r, RANGE_START))
		x->timeless++;
	else if (is_range(type))
		put_range_or_mark(x, r, type);
}

bool nsys_survey_range(struct nsys *x, struct sqlite_rows *r, uint32_t *track, int64_t *length)
{
	int64_t type = type_of(r);

	if (!is_range(type))
		return false;
	*track = track_of(x, r, type);
	*length = length_of(r);
	if (is_mark(type))
		return true;
	struct nsys_range n = parse_name(range_text(x, r));
	if (n.name.n && is_step(x, n.name))
		take_step(x, r, n.name, *track, sqlite_in_int(r, RANGE_START), *length);
	else
		x->served_ranges += is_served(x, n.name);
	return true;
}

void nsys_close_ranges(struct nsys *x)
{
	for (size_t i = 0; i < x->open.n; i++)
		build_slice(x->b, x->open.v[i].track, x->open.v[i].event, x->open.v[i].start,
		        until_last(x, x->open.v[i].start), 0);
	note_count(build_notes(x->b), x->open_ranges,
	        "note: %llu NVTX {range has no end: it lasts|ranges have no end: they last} until "
	        "the end of the recording\n",
	        (unsigned long long)x->open_ranges);
}
