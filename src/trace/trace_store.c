/* SPDX-License-Identifier: Apache-2.0
 *
 * Slices of a track in blocks: appending, sorting, iterating. Independent of formats and
 * categories.
 */
#include "base/sort.h"
#include "trace/trace_internal.h"

#define RECORD_HEAD (2 + 3 * 8 + 2 * VARINT_MAX) /* bytes of a record without its arguments */

static const uint8_t number_bytes[] = { 2, 3, 4, 8 };

static struct slice_block *last_block(struct trace_track *k)
{
	return k->blocks.n ? &k->blocks.v[k->blocks.n - 1] : NULL;
}

/* Returns a block with room for a record of the given size. */
static struct slice_block *block_with_room(
        struct trace_build *b, struct trace_track *k, size_t size)
{
	struct slice_block *last = last_block(k), made = { .first = k->n };

	if (last && last->cap - last->size >= size)
		return last;
	made.cap = last ? 2 * last->cap : SLICE_BLOCK_MIN;
	if (made.cap > SLICE_BLOCK)
		made.cap = SLICE_BLOCK;
	if (made.cap < size)
		made.cap = (uint32_t)size;
	if (made.cap == SLICE_BLOCK && b->spare.n)
		made.bytes = b->spare.v[--b->spare.n];
	else
		made.bytes = ARENA_ARRAY(b->t->a, made.cap, uint8_t);
	VEC_PUSH(b->t->a, &k->blocks, made);
	return &k->blocks.v[k->blocks.n - 1];
}

static uint8_t *put_number(uint8_t *p, uint64_t v, unsigned bytes)
{
	le64_put(p, v);
	return p + bytes;
}

static uint64_t take_number(const uint8_t **p, unsigned bytes)
{
	uint64_t v = le64_get(*p) & UINT64_MAX >> (64 - 8 * bytes);

	*p += bytes;
	return v;
}

/* Returns the index in number_bytes for a number. */
static unsigned size_of(uint64_t v)
{
	return v <= 0xffff ? 0 : v <= 0xffffff ? 1 : v <= 0xffffffff ? 2 : 3;
}

static void encode(struct slice_block *block, int64_t before, const struct slice *s)
{
	uint64_t start = zigzag((int64_t)((uint64_t)s->start - (uint64_t)before));
	uint64_t length = (uint64_t)s->length;
	unsigned event = s->event <= 0xff ? 0 : s->event <= 0xffff ? 1 : 2;
	uint8_t *p = block->bytes + block->size, *head = p++;

	if (s->form != SLICE_COMPLETE) {
		event = RECORD_FORM;
		*p++ = (uint8_t)s->form;
	}
	*head = (uint8_t)(event | size_of(start) << 2 | size_of(length) << 4);
	p = put_number(p, s->event, event == RECORD_FORM ? 4 : 1u << event);
	p = put_number(p, start, number_bytes[size_of(start)]);
	p = put_number(p, length, number_bytes[size_of(length)]);
	if (s->correlation) {
		*head |= RECORD_CORRELATION;
		p = varint_put(p,
		        zigzag((int64_t)((uint64_t)s->correlation - (uint64_t)block->correlation)));
	}
	if (s->args.n) {
		*head |= RECORD_ARGS;
		p = varint_put(p, s->args.n);
		memcpy(p, s->args.p, s->args.n);
		p += s->args.n;
	}
	block->size = (uint32_t)(p - block->bytes);
	block->n++;
}

const uint8_t *store_decode(
        const struct slice_block *block, const uint8_t *p, int64_t *start, struct slice *out)
{
	unsigned head = *p++, event = head & RECORD_FORM;
	uint64_t v;

	out->form = SLICE_COMPLETE;
	if (event == RECORD_FORM)
		out->form = (enum slice_form) * p++;
	out->event = (uint32_t)take_number(&p, event == RECORD_FORM ? 4 : 1u << event);
	v = take_number(&p, number_bytes[head >> 2 & 3]);
	out->start = *start = (int64_t)((uint64_t)*start + (uint64_t)unzigzag(v));
	out->length = (int64_t)take_number(&p, number_bytes[head >> 4 & 3]);
	out->correlation = 0;
	if (head & RECORD_CORRELATION) {
		v = varint_take(&p);
		out->correlation = (int64_t)((uint64_t)block->correlation + (uint64_t)unzigzag(v));
	}
	out->args = STR_NONE;
	out->keys = 0;
	if (head & RECORD_ARGS) {
		v = varint_take(&p);
		out->args = str_make(p, (size_t)v);
		out->keys = ARG_BITS_ALL;
		p += v;
	}
	return p;
}

/* Makes the next record an entry of the block if it is far enough from the last one. before: start
 * of the record before. */
static void add_entry(struct slice_block *block, int64_t before)
{
	uint32_t n = block->entries;

	if (n == SLICE_ENTRIES || block->size < (n + 1) * (SLICE_BLOCK / (SLICE_ENTRIES + 1)) ||
	        block->size > UINT16_MAX)
		return;
	block->entry_at[n] = (uint16_t)block->size;
	block->entry_n[n] = (uint16_t)block->n;
	block->entry_start[n] = before;
	block->entries++;
}

