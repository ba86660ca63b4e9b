/* SPDX-License-Identifier: Apache-2.0
 *
 * Waking the writer thread, from hooks in any thread: a word and a futex, nothing that could block.
 */
#ifndef TFPROF_COLLECT_WAKE_H
#define TFPROF_COLLECT_WAKE_H

#include <stdbool.h>
#include <stdint.h>

void wake_writer(void);
/* The writer's wait: until woken, ns at most. */
void wake_wait(uint64_t ns);
/* The writer has ended; and the wait for that, ns at most: false if it has not. */
void wake_done(void);
bool wake_done_wait(uint64_t ns);
/* Before a writer is started. */
void wake_reset(void);

#endif
