/* SPDX-License-Identifier: Apache-2.0
 *
 * The readers of traces, one per format, each with a function that rates the first bytes
 * (decompressed) and the path: 0 certainly not ... 100 certain. A reader knows its format and
 * trace_build.h. It may read the input twice (src_rewind). On failure *e is filled; appended data
 * counts only if s->damage says so (kept, with recover set).
 */
#ifndef TFPROF_TRACE_TRACE_READ_H
#define TFPROF_TRACE_TRACE_READ_H

#include "io/src.h"
#include "trace/trace_build.h"

/* XSpace: TensorFlow 2 and JAX, *.xplane.pb. */
int sniff_xspace(struct str head, struct str path);
bool read_xspace(struct src *s, struct trace_build *to, struct arena *a, struct err *e);

/* Chrome JSON: PyTorch (Kineto), and others' events as plain slices. Damage is noted, and every
 * complete event read: recover is of no account. */
int sniff_chrome_json(struct str head, struct str path);
bool read_chrome_json(struct src *s, struct trace_build *to, struct arena *a, struct err *e);

/* Profile of a session of ONNX Runtime: Chrome JSON, with the same flaws noted. */
int sniff_onnxruntime(struct str head, struct str path);
bool read_onnxruntime(struct src *s, struct trace_build *to, struct arena *a, struct err *e);

/* Nsight Systems: its export in SQLite. */
int sniff_nsys(struct str head, struct str path);
bool read_nsys(struct src *s, struct trace_build *to, struct arena *a, struct err *e);

/* rocprofv3: results in JSON. Damage is noted, and the records before it are read. */
int sniff_rocprof(struct str head, struct str path);
bool read_rocprof(struct src *s, struct trace_build *to, struct arena *a, struct err *e);

/* Perfetto: traces in protobuf, *.pftrace and *.perfetto-trace. */
int sniff_perfetto(struct str head, struct str path);
bool read_perfetto(struct src *s, struct trace_build *to, struct arena *a, struct err *e);

#endif
