/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of traces: devices, kernels, steps, roofline.
 */
#include "export/table/trace_tables.h"

#include <math.h>

#include "base/sort.h"
#include "export/table/coverage_out.h"
#include "export/table/device_tables.h"
#include "trace/pass/ops.h"
#include "trace/pass/phases.h"
#include "trace/pass/step_guess.h"
#include "trace/pass/step_time.h"

/* The trace of a worker, with the passes that the table needs. */
struct worker_rows {
	const struct trace *t;
	struct str worker; /* name in the rows; p is NULL if there is none */
	struct trace_links links;
	struct trace_steps steps;
	struct trace_ops ops;
};

/* Finds the steps of a trace, and marks those that -step selects. o: NULL if it selects none.
 * Returns the number of steps that are selected; without o, of all. */
static size_t choose_steps(struct worker_rows *w, const struct opts *o, struct arena *a)
{
	trace_find_steps(w->t, &w->steps, a);
	for (size_t i = 0; o && i < w->steps.steps.n; i++) {
		struct trace_step *s = &w->steps.steps.v[i];
		s->chosen = w->steps.by != STEPS_UNKNOWN && opts_has_step(o, s->id);
		w->steps.chosen += s->chosen;
	}
	return o ? w->steps.chosen : w->steps.steps.n;
}

/* ---- values of columns ---- */

static int64_t hundredths(double v)
{
	return (int64_t)fmin(v * 100 + 0.5, 9e18);
}

#define TABLE_LIST "export/table/trace_table.def"
#include "export/table/table_list.h"

/* ---- a row of each table ---- */

/* Appends the columns PARTS. */
static void put_parts(struct table *to, const struct usage_partition *part)
{
	table_number(to, part->communication);
	table_number(to, part->copy);
	table_number(to, part->idle);
}

/* Appends the columns CLASSES. part: the partition of the window. */
static void put_classes(struct table *to, const struct trace *t, const struct usage_times *u,
        const struct usage_partition *part)
{
	table_number(to, part->compute);
	put_parts(to, part);
	table_number(to, trace_ns(t, u->by_class[USAGE_COMMUNICATION]));
	table_number(to, trace_ns(t, u->by_class[USAGE_COPY]));
	table_number(to, trace_ns(t, usage_overlap(u)));
}

static void put_causes(struct table *to, const struct trace *t, const struct usage_times *u)
{
	for (enum idle_cause i = 0; i < IDLE_CAUSES; i++)
		table_number(to, usage_idle_ns(t, u, i));
}

static void put_devices(struct table *to, const struct trace *t, const struct device_usage *u)
{
	const struct usage_partition part = usage_partition(t, &u->times, u->window, 1);

	table_text(to, trace_device_label(t, u->device, to->a));
	table_text(to, str_of(trace_device_kinds[t->devices.v[u->device].kind]));
	table_number(to, part.window);
	table_number(to, trace_ns(t, num_sub(u->end, u->start)));
	table_number(to, trace_ns(t, u->times.busy));
	put_classes(to, t, &u->times, &part);
	table_number(to, u->copy_bytes);
	table_count(to, u->slices);
	table_number(to, trace_ns(t, u->sum));
	put_causes(to, t, &u->times);
}

/* Appends an average step of a device. */
static void put_partition(struct table *to, const struct trace_steps *steps,
        const struct step_wall *time, const struct device_usage *u)
{
	const struct usage_partition part = step_time_partition(steps, u);

	table_text(to, trace_device_label(steps->t, u->device, to->a));
	table_count(to, time->steps);
	table_number(to, part.window);
	table_number(to, part.compute);
	put_parts(to, &part);
	table_number(to, time->median);
	table_number(to, time->shortest);
	table_number(to, time->longest);
	table_number(to, time->deviation);
	table_count(to, time->left_out);
}

/* Returns the op of a kernel. by_phase: without the phase at the start of its path, which has a
 * column of its own. */
static struct str op_of_kernel(
        const struct trace_ops *ops, const struct kernel_row *k, bool by_phase)
{
	struct str name = intern_str(&ops->strings, ops->ops.v[k->op].name);
	size_t slash = by_phase ? str_find_char(name, '/') : SIZE_MAX;

	return slash == SIZE_MAX ? name : str_sub(name, slash + 1, SIZE_MAX);
}

