/* SPDX-License-Identifier: Apache-2.0
 *
 * Monitors the recording itself: adds notes to recording and log about gaps, lost records,
 * implausible results and excessive cost. Writer thread only, while a CUPTI session runs.
 */
#ifndef TFPROF_COLLECT_WATCH_H
#define TFPROF_COLLECT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Begins a session; silence: ns without records after which the program is checked for idleness. */
void watch_begin(uint64_t silence_ns);
/* Called at each tick; came: records have arrived since the last one. Times are process_ticks. True
 * if another client of CUPTI has taken the records and is done: the session should start again. */
bool watch_tick(uint64_t now, bool came);
/* Reports whether the session has started again; if not, it is requested again after a silence. */
void watch_started_again(uint64_t now, bool ok);
/* Called regularly with the records dropped since the last call; true if recording should become
 * cheaper. */
bool watch_check(uint64_t now, uint64_t dropped);
/* Ends a session. */
void watch_end(void);

#endif
