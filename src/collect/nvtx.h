/* SPDX-License-Identifier: Apache-2.0
 *
 * NVTX ranges and marks of the program, by our own injection: CUPTI has no part in it.
 */
#ifndef TFPROF_COLLECT_NVTX_H
#define TFPROF_COLLECT_NVTX_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/nvtx_abi.h"

/* Puts our functions into the table of one module of the program; false: it has no such table. */
bool nvtx_fill(nvtx_get_table *);
/* The name of a domain, as names_number; 0: the default one, or unknown. */
uint32_t nvtx_domain_name(uint16_t domain);

#endif
