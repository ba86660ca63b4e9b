/* SPDX-License-Identifier: Apache-2.0
 *
 * The folder of a recording: made so that nobody else can put anything into it, found again, and
 * what lies in it. Knows nothing of what a spool says.
 */
#ifndef TFPROF_CLI_RECORDING_H
#define TFPROF_CLI_RECORDING_H

#include "base/err.h"
#include "collect/collect.h"
#include "base/map.h"
#include "base/note.h"

#define RECORDING_FILES_MAX 100000 /* spools, or logs, of a folder */

/* Where the collector is installed, from the program's folder. */
extern const char recording_collector_place[];

/* The collector: beside the program, or there. */
bool recording_collector(struct arena *a, struct str *path);
bool recording_is_collector(struct str path); /* one, of this or another installation */

/* Makes the folder (private; *made), or takes one that is there: it must be a folder of ours and
 * not a link, and hold nothing but a recording; force: whatever it holds. No name: tfprof-DATE-PID
 * here. *path is absolute. */
bool recording_make(
        struct arena *a, struct str name, bool force, struct str *path, bool *made, struct err *e);

/* Is path a folder that holds nothing but a recording, or nothing yet? */
bool recording_check(struct arena *a, struct str path, struct err *e);

/* Takes a folder away again that recording_make has made and nobody has used. */
void recording_drop(struct arena *a, struct str path);

/* The newest one in the current folder. */
bool recording_newest(struct arena *a, struct str *path, struct err *e);

/* Checks that path is a recording's folder, and lists its files that end so, by name. */
bool recording_files(
        struct arena *a, struct str path, struct str end, struct strs *files, struct err *e);

/* Returns the process that a file belongs to, from the file's name. */
struct owner {
	struct str host;
	int64_t pid;
	uint64_t start; /* of the process, in ticks since the system's */
	bool here;      /* on this host */
};
bool recording_owner(struct arena *a, struct str file, struct owner *o);

/* Does the process still run? Of other hosts nobody knows: no. */
bool recording_lives(struct arena *a, const struct owner *o);

/* ---- record report ---- */

/* Summary of a finished recording, printed after the program: how much was recorded, what is
 * missing, what to type next. Independent of the options of record and of how the program was
 * started. */

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
