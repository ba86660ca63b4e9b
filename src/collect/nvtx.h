/* SPDX-License-Identifier: Apache-2.0
 *
 * NVTX ranges and marks of the program, through our own injection library, without CUPTI.
 */
#ifndef TFPROF_COLLECT_NVTX_H
#define TFPROF_COLLECT_NVTX_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/nvtx_abi.h"
#include "collect/ring.h"

nvtx_init InitializeInjectionNvtx2; /* from inject.c */

/* Installs our functions in the table of one module of the program; false if it has no such table.
 */
bool nvtx_fill(nvtx_get_table *);

/* For nvtx_chain, where the program holds handles and ranges of another library. */
bool nvtx_has_domain(const void *);
/* Returns the number of one of our domains; 0: the default one, or NULL. */
uint16_t nvtx_domain_number(const void *);
/* Returns our domain and our string for the event's message. */
const void *nvtx_domain(const struct nvtx_event *);
const void *nvtx_string(const struct nvtx_event *);
/* Records an event of the calling thread; value: id of a range or thread. Returns the id, which is
 * created here for a start without one. */
uint64_t nvtx_say(enum ring_kind, uint16_t domain, const struct nvtx_event *, uint64_t value);

#endif
