/* SPDX-License-Identifier: Apache-2.0
 *
 * NVTX ranges and marks of the program, by our own injection: CUPTI has no part in it.
 */
#ifndef TFPROF_COLLECT_NVTX_H
#define TFPROF_COLLECT_NVTX_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/nvtx_abi.h"
#include "collect/ring.h"

nvtx_init InitializeInjectionNvtx2; /* of inject.c */

/* Puts our functions into the table of one module of the program; false: it has no such table. */
bool nvtx_fill(nvtx_get_table *);

/* For nvtx_chain, where the program holds handles and ranges of another library. */
bool nvtx_has_domain(const void *);
/* The number of a domain of ours; 0: the default one, or NULL. */
uint16_t nvtx_domain_number(const void *);
/* Our domain and our string of the event's message. */
const void *nvtx_domain(const struct nvtx_event *);
const void *nvtx_string(const struct nvtx_event *);
/* What the calling thread says; value: id of a range or thread. The id, which a start with none
 * gets here. */
uint64_t nvtx_say(enum ring_kind, uint16_t domain, const struct nvtx_event *, uint64_t value);

#endif
