/* SPDX-License-Identifier: Apache-2.0
 *
 * The callbacks by which CUPTI asks for buffers and hands them back. They run in any thread: they
 * take no lock, allocate nothing and leave errno alone.
 */
#ifndef TFPROF_COLLECT_BUFFERS_H
#define TFPROF_COLLECT_BUFFERS_H

#include "collect/cupti_open.h"

/* Sets the CUPTI that the callbacks are registered with. */
void buffers_use(const struct cupti *);
cupti_requested buffers_requested;
cupti_completed buffers_completed;

/* Returns the records that went into makeshift buffers since the last call; they are lost. */
uint64_t buffers_discarded(void);
/* True if CUPTI has asked for a buffer while all were in use, or there was no memory for one. */
bool buffers_were_short(void);
/* Returns how many records lie in buffers that CUPTI has not handed back. */
uint64_t buffers_kept(void);

#endif
