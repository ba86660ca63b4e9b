/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers for leaves of the streamed formats: places of faults, texts, lists of numbers, map
 * entries, and the message Tuple.
 */
#include <stdint.h>

#include "base/sort.h"
#include "io/pb.h"
#include "model/read/read_leaf.h"

void reading_init(struct pb_reading *r, struct src *s, const char *what, struct ingest *to,
        struct arena *a, struct err *e)
{
	*r = (struct pb_reading){ .to = to, .a = a };
	wire_init(&r->w, s, what, e);
}

/* Reads the value announced by wire_next as the leaf to decode. */
bool reading_leaf(struct pb_reading *r)
{
	if (!wire_leaf(&r->w, &r->leaf))
		return false;
	r->leaf_at = src_at(r->w.s) - r->leaf.n;
	return true;
}

/* Fills *e with the position of near, or of the leaf if near is outside of it (for joined
 * copies). */
bool reading_refuse(struct pb_reading *r, const void *near, const char *why)
{
	uintptr_t off = (uintptr_t)near - (uintptr_t)r->leaf.p;

	if (r->w.bad)
		return false;
	return wire_fail(&r->w, r->leaf_at + (off <= r->leaf.n ? off : 0), "%s", why);
}

/* True if decoding reached the end. */
bool reading_end(struct pb_reading *r, const struct leaf *l)
{
	if (!l->bad && !r->w.bad)
		return true;
	return reading_refuse(r, l->p, r->why ? r->why : "a malformed or truncated value");
}

/* Validates a submessage that is not stored. */
bool read_judge(struct pb_reading *r, const struct ProtobufCMessageDescriptor *d, struct str bytes,
        unsigned depth)
{
	size_t at = 0;

	if (!bytes.n || pb_gate(d, bytes, depth, &at))
		return true;
	return reading_refuse(r, bytes.p + at, "a malformed or truncated value");
}

/* Refuses a copy whose last field is truncated, because joined to the next copy it would seem
 * complete. */
static void check_copy(struct pb_reading *r, struct str copy)
{
	struct leaf l = leaf_of(copy);

	while (leaf_next(&l))
		leaf_skip(&l);
	reading_end(r, &l);
}

/* Appends a copy to the earlier ones. The buffer doubles, so repeated copies cost little. */
void read_join(struct pb_reading *r, struct str *to, struct str copy)
{
	size_t n = to->n + copy.n;

	if (!copy.n)
		return;
	if (!to->n) {
		*to = copy;
		return;
	}
	if (to->p != r->join)
		check_copy(r, *to);
	check_copy(r, copy);
	if (to->p != r->join || n > r->join_cap) {
		r->join_cap = 2 * n;
		r->join = ARENA_ARRAY(r->a, r->join_cap, char);
		memcpy(r->join, to->p, to->n);
	}
	memcpy(r->join + to->n, copy.p, copy.n);
	*to = str_make(r->join, n);
}

/* Reads a packed list of varints. */
void read_packed(struct pb_reading *r, struct leaf *l, struct numbers *to)
{
	struct leaf list = leaf_of(leaf_bytes(l));

	while (list.p < list.end && !list.bad) {
		int64_t v = (int64_t)leaf_varint(&list);
		if (to && !list.bad)
			VEC_PUSH(r->a, to, v);
	}
	l->bad |= list.bad;
}

/* Reads all values of a Tuple. */
bool read_tuple(struct pb_reading *r, struct str bytes, unsigned depth, struct numbers *to)
{
	struct leaf l = leaf_below(bytes, depth);

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_BYTES): read_packed(r, &l, to); break;
		case LEAF_TAG(1, WIRE_VARINT): {
			int64_t v = (int64_t)leaf_varint(&l);
			VEC_PUSH(r->a, to, v);
			break;
		}
		default: leaf_skip(&l);
		}
	}
	return reading_end(r, &l);
}

