/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the writers of the model: ingest.c (static part, sealing), fold.c (step files),
 * steps_in.c (steps of profiles), step_list.c (all steps, sums), merge.c (workers).
 */
#ifndef TFPROF_MODEL_INGEST_INTERNAL_H
#define TFPROF_MODEL_INGEST_INTERNAL_H

#include "model/ingest.h"

/* Lengths of the model's lists at the start of a file, for ingest_undo. */
struct ingest_mark {
	size_t nodes, inputs, input_index, input_slot, outputs, attrs, extra, traces;
	bool has_traces;
	struct library *library;
};

/* A change of a node that takes effect at the commit. */
struct pending {
	uint32_t node;
	bool stack;    /* true: value is a frame; false: float operations */
	int64_t value; /* frame or float operations */
};

struct node_type {
	uint32_t node, type;
};

/* A step under construction, cell by cell. */
struct step_in {
	int64_t id;
	uint32_t ticks_per_us;
	VEC(uint32_t) node;
	VEC(uint32_t) span0;
	VEC(uint32_t) mem0;
	VEC(int64_t) runs;
	VEC(int64_t) start;
	VEC(int64_t) end;
	VEC(uint16_t) span_device;
	VEC(uint8_t) span_kind;
	VEC(int64_t) span_start;
	VEC(int64_t) span_length;
	/* May be shorter than the other lists: later spans have no annotations. */
	VEC(struct span_annotation) span_annotation;
	VEC(uint8_t) mem;
	VEC(uint32_t) devices;
	struct imap device_index; /* key: device id of the model; value: index in devices */
};

struct ingest {
	struct model *m;
	struct notes *notes;
	bool keep_attrs;
	const struct src_options *options;
	struct arena *scratch;
	struct ingest_mark mark;
	VEC(struct pending) pending; /* lives in scratch */
	VEC(struct node_type) extra; /* types other than op and device; lives in the model arena */
	struct imap step_of;         /* key: step id; value: index in steps */
	VEC(struct step_in *) steps; /* lives in scratch; the columns live in the model arena */
	VEC(int64_t) existing;       /* steps that exist, possibly without cells; in scratch */
	uint32_t ticks_per_us;       /* ticks per microsecond of the following steps */
	struct step_in *cell_step;   /* step of the last cell */
	struct pool *readers;        /* threads that look up names, or NULL */
	const struct model *base;    /* model into which this one will be merged; NULL: none */
	uint32_t base_next;          /* node of the base model that is probably requested next */
	bool *base_seen;      /* indexed by node of the base model: true if requested; NULL: cells
	                         refer to m */
	const char *overflow; /* name of the index that overflowed; ingest_seal reports it */
	const struct step *alone; /* the only step in the average; sums begin with the second
	                             step */
	bool nodes_changed, types_changed;
};

/* Returns the node with a name, or ID_NONE. Models of one job have their nodes in the same order,
 * so the node after the last one found is tried first. */
uint32_t ingest_find_next(const struct model *m, struct str name, uint32_t *next);
/* Extends the sums to the nodes added since the last step. */
void ingest_sum_room(struct model *m);
void ingest_commit_steps(struct ingest *in);
uint32_t ingest_plain_node(struct ingest *in, uint32_t name, uint32_t op);
/* Sets the canonical device of a node that has none yet. */
void ingest_canonical(struct ingest *in, uint32_t node, uint32_t device);
/* Moves finished steps of one worker, sorted by distinct ids, into the model (replacing steps with
 * the same ids), and adds them to the sums. The contents of run are invalid afterwards. */
void ingest_put_steps(struct ingest *in, struct step **run, size_t n);

#endif
