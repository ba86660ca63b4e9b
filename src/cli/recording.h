/* SPDX-License-Identifier: Apache-2.0
 *
 * The folder of a recording: made so that nobody else can put anything into it, found again, and
 * what lies in it. Knows nothing of what a spool says.
 */
#ifndef TFPROF_CLI_RECORDING_H
#define TFPROF_CLI_RECORDING_H

#include "base/err.h"
#include "collect/collect.h"

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

#endif