/* Appends a kernel. all: ns of all kernels. */
static void put_kernels(struct table *to, const struct trace *t, const struct trace_ops *ops,
        const struct kernel_row *k, bool by_phase, int64_t all)
{
	table_number(to, trace_ns(t, k->total));
	table_count(to, k->count);
	table_number(to, num_add(trace_ns(t, k->total), (int64_t)k->count / 2) / (int64_t)k->count);
	table_number(to, trace_ns(t, k->min));
	table_number(to, trace_ns(t, k->max));
	table_number(
	        to, all ? (int64_t)(1e4 * (double)trace_ns(t, k->total) / (double)all + 0.5) : 0);
	table_text(to, str_of(trace_category_names[k->category]));
	table_text(to, trace_device_label(t, k->device, to->a));
	table_text(to, op_of_kernel(ops, k, by_phase));
	table_count(to, k->ops);
	table_text(to, intern_str(&ops->strings, k->common));
	table_text(to, trace_str(t, k->name));
}

/* Appends a step. start: ticks, in the form that is shown; devices: number of devices with work in
 * the trace. */
static void put_steps(struct table *to, const struct trace *t, const struct trace_step *s,
        const struct step_usage *u, int64_t start, size_t devices, struct str name)
{
	int64_t length = num_sub(s->end, s->start);
	const struct usage_partition part =
	        usage_partition(t, &u->times, num_mul(length, num_from_u64(devices)), 1);

	table_number(to, s->id);
	table_number(to, trace_ns(t, start));
	table_number(to, trace_ns(t, length));
	table_number(to, trace_ns(t, u->times.busy));
	table_number(to, num_from_u64(devices));
	put_classes(to, t, &u->times, &part);
	table_count(to, u->slices);
	put_causes(to, t, &u->times);
	table_text(to, name);
}

/* Returns a number of a row divided by the row's time in seconds; 0: unknown. */
static double per_second(const struct roof_row *r, int64_t v)
{
	return v > 0 && r->rated_ns > 0 ? (double)v * 1e9 / (double)r->rated_ns : 0;
}

static void put_roofline(struct table *to, const struct trace *t, const struct roof_row *r)
{
	double flops = per_second(r, r->flops), bytes = per_second(r, r->bytes);
	bool roofed = r->roof_ns >= 0, lacks = r->rated_ns < r->ns;
	int64_t saved = num_sub(r->rated_ns, r->roof_ns);

	table_number(to, r->ns);
	table_number(to, r->rated_ns);
	table_count(to, r->calls);
	table_count(to, r->kernels);
	table_sum(to, lacks || r->flops < 0, r->flops);
	table_sum(to, lacks || r->bytes < 0, r->bytes);
	table_number_if(to, r->flops >= 0 && r->rated_ns > 0, num_from_real(flops));
	table_number_if(to, bytes >= 1, num_from_real(bytes));
	table_number_if(to, r->flops >= 0 && bytes > 0, bytes > 0 ? hundredths(flops / bytes) : 0);
	if (r->windowed)
		table_mark(to, 5, "~"); /* all that depend on flops or bytes */
	table_number_if(to, roofed, hundredths(1e2 * (double)r->roof_ns / (double)r->rated_ns));
	table_text_if(to, roofed && r->bound != BOUND_UNKNOWN, str_of(roof_bounds[r->bound]));
	table_number_if(to, roofed, r->roof_ns);
	table_number_if(to, roofed, saved > 0 ? saved : 0);
	table_text_if(to, r->numbers != NUMBERS_OTHER, str_of(number_type_names[r->numbers]));
	table_text(to, r->device == ID_NONE ? S("host") : trace_device_label(t, r->device, to->a));
	table_text_if(to, r->type.n > 0, r->type);
	table_text_if(to, r->shapes.n > 0, r->shapes);
	table_text(to, roof_label(r, to->a));
}

/* Appends a share of a whole, in hundredths of a percent. */
static void put_share(struct table *to, int64_t part, int64_t whole)
{
	table_number_if(
	        to, whole > 0, whole > 0 ? hundredths(100 * (double)part / (double)whole) : 0);
}

/* The kinds of work that have a column in the table of phases, in the order of the columns. */
static const enum phase_work work_columns[] = { WORK_ATTENTION, WORK_MATRIX, WORK_COMMUNICATION,
	WORK_SAMPLING };

static void put_phases(struct table *to, const struct phase *p)
{
	table_text(to, str_of(serving_phases[p->phase]));
	table_count(to, p->steps);
	table_number_if(to, p->requests >= 0, p->requests);
	table_number_if(to, p->tokens >= 0, p->tokens);
	table_number(to, p->mean);
	table_number(to, p->median);
	table_number(to, p->p99);
	table_number(to, p->host);
	table_number_if(to, p->tokens >= 0 && p->total > 0,
	        p->total > 0 ? hundredths((double)p->tokens * 1e9 / (double)p->total) : 0);
	table_number(to, p->busy);
	table_number(to, p->device);
	for (size_t i = 0; i < sizeof work_columns / sizeof *work_columns; i++)
		put_share(to, p->work[work_columns[i]], p->device);
	for (size_t i = 0; i < sizeof work_columns / sizeof *work_columns; i++)
		table_number(to, p->work[work_columns[i]]);
	table_count(to, p->graph_launches);
	table_count(to, p->graph_steps);
	table_count(to, p->eager);
	table_number(to, p->graph_gap);
	put_share(to, num_sub(p->padded, p->padded_tokens), p->padded);
}

