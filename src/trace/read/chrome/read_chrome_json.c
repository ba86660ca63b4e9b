/* SPDX-License-Identifier: Apache-2.0
 *
 * Chrome JSON: PyTorch traces and other programs. A file is an object with "traceEvents" or a
 * bare array, or several of these in sequence. Events are read one by one; in damaged files, every
 * complete event is kept, and after a damaged event, reading continues at the next one:
 *
 *   , {  "ph" | "name" | ...          an event begins like this; nothing inside an event does
 */
#include "trace/trace_build.h"

#include "trace/read/chrome/chrome_json.h"

/* Maximum number of searches for another event inside an event that reaches the end of the
 * input. */
#define INSIDE_MAX 64

/* Moves to the next character that is not a blank and returns it, reading more input as needed; -1
 * at the end. */
static int peek(struct chrome *c)
{
	return json_in_ahead(&c->json);
}

/* Skips the character that peek returned. */
static void pass(struct chrome *c)
{
	c->json.p++;
	chrome_take(c);
}

/* True if the object at p begins like an event. Sets *more if the window ends before this can be
 * decided. */
static bool is_event(const char *p, const char *end, bool *more)
{
	const char *from;

	for (p++; p < end && (uint8_t)*p <= ' '; p++)
		;
	*more = p == end;
	if (*more || *p != '"')
		return false;
	for (from = ++p; p < end && *p != '"' && p - from < 8; p++)
		;
	*more = p == end;
	return !*more && *p == '"' && chrome_key(str_make(from, (size_t)(p - from))) != KEY_N;
}

/* Returns the first event after *p in the window, or NULL. Without an event, *p becomes the end of
 * the searched part. *before: the last non-blank character before *p. */
static const char *find_event(const char **p, const char *end, char *before)
{
	bool more;

	for (; *p < end; ++*p) {
		if (**p == '{' && (*before == ',' || *before == '[')) {
			if (is_event(*p, end, &more))
				return *p;
			if (more)
				return NULL;
		}
		*before = (uint8_t) * *p > ' ' ? **p : *before;
	}
	return NULL;
}

/* Skips an unreadable event. Returns false if no further event is found. */
static bool resync(struct chrome *c, enum chrome_flaw flaw)
{
	struct json_in *j = &c->json;
	const char *event;
	char before = 0;

	chrome_flaw(c, flaw, j->p < j->end ? j->p : (const char *)j->s->p);
	j->p = (const char *)j->s->p + 1;
	for (;;) {
		event = find_event(&j->p, j->end, &before);
		chrome_take(c);
		if (event)
			return true;
		j->stop = JSON_STOP_MORE;
		if (!json_in_more(j)) {
			c->lost = true;
			return false;
		}
	}
}

/* Handles an event that reaches the end of the input or of the largest window: continues at an
 * event inside it that an unclosed string may have hidden. */
static bool resync_inside(struct chrome *c)
{
	struct json_in *j = &c->json;
	const char *p = (const char *)j->s->p + 1;
	char before = 0;

	if (c->inside++ >= INSIDE_MAX || !find_event(&p, j->end, &before)) {
		j->stop = JSON_STOP_MORE;
		return false;
	}
	json_in_again(j);
	chrome_flaw(c, FLAW_DAMAGED, j->p);
	j->p = p;
	chrome_take(c);
	return true;
}

/* Reads one event, or another value in its place. Returns false if the input ends or the rest is
 * damaged. */
static bool read_event(struct chrome *c, struct chrome_event *v)
{
	struct json_in *j = &c->json;
	bool good, object = *j->p == '{';

	do
		good = object ? chrome_event_read(c, v) : json_in_skip(j);
	while (!good && chrome_more(c) && json_in_peek(j) >= 0);
	if (good) {
		if (object)
			chrome_emit(c, v);
		chrome_take(c);
		return true;
	}
	if (j->stop == JSON_STOP_MORE)
		return resync_inside(c);
	return resync(c, j->stop == JSON_STOP_DEEP ? FLAW_DEPTH : FLAW_DAMAGED);
}

/* Reads the events of an array; the next character is its bracket. Returns false if the input ends
 * inside the array. */
static bool read_events(struct chrome *c)
{
	struct chrome_event *v = ARENA_NEW(c->a, struct chrome_event);
	bool comma = false;

	for (pass(c);;) {
		int ch = peek(c);
		if (ch < 0)
			return false;
		if (ch == ']') {
			if (comma)
				json_in_flaw(&c->json, JSON_FLAW_COMMA, c->json.p);
			pass(c);
			return true;
		}
		if (ch == ',')
			pass(c);
		else if (!read_event(c, v))
			return false;
		comma = ch == ',';
	}
}

/* Reads a key of the object around the events, up to its value. */
static bool read_key(struct chrome *c, struct str *key)
{
	struct json_value v;
	bool good;

	do
		good = json_in_value(&c->json, &v) && v.type == JSON_STRING &&
		       json_in_peek(&c->json) == ':';
	while (!good && chrome_more(c));
	if (!good)
		return false;
	*key = str_copy(c->a, v.text);
	pass(c);
	return peek(c) >= 0;
}

