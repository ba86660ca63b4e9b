/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of threads, stored while the threads live: the writer often sees a thread's records only
 * after its end.
 */
#ifndef TFPROF_COLLECT_THREADS_H
#define TFPROF_COLLECT_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREADS_MOST 4096u /* a power of two; further threads lose their names at their end */

/* Called once per process, before all others. */
void threads_reset(void);
/* Stores the name of the calling thread, replacing an earlier one. Returns its id. */
uint32_t threads_see(void);
/* Writes the name of a thread, at most n bytes with the NUL: the present name if it lives,
 * otherwise the stored one; false if it was never seen. */
bool threads_name(uint32_t tid, char *, size_t n);

#endif
