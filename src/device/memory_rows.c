/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a live set: their order, and the size classes.
 */
#include "base/sort.h"
#include "device/memory_use.h"

static int by_bytes(const void *v, uint32_t a, uint32_t b)
{
	const struct memory_owner *x = (const struct memory_owner *)v + a,
	                          *y = (const struct memory_owner *)v + b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

void memory_sort_live(struct memory_pool *p, struct arena *scratch)
{
	size_t n = 0;

	for (size_t i = 0; i < p->live.n; i++)
		if (p->live.v[i].bytes || p->live.v[i].allocations)
			p->live.v[n++] = p->live.v[i];
	p->live.n = n;
	if (n)
		sort_array(scratch, p->live.v, n, sizeof *p->live.v, by_bytes);
}

static const struct size_class {
	int64_t most;
	const char *name;
} size_classes[] = { { 512, "<=512 B" }, { 64 << 10, "<=64 KiB" }, { 1 << 20, "<=1 MiB" },
	{ 10 << 20, "<=10 MiB" }, { 100 << 20, "<=100 MiB" }, { 1 << 30, "<=1 GiB" },
	{ INT64_MAX, ">1 GiB" } };

unsigned memory_size_class_of(int64_t bytes)
{
	unsigned i = 0;

	while (bytes > size_classes[i].most)
		i++;
	return i;
}

struct str memory_size_class(unsigned i)
{
	return str_of(size_classes[i].name);
}
