/* SPDX-License-Identifier: Apache-2.0
 *
 * Wakes the writer thread from hooks in any thread, with a word and a futex; never blocks.
 */
#ifndef TFPROF_COLLECT_WAKE_H
#define TFPROF_COLLECT_WAKE_H

#include <stdbool.h>
#include <stdint.h>

void wake_writer(void);
/* Waits in the writer until woken, for at most ns. */
void wake_wait(uint64_t ns);
/* Reports that the writer has ended; the other function waits for that, at most ns: false if it has
 * not ended. */
void wake_done(void);
bool wake_done_wait(uint64_t ns);
/* Called before a writer is started. */
void wake_reset(void);

#endif
