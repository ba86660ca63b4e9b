/* SPDX-License-Identifier: Apache-2.0
 *
 * A loaded profile: nodes, strings, devices, call stacks, steps. Immutable between sealings;
 * everything lives in the model arena. Views read it; callers of ingest.h write it.
 */
#ifndef TFPROF_MODEL_MODEL_H
#define TFPROF_MODEL_MODEL_H

#include "base/map.h"
#include "base/note.h"
#include "base/str.h"
#include "model/step.h"

/* ---- device ---- */

/* Properties derived from a device's name, computed once per name. */

enum {
	DEVICE_ACCELERATOR = 1, /* ".../stream:all": its times are accelerator times */
	DEVICE_CANONICAL = 2,   /* ".../gpu:0", ".../device:cpu:1": its times are cpu times */
	DEVICE_GPU = 4,         /* the name contains "gpu" */
	DEVICE_CPU = 8          /* the name contains "cpu" */
};

/* Returns the DEVICE_ bits for a name, which must be in lower case. */
unsigned device_kind(struct str name);

/* Returns the name with every "gpu:<digits>" replaced by "cpu:0". */
struct str device_host(struct arena *a, struct str name);

#define NODES_MAX 0x7fffffffu /* limit for node ids; the top bit marks an unresolved input */

enum {
	NODE_RAN = 1,          /* the node has an entry in at least one step */
	NODE_NHWC = 2,         /* the attribute data_format is "NHWC" */
	NODE_STACK = 4,        /* the node has a call stack, possibly empty */
	NODE_COVERED = 8,      /* the node is counted in the coverage */
	NODE_TYPES_GIVEN = 16, /* the complete list of its types was read from a ProfileProto */
	NODE_TRANSPOSED = 32,  /* the attribute transpose_a is set */
	NODE_ONNX = 64,        /* an operator of an ONNX model, or a layer of a TensorRT engine */
	NODE_UNCOUNTED = 128,  /* the float operations of the node are unknown */
	NODE_LAYER = 256,      /* a layer of a TensorRT engine */
	NODE_CALL = 512,       /* a call of an op that counts; facts is a list for flops_of_list */
	NODE_TYPE = 0xff0000   /* the type of the inputs, as TensorFlow numbers types; 0: unknown */
};
#define NODE_TYPE_SHIFT 16

struct node {
	uint32_t name, op; /* string ids */
	uint32_t device,
	        host; /* device id of the canonical device and string id of its host, or ID_NONE */
	uint32_t frame; /* innermost call-stack frame, or ID_NONE */
	uint32_t types; /* type set id; set by sealing */
	uint32_t shape; /* shape id, or ID_NONE */
	uint32_t facts; /* string id of attributes for shape inference (node_facts.h), or of a call
	                   (NODE_CALL); or ID_NONE */
	uint32_t flags;
	uint32_t window;   /* product of the attribute ksize or kernel_shape, or the attribute N;
	                      for a layer, the length of the sums of its products; 0: none */
	uint32_t stride;   /* product of the strides 1 and 2; 0: none */
	int64_t float_ops; /* float operations that do not depend on a step */
	int64_t params;
};

/* A call-stack frame. Equal prefixes of stacks are shared. */
#define LINE_NONE INT32_MIN /* line of a frame without a source file (file "") */
struct frame {
	uint32_t parent;         /* outer frame, or ID_NONE */
	uint32_t file, function; /* string ids; ID_NONE if the id in the file had no text */
	uint32_t source;         /* source line, string id or ID_NONE */
	int32_t line, func_start_line;
};

struct attr {
	uint32_t key;     /* string id */
	struct str value; /* bytes of an AttrValue */
};

struct device {
	uint32_t name; /* string id; lower case */
	uint32_t host; /* string id of the name with gpu:<n> replaced by cpu:0 */
	unsigned kind; /* DEVICE_ bits */
};

struct tally_sum {
	int64_t v[V_RECORDED];
	uint32_t steps; /* number of steps with an entry of the node */
};

struct library;
struct kernel_row;
struct flops_coverage;
struct trace_ops;
/* A trace from which a worker's nodes and steps were made. */
struct model_trace {
	const struct trace *t;
	uint32_t worker;
	/* Names and devices are string ids of the model; ops are node ids. NULL: not stored. */
	const struct kernel_row *kernels;
	size_t n_kernels;
	struct flops_coverage *coverage; /* of float operations; NULL: not known */
	const struct trace_ops
	        *counted;       /* ops and their calls; NULL if not kept, or if there are none */
	size_t steps, workless; /* all steps; of them, those without device work, if others have
	                           some */
};

