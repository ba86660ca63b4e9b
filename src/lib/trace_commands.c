/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands that print tables of a trace.
 */
#include "lib/options.h"

bool run_devices(struct session *s, const struct request *r, struct sink *out)
{
	return session_trace_table(s, TABLE_DEVICES, (size_t)r->top, &r->opts, out);
}

bool run_kernels(struct session *s, const struct request *r, struct sink *out)
{
	return session_trace_table(s, TABLE_KERNELS, (size_t)r->top, &r->opts, out);
}

bool run_steps(struct session *s, const struct request *r, struct sink *out)
{
	return session_trace_table(s, TABLE_STEPS, (size_t)r->top, &r->opts, out);
}

bool run_roofline(struct session *s, const struct request *r, struct sink *out)
{
	return session_trace_table(s, TABLE_ROOFLINE, (size_t)r->top, &r->opts, out);
}

bool run_memory(struct session *s, const struct request *r, struct sink *out)
{
	return session_memory(s, (size_t)r->top, &r->opts, out);
}
