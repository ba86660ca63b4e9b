/* SPDX-License-Identifier: Apache-2.0
 *
 * A recording of GPU work as a profile: launched operations become nodes, the enclosing ranges
 * their path, the time between two marks a step; times are in nanoseconds. All of this is decided
 * when a recording is read, so it can be read again with other options.
 */
#ifndef TFPROF_MODEL_RECORDING_LOWER_H
#define TFPROF_MODEL_RECORDING_LOWER_H

#include "model/ingest.h"
#include "trace/recordings.h"

/* Between ingest_begin and ingest_commit. a: scratch. watch may be NULL. */
bool recording_lower(struct ingest *to, const struct recording_set *files,
        const struct recording_options *o, const struct recording_watch *watch, struct arena *a,
        struct err *e);

#endif