/* ---- map entries ---- */

/* Reads the value of an entry. Returns false if the tag belongs to another field. */
static bool take_value(
        struct pb_reading *r, struct leaf *l, enum entry_form form, struct map_entry *out)
{
	if (form & ENTRY_NUMBER) {
		if (l->tag != LEAF_TAG(2, WIRE_VARINT))
			return false;
		out->number = (int64_t)leaf_varint(l);
	} else if (l->tag != LEAF_TAG(2, WIRE_BYTES)) {
		return false;
	} else if (form & ENTRY_TEXT) {
		out->value = read_text(r, l);
	} else {
		read_join(r, &out->value, leaf_bytes(l));
	}
	return true;
}

/* Reads one entry of a map. A value that is a message is not decoded. */
bool read_entry(struct pb_reading *r, struct str bytes, unsigned depth, enum entry_form form,
        struct map_entry *out)
{
	struct leaf l = leaf_below(bytes, depth);

	*out = (struct map_entry){ .name = { "", 0 }, .value = { "", 0 } };
	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES) && (form & ENTRY_NAMED))
			out->name = read_text(r, &l);
		else if (l.tag == LEAF_TAG(1, WIRE_VARINT) && !(form & ENTRY_NAMED))
			out->key = (int64_t)leaf_varint(&l);
		else if (!take_value(r, &l, form, out))
			leaf_skip(&l);
	}
	if (form & ENTRY_KEY32)
		out->key = (int32_t)(uint32_t)out->key;
	return reading_end(r, &l);
}

bool read_entry_to(struct pb_reading *r, struct str bytes, unsigned depth, enum entry_form form,
        struct entries *to)
{
	struct map_entry e;

	if (!read_entry(r, bytes, depth, form, &e))
		return false;
	VEC_PUSH(r->a, to, e);
	return true;
}

static int by_key(const void *ctx, uint32_t a, uint32_t b)
{
	const struct map_entry *v = ctx;

	return (v[a].key > v[b].key) - (v[a].key < v[b].key);
}

/* Sorts few entries by insertion, which is stable, and many entries by merging. */
static void sort_entries(struct arena *a, struct entries *v)
{
	if (v->n > 16) {
		sort_array(a, v->v, v->n, sizeof *v->v, by_key);
		return;
	}
	for (size_t i = 1; i < v->n; i++) {
		struct map_entry e = v->v[i];
		size_t k = i;
		for (; k > 0 && v->v[k - 1].key > e.key; k--)
			v->v[k] = v->v[k - 1];
		v->v[k] = e;
	}
}

/* Sorts by number. Equal keys keep their order. */
void entries_sort(struct arena *a, struct entries *v)
{
	bool sorted = true;

	for (size_t i = 1; i < v->n && sorted; i++)
		sorted = v->v[i - 1].key < v->v[i].key;
	if (!sorted)
		sort_entries(a, v);
}

/* True for the last entry of its key in a sorted list. */
bool entries_last(const struct entries *v, size_t i)
{
	return i + 1 == v->n || v->v[i].key != v->v[i + 1].key;
}

/* Sorts by number. Among equal keys, only the last stays. */
void entries_tidy(struct arena *a, struct entries *v)
{
	size_t kept = 0;

	entries_sort(a, v);
	for (size_t i = 0; i < v->n; i++)
		if (entries_last(v, i))
			v->v[kept++] = v->v[i];
	v->n = kept;
}

struct mem_item read_allocation(struct leaf *l)
{
	struct mem_item m = { .allocation = true };

	while (leaf_next(l)) {
		switch (l->tag) {
		case LEAF_TAG(1, WIRE_VARINT): m.time = (int64_t)leaf_varint(l); break;
		case LEAF_TAG(2, WIRE_VARINT): m.bytes = (int64_t)leaf_varint(l); break;
		default: leaf_skip(l);
		}
	}
	return m;
}
