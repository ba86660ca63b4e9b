/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of rocprofv3 in JSON; see rocprof_internal.h. Items are read one by one from the window.
 * rocprofv3 writes names before the records that use them, so one pass is enough. If another
 * program has reordered the members, a second pass reads the records.
 */
#include "trace/rocprof_internal.h"

enum { NAMES_AGENTS = 1, NAMES_STRINGS = 2, NAMES_KERNELS = 4, NAMES_ALL = 7 };

/* ---- JSON ---- */

/* Reads a member's value, if it is one of the fields; others are skipped. */
static bool read_member(struct rocprof *x, const struct roc_field *fields, struct str key,
        void *target, const struct roc_field **in)
{
	const struct roc_field *f = fields;
	struct json_in *j = &x->j;
	struct json_value v;
	int64_t number;

	while (f->name.p && !str_eq(f->name, key))
		f++;
	*in = NULL;
	if (!f->name.p)
		return json_in_skip(j);
	if (f->form == ROC_OBJECT && json_in_peek(j) == '{') {
		*in = f->in;
		return true;
	}
	if (!json_in_scalar(j, &v))
		return false;
	if (f->form == ROC_INT && (v.type == JSON_NUMBER || v.type == JSON_STRING) &&
	        json_decimal(v.text, 0, &number) != JSON_NUMBER_NONE)
		*(int64_t *)(void *)((char *)target + f->at) = number;
	if (f->form == ROC_TEXT && v.type == JSON_STRING)
		*(struct str *)(void *)((char *)target + f->at) =
		        str_copy(x->a, json_in_text(j, &v, &x->text));
	return true;
}

/* Objects in each other are known fields, so the levels are bounded by the tables. */
#define LEVELS 4
bool roc_object(struct rocprof *x, const struct roc_field *fields, void *target)
{
	const struct roc_field *open[LEVELS] = { fields }, *in;
	struct json_in *j = &x->j;
	unsigned depth = 1;
	struct str key;

	x->text.n = 0;
	if (json_in_peek(j) != '{')
		return json_in_skip(j);
	if (!json_in_enter(j))
		return false;
	while (depth) {
		if (!json_in_member(j, &key)) {
			if (j->stop != JSON_STOP_NONE)
				return false;
			depth--;
			continue;
		}
		if (!read_member(x, open[depth - 1], key, target, &in))
			return false;
		if (in && depth < LEVELS && !json_in_enter(j))
			return false;
		if (in && depth < LEVELS)
			open[depth++] = in;
	}
	return true;
}

static bool read_element(void *user)
{
	struct rocprof *x = user;

	return x->element(x, x->of);
}

/* No-op: elements are kept as they are read. */
static void take_element(void *user)
{
	(void)user;
}

bool roc_array(
        struct rocprof *x, bool (*element)(struct rocprof *x, const void *of), const void *of)
{
	if (json_in_ahead(&x->j) != '[')
		return json_in_skip_item(&x->j);
	x->element = element;
	x->of = of;
	return json_in_each(&x->j, read_element, take_element, x);
}

/* Goes over the members of an object, each an item of its own. */
static bool each_member(struct rocprof *x, bool (*member)(struct rocprof *x, struct str key))
{
	struct json_in *j = &x->j;
	struct json_value v;

	if (json_in_ahead(j) != '{')
		return json_in_skip_item(j);
	for (json_in_pass(j);;) {
		int ch = json_in_ahead(j);
		bool good;
		if (ch == ',' || ch == '}') {
			json_in_pass(j);
			if (ch == '}')
				return true;
			continue;
		}
		if (ch < 0)
			return false;
		do
			good = json_in_value(j, &v) && v.type == JSON_STRING &&
			       json_in_peek(j) == ':';
		while (!good && json_in_more(j));
		if (!good)
			return false;
		struct str key = str_copy(x->a, v.text);
		json_in_pass(j);
		if (json_in_ahead(j) < 0 || !member(x, key))
			return false;
	}
}

/* ---- names ---- */

static struct roc_process *present(struct rocprof *x)
{
	return &x->processes.v[x->at];
}

struct agent_text {
	int64_t handle, type, index;
	struct str name, product;
};

