/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the parts of the XSpace reader: read_xspace.c (planes and lines), xspace_event.c
 * (events into slices), xspace_names.c (names of ops, texts of details), xspace_hlo.c and
 * hlo_flops.c (compiled programs).
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
 * The metadata of a plane comes after its lines: the first pass reads metadata and the heads of
 * lines, the second one the events.
 */
#ifndef TFPROF_TRACE_XSPACE_INTERNAL_H
#define TFPROF_TRACE_XSPACE_INTERNAL_H

#include "io/wire.h"
#include "trace/trace_build.h"

/* Uses of stats. */
enum xstat_use {
	XSTAT_NONE, /* kept under its own name */
	XSTAT_ARG,  /* an argument with the same meaning */
	XSTAT_STEP, /* the argument ARG_STEP */
	XSTAT_TF_OP,
	XSTAT_LEVEL0, /* the name of tf_op in 2020 */
	XSTAT_ANNOTATION,
	XSTAT_CORRELATION,
	XSTAT_DEVICE_OFFSET,
	XSTAT_DEVICE_DURATION,
	XSTAT_KERNEL_DETAILS,
	XSTAT_COPY_DETAILS,
	XSTAT_SET_DETAILS,
	XSTAT_ROOT, /* of an annotation with a step number: it is a step */
};

/* A stat name of a plane. */
struct xstat_name {
	struct str name; /* in the reader's arena */
	enum xstat_use use;
	uint32_t key; /* argument, or ID_NONE until it is needed */
	bool shared;  /* describes the program: events of one kind have equal values */
};

/* The value of a stat. */
struct xstat {
	struct xstat_name *name;
	enum argument_type type; /* ARG_TEXT: text */
	int64_t i;               /* also the bits of an unsigned number */
	double real;
	struct str text;
};

/* An XEventMetadata. */
struct xmeta {
	struct str name, display;
	struct xstat *stats;
	size_t n;
	uint32_t kind; /* 1 + the last kind of its events, 0: none */
};

/* A kind of events: those with equal keys, which are a head and the shared stats. */
struct xkind_head {
	uint64_t meta; /* metadata id */
	uint32_t plane;
	uint16_t role;
	uint8_t correlates, steps; /* which stats of its own it has */
};
struct xkind {
	enum trace_category category;
	uint32_t event; /* of the trace */
};

struct xline {
	int64_t id, timestamp_ns;
	struct str name;
};

/* A run of a program, on the clock of the events. */
struct xrun {
	int64_t start, end, run;
};

struct xids {
	int64_t *v;
	size_t n, cap;
};

/* Name and type of an op. */
enum xop_kind { XOP_NONE, XOP_TF, XOP_DATASET, XOP_JAX, XOP_COPY };
struct xop {
	enum xop_kind kind;
	struct str name, type;
};

/* An instruction of a compiled program. Its texts are the reader's. */
struct xinstruction {
	int64_t id;
	struct str name, opcode, shape, fusion, window, convolution, target, dot, config;
	struct xids operands, calls; /* of instructions; of computations */
	struct xop op;               /* the framework op that it was made of */
	struct str source, stack;    /* file:line; a frame a line, outermost first */
	int64_t flops;               /* of one execution */
	bool runs;                   /* as it is, not as a part of a fusion */
};

struct xprogram {
	uint64_t program, id; /* of the events; of the module */
	struct str name;
	VEC(struct xinstruction) instructions;
	struct imap of_id, of_name; /* -> index; names are ids in hlo_names */
	bool used;                  /* some event is of an instruction of it */
};

enum xplane_kind { XPLANE_OTHER, XPLANE_TPU, XPLANE_GPU, XPLANE_HOST, XPLANE_METADATA };

struct xplane {
	enum xplane_kind kind;
	struct str name;
	uint32_t device; /* of the trace, or ID_NONE */
	VEC(struct xline) lines;
	VEC(struct xstat_name) names;
	struct imap name_of; /* id -> index */
	uint32_t *near;      /* 1 + index of the names with ids below XSTAT_NEAR, or NULL */
	VEC(struct xmeta) metas;
	struct imap meta_of;       /* id -> index */
	VEC(struct xrun) runs;     /* of its line XLA Modules, in the order of the file */
	VEC(struct str) raw_stats; /* of the plane, until the names are known */
};

struct xspace {
	struct wire w;
	struct trace_build *b;
	struct arena *a;
	VEC(struct xplane) planes;
	VEC(struct xstat) stats; /* of the present event */
	VEC(uint8_t) key;        /* of the present event's kind */
	struct intern kind_keys;
	VEC(struct xkind) kinds;
	struct imap module_of; /* program id -> string id of its name */
	VEC(struct xprogram) programs;
	struct imap program_of;  /* program id -> index */
	struct intern hlo_names; /* of instructions */
	uint32_t process;
	bool marks;          /* annotations of threads are the steps: the file has no others */
	uint64_t compressed; /* stats with compressed text, which are not used */
	uint64_t bad;        /* events and stats that are not valid messages */
	uint64_t events;
};

/* Uses of a plane's lines. */
enum xline_role { XLINE_WORK, XLINE_MODULES, XLINE_STEPS, XLINE_DERIVED, XLINE_THREAD };

struct xline_walk {
	struct xspace *x;
	struct xplane *plane;
	const struct xline *line;
	enum xline_role role;
	uint32_t track;
	int64_t base; /* start of the line, ticks */
};

#define XSTAT_NEAR 256 /* ids that are looked up in an array */

/* Returns the name of the stats with that id, or NULL. */
static inline struct xstat_name *xspace_stat_name(const struct xplane *p, uint64_t id)
{
	uint32_t i = 0;

	if (id < XSTAT_NEAR)
		return p->near && p->near[id] ? &p->names.v[p->near[id] - 1] : NULL;
	return imap_get(&p->name_of, id, &i) ? &p->names.v[i] : NULL;
}
/* Adds the name of the stats with that id. */
void xspace_add_stat_name(struct xspace *x, struct xplane *p, uint64_t id, struct str name);
/* Parses a stat; false if it is malformed, or its name is unknown in the plane. */
bool xspace_stat(struct xspace *x, const struct xplane *p, struct str bytes, struct xstat *out);

/* Reads the compiled programs (HloProto) in the stats of an XEventMetadata of /host:metadata, whose
 * id is the program's. */
void hlo_read_programs(struct xspace *x, const struct xplane *p, struct str meta);
/* The instruction of that name, or NULL; valid until the next program is read. */
struct xinstruction *hlo_find(struct xspace *x, uint64_t program, struct str name);
/* The compiler's category: the opcode, or the kind of a fusion. */
struct str hlo_category(struct xspace *x, const struct xinstruction *i);
/* Adds the nodes of all programs of which something ran. */
void hlo_build(struct xspace *x);
/* Float operations of one execution, without called computations. */
int64_t hlo_flops(const struct xprogram *p, const struct xinstruction *i);

/* Appends the event. */
void xspace_event(struct xline_walk *l, struct str bytes);

/* Parses the name of an op: "jit(f)/add:", "dense/MatMul:MatMul", "Iterator::Map". */
struct xop xspace_op(struct str name);

/* Returns the category of device work by the compiler's category. */
enum trace_category xspace_program_category(struct str hlo);

/* Add the arguments in the details of a kernel; of a copy or a set. */
void xspace_put_kernel(struct xspace *x, struct str details);
void xspace_put_bytes(struct xspace *x, struct str details);

#endif
