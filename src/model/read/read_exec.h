/* SPDX-License-Identifier: Apache-2.0
 *
 * ExecProfile.
 */
#ifndef TFPROF_MODEL_READ_EXEC_H
#define TFPROF_MODEL_READ_EXEC_H

#include "model/read/read_leaf.h"

struct exec_times {
	uint32_t device;
	enum span_kind kind;
	struct str times; /* ExecTime */
};
/* Scratch data for the executions of a node in a step, and counts of skipped data. */
struct exec {
	int64_t runs, start, end;
	VEC(struct exec_times) times;
	VEC(struct str) memory;
	VEC(struct str) allocations;
	/* Indexed by device: 1 + index of its last map entry (accelerator, cpu), and serial number
	 * of the last cell with a span on the device. */
	VEC(size_t) last[2];
	VEC(uint64_t) seen;
	uint64_t serial;
	struct numbers tuple;
	struct entries outputs;
	VEC(uint8_t) packed;
	uint64_t short_tuples;
};
/* Reads an ExecProfile. If node is ID_NONE, only validates it. */
bool read_exec(struct pb_reading *r, struct exec *x, int64_t step, uint32_t node, struct str bytes);

#endif
