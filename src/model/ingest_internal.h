/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the writers of the model: ingest.c (static part, sealing), fold.c (step files),
 * steps_in.c (steps of profiles), step_list.c (all steps, sums), merge.c (workers).
 */
#ifndef TFPROF_MODEL_INGEST_INTERNAL_H
#define TFPROF_MODEL_INGEST_INTERNAL_H

#include "model/ingest.h"

/* Lengths of the model's lists when a file began, so that it can be taken back. */
struct ingest_mark {
	size_t nodes, inputs, input_index, input_slot, outputs, attrs, extra, traces;
	bool has_traces;
};

/* Something said of a node that is in force at the commit. */
struct pending {
	uint32_t node;
	bool stack;    /* else float_ops */
	int64_t value; /* frame or float_ops */
};

struct node_type {
	uint32_t node, type;
};

/* A step that grows cell by cell. */
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
	VEC(struct span_annotation)
	span_annotation; /* shorter than the others: nothing was said of the rest */
	VEC(uint8_t) mem;
	VEC(uint32_t) devices;
	struct imap device_index; /* model device id -> index in devices */
};

struct ingest {
	struct model *m;
	struct notes *notes;
	bool keep_attrs;
	struct arena *scratch;
	struct ingest_mark mark;
	VEC(struct pending) pending; /* in scratch */
	VEC(struct node_type) extra; /* types beside op and device; in the model arena */
	struct imap step_of;         /* step id -> index in steps */
	VEC(struct step_in *)
	steps;                     /* growing ones, in scratch; their columns in the model arena */
	VEC(int64_t) said;         /* steps that exist, maybe without cells; in scratch */
	uint32_t ticks_per_us;     /* of steps to come */
	struct step_in *cell_step; /* of the last cell */
	struct pool *beside;       /* threads that look names up, or NULL */
	const struct model *base;  /* that this one will be merged into; NULL: none */
	uint32_t base_next;        /* its node that is likely the next one asked for */
	bool *base_seen;           /* by its nodes: asked for; NULL: cells are of nodes of m */
	const char *overflow;      /* which index ran over; said by ingest_seal */
	const struct step *alone; /* in the average while no other is: sums begin with the second */
	bool nodes_changed, types_changed;
};

/* The node of that name, or ID_NONE. Models of one job have their nodes in the same order: the one
 * behind the last found is tried first. */
uint32_t ingest_find_next(const struct model *m, struct str name, uint32_t *next);
/* Sums for nodes that came after the last ones. */
void ingest_sum_room(struct model *m);
void ingest_commit_steps(struct ingest *in);
uint32_t ingest_plain_node(struct ingest *in, uint32_t name, uint32_t op);
/* Gives the node its canonical device, once. */
void ingest_canonical(struct ingest *in, uint32_t node, uint32_t device);
/* Puts finished steps of one worker, by ascending id, each once, into the model (replacing those of
 * their ids), and adds them to the sums. What run holds then is of no use. */
void ingest_put_steps(struct ingest *in, struct step **run, size_t n);

#endif
