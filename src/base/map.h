/* SPDX-License-Identifier: Apache-2.0
 *
 * The string interner: equal bytes get one id; ids count from 0 in order of first appearance. Open
 * addressing; the table and the bytes live in the given arena.
 */
#ifndef TFPROF_BASE_MAP_H
#define TFPROF_BASE_MAP_H

#include "base/str.h"

#define ID_NONE UINT32_MAX

struct intern {
	struct arena *a;
	struct str *strings; /* indexed by id */
	uint64_t *
	        slots; /* hash << 32 | (id + 1), 0 = empty; the number of slots is a power of two */
	size_t n, cap, n_slots;
};

void intern_init(struct intern *t, struct arena *a);
uint32_t intern_find(const struct intern *t, struct str s); /* returns the id, or ID_NONE */
void intern_expect(const struct intern *t, struct str s);   /* prefetches the slot of s */
uint32_t intern_add(struct intern *t, struct str s);        /* copies the bytes if new */
uint32_t intern_add_kept(struct intern *t, struct str s);   /* stores the slice itself if new */
static inline struct str intern_str(const struct intern *t, uint32_t id)
{
	return t->strings[id];
}

uint64_t hash_bytes(const void *p, size_t n); /* has no seed, so it is equal in every run */

/* Maps integer keys to u32 values below UINT32_MAX. */
struct __attribute__((packed, aligned(4))) imap_slot {
	uint64_t key;
	uint32_t value; /* value + 1, 0 = empty */
};
struct imap {
	struct arena *a;
	struct imap_slot *slots;
	size_t n, n_slots;
};
void imap_init(struct imap *m, struct arena *a);
bool imap_get(const struct imap *m, uint64_t key, uint32_t *value);
/* Returns true if the key was new. The value of a known key changes only if replace is set. */
bool imap_put(struct imap *m, uint64_t key, uint32_t value, bool replace);

/* Maps ids that are mostly consecutive, such as counters, to u32 values below UINT32_MAX. Stores
 * neighbouring ids together, in pages of IDMAP_PAGE values. */
#define IDMAP_PAGE 16u
struct idmap {
	struct imap pages; /* key: id / IDMAP_PAGE; value: page number */
	uint32_t *values;  /* value + 1, 0 = empty */
	size_t n, cap;
};
void idmap_init(struct idmap *m, struct arena *a);
bool idmap_get(const struct idmap *m, uint64_t id, uint32_t *value);
/* Returns true if the id was new. The value of a known id does not change. */
bool idmap_put(struct idmap *m, uint64_t id, uint32_t value);

#endif