static void put_phase_work(struct table *to, const struct phase *p)
{
	table_text(to, str_of(serving_phases[p->phase]));
	for (size_t i = 0; i < sizeof work_columns / sizeof *work_columns; i++)
		put_share(to, p->work[work_columns[i]], p->device);
	table_count(to, p->graph_launches);
	table_count(to, p->eager);
	table_number(to, p->graph_gap);
	put_share(to, num_sub(p->padded, p->padded_tokens), p->padded);
}

/* ---- devices and steps ---- */

/* Begins a row. */
static void put_worker(struct table *x, const struct worker_rows *w)
{
	if (w->worker.p)
		table_text(x, w->worker);
	x->rows++;
}

static void fill_devices(
        struct table *x, const struct worker_rows *w, const struct trace_usage *usage)
{
	for (size_t i = 0; i < usage->devices.n; i++) {
		put_worker(x, w);
		put_devices(x, w->t, &usage->devices.v[i]);
	}
}

/* Adds the table of an average step on each device. */
static void fill_partition(
        struct table *x, const struct worker_rows *w, const struct trace_usage *usage)
{
	const struct step_wall time = step_time_of(&w->steps, x->a);

	x->data_only &= !time.marked; /* the first table shows the whole trace */
	if (w->steps.chosen)
		x->title = "Time per step, of the chosen steps";
	else if (time.left_out)
		x->title = "Time per step, of the steps with device work";
	for (size_t i = 0; i < usage->devices.n; i++) {
		put_worker(x, w);
		put_partition(x, &w->steps, &time, &usage->devices.v[i]);
	}
}

/* Changes the heading of a column in text; "" leaves the column out. */
static void retitle_column(struct table *x, struct str name, const char *title)
{
	const char **titles = ARENA_ARRAY(x->a, x->n_columns, const char *);
	size_t column = 0;

	memcpy(titles, x->titles, x->n_columns * sizeof *titles);
	while (!str_eq(x->columns[column].name, name))
		column++;
	titles[column] = title;
	x->titles = titles;
}

/* Leaves out the columns about devices in text, because no device worked. */
static void hide_devices(struct table *x)
{
	static const char *const columns[] = { "compute_busy_ns", "exposed_communication_ns",
		"exposed_copy_ns", "idle_ns" };

	for (size_t i = 0; i < N_COLUMNS(columns); i++)
		retitle_column(x, str_of(columns[i]), "");
}

/* Adds the steps of a worker. data: true if starts are on the clock of the source; otherwise they
 * count from the start of the first step. Raises *devices to the number of devices with work. */
static void fill_steps(struct table *x, struct table *partition, const struct worker_rows *w,
        bool data, size_t *devices)
{
	const struct trace_steps *steps = &w->steps;
	const struct trace *t = w->t;
	struct step_usage *usage = ARENA_ARRAY(x->a, steps->steps.n, struct step_usage);
	const struct usage_request request = {
		.links = &w->links, .steps = steps, .by_step = usage
	};
	int64_t zero = data || !steps->steps.n ? 0 : steps->steps.v[0].start;
	struct trace_usage all;

	trace_usage(t, &request, &all, x->a);
	for (size_t i = 0; i < steps->steps.n; i++) {
		const struct trace_step *s = &steps->steps.v[i];
		if (steps->chosen && !s->chosen)
			continue;
		put_worker(x, w);
		put_steps(x, t, s, &usage[i], num_sub(s->start, zero), all.devices.n,
		        steps->by == STEPS_UNKNOWN ? S("steps: unknown") : trace_str(t, s->name));
	}
	fill_partition(partition, w, &all);
	if (all.devices.n > 1 && partition->data_only) {
		partition->data_only = false; /* the first table has only sums over the devices */
		partition->title = "Time per device";
	}
	if (all.devices.n > *devices)
		*devices = all.devices.n;
}

/* States that the times of a step are sums over the devices. workers: the number of traces. */
static void explain_sums(struct table *x, size_t devices, size_t workers)
{
	struct sb b = sb_in(x->a);

	sb_put(&b, x->lead.p ? x->lead : STR_NONE);
	sb_put(&b, S("compute, exposed comm., exposed copy and idle are sums over the "));
	if (workers == 1)
		sb_fmt(&b, "%zu ", devices);
	sb_put(&b, workers == 1 ? S("devices\n\n") : S("devices of a worker\n\n"));
	x->lead = sb_str(&b);
}

