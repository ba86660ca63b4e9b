/* SPDX-License-Identifier: Apache-2.0
 *
 * The readers, one per format. A reader knows its format and ingest.h, nothing of the model.
 * The input was opened, unpacked and, where it was text, translated before. False: *e is filled and
 * nothing may be kept of what was said; the caller undoes.
 */
#ifndef TFPROF_MODEL_READ_H
#define TFPROF_MODEL_READ_H

#include "io/src.h"
#include "model/ingest.h"

/* a: arena of the file, for scratch. They come between ingest_begin and ingest_commit. */
bool read_graph(struct src *s, struct ingest *to, struct arena *a, struct err *e); /* GraphDef */
bool read_oplog(struct src *s, struct ingest *to, struct arena *a, struct err *e); /* OpLogProto */
/* ProfileProto. Goes over the input twice: src_rewind must work. */
bool read_profile(struct src *s, struct ingest *to, struct arena *a, struct err *e);
#define BASELINE_HEAD "tfprof baseline 1"
bool read_baseline(struct src *s, struct ingest *to, struct arena *a, struct err *e);

/* A spool, without options: see spools.h for all there is to them. Goes over it twice. */
bool read_spool(struct src *s, struct ingest *to, struct arena *a, struct err *e);

bool read_run(struct src *s, struct batch *to, struct err *e); /* RunMetadata */

#endif