static bool take_agent(struct rocprof *x, const void *of)
{
	static const struct roc_field handle[] = {
		ROC_FIELD("handle", ROC_INT, struct agent_text, handle), ROC_END
	};
	static const struct roc_field fields[] = { ROC_IN("id", handle),
		ROC_FIELD("type", ROC_INT, struct agent_text, type),
		ROC_FIELD("logical_node_type_id", ROC_INT, struct agent_text, index),
		ROC_FIELD("name", ROC_TEXT, struct agent_text, name),
		ROC_FIELD("product_name", ROC_TEXT, struct agent_text, product), ROC_END };
	struct agent_text v = { .index = -1 };
	struct roc_agent made;

	(void)of;
	if (!roc_object(x, fields, &v))
		return false;
	made = (struct roc_agent){ v.handle, v.type, v.index, ID_NONE };
	if (v.product.n || v.name.n)
		made.model = build_string(x->b, v.product.n ? v.product : v.name);
	imap_put(&present(x)->agent_of, (uint64_t)v.handle, (uint32_t)present(x)->agents.n, true);
	VEC_PUSH(x->a, &present(x)->agents, made);
	return true;
}

struct kernel_text {
	int64_t id;
	struct str name, formatted, demangled, truncated;
};

static bool take_kernel(struct rocprof *x, const void *of)
{
	static const struct roc_field fields[] = {
		ROC_FIELD("kernel_id", ROC_INT, struct kernel_text, id),
		ROC_FIELD("kernel_name", ROC_TEXT, struct kernel_text, name),
		ROC_FIELD("formatted_kernel_name", ROC_TEXT, struct kernel_text, formatted),
		ROC_FIELD("demangled_kernel_name", ROC_TEXT, struct kernel_text, demangled),
		ROC_FIELD("truncated_kernel_name", ROC_TEXT, struct kernel_text, truncated), ROC_END
	};
	struct kernel_text v = { .id = -1 };
	struct roc_process *p = present(x);
	struct roc_kernel made = { .short_name = ID_NONE };
	struct str name;

	(void)of;
	if (!roc_object(x, fields, &v))
		return false;
	name = v.demangled.n ? v.demangled : v.formatted.n ? v.formatted : v.name;
	made.name = build_string(x->b, name);
	if (v.truncated.n)
		made.short_name = build_string(x->b, v.truncated);
	imap_put(&p->kernel_of, (uint64_t)v.id, (uint32_t)p->kernels.n, true);
	VEC_PUSH(x->a, &p->kernels, made);
	return true;
}

struct marker_text {
	int64_t key;
	struct str value;
};

static bool take_marker(struct rocprof *x, const void *of)
{
	static const struct roc_field fields[] = { ROC_FIELD(
		                                           "key", ROC_INT, struct marker_text, key),
		ROC_FIELD("value", ROC_TEXT, struct marker_text, value), ROC_END };
	struct marker_text v = { .key = -1, .value = S("") };

	(void)of;
	if (!roc_object(x, fields, &v))
		return false;
	imap_put(&present(x)->marker_of, (uint64_t)v.key, build_string(x->b, v.value), true);
	return true;
}

/* Reads {"kind": ..., "operations": [...]}, the names of the kind with that place in the list. */
static bool take_kind(struct rocprof *x, const void *of)
{
	uint32_t unnamed = build_string(x->b, S("(unnamed)"));
	struct roc_kind made = { .name = unnamed };
	struct json_in *j = &x->j;
	struct json_value v;
	struct str key;

	(void)of;
	x->text.n = 0;
	if (json_in_peek(j) != '{')
		return json_in_skip(j);
	for (json_in_enter(j); json_in_member(j, &key);) {
		if (str_eq(key, S("kind")) && json_in_peek(j) == '"') {
			if (!json_in_value(j, &v))
				return false;
			made.name = build_string(x->b, json_in_text(j, &v, &x->text));
		} else if (str_eq(key, S("operations")) && json_in_peek(j) == '[') {
			for (json_in_enter(j); json_in_element(j);) {
				if (!json_in_scalar(j, &v))
					return false;
				VEC_PUSH(x->a, &made.operations,
				        v.type == JSON_STRING
				                ? build_string(x->b, json_in_text(j, &v, &x->text))
				                : unnamed);
			}
			if (j->stop != JSON_STOP_NONE)
				return false;
		} else if (!json_in_skip(j)) {
			return false;
		}
	}
	if (j->stop != JSON_STOP_NONE)
		return false;
	VEC_PUSH(x->a, &present(x)->kinds, made);
	return true;
}

