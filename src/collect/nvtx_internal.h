/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains to another injection library for ranges, named by COLLECT_ENV_CHAIN. The program then
 * holds that library's handles of domains and strings, so functions that we do not implement work
 * as without us.
 */
#ifndef TFPROF_COLLECT_NVTX_INTERNAL_H
#define TFPROF_COLLECT_NVTX_INTERNAL_H

#include "collect/nvtx_abi.h"

/* Lets the other library fill the table of a module. Returns its result; 0 if there is none, or it
 * refuses. */
int nvtx_chain_init(nvtx_get_table *);
/* Returns the function to install instead of `ours` in a slot that held `before` until
 * nvtx_chain_init and now holds `now`. */
nvtx_function *nvtx_chain_over(
        enum nvtx_index, nvtx_function *before, nvtx_function *now, nvtx_function *ours);

#endif
