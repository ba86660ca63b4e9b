/* SPDX-License-Identifier: Apache-2.0
 *
 * Recognises the files of a folder by their names alone: the names that ProfileContext,
 * write_op_log and write_graph use. Opens no file.
 */
#ifndef TFPROF_MODEL_FOLDER_H
#define TFPROF_MODEL_FOLDER_H

#include "base/err.h"
#include "base/note.h"
#include "base/arena.h"

struct folder_file {
	struct str path;
	int64_t step; /* the number after the name; -1: none */
};
struct folder_files {
	struct folder_file *v; /* ascending by step */
	size_t n, cap;
};
struct folder {
	struct str graph, oplog; /* empty: none */
	struct folder_files profiles, runs;
};

/* Returns false if the folder cannot be read or has no such files. Files that are ignored cause no
 * note. Of several graphs or op logs the first by name is used, with a note. */
bool folder_list(
        struct arena *a, struct str path, struct folder *f, struct notes *notes, struct err *e);

/* Lists the traces of a folder, one file per worker: those of the newest run below plugins/profile,
 * otherwise those in the folder itself. Of PyTorch's "HOST_PID.TIME.pt.trace.json" only the newest
 * of each HOST_PID is used, with a note. Empty if the folder has other inputs or cannot be read. */
struct strs folder_traces(struct arena *a, struct str path, struct notes *notes);

#endif