struct trace;
/* A file that was read, with the data that the summary shows. */
struct model_file {
	struct str path, format, producer; /* producer may be empty */
	int64_t pid;                       /* process that the file describes; 0: unknown */
};
/* Data of one kind, in the files of one format, that could not be used. */
struct model_unused {
	struct str format, kind;
	uint64_t n;
};

struct model {
	struct arena *a;
	VEC(struct model_file) files;
	VEC(struct model_unused) unused;
	struct intern strings;
	uint32_t *node_of;  /* indexed by string id: 1 + the node with that name; 0: none */
	size_t node_of_cap; /* string ids from this number on are not names of nodes */

	VEC(struct node) nodes;
	VEC(uint32_t) by_name; /* node ids in byte order of names; made by sealing */

	/* The inputs of node i: input0[i] .. input0[i + 1]. */
	VEC(uint32_t) input0;
	VEC(uint32_t) inputs;     /* source node, or INPUT_UNKNOWN | string id of an unknown name */
	VEC(int32_t) input_index; /* index of each input; empty if all equal their position */
	VEC(int32_t) input_slot;  /* output slot of the source, unless all are 0 (then empty) */
	bool slots_final;         /* true: input_slot has all slots; facts of nodes have none */

	/* The output shapes of node i: output0[i] .. output0[i + 1]. */
	VEC(uint32_t) output0;
	VEC(int32_t) output_slot;
	VEC(uint32_t) output_shape; /* shape ids */
	struct intern shapes;       /* shapes as bytes of int64_t dimensions */

	/* The attributes of node i, stored only for writing a ProfileProto: attr0[i] .. attr0[i +
	 * 1]. */
	VEC(uint32_t) attr0;
	VEC(struct attr) attrs;

	/* The types of type set t, string ids in byte order: type0[t] .. type0[t + 1]. */
	VEC(uint32_t) type0;
	VEC(uint32_t) types;

	struct intern frames;    /* frames as bytes of struct frame; read with model_frame */
	struct library *library; /* functions of the graph (graph_functions.h), or NULL */
	bool has_traces;       /* true: at least one op log entry had a code_def, possibly empty */
	bool keep_annotations; /* true: spans have the annotations of run metadata */
	bool new_input;        /* true: an input has a format that the original cannot read */
	bool parallel_times;   /* true for a trace or recording: device time and host time are not
	                          added up */
	bool misses_streams; /* true: at least one run metadata file had a gpu but no stream:all */

	VEC(struct device) devices;
	struct imap device_of;    /* key: string id of the name; value: device id */
	struct strs workers;      /* names of the workers if several were merged; each worker has
	                             its own steps */
	VEC(struct step *) steps; /* sorted by worker, then by id */
	VEC(int64_t) step_ids;    /* distinct step ids of all workers, ascending */

	VEC(struct model_trace) traces; /* sources of nodes and steps, sorted by worker */

	int64_t ticks_per_us;       /* ticks of the step with the shortest ticks; 0: no step yet */
	size_t averaged;            /* number of steps in the average */
	VEC(struct tally_sum) sums; /* by node, over these steps; stored from two steps on */

	size_t covered;         /* number of nodes of run metadata that existed before */
	struct imap string_ids; /* id_to_string of op logs and profiles; key: id; value: string
	                           id */
};

#define INPUT_UNKNOWN 0x80000000u

static inline struct str model_str(const struct model *m, uint32_t id)
{
	return id == ID_NONE ? STR_NONE : m->strings.strings[id];
}
/* True if a frame has a source file; built-in functions have none. */
static inline bool frame_is_placed(const struct model *m, const struct frame *f)
{
	return f->line != LINE_NONE || f->file == ID_NONE || model_str(m, f->file).n;
}
static inline struct str node_name(const struct model *m, uint32_t n)
{
	return m->strings.strings[m->nodes.v[n].name];
}
static inline struct str device_name(const struct model *m, uint32_t d)
{
	return d == ID_NONE ? STR_NONE : m->strings.strings[m->devices.v[d].name];
}

