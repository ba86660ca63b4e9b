/* SPDX-License-Identifier: Apache-2.0
 *
 * See trace_tables.h.
 */
#include "export/trace_tables.h"

#include "export/table.h"
#include "trace/ops.h"
#include "trace/usage.h"

#define TEXT(name)                                                                                 \
	{                                                                                          \
		S(name), COLUMN_TEXT, NULL                                                         \
	}
#define NUMBER(name, of)                                                                           \
	{                                                                                          \
		S(name), COLUMN_INTEGER, of                                                        \
	}
static const struct column device_columns[] = { TEXT("device"), TEXT("kind"),
	NUMBER("span_ns", "ns"), NUMBER("busy_ns", "ns"), NUMBER("idle_ns", "ns"),
	NUMBER("compute_busy_ns", "ns"), NUMBER("communication_busy_ns", "ns"),
	NUMBER("copy_busy_ns", "ns"), NUMBER("communication_compute_overlap_ns", "ns"),
	NUMBER("copy_bytes", "bytes"), NUMBER("slices", NULL), NUMBER("sum_ns", "ns"),
	NUMBER("host_wait_ns", "ns"), NUMBER("kernel_wait_ns", "ns"),
	NUMBER("other_wait_ns", "ns") };
static const struct column kernel_columns[] = { NUMBER("total_ns", "ns"), NUMBER("count", NULL),
	NUMBER("mean_ns", "ns"), NUMBER("min_ns", "ns"), NUMBER("max_ns", "ns"),
	{ S("share"), COLUMN_REAL, "percent" }, TEXT("category"), TEXT("device"), TEXT("op"),
	TEXT("name") };
static const struct column step_columns[] = { NUMBER("step", NULL), NUMBER("start_ns", "ns"),
	NUMBER("duration_ns", "ns"), NUMBER("busy_ns", "ns"), NUMBER("idle_ns", "ns"),
	NUMBER("compute_busy_ns", "ns"), NUMBER("communication_busy_ns", "ns"),
	NUMBER("copy_busy_ns", "ns"), NUMBER("communication_compute_overlap_ns", "ns"),
	NUMBER("slices", NULL), TEXT("name") };

static void put_ticks(struct table *x, const struct trace *t, int64_t v)
{
	table_number(x, trace_ns(t, v));
}

static void put_classes(
        struct table *x, const struct trace *t, const int64_t *by_class, int64_t overlap)
{
	put_ticks(x, t, by_class[USAGE_COMPUTE]);
	put_ticks(x, t, by_class[USAGE_COMMUNICATION]);
	put_ticks(x, t, by_class[USAGE_COPY]);
	put_ticks(x, t, overlap);
}

static void fill_devices(struct table *x, const struct trace *t, const struct trace_links *links)
{
	struct trace_usage usage;

	trace_usage(t, links, &usage, x->a);
	for (size_t i = 0; i < usage.devices.n; i++, x->rows++) {
		const struct device_usage *u = &usage.devices.v[i];
		int64_t span = trace_ns(t, num_sub(u->end, u->start)), busy = trace_ns(t, u->busy);
		table_text(x, trace_device_label(t, u->device, x->a));
		table_text(x, str_of(trace_device_kinds[t->devices.v[u->device].kind]));
		table_number(x, span);
		table_number(x, busy);
		table_number(x, num_sub(span, busy));
		put_classes(x, t, u->by_class, u->overlap);
		table_number(x, u->copy_bytes);
		table_number(x, num_from_u64(u->slices));
		put_ticks(x, t, u->sum);
		for (int k = 0; k < IDLE_N; k++)
			put_ticks(x, t, u->idle_why[k]);
	}
}

static void fill_kernels(struct table *x, const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps)
{
	struct trace_ops ops;
	int64_t all = 0;

	trace_find_ops(t, links, steps, TRACE_BY_PATH, &ops, x->a);
	for (size_t i = 0; i < ops.kernels.n; i++)
		all = num_add(all, ops.kernels.v[i].total);
	for (size_t i = 0; i < ops.kernels.n; i++, x->rows++) {
		const struct kernel_row *k = &ops.kernels.v[i];
		put_ticks(x, t, k->total);
		table_number(x, num_from_u64(k->count));
		put_ticks(x, t, k->total / (int64_t)k->count);
		put_ticks(x, t, k->min);
		put_ticks(x, t, k->max);
		table_number(x, all ? (int64_t)(1e4 * (double)k->total / (double)all + 0.5) : 0);
		table_text(x, str_of(trace_category_names[k->category]));
		table_text(x, trace_device_label(t, k->device, x->a));
		table_text(x, intern_str(&ops.strings, ops.ops.v[k->op].name));
		table_text(x, trace_str(t, k->name));
	}
}

static void fill_steps(struct table *x, const struct trace *t, const struct trace_steps *steps)
{
	struct step_usage *usage = ARENA_ARRAY(x->a, steps->steps.n, struct step_usage);

	usage_by_step(t, steps, usage, x->a);
	for (size_t i = 0; i < steps->steps.n; i++, x->rows++) {
		const struct trace_step *s = &steps->steps.v[i];
		const struct step_usage *u = &usage[i];
		int64_t length = trace_ns(t, num_sub(s->end, s->start)),
		        busy = trace_ns(t, u->busy);
		table_number(x, s->id);
		put_ticks(x, t, s->start);
		table_number(x, length);
		table_number(x, busy);
		table_number(x, num_sub(length, busy));
		put_classes(x, t, u->by_class, u->overlap);
		table_number(x, num_from_u64(u->slices));
		table_text(x,
		        steps->by == STEPS_UNKNOWN ? S("steps: unknown") : trace_str(t, s->name));
	}
}

static void fill(struct table *x, const struct trace *t, enum trace_table which)
{
	struct trace_links links;
	struct trace_steps steps;

	trace_link(t, &links, x->a);
	trace_find_steps(t, &steps, x->a);
	switch (which) {
	case TABLE_DEVICES:
		x->key = "devices";
		x->schema = "tfprof/devices";
		x->columns = device_columns;
		x->n_columns = sizeof device_columns / sizeof *device_columns;
		fill_devices(x, t, &links);
		break;
	case TABLE_KERNELS:
		x->key = "kernels";
		x->schema = "tfprof/kernels";
		x->columns = kernel_columns;
		x->n_columns = sizeof kernel_columns / sizeof *kernel_columns;
		fill_kernels(x, t, &links, &steps);
		break;
	case TABLE_STEPS:
		x->key = "steps";
		x->schema = "tfprof/steps";
		x->columns = step_columns;
		x->n_columns = sizeof step_columns / sizeof *step_columns;
		fill_steps(x, t, &steps);
		break;
	}
}

bool trace_table_write(const struct trace *t, enum trace_table which, size_t top,
        const struct opts *o, unsigned columns, struct emit *to, struct err *e)
{
	struct table x = { .a = to->a };

	fill(&x, t, which);
	return table_write(&x, top, &o->output, columns, to, e);
}
