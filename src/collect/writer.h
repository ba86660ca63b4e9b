/* SPDX-License-Identifier: Apache-2.0
 *
 * The writer thread. It alone writes the recording, and it starts and stops recording according to
 * the plan and the control file. Only this thread may block. The program's threads communicate with
 * it through the pool, the rings and the enable word.
 */
#ifndef TFPROF_COLLECT_WRITER_H
#define TFPROF_COLLECT_WRITER_H

#include <stdbool.h>
#include <stdint.h>

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

/* ---- watch ---- */

/* Monitors the recording itself: adds notes to recording and log about gaps, lost records,
 * implausible results and excessive cost. Writer thread only, while a CUPTI session runs. */

/* Begins a session; silence: ns without records after which the program is checked for idleness. */
void watch_begin(uint64_t silence_ns);
/* Called at each tick. came: records have arrived since the last tick. Times are process_ticks.
 * True if another client of CUPTI has taken the records and is done: the session should start
 * again. */
bool watch_tick(uint64_t now, bool came);
/* Reports whether the session has started again; if not, it is requested again after a silence. */
void watch_started_again(uint64_t now, bool ok);
/* Called regularly with the records dropped since the last call; true if recording should become
 * cheaper. */
bool watch_check(uint64_t now, uint64_t dropped);
/* Ends a session. */
void watch_end(void);

/* ---- control ---- */

/* The collector's side of the control file: start, stop, flush. Used by the writer thread only,
 * except control_state. */

enum control { CONTROL_SILENT, CONTROL_STARTED, CONTROL_STOPPED };

/* Ignores commands given before `since`: they belong to an earlier recording. */
void control_reset(uint64_t since);
/* Reads new lines; true if one requests a flush. */
bool control_read(void);
/* Returns the state last requested. */
enum control control_state(void);
/* Acts as if a stop had been read. */
void control_stop(void);

#endif
