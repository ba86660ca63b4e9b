/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface for readers, in terms of nodes, edges, devices, frames, steps and records,
 * independent of file formats. Only this module writes the model, between ingest_begin and
 * ingest_seal.
 *
 *   graph, op log, profile:  ingest_begin  add ... add  ingest_commit | ingest_undo
 *   step files, any thread:  batch_new  batch_record ...     meanwhile on one, in file order:
 *                            ingest_fold
 *   finally:                 ingest_seal
 *
 * A file is loaded completely or not at all: ingest_undo reverts everything since ingest_begin.
 */
#ifndef TFPROF_MODEL_INGEST_H
#define TFPROF_MODEL_INGEST_H

#include "base/err.h"
#include "base/par.h"
#include "io/src.h"
#include "model/model.h"

struct ingest;

/* Opens an ingest. notes must outlive the ingest. keep_attrs: store node attributes for writing a
 * ProfileProto. */
struct ingest *ingest_open(struct model *m, struct notes *notes, bool keep_attrs);
/* Begins an overlay: additions go into a model that will later be merged into this one
 * (ingest_merge). This model is only read meanwhile. */
void ingest_base(struct ingest *in, const struct model *base);

/* Sets the user's options for all files. The options must outlive the ingest. */
void ingest_set_options(struct ingest *in, const struct src_options *options);
const struct src_options *ingest_options(const struct ingest *in); /* NULL: no options were set */

/* Stores the facts about a file that was read. Copies the texts. */
void ingest_file(
        struct ingest *in, struct str path, struct str format, const struct src_facts *facts);

/* Sets the count of unused data of a format and kind. */
void ingest_set_unused(struct ingest *in, struct str format, struct str kind, uint64_t n);

/* Begins adding executions only: each node is looked up once, by name, in the base model. Returns
 * false without a base model. ingest_overlay_end reverts these additions. */
bool ingest_overlay_begin(struct ingest *in);
size_t ingest_base_nodes(const struct ingest *in); /* number of the base model's nodes */
bool ingest_base_node(struct ingest *in, struct str name, uint32_t *node);
void ingest_overlay_end(struct ingest *in, struct arena *scratch);

const struct model *ingest_model(const struct ingest *in);
struct notes *ingest_notes(struct ingest *in);
void ingest_keep_attrs(struct ingest *in);
bool ingest_keeps_attrs(const struct ingest *in);
void ingest_keep_notes(
        struct ingest *in); /* stores labels and threads of spans for writing run metadata */

/* Begins a file. scratch: arena of the file, for data that is pending until the commit. */
void ingest_begin(struct ingest *in, struct arena *scratch);
void ingest_commit(struct ingest *in);
void ingest_undo(struct ingest *in);

uint32_t ingest_string(struct ingest *in, struct str s);                 /* string id */
uint32_t ingest_shape(struct ingest *in, const int64_t *dims, size_t n); /* shape id */
uint32_t ingest_device(struct ingest *in, struct str lower_case);        /* model device id */

/* Adds a node. All calls up to ingest_end_node refer to it. If the name exists, returns false and
 * adds nothing; then no further call may refer to the node. */
bool ingest_node(struct ingest *in, uint32_t name, uint32_t op);
void ingest_input(struct ingest *in, int32_t index, uint32_t source_name, int32_t slot);
void ingest_node_shape(struct ingest *in, uint32_t shape); /* determines its parameters */
void ingest_output(struct ingest *in, int32_t slot, uint32_t shape);
/* NODE_NHWC, NODE_TRANSPOSED, NODE_ONNX, NODE_LAYER, NODE_CALL, NODE_TYPE */
void ingest_flags(struct ingest *in, uint32_t flags);
void ingest_window(struct ingest *in, uint32_t window, uint32_t stride);
void ingest_facts(struct ingest *in, uint32_t facts); /* string id; described in node_facts.h */
void ingest_attr(struct ingest *in, struct str key, struct str value); /* AttrValue bytes, if
                                                                          attributes are stored */
uint32_t ingest_end_node(struct ingest *in); /* returns the id of the node */

/* Returns the functions of the graph, to which the reader adds. */
struct library *ingest_library(struct ingest *in);

/* The following functions set properties of a node that was added since ingest_begin. They take
 * effect immediately. */
void ingest_set_device(
        struct ingest *in, uint32_t node, uint32_t device, uint32_t host); /* host: string id */
void ingest_given_types(struct ingest *in,
        uint32_t node); /* replaces the node's types by those added from now on */

/* Marks the float operations of a node as unknown. */
void ingest_set_uncounted(struct ingest *in, uint32_t node);

