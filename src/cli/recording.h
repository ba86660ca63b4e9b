/* SPDX-License-Identifier: Apache-2.0
 *
 * The folder of a recording: created so that no other user can add files, found again, and listed.
 * Does not read recordings.
 */
#ifndef TFPROF_CLI_RECORDING_H
#define TFPROF_CLI_RECORDING_H

#include "base/err.h"
#include "base/note.h"
#include "collect/collect.h"

#define RECORDING_FILES_MAX 100000 /* suffixes of recordings and logs in a folder */

/* Place of the collector relative to the program's folder. */
extern const char recording_collector_place[];

/* Returns the path of the collector: next to the program, or the given path. */
bool recording_collector(struct arena *a, struct str *path);
bool recording_is_collector(
        struct str path); /* true for a collector of this or another installation */

/* Creates the folder (private; sets *made), or uses an existing folder, which must belong to the
 * user, must not be a link, and must contain only a recording; force: any content. Without a name:
 * tfprof-DATE-PID in the current folder. *path becomes absolute. */
bool recording_make(
        struct arena *a, struct str name, bool force, struct str *path, bool *made, struct err *e);

/* True if path is a folder that contains only a recording, or nothing. */
bool recording_check(struct arena *a, struct str path, struct err *e);

/* Removes an unused folder that recording_make created. */
void recording_drop(struct arena *a, struct str path);

/* Returns the newest recording in the current folder. */
bool recording_newest(struct arena *a, struct str *path, struct err *e);

/* Checks that path is the folder of a recording, and lists its files with a given suffix by
 * name. */
bool recording_files(
        struct arena *a, struct str path, struct str end, struct strs *files, struct err *e);

/* Returns the process that wrote a file, from the file's name. */
struct owner {
	struct str host;
	int64_t pid;
	uint64_t start; /* start time of the process, in ticks since boot */
	bool here;      /* true: the process ran on this host */
};
bool recording_owner(struct arena *a, struct str file, struct owner *o);

/* True if the process still runs; false for processes of other hosts. */
bool recording_lives(struct arena *a, const struct owner *o);

/* ---- record report ---- */

/* Summary of a finished recording, printed after the program: the amount recorded, losses, and the
 * next command to type. Independent of the options of record and of the way in which the program
 * was started. */

struct record_report {
	struct arena *a;
	struct str folder;
	struct intern before; /* recordings and logs of an earlier run */
};

/* Begins a report. Must be called before the program runs: files that exist then are excluded from
 * the report. */
bool record_report_begin(
        struct record_report *r, struct arena *a, struct str folder, struct err *e);

/* Stores the status of the program, as waitpid returned it, in the program's recording, unless the
 * program closed the recording.
 */
void record_report_ended(struct record_report *r, int64_t pid, int status);

/* Waits at most the given number of milliseconds until all processes have closed their recordings
 * (using follow_wait, so it must be called before follow_end), then prints the report. dir: the
 * folder as the user gave it. */
void record_report_end(struct record_report *r, int64_t wait, struct str dir, struct notes *to);

/* ---- proc ----
 *
 * Reads facts about processes, including this one, from /proc, below a root that tests set.
 */

#define PROC_READ_MAX ((size_t)16 << 20) /* largest number of bytes read from a file */

/* Returns the folder that replaces "/": TFPROF_ROOT, by default empty. */
const char *proc_root(void);

/* Returns the content of a small file. The path is formatted. Returns an empty text if the file
 * cannot be read. */
struct str proc_read(struct arena *a, const char *f, ...) __attribute__((format(printf, 2, 3)));

/* Returns the start time of a process in ticks since boot, from /proc/PID/stat; 0: the process does
 * not exist. */
uint64_t proc_start(struct arena *a, int64_t pid);

/* Returns the value of a variable in the bytes of /proc/PID/environ; p is NULL if it is not set. */
struct str proc_variable(struct str environment, struct str name);

/* Calls f for each process until it returns false. */
void proc_each(struct arena *a, bool (*f)(void *user, int64_t pid), void *user);

#endif
