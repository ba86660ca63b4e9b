/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUPTI session: from finding the library to handing it back. Start and stop may be called by
 * different threads, never by two at a time. Nothing here writes to the spool.
 */
#ifndef TFPROF_COLLECT_CUPTI_H
#define TFPROF_COLLECT_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/cupti_open.h"
#include "collect/plan.h"
#include "io/block_format.h"

/* Subscribes and enables what the plan wants. False: nothing is enabled, *why has a sentence. */
bool cupti_start(const struct plan *, char *why, size_t n);
/* Kinds and callbacks that CUPTI refuses though the rest works, as a list; "" if there are none. */
const char *cupti_missing(void);
/* Starts anew after another client has taken the session's place; what it did is given up first. */
bool cupti_start_again(const struct plan *, char *why, size_t n);
/* Disables everything and unsubscribes. The buffers that are out come back: complete ones whose
 * work ends within a moment, the others with what they have. Where CUPTI has failed it is left
 * alone. detach: it leaves the process with the next launch. Returns the error of the last flush,
 * 0: none. */
uint32_t cupti_stop(bool detach);
/* Hands finished buffers to us; forced: unfinished ones too. Returns the error, 0: none. */
uint32_t cupti_flush(bool forced);
/* Records that CUPTI had no room for since the last call, those in our own makeshift buffers too.
 */
uint64_t cupti_dropped(void);
/* Reads all clocks as one; CUPTI's is 0 if it does not tell. */
void cupti_clock(struct spool_clock *);
/* True if CUPTI has given up, after an error whose text cupti_failure gives. */
bool cupti_failed(void);
void cupti_failure(char *text, size_t n);
const struct cupti *cupti_functions(void);

/* Enables the kinds of whole calls, where single functions did not yield correlations. */
void cupti_all_calls(void);
/* No calls at all from here on. */
void cupti_no_calls(void);

/* Counts launches by callbacks, for finding out whether the program is idle. */
void cupti_count_launches(bool on);
uint64_t cupti_launches(void);
/* True if the session is not CUPTI's any more: another client has taken it down. */
bool cupti_is_gone(void);
/* True if CUPTI says that nobody has kernels recorded. Only newer versions say so. */
bool cupti_is_switched_off(void);

#endif
