/* SPDX-License-Identifier: Apache-2.0
 *
 * Summary of a finished recording, printed after the program: how much was recorded, what is
 * missing, what to type next. Independent of the options of record and of how the program was
 * started.
 */
#ifndef TFPROF_CLI_RECORD_REPORT_H
#define TFPROF_CLI_RECORD_REPORT_H

#include "base/err.h"
#include "base/map.h"
#include "base/note.h"

struct record_report {
	struct arena *a;
	struct str folder;
	struct intern before; /* spools and logs of an earlier recording */
};

/* Before the program runs: what is in the folder by then is left out of the report. */
bool record_report_begin(
        struct record_report *r, struct arena *a, struct str folder, struct err *e);

/* Waits so many milliseconds at most until all processes have closed their spools (by follow_wait:
 * not behind follow_end), then reports. dir: the folder as the person calls it. */
void record_report_end(struct record_report *r, int64_t wait, struct str dir, struct notes *to);

#endif
