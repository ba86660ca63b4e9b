/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUPTI session, from finding the library to detaching. Start and stop may be called by
 * different threads, but not at the same time. Does not write to the recording.
 */
#ifndef TFPROF_COLLECT_CUPTI_H
#define TFPROF_COLLECT_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/cupti_abi.h"
#include "collect/plan.h"
#include "io/block_format.h"

/* Subscribes and enables everything in the plan. False: nothing is enabled, and *why has a
 * sentence. */
bool cupti_start(const struct plan *, char *why, size_t n);
/* Returns a list of the optional kinds and callbacks that CUPTI refused, or "". */
const char *cupti_missing(void);
/* Starts again after another client has replaced the session; first releases the old session's
 * state. */
bool cupti_start_again(const struct plan *, char *why, size_t n);
/* Disables everything and unsubscribes. Buffers in use are returned: complete ones if their work
 * ends within a short time, others with their present content. A failed CUPTI is left alone.
 * detach: CUPTI leaves the process with the next launch. Returns the error of the last flush, 0:
 * none. */
uint32_t cupti_stop(bool detach);
/* Makes CUPTI return finished buffers; forced: unfinished ones too. Returns the error, 0: none. */
uint32_t cupti_flush(bool forced);
/* Returns the records CUPTI dropped since the last call, including those in makeshift buffers. */
uint64_t cupti_dropped(void);
/* Reads all clocks together; CUPTI's is 0 if unavailable. */
void cupti_clock(struct spool_clock *);
/* True if CUPTI has failed; cupti_failure returns the error message. */
bool cupti_failed(void);
void cupti_failure(char *text, size_t n);
const struct cupti *cupti_functions(void);

/* Enables the kinds of whole calls, if single functions gave no correlations. */
void cupti_all_calls(void);
/* Stops recording calls. */
void cupti_no_calls(void);

/* Counts launches by callbacks, to find out whether the program is idle. */
void cupti_count_launches(bool on);
uint64_t cupti_launches(void);
/* True if the session has ended because another client finalised CUPTI. */
bool cupti_is_gone(void);
/* True if CUPTI reports that no client records kernels. Only newer versions can report it. */
bool cupti_is_switched_off(void);

/* ---- cupti subscribe ---- */

/* Takes CUPTI's subscriber slot, of which a process has one. */

/* Subscribes. On failure, why contains a message with the name of the current subscriber, if CUPTI
 * reports it. */
bool cupti_subscribe(
        const struct cupti *f, void **subscriber, cupti_callback *called, char *why, size_t n);

/* Returns the name of a CUPTI error, or "an unknown error". */
const char *cupti_error_text(const struct cupti *, uint32_t error);

#endif
