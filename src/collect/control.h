/* SPDX-License-Identifier: Apache-2.0
 *
 * The control file of the session, as far as the collector uses it: start, stop, flush. Used by the
 * writer thread only, except control_state.
 */
#ifndef TFPROF_COLLECT_CONTROL_H
#define TFPROF_COLLECT_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

enum control { CONTROL_SILENT, CONTROL_STARTED, CONTROL_STOPPED };

/* Ignores commands given before `since`: they belong to an earlier recording. */
void control_reset(uint64_t since);
/* Reads new lines; true if one requests a flush. */
bool control_read(void);
/* Returns the state last requested. */
enum control control_state(void);
/* Acts as if a stop had been read. */
void control_stop(void);

#endif
