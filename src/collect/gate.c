/* SPDX-License-Identifier: Apache-2.0
 *
 * The word behind gate.h.
 */
#include "collect/gate.h"

#include <sys/mman.h>

#include "collect/memory.h"

struct gate *_Atomic gate_word;

bool gate_make(void)
{
	struct gate *g = memory_map(sizeof *g, MEMORY_WIPED_BY_FORK);

	if (!g)
		return false;
	atomic_store(&g->ours, 1);
	atomic_store(&gate_word, g);
	return true;
}

void gate_open(uint32_t bits)
{
	struct gate *g = atomic_load(&gate_word);

	if (bits & GATE_NVTX)
		atomic_fetch_add(&g->round, 1);
	atomic_fetch_or(&g->open, bits);
}

void gate_close(uint32_t bits)
{
	struct gate *g = atomic_load(&gate_word);

	if (g)
		atomic_fetch_and(&g->open, ~bits);
}

void gate_forget(void)
{
	struct gate *g = atomic_load(&gate_word);

	if (!g)
		return;
	atomic_store(&g->ours, 0);
	atomic_store(&g->open, 0);
}
