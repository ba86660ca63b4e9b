/* SPDX-License-Identifier: Apache-2.0
 *
 * What readers call. It speaks of nodes, edges, devices, frames, steps and records, and knows no
 * file format. It alone writes the model, between ingest_begin and ingest_seal.
 *
 *   graph, op log, profile:  ingest_begin  add ... add  ingest_commit | ingest_undo
 *   step files, any thread:  batch_new  batch_record ...     meanwhile on one, in file order:
 *                            ingest_fold
 *   finally:                 ingest_seal
 *
 * A file is all or nothing: ingest_undo takes back all that came since ingest_begin.
 */
#ifndef TFPROF_MODEL_INGEST_H
#define TFPROF_MODEL_INGEST_H

#include "base/err.h"
#include "base/par.h"
#include "model/model.h"

struct ingest;

/* notes outlive the ingest. keep_attrs: node attributes are kept for writing a ProfileProto. */
struct ingest *ingest_open(struct model *m, struct notes *notes, bool keep_attrs);
/* Begins an overlay: additions go into a model that will be merged into this one (ingest_merge),
 * which is only read meanwhile. */
void ingest_base(struct ingest *in, const struct model *base);

/* From here on, nodes are those of that model, found by name, each once; of them only executions
 * are said. False if there is no such model. ingest_end_beside takes back what was said so. */
bool ingest_overlay_begin(struct ingest *in);
size_t ingest_base_nodes(const struct ingest *in); /* how many it has */
bool ingest_base_node(struct ingest *in, struct str name, uint32_t *node);
void ingest_end_beside(struct ingest *in, struct arena *scratch);

const struct model *ingest_model(const struct ingest *in);
struct notes *ingest_notes(struct ingest *in);
void ingest_keep_attrs(struct ingest *in);
bool ingest_keeps_attrs(const struct ingest *in);
void ingest_keep_said(struct ingest *in); /* labels and threads of spans, to write run metadata */

/* scratch: arena of the file, for what is pending until the commit. */
void ingest_begin(struct ingest *in, struct arena *scratch);
void ingest_commit(struct ingest *in);
void ingest_undo(struct ingest *in);

uint32_t ingest_string(struct ingest *in, struct str s);                 /* string id */
uint32_t ingest_shape(struct ingest *in, const int64_t *dims, size_t n); /* shape id */
uint32_t ingest_device(struct ingest *in, struct str lower_case);        /* model device id */

/* Adds a node; all calls up to ingest_end_node are about it. False if the name is taken: then
 * nothing is added and nothing else must be said of it. */
bool ingest_node(struct ingest *in, uint32_t name, uint32_t op);
void ingest_input(struct ingest *in, int32_t index, uint32_t source_name, int32_t slot);
void ingest_node_shape(struct ingest *in, uint32_t shape); /* its parameters follow from it */
void ingest_output(struct ingest *in, int32_t slot, uint32_t shape);
void ingest_nhwc(struct ingest *in);
void ingest_attr(
        struct ingest *in, struct str key, struct str value); /* AttrValue bytes, if kept */
uint32_t ingest_end_node(struct ingest *in);                  /* its id */

/* About a node that has come since ingest_begin, at once. */
void ingest_set_device(
        struct ingest *in, uint32_t node, uint32_t device, uint32_t host); /* string id of host */
void ingest_given_types(struct ingest *in, uint32_t node); /* types: just those added from now on */

/* About any node; undone with the file. */
void ingest_add_type(struct ingest *in, uint32_t node, uint32_t type);
void ingest_set_float_ops(struct ingest *in, uint32_t node, int64_t n); /* in force at the commit */
/* Adds a call stack; frame may be ID_NONE: a call stack without frames. A node keeps its first
 * stack. */
void ingest_set_stack(struct ingest *in, uint32_t node, uint32_t frame);
uint32_t ingest_frame(struct ingest *in, const struct frame *f); /* id; equal frames are one */
void ingest_has_traces(struct ingest *in);

/* Steps whose cells come ready-made, node by node (profiles). Step ids must be distinct. */
struct cell_in {
	int64_t runs, start, end;
};
void ingest_cell(struct ingest *in, int64_t step, uint32_t node, const struct cell_in *c);
/* Of the cell just made. device: model device id. */
void ingest_mem(struct ingest *in, const uint8_t *packed, size_t n);
void ingest_span(
        struct ingest *in, enum span_kind kind, uint32_t device, int64_t start, int64_t length);
void ingest_span_annotation(
        struct ingest *in, struct span_annotation said); /* of the span just made */
/* Ticks per microsecond of the cells to come, up to the commit; 1 if never said. */
void ingest_ticks(struct ingest *in, uint32_t per_us);
void ingest_step(struct ingest *in, int64_t step); /* known to exist, maybe without cells */

/* The trace that the file is; it lives as long as the model. In force at the commit. */
void ingest_keep_trace(struct ingest *in, const struct trace *t);

/* Records of one step file: a stream of its own in the arena of its job. */
struct batch;
struct record {
	uint32_t node;         /* from batch_node */
	uint32_t device;       /* from batch_device */
	int64_t start, length; /* ticks; all_start and op_end_rel; no time if start <= 0 */
	const uint8_t *mem; /* packed items, counted if its device turns out to be the node's own;
	                     * temp and persistent as accelerator's: the fold knows better */
	size_t mem_n;
	uint32_t gpu_allocators; /* more than one gives a note */
	struct str label;        /* the name as recorded, for the note that there is no start */
	struct str said;         /* timeline_label and the thread, if the model keeps them */
	uint32_t thread;
};

/* Only names are read in m, so several batches may grow at once, and others be folded. unit: ticks
 * per microsecond. */
struct batch *batch_new(struct arena *a, const struct model *m, int64_t step, uint32_t unit);
/* A device of the step, and its name in any case: records may come before the name is known. */
uint32_t batch_device(struct batch *b);
void batch_name_device(struct batch *b, uint32_t device, struct str name);
/* A node by name, made known if it is not; id above the model's if unknown: it will be created by
 * the fold. */
uint32_t batch_node(struct batch *b, struct str name);
uint32_t batch_find(const struct batch *b, struct str name); /* the same, or ID_NONE if unknown */
void batch_prefetch(const struct batch *b, struct str name); /* it will be looked for soon */
void batch_record(struct batch *b, const struct record *r);
struct arena *batch_arena(struct batch *b);
void batch_no_stats(struct batch *b); /* the file had no step_stats at all */

/* While batches grow on the threads of p, what they read is changed only when they are quiet. NULL:
 * there are none. */
void ingest_beside(struct ingest *in, struct pool *p);

/* Adds the batch to the model: creates unknown nodes, applies the first-canonical-device rule,
 * makes the step, counts coverage, adds notes. False only for limits. */
bool ingest_fold(struct ingest *in, struct batch *b, struct err *e);

/* Adds another model, which is only read and was not sealed: nodes are matched by name, its steps
 * become those of a worker. aside: not for the average, and only those that the worker has not.
 * False, and nothing added, if both have nodes and none in common (ERR_FAILED; name stands for it
 * in the sentence), or for limits. */
bool ingest_merge(struct ingest *in, const struct ingest *from, uint32_t worker,
        bool excluded_from_average, struct str name, struct err *e);

/* The workers' names, by their numbers. */
void ingest_workers(struct ingest *in, const struct strs *names);

/* Resolves inputs, sorts names, makes type sets. The model may be read from then on. */
bool ingest_seal(struct ingest *in, struct err *e);

#endif
