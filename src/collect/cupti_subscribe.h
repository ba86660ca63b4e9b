/* SPDX-License-Identifier: Apache-2.0
 *
 * Takes the place of CUPTI's subscriber, of which there is one in a process.
 */
#ifndef TFPROF_COLLECT_CUPTI_SUBSCRIBE_H
#define TFPROF_COLLECT_CUPTI_SUBSCRIBE_H

#include <stdbool.h>

#include "collect/cupti_open.h"

/* Subscribes. False: *why has a sentence, with the name of the tool that has the place if CUPTI
 * tells it. */
bool cupti_subscribe(
        const struct cupti *, void **subscriber, cupti_callback *, char *why, size_t n);

/* Returns the name of an error of CUPTI's, "an unknown error" if it has none. */
const char *cupti_error_text(const struct cupti *, uint32_t error);

#endif
