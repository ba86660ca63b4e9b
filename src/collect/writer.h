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

#include "collect/backend.h"

/* Starts the thread. The recording must be open. Returns false if no thread can be created. */
bool writer_start(const struct plan *);
/* Starts the session if recording is enabled, and waits at most 2 s for the start. Called while the
 * calling thread initialises the driver. */
void writer_cuda(void);
/* Ends recording. The recording is complete if the writer finishes within its time. */
void writer_finish(void);
/* True if a session was ever started by this process, or by a parent at its fork. */
bool writer_used_gpu(void);
/* Marks the begin of a step. May be called from a signal handler. */
void writer_step(void);

/* ---- gpu session ---- */

/* The session of the backend: its start, its flushes, its losses and its end. For the writer thread
 * only, except session_begin and session_wait. */

enum session_state { SESSION_OFF, SESSION_STARTS, SESSION_ON, SESSION_FAILED };

/* Resets the session. Must be called before the writer starts. The caller keeps the plan, and may
 * change it. */
void session_reset(const struct backend *, struct plan *);
/* True if a session was ever started by this process, or by a parent at its fork. */
bool session_was_used(void);
enum session_state session_state(void);
/* Returns the time of the next flush (process_ticks). */
uint64_t session_next_flush(void);

/* Starts a session on a separate thread, and returns at once. */
void session_begin(void);
/* Waits until the session has started or failed, at most until ns after session_begin was called.
 */
void session_wait(uint64_t ns);
/* Takes over the result of a start, if it is available, and records it. */
void session_adopt(uint64_t now);
/* Flushes if a flush is due, or if asked is true. */
void session_flush(uint64_t now, bool asked);
/* Collects the data of the program's threads. Returns true if the backend has returned a buffer. */
bool session_drain(void);
/* Reads and records the clocks. */
void session_clocks(void);
/* Records the losses since the last call, except `probes` records. Returns true if recording should
 * become cheaper. */
bool session_losses(uint64_t probes);
/* Checks whether another client has ended the session. */
void session_look(void);
/* True after a fatal error of the backend. */
bool session_failed(void);
void session_fewer_calls(void);
/* Starts again after another client has ended the session. */
void session_again(uint64_t now);
/* Ends the session. last: true if the process ends. */
void session_stop(bool last);
/* Permits another attempt after a start that failed. */
void session_retry(void);
/* Called at the end of the recording, when the launch counts are final. */
void session_end(void);

/* ---- watch ---- */

/* Monitors the recording itself: adds notes to recording and log about gaps, lost records,
 * implausible results and excessive cost. Writer thread only, while a session runs. */

/* Begins a session. silence_ns: after this time without records, the watch looks for the reason. */
void watch_begin(const struct backend *, uint64_t silence_ns);
/* Checks the state of the backend. Begins a gap if another client has shut it down. last: true if
 * the process ends, so that only a note is written. */
void watch_look(enum backend_state, bool last);
/* Must be called at each tick. now: process_ticks. came: true if records have arrived since the
 * last tick. Returns true if another client of CUPTI took the records and has finished, so that the
 * session should start again. */
bool watch_tick(uint64_t now, bool came);
/* Must be called after another start. ok: true if the start succeeded. After a failed start,
 * watch_tick requests the next start after a silence. */
void watch_started_again(uint64_t now, bool ok);
/* Called regularly with the number of records dropped since the last call. Returns true if
 * recording should become cheaper. */
bool watch_check(uint64_t now, uint64_t dropped);
/* Ends a session. Returns true if another client had taken the records. */
bool watch_end(void);

/* ---- control ---- */

/* The collector's side of the control file: start, stop, flush. Used by the writer thread only,
 * except control_state. */

enum control { CONTROL_SILENT, CONTROL_STARTED, CONTROL_STOPPED };

/* Ignores commands given before `since`, because they belong to an earlier recording. */
void control_reset(uint64_t since);
/* Reads new lines. Returns true if one requests a flush. */
bool control_read(void);
/* Returns the state that was requested last. */
enum control control_state(void);
/* Stops recording, as if a stop command had been read. */
void control_stop(void);

#endif
