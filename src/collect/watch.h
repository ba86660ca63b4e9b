/* SPDX-License-Identifier: Apache-2.0
 *
 * Watches over the recording itself: notes in spool and log where it has gaps, loses records,
 * cannot be right or costs too much. Writer thread only, while a CUPTI session runs.
 */
#ifndef TFPROF_COLLECT_WATCH_H
#define TFPROF_COLLECT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* A session begins; silence: how long no record may come before it is asked whether the program is
 * idle, ns. */
void watch_begin(uint64_t silence_ns);
/* At each tick; came: whether records have come since the last one. Times are of process_ticks.
 * True if another client of CUPTI has taken the records and is done: the session should start anew.
 */
bool watch_tick(uint64_t now, bool came);
/* The session has started anew, or has not: then it is asked for again after a silence. */
void watch_started_again(uint64_t now, bool ok);
/* Now and then, with what was dropped since the last call: true if recording should become cheaper.
 */
bool watch_check(uint64_t now, uint64_t dropped);
/* A session ends. */
void watch_end(void);

#endif
