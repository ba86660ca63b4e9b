/* SPDX-License-Identifier: Apache-2.0
 *
 * A stable merge sort for any order, and for strings a three-way quicksort on eight bytes at a
 * time. The quicksort is stable as well, because its partitions are written out of place. Groups
 * with repeatedly lopsided partitions are merge sorted, so no input costs more than n log n per
 * eight bytes of common prefix. Treats strings as bytes.
 */
#include "base/sort.h"

#include <assert.h>

#define RUN 12 /* shorter pieces are sorted by insertion */

struct sort_by {
	sort_cmp *cmp;
	const void *ctx;
};

static void insert_ids(uint32_t *v, size_t n, const struct sort_by *o)
{
	for (size_t i = 1; i < n; i++) {
		uint32_t x = v[i];
		size_t j = i;

		for (; j && o->cmp(o->ctx, v[j - 1], x) > 0; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

/* Sorts by merging. Depth of recursion: log2(n). half has room for n / 2 elements. */
static void merge_ids(uint32_t *v, size_t n, uint32_t *half, const struct sort_by *o)
{
	size_t m = n / 2, i = 0, j = m, k = 0;

	if (n <= RUN) {
		insert_ids(v, n, o);
		return;
	}
	merge_ids(v, m, half, o);
	merge_ids(v + m, n - m, half, o);
	if (o->cmp(o->ctx, v[m - 1], v[m]) <= 0)
		return;
	memcpy(half, v, m * sizeof *v);
	while (i < m && j < n)
		v[k++] = o->cmp(o->ctx, half[i], v[j]) <= 0 ? half[i++] : v[j++];
	memcpy(v + k, half + i, (m - i) * sizeof *v);
}

int sort_ascending(const void *v, uint32_t a, uint32_t b)
{
	const int64_t *n = v;

	return (n[a] > n[b]) - (n[a] < n[b]);
}

void sort_stable(struct arena *a, uint32_t *v, size_t n, sort_cmp *cmp, const void *ctx)
{
	struct arena_mark m = arena_mark(a);

	if (n > 1)
		merge_ids(v, n, ARENA_ARRAY(a, n / 2, uint32_t), &(struct sort_by){ cmp, ctx });
	arena_reset(a, m);
}

uint32_t *sort_order(struct arena *a, size_t n, sort_cmp *cmp, const void *ctx)
{
	uint32_t *order = ARENA_ARRAY(a, n, uint32_t);

	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	sort_stable(a, order, n, cmp, ctx);
	return order;
}

/* True if the elements of an array are already in order. */
static bool is_sorted(const void *v, size_t n, sort_cmp *cmp)
{
	for (uint32_t i = 1; i < n; i++)
		if (cmp(v, i - 1, i) > 0)
			return false;
	return true;
}

void sort_array(struct arena *a, void *v, size_t n, size_t size, sort_cmp *cmp)
{
	if (is_sorted(v, n, cmp))
		return;
	struct arena_mark m = arena_mark(a);
	const uint32_t *order = sort_order(a, n, cmp, v);
	char *from = v, *to = ARENA_ARRAY(a, n * size, char);

	for (size_t i = 0; i < n; i++)
		memcpy(to + i * size, from + order[i] * size, size);
	if (n)
		memcpy(v, to, n * size);
	arena_reset(a, m);
}

/* The rest of a string from some depth on. Among equal keys, the shorter rest comes first, because
 * the key is padded with zeros. Equal keys with equal rests of up to KEY bytes are equal
 * strings. */
struct sort_item {
	uint64_t key;  /* the next eight bytes, first byte highest */
	uint32_t rest; /* number of bytes left from here, at most KEY + 1 */
	uint32_t id;
};
#define KEY      8
#define LOPSIDED 8

struct strings_sort {
	const struct str *strings;
	struct sort_item *scratch;
};

/* Items that are equal in all bytes before depth and must still be sorted from there on. */
struct sort_group {
	struct sort_item *v;
	size_t n, depth;
	unsigned budget; /* number of lopsided partitions that are still allowed */
	bool sorted;     /* true: sorted by the loaded bytes only */
};

static inline void item_load(struct sort_item *it, struct str s, size_t depth)
{
	size_t left = s.n - depth;
	uint64_t k = 0;

	if (left >= KEY) {
		memcpy(&k, s.p + depth, KEY);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		k = __builtin_bswap64(k);
#endif
	} else {
		for (size_t i = 0; i < left; i++)
			k |= (uint64_t)(uint8_t)s.p[depth + i] << (56 - 8 * i);
	}
	it->key = k;
	it->rest = (uint32_t)(left <= KEY ? left : KEY + 1);
}

/* Compares the loaded bytes; zero may mean that the strings differ further on. */
static inline bool item_after(const struct sort_item *a, const struct sort_item *b)
{
	return a->key != b->key ? a->key > b->key : a->rest > b->rest;
}

static bool string_after(const struct strings_sort *s, const struct sort_item *a,
        const struct sort_item *b, size_t depth)
{
	struct str x, y;

	if (a->key != b->key || a->rest != b->rest || a->rest <= KEY)
		return item_after(a, b);
	x = s->strings[a->id];
	y = s->strings[b->id];
	return str_cmp(str_sub(x, depth + KEY, SIZE_MAX), str_sub(y, depth + KEY, SIZE_MAX)) > 0;
}

/* Sorts a small group completely. */
static void group_insert(const struct strings_sort *s, const struct sort_group *g)
{
	for (size_t i = 1; i < g->n; i++) {
		struct sort_item x = g->v[i];
		size_t j = i;

		for (; j && string_after(s, &g->v[j - 1], &x, g->depth); j--)
			g->v[j] = g->v[j - 1];
		g->v[j] = x;
	}
}

/* Stable merge sort by the loaded bytes. Depth of recursion: log2(n). */
static void merge_items(struct sort_item *v, size_t n, struct sort_item *half)
{
	size_t m = n / 2, i = 0, j = m, k = 0;

	if (n < 2)
		return;
	merge_items(v, m, half);
	merge_items(v + m, n - m, half);
	if (!item_after(&v[m - 1], &v[m]))
		return;
	memcpy(half, v, m * sizeof *v);
	while (i < m && j < n)
		v[k++] = item_after(&half[i], &v[j]) ? v[j++] : half[i++];
	memcpy(v + k, half + i, (m - i) * sizeof *v);
}

static uint64_t middle(uint64_t a, uint64_t b, uint64_t c)
{
	if (a > b)
		return b > c ? b : a > c ? c : a;
	return a > c ? a : b > c ? c : b;
}

static uint64_t choose_pivot(const struct sort_item *v, size_t n)
{
	size_t d = n / 8, m = n / 2;

	if (n < 64)
		return middle(v[0].key, v[m].key, v[n - 1].key);
	return middle(middle(v[0].key, v[d].key, v[2 * d].key),
	        middle(v[m - d].key, v[m].key, v[m + d].key),
	        middle(v[n - 1 - 2 * d].key, v[n - 1 - d].key, v[n - 1].key));
}

/* Partitions stably by a pivot, without branches that depend on the data. Smaller items stay in v,
 * equal items move to the front of the scratch memory, and greater items to its end, last first. */
static void partition(const struct strings_sort *s, const struct sort_group *g, uint64_t pivot,
        size_t *lt, size_t *eq)
{
	struct sort_item *scratch = s->scratch;
	size_t l = 0, e = 0, h = g->n;

	for (size_t i = 0; i < g->n; i++) {
		struct sort_item x = g->v[i];

		g->v[l] = x;
		scratch[e] = x;
		scratch[h - 1] = x;
		l += x.key < pivot;
		e += x.key == pivot;
		h -= x.key > pivot;
	}
	memcpy(g->v + l, scratch, e * sizeof *scratch);
	for (size_t i = l + e, j = g->n; i < g->n; i++)
		g->v[i] = scratch[--j];
	*lt = l;
	*eq = e;
}

/* Prepares a group of equal keys for the next depth: items with more than KEY bytes left move after
 * the others, which are in place, and load their next bytes. */
static struct sort_group descend(
        const struct strings_sort *s, struct sort_item *v, size_t n, size_t depth)
{
	size_t start[KEY + 2] = { 0 }, at[KEY + 2], sum = 0;

	for (size_t i = 0; i < n; i++)
		start[v[i].rest]++;
	for (size_t r = 0; r <= KEY + 1; r++) {
		at[r] = sum;
		sum += start[r];
		start[r] = at[r];
	}
	if (start[KEY + 1]) {
		memcpy(s->scratch, v, n * sizeof *v);
		for (size_t i = 0; i < n; i++)
			v[at[s->scratch[i].rest]++] = s->scratch[i];
	}
	v += start[KEY + 1];
	n -= start[KEY + 1];
	for (size_t i = 0; i < n; i++)
		item_load(&v[i], s->strings[v[i].id], depth);
	return (struct sort_group){ v, n, depth, LOPSIDED, false };
}

/* Removes the first run of equal keys that needs more sorting from a group whose items are in
 * order. The run is empty if there is none. */
static struct sort_group cut_run(const struct strings_sort *s, struct sort_group *g)
{
	struct sort_item *v = g->v;
	size_t i = 0, from, n = g->n;

	while (i < n) {
		from = i++;
		while (i < n && v[i].key == v[from].key)
			i++;
		if (i - from > 1 && v[i - 1].rest > KEY) {
			g->v += i;
			g->n -= i;
			return descend(s, v + from, i - from, g->depth + KEY);
		}
	}
	g->n = 0;
	return *g;
}

static bool in_order(const struct sort_group *g)
{
	for (size_t i = 1; i < g->n; i++) {
		if (item_after(&g->v[i - 1], &g->v[i]))
			return false;
	}
	return true;
}

/* Splits a group in three unsorted parts, some of which may be empty. */
static void group_split(
        const struct strings_sort *s, struct sort_group *g, struct sort_group part[3])
{
	size_t lt, eq, gt;

	part[2] = (struct sort_group){ .v = g->v };
	if (!g->sorted && !in_order(g)) {
		if (g->budget) {
			partition(s, g, choose_pivot(g->v, g->n), &lt, &eq);
			gt = g->n - lt - eq;
			g->budget -= (lt > gt ? lt : gt) > g->n / 8 * 7;
			part[0] = (struct sort_group){ g->v, lt, g->depth, g->budget, false };
			part[1] = descend(s, g->v + lt, eq, g->depth + KEY);
			part[2] = (struct sort_group){ g->v + lt + eq, gt, g->depth, g->budget,
				false };
			return;
		}
		merge_items(g->v, g->n, s->scratch);
	}
	part[0] = cut_run(s, g);
	part[1] = *g;
	part[1].sorted = true;
}

static void put_by_size(struct sort_group part[3])
{
	for (int i = 1; i < 3; i++) {
		for (int j = i; j && part[j - 1].n < part[j].n; j--) {
			struct sort_group g = part[j];

			part[j] = part[j - 1];
			part[j - 1] = g;
		}
	}
}

/* The smallest part is sorted first, so that the stack holds at most 2 * log3(n) groups. */
static void sort_groups(const struct strings_sort *s, struct sort_group g)
{
	struct sort_group stack[64], part[3];
	size_t n = 0;

	stack[n++] = g;
	while (n) {
		g = stack[--n];
		if (g.n <= RUN && !g.sorted) {
			group_insert(s, &g);
			continue;
		}
		group_split(s, &g, part);
		put_by_size(part);
		for (int i = 0; i < 3 && part[i].n > 1; i++) {
			assert(n < sizeof stack / sizeof *stack);
			stack[n++] = part[i];
		}
	}
}

void sort_strings(struct arena *a, uint32_t *v, size_t n, const struct str *strings)
{
	struct arena_mark m = arena_mark(a);
	struct strings_sort s = { strings, ARENA_ARRAY(a, n, struct sort_item) };
	struct sort_item *items = ARENA_ARRAY(a, n, struct sort_item);

	for (size_t i = 0; i < n; i++) {
		items[i].id = v[i];
		item_load(&items[i], strings[v[i]], 0);
	}
	sort_groups(&s, (struct sort_group){ items, n, 0, LOPSIDED, false });
	for (size_t i = 0; i < n; i++)
		v[i] = items[i].id;
	arena_reset(a, m);
}

void sort_list(struct arena *a, struct strs *list)
{
	uint32_t *order = ARENA_ARRAY(a, list->n, uint32_t);
	struct strs sorted = { 0 };

	for (uint32_t i = 0; i < list->n; i++)
		order[i] = i;
	sort_strings(a, order, list->n, list->v);
	for (size_t i = 0; i < list->n; i++)
		strs_add(a, &sorted, list->v[order[i]]);
	*list = sorted;
}

size_t sort_count(const uint64_t *v, size_t n, uint64_t key)
{
	size_t i;

	BISECT(i, 0, n, v[i] <= key);
	return i;
}
