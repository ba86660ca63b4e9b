/* SPDX-License-Identifier: Apache-2.0
 *
 * A recording of GPU work as a profile: what was launched becomes nodes, the ranges around it their
 * path, what came between two marks a step; times are in nanoseconds. Everything here is decided
 * when a recording is read, so it can be read anew with other options.
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
