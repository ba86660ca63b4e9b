/* SPDX-License-Identifier: Apache-2.0
 *
 * The enable flag of record_enable.h.
 */
#include "collect/record_enable.h"

#include <sys/mman.h>

#include "collect/system.h"

struct door *_Atomic record_enable_word;

bool record_enable_make(void)
{
	struct door *g = memory_map(sizeof *g, MEMORY_WIPED_BY_FORK);

	if (!g)
		return false;
	atomic_store(&g->ours, 1);
	atomic_store(&record_enable_word, g);
	return true;
}

void record_enable_open(uint32_t bits)
{
	struct door *g = atomic_load(&record_enable_word);

	if (bits & DOOR_NVTX)
		atomic_fetch_add(&g->round, 1);
	atomic_fetch_or(&g->open, bits);
}

void record_enable_close(uint32_t bits)
{
	struct door *g = atomic_load(&record_enable_word);

	if (g)
		atomic_fetch_and(&g->open, ~bits);
}

void record_enable_forget(void)
{
	struct door *g = atomic_load(&record_enable_word);

	if (!g)
		return;
	atomic_store(&g->ours, 0);
	atomic_store(&g->open, 0);
}