/* Reads a value of any size, and stores its known parts. */
static bool read_header(struct chrome *c, struct str key)
{
	static const char *const known[] = { "schemaVersion", "distributedInfo", "deviceProperties",
		"baseTimeNanoseconds" };
	bool good;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (!str_eq(key, str_of(known[i])))
			continue;
		do
			good = chrome_header(c, key);
		while (!good && chrome_more(c));
		if (good)
			chrome_take(c);
		return good;
	}
	return json_in_skip_item(&c->json);
}

/* Reads the members of an object; the next character is its bracket. */
static bool read_object(struct chrome *c)
{
	bool comma = false;
	struct str key;

	for (pass(c);;) {
		int ch = peek(c);
		if (ch < 0)
			return false;
		if (ch == '}') {
			if (comma)
				json_in_flaw(&c->json, JSON_FLAW_COMMA, c->json.p);
			pass(c);
			return true;
		}
		comma = ch == ',';
		if (comma) {
			pass(c);
			continue;
		}
		if (!read_key(c, &key))
			return false;
		if (!(str_eq(key, S("traceEvents")) && *c->json.p == '[' ? read_events(c)
		                                                         : read_header(c, key)))
			return false;
	}
}

/* Adds the flaw of a truncated file. good: the JSON of the file is complete. */
static void note_end(struct chrome *c, bool good)
{
	const struct src_damage *d = c->json.s->damage;

	src_finish(c->json.s);
	if (d->in_gzip.n ? d->truncated : !good && c->json.stop == JSON_STOP_MORE)
		build_truncated(c->b);
	if (d->in_gzip.n)
		chrome_flaw(c, d->truncated ? FLAW_TRUNCATED_GZIP : FLAW_DAMAGED_GZIP,
		        (const char *)c->json.s->p);
	else if (good)
		return;
	else if (c->json.stop == JSON_STOP_MORE && !c->lost)
		chrome_flaw(c, FLAW_TRUNCATED, (const char *)c->json.s->p);
	else if (c->json.stop != JSON_STOP_MORE)
		chrome_flaw(
		        c, c->json.stop == JSON_STOP_DEEP ? FLAW_DEPTH : FLAW_DAMAGED, c->json.p);
	json_in_again(&c->json);
	chrome_take(c);
}

/* Reads the file's JSON texts, one after the other. */
static void read_all(struct chrome *c)
{
	bool good = true;
	int ch;

	for (unsigned texts = 0; good && (ch = peek(c)) >= 0; texts++) {
		if (ch != '[' && ch != '{') {
			chrome_flaw(c, texts ? FLAW_TRAILING : FLAW_DAMAGED, c->json.p);
			chrome_take(c);
			break;
		}
		if (texts)
			chrome_flaw(c, FLAW_CONCATENATED, c->json.p);
		c->texts = texts;
		good = ch == '[' ? read_events(c) : read_object(c);
	}
	note_end(c, good);
}

static bool ends_in_one_of(struct str path, const char *const *endings)
{
	for (; *endings; endings++)
		if (str_ends(path, str_of(*endings)))
			return true;
	return false;
}

int sniff_chrome_json(struct str head, struct str path)
{
	static const char *const endings[] = { ".json", ".json.gz", NULL };
	bool named = ends_in_one_of(path, endings);
	size_t i = str_starts(head, S("\xef\xbb\xbf")) ? 3 : 0;

	while (i < head.n && (uint8_t)head.p[i] <= ' ')
		i++;
	if (i == head.n || (head.p[i] != '{' && head.p[i] != '['))
		return named ? 15 : 0;
	if (str_contains(head, S("\"traceEvents\"")) || str_contains(head, S("\"ph\"")))
		return 100;
	return named ? 50 : 10;
}

bool chrome_read_file(struct src *s, struct trace_build *b, const struct chrome_dialect *dialect,
        void *state, struct arena *a, struct err *e)
{
	struct chrome *c = ARENA_NEW(a, struct chrome);

	c->dialect = dialect;
	c->dialect_state = state;
	c->b = b;
	c->a = a;
	c->e = e;
	c->text = sb_in(a);
	c->rank = c->world = -1;
	c->launches = ID_NONE;
	c->ticks = dialect && dialect->in_ps ? 1000000 : CHROME_TICKS;
	c->decimals = dialect && dialect->in_ps ? 6 : CHROME_DECIMALS;
	intern_init(&c->other_names, a);
	intern_init(&c->tracks, a);
	intern_init(&c->processes, a);
	intern_init(&c->kind_keys, a);
	c->json.s = s;
	if (!chrome_join_open(c, e))
		return false;
	chrome_args_init(c);
	s->damage->truncated_ok = true;
	build_origin(b, 0, true);
	if (!json_in_open_utf8(&c->json, s))
		return false;
	read_all(c);
	if (json_in_failed(&c->json)) {
		s->damage->kept = c->events;
		return false;
	}
	if (src_at(s) == 0)
		return err_set(e, ERR_DATA_LOSS, "%.*s: empty file: a JSON trace was expected",
		        STR(s->name));
	s->damage->in_gzip = STR_NONE; /* reported among the flaws */
	chrome_emit_end(c);
	chrome_join_end(c);
	chrome_count_unused(c);
	return chrome_flaws_end(c);
}

bool read_chrome_json(struct src *s, struct trace_build *b, struct arena *a, struct err *e)
{
	return chrome_read_file(s, b, NULL, NULL, a, e);
}