/* The following functions set properties of any node. They are reverted if the file is dropped. */
void ingest_add_type(struct ingest *in, uint32_t node, uint32_t type);
void ingest_set_float_ops(
        struct ingest *in, uint32_t node, int64_t n); /* takes effect at the commit */
/* Adds a call stack. frame is ID_NONE for a call stack without frames. A node keeps its first
 * stack. */
void ingest_set_stack(struct ingest *in, uint32_t node, uint32_t frame);
uint32_t ingest_frame(
        struct ingest *in, const struct frame *f); /* returns an id; equal frames share it */
void ingest_has_traces(struct ingest *in);
/* Records that an input has a format that the original cannot read. */
void ingest_new_input(struct ingest *in);
/* Records that the input is a trace or recording, so that device time and host time are never added
 * up. */
void ingest_parallel_times(struct ingest *in);

/* A cell of a step that is built node by node (profiles). Step ids must be distinct. */
struct cell_in {
	int64_t runs, start, end;
};
void ingest_cell(struct ingest *in, int64_t step, uint32_t node, const struct cell_in *c);
/* The following functions add to the last cell. device: device id of the model. */
void ingest_mem(struct ingest *in, const uint8_t *packed, size_t n);
void ingest_span(
        struct ingest *in, enum span_kind kind, uint32_t device, int64_t start, int64_t length);
void ingest_span_annotation(struct ingest *in, struct span_annotation said); /* for the last span */
/* Sets the ticks per microsecond of the following cells, up to the commit; 1 by default. */
void ingest_ticks(struct ingest *in, uint32_t per_us);
void ingest_step(struct ingest *in, int64_t step); /* declares an existing step, possibly without
                                                      cells */

/* Sets the trace from which the file was lowered. The trace must live as long as the model. Takes
 * effect at the commit. */
void ingest_keep_trace(struct ingest *in, const struct model_trace *t);

/* Records of one step file: a separate stream in the arena of its job. */
struct batch;
struct record {
	uint32_t node;         /* result of batch_node */
	uint32_t device;       /* result of batch_device */
	int64_t start, length; /* ticks: all_start and op_end_rel; start <= 0: no time */
	/* Packed items, which are used if the device turns out to be the node's own. Temporary and
	 * persistent bytes belong to an accelerator, which the fold corrects. */
	const uint8_t *mem;
	size_t mem_n;
	uint32_t gpu_allocators; /* number of GPU allocators; more than one causes a note */
	struct str label;        /* name as recorded, for the note about a missing start */
	struct str said;         /* timeline_label and thread, if the model stores them */
	uint32_t thread;
};

/* Creates a batch. Only reads names in m, so several batches may be filled at once while other
 * batches are folded. unit: ticks per microsecond. */
struct batch *batch_new(struct arena *a, const struct model *m, int64_t step, uint32_t unit);
/* batch_device adds a device of the step. batch_name_device must be called for it in any case:
 * records may precede the name. */
uint32_t batch_device(struct batch *b);
void batch_name_device(struct batch *b, uint32_t device, struct str name);
/* Returns the node with a name. An unknown name gets an id above the model's ids; the fold creates
 * the node. */
uint32_t batch_node(struct batch *b, struct str name);
uint32_t batch_find(
        const struct batch *b, struct str name); /* returns ID_NONE if the name is unknown */
void batch_prefetch(const struct batch *b, struct str name); /* prefetches a lookup */
void batch_record(struct batch *b, const struct record *r);
struct arena *batch_arena(struct batch *b);
struct notes *batch_notes(struct batch *b);
void batch_no_stats(struct batch *b); /* the file had no step_stats */

/* Shares the names with threads. While threads of p fill batches, data that they read changes only
 * when they are idle. NULL: no threads. */
void ingest_share_names(struct ingest *in, struct pool *p);

/* Adds the batch to the model: creates unknown nodes, applies the first-canonical-device rule,
 * builds the step, counts coverage, and adds notes. Fails only if a limit is exceeded. */
bool ingest_fold(struct ingest *in, struct batch *b, struct err *e);

/* Merges another model, which is only read and was not sealed: matches nodes by name, and makes its
 * steps steps of a worker. aside: excludes the steps from the average, and adds only steps that the
 * worker lacks. Returns false and adds nothing if both models have nodes but none in common
 * (ERR_FAILED; the sentence uses name), or if a limit is exceeded. */
bool ingest_merge(struct ingest *in, const struct ingest *from, uint32_t worker,
        bool excluded_from_average, struct str name, struct err *e);

/* Sets the names of the workers, indexed by number. */
void ingest_workers(struct ingest *in, const struct strs *names);

/* Resolves inputs, sorts names, and creates type sets. After this call, the model can be read. */
bool ingest_seal(struct ingest *in, struct err *e);

#endif
