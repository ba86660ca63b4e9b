/* SPDX-License-Identifier: Apache-2.0
 *
 * Execution records of one step, as columns. Read-only after the fold; in the model's arena.
 *
 *   cell c = one node with an entry in this step, ascending by node
 *     spans   cell_span0[c] .. cell_span0[c + 1]    time boxes, in file order
 *     memory  cell_mem0[c] .. cell_mem0[c + 1]      bytes of packed items, in file order
 *
 * A packed memory item is a mask (three bytes) of the numbers present, the length of the item (one
 * byte, 0: not stored) and a varint for each number present, so numbers that were not recorded cost
 * nothing. mem_next unpacks one item after the other.
 */
#ifndef TFPROF_MODEL_STEP_H
#define TFPROF_MODEL_STEP_H

#include "base/num.h"

/* ---- values ----
 *
 * The numbers of a node, as one vector that is summed element by element.
 */

enum value {
	V_BYTES,          /* requested bytes */
	V_PEAK_BYTES,     /* bytes */
	V_RESIDUAL_BYTES, /* bytes */
	V_OUTPUT_BYTES,   /* bytes */
	V_KERNELS,        /* kernels, copies and memsets; this value and the next only for traces */
	V_BYTES_ACCESSED, /* bytes read and written by device work */
	V_CALL_FLOPS,     /* float operations counted call by call; only for traces */
	V_UNCOUNTED,      /* calls, kernels or nodes whose float operations are unknown */
	V_WINDOWED, /* calls whose float operations are upper bounds: attention that is probably
	               limited to a window */
	V_CRITICAL_MICROS, /* time on the critical path; for traces and recordings, if a query needs
	                      it. Times are in ticks of the model (model_ticks) */
	V_MICROS,          /* accelerator time + cpu time */
	V_ACCELERATOR_MICROS,
	V_CPU_MICROS,
	V_RUNS,     /* number of executions in the step */
	V_RECORDED, /* values before this differ from step to step; values after it do not */
	V_PARAMS = V_RECORDED,
	V_FLOAT_OPS,
	V_DEFINITIONS, /* 1 per node, so its total counts nodes */
	V_N,
	V_NONE = V_N
};

struct tally {
	int64_t v[V_N];
};

/* True if a number, which is a sum, lacks parts: calls whose float operations are unknown. */
static inline bool tally_lacks(const struct tally *t, enum value v)
{
	return v == V_FLOAT_OPS && t->v[V_UNCOUNTED] > 0;
}

/* True if no part of a number is known. */
static inline bool tally_is_unknown(const struct tally *t, enum value v)
{
	return tally_lacks(t, v) && !t->v[v];
}

/* True if a number is an upper bound. */
static inline bool tally_is_bound(const struct tally *t, enum value v)
{
	return v == V_FLOAT_OPS && t->v[V_WINDOWED] > 0 && t->v[v] > 0;
}

static inline bool value_is_time(enum value v)
{
	return v == V_MICROS || v == V_ACCELERATOR_MICROS || v == V_CPU_MICROS ||
	       v == V_CRITICAL_MICROS;
}

/* Adds numbers. Sums saturate. */
static inline void tally_add(struct tally *to, const struct tally *from)
{
	for (int i = 0; i < V_N; i++)
		to->v[i] = num_sum(to->v[i], from->v[i]);
}

/* True if any of n numbers is saturated. */
static inline bool value_stopped(const int64_t *v, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++)
		any |= num_stopped(v[i]);
	return any;
}

#define STEP_DEVICES_MAX 65535u /* maximum number of devices in one step */

enum span_kind {
	SPAN_SEEN,
	SPAN_ACCELERATOR,
	SPAN_CPU
}; /* SEEN: the node was on this device; the time is unknown */

/* Annotations of a record in run metadata, stored if run metadata may be written. */
struct span_annotation {
	uint32_t label;  /* 1 + string id of its timeline_label; 0: none */
	uint32_t thread; /* thread that launched the record; 0: unknown */
};

struct holding {
	uint32_t node;
	int64_t bytes; /* accelerator_persistent */
};

struct step {
	int64_t id;                 /* the number that -step selects */
	uint32_t worker;            /* index in the model's workers; 0 if the workers have no
	                               names */
	bool excluded_from_average; /* excluded from the average; needs an explicit -step */
	uint32_t ticks_per_us;      /* unit of the following times: 1, 1000 or 1000000 */
	int64_t base_us;            /* added to starts; 0 for RunMetadata and ProfileProto */

	uint32_t n_cells;
	uint32_t *cell_node;
	uint32_t *cell_span0, *cell_mem0; /* arrays of n_cells + 1 elements */
	int64_t *cell_runs, *cell_start, *cell_end;

