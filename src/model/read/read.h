/* SPDX-License-Identifier: Apache-2.0
 *
 * The readers, one per format. A reader knows its format and ingest.h, but not the model. The input
 * is already open, decompressed and, if it was protobuf text, converted to binary. On failure *e is
 * filled, and the caller reverts everything that the reader added. Recordings and traces are first
 * read by src/trace, then lowered to the same calls.
 */
#ifndef TFPROF_MODEL_READ_H
#define TFPROF_MODEL_READ_H

#include "model/ingest.h"
#include "trace/pass/ops.h"
#include "trace/read/recording/recordings.h"

/* Functions with a: arena of the file, for scratch data. Called between ingest_begin and
 * ingest_commit. */
bool read_graph(struct src *s, struct ingest *to, struct arena *a, struct err *e); /* GraphDef */
bool read_oplog(struct src *s, struct ingest *to, struct arena *a, struct err *e); /* OpLogProto */
/* ProfileProto. Reads the input twice: src_rewind must work. */
bool read_profile(struct src *s, struct ingest *to, struct arena *a, struct err *e);
#define BASELINE_HEAD "tfprof baseline 1"
bool read_baseline(struct src *s, struct ingest *to, struct arena *a, struct err *e);

/* Reads a recording with default options (recording_lower takes options). Reads the input twice. */
bool read_spool(struct src *s, struct ingest *to, struct arena *a, struct err *e);

/* Reads a pprof profile. Reads the input twice. */
bool read_pprof(struct src *s, struct ingest *to, struct arena *a, struct err *e);
bool read_onnx(struct src *s, struct ingest *to, struct arena *a, struct err *e); /* ModelProto */
/* Reads a PyTorch execution trace as a graph, without a Kineto trace. */
bool read_execution_trace(struct src *s, struct ingest *to, struct arena *a, struct err *e);
/* Read the layers and the times that TensorRT exports as JSON. */
bool read_tensorrt_layers(struct src *s, struct ingest *to, struct arena *a, struct err *e);
bool read_tensorrt_profile(struct src *s, struct batch *to, struct err *e);

bool read_run(struct src *s, struct batch *to, struct err *e); /* RunMetadata */

/* ---- recording lower ----
 *
 * Converts a recording of GPU work to a profile: launched operations become nodes, the enclosing
 * ranges become their path, and the time between two marks becomes a step. Times are in
 * nanoseconds. The recording itself stores none of this, so it can be read again with other
 * options.
 */

/* Called between ingest_begin and ingest_commit. a: scratch arena. watch may be NULL. path: the
 * trace of the same files and options, whose critical path is assigned to the nodes; may be NULL.
 * Fills *facts; the caller sets its arena. */
bool recording_lower(struct ingest *to, const struct recording_set *files,
        const struct recording_options *o, const struct recording_watch *watch,
        const struct trace *path, struct src_facts *facts, struct arena *a, struct err *e);

/* Converts a recording by way of its trace, in which the work of graphs has the places of a capture
 * that the user named. Takes as much memory as a trace. */
bool recording_lower_graphs(struct ingest *to, const struct recording_set *files,
        const struct recording_options *o, const struct recording_watch *watch,
        const struct graph_source *graphs, struct arena *a, struct err *e);

/* ---- trace lower ----
 *
 * Converts a trace to a profile: ops become nodes, steps become steps, host self time becomes cpu
 * time, and the time of device work becomes accelerator time of its op.
 */

/* Called between ingest_begin and ingest_commit. scratch: arena of the file. Stores the kernels in
 * *kept unless kept is NULL; they live as long as the model. path: true to also find the time of
 * the nodes on the critical path. */
void trace_lower(const struct trace *t, enum trace_by by, bool path, struct ingest *to,
        struct model_trace *kept, struct arena *scratch);

/* Adds a line of a call stack below the frame that calls it (may be ID_NONE). Returns the frame of
 * the line. */
uint32_t trace_lower_frame(struct ingest *to, struct str text, uint32_t parent);

#endif
