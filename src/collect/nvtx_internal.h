/* SPDX-License-Identifier: Apache-2.0
 *
 * Another injection library for ranges, which is called beside ours: COLLECT_ENV_CHAIN names it.
 * The program then holds its handles of domains and strings, so that functions that are none of
 * ours work as they would without us.
 */
#ifndef TFPROF_COLLECT_NVTX_INTERNAL_H
#define TFPROF_COLLECT_NVTX_INTERNAL_H

#include "collect/nvtx_abi.h"

/* Lets the other library fill the table of a module. Its answer; 0: there is none, or it will not.
 */
int nvtx_chain_init(nvtx_get_table *);
/* What takes the place of `ours` in a slot that held `before` until nvtx_chain_init, and holds
 * `now`. */
nvtx_function *nvtx_chain_over(
        enum nvtx_index, nvtx_function *before, nvtx_function *now, nvtx_function *ours);

#endif