/* States how many steps begin before an earlier step of the same trace ends, if there are any. */
static void explain_overlaps(struct table *x, const struct worker_rows *v, size_t n)
{
	size_t overlaps = 0, all = 0;
	struct sb b = sb_in(x->a);

	for (size_t i = 0; i < n; i++) {
		int64_t until = INT64_MIN;
		for (size_t k = 0; k < v[i].steps.steps.n; k++) {
			const struct trace_step *s = &v[i].steps.steps.v[k];
			overlaps += s->start < until;
			until = s->end > until ? s->end : until;
			all++;
		}
	}
	if (!overlaps)
		return;
	sb_put(&b, x->lead.p ? x->lead : STR_NONE);
	sb_fmt(&b,
	        "%zu of %zu steps begin%s before an earlier step ends; work at such times counts "
	        "in both\n\n",
	        overlaps, all, overlaps == 1 ? "s" : "");
	x->lead = sb_str(&b);
}

/* Explains the table of steps. devices: the number of devices with work. */
static void explain_steps(struct table *x, const struct worker_rows *v, size_t n, size_t devices)
{
	if (devices > 1)
		explain_sums(x, devices, n);
	else
		retitle_column(x, S("devices"), "");
	if (!devices)
		hide_devices(x);
	explain_overlaps(x, v, n);
}

/* Adds the phases of a worker. work: the second table, which only text has. Adds the number of
 * steps without graphs to *eager. */
static void fill_phases(
        struct table *x, struct table *work, const struct worker_rows *w, uint64_t *eager)
{
	struct phases phases;

	trace_find_phases(w->t, &w->links, &phases, x->a);
	for (size_t i = 0; i < phases.list.n; i++) {
		put_worker(x, w);
		put_phases(x, &phases.list.v[i]);
		put_worker(work, w);
		put_phase_work(work, &phases.list.v[i]);
		*eager += phases.list.v[i].eager;
	}
}

static void put_eager(struct document *d, const void *eager)
{
	document_i64(d, "eager_steps", num_from_u64(*(const uint64_t *)eager));
}

/* ---- guessed steps ---- */

static void put_guess(struct document *d, const void *user)
{
	const struct step_guess *g = user;

	document_i64(d, "guessed_calls", num_from_u64(g->calls));
	document_i64(d, "guessed_steps", num_from_u64(g->times));
	document_i64(d, "guessed_step_ns", g->period);
}

/* Describes calls that repeat, if the trace has no step marks. used: true if they are used as the
 * steps. */
static void offer_steps(struct table *x, const struct trace *t, bool used)
{
	struct step_guess *g = ARENA_NEW(x->a, struct step_guess);
	struct sb b = sb_in(x->a);

	*g = step_guess_of(t, x->a);
	if (!g->calls)
		return;
	g->period = trace_ns(t, g->period);
	sb_fmt(&b, "No steps are marked. Guessed: %zu repetitions of %zu call%s, ", g->times,
	        g->calls, g->calls == 1 ? "" : "s");
	table_put_time(&b, g->period);
	sb_put(&b, S(" each:\n'"));
	sb_put_name(&b, trace_str(t, g->first));
	if (g->calls > 1) {
		sb_put(&b, S("' ... '"));
		sb_put_name(&b, trace_str(t, g->last));
	}
	sb_put(&b, used ? S("'\n\n")
	                : S("'\n--guess-steps uses them in all commands. "
	                    "They may be parts of a step.\n\n"));
	x->lead = sb_str(&b);
	x->members = put_guess;
	x->user = g;
}

/* ---- roofline ---- */

/* The rooflines of all workers. */
struct rooflines {
	struct roofline *v;
	const struct trace *const *traces;
	size_t n;
};

/* Adds the rows of a worker, unless none of its numbers is known. */
static void fill_roofline(struct table *x, const struct worker_rows *w,
        const struct roofline_request *request, struct roofline *to)
{
	bool known = false;

	roofline_find(w->t, &w->links, &w->steps, request, to, x->a);
	for (size_t i = 0; i < to->rows.n && !known; i++)
		known = to->rows.v[i].flops > 0 || to->rows.v[i].bytes > 0;
	for (size_t i = 0; known && i < to->rows.n; i++) {
		put_worker(x, w);
		put_roofline(x, w->t, &to->rows.v[i]);
	}
}

