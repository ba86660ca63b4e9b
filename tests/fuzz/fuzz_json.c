/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON tokenizer: reads the input value by value, in one window, in pieces, and without the
 * members that it remembers. Properties: all end at the same place for the same reason, with the
 * same keys; items lie in the window; a value walked without a flaw and a skipped one end at the
 * same place.
 */
#include "base/map.h"
#include "io/json_in.h"
#include "rig.h"

#define UNPACKED_MAX ((size_t)16 << 20)

enum manner { WALK, WALK_FORGETTING, SKIP };

struct walked {
	uint64_t at, values, keys;
	enum json_stop stop;
};

/* Checks a string or a number. */
static void look(struct json_in *j, const struct json_value *v, struct arena *a)
{
	struct sb b = sb_in(a);
	struct str text;
	int64_t n;

	if (v->type != JSON_STRING && v->type != JSON_NUMBER)
		return;
	if (v->text.p < (const char *)j->s->p || v->text.p + v->text.n > j->end)
		abort();
	text = json_in_text(j, v, &b);
	json_decimal(text, 3, &n);
}

/* Reads one value with everything in it. */
static bool walk(struct json_in *j, bool forget, struct arena *a, struct walked *w)
{
	uint64_t objects[JSON_IN_DEPTH_MAX / 64 + 1];
	struct json_value v;
	struct str key;

	for (;;) {
		if (!json_in_value(j, &v))
			return false;
		w->values++;
		look(j, &v, a);
		if (v.type <= JSON_ARRAY) {
			if (!json_in_enter(j))
				return false;
			uint64_t bit = (uint64_t)1 << j->depth % 64;
			objects[j->depth / 64] =
			        (objects[j->depth / 64] & ~bit) | (v.type == JSON_OBJECT ? bit : 0);
		}
		for (;;) {
			if (!j->depth)
				return true;
			bool object = objects[j->depth / 64] >> j->depth % 64 & 1;
			if (forget) {
				memset(j->members, 0, sizeof j->members);
				j->member = 0;
			}
			if (object ? json_in_member(j, &key) : json_in_element(j)) {
				if (object)
					w->keys = w->keys * 31 + hash_bytes(key.p, key.n);
				break;
			}
			if (j->stop != JSON_STOP_NONE)
				return false;
		}
	}
}

static bool tick(void *user, uint64_t done, uint64_t size)
{
	(void)user;
	return done <= size;
}

/* Reads values up to the end or the first fault. */
static struct walked read_all(struct str bytes, bool pieces, enum manner manner, struct arena *a)
{
	struct walked w = { 0 }, before;
	struct err e = { .a = a };
	struct json_in j;
	struct src *s;
	bool good = true;

	if (!src_memory(&s, a, S("input"), bytes, &e))
		abort();
	s->damage->recover = true;
	if (pieces)
		src_on_progress(s, tick, NULL);
	if (!json_in_open(&j, s))
		return w;
	while (good && json_in_at(&j, j.p) < UNPACKED_MAX) {
		while (json_in_peek(&j) < 0 && json_in_more(&j))
			;
		before = w;
		do {
			w = before;
			good = manner == SKIP ? json_in_skip(&j)
			                      : walk(&j, manner == WALK_FORGETTING, a, &w);
		} while (!good && json_in_more(&j));
		if (good)
			json_in_take(&j);
	}
	w.at = json_in_at(&j, j.p);
	w.stop = j.stop;
	return w;
}

/* Returns the end of the first value. */
static uint64_t first_end(struct str bytes, bool skip, struct arena *a)
{
	struct err e = { .a = a };
	struct json_in j;
	struct walked w = { 0 };
	struct src *s;

	if (!src_memory(&s, a, S("input"), bytes, &e) || !json_in_open(&j, s) ||
	        !(skip ? json_in_skip(&j) : walk(&j, false, a, &w)))
		return UINT64_MAX;
	return json_in_at(&j, j.p);
}

static void expect_same(struct walked x, struct walked y)
{
	if (x.at != y.at || x.values != y.values || x.keys != y.keys || x.stop != y.stop)
		abort();
}

static void check(struct arena *a, struct str bytes)
{
	struct walked one = read_all(bytes, false, WALK, a);

	expect_same(one, read_all(bytes, true, WALK, a));
	expect_same(one, read_all(bytes, false, WALK_FORGETTING, a));
	read_all(bytes, true, SKIP, a);
	uint64_t end = first_end(bytes, false, a);
	if (end != UINT64_MAX && end != first_end(bytes, true, a))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_within(check, data, size);
}
