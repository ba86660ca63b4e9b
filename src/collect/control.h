/* SPDX-License-Identifier: Apache-2.0
 *
 * The control file of the session, as far as it concerns a collector: start, stop, flush. Writer
 * thread only, but for control_state.
 */
#ifndef TFPROF_COLLECT_CONTROL_H
#define TFPROF_COLLECT_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

enum control { CONTROL_SILENT, CONTROL_STARTED, CONTROL_STOPPED };

/* Orders that were given before `since` do not count: they are of an earlier recording. */
void control_reset(uint64_t since);
/* Reads what is new; true if a flush was asked for. */
bool control_read(void);
/* What was asked for last. */
enum control control_state(void);
/* As if a stop had been read. */
void control_stop(void);

#endif
