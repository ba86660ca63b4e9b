/* SPDX-License-Identifier: Apache-2.0
 *
 * Device work that moves data between devices: recognised by the arguments of its slice (the
 * process group), the op that launched it, and the name of the kernel. trace/pass/communication.def
 * is the list.
 */
#ifndef TFPROF_TRACE_COMMUNICATION_H
#define TFPROF_TRACE_COMMUNICATION_H

#include "trace/trace.h"

enum communication_by {
	COMMUNICATION_PREFIX,  /* the name of the kernel begins with the text */
	COMMUNICATION_NAME,    /* the name of the kernel, without templates and parameters, contains
	                          the text */
	COMMUNICATION_OP,      /* the name of the launching op begins with the text */
	COMMUNICATION_ARGUMENT /* the slice or its event has the argument */
};
struct communication_row {
	const char *library;
	enum communication_by by;
	const char *text;
};
extern const struct communication_row communication_rows[];
extern const size_t communication_n;

bool communication_is_kernel(struct str name);
bool communication_is_op(struct str name);
/* True if an event has the argument of a process group. */
bool communication_is_event(const struct trace *t, uint32_t event);

#endif
