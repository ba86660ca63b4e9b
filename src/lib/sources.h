/* SPDX-License-Identifier: Apache-2.0
 *
 * Resolves --profile_path: one file, a folder of profiles, or several of either, each of which is a
 * worker. Finds the files; session.h loads them.
 */
#ifndef TFPROF_LIB_SOURCES_H
#define TFPROF_LIB_SOURCES_H

#include "lib/session.h"

struct sources {
	struct strs paths;              /* as found: files and folders */
	struct strs names;              /* names of the workers; empty for one file */
	VEC(struct input_worker) now;   /* one per path */
	VEC(struct input_worker) later; /* files for missing steps, in order of trial */
};

/* Finds the files of the words: paths, patterns, lists. Strings live in the query arena. */
bool sources_find(struct session *s, const struct strs *words, struct sources *out);

/* Loads them. lazy: run metadata of a single folder is read when a command selects a step. */
bool sources_load(struct session *s, const struct sources *src, bool lazy);

#endif