/* Explains roofs above 100%. */
static void put_exceeded(struct sb *b, const struct roofline *r)
{
	bool above[BOUNDS] = { false };

	for (size_t i = 0; i < r->rows.n; i++)
		above[r->rows.v[i].bound] |= r->rows.v[i].roof_ns > r->rows.v[i].rated_ns;
	if (above[BOUND_COMPUTE] || above[BOUND_UNKNOWN])
		sb_put(b, S("A roof above 100%: the algorithm of the kernel (such as Winograd) "
		            "does fewer "
		            "float operations than the formula counts, or the peak is too low\n"));
	if (above[BOUND_MEMORY])
		sb_put(b, S("A roof above 100% that is bound by memory: caches serve a part of the "
		            "bytes, or "
		            "the bandwidth is too low\n"));
}

/* Writes the source of a worker's peaks, and the coverage. */
static void put_roof_lead(struct sb *b, const struct roofline *r)
{
	const char *shown = NULL;

	for (size_t i = 0; i < r->peaks.n; i++) {
		const struct roof_peak *p = &r->peaks.v[i];
		if (p->name == shown)
			continue;
		shown = p->name;
		if (p->source)
			sb_fmt(b, "Roof: the dense peaks of %s (%s)\n", p->name, p->source);
		else
			sb_fmt(b, "Roof: %s\n", p->name);
	}
	if (!r->peaks.n)
		sb_put(b, S("No roof: the peaks of the device are not known; give those of your "
		            "device, such as --peak-flops=100T --peak-bandwidth=1T\n"));
	coverage_put(b, r->coverage);
	put_exceeded(b, r);
	if (r->halves)
		sb_fmt(b,
		        "No rate for %llu op%s that begin%s or end%s an asynchronous one: it runs "
		        "between them, beside other ops\n",
		        (unsigned long long)r->halves, r->halves == 1 ? "" : "s",
		        r->halves == 1 ? "s" : "", r->halves == 1 ? "s" : "");
}

static void put_peaks(struct document *d, const void *user)
{
	const struct rooflines *all = user;

	document_key(d, "peaks");
	json_array(&d->j);
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->v[i].peaks.n; k++) {
			const struct roof_peak *p = &all->v[i].peaks.v[k];
			json_object(&d->j);
			document_text(
			        d, "device", trace_device_label(all->traces[i], p->device, d->a));
			if (p->source)
				document_text(d, "source", str_of(p->source));
			if (p->numbers != NUMBERS_OTHER)
				document_text(d, "numbers", str_of(number_type_names[p->numbers]));
			document_i64(d, "flops_per_second", num_from_real(p->flops));
			document_i64(d, "bytes_per_second", num_from_real(p->bytes));
			json_object_end(&d->j);
		}
	json_array_end(&d->j);
	if (all->n == 1)
		coverage_members(d, all->v[0].coverage);
}

/* Adds the rows of all workers. */
static void fill_rooflines(struct table *x, const struct worker_rows *v, size_t n,
        const struct roofline_request *request)
{
	struct rooflines *all = ARENA_NEW(x->a, struct rooflines);
	const struct trace **traces = ARENA_ARRAY(x->a, n, const struct trace *);
	struct sb lead = sb_in(x->a);

	*all = (struct rooflines){ ARENA_ARRAY(x->a, n, struct roofline), traces, n };
	for (size_t i = 0; i < n; i++) {
		traces[i] = v[i].t;
		fill_roofline(x, &v[i], request, &all->v[i]);
		if (n > 1)
			sb_fmt(&lead, "%.*s: ", STR(v[i].worker));
		put_roof_lead(&lead, &all->v[i]);
	}
	if (lead.n)
		sb_char(&lead, '\n');
	x->lead = sb_str(&lead);
	x->empty = "?";
	x->members = put_peaks;
	x->user = all;
}

/* ---- kernels ---- */

/* A kernel of a worker. */
struct kernel_at {
	const struct worker_rows *w;
	const struct kernel_row *k;
};

static int compare_kernels(const void *v, uint32_t a, uint32_t b)
{
	const struct kernel_at *x = (const struct kernel_at *)v + a,
	                       *y = (const struct kernel_at *)v + b;
	int64_t p = trace_ns(x->w->t, x->k->total), q = trace_ns(y->w->t, y->k->total);

	return (p < q) - (p > q);
}

/* Keeps the devices on narrow terminals if they distinguish rows. */
static void keep_devices(struct table *x)
{
	struct column *columns = ARENA_ARRAY(x->a, x->n_columns, struct column);
	size_t n = x->n_columns, column = 0;
	bool several = false;

	while (!str_eq(x->columns[column].name, S("device")))
		column++;
	for (size_t r = 1; r < x->rows && !several; r++)
		several = !str_eq(x->cells.v[r * n + column].text, x->cells.v[column].text);
	memcpy(columns, x->columns, n * sizeof *columns);
	if (several)
		columns[column].spare = 0;
	x->columns = columns;
}

