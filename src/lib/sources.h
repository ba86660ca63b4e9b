/* SPDX-License-Identifier: Apache-2.0
 *
 * Resolves --profile_path: one file, a folder of profiles, or several of either, each of them a
 * worker. Finds the files; session.h loads them.
 */
#ifndef TFPROF_LIB_SOURCES_H
#define TFPROF_LIB_SOURCES_H

#include "lib/session.h"

struct sources {
	struct strs paths;              /* as found: files and folders */
	struct strs names;              /* of the workers; empty: one file, which has no name */
	VEC(struct input_worker) now;   /* one for each path */
	VEC(struct input_worker) later; /* for steps that those have not, in the order of trial */
};

/* Finds what the words name: paths, patterns, lists. Strings live in the query arena. */
bool sources_find(struct session *s, const struct strs *words, struct sources *out);

/* Loads it. lazy: run metadata of a single folder is read when a command asks for a step. */
bool sources_load(struct session *s, const struct sources *src, bool lazy);

#endif
