/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the parts of the rocprofv3 reader: read_rocprof.c (the file and its names) and
 * rocprof_records.c (records into slices).
 *
 *   {"rocprofiler-sdk-tool": [{
 *       "metadata": {"pid": ...},                 of which nothing else is read
 *       "agents": [{"id": {"handle": ...}, "type": 2, "logical_node_type_id": ...}],
 *       "strings": {"buffer_records": [{"kind": ..., "operations": [...]}],
 *                   "marker_api": [{"key": ..., "value": ...}]},
 *       "kernel_symbols": [{"kernel_id": ..., "demangled_kernel_name": ...}],
 *       "buffer_records": {"kernel_dispatch": [...], "hip_api": [...], ...}}]}
 */
#ifndef TFPROF_TRACE_ROCPROF_INTERNAL_H
#define TFPROF_TRACE_ROCPROF_INTERNAL_H

#include "io/json_in.h"
#include "trace/trace_build.h"

/* A member of an object that is read: a number, a text, or the members of an object in it. */
enum roc_form { ROC_INT, ROC_TEXT, ROC_OBJECT };
struct roc_field {
	struct str name;
	enum roc_form form;
	size_t at;                  /* offset of an int64_t or a struct str in the target */
	const struct roc_field *in; /* of an object: its fields */
};
#define ROC_FIELD(z, form, type, member)                                                           \
	{                                                                                          \
		{ "" z, sizeof(z) - 1 }, form, offsetof(type, member), NULL                        \
	}
#define ROC_IN(z, fields)                                                                          \
	{                                                                                          \
		{ "" z, sizeof(z) - 1 }, ROC_OBJECT, 0, fields                                     \
	}
#define ROC_END                                                                                    \
	{                                                                                          \
		{ NULL, 0 }, ROC_INT, 0, NULL                                                      \
	}

struct roc_kind {
	uint32_t name; /* string ids */
	struct {
		uint32_t *v;
		size_t n, cap;
	} operations;
};

struct roc_agent {
	int64_t handle, type, index; /* index: among agents of the type; -1: unknown */
	uint32_t model;              /* string id, or ID_NONE */
};

struct roc_kernel {
	uint32_t name, short_name; /* string ids; short_name may be ID_NONE */
};

/* One element of the outermost array. */
struct roc_process {
	int64_t pid;
	uint32_t process;
	unsigned names; /* bits of the parts with names that were read */
	bool late;      /* its records precede its names */
	VEC(struct roc_kind) kinds;
	VEC(struct roc_agent) agents;
	VEC(struct roc_kernel) kernels;
	struct imap agent_of, kernel_of; /* indexed by handle and kernel: index */
	struct imap marker_of;           /* indexed by correlation: string id */
};

struct rocprof {
	struct json_in j;
	struct src *s;
	struct trace_build *b;
	struct arena *a;
	struct err *e;
	struct sb text;
	VEC(struct roc_process) processes;
	size_t at;  /* index of the present process */
	bool late;  /* records of a process precede its names: a second pass reads them */
	bool again; /* the second pass */
	bool (*element)(struct rocprof *x, const void *of); /* of the array that is read */
	const void *of;
	uint64_t events, timeless;
	struct intern unused; /* names of lists that are not used */
	VEC(uint64_t) unused_n;
};

/* Fills the target from the members of an object, whose bracket is next; texts are copied. */
bool roc_object(struct rocprof *x, const struct roc_field *fields, void *target);

/* Goes over an array as items of their own; false if it is not one, or ends early. */
bool roc_array(
        struct rocprof *x, bool (*element)(struct rocprof *x, const void *of), const void *of);

/* Reads a list of buffer_records. */
bool roc_records(struct rocprof *x, struct str name);

/* Describes the devices of all processes. */
void roc_devices_end(struct rocprof *x);

#endif