void store_append(struct trace_build *b, const struct slice *s)
{
	struct trace_track *k = &b->t->tracks.v[s->track];
	struct build_track *state = &b->tracks.v[s->track];
	struct slice_block *block = block_with_room(b, k, RECORD_HEAD + s->args.n);
	int64_t before = state->last_start;

	if (block->n == 0) {
		block->base = before = s->start;
		block->correlation = s->correlation;
	} else if (!block->correlation) {
		block->correlation = s->correlation; /* no earlier slice of the block has a
		                                        correlation */
	}
	add_entry(block, before);
	encode(block, before, s);
	if (k->n && (s->start < state->last_start ||
	                    (s->start == state->last_start && s->length > state->last_length)))
		state->unordered = true;
	state->last_start = s->start;
	state->last_length = s->length;
	k->start = k->n && k->start < s->start ? k->start : s->start;
	k->end = k->n && k->end > slice_end(s) ? k->end : slice_end(s);
	k->n++;
	if (s->form != (enum slice_form)FORM_END)
		k->categories |= CATEGORY_BIT(b->t->events.v[s->event].category);
}

/* ---- iterating ---- */

struct slice_iter trace_slices(const struct trace *t, uint32_t track)
{
	return (struct slice_iter){ .t = t, .track = track, .number = t->tracks.v[track].first };
}

struct slice_iter trace_slices_if(const struct trace *t, uint32_t track, uint32_t categories)
{
	struct slice_iter i = trace_slices(t, track);

	if (!(t->tracks.v[track].categories & categories))
		i.block = (uint32_t)t->tracks.v[track].blocks.n;
	return i;
}

bool slice_next(struct slice_iter *i, struct slice *out)
{
	const struct trace_track *k = &i->t->tracks.v[i->track];
	const struct trace_event *e;

	while (!i->left) {
		const struct slice_block *next;

		if (i->block == k->blocks.n)
			return false;
		next = &k->blocks.v[i->block++];
		i->p = next->bytes;
		i->start = next->base;
		i->left = next->n;
	}
	i->p = store_decode(&k->blocks.v[i->block - 1], i->p, &i->start, out);
	i->left--;
	e = &i->t->events.v[out->event];
	out->number = i->number++;
	out->track = i->track;
	out->category = e->category;
	out->name = e->name;
	return true;
}

/* Returns the last track that begins at or before the slice and has slices. */
uint32_t trace_track_of(const struct trace *t, uint32_t number)
{
	size_t i;

	BISECT(i, 1, t->tracks.n, t->tracks.v[i].first <= number);
	return (uint32_t)i - 1;
}

void trace_slice(const struct trace *t, uint32_t number, struct slice *out)
{
	struct slice_iter i = { .t = t, .track = trace_track_of(t, number) };
	const struct trace_track *k = &t->tracks.v[i.track];
	size_t next;

	BISECT(next, 1, k->blocks.n, k->first + k->blocks.v[next].first <= number);
	const struct slice_block *b = &k->blocks.v[next - 1];
	uint32_t left = number - k->first - b->first, entry = 0;
	while (entry < b->entries && b->entry_n[entry] <= left)
		entry++;
	uint32_t before = entry ? b->entry_n[entry - 1] : 0;
	i.block = (uint32_t)next;
	i.p = b->bytes + (entry ? b->entry_at[entry - 1] : 0);
	i.start = entry ? b->entry_start[entry - 1] : b->base;
	i.left = b->n - before;
	i.number = k->first + b->first + before;
	while (slice_next(&i, out) && out->number < number) {
	}
}

/* ---- ordering ---- */

/* A record's position and sort key. */
struct order_key {
	int64_t start, length;
	uint32_t block, at;
};

static int compare_keys(const void *keys, uint32_t a, uint32_t b)
{
	const struct order_key *x = (const struct order_key *)keys + a;
	const struct order_key *y = (const struct order_key *)keys + b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->length < y->length) - (x->length > y->length);
}

static struct order_key *read_keys(const struct trace_track *k, struct arena *a)
{
	struct order_key *keys = ARENA_ARRAY(a, k->n, struct order_key), *key = keys;
	struct slice s;

	for (uint32_t i = 0; i < k->blocks.n; i++) {
		const struct slice_block *b = &k->blocks.v[i];
		const uint8_t *p = b->bytes, *end = p + b->size;
		int64_t start = b->base;

		while (p < end) {
			uint32_t at = (uint32_t)(p - b->bytes);
			p = store_decode(b, p, &start, &s);
			*key++ = (struct order_key){ s.start, s.length, i, at };
		}
	}
	return keys;
}

struct trace_track store_take(struct trace_build *b, uint32_t track)
{
	struct trace_track *k = &b->t->tracks.v[track], taken = *k;

	k->n = 0;
	k->start = k->end = 0;
	k->blocks.v = NULL;
	k->blocks.n = k->blocks.cap = 0;
	return taken;
}

void store_release(struct trace_build *b, const struct trace_track *taken)
{
	for (uint32_t i = 0; i < taken->blocks.n; i++)
		if (taken->blocks.v[i].cap == SLICE_BLOCK)
			VEC_PUSH(b->scratch, &b->spare, taken->blocks.v[i].bytes);
}

void store_order(struct trace_build *b, uint32_t track)
{
	struct arena_mark mark = arena_mark(b->scratch);
	struct slice s = { .track = track };
	const struct order_key *keys;
	const uint32_t *order;
	struct trace_track old;

	if (!b->tracks.v[track].unordered)
		return;
	keys = read_keys(&b->t->tracks.v[track], b->scratch);
	order = sort_order(b->scratch, b->t->tracks.v[track].n, compare_keys, keys);
	old = store_take(b, track);
	for (uint32_t i = 0; i < old.n; i++) {
		const struct order_key *key = &keys[order[i]];
		const struct slice_block *from = &old.blocks.v[key->block];
		int64_t ignored = 0;

		store_decode(from, from->bytes + key->at, &ignored, &s);
		s.start = key->start;
		store_append(b, &s);
	}
	b->tracks.v[track].unordered = false;
	arena_reset(b->scratch, mark);
	store_release(b, &old);
}
