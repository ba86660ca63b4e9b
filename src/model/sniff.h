/* SPDX-License-Identifier: Apache-2.0
 *
 * Estimates the format of a file from its first bytes (decompressed): 0 certainly not ... 100
 * certain. Opens nothing, and never replaces parsing.
 */
#ifndef TFPROF_MODEL_SNIFF_H
#define TFPROF_MODEL_SNIFF_H

#include "base/str.h"

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

#endif