/* ---- the file ---- */

static bool read_strings(struct rocprof *x, struct str key)
{
	if (str_eq(key, S("buffer_records")))
		return roc_array(x, take_kind, NULL);
	if (str_eq(key, S("marker_api")))
		return roc_array(x, take_marker, NULL);
	return json_in_skip_item(&x->j);
}

/* Reads the number of the process; commands and settings are skipped unread. */
static bool read_metadata(struct rocprof *x, struct str key)
{
	struct json_in *j = &x->j;
	struct json_value v;
	bool good;

	if (!str_eq(key, S("pid")))
		return json_in_skip_item(j);
	do
		good = json_in_scalar(j, &v) && json_in_peek(j) >= 0;
	while (!good && json_in_more(j));
	if (!good)
		return false;
	if (v.type > JSON_ARRAY)
		json_decimal(v.text, 0, &present(x)->pid);
	json_in_take(j);
	return true;
}

/* The records of a process wait for its names and its number. */
static bool read_records(struct rocprof *x)
{
	struct roc_process *p = present(x);

	if (!x->again && p->names != NAMES_ALL) {
		p->late = x->late = true;
		return json_in_skip_item(&x->j);
	}
	if (x->again && !p->late)
		return json_in_skip_item(&x->j);
	p->process = build_process(x->b, p->pid);
	return each_member(x, roc_records);
}

static bool read_process_member(struct rocprof *x, struct str key)
{
	struct roc_process *p = present(x);

	if (str_eq(key, S("buffer_records")))
		return read_records(x);
	if (str_eq(key, S("callback_records")) && (x->again ? p->late : p->names == NAMES_ALL))
		return each_member(x, roc_records);
	if (x->again)
		return json_in_skip_item(&x->j);
	if (str_eq(key, S("metadata")))
		return each_member(x, read_metadata);
	if (str_eq(key, S("agents"))) {
		p->names |= NAMES_AGENTS;
		return roc_array(x, take_agent, NULL);
	}
	if (str_eq(key, S("kernel_symbols"))) {
		p->names |= NAMES_KERNELS;
		return roc_array(x, take_kernel, NULL);
	}
	if (str_eq(key, S("strings"))) {
		p->names |= NAMES_STRINGS;
		return each_member(x, read_strings);
	}
	return json_in_skip_item(&x->j);
}

static bool read_process(struct rocprof *x)
{
	if (!x->again) {
		struct roc_process made = { .pid = 0 };
		imap_init(&made.agent_of, x->a);
		imap_init(&made.kernel_of, x->a);
		imap_init(&made.marker_of, x->a);
		VEC_PUSH(x->a, &x->processes, made);
	}
	if (x->at == x->processes.n)
		return json_in_skip_item(&x->j);
	if (!each_member(x, read_process_member))
		return false;
	x->at++;
	return true;
}

/* Reads the list of processes, or the only one. */
static bool read_tool(struct rocprof *x, struct str key)
{
	struct json_in *j = &x->j;
	int first = json_in_ahead(j);

	if (str_eq(key, S("rocprofiler-sdk-tool")) && first == '{')
		return read_process(x);
	if (!str_eq(key, S("rocprofiler-sdk-tool")) || first != '[')
		return json_in_skip_item(j);
	for (json_in_pass(j);;) {
		int ch = json_in_ahead(j);
		if (ch == ']' || ch == ',') {
			json_in_pass(j);
			if (ch == ']')
				return true;
		} else if (ch != '{') {
			return ch >= 0 && json_in_skip_item(j);
		} else if (!read_process(x)) {
			return false;
		}
	}
}

