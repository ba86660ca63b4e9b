/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the backend CUPTI (backend.h): kinds of records, buffers, and the launches
 * that callbacks count.
 */
#ifndef TFPROF_COLLECT_CUPTI_H
#define TFPROF_COLLECT_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/backend.h"
#include "collect/cupti_client.h"

/* ---- cupti kinds ----
 *
 * The kinds of records of a session, and the calls that are recorded.
 */

/* Enables the record kinds of the plan. Returns false with a sentence in *why if CUPTI refuses a
 * kind without which the profile would be wrong. */
bool cupti_kinds_enable(const struct plan *, char *why, size_t n);
void cupti_kinds_disable(void);
/* Resets the list of enabled kinds after another client has ended the session. */
void cupti_kinds_forget(void);
bool cupti_kinds_has(uint32_t kind);
void cupti_kinds_fewer_calls(void);
void cupti_kinds_all_calls(void);
/* Adds a name to the list of refused items, without duplicates. NULL empties the list. */
void cupti_kinds_miss(const char *what);
const char *cupti_kinds_missing(void);

/* ---- cupti count ----
 *
 * Counts launches (launches.h) by callbacks.
 */

/* Enables the callbacks. Returns false if some launches are not counted. */
bool cupti_count_begin(void);
void cupti_count_end(void);
/* Makes a call that causes a callback, and returns whether the callback was delivered. Must not be
 * called while a session starts, because the driver may be locked. */
enum backend_counts cupti_count_works(void);
/* Processes a callback for a function of the runtime or the driver. Runs in the program's
 * thread. */
void cupti_count(uint32_t domain, uint32_t cbid, const struct cb_data *);

/* ---- buffers ---- */

/* The callbacks by which CUPTI requests and returns buffers of the pool. They run in any thread:
 * they take no lock, allocate nothing and preserve errno. */

cupti_requested buffers_requested;
cupti_completed buffers_completed;
cupti_requested_v2 buffers_requested_v2;
cupti_completed_v2 buffers_completed_v2;

/* Counts the records of a buffer. */
uint64_t buffers_count(uint8_t *data, size_t valid);
/* Returns the number of records lost in emergency buffers since the last call. Sets *error if not
 * all of them could be counted. */
uint64_t buffers_discarded(uint32_t *error);

#endif
