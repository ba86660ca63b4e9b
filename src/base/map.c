/* SPDX-License-Identifier: Apache-2.0
 *
 * The interner and the integer map: open addressing with linear probing, tables at most five
 * eighths full. Nothing is removed, so a probe ends at the first empty slot. The hash has no seed:
 * runs are repeatable, and colliding input only costs time.
 *
 *   slot:  | 32 bits of the hash | id + 1 |   a find reads bytes only if the hash bits agree
 */
#include "base/map.h"

#include <assert.h>

#define SLOTS_MIN 64

#define MIX_A 0x9e3779b97f4a7c15
#define MIX_B 0xd6e8feb86659fd93
#define MIX_C 0xa0761d6478bd642f

/* Adds both halves of the product with an odd constant: every bit of x reaches the result. The
 * factor is never data, so no input can make the product vanish. */
static inline uint64_t mix(uint64_t x, uint64_t by)
{
	unsigned __int128 m = (unsigned __int128)x * by;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

static inline uint32_t load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

/* Hashes in two lanes of eight bytes per step. The last sixteen bytes, which may overlap earlier
 * ones, end both lanes. */
uint64_t hash_bytes(const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	uint64_t a = MIX_C ^ n, b = MIX_B, x = 0, y = 0;

	if (n > 16) {
		for (size_t left = n; left > 16; left -= 16, p += 16) {
			a = mix(a ^ load64(p), MIX_A);
			b = mix(b ^ load64(p + 8), MIX_C);
		}
		p = (const uint8_t *)bytes + n - 16;
		x = load64(p);
		y = load64(p + 8);
	} else if (n >= 8) {
		x = load64(p);
		y = load64(p + n - 8);
	} else if (n >= 4) {
		x = load32(p);
		y = load32(p + n - 4);
	} else if (n) {
		x = (uint64_t)p[0] << 16 | (uint64_t)p[n / 2] << 8 | p[n - 1];
	}
	a = mix(a ^ x, MIX_B);
	b = mix(b ^ y, MIX_A);
	return mix(a ^ (b << 23 | b >> 41), MIX_C);
}

void intern_init(struct intern *t, struct arena *a)
{
	*t = (struct intern){ .a = a };
}

/* Returns the slot of s, or the empty slot where it belongs. The table has at least one empty slot.
 */
static size_t intern_slot(const struct intern *t, struct str s, uint32_t hash)
{
	size_t mask = t->n_slots - 1;
	size_t i = hash & mask;

	for (; t->slots[i]; i = (i + 1) & mask) {
		if (t->slots[i] >> 32 == hash && str_eq(t->strings[(uint32_t)t->slots[i] - 1], s))
			break;
	}
	return i;
}

static uint32_t intern_hash(struct str s)
{
	return (uint32_t)(hash_bytes(s.p, s.n) >> 32);
}

/* Doubles the table. The old slots move to scratch memory, so the arena keeps no dead tables. */
static void intern_grow(struct intern *t)
{
	size_t had = t->n_slots, mask = (had ? had * 2 : SLOTS_MIN) - 1;
	struct arena_mark m;
	uint64_t *old;

	t->slots = arena_grow(t->a, t->slots, had * sizeof *old, (mask + 1) * sizeof *old);
	m = arena_mark(t->a);
	old = ARENA_ARRAY(t->a, had, uint64_t);
	if (had)
		memcpy(old, t->slots, had * sizeof *old);
	memset(t->slots, 0, had * sizeof *old);
	for (size_t i = 0; i < had; i++) {
		size_t to = (size_t)(old[i] >> 32) & mask;

		if (!old[i])
			continue;
		while (t->slots[to])
			to = (to + 1) & mask;
		t->slots[to] = old[i];
	}
	t->n_slots = mask + 1;
	arena_reset(t->a, m);
}

uint32_t intern_find(const struct intern *t, struct str s)
{
	return t->n ? (uint32_t)t->slots[intern_slot(t, s, intern_hash(s))] - 1 : ID_NONE;
}

void intern_expect(const struct intern *t, struct str s)
{
	if (t->n)
		__builtin_prefetch(&t->slots[intern_hash(s) & (t->n_slots - 1)]);
}

static uint32_t intern_put(struct intern *t, struct str s, bool copy)
{
	uint32_t hash = intern_hash(s);
	size_t at;

	if (t->n >= t->n_slots / 8 * 5)
		intern_grow(t);
	at = intern_slot(t, s, hash);
	if (t->slots[at])
		return (uint32_t)t->slots[at] - 1;
	if (t->n == ID_NONE - 1)
		work_escape(t->a->work);
	if (t->n == t->cap)
		t->strings = vec_grow(t->a, t->strings, &t->cap, t->n + 1, sizeof *t->strings);
	t->strings[t->n] = copy ? str_copy(t->a, s) : s;
	t->slots[at] = (uint64_t)hash << 32 | (uint64_t)++t->n;
	return (uint32_t)(t->n - 1);
}

uint32_t intern_add(struct intern *t, struct str s)
{
	return intern_put(t, s, true);
}

uint32_t intern_add_kept(struct intern *t, struct str s)
{
	return intern_put(t, s, false);
}

void imap_init(struct imap *m, struct arena *a)
{
	*m = (struct imap){ .a = a };
}

/* Returns the slot of key, or the empty slot where it belongs. */
static inline struct imap_slot *imap_slot(const struct imap *m, uint64_t key)
{
	size_t mask = m->n_slots - 1;
	size_t i = (size_t)mix(key ^ MIX_C, MIX_A) & mask;

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & mask;
	return &m->slots[i];
}

static void imap_grow(struct imap *m)
{
	size_t had = m->n_slots, to = had ? had * 2 : SLOTS_MIN;
	struct arena_mark mark;
	struct imap_slot *old;

	m->slots = arena_grow(m->a, m->slots, had * sizeof *old, to * sizeof *old);
	mark = arena_mark(m->a);
	old = ARENA_ARRAY(m->a, had, struct imap_slot);
	if (had) {
		memcpy(old, m->slots, had * sizeof *old);
		memset(m->slots, 0, had * sizeof *old);
	}
	m->n_slots = to;
	for (size_t i = 0; i < had; i++)
		if (old[i].value)
			*imap_slot(m, old[i].key) = old[i];
	arena_reset(m->a, mark);
}

bool imap_get(const struct imap *m, uint64_t key, uint32_t *value)
{
	const struct imap_slot *at = m->n ? imap_slot(m, key) : NULL;

	if (!at || !at->value)
		return false;
	*value = at->value - 1;
	return true;
}

bool imap_put(struct imap *m, uint64_t key, uint32_t value, bool replace)
{
	struct imap_slot *at;
	bool fresh;

	assert(value < UINT32_MAX);
	if (m->n >= m->n_slots / 8 * 5)
		imap_grow(m);
	at = imap_slot(m, key);
	fresh = !at->value;
	if (fresh || replace)
		*at = (struct imap_slot){ key, value + 1 };
	m->n += fresh;
	return fresh;
}

/* ---- ids ---- */

void idmap_init(struct idmap *m, struct arena *a)
{
	*m = (struct idmap){ .n = 0 };
	imap_init(&m->pages, a);
}

bool idmap_get(const struct idmap *m, uint64_t id, uint32_t *value)
{
	uint32_t page, v;

	if (!imap_get(&m->pages, id / IDMAP_PAGE, &page))
		return false;
	v = m->values[(size_t)page * IDMAP_PAGE + id % IDMAP_PAGE];
	if (v)
		*value = v - 1;
	return v;
}

bool idmap_put(struct idmap *m, uint64_t id, uint32_t value)
{
	uint32_t page = (uint32_t)(m->n / IDMAP_PAGE), *v;

	assert(value < UINT32_MAX);
	if (!imap_get(&m->pages, id / IDMAP_PAGE, &page)) {
		imap_put(&m->pages, id / IDMAP_PAGE, page, false);
		if (m->cap - m->n < IDMAP_PAGE)
			m->values = vec_grow(m->pages.a, m->values, &m->cap, m->n + IDMAP_PAGE,
			        sizeof *m->values);
		m->n += IDMAP_PAGE;
	}
	v = &m->values[(size_t)page * IDMAP_PAGE + id % IDMAP_PAGE];
	if (*v)
		return false;
	*v = value + 1;
	return true;
}