/* Reads the file once; damage ends it, and is noted. */
static bool read_pass(struct rocprof *x)
{
	struct json_in *j = &x->j;

	x->at = 0;
	if (!json_in_open(j, x->s))
		return !json_in_failed(j) &&
		       err_set(x->e, ERR_DATA_LOSS,
		               "%.*s: unsupported encoding UTF-16 or UTF-32 (byte 0): UTF-8 was "
		               "expected\nhint: 'iconv -f UTF-16 -t UTF-8 FILE' converts it",
		               STR(x->s->name));
	if (each_member(x, read_tool) || json_in_failed(j))
		return !json_in_failed(j);
	if (!x->again)
		note_line(build_notes(x->b),
		        "note: %.*s: %s (line %llu): all complete records before it were read\n",
		        STR(x->s->name),
		        j->stop == JSON_STOP_MORE ? "the file ends early" : "bad JSON",
		        (unsigned long long)json_in_line(j, j->p));
	return true;
}

/* Reads the file a second time if names come after the records. */
static bool read_passes(struct rocprof *x)
{
	if (!read_pass(x))
		return false;
	x->again = true;
	return !x->late || (src_rewind(x->s) && read_pass(x));
}

static void note_gzip(struct rocprof *x)
{
	struct src_damage *d = x->s->damage;

	if (d->in_gzip.n)
		note_line(build_notes(x->b),
		        d->truncated
		                ? "note: %.*s: truncated gzip data: all complete records before "
		                  "the damage were read\n"
		                : "note: %.*s: damaged gzip data: the complete records in them "
		                  "were read and may be wrong\n",
		        STR(x->s->name));
	d->in_gzip = STR_NONE;
}

static void add_notes(struct rocprof *x)
{
	struct notes *to = build_notes(x->b);
	struct sb b = sb_in(x->a);

	for (uint32_t i = 0; i < x->unused.n; i++) {
		struct sb kind = sb_in(x->a);
		if (!x->unused_n.v[i])
			continue;
		sb_put(&b, b.n ? S(", ") : S(""));
		sb_put_name(&b, intern_str(&x->unused, i));
		sb_fmt(&b, " (%llu)", (unsigned long long)x->unused_n.v[i]);
		sb_put(&kind, S("records of "));
		sb_put_name(&kind, intern_str(&x->unused, i));
		src_count_unused(x->s, sb_str(&kind), x->unused_n.v[i]);
	}
	src_count_unused(x->s, S("records without a time"), x->timeless);
	if (b.n)
		note_line(to, "note: records that are not used: %.*s\n", STR(sb_str(&b)));
	note_count(to, x->timeless,
	        "note: %llu {record has|records have} no time: {it is|they are} left out\n",
	        (unsigned long long)x->timeless);
}

int sniff_rocprof(struct str head, struct str path)
{
	static const char blanks[] = " \t\r\n";
	size_t i = str_starts(head, S("\xef\xbb\xbf")) ? 3 : 0;

	(void)path;
	while (i < head.n && strchr(blanks, head.p[i]) && head.p[i])
		i++;
	if (i == head.n || head.p[i++] != '{')
		return 0;
	while (i < head.n && strchr(blanks, head.p[i]) && head.p[i])
		i++;
	return str_starts(str_sub(head, i, head.n), S("\"rocprofiler-sdk-tool\"")) ? 100 : 0;
}

bool read_rocprof(struct src *s, struct trace_build *b, struct arena *a, struct err *e)
{
	struct rocprof *x = ARENA_NEW(a, struct rocprof);

	*x = (struct rocprof){ .s = s, .b = b, .a = a, .e = e, .text = sb_in(a) };
	intern_init(&x->unused, a);
	build_start(b, TRACE_ROCPROF, 1000);
	build_origin(b, 0, false);
	s->damage->truncated_ok = true;
	if (!read_passes(x) || !src_finish(s)) {
		s->damage->kept = x->events;
		return false;
	}
	note_gzip(x);
	roc_devices_end(x);
	add_notes(x);
	return x->events || err_set(e, ERR_DATA_LOSS,
	                            "%.*s: no records of kernels or calls: 'rocprofv3 --sys-trace "
	                            "--output-format json' writes them",
	                            STR(s->name));
}