/* Orders the kernels of all workers by total. */
static void fill_kernels(struct table *x, struct worker_rows *v, size_t n, bool by_phase)
{
	VEC(struct kernel_at) rows = { .n = 0 };
	int64_t all = 0;

	for (size_t i = 0; i < n; i++) {
		struct trace_ops *o = &v[i].ops;
		if (!by_phase && !v[i].steps.chosen)
			trace_one_step(v[i].t, &v[i].steps, x->a);
		trace_find_ops(v[i].t, &v[i].links, &v[i].steps,
		        by_phase ? TRACE_BY_PHASE : TRACE_BY_PATH, o, x->a);
		for (size_t k = 0; k < o->kernels.n; k++) {
			all = num_add(all, trace_ns(v[i].t, o->kernels.v[k].total));
			VEC_PUSH(x->a, &rows, ((struct kernel_at){ &v[i], &o->kernels.v[k] }));
		}
	}
	const uint32_t *order = sort_order(x->a, rows.n, compare_kernels, rows.v);
	for (size_t i = 0; i < rows.n; i++) {
		const struct kernel_at *at = &rows.v[order[i]];
		put_worker(x, at->w);
		if (by_phase)
			table_text(x, at->k->phase ? str_of(serving_phases[at->k->phase - 1])
			                           : S(OPS_NO_PHASE));
		put_kernels(x, at->w->t, &at->w->ops, at->k, by_phase, all);
	}
	keep_devices(x);
}

/* ---- the table ---- */

#define COLUMNS(name)                                                                              \
	columns_of_##name, titles_of_##name, sizeof columns_of_##name / sizeof *columns_of_##name
static const struct trace_table_row {
	const char *key, *schema;
	int64_t version;
	const struct column *columns;
	const char *const *titles;
	size_t n_columns;
	bool links;     /* the pass that it needs before its own */
	bool by_step;   /* -step selects steps */
	uint64_t wants; /* ARG_BITs of work */
} table_rows[] = {
	[TABLE_DEVICES] = { "devices", "tfprof/devices", 5, COLUMNS(devices), true, true,
	        ARG_BIT(ARG_BYTES) | TRACE_LAUNCH_ARGS },
	[TABLE_KERNELS] = { "kernels", "tfprof/kernels", 2, COLUMNS(kernels), true, true,
	        ARG_BIT(ARG_SCOPE) },
	[TABLE_STEPS] = { "steps", "tfprof/steps", 4, COLUMNS(steps), true, true,
	        ARG_BIT(ARG_STEP) | TRACE_LAUNCH_ARGS },
	[TABLE_ROOFLINE] = { "roofline", "tfprof/roofline", 3, COLUMNS(roofline), true, false,
	        ARG_BITS_ALL },
	[TABLE_PHASES] = { "phases", "tfprof/phases", 2, COLUMNS(phases), true, false,
	        ARG_BITS_ALL },
};

uint64_t trace_table_wants(enum trace_table which)
{
	return table_rows[which].wants;
}

/* Returns the index of the first step that the user chose. */
static uint32_t first_chosen(const struct trace_steps *steps)
{
	uint32_t i = 0;

	while (!steps->steps.v[i].chosen)
		i++;
	return i;
}

/* Adds the rows of a worker's devices. Adds the worker to `further`, for the additional tables, if
 * it has launches or is a recording. */
static void add_devices(struct table *x, struct table *partition, struct worker_rows *w,
        struct device_use *recorded, struct device_workers *further)
{
	struct device_use *u = recorded;

	if (w->steps.chosen) {
		u = ARENA_NEW(x->a, struct device_use);
		device_use_step(u, &w->links, &w->steps, first_chosen(&w->steps), x->a);
	} else if (!u && !w->links.launches.n) {
		struct trace_usage usage;
		const struct usage_request request = { .links = &w->links, .steps = &w->steps };
		trace_steps_find_work(&w->steps, &w->links);
		trace_usage(w->t, &request, &usage, x->a);
		fill_devices(x, w, &usage);
		fill_partition(partition, w, &usage);
		return;
	}
	if (!u) {
		u = ARENA_NEW(x->a, struct device_use);
		device_use_trace(u, &w->links, &w->steps, x->a);
	}
	w->steps = u->steps;
	fill_devices(x, w, &u->usage);
	fill_partition(partition, w, &u->usage);
	partition->data_only |= u->of_step; /* the first table has the same times */
	further->v[further->n++] = (struct device_worker){ w->worker, u };
}

