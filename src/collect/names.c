/* SPDX-License-Identifier: Apache-2.0
 *
 * Open hash tables of pointers into one growing block: a small table, and a large one for names
 * that do not fit there, so that few names touch few pages. A thread that adds a name writes it
 * first and then sets a slot to it; if another thread added the same text first, the copy stays
 * unused.
 *
 * When the block is nearly full, new names of ranges that end in a number ("iteration 7183") share
 * a pattern
 * ("iteration #"). A name that is too long ends in a checksum instead.
 *
 *     block:  | slots, 8 bytes each | name | name | ...                    | names without text |
 *                                   ^ base              texts_end ^          end ^
 */
#include "collect/names.h"

#include <stdatomic.h>
#include <string.h>

#include "collect/system.h"

#define SLOTS_SMALL (1u << 16)
#define SLOTS_LARGE (1u << 20)
#define SLOTS       (SLOTS_SMALL + SLOTS_LARGE)
#define PROBES      64u /* number of slots probed before a name counts as not fitting */
#define TEXTLESS    16u /* 1/TEXTLESS of the block is reserved for names without text */
#define BYTES_LEAST (1u << 20)
#define CHECKSUM    17u /* bytes of the checksum at the end of a name that is too long */

typedef struct name *_Atomic name_slot; /* in C11 an atomic pointer needs a type name of its own */

static struct {
	name_slot *slot; /* the small table, then the large one */
	char *base;
	uint32_t size, texts_end;
	uint32_t full; /* position from which on names share patterns */
	_Atomic uint32_t used, used_textless;
	_Atomic uint64_t lost;
} names;

/* Represents all names for which even an identity could not be stored. */
static struct name lost = { .length = NAME_NO_TEXT };

bool names_make(void)
{
	size_t table = SLOTS * sizeof(name_slot), bytes = NAMES_BYTES;

	lost.spool_id = 0;
	atomic_store(&names.lost, 0);
	for (uint32_t i = 0; names.base && i < SLOTS; i++) {
		struct name *e = atomic_load(&names.slot[i]);

		if (e)
			e->spool_id = 0;
	}
	if (names.base)
		return true;
	char *p = memory_map(table + bytes, MEMORY_KEPT_BY_FORK);

	while (!p && bytes > BYTES_LEAST) {
		bytes /= 2;
		p = memory_map(table + bytes, MEMORY_KEPT_BY_FORK);
	}
	if (!p)
		return false;
	names.slot = (name_slot *)(void *)p;
	names.base = p + table;
	names.size = (uint32_t)bytes;
	names.texts_end = names.size - names.size / TEXTLESS;
	names.full = names.texts_end / 4 * 3;
	atomic_store(&names.used, 8); /* number 0 belongs to the lost name */
	atomic_store(&names.used_textless, names.texts_end);
	return true;
}

static uint64_t mix(uint64_t h)
{
	h *= 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

/* Returns a hash that is never 0. */
static uint64_t hash(const void *data, size_t n)
{
	const char *p = data;
	uint64_t h = n ^ 0x8a5cd789635d2dffu, w;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&w, p, 8);
		h = mix(h ^ w);
	}
	w = 0;
	memcpy(&w, p, n);
	h = mix(mix(h ^ w));
	return h ? h : 1;
}

static void count_lost(void)
{
	atomic_fetch_add_explicit(&names.lost, 1, memory_order_relaxed);
}

/* Allocates room for a name. Returns NULL if there is none. */
static struct name *room(_Atomic uint32_t *used, uint32_t end, size_t bytes)
{
	uint32_t size = (uint32_t)((bytes + 7) & ~(size_t)7), at = atomic_load(used);

	do {
		if (size > end || at > end - size)
			return NULL;
	} while (!atomic_compare_exchange_weak(used, &at, at + size));
	return (struct name *)(void *)(names.base + at);
}

/* Creates a name that is not published yet. Returns NULL if the table is full. */
static struct name *build(uint64_t h, const char *text, size_t n)
{
	struct name *e = room(&names.used, names.texts_end, sizeof *e + n + 1);

	if (e) {
		e->length = (uint32_t)n;
		memcpy(e->text, text, n);
	} else {
		e = room(&names.used_textless, names.size, sizeof *e);
		if (!e)
			return NULL;
		e->length = NAME_NO_TEXT;
		count_lost();
	}
	e->hash = h;
	return e;
}

