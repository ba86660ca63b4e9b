/* SPDX-License-Identifier: Apache-2.0
 *
 * The callbacks by which CUPTI requests and returns buffers. They run in any thread: they take no
 * lock, allocate nothing and preserve errno.
 */
#ifndef TFPROF_COLLECT_BUFFERS_H
#define TFPROF_COLLECT_BUFFERS_H

#include "collect/cupti_open.h"

/* Sets the CUPTI with which the callbacks are registered. */
void buffers_use(const struct cupti *);
cupti_requested buffers_requested;
cupti_completed buffers_completed;

/* Returns the number of records lost in makeshift buffers since the last call. */
uint64_t buffers_discarded(void);
/* True if CUPTI has requested a buffer while all were in use or memory was exhausted. */
bool buffers_were_short(void);
/* Returns the number of records in buffers that CUPTI has not returned. */
uint64_t buffers_kept(void);

#endif
