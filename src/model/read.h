/* SPDX-License-Identifier: Apache-2.0
 *
 * The readers, one per format. A reader knows its format and ingest.h, but not the model. The input
 * is already open, decompressed and, if it was text, translated. On failure *e is filled and the
 * caller reverts everything the reader added. Recordings and traces, which have passes of their
 * own, are lowered to the same calls.
 */
#ifndef TFPROF_MODEL_READ_H
#define TFPROF_MODEL_READ_H

#include "model/ingest.h"
#include "trace/ops.h"
#include "trace/recordings.h"

/* a: arena of the file, for scratch. Called between ingest_begin and ingest_commit. */
bool read_graph(struct src *s, struct ingest *to, struct arena *a, struct err *e); /* GraphDef */
bool read_oplog(struct src *s, struct ingest *to, struct arena *a, struct err *e); /* OpLogProto */
/* ProfileProto. Reads the input twice: src_rewind must work. */
bool read_profile(struct src *s, struct ingest *to, struct arena *a, struct err *e);
#define BASELINE_HEAD "tfprof baseline 1"
bool read_baseline(struct src *s, struct ingest *to, struct arena *a, struct err *e);

/* A recording, without options (recording_lower has the full interface). Reads the input twice. */
bool read_spool(struct src *s, struct ingest *to, struct arena *a, struct err *e);

/* Profile of pprof. Reads the input twice. */
bool read_pprof(struct src *s, struct ingest *to, struct arena *a, struct err *e);
bool read_onnx(struct src *s, struct ingest *to, struct arena *a, struct err *e); /* ModelProto */
/* Execution trace of PyTorch, without the Kineto trace of the same run. */
bool read_execution_trace(struct src *s, struct ingest *to, struct arena *a, struct err *e);
/* Layers and times of TensorRT, in JSON. */
bool read_tensorrt_layers(struct src *s, struct ingest *to, struct arena *a, struct err *e);
bool read_tensorrt_profile(struct src *s, struct batch *to, struct err *e);

bool read_run(struct src *s, struct batch *to, struct err *e); /* RunMetadata */

/* ---- recording lower ----
 *
 * A recording of GPU work as a profile: launched operations become nodes, the enclosing ranges
 * their path, the time between two marks a step; times are in nanoseconds. All of this is decided
 * when a recording is read, so it can be read again with other options.
 */

/* Between ingest_begin and ingest_commit. a: scratch. watch may be NULL. Fills *facts, whose arena
 * is set. */
bool recording_lower(struct ingest *to, const struct recording_set *files,
        const struct recording_options *o, const struct recording_watch *watch,
        struct src_facts *facts, struct arena *a, struct err *e);

/* ---- trace lower ----
 *
 * A trace as a profile: its ops become nodes, its steps become steps. Host self time becomes cpu
 * time, time of device work becomes accelerator time of the op that it belongs to.
 */

/* Between ingest_begin and ingest_commit; scratch is an arena of the file. Adds the kernels to
 * kept, if it is not NULL: they live as long as the model. */
void trace_lower(const struct trace *t, enum trace_by by, struct ingest *to,
        struct model_trace *kept, struct arena *scratch);

#endif
