/* SPDX-License-Identifier: Apache-2.0
 *
 * The writer thread: the only one that writes, and the one that starts and stops recording
 * according to plan and control file. Only this thread may block. The program's threads communicate
 * with it through the pool, the rings and the enable word.
 */
#ifndef TFPROF_COLLECT_WRITER_H
#define TFPROF_COLLECT_WRITER_H

#include <stdbool.h>

#include "collect/plan.h"

/* Starts the thread; the recording must be open. False: no thread. */
bool writer_start(const struct plan *);
/* Called while the calling thread initialises the driver: starts the CUPTI session if it is time.
 */
void writer_cuda(void);
/* Ends recording: the recording is complete if the writer finishes within its time. */
void writer_finish(void);
/* True if CUPTI was ever used by this process, or by a parent at its fork. */
bool writer_used_cupti(void);
/* Marks the begin of a step; for a signal handler. */
void writer_step(void);

#endif
