/* SPDX-License-Identifier: Apache-2.0
 *
 * Words that name files: patterns as the shell has them, lists, what a folder holds, and what tells
 * paths apart. Looks at names alone and opens no file.
 */
#ifndef TFPROF_IO_PATHS_H
#define TFPROF_IO_PATHS_H

#include "base/err.h"
#include "base/note.h"

/* Negative, zero, positive as a comes before, with, after b: by bytes, but digits as numbers, so
 * that job_2 comes before job_10. */
int path_order(struct str a, struct str b);

/* Sorts paths in that order. */
void paths_sort(struct arena *a, struct strs *paths);

bool path_exists(struct arena *a, struct str path);
bool path_is_folder(struct arena *a, struct str path);

/* A file without a byte in it. */
bool path_is_empty(struct arena *a, struct str path);

/* A folder, a pipe, a device: what has no bytes that stay. A link that leads nowhere is none. */
bool path_is_special(struct arena *a, struct str path);

/* Appends the names in a folder, in no order, without "." and "..". */
bool path_list(struct arena *a, struct str folder, struct strs *names, struct err *e);

/* Does the word have letters in it that make it a pattern? */
bool path_is_pattern(struct str word);

/* Appends the paths that a word names: itself if it exists, what matches if it is a pattern, in
 * path_order, each piece of it if it is a list with commas. What does not exist is appended too:
 * who opens it says so. False if a pattern matches nothing. */
bool paths_expand(struct arena *a, struct str word, struct strs *to, struct err *e);

/* Leaves out what leads to the same file as one before it; a note says so. */
void paths_once(struct arena *a, struct strs *paths, struct notes *notes);

/* A name for each path: the parts of it in which the paths differ. The whole path if two names
 * would be equal. */
struct strs paths_names(struct arena *a, const struct strs *paths);

#endif
