/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON documents as trees.
 */
#include "io/json_tree.h"

static struct json_node *add_node(
        struct arena *a, struct json_node *parent, struct str key, enum json_type type)
{
	struct json_node *x = ARENA_NEW(a, struct json_node);

	*x = (struct json_node){ .type = type, .key = key, .parent = parent };
	if (!parent)
		return x;
	*(parent->last ? &parent->last->next : &parent->first) = x;
	parent->last = x;
	parent->n++;
	return x;
}

/* Returns the bytes of a string or of a number, in a. */
static struct str take_text(struct json_in *j, const struct json_value *v, struct arena *a)
{
	struct sb b = sb_in(a);

	return str_copy(a, json_in_text(j, v, &b));
}

/* Reads the value at the cursor and adds it. */
static struct json_node *read_value(
        struct json_in *j, struct arena *a, struct json_node *parent, struct str key)
{
	struct json_value v;

	const char *from = j->p;
	if (!json_in_value(j, &v))
		return NULL;
	if (v.type == JSON_NUMBER && !json_is_number(v.text))
		return json_stop_at(j, from, JSON_STOP_BAD), NULL;
	struct json_node *x = add_node(a, parent, key, v.type);
	if (v.type == JSON_STRING || v.type == JSON_NUMBER)
		x->text = take_text(j, &v, a);
	return x;
}

/* Reads the key of the next member of an object, or moves to the next element of an array. */
static bool next_in(struct json_in *j, const struct json_node *in, struct arena *a, struct str *key)
{
	struct json_value v = { .type = JSON_STRING };

	*key = STR_NONE;
	if (in->type == JSON_ARRAY)
		return json_in_element(j);
	if (!json_in_member(j, &v.text))
		return false;
	*key = take_text(j, &v, a);
	return true;
}

static bool opens(const struct json_node *x)
{
	return x->type == JSON_OBJECT || x->type == JSON_ARRAY;
}

/* Reads one complete value. On failure, j->stop has the reason. */
static bool read_all(struct json_in *j, struct arena *a, struct json_node **root)
{
	struct json_node *at = *root = read_value(j, a, NULL, STR_NONE);
	unsigned depth = 0;
	struct str key;

	if (!at)
		return false;
	if (!opens(at))
		return true;
	for (bool enters = true;;) {
		if (enters && ++depth > JSON_TREE_DEPTH_MAX)
			return json_stop_at(j, j->p, JSON_STOP_DEEP);
		if (enters && !json_in_enter(j))
			return false;
		enters = false;
		if (next_in(j, at, a, &key)) {
			struct json_node *x = read_value(j, a, at, key);
			if (!x)
				return false;
			enters = opens(x);
			at = enters ? x : at;
		} else if (j->stop != JSON_STOP_NONE) {
			return false;
		} else if (at == *root) {
			return true;
		} else {
			at = at->parent;
			depth--;
		}
	}
}

static bool fail_at(const struct json_in *j, struct err *e)
{
	if (j->stop == JSON_STOP_DEEP)
		return err_set(e, ERR_DATA_LOSS, "JSON with more than %d nested arrays and objects",
		        JSON_TREE_DEPTH_MAX);
	return err_set(e, ERR_DATA_LOSS, "malformed JSON at byte %llu",
	        (unsigned long long)json_in_at(j, j->p));
}

/* Fails for text that the tokenizer tolerates. */
static bool check_flaws(const struct json_in *j, struct err *e)
{
	for (unsigned i = 0; i < JSON_FLAW_N; i++)
		if (j->flaws >> i & 1)
			return err_set(e, ERR_DATA_LOSS, "malformed JSON at byte %llu",
			        (unsigned long long)j->flaw_at[i]);
	return true;
}

struct json_node *json_tree(struct arena *a, struct str text, struct err *e)
{
	struct json_node *root = NULL;
	struct json_in j;
	struct src *s;

	if (!text.n || text.p[0] == '\x1f') { /* gzip data would be decompressed */
		err_set(e, ERR_DATA_LOSS, "malformed JSON at byte 0");
		return NULL;
	}
	if (!str_contains(
	            S("{[\""), str_make(text.p, 1))) /* a number or a word ends before a blank */
		text = str_fmt(a, "%.*s ", STR(text));
	if (!src_memory(&s, a, S("JSON"), text, e) || !src_need(s, text.n) ||
	        !json_in_open_utf8(&j, s))
		return NULL;
	if (!read_all(&j, a, &root))
		return fail_at(&j, e), NULL;
	if (!check_flaws(&j, e))
		return NULL;
	json_in_take(&j);
	if (json_in_ahead(&j) >= 0)
		return fail_at(&j, e), NULL;
	return root;
}

struct json_node *json_tree_find(const struct json_node *object, const char *key)
{
	struct json_node *x = object && object->type == JSON_OBJECT ? object->first : NULL;

	while (x && !str_eq(x->key, str_of(key)))
		x = x->next;
	return x;
}

struct str json_tree_text(const struct json_node *object, const char *key)
{
	const struct json_node *x = json_tree_find(object, key);

	return x && x->type == JSON_STRING ? x->text : STR_NONE;
}

/* Writes a value, or the bracket that opens it. */
static void write_start(const struct json_node *x, struct json *j)
{
	if (x->parent && x->parent->type == JSON_OBJECT)
		json_key(j, x->key);
	switch (x->type) {
	case JSON_OBJECT: json_object(j); break;
	case JSON_ARRAY: json_array(j); break;
	case JSON_STRING: json_string(j, x->text); break;
	case JSON_NUMBER: json_literal(j, x->text); break;
	case JSON_TRUE: json_literal(j, S("true")); break;
	case JSON_FALSE: json_literal(j, S("false")); break;
	default: json_literal(j, S("null"));
	}
}

static void write_end(const struct json_node *x, struct json *j)
{
	if (x->type == JSON_OBJECT)
		json_object_end(j);
	else if (x->type == JSON_ARRAY)
		json_array_end(j);
}

void json_tree_write(const struct json_node *node, struct json *j)
{
	const struct json_node root = { .type = node->type,
		.text = node->text,
		.first = node->first,
		.last = node->last,
		.n = node->n };
	const struct json_node *x = &root;

	write_start(x, j);
	if (x->first) {
		x = x->first;
		write_start(x, j);
		while (x) {
			if (x->first) {
				x = x->first;
				write_start(x, j);
				continue;
			}
			write_end(x, j);
			while (!x->next && x->parent != node) {
				x = x->parent;
				write_end(x, j);
			}
			x = x->next;
			if (x)
				write_start(x, j);
		}
	}
	write_end(&root, j);
}
