/* SPDX-License-Identifier: Apache-2.0
 *
 * Activity of threads in an export of Nsight Systems: calls of CUDA and of other libraries, ranges
 * and marks of NVTX, and the overhead of the profiler itself.
 */
#include "trace/nsys_internal.h"

/* ---- calls ---- */

/* "cudaLaunchKernel_v7000" without its version. */
static struct str without_version(struct str s)
{
	size_t i = s.n;

	while (i && s.p[i - 1] >= '0' && s.p[i - 1] <= '9')
		i--;
	return i < s.n && i > 2 && s.p[i - 1] == 'v' && s.p[i - 2] == '_' ? str_sub(s, 0, i - 2)
	                                                                  : s;
}

enum { CALL_START, CALL_END, CALL_THREAD, CALL_CORRELATION, CALL_NAME, CALL_RESULT, CALL_N };

/* Only CUDA's calls have correlations that its device work shares. */
static void read_calls(struct nsys *x, const char *table, bool cuda)
{
	static const char *const columns[CALL_N] = { "start", "end", "globalTid", "correlationId",
		"nameId", "returnValue" };
	struct sqlite_rows *r = sqlite_in_rows(x->db, table, columns, CALL_N);
	const struct trace *t = build_trace(x->b);
	struct imap events; /* number of a name -> event */
	int64_t start, length, result;
	uint32_t event;

	imap_init(&events, x->a);
	while (r && sqlite_in_next(r)) {
		uint64_t id = (uint64_t)sqlite_in_int(r, CALL_NAME);
		if (!nsys_times(x, r, CALL_START, CALL_END, &start, &length))
			continue;
		if (!imap_get(&events, id, &event)) {
			struct str name = trace_str(t, nsys_name(x, (int64_t)id));
			event = build_event(
			        x->b, CATEGORY_CALL, build_string(x->b, without_version(name)));
			imap_put(&events, id, event, false);
		}
		result = sqlite_in_int(r, CALL_RESULT);
		if (result)
			build_arg_int(x->b, ARG_RESULT, result);
		build_slice(x->b, nsys_thread(x, sqlite_in_int(r, CALL_THREAD)), event, start,
		        length, cuda ? sqlite_in_int(r, CALL_CORRELATION) : 0);
	}
}

void nsys_read_calls(struct nsys *x)
{
	read_calls(x, "CUPTI_ACTIVITY_KIND_RUNTIME", true);
	read_calls(x, "CUPTI_ACTIVITY_KIND_DRIVER", true);
	read_calls(x, "CUDNN_EVENTS", false);
	read_calls(x, "CUBLAS_EVENTS", false);
	read_calls(x, "OSRT_API", false);
}

/* ---- ranges ---- */

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
	struct nsys_range out = { s, STR_NONE, -1 };
	static const char *const words[] = { ", op_id = ", ", seq = ", ", sizes = " };
	size_t at;

	if (!memchr(s.p ? s.p : "", ',', s.n))
		return out;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		at = str_find(s, str_of(words[i]));
		if (at < out.name.n)
			out.name.n = at;
	}
	at = str_find(s, S(", seq = "));
	if (at != SIZE_MAX) {
		struct str number = str_sub(s, at + 8, SIZE_MAX);
		size_t end = str_find_char(number, ',');
		if (!num_parse_i64(
		            str_sub(number, 0, end == SIZE_MAX ? number.n : end), &out.sequence))
			out.sequence = -1;
	}
	at = str_find(s, S(", sizes = "));
	if (at != SIZE_MAX)
		out.sizes = str_sub(s, at + 10, SIZE_MAX);
	return out;
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
        enum trace_category category)
{
	struct nsys_range n = parse_name(range_text(x, r));
	uint64_t domain = (uint64_t)sqlite_in_int(r, RANGE_DOMAIN);
	uint32_t name = build_string(x->b, n.name), event, text;

