/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings and traces become nodes, steps and call stacks of the model.
 */
#ifndef TFPROF_MODEL_LOWER_H
#define TFPROF_MODEL_LOWER_H

#include "model/ingest.h"
#include "trace/ops.h"
#include "trace/recordings.h"

/* ---- recording lower ----
 *
 * A recording of GPU work as a profile: launched operations become nodes, the enclosing ranges
 * their path, the time between two marks a step; times are in nanoseconds. All of this is decided
 * when a recording is read, so it can be read again with other options.
 */

/* Between ingest_begin and ingest_commit. a: scratch. watch may be NULL. */
bool recording_lower(struct ingest *to, const struct recording_set *files,
        const struct recording_options *o, const struct recording_watch *watch, struct arena *a,
        struct err *e);

/* ---- trace lower ----
 *
 * A trace as a profile: its ops become nodes, its steps become steps. Host self time becomes cpu
 * time, time of device work becomes accelerator time of the op that it belongs to.
 */

/* Between ingest_begin and ingest_commit; scratch is an arena of the file. */
void trace_lower(const struct trace *t, enum trace_by by, struct ingest *to, struct arena *scratch);

#endif