/* Sets the columns of a table; they begin with the worker if there are several. */
static void set_columns(struct table *x, const struct column *columns, const char *const *titles,
        size_t n, bool named)
{
	x->columns = columns + !named;
	x->titles = titles + !named;
	x->n_columns = n - !named;
}

static void put_step(struct document *d, const void *id)
{
	document_i64(d, "step", *(const int64_t *)id);
}

/* Names the step that all rows are of. */
static void name_step(struct table *x, const struct opts *o)
{
	x->lead = str_fmt(x->a, "Devices in step %lld\n\n", (long long)o->step);
	x->members = put_step;
	x->user = &o->step;
}

/* Adds the additional tables: the average step, then, of devices, idle causes, latencies, kernels,
 * calls and so on. */
static void add_sections(struct table *x, const struct table *partition,
        const struct device_workers *all, struct device_use *recorded)
{
	size_t n = 0;
	const struct table *more = all->n ? device_sections(all, &n, x->a) : NULL;
	struct table *v = ARENA_ARRAY(x->a, n + 1, struct table);

	v[0] = *partition;
	if (n)
		memcpy(v + 1, more, n * sizeof *v);
	x->sections = v;
	x->n_sections = n + 1;
	if (recorded) {
		x->members = device_put_lost;
		x->user = recorded;
	}
}

/* Adds the table of work below the phases. In text, it replaces the columns of the same names, from
 * the column after the phase's name. */
static void end_phases(
        struct table *x, const struct table *work, size_t after_name, uint64_t *eager, bool data)
{
	for (size_t i = after_name; i < work->n_columns && !data; i++)
		retitle_column(x, work->columns[i].name, "");
	x->below = work;
	x->members = put_eager;
	x->user = eager;
}

/* Makes the passes, and the rows with those of the workers before. Returns the number of steps. */
static size_t fill(struct table *x, const struct worker_traces *all,
        const struct trace_table_request *request, const struct opts *o)
{
	bool data = out_is_data(o->output.kind);
	size_t steps = 0, devices = 0;
	enum trace_table which = request->which;
	const struct trace_table_row *row = &table_rows[which];
	struct worker_rows *v = ARENA_ARRAY(x->a, all->n, struct worker_rows);
	struct device_workers further = { ARENA_ARRAY(x->a, all->n, struct device_worker), 0 };
	struct table part = {
		.a = x->a, .key = "step_time", .title = "Time per step", .data_only = true
	};
	struct table *phase_work = ARENA_NEW(x->a, struct table);
	bool named = all->names->n > 1;
	uint64_t *eager = ARENA_NEW(x->a, uint64_t);

	x->key = row->key;
	x->schema = row->schema;
	x->version = row->version;
	set_columns(x, row->columns, row->titles, row->n_columns, named);
	if (request->by_phase)
		set_columns(x, COLUMNS(phase_kernels), named);
	set_columns(&part, COLUMNS(partition), named);
	*phase_work = (struct table){ .a = x->a };
	set_columns(phase_work, COLUMNS(phase_work), named);
	for (size_t i = 0; i < all->n; i++) {
		v[i].t = all->v[i].t;
		v[i].worker = named ? all->names->v[all->v[i].worker] : STR_NONE;
		if (row->links && !i && all->links)
			v[i].links = *all->links;
		else if (row->links && !all->recorded)
			trace_link(v[i].t, &v[i].links, x->a);
		steps += choose_steps(&v[i], row->by_step && opts_names_steps(o) ? o : NULL, x->a);
		if (which == TABLE_STEPS)
			trace_steps_find_work(&v[i].steps, &v[i].links);
		if (which == TABLE_DEVICES)
			add_devices(x, &part, &v[i], all->recorded, &further);
		else if (which == TABLE_STEPS)
			fill_steps(x, &part, &v[i], data, &devices);
		else if (which == TABLE_PHASES)
			fill_phases(x, phase_work, &v[i], eager);
	}
	if (which == TABLE_PHASES)
		end_phases(x, phase_work, 1 + named, eager, data);
	if (which == TABLE_KERNELS)
		fill_kernels(x, v, all->n, request->by_phase);
	if (which == TABLE_ROOFLINE)
		fill_rooflines(x, v, all->n, &request->roofline);
	if (which == TABLE_STEPS && all->n == 1 &&
	        (v[0].steps.by == STEPS_UNKNOWN || v[0].steps.by == STEPS_BY_GUESS))
		offer_steps(x, v[0].t, v[0].steps.by == STEPS_BY_GUESS);
	if (which == TABLE_STEPS)
		explain_steps(x, v, all->n, devices);
	if (which == TABLE_DEVICES || which == TABLE_STEPS)
		add_sections(x, &part, &further, all->recorded);
	if (which == TABLE_DEVICES && opts_names_steps(o))
		name_step(x, o);
	return steps;
}