static bool same(const struct name *e, uint64_t h, const char *text, size_t n)
{
	if (e->hash != h)
		return false;
	return e->length == NAME_NO_TEXT || (e->length == n && !memcmp(e->text, text, n));
}

/* Searches a part of a table. *mine: the new name, once it has been created. Returns the name in
 * the table, or NULL if this part is full. */
static struct name *find(
        name_slot *table, uint32_t size, uint64_t h, const char *text, size_t n, struct name **mine)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		name_slot *s = &table[(h + i) & (size - 1)];
		struct name *e = atomic_load_explicit(s, memory_order_acquire);

		if (!e) {
			if (!*mine)
				*mine = build(h, text, n);
			if (!*mine)
				return NULL;
			if (atomic_compare_exchange_strong(s, &e, *mine))
				return *mine;
		}
		if (same(e, h, text, n))
			return e;
	}
	return NULL;
}

static struct name *add(uint64_t h, const char *text, size_t n)
{
	struct name *mine = NULL, *e = find(names.slot, SLOTS_SMALL, h, text, n, &mine);

	if (!e)
		e = find(names.slot + SLOTS_SMALL, SLOTS_LARGE, h >> 16 ^ h, text, n, &mine);
	if (e)
		return e;
	count_lost();
	return &lost;
}

/* Returns the name if it is in a table. */
static struct name *known(uint64_t h, const char *text, size_t n)
{
	for (uint32_t large = 0; large < 2; large++) {
		name_slot *table = names.slot + (large ? SLOTS_SMALL : 0);
		uint64_t at = large ? h >> 16 ^ h : h;

		for (uint32_t i = 0; i < PROBES; i++) {
			struct name *e = atomic_load_explicit(
			        &table[(at + i) & ((large ? SLOTS_LARGE : SLOTS_SMALL) - 1)],
			        memory_order_acquire);

			if (!e)
				return NULL;
			if (same(e, h, text, n))
				return e;
		}
	}
	return NULL;
}

/* Adds a name with its beginning, followed by a checksum of the whole name. */
static struct name *add_long(uint64_t h, const char *text)
{
	static const char digits[] = "0123456789abcdef";
	char cut[NAME_LONGEST];
	size_t n = NAME_LONGEST - CHECKSUM;
	struct name *e;

	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--; /* do not end within a UTF-8 character */
	memcpy(cut, text, n);
	cut[n++] = '~';
	for (int shift = 60; shift >= 0; shift -= 4)
		cut[n++] = digits[h >> shift & 15];
	h = hash(cut, n);
	e = known(h, cut, n);
	if (e)
		return e;
	count_lost();
	return add(h, cut, n);
}

/* Adds the name of a range when the block is nearly full. If the name ends in a number, adds the
 * name of its pattern. */
static struct name *add_late(uint64_t h, const char *text, size_t n)
{
	char pattern[NAME_LONGEST];
	size_t end = n;
	struct name *e = known(h, text, n);

	while (end && text[end - 1] >= '0' && text[end - 1] <= '9')
		end--;
	if (e || end == n)
		return e ? e : add(h, text, n);
	count_lost();
	memcpy(pattern, text, end);
	pattern[end++] = '#';
	return add(hash(pattern, end), pattern, end);
}

struct name *names_add(const char *text, size_t n)
{
	uint64_t h = hash(text, n);

	return n > NAME_LONGEST ? add_long(h, text) : add(h, text, n);
}

struct name *names_add_range(const char *text, size_t n)
{
	if (n > NAME_LONGEST ||
	        atomic_load_explicit(&names.used, memory_order_relaxed) < names.full)
		return names_add(text, n);
	return add_late(hash(text, n), text, n);
}

struct name *names_add_long(const char *begin, const void *all, size_t n)
{
	return add_long(hash(all, n), begin);
}

uint32_t names_number(const struct name *e)
{
	return e == &lost ? 0 : (uint32_t)(((const char *)e - names.base) / 8);
}

struct name *names_at(uint32_t number)
{
	return number ? (struct name *)(void *)(names.base + (size_t)number * 8) : &lost;
}

bool names_has(const void *p)
{
	size_t at = (size_t)((const char *)p - names.base);

	return p == &lost || (names.base && at - 8 < names.size - 8 && at % 8 == 0);
}

uint64_t names_lost(void)
{
	return atomic_load(&names.lost);
}
