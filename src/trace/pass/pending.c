/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of pending launches.
 */
#include "trace/pass/pending.h"

#include <string.h>

void pending_init(struct pending_table *u, struct arena *a, size_t slots, size_t launch_size,
        size_t work_size)
{
	*u = (struct pending_table){
		.a = a, .slots = slots, .launch_size = launch_size, .work_size = work_size
	};
	u->launches = arena_alloc(a, slots * launch_size, sizeof(uint64_t));
}

static uint64_t key_at(const struct pending_table *u, size_t slot)
{
	return ((const struct pending_launch *)pending_at(u, slot))->key;
}

static size_t home_of(const struct pending_table *u, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (u->slots - 1);
}

void *pending_find(const struct pending_table *u, uint64_t key)
{
	size_t i = home_of(u, key);

	while (key_at(u, i) && key_at(u, i) != key)
		i = (i + 1) & (u->slots - 1);
	return pending_at(u, i);
}

void pending_grow(struct pending_table *u)
{
	struct pending_table old = *u;

	u->slots *= 2;
	u->launches = arena_alloc(u->a, u->slots * u->launch_size, sizeof(uint64_t));
	for (size_t i = 0; i < old.slots; i++)
		if (key_at(&old, i))
			memcpy(pending_find(u, key_at(&old, i)), pending_at(&old, i),
			        u->launch_size);
}

void pending_add(struct pending_table *u, void *slot, uint64_t key)
{
	memset(slot, 0, u->launch_size);
	((struct pending_launch *)slot)->key = key;
	u->n++;
}

/* Moves up the launches that the removed one displaced. */
void pending_remove(struct pending_table *u, void *launch)
{
	size_t gap = (size_t)((char *)launch - u->launches) / u->launch_size;
	size_t mask = u->slots - 1;

	u->n--;
	for (size_t i = (gap + 1) & mask; key_at(u, i); i = (i + 1) & mask) {
		if (((i - home_of(u, key_at(u, i))) & mask) < ((i - gap) & mask))
			continue;
		memcpy(pending_at(u, gap), pending_at(u, i), u->launch_size);
		gap = i;
	}
	((struct pending_launch *)pending_at(u, gap))->key = 0;
}

void pending_wait(struct pending_table *u, struct pending_launch *launch, const void *work)
{
	uint32_t i = u->free;

	if (i) {
		u->free = u->next.v[i - 1];
	} else {
		VEC_PUSH(u->a, &u->next, 0);
		i = (uint32_t)u->next.n;
		if (i > u->work_cap)
			u->work = vec_grow(u->a, u->work, &u->work_cap, i, u->work_size);
	}
	memcpy(u->work + (i - 1) * u->work_size, work, u->work_size);
	u->next.v[i - 1] = 0;
	if (launch->last)
		u->next.v[launch->last - 1] = i;
	else
		launch->first = i;
	launch->last = i;
}

bool pending_take(struct pending_table *u, struct pending_launch *launch, void *work)
{
	uint32_t i = launch->first;

	if (!i)
		return false;
	memcpy(work, u->work + (i - 1) * u->work_size, u->work_size);
	launch->first = u->next.v[i - 1];
	if (!launch->first)
		launch->last = 0;
	u->next.v[i - 1] = u->free;
	u->free = i;
	return true;
}