bool trace_table_write(const struct worker_traces *all, const struct trace_table_request *request,
        const struct opts *o, struct emit *to, struct err *e)
{
	struct table x = { .a = to->a };
	size_t section = request->section > 0 ? (size_t)request->section : 0;

	if (!fill(&x, all, request, o))
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "the trace has none of the steps given with -step");
	if (request->which == TABLE_ROOFLINE && !x.rows)
		return err_set(
		        e, ERR_FAILED, "the trace has neither float operations nor bytes accessed");
	if (request->which == TABLE_PHASES && !x.rows)
		return err_set(e, ERR_FAILED,
		        "no steps of an LLM server found: annotations such as "
		        "'execute_8_context_0(...)_"
		        "generation_8(...)' of vLLM or 'step[DECODE bs=8]' of SGLang were "
		        "expected");
	if (section > x.n_sections + 1)
		return err_set(e, ERR_FAILED,
		        "--table: only recordings and traces with launches have additional tables");
	struct table first = x;
	if (section == 1 && !out_is_data(o->output.kind))
		first.n_sections = 0;
	const struct table *chosen = section > 1 ? &x.sections[section - 2] : &first;
	if (section && !chosen->rows)
		note_line(
		        to->notes, "note: the table %s has no rows for this input\n", chosen->key);
	if (!section && !x.rows)
		note_line(to->notes, "note: no device work is in the %s\n",
		        opts_names_steps(o) ? "chosen steps" : "file");
	x.rows_from = section > 1 ? chosen : &x; /* a document has all tables */
	return table_write(o->output.kind == OUT_JSON ? &x : chosen, request->top, &o->output,
	        request->columns, to, e);
}

/* ---- steps without a trace ---- */

static int by_step(const void *v, uint32_t a, uint32_t b)
{
	const struct step_summary *s = v;

	if (s[a].worker != s[b].worker)
		return (s[a].worker > s[b].worker) - (s[a].worker < s[b].worker);
	return (s[a].id > s[b].id) - (s[a].id < s[b].id);
}

/* Appends the cells of the table steps, except the name. */
static void put_model_step(
        struct table *to, const struct step_summary *s, size_t devices, bool host)
{
	int64_t busy = host ? s->host_busy : s->device_busy;

	table_number(to, s->id);
	table_null(to); /* start */
	table_number(to, s->ns);
	table_number(to, busy);
	table_count(to, devices);
	table_null(to); /* compute, exposed communication and copy */
	table_null(to);
	table_null(to);
	table_number(to, num_sub(num_mul(s->ns, num_from_u64(devices)), busy));
	table_null(to); /* communication, copy, their overlap with compute */
	table_null(to);
	table_null(to);
	table_count(to, s->slices);
	for (enum idle_cause i = 0; i < IDLE_CAUSES; i++)
		table_null(to);
}

/* Counts the accelerators or, if there are none, the hosts. */
static size_t count_devices(const struct facts *f, bool *host)
{
	size_t n = 0;

	for (size_t i = 0; i < f->devices.n; i++)
		n += !f->devices.v[i].host;
	*host = !n;
	return n ? n : f->devices.n;
}

bool model_steps_write(const struct facts *f, const struct strs *names,
        const struct trace_table_request *request, const struct opts *o, struct emit *to,
        struct err *e)
{
	const struct trace_table_row *row = &table_rows[TABLE_STEPS];
	struct table x = {
		.a = to->a, .key = row->key, .schema = row->schema, .version = row->version
	};
	struct table part = { .a = to->a, .key = "step_time", .data_only = true };
	bool named = names->n > 1, host;
	size_t devices = count_devices(f, &host);
	const uint32_t *order = sort_order(to->a, f->steps.n, by_step, f->steps.v);

	set_columns(&x, row->columns, row->titles, row->n_columns, named);
	set_columns(&part, COLUMNS(partition), named);
	for (size_t i = 0; i < f->steps.n; i++) {
		const struct step_summary *s = &f->steps.v[order[i]];
		if (!opts_has_step(o, s->id))
			continue;
		if (named)
			table_text(&x, names->v[s->worker]);
		put_model_step(&x, s, devices, host);
		table_text(&x, STR_NONE);
		x.rows++;
	}
	retitle_column(&x, S("busy_ns"), host ? "host busy" : "busy");
	if (devices < 2)
		retitle_column(&x, S("devices"), "");
	x.sections = &part;
	x.n_sections = 1;
	return table_write(&x, request->top, &o->output, request->columns, to, e);
}
