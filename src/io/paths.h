/* SPDX-License-Identifier: Apache-2.0
 *
 * Words that name files: shell patterns, lists, the contents of folders, and short distinct names
 * for paths. Looks at names and file types only; opens no file.
 */
#ifndef TFPROF_IO_PATHS_H
#define TFPROF_IO_PATHS_H

#include "base/err.h"
#include "base/note.h"

/* Compares bytewise, but compares runs of digits as numbers, so that job_2 comes before job_10.
 * Returns a negative, zero or positive number. */
int path_order(struct str a, struct str b);

/* Sorts paths in the order of path_order. */
void paths_sort(struct arena *a, struct strs *paths);

/* Returns the path with '/' between its parts, also where the system has another separator
 * (Windows). */
struct str path_unified(struct arena *a, struct str path);

bool path_exists(struct arena *a, struct str path);
bool path_is_folder(struct arena *a, struct str path);

/* True for a file of size 0. */
bool path_is_empty(struct arena *a, struct str path);

/* True for a folder, a pipe or a device, which have no persistent bytes. False for a dangling link.
 */
bool path_is_special(struct arena *a, struct str path);

/* Appends the names in a folder, unordered, without "." and "..". */
bool path_list(struct arena *a, struct str folder, struct strs *names, struct err *e);

/* True if the word has characters that make it a pattern. */
bool path_is_pattern(struct str word);

/* Appends the paths that a word names: the word itself if it exists; the matches of a pattern, in
 * path_order; the pieces of a list with commas. Also appends a path that does not exist; opening it
 * reports the error. Returns false if a pattern matches nothing. */
bool paths_expand(struct arena *a, struct str word, struct strs *to, struct err *e);

/* Removes paths that lead to the same file as an earlier path, with a note. */
void paths_once(struct arena *a, struct strs *paths, struct notes *notes);

/* Returns a name for each path: the parts in which the paths differ, or the whole path if two names
 * would be equal. */
struct strs paths_names(struct arena *a, const struct strs *paths);

#endif
