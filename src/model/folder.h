/* SPDX-License-Identifier: Apache-2.0
 *
 * Recognises the files of a folder by their names alone: the names that ProfileContext,
 * write_op_log and write_graph use. Opens none of them.
 */
#ifndef TFPROF_MODEL_FOLDER_H
#define TFPROF_MODEL_FOLDER_H

#include "base/err.h"
#include "base/note.h"
#include "base/vec.h"

struct folder_file {
	struct str path;
	int64_t step; /* the number behind the name; -1: none */
};
struct folder_files {
	struct folder_file *v; /* ascending by step */
	size_t n, cap;
};
struct folder {
	struct str graph, oplog; /* empty: none */
	struct folder_files profiles, runs;
};

/* False if it cannot be read, or holds nothing of the kind. Ignored files make no note; of several
 * graphs or op logs the first by name is taken, which a note says. */
bool folder_list(
        struct arena *a, struct str path, struct folder *f, struct notes *notes, struct err *e);

/* Traces of a folder, a file for each worker: those of the newest run below plugins/profile, else
 * those in the folder itself; of PyTorch's "HOST_PID.TIME.pt.trace.json" only the newest of each
 * HOST_PID, which a note says. None if other inputs are there, or if the folder cannot be read. */
struct strs folder_traces(struct arena *a, struct str path, struct notes *notes);

#endif
