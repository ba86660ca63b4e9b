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

#endif