uint32_t model_find(const struct model *m, struct str name);      /* returns a node, or ID_NONE */
const struct step *model_step(const struct model *m, int64_t id); /* returns the step of any worker,
                                                                     or NULL */

/* Returns the step of a worker, or NULL. Sets *place to its position or insertion point; place may
 * be NULL. */
const struct step *model_step_of(const struct model *m, uint32_t worker, int64_t id, size_t *place);

static inline struct frame model_frame(const struct model *m, uint32_t f)
{
	struct frame r;
	memcpy(&r, m->frames.strings[f].p, sizeof r);
	return r;
}

/* Sorts device ids by the bytes of their names. */
void model_sort_devices(const struct model *m, uint32_t *devices, size_t n, struct arena *scratch);

#define TYPE_TRAINABLE "_trainable_variables" /* type of trained variables */

/* True if any node has the type TYPE_TRAINABLE, which comes only from an op log or a list of
 * variables. */
bool model_knows_trained(const struct model *m);
/* Finds the variables that an optimizer updates, or all variables if the graph has no optimizer.
 * Returns their number. Sets *all to the number of all variables. */
size_t model_trained(const struct model *m, uint32_t **nodes, size_t *all, struct arena *a);

/* True if all files are pprof profiles. Their samples have no order in time, so that neither steps
 * nor the use of devices are known. */
bool model_is_sampled(const struct model *m);

/* Returns the share of nodes covered by run metadata, as the original computes it. */
double model_coverage(const struct model *m);
/* Returns the share of nodes with an entry in a step. */
double model_ran(const struct model *m, struct arena *a);

/* model_rank and model_dim return the rank and a dimension of a shape; -1: unknown. An empty shape
 * has unknown rank. */
size_t model_rank(const struct model *m, uint32_t shape);
int64_t model_dim(const struct model *m, uint32_t shape, size_t i);

/* Returns the shape of an output, or ID_NONE if unknown. */
uint32_t model_output_shape(const struct model *m, uint32_t node, int32_t slot);
/* Returns the shape of input i (an index into inputs), or ID_NONE if unknown. */
uint32_t model_input_shape(const struct model *m, size_t i);

/* model_input_index returns the position of input i in its node's list, model_input_slot the output
 * slot of its source. */
int32_t model_input_index(const struct model *m, uint32_t node, size_t i);
int32_t model_input_slot(const struct model *m, size_t i);

/* Returns the types of a node: n string ids in byte order. */
const uint32_t *model_types(const struct model *m, uint32_t set, size_t *n);

/* ---- values ----
 *
 * TensorFlow's own profiles have whole microseconds, and the average of a node is over the steps in
 * which the node has an entry (quirk 34). Traces and recordings have shorter ticks. Their values
 * are sums over the chosen steps, in ticks, and whatever shows a value divides it once, by the
 * number of the chosen steps and the ticks of a microsecond (model_fraction). So nothing is rounded
 * before. A model with steps of both kinds follows the rule of traces.
 */

/* Returns the ticks per microsecond of the times in tallies. */
static inline int64_t model_ticks(const struct model *m)
{
	return m->ticks_per_us > 1 ? m->ticks_per_us : 1;
}

/* Returns the number of steps by which the tallies over n steps are divided. */
static inline int64_t model_steps(const struct model *m, size_t n)
{
	return model_ticks(m) > 1 && n > 1 ? (int64_t)n : 1;
}

/* Returns a value of tallies. steps: result of model_steps. Times are in microseconds. */
static inline struct fraction model_fraction(
        const struct model *m, int64_t steps, enum value which, int64_t v)
{
	int64_t per = which < V_RECORDED || which == V_FLOAT_OPS ? steps : 1;

	return (struct fraction){ v, value_is_time(which) ? per * model_ticks(m) : per };
}

/* Returns the values of each node in a step (NULL: in all steps of the average), together with the
 * static values; in a. */
struct tally *model_tallies(const struct model *m, const struct step *s, struct arena *a);

/* Returns one value of a node in a step. cell: its entry in the step, or ID_NONE. */
int64_t model_value(const struct model *m, const struct step *s, uint32_t cell, uint32_t node,
        enum value which);

/* Returns the values of each node in a subset of the steps. */
struct tally *model_tallies_over(
        const struct model *m, const struct step *const *steps, size_t n, struct arena *a);

#endif
