/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the parts of the XSpace reader: read_xspace.c (planes and lines), xspace_event.c
 * (events into slices), xspace_names.c (stats, names of ops, texts of details), xspace_hlo.c,
 * hlo_calls.c and hlo_buffers.c (compiled programs).
 *
 *   XSpace          planes 1  errors 2  warnings 3  hostnames 4
 *   XPlane          id 1  name 2  lines 3  event_metadata 4  stat_metadata 5  stats 6
 *   XLine           id 1  name 2  timestamp_ns 3  events 4  duration_ps 9  display_id 10
 *                   display_name 11
 *   XEvent          metadata_id 1  offset_ps 2 | num_occurrences 5  duration_ps 3  stats 4
 *   XStat           metadata_id 1  double 2  uint64 3  int64 4  str 5  bytes 6  ref 7
 *                   compressed_str 8
 *   XEventMetadata  id 1  name 2  metadata 3  display_name 4  stats 5  child_id 6
 *   XStatMetadata   id 1  name 2  description 3
 *
 * The metadata of a plane follows its lines in the file. Therefore the first pass reads the
 * metadata and the lines without their events, and the last pass reads the events. If a plane has a
 * line of runs, a pass between them reads the runs, so that they are known before all ops.
 */
#ifndef TFPROF_TRACE_XSPACE_INTERNAL_H
#define TFPROF_TRACE_XSPACE_INTERNAL_H

#include "io/wire.h"
#include "trace/trace_build.h"

enum xpass { XPASS_HEADS, XPASS_RUNS, XPASS_EVENTS };

/* The uses of stats. */
enum xstat_use {
	XSTAT_NONE, /* an argument that has the name of the stat */
	XSTAT_ARG,  /* the argument xstat_name.key */
	XSTAT_STEP, /* the argument ARG_STEP */
	XSTAT_TF_OP,
	XSTAT_LEVEL0, /* "level 0": the name of tf_op in files written in 2020 */
	XSTAT_ANNOTATION,
	XSTAT_CORRELATION,
	XSTAT_DEVICE_OFFSET,
	XSTAT_DEVICE_DURATION,
	XSTAT_KERNEL_DETAILS,
	XSTAT_COPY_DETAILS,
	XSTAT_SET_DETAILS,
	XSTAT_ROOT, /* "_r": an annotation that has this stat and a step number is a step */
};

/* A stat name of a plane. */
struct xstat_name {
	struct str name; /* lives in the reader's arena */
	enum xstat_use use;
	uint32_t key; /* key of the argument; for XSTAT_NONE, ID_NONE until the first stat is
	                 stored */
	bool shared;  /* true: events of one kind have equal values, because the stat describes the
	                 program */
};

/* The value of a stat. */
struct xstat {
	struct xstat_name *name;
	enum argument_type type;
	int64_t i;       /* for ARG_INT; for ARG_UINT, the bits of the number */
	double real;     /* for ARG_REAL */
	struct str text; /* for ARG_TEXT */
};

/* An XEventMetadata. The first pass stores the bytes of the message in display. */
struct xmeta {
	struct str name, display;
	struct xstat *stats;
	size_t n;      /* number of stats */
	uint32_t kind; /* 1 + index in kinds: the kind of its last event; 0: unknown */
};

/* Events with equal keys are of one kind. A key consists of this head and the bytes of the shared
 * stats. */
struct xkind_head {
	uint64_t meta;      /* metadata id */
	uint32_t plane;     /* index in planes */
	uint16_t role;      /* enum xline_role */
	uint8_t correlates; /* 1 if the event has a correlation id */
	uint8_t steps;      /* 1 if the event has a step number */
};
struct xkind {
	enum trace_category category;
	uint32_t event; /* index in the events of the trace */
};

struct xline {
	int64_t id, timestamp_ns;
	struct str name;
};

/* A run of a program. start and end are ticks on the clock of the events; run is the run_id;
 * program is the name of the event, empty if the file lacks it. */
struct xrun {
	int64_t start, end, run;
	struct str program;
};

/* Ids of instructions or computations. */
struct xids {
	int64_t *v;
	size_t n, cap;
};

