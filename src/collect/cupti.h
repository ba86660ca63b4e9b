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

/* Subscribes and enables what the plan wants. False: nothing is enabled, *why has a sentence. */
bool cupti_start(const struct plan *, char *why, size_t n);
/* Kinds that could not be enabled though the rest was, as a list; "" if all were. */
const char *cupti_missing(void);
/* Disables everything and unsubscribes; the buffers that are out come back, after `patience` with
 * what is unfinished. Where CUPTI has failed it is left alone. detach: it leaves the process with
 * the next launch. */
void cupti_stop(uint64_t patience_ns, bool detach);
/* Hands finished buffers to us; forced: unfinished ones too. */
void cupti_flush(bool forced);
/* Records that CUPTI had no room for since the last call, those in our own makeshift buffers too.
 */
uint64_t cupti_dropped(void);
/* CUPTI's clock, ns; 0: it does not say. */
uint64_t cupti_clock(void);
/* The error after which CUPTI gave up, as text; NULL: it has not. */
const char *cupti_failure(void);
const struct cupti *cupti_functions(void);

/* Enables the kinds of whole calls, where single functions did not yield correlations. */
void cupti_all_calls(void);
/* No calls at all from here on. */
void cupti_no_calls(void);
/* Counts launches by callbacks, for finding out whether the program is idle. */
void cupti_count_launches(bool on);
uint64_t cupti_launches(void);

#endif
