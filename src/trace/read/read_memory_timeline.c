/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory timelines of torch.profiler (export_memory_timeline), in both JSON forms:
 *
 *   [[time, ...], [[0, bytes by category], ...]]      *.json: microseconds, bytes in use
 *   [[time, action, bytes, category], ...]            *.raw.json.gz: nanoseconds, changes
 *
 * Each change of a category becomes an instant. Memory that existed before has the time -1; it
 * counts from the first time on.
 */
#include "io/pickle.h"
#include "trace/trace_build.h"

#define CATEGORIES 8
#define RAW_N      4                /* count of numbers in a change */
#define SIZES_N    (CATEGORIES + 1) /* count of numbers for a moment; the first number is 0 */

static const struct str categories[CATEGORIES] = { { "parameters", 10 }, { "optimizer state", 15 },
	{ "inputs", 6 }, { "temporaries", 11 }, { "activations", 11 }, { "gradients", 9 },
	{ "autograd detail", 15 }, { "unknown", 7 } };

struct earlier_change {
	int64_t bytes;
	size_t category;
};

struct memory_timeline {
	struct trace_build *b;
	struct arena *a;
	uint32_t track, event[2], key; /* event: allocation and release */
	VEC(int64_t) first;            /* numbers of the first list: times, or a change */
	bool sums;                     /* true: the file has the first form */
	uint64_t lists;                /* number of lists of numbers */
	size_t moment;                 /* index of the moment of the next sums */
	int64_t in_use[CATEGORIES];
	VEC(struct earlier_change) earlier;
	bool timed; /* true: a time is known */
	int64_t now;
	uint64_t changes, odd;
};

static void put_change(struct memory_timeline *x, int64_t bytes, size_t category)
{
	if (!bytes)
		return;
	build_arg_int(x->b, ARG_BYTES, bytes);
	build_arg_text(x->b, x->key, categories[category]);
	build_instant(x->b, x->track, x->event[bytes < 0], x->now, 0);
	x->changes++;
}

/* Sets the time of the next changes. Times do not decrease. */
static void set_time(struct memory_timeline *x, int64_t ns)
{
	if (ns < 0 && !x->timed)
		return;
	x->now = x->timed && ns < x->now ? x->now : ns;
	x->timed = true;
	for (size_t i = 0; i < x->earlier.n; i++)
		put_change(x, x->earlier.v[i].bytes, x->earlier.v[i].category);
	x->earlier.n = 0;
}

/* Adds a change: time, action, bytes (negative: released), category. */
static void take_change(struct memory_timeline *x, const int64_t v[RAW_N])
{
	size_t category = v[3] >= 0 && v[3] < CATEGORIES ? (size_t)v[3] : CATEGORIES - 1;

	set_time(x, v[0]);
	if (x->timed)
		put_change(x, v[2], category);
	else
		VEC_PUSH(x->a, &x->earlier, ((struct earlier_change){ v[2], category }));
}

/* Adds the bytes in use at a moment. Releases come first, so that the use between two changes of
 * one moment is never larger than both before and after them. */
static void take_sums(struct memory_timeline *x, const int64_t v[SIZES_N])
{
	if (x->moment >= x->first.n) {
		x->odd++;
		return;
	}
	set_time(x, num_mul(x->first.v[x->moment++], 1000));
	for (int sign = -1; sign <= 1; sign += 2)
		for (size_t i = 0; i < CATEGORIES; i++) {
			int64_t by = num_sub(v[i + 1], x->in_use[i]);
			if ((by < 0) != (sign < 0))
				continue;
			put_change(x, by, i);
			x->in_use[i] = v[i + 1];
		}
}

/* Takes a list of numbers. The second list shows which form the file has. */
static void take_list(struct memory_timeline *x, const struct pickle_value *numbers, size_t n)
{
	int64_t v[SIZES_N] = { 0 };

	x->lists++;
	if (x->lists == 1) {
		for (size_t i = 0; i < n; i++)
			VEC_PUSH(x->a, &x->first, numbers[i].i);
		return;
	}
	for (size_t i = 0; i < n && i < SIZES_N; i++)
		v[i] = numbers[i].i;
	if (x->lists == 2) {
		x->sums = n == SIZES_N;
		if (!x->sums && x->first.n == RAW_N)
			take_change(x, x->first.v);
	}
	if (x->sums && n == SIZES_N)
		take_sums(x, v);
	else if (!x->sums && n == RAW_N)
		take_change(x, v);
	else
		x->odd++;
}

static bool close_list(void *user, const struct pickle_container *c, struct pickle_value *out)
{
	struct memory_timeline *x = user;
	bool numbers = c->type == PICKLE_LIST && c->whole && c->n;

	(void)out;
	for (size_t i = 0; i < c->n; i++)
		numbers &= c->v[i].type == PICKLE_INT;
	if (!numbers)
		return true;
	take_list(x, c->v, c->n);
	return true;
}

/* Rates a text that begins with "[[" and a list of numbers, which may be longer than the head. */
int sniff_memory_timeline(struct str head, struct str path)
{
	size_t n = 0, numbers = 1;

	(void)path;
	for (size_t i = 0; i < head.n; i++) {
		char ch = head.p[i];
		if ((uint8_t)ch <= ' ')
			continue;
		if (ch == '[' && n < 2 && numbers == 1) {
			n++;
		} else if (n == 2 && ch == ',') {
			numbers++;
		} else if (n == 2 && ch == ']') {
			return 80;
		} else if (n != 2 || !(char_is_digit(ch) || ch == '-')) {
			return 0;
		}
	}
	return n == 2 && numbers > 1 ? 80 : 0; /* times that fill the head */
}

static void begin(struct memory_timeline *x)
{
	struct trace_build *b = x->b;

	build_start(b, TRACE_TIMELINE, 1000);
	x->track = build_track(b, build_process(b, 0), ID_NONE, TRACK_THREAD, 0);
	x->event[0] = build_event(b, CATEGORY_ALLOCATION, build_string(b, S("allocation")));
	x->event[1] = build_event(b, CATEGORY_ALLOCATION, build_string(b, S("release")));
	x->key = build_key(b, S("category"));
}

/* Processes the data that can only be interpreted at the end of the file. */
static void finish(struct memory_timeline *x)
{
	if (x->lists == 1 && x->first.n == RAW_N)
		take_change(x, x->first.v);
	if (x->earlier.n)
		set_time(x, 0);
	build_origin(x->b, 0, false);
}

bool read_memory_timeline(struct src *s, struct trace_build *b, struct arena *a, struct err *e)
{
	struct memory_timeline x = { .b = b, .a = a };
	struct intern texts;
	const struct pickle_caller caller = { .close = close_list,
		.user = &x,
		.texts = &texts,
		.notes = build_notes(b),
		.what = "memory timeline" };
	struct pickle_value root = { .type = PICKLE_NONE };
	bool cut = false;

	intern_init(&texts, a);
	begin(&x);
	bool good = pickle_read_either(s, &caller, &root, &cut, a);
	s->damage->kept = x.changes;
	if (!good)
		return false;
	finish(&x);
	if (!x.changes)
		return err_set(e, ERR_DATA_LOSS,
		        "%.*s: not a memory timeline: lists of times and bytes were expected",
		        STR(s->name));
	note_count(build_notes(b), x.odd,
	        "note: %2$s: %1$llu {list has|lists have} neither 4 nor 9 numbers: {it is|they "
	        "are} "
	        "left out\n",
	        (unsigned long long)x.odd, str_z(a, s->name));
	return !src_failed(s);
}