/* An op of the framework. name is the whole text if the type is unknown. */
enum xop_kind { XOP_NONE, XOP_TF, XOP_DATASET, XOP_JAX, XOP_COPY };
struct xop {
	enum xop_kind kind;
	struct str name, type;
};

/* An instruction of a compiled program. The texts live in the reader's arena. */
struct xinstruction {
	int64_t id;
	struct str name, opcode;
	struct str fusion, target; /* kind of a fusion; target of a custom call */
	struct str shape, window, convolution, dot, config; /* encoded messages; config is a text */
	struct xids lengths;  /* lengths of the dimensions that a Fourier transform has */
	struct xids operands; /* ids of instructions: the inputs, and the results of computations
	                         that it runs */
	struct xids calls;    /* ids of computations */
	struct xop op;        /* the framework op that was compiled to the instruction */
	struct str source;    /* file:line */
	struct str stack;     /* call stack: one line per frame, outermost first */
	struct str list;      /* result of hlo_calls; p is NULL before the first use */
	bool runs; /* true: executed separately; false: part of another instruction, or unused */
};

struct xcomputation {
	int64_t id, root;
	size_t first, end; /* range of its instructions */
	bool runs;         /* true: reached from the entry through calls, not through fusions */
};

struct xprogram {
	uint64_t program; /* id of its XEventMetadata, which is the program_id in events */
	uint64_t id;      /* id of its HloModule, which some events state instead; 0: none */
	struct str name;
	VEC(struct xinstruction) instructions;
	VEC(struct xcomputation) computations;
	struct imap of_id, of_name; /* keys: instruction id, id in hlo_names; value: index in
	                               instructions */
	struct imap computation_of; /* key: id; value: index in computations */
	VEC(int64_t) schedule;      /* instructions of the entry in execution order; may be empty */
	bool used;                  /* true: an event is an execution of one of its instructions */
};

enum xplane_kind { XPLANE_OTHER, XPLANE_TPU, XPLANE_GPU, XPLANE_HOST, XPLANE_METADATA };

struct xplane {
	enum xplane_kind kind;
	struct str name;
	uint32_t device; /* index in the devices of the trace, or ID_NONE */
	VEC(struct xline) lines;
	VEC(struct xstat_name) names;
	struct imap name_of; /* key: id of an XStatMetadata; value: index in names */
	uint32_t *near;      /* indexed by ids below XSTAT_NEAR: 1 + index in names; 0: none; or
	                        NULL */
	VEC(struct xmeta) metas;
	struct imap meta_of;       /* key: id of an XEventMetadata; value: index in metas */
	VEC(struct xrun) runs;     /* events of the line XLA Modules, sorted by start */
	int64_t run_shift;         /* added to run_id: see xspace_join_runs */
	VEC(struct str) raw_stats; /* encoded stats of the plane */
};

struct xspace {
	struct wire w;
	struct trace_build *b;
	struct arena *a;
	VEC(struct xplane) planes;
	VEC(struct xstat) stats; /* stats of the current event; make_kind appends shared stats */
	VEC(uint8_t) key;        /* key of the current event's kind */
	struct intern kind_keys; /* key of a kind; value: index in kinds */
	VEC(struct xkind) kinds;
	struct imap module_of; /* key: program id; value: string id of its name */
	VEC(struct xprogram) programs;
	struct imap program_of;  /* key: program id or module id; value: index in programs */
	struct intern hlo_names; /* names of instructions */
	uint32_t process;
	uint64_t hlo_bytes, list_bytes; /* total size of the compiled programs, and of the lists of
	                                   calls */
	bool as_text;        /* true: the file was copied as text, so no part of it is intact */
	bool marks;          /* true: the file has neither a line of steps nor groups, so
	                        annotations of threads are steps */
	uint64_t compressed; /* number of stats with compressed text, which the reader skips */
	uint64_t bad;        /* number of malformed messages: events, stats, metadata, programs */
};

/* The content of a line. */
enum xline_role {
	XLINE_WORK,    /* work of a device */
	XLINE_MODULES, /* runs of programs */
	XLINE_STEPS,
	XLINE_DERIVED, /* repeats other lines, or belongs to a plane of an unknown kind */
	XLINE_THREAD,  /* work of a thread of the host */
};

