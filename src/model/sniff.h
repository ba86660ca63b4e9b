/* SPDX-License-Identifier: Apache-2.0
 *
 * Recognises inputs: the format of a file by its first bytes (decompressed), rated from 0
 * (certainly not) to 100 (certain), formats that tfprof does not read, and the files of a folder by
 * their names. Opens no file, and never replaces parsing.
 */
#ifndef TFPROF_MODEL_SNIFF_H
#define TFPROF_MODEL_SNIFF_H

#include "io/wire.h"
#include "base/note.h"

#define SNIFF_BYTES ((size_t)64 << 10) /* further bytes are ignored */

int sniff_graph(struct str head, struct str path);
int sniff_run(struct str head, struct str path);
int sniff_oplog(struct str head, struct str path);
int sniff_profile(struct str head, struct str path);
int sniff_baseline(struct str head, struct str path);
int sniff_spool(struct str head, struct str path);
int sniff_execution_trace(struct str head, struct str path);
int sniff_onnx(struct str head, struct str path);
int sniff_pprof(struct str head, struct str path);
int sniff_tensorrt_layers(struct str head, struct str path);
int sniff_tensorrt_profile(struct str head, struct str path);

/* Messages that contain a binary GraphDef. */
enum graph_form { GRAPH_PLAIN, GRAPH_META, GRAPH_SAVED };
enum graph_form sniff_graph_form(struct str head);

/* ---- first bytes ----
 *
 * Examines first bytes, which may be any bytes and may be truncated anywhere. Shared by sniff and
 * unsupported_format.
 */

/* Reads a message in the head; a value truncated by the end of the head counts as far as it is
 * present. */
struct str sniff_message(struct leaf *l);

/* True if this can be a name: not empty, without control characters. */
bool sniff_is_name(struct str s);

/* True if a message begins with field 1, a name. */
bool sniff_begins_with_name(struct str s);

/* Returns the first word of a text (lower case and '_') after blanks and comments. */
struct str sniff_word(struct str s);

/* ---- formats that are not read ----
 *
 * Files of known formats that tfprof does not read: their names, and suggestions. Opens no file.
 */

/* Parts of a sentence. */
struct unsupported_format {
	const char *what, *cure;
};

/* Returns the format of a file by its first decompressed bytes and its path; NULL if unknown. */
const struct unsupported_format *unsupported_format_find(struct str head, struct str path);

/* Fills *e with format and suggestion; returns false. */
bool unsupported_format_refuse(const struct unsupported_format *f, struct str path, struct err *e);

/* ---- folders ----
 *
 * Recognises the files of a folder by their names alone: the names that ProfileContext,
 * write_op_log and write_graph use. Opens no file.
 */

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

/* Lists the traces of a folder, one file per worker: those of the newest run below plugins/profile
 * that has some, with a note if there are several runs, otherwise those in the folder itself. Of
 * PyTorch's "HOST_PID.TIME.pt.trace.json" only the newest of each HOST_PID is used, with a note.
 * Empty if the folder has other inputs or cannot be read. */
struct strs folder_traces(struct arena *a, struct str path, struct notes *notes);

/* Shortens names of XSpaces to those of their hosts, if all names are such and stay distinct. */
void folder_host_names(struct arena *a, struct strs *names);

#endif
