/* SPDX-License-Identifier: Apache-2.0
 *
 * An open hash table of pointers into one growing block. A thread that adds a name writes it first
 * and then sets a slot to it; if another thread added the same text first, the copy stays unused.
 *
 *     block:  | slots, 8 bytes each | name | name | ...                    | names without text |
 *                                   ^ base              texts_end ^          end ^
 */
#include "collect/names.h"

#include <stdatomic.h>
#include <string.h>

#include "collect/system.h"

#define SLOTS_LOG   16
#define SLOTS       (1u << SLOTS_LOG)
#define PROBES      64u /* slots probed before a name counts as not fitting */
#define TEXTLESS    16u /* 1/TEXTLESS of the block is reserved for names without text */
#define BYTES_LEAST (1u << 20)

typedef struct name *_Atomic name_slot; /* in C11 an atomic pointer needs a type name of its own */

static struct {
	name_slot *slot;
	char *base;
	uint32_t size, texts_end;
	_Atomic uint32_t used, used_textless, textless;
} names;

/* Stands for all names for which not even an identity is left. */
static struct name lost = { .length = NAME_NO_TEXT };

bool names_make(void)
{
	size_t table = SLOTS * sizeof(name_slot), bytes = NAMES_BYTES;

	lost.spool_id = 0;
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
	atomic_store(&names.used, 8); /* number 0 belongs to the lost name */
	atomic_store(&names.used_textless, names.texts_end);
	return true;
}

static uint64_t mix(uint64_t h)
{
	h *= 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

/* Never 0. */
static uint64_t hash(const char *p, size_t n)
{
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

/* Allocates room for a name; NULL if there is none. */
static struct name *room(_Atomic uint32_t *used, uint32_t end, size_t bytes)
{
	uint32_t size = (uint32_t)((bytes + 7) & ~(size_t)7), at = atomic_load(used);

	do {
		if (size > end || at > end - size)
			return NULL;
	} while (!atomic_compare_exchange_weak(used, &at, at + size));
	return (struct name *)(void *)(names.base + at);
}

/* Creates a name that is not published yet; NULL if the table is full. */
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
		atomic_fetch_add_explicit(&names.textless, 1, memory_order_relaxed);
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

struct name *names_add(const char *text, size_t n)
{
	if (n > NAME_LONGEST) {
		n = NAME_LONGEST;
		while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--; /* not within a UTF-8 character */
	}
	uint64_t h = hash(text, n);
	struct name *mine = NULL;

	for (uint32_t i = 0; i < PROBES; i++) {
		name_slot *s = &names.slot[(h + i) & (SLOTS - 1)];
		struct name *e = atomic_load_explicit(s, memory_order_acquire);

		if (!e) {
			if (!mine)
				mine = build(h, text, n);
			if (!mine)
				return &lost;
			if (atomic_compare_exchange_strong(s, &e, mine))
				return mine;
		}
		if (same(e, h, text, n))
			return e;
	}
	return &lost;
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

uint32_t names_textless(void)
{
	return atomic_load(&names.textless);
}
