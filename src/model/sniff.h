/* SPDX-License-Identifier: Apache-2.0
 *
 * Recognises inputs: the format of a file by its first decompressed bytes, with a score from 0
 * (certainly not) to 100 (certain); unsupported formats; and the files of a folder by their names.
 * Opens no file, and does not validate the contents.
 */
#ifndef TFPROF_MODEL_SNIFF_H
#define TFPROF_MODEL_SNIFF_H

#include "io/wire.h"
#include "base/note.h"

#define SNIFF_BYTES ((size_t)64 << 10) /* maximum number of bytes that are examined */

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
 * Helpers for sniff and unsupported_format. The first bytes of a file are untrusted and may be
 * truncated anywhere.
 */

/* Parses a message in the head. A value that extends beyond the head is truncated. */
struct str sniff_message(struct leaf *l);

/* True if the text can be a name: it is not empty and has no control characters. */
bool sniff_is_name(struct str s);

/* True if the first field of a message is field 1 and contains a name. */
bool sniff_begins_with_name(struct str s);

/* Returns the first word (lower case and '_') of a text, after blanks and comments. */
struct str sniff_word(struct str s);

/* ---- formats that are not read ----
 *
 * Formats that tfprof recognises but does not read, with suggestions. Opens no file.
 */

/* Parts of an error message. */
struct unsupported_format {
	const char *what, *cure;
};

/* Identifies the format of a file by its first decompressed bytes and its path. supported: true if
 * a supported format recognises the content; then only unmistakable bytes count, not names and
 * words. Returns NULL if the format is unknown. */
const struct unsupported_format *unsupported_format_find(
        struct str head, struct str path, bool supported);

/* Fills *e with the format and the suggestion. Returns false. */
bool unsupported_format_refuse(const struct unsupported_format *f, struct str path, struct err *e);

/* ---- folders ----
 *
 * Recognises the files of a folder by name: the names that ProfileContext, write_op_log and
 * write_graph use. Opens no file.
 */

struct folder_file {
	struct str path;
	int64_t step; /* number at the end of the name; -1: none */
};
struct folder_files {
	struct folder_file *v; /* files sorted by step */
	size_t n, cap;
};
struct folder {
	struct str graph, oplog; /* empty if missing */
	struct folder_files profiles, runs;
};

/* Lists the files of a folder. Returns false if the folder cannot be read or has no such files.
 * Ignores other files without a note. If there are several graphs or op logs, uses the first one by
 * name and adds a note. */
bool folder_list(
        struct arena *a, struct str path, struct folder *f, struct notes *notes, struct err *e);

/* Lists the traces of a folder, one file per worker. If the folder contains runs (plugins/profile),
 * lists the traces of the newest run that has any, and adds a note if there are several runs;
 * otherwise lists the traces in the folder itself. Of the PyTorch files
 * HOST_PID.TIME.pt.trace.json, lists only the newest one per HOST_PID, with a note. Returns an
 * empty list if the folder has other inputs or cannot be read. Sets *calls to files beside JSON
 * traces that have names of execution traces. */
struct strs folder_traces(
        struct arena *a, struct str path, struct strs *calls, struct notes *notes);

/* Returns the paths of the files that are workers. Names must be in path_order. Leaves out older
 * traces of a process and compressed copies, with notes. */
struct strs folder_workers(
        struct arena *a, struct str path, const struct strs *names, struct notes *notes);

/* True if some file has the name of a TensorFlow profile, step, graph or op log. */
bool folder_is_of_tensorflow(const struct strs *names);

/* True for a log folder of TensorBoard, and for the folder of one of its runs. */
bool folder_is_run(struct arena *a, struct str path);

/* Shortens HOST.xplane.pb to HOST, if all names have this form and the hosts are distinct. */
void folder_host_names(struct arena *a, struct strs *names);

#endif
