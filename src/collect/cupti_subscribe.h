/* SPDX-License-Identifier: Apache-2.0
 *
 * Takes CUPTI's subscriber slot, of which a process has one.
 */
#ifndef TFPROF_COLLECT_CUPTI_SUBSCRIBE_H
#define TFPROF_COLLECT_CUPTI_SUBSCRIBE_H

#include <stdbool.h>

#include "collect/cupti_open.h"

/* Subscribes. On failure *why has a sentence with the name of the present subscriber, if CUPTI
 * gives it. */
bool cupti_subscribe(
        const struct cupti *, void **subscriber, cupti_callback *, char *why, size_t n);

/* Returns the name of a CUPTI error, or "an unknown error". */
const char *cupti_error_text(const struct cupti *, uint32_t error);

#endif