	if (domain && imap_get(domains, domain, &text))
		build_arg_text(
		        x->b, build_key(x->b, S("domain")), trace_str(build_trace(x->b), text));
	else if (domain)
		build_arg_int(x->b, build_key(x->b, S("domain")), (int64_t)domain);
	if (n.sizes.p)
		build_arg_text(x->b, ARG_SHAPES, n.sizes);
	event = build_event(x->b, category, name);
	if (n.sequence >= 0)
		build_arg_int(x->b, ARG_SEQUENCE, n.sequence);
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

static void read_range(struct nsys *x, struct sqlite_rows *r, struct imap *domains)
{
	int64_t thread = sqlite_in_int(r, RANGE_THREAD), start, length;
	int64_t type = sqlite_in_has(r, RANGE_TYPE) ? sqlite_in_int(r, RANGE_TYPE) : TYPE_PUSH_POP;
	uint32_t event;

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
	if (sqlite_in_null(r, RANGE_START)) {
		x->timeless++;
		return;
	}
	start = sqlite_in_int(r, RANGE_START);
	length = sqlite_in_null(r, RANGE_END) ? 0 : num_sub(sqlite_in_int(r, RANGE_END), start);
	x->last = num_add(start, length) > x->last ? num_add(start, length) : x->last;
	x->rows++;
	if (type == TYPE_MARK || type == TYPE_MARK_TEXT) {
		event = range_event(x, r, domains, CATEGORY_OTHER);
		put_payload(x, r);
		build_instant(x->b, nsys_thread(x, thread), event, start, 0);
	} else if (type == TYPE_PUSH_POP || type == TYPE_PUSH_POP_TEXT) {
		event = range_event(x, r, domains, CATEGORY_OP);
		put_range(x, r, nsys_thread(x, thread), event, start, length);
	} else {
		event = range_event(x, r, domains, CATEGORY_ANNOTATION);
		put_range(x, r, free_track(x, thread), event, start, length);
	}
}

void nsys_read_ranges(struct nsys *x)
{
	static const char *const columns[RANGE_N] = { "start", "end", "eventType", "text", "textId",
		"globalTid", "domainId", "jsonText", "jsonTextId" };
	struct sqlite_rows *r = sqlite_in_rows(x->db, "NVTX_EVENTS", columns, RANGE_N);
	struct imap domains; /* number -> string id */

	imap_init(&domains, x->a);
	while (r && sqlite_in_next(r))
		read_range(x, r, &domains);
}

void nsys_close_ranges(struct nsys *x)
{
	for (size_t i = 0; i < x->open.n; i++)
		build_slice(x->b, x->open.v[i].track, x->open.v[i].event, x->open.v[i].start,
		        x->last > x->open.v[i].start ? num_sub(x->last, x->open.v[i].start) : 0, 0);
	if (x->open.n)
		note_line(build_notes(x->b),
		        "note: %zu NVTX ranges do not end: they end with the recording\n",
		        x->open.n);
}

/* ---- overhead ---- */

enum { LOST_START, LOST_END, LOST_THREAD, LOST_NAME, LOST_N };

static void read_overhead(struct nsys *x, const char *table)
{
	static const char *const columns[LOST_N] = { "start", "end", "globalTid", "nameId" };
	struct sqlite_rows *r = sqlite_in_rows(x->db, table, columns, LOST_N);
	int64_t start, length;

	while (r && sqlite_in_next(r)) {
		if (!nsys_times(x, r, LOST_START, LOST_END, &start, &length))
			continue;
		uint32_t event = build_event(
		        x->b, CATEGORY_OVERHEAD, nsys_name(x, sqlite_in_int(r, LOST_NAME)));
		build_slice(x->b, nsys_thread(x, sqlite_in_int(r, LOST_THREAD)), event, start,
		        length, 0);
	}
}

void nsys_read_overhead(struct nsys *x)
{
	read_overhead(x, "CUPTI_ACTIVITY_KIND_OVERHEAD");
	read_overhead(x, "PROFILER_OVERHEAD");
}
