/* SPDX-License-Identifier: Apache-2.0
 *
 * The word behind door.h.
 */
#include "collect/door.h"

#include <sys/mman.h>

#include "collect/memory.h"

struct door *_Atomic door_word;

bool door_make(void)
{
	struct door *g = memory_map(sizeof *g, MEMORY_WIPED_BY_FORK);

	if (!g)
		return false;
	atomic_store(&g->ours, 1);
	atomic_store(&door_word, g);
	return true;
}

void door_open(uint32_t bits)
{
	struct door *g = atomic_load(&door_word);

	if (bits & DOOR_NVTX)
		atomic_fetch_add(&g->round, 1);
	atomic_fetch_or(&g->open, bits);
}

void door_close(uint32_t bits)
{
	struct door *g = atomic_load(&door_word);

	if (g)
		atomic_fetch_and(&g->open, ~bits);
}

void door_forget(void)
{
	struct door *g = atomic_load(&door_word);

	if (!g)
		return;
	atomic_store(&g->ours, 0);
	atomic_store(&g->open, 0);
}