	uint32_t n_spans;
	uint16_t *span_device; /* index into devices */
	uint8_t *span_kind;
	int64_t *span_start, *span_length;
	struct span_annotation *span_annotation; /* NULL: no annotations */

	uint8_t *mem;

	/* Nodes that hold accelerator memory from the start of the step on, sorted by node. */
	VEC(struct holding) holdings;

	uint32_t n_devices;
	uint32_t *devices; /* model device ids */
};

/* One record of memory use (an ExecMemory), or one allocation. */
struct mem_output {
	int32_t slot;
	int64_t bytes;
	uint64_t ptr;
};
struct mem_item {
	bool allocation; /* true: the record is an allocation, so only its time and bytes count */
	int64_t time;    /* ticks */
	int64_t bytes;   /* allocation: its size, negative for a release; otherwise requested
	                    bytes */
	int64_t peak, residual, output;
	int64_t kernels, bytes_accessed; /* for device work */
	int64_t flops, uncounted;        /* for all calls, in traces */
	int64_t windowed;                /* calls whose float operations are upper bounds */
	int64_t critical;                /* ticks on the critical path, for traces */
	int64_t in_use;                  /* allocator_bytes_in_use */
	int64_t host_temp, host_persistent, accelerator_temp, accelerator_persistent;
	size_t n_outputs;
	const uint8_t *outputs; /* packed; read with mem_next_output */
};

#define MEM_ITEM_MAX   182 /* largest packed item in bytes, without its outputs */
#define MEM_OUTPUT_MAX 30

/* mem_put packs an item, mem_put_output its outputs; each returns the end of its bytes. mem_close
 * then stores the length, so that the item can be skipped. */
uint8_t *mem_put(uint8_t *p, const struct mem_item *m);
uint8_t *mem_put_output(uint8_t *p, const struct mem_output *o);
void mem_close(uint8_t *item, const uint8_t *end);

/* Unpacks the item at *p, which tfprof itself packed and which is not validated again, and advances
 * *p. Returns false at the end. */
bool mem_next(const uint8_t **p, const uint8_t *end, struct mem_item *m);
/* Returns the next allocation, or the next record that is not an allocation. */
bool mem_next_of(const uint8_t **p, const uint8_t *end, bool allocation, struct mem_item *m);
void mem_next_output(const uint8_t **p, struct mem_output *o);

/* Items of allocators other than the GPU's, which the functions above skip. Only time, bytes and
 * bytes in use count. The name is cut off after MEM_NAME_MAX bytes. */
#define MEM_NAME_MAX 60
uint8_t *mem_put_other(uint8_t *p, const struct mem_item *m, struct str allocator);
bool mem_next_other(
        const uint8_t **p, const uint8_t *end, struct mem_item *m, struct str *allocator);

/* Converts the temporary and persistent bytes of the accelerator in all packed items into bytes of
 * the host. */
void mem_to_host(uint8_t *p, size_t n);

/* Allocates columns for the given numbers of cells, spans and bytes of packed items. */
void step_make_columns(struct arena *a, struct step *s, uint32_t cells, uint32_t spans, size_t mem);

/* Adds the recorded values of cell c: sums of its spans and memory, and its runs. Times are added
 * in ticks of 1 / ticks_per_us, which are at most as long as the ticks of the step. */
void step_tally(const struct step *s, uint32_t c, int64_t ticks_per_us, struct tally *to);
/* Returns one value of the values that step_tally adds. */
int64_t step_value(const struct step *s, uint32_t c, int64_t ticks_per_us, enum value which);

/* Returns the accelerator bytes that the node of cell c holds from the start of the step on. */
int64_t step_find_holding(const struct step *s, uint32_t c);

/* True if the source has lengths without starts (samples of pprof, TensorRT layers, baselines), so
 * that all spans have the same start. The time of such a step is the sum of its spans. */
bool step_is_untimed(const struct step *s);

/* Returns the cell of a node, or ID_NONE. */
uint32_t step_cell(const struct step *s, uint32_t node);

/* Converts ticks to microseconds, rounded down. The ticks of RunMetadata are microseconds. */
static inline int64_t step_us(const struct step *s, int64_t ticks)
{
	return s->ticks_per_us == 1 ? ticks : ticks / (int64_t)s->ticks_per_us;
}

/* Converts ticks to nanoseconds, rounded down. */
static inline int64_t step_ns(const struct step *s, int64_t ticks)
{
	int64_t unit = s->ticks_per_us;

	return unit > 1000 ? ticks / (unit / 1000) : num_mul(ticks, 1000 / unit);
}

#endif
