/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of threads, as they were while the thread was there: the writer meets many a thread only
 * when it is long gone.
 */
#ifndef TFPROF_COLLECT_THREADS_H
#define TFPROF_COLLECT_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREADS_MOST 4096u /* a power of two; later ones have no name if they are gone */

/* Once a process, before all others. */
void threads_reset(void);
/* The calling thread is seen: its name is kept in place of an earlier one. Its id. */
uint32_t threads_see(void);
/* The name of a thread, n bytes with the NUL at most: of now if it is there, else as it was seen
 * last; false if it never was. */
bool threads_name(uint32_t tid, char *, size_t n);

#endif
