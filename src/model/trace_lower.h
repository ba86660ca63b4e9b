/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace as a profile: its ops become nodes, its steps become steps. Host self time becomes cpu
 * time, time of device work becomes accelerator time of the op that it belongs to.
 */
#ifndef TFPROF_MODEL_TRACE_LOWER_H
#define TFPROF_MODEL_TRACE_LOWER_H

#include "model/ingest.h"
#include "trace/ops.h"

/* Between ingest_begin and ingest_commit; scratch is an arena of the file. */
void trace_lower(const struct trace *t, enum trace_by by, struct ingest *to, struct arena *scratch);

#endif
