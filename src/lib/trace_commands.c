/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands that print tables of a trace.
 */
#include "export/table/what_if_out.h"
#include "lib/options.h"

static bool run_table(
        struct session *s, enum trace_table which, const struct request *r, struct sink *out)
{
	struct trace_table_request request = { .which = which, .top = (size_t)r->top };

	if (which == TABLE_KERNELS)
		request.by_phase = r->section > 0;
	else
		request.section = r->section;

	return session_trace_table(s, &request, &r->opts, out);
}

bool run_devices(struct session *s, const struct request *r, struct sink *out)
{
	enum output_kind kind = r->opts.output.kind;

	if (r->section > 0 && (!out_is_data(kind) || kind == OUT_JSON))
		return session_fail(
		        s, ERR_INVALID_ARGUMENT, "--table requires -output csv, md or ndjson");
	return run_table(s, TABLE_DEVICES, r, out);
}

bool run_kernels(struct session *s, const struct request *r, struct sink *out)
{
	return run_table(s, TABLE_KERNELS, r, out);
}

bool run_steps(struct session *s, const struct request *r, struct sink *out)
{
	return run_table(s, TABLE_STEPS, r, out);
}

bool run_phases(struct session *s, const struct request *r, struct sink *out)
{
	return run_table(s, TABLE_PHASES, r, out);
}

bool run_roofline(struct session *s, const struct request *r, struct sink *out)
{
	struct trace_table_request request = { .which = TABLE_ROOFLINE,
		.top = (size_t)r->top,
		.roofline = { .by = r->section > 0 ? (enum roof_by)r->section : ROOF_BY_OP,
		        .peak_flops = (double)r->peak_flops,
		        .peak_bytes = (double)r->peak_bandwidth } };

	return session_trace_table(s, &request, &r->opts, out);
}

bool run_flops(struct session *s, const struct request *r, struct sink *out)
{
	const struct flops_request request = { (size_t)r->top, r->explain, r->partial,
		r->peak_flops };

	return session_flops(s, &request, &r->opts, out);
}

/* Reads --by and --at. A file without a time in it fails later. */
static bool read_memory(struct session *s, const struct request *r, struct memory_request *request)
{
	static const struct str moments[] = { { "peak", 4 }, { "oom", 3 }, { "end", 3 } };

	*request = (struct memory_request){ .diff = r->diff,
		.by = r->section > 0 ? (enum memory_by)r->section : MEMORY_BY_AUTO };
	for (unsigned i = 0; i < sizeof moments / sizeof *moments; i++)
		if (str_eq(r->at, moments[i])) {
			request->at = (enum memory_at)i;
			return true;
		}
	if (!r->at.n)
		return true;
	request->at = MEMORY_AT_TIME;
	return quantity_parse_time(r->at, QUANTITY_US, QUANTITY_NS, &request->at_ns) ||
	       session_fail(s, ERR_INVALID_ARGUMENT,
	               "--at: '%.*s' is not peak, oom, end or a time, such as 5ms", STR(r->at));
}

bool check_memory(struct session *s, const struct request *r)
{
	struct memory_request request;

	return r->help || read_memory(s, r, &request);
}

bool run_memory(struct session *s, const struct request *r, struct sink *out)
{
	struct memory_request request;

	return read_memory(s, r, &request) &&
	       session_memory(s, &request, (size_t)r->top, &r->opts, out);
}

bool run_critical(struct session *s, const struct request *r, struct sink *out)
{
	return session_critical(s, (size_t)r->top, &r->opts, out);
}

static bool read_what_if(
        struct session *s, const struct request *r, struct what_if_request *request)
{
	*request = (struct what_if_request){ .each = r->section > 0 ? r->section : 0,
		.top = (size_t)r->top };
	if (!request->each == !r->topics.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "what-if: %s expected, such as 'kernel:gemm*0.5' or host*0.5, or --each",
		        request->each ? "either changes or --each (not both)" : "a change");
	return what_if_read(s, &r->topics, request);
}

bool check_what_if(struct session *s, const struct request *r)
{
	struct what_if_request request;

	return r->help || read_what_if(s, r, &request);
}

bool run_what_if(struct session *s, const struct request *r, struct sink *out)
{
	struct what_if_request request;

	return read_what_if(s, r, &request) && session_what_if(s, &request, &r->opts, out);
}

bool run_idle(struct session *s, const struct request *r, struct sink *out)
{
	return session_idle(s, (size_t)r->top, r->section, &r->opts, out);
}

bool what_if_is_change(struct str word)
{
	return replay_is_change(word) || str_starts(word, S(WHAT_IF_CAUSE));
}

bool check_why(struct session *s, const struct request *r)
{
	struct why_request request;

	return why_read(s, r->cause, &r->fail_on, &request);
}

bool run_why(struct session *s, const struct request *r, struct sink *out)
{
	struct why_request request = { .top = (size_t)r->top,
		.as = r->section > 0 ? (enum why_as)r->section : WHY_AS_AUTO };

	return why_read(s, r->cause, &r->fail_on, &request) &&
	       session_why(s, &request, &r->opts, out);
}

bool check_collectives(struct session *s, const struct request *r)
{
	unsigned kinds;

	return collectives_read_rules(s, &r->fail_on, &kinds);
}

bool run_collectives(struct session *s, const struct request *r, struct sink *out)
{
	struct collectives_request request = { .top = (size_t)r->top };

	return collectives_read_rules(s, &r->fail_on, &request.fail_on) &&
	       session_collectives(s, &request, &r->opts, out);
}
