/* SPDX-License-Identifier: Apache-2.0
 *
 * The writer thread: it alone writes, it starts and stops recording as plan and control file say,
 * and it is the only one that may take its time. The program's threads meet it in the pool, in
 * rings and in the door.
 */
#ifndef TFPROF_COLLECT_WRITER_H
#define TFPROF_COLLECT_WRITER_H

#include <stdbool.h>

#include "collect/plan.h"

/* Starts the thread; the spool is open. False: there is none. */
bool writer_start(const struct plan *);
/* The driver is being initialised, in the calling thread: starts the CUPTI session if it is time.
 */
void writer_cuda(void);
/* Ends recording: the spool is complete if the writer manages within its time. */
void writer_finish(void);
/* Whether CUPTI was ever touched by this process, or by a parent at its fork. */
bool writer_used_cupti(void);
/* A step begins now; for a signal handler. */
void writer_step(void);

#endif