/* The line whose events are read. */
struct xline_walk {
	struct xspace *x;
	struct xplane *plane;
	const struct xline *line;
	enum xline_role role;
	uint32_t track; /* index in the tracks of the trace */
	int64_t base;   /* start of the line, ticks */
};

#define XSTAT_NEAR 256 /* smaller ids are looked up in an array */

/* Returns the stat name with an id of the plane, or NULL. */
static inline struct xstat_name *xspace_stat_name(const struct xplane *p, uint64_t id)
{
	uint32_t i = 0;

	if (id < XSTAT_NEAR)
		return p->near && p->near[id] ? &p->names.v[p->near[id] - 1] : NULL;
	return imap_get(&p->name_of, id, &i) ? &p->names.v[i] : NULL;
}
/* Adds a stat name of the plane. */
void xspace_add_stat_name(struct xspace *x, struct xplane *p, uint64_t id, struct str name);
/* Parses a stat. Returns false if the stat is malformed, contains bytes or compressed text, or
 * refers to a name or text that is unknown in the plane. */
bool xspace_stat(struct xspace *x, const struct xplane *p, struct str bytes, struct xstat *out);

/* Reads the compiled programs (HloProto) in the stats of an encoded XEventMetadata of
 * /host:metadata. The id of the metadata is the id of the program. */
void hlo_read_programs(struct xspace *x, const struct xplane *p, struct str meta);
/* Adds the memory that the compiler assigned to a program (an encoded BufferAssignmentProto) to the
 * trace. uses: indexed by instruction, the position of its last use in the schedule, counted from
 * 1; 0: none. Returns false if the message is malformed. */
bool hlo_read_buffers(
        struct xspace *x, const struct xprogram *p, struct str bytes, const uint32_t *uses);
/* Returns the instruction with a name, or NULL. Sets *in to its program, and marks the program as
 * used. Valid until the next program is read. */
struct xinstruction *hlo_find(
        struct xspace *x, uint64_t program, struct str name, const struct xprogram **in);
/* Returns the compiler's category: the opcode; for fusions, also their kind ("loop fusion"). */
struct str hlo_category(struct xspace *x, const struct xinstruction *i);
/* Adds the nodes of all used programs to the trace. */
void hlo_build(struct xspace *x);
/* A transfer between memory spaces of a program. */
struct hlo_copy {
	const char *way; /* "HtoD", "DtoH" or "DtoD" */
	int64_t bytes;   /* 0: unknown */
};
/* True for an instruction that ends a transfer; *out describes it. */
bool hlo_find_copy(const struct xprogram *p, const struct xinstruction *i, struct hlo_copy *out);
/* Returns the calls that make up an instruction, as a list for flops_of_list. For a fusion, this
 * includes the calls inside it. */
struct str hlo_calls(struct xspace *x, const struct xprogram *p, struct xinstruction *i);

/* Appends an encoded event to the trace. Counts a malformed event in x->bad. */
void xspace_event(struct xline_walk *l, struct str bytes);

/* Stores the run for an encoded event of the line XLA Modules. Ignores a malformed event. */
void xspace_run(struct xline_walk *l, struct str bytes);

/* Sorts the runs of each plane by start. Some files count the runs of each device from 1, so that
 * equal numbers name different runs if one device ran more programs: sets run_shift of such a
 * device, so that its numbers are those of the device with the most runs, and notes it. */
void xspace_join_runs(struct xspace *x);

/* Parses the text of an op: "jit(f)/add:", "dense/MatMul:MatMul", "Iterator::Map". */
struct xop xspace_op(struct str name);

/* Returns the meaning of a stat by its name. */
struct xstat_name xspace_stat_use(struct str name);

/* xspace_plane_kind returns the kind of a plane by its name, xspace_line_role the role of a line of
 * it by its name and id. */
enum xplane_kind xspace_plane_kind(struct str name);
enum xline_role xspace_line_role(enum xplane_kind plane, struct str name, int64_t id);

/* Returns the category of device work for a category of the compiler. */
enum trace_category xspace_program_category(struct str hlo);

/* xspace_put_kernel adds the arguments in the details of a kernel, xspace_put_bytes the size in the
 * details of a copy or memset. */
void xspace_put_kernel(struct xspace *x, struct str details);
void xspace_put_bytes(struct xspace *x, struct str details);

#endif
