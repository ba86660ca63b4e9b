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
#include "collect/names.h"

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

/* ---- domains ---- */

/* Domains of NVTX ranges: the program holds addresses into one table, rings hold numbers. Any
 * thread may add one. */

/* Returns the domain with this name, creating it if necessary; the default domain if the table is
 * full. */
void *domains_add(const struct name *);
/* True if a pointer from the program is a domain. */
bool domains_has(const void *);
/* Returns the number of a domain; 0: the default one, or NULL. */
uint16_t domains_number(const void *);
/* Returns the name of a domain as names_number; 0: the default one, or unknown. */
uint32_t domains_name(uint16_t number);

/* ---- nvtx: shared by its files ---- */

/* Chains to another injection library for ranges, named by COLLECT_ENV_CHAIN. The program then
 * holds that library's handles of domains and strings, so functions that we do not implement work
 * as without us. */

/* Lets the other library fill the table of a module. Returns its result; 0 if there is none, or it
 * refuses. */
int nvtx_chain_init(nvtx_get_table *);
/* Returns the function to install instead of `ours` in a slot that held `before` until
 * nvtx_chain_init and now holds `now`. */
nvtx_function *nvtx_chain_over(
        enum nvtx_index, nvtx_function *before, nvtx_function *now, nvtx_function *ours);

#endif
