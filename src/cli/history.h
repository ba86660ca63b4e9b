/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines typed at the prompt, in a file: .tfprof_history.txt of the current folder if there is
 * one, else in the user's state folder. Readable by the user alone. Several sessions may write to
 * it at once: each appends whole lines under a lock.
 */
#ifndef TFPROF_CLI_HISTORY_H
#define TFPROF_CLI_HISTORY_H

#include "base/str.h"

#define HISTORY_MAX 1000 /* lines that are kept */

/* The file's path; empty if there is no place for one. Its folder is made. */
struct str history_path(struct arena *a);

/* The lines of the file, oldest first. Where it holds more than twice HISTORY_MAX, it is cut. */
struct strs history_read(struct arena *a, struct str path);

/* Appends one line. Failure is silent: history is a comfort. */
void history_add(struct arena *a, struct str path, struct str line);

#endif
