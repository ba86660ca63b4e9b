/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON form of pickles. The outer lists are read element by element; each value in them, such
 * as an entry of a snapshot, is an item.
 */
#include "io/json_in.h"
#include "io/pickle.h"

#define OUTER_LISTS 3 /* maximum depth of the lists and dicts that are not items */

struct json_form {
	struct arena *a;
	const struct pickle_caller *caller;
	struct json_in j;
	struct pickle_items items; /* items of containers that have not ended, innermost last */
	struct sb text;
	uint64_t opened; /* number of containers */
};

static struct pickle_value text_value(struct json_form *f, const struct json_value *v)
{
	f->text.n = 0;
	return (struct pickle_value){ .type = PICKLE_TEXT,
		.n = 1,
		.id = intern_add(f->caller->texts, json_in_text(&f->j, v, &f->text)) };
}

static struct pickle_value scalar_value(struct json_form *f, const struct json_value *v)
{
	struct pickle_value made = { .type = PICKLE_NONE, .n = 1 };

	if (v->type == JSON_STRING)
		return text_value(f, v);
	if (v->type == JSON_NUMBER && json_decimal(v->text, 0, &made.i) == JSON_NUMBER_GOOD)
		made.type = PICKLE_INT;
	if (v->type == JSON_TRUE || v->type == JSON_FALSE) {
		made.type = PICKLE_BOOL;
		made.i = v->type == JSON_TRUE;
	}
	return made;
}

/* A container while it is read. */
struct json_level {
	size_t from; /* index of its first item */
	uint64_t number;
	bool list;
};

static struct json_level open_level(struct json_form *f, bool list)
{
	return (struct json_level){ f->items.n, ++f->opened, list };
}

/* Ends a container. It becomes an item of the container around it. */
static bool end_level(struct json_form *f, const struct json_level *around,
        const struct json_level *level, bool whole)
{
	struct pickle_container c = { .type = level->list ? PICKLE_LIST : PICKLE_DICT,
		.whole = whole,
		.around = around->number,
		.v = f->items.v + level->from,
		.n = f->items.n - level->from };
	struct pickle_value made = { .type = PICKLE_NONE, .n = 1 };
	bool good = f->caller->close(f->caller->user, &c, &made);

	f->items.n = level->from;
	pickle_add_item(f->a, &f->items, around->from, &made);
	return good;
}

/* Reads a value inside an item. */
static bool read_value(struct json_form *f, const struct json_level *around)
{
	struct json_in *j = &f->j;
	struct json_value v, key = { .type = JSON_STRING };

	if (!json_in_value(j, &v))
		return false;
	if (v.type != JSON_OBJECT && v.type != JSON_ARRAY) {
		VEC_PUSH(f->a, &f->items, scalar_value(f, &v));
		return true;
	}
	struct json_level level = open_level(f, v.type == JSON_ARRAY);
	if (!json_in_enter(j))
		return false;
	while (level.list ? json_in_element(j) : json_in_member(j, &key.text)) {
		if (!level.list)
			VEC_PUSH(f->a, &f->items, text_value(f, &key));
		if (!read_value(f, &level))
			return false;
	}
	return j->stop == JSON_STOP_NONE && end_level(f, around, &level, true);
}

/* Reads an item. Reads it again with more of the file if it ends after the window. */
static bool read_item(struct json_form *f, const struct json_level *around)
{
	size_t from = f->items.n;
	bool good;

	while (!(good = read_value(f, around)) && f->j.stop == JSON_STOP_MORE &&
	        json_in_more(&f->j)) {
		f->items.n = from;
		json_in_again(&f->j);
	}
	if (good)
		json_in_take(&f->j);
	else
		f->items.n = from;
	return good;
}

/* Reads the key of a member between items. */
static bool read_key(struct json_form *f)
{
	struct json_value v;
	bool good;

	do
		good = json_in_value(&f->j, &v) && v.type == JSON_STRING &&
		       json_in_peek(&f->j) == ':';
	while (!good && json_in_more(&f->j));
	if (!good)
		return false;
	VEC_PUSH(f->a, &f->items, text_value(f, &v));
	json_in_pass(&f->j);
	return true;
}

/* Reads a value outside of all items. The part of a container that a truncated file contains
 * counts. */
static bool read_outer(struct json_form *f, const struct json_level *around, unsigned depth)
{
	int first = json_in_ahead(&f->j);
	bool list = first == '[', whole = false;

	if (depth == OUTER_LISTS || (!list && (first != '{' || depth)))
		return read_item(f, around);
	struct json_level level = open_level(f, list);
	for (json_in_pass(&f->j);;) {
		int ch = json_in_ahead(&f->j);
		if (ch == ',' || ch == '}' || ch == ']')
			json_in_pass(&f->j);
		whole = ch == '}' || ch == ']';
		if (ch == ',')
			continue;
		if (whole || ch < 0 || (!list && !read_key(f)))
			break;
		if (!read_outer(f, &level, depth + 1))
			break;
	}
	f->items.n -= !list && (f->items.n - level.from) % 2;
	return end_level(f, around, &level, whole) && whole;
}

static bool read_json(struct src *s, const struct pickle_caller *caller, struct pickle_value *root,
        bool *cut, struct arena *a)
{
	struct json_form f = { .a = a, .caller = caller, .text = sb_in(a) };
	struct json_level outside = { .from = 0 };
	unsigned noted = 0;

	VEC_ROOM(a, &f.items, 1); /* never NULL, even without items */
	*cut = false;
	*root = (struct pickle_value){ .type = PICKLE_NONE, .n = 1 };
	if (!json_in_open_utf8(&f.j, s))
		return false;
	bool whole = read_outer(&f, &outside, 0);
	json_in_note_flaws(&f.j, &noted, caller->notes);
	if (json_in_failed(&f.j))
		return false;
	if (f.items.n)
		*root = f.items.v[0];
	if (whole)
		return true;
	*cut = s->damage->recover;
	s->damage->at = json_in_at(&f.j, f.j.p);
	return err_set(err_at(s->e, s->name, s->damage->at), ERR_DATA_LOSS,
	               "%.*s: %s at byte %llu: the rest of a %s was expected", STR(s->name),
	               f.j.stop == JSON_STOP_BAD ? "bad JSON" : "truncated",
	               (unsigned long long)s->damage->at, caller->what) ||
	       *cut;
}

bool pickle_is_json(struct str head)
{
	static const char blanks[] = " \t\r\n";
	size_t i = 0;

	while (i < head.n && head.p[i] && strchr(blanks, head.p[i]))
		i++;
	return i < head.n && head.p[i] == '{';
}

bool pickle_read_either(struct src *s, const struct pickle_caller *caller,
        struct pickle_value *root, bool *cut, struct arena *a)
{
	if (src_need(s, 1) && *s->p != '{' && *s->p != '[' && *s->p != ' ' && *s->p != '\n')
		return pickle_read(s, caller, root, cut, a);
	return read_json(s, caller, root, cut, a);
}
