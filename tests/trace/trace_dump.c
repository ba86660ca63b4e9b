/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the results of the passes over a trace, as JSON. Times are in ticks, so tests can compare
 * them to the picosecond.
 *
 *   trace_dump [--recover | --slices | --sums | --by=NAME] FILE
 *
 *   --slices   prints all slices with their arguments, one per line
 *   --by       groups ops like the option -by of views
 *   --sums     makes the reader keep only sums of the slices
 */
#include <stdio.h>
#include <string.h>

#include "base/note.h"
#include "model/sniff.h"
#include "trace/pass/link.h"
#include "trace/pass/nest.h"
#include "trace/pass/trace_steps.h"
#include "trace/pass/usage.h"
#include "trace/pass/ops.h"
#include "trace/trace_build.h"

static struct account account;
static struct work work = { .account = &account };

static void put_text(struct str s)
{
	putchar('"');
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c < 0x20 || c == '"' || c == '\\' || c >= 0x7f)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void put_field(const char *name, long long v)
{
	printf(",\"%s\":%lld", name, v);
}

/* An op with the sums of its cells. */
static void put_op(const struct trace_ops *o, uint32_t op)
{
	struct op_cell sum = { .op = op };
	uint64_t runs = 0; /* the number that answers print */

	for (size_t i = 0; i < o->cells.n; i++) {
		const struct op_cell *c = &o->cells.v[i];
		if (c->op != op)
			continue;
		sum.host_runs += c->host_runs;
		runs += c->host_runs ? c->host_runs : c->device_runs;
		sum.kernels += c->kernels;
		sum.host_self = num_add(sum.host_self, c->host_self);
		sum.host_total = num_add(sum.host_total, c->host_total);
		sum.device_self = num_add(sum.device_self, c->device_self);
		sum.device_total = num_add(sum.device_total, c->device_total);
	}
	printf("{\"name\":");
	put_text(intern_str(&o->strings, o->ops.v[op].name));
	printf(",\"type\":");
	put_text(intern_str(&o->strings, o->ops.v[op].type));
	put_field("host_runs", (long long)sum.host_runs);
	put_field("runs", (long long)runs);
	put_field("kernels", (long long)sum.kernels);
	put_field("host_self", sum.host_self);
	put_field("host_total", sum.host_total);
	put_field("device_self", sum.device_self);
	put_field("device_total", sum.device_total);
	put_field("flops", o->ops.v[op].flops);
	put_field("bytes_accessed", o->ops.v[op].bytes_accessed);
	printf("}");
}

static void put_track(const struct trace *t, uint32_t track, struct arena *a)
{
	const struct trace_track *k = &t->tracks.v[track];
	struct slice_iter i = trace_slices(t, track);
	int64_t sum = 0, busy = 0, until = INT64_MIN;

	for (struct slice s; slice_next(&i, &s);) {
		sum = num_add(sum, s.length);
		if (!slice_is_work(t, &s) || slice_end(&s) <= until)
			continue;
		busy = num_add(busy, slice_end(&s) - (s.start > until ? s.start : until));
		until = slice_end(&s);
	}
	printf("{\"device\":");
	put_text(k->device == ID_NONE ? S("") : trace_device_label(t, k->device, a));
	printf(",\"name\":");
	put_text(trace_str(t, k->name));
	put_field("id", k->id);
	put_field("derived", k->derived);
	put_field("kind", k->kind);
	put_field("events", k->n);
	put_field("sum", sum);
	put_field("busy", busy);
	put_field("first", k->start);
	put_field("last", k->end);
	printf("}");
}

static void put_usage(const struct trace *t, const struct device_usage *u, struct arena *a)
{
	printf("{\"device\":");
	put_text(trace_device_label(t, u->device, a));
	put_field("slices", (long long)u->slices);
	put_field("start", u->start);
	put_field("end", u->end);
	put_field("busy", u->times.busy);
	put_field("compute", u->times.by_class[USAGE_COMPUTE]);
	put_field("communication", u->times.by_class[USAGE_COMMUNICATION]);
	put_field("copy", u->times.by_class[USAGE_COPY]);
	put_field("overlap", usage_overlap(&u->times));
	put_field("sum", u->sum);
	put_field("copy_bytes", u->copy_bytes);
	for (enum idle_cause i = 0; i < IDLE_CAUSES; i++)
		put_field(idle_names[i], u->times.idle[i]);
	printf("}");
}

static void put_args(const struct trace *t, struct str args)
{
	for (struct argument x; argument_next(&args, &x);) {
		printf(",");
		put_text(x.key < ARG_N ? str_of(argument_names[x.key])
		                       : trace_str(t, x.key - ARG_N));
		printf(":");
		if (x.type == ARG_TEXT)
			put_text(trace_str(t, x.text));
		else if (x.type == ARG_REAL)
			printf("%.17g", x.real);
		else
			printf("%lld", (long long)x.i);
	}
}

static void dump_slices(const struct trace *t, struct arena *a)
{
	for (uint32_t k = 0; k < t->tracks.n; k++) {
		const struct trace_track *track = &t->tracks.v[k];
		struct slice_iter i = trace_slices(t, k);
		for (struct slice s; slice_next(&i, &s);) {
			printf("{\"name\":");
			put_text(trace_str(t, s.name));
			printf(",\"category\":\"%s\",\"device\":",
			        trace_category_names[s.category]);
			put_text(track->device == ID_NONE
			                 ? S("")
			                 : trace_device_label(t, track->device, a));
			put_field("track", k);
			put_field("id", track->id);
			put_field("form", s.form);
			put_field("start", s.start);
			put_field("length", s.length);
			put_field("correlation", s.correlation);
			printf(",\"args\":{\"\":0");
			put_args(t, t->events.v[s.event].args);
			put_args(t, s.args);
			printf("}}\n");
		}
	}
}

/* Slices of threads that end after the one in which they begin. */
static unsigned long long overlaps(const struct trace *t, struct arena *a)
{
	unsigned long long found = 0;
	struct nest_level *level;
	struct nest n;

	for (uint32_t i = 0; i < t->tracks.n; i++) {
		if (track_is_device(&t->tracks.v[i]))
			continue;
		nest_init(&n, t, i, nest_bits(CATEGORY_HOST_NEST), a);
		while (nest_next(&n, &level))
			;
		found += n.overlaps;
	}
	return found;
}

/* Returns the grouping with this name. */
static enum trace_by by_name(const char *name)
{
	static const char *const names[TRACE_BY_N] = { "none", "module", "op", "annotation",
		"source", "kernel", "hlo_category", "function", "phase", "module-class", "provider",
		"stack", "calls" };
	enum trace_by by = TRACE_BY_N;

	while (by > 0 && strcmp(names[by - 1], name) != 0)
		by--;
	return by ? by - 1 : TRACE_BY_PATH;
}

static void put_kernel(const struct trace *t, const struct trace_ops *o, const struct kernel_row *k)
{
	printf("{\"name\":");
	put_text(trace_str(t, k->name));
	put_field("count", (long long)k->count);
	put_field("total", k->total);
	put_field("min", k->min);
	put_field("max", k->max);
	printf(",\"op\":");
	put_text(intern_str(&o->strings, o->ops.v[k->op].name));
	printf("}");
}

/* Prints the steps with their activity and the times of all ops in them. */
static void put_steps(const struct trace *t, const struct trace_steps *steps,
        const struct trace_ops *o, struct arena *a)
{
	struct step_usage *use = ARENA_ARRAY(a, steps->steps.n, struct step_usage);
	struct trace_usage devices;

	trace_usage(t, &(struct usage_request){ .steps = steps, .by_step = use }, &devices, a);
	for (size_t i = 0; i < steps->steps.n; i++) {
		const struct trace_step *s = &steps->steps.v[i];
		int64_t host = 0, device = 0;
		for (size_t k = 0; k < o->cells.n; k++) {
			host += o->cells.v[k].step == i ? o->cells.v[k].host_self : 0;
			device += o->cells.v[k].step == i ? o->cells.v[k].device_self : 0;
		}
		printf("%s{\"id\":%lld", i ? ",\n" : "\n", (long long)s->id);
		put_field("start", s->start);
		put_field("end", s->end);
		put_field("busy", use[i].times.busy);
		put_field("work", (long long)use[i].slices);
		put_field("overlap", usage_overlap(&use[i].times));
		put_field("host_self", host);
		put_field("device_self", device);
		put_field("works", s->works);
		printf("}");
	}
	printf("],\"mean_step\":[");
	for (size_t i = 0; i < devices.devices.n; i++) {
		const struct usage_times *u = &devices.devices.v[i].in_steps;
		printf("%s{\"device\":%u", i ? "," : "", devices.devices.v[i].device);
		put_field("steps", (long long)trace_steps_counted(steps));
		put_field("busy", u->busy);
		put_field("kernels", u->kernels);
		printf("}");
	}
}

static void dump(const struct trace *t, enum trace_by by, struct arena *a)
{
	struct trace_links links;
	struct trace_steps steps;
	struct trace_usage usage;
	struct trace_ops ops;

	trace_link(t, &links, a);
	trace_find_steps(t, &steps, a);
	trace_steps_find_work(&steps, &links);
	trace_find_ops(t, &links, &steps, by, &ops, a);
	trace_usage(t, &(struct usage_request){ .links = &links }, &usage, a);
	printf("{\"ticks_per_us\":%lld,\"slices\":%u,\"clamped\":%llu,\"overlaps\":%llu,"
	       "\"steps_by\":\"%s\",\"ops\":[",
	        (long long)t->ticks_per_us, t->n_slices, (unsigned long long)t->clamped,
	        overlaps(t, a), steps_by_names[steps.by]);
	for (uint32_t i = 0; i < ops.ops.n; i++) {
		printf(i ? ",\n" : "\n");
		put_op(&ops, i);
	}
	printf("],\"steps\":[");
	put_steps(t, &steps, &ops, a);
	printf("],\"kernels\":[");
	for (size_t i = 0; i < ops.kernels.n; i++) {
		printf(i ? ",\n" : "\n");
		put_kernel(t, &ops, &ops.kernels.v[i]);
	}
	printf("],\"tracks\":[");
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		printf(i ? ",\n" : "\n");
		put_track(t, i, a);
	}
	printf("],\"devices\":[");
	for (size_t i = 0; i < usage.devices.n; i++) {
		printf(i ? ",\n" : "\n");
		put_usage(t, &usage.devices.v[i], a);
	}
	printf("]}\n");
}

/* Reads a trace, whose format is found by its content. */
static bool read_trace(struct src *s, struct trace_build *b, struct arena *a, struct err *e)
{
	bool recover = s->damage->recover;

	s->damage->recover = true; /* as far as the format is looked for */
	src_need(s, SNIFF_BYTES);
	s->damage->recover = recover;
	src_keep(s);
	static const struct {
		int (*sniff)(struct str head, struct str path);
		bool (*read)(struct src *s, struct trace_build *b, struct arena *a, struct err *e);
	} formats[] = {
		{ sniff_xspace, read_xspace },
		{ sniff_onnxruntime, read_onnxruntime },
		{ sniff_trace_viewer, read_trace_viewer },
		{ sniff_nsys, read_nsys },
		{ sniff_perfetto, read_perfetto },
		{ sniff_rocprof, read_rocprof },
	};
	struct str head = str_make(s->p, (size_t)(s->end - s->p));
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (formats[i].sniff(head, s->name) >= 60)
			return formats[i].read(s, b, a, e);
	return read_chrome_json(s, b, a, e);
}

int main(int argc, char **argv)
{
	struct arena a, scratch;
	struct err e = { .a = &a };
	struct notes notes;
	struct src *s;

	if (setjmp(work.escape)) {
		fprintf(stderr, "out of memory\n");
		return 2;
	}
	arena_init(&a, &work);
	arena_init(&scratch, &work);
	notes_init(&notes, &a);
	struct trace *t = trace_new(&a);
	struct trace_build *b = build_open(t, ARG_BITS_ALL, &notes, &scratch);
	bool recover = argc > 2 && strcmp(argv[1], "--recover") == 0;
	const char *by = argc > 2 && strncmp(argv[1], "--by=", 5) == 0 ? argv[1] + 5 : "none";
	bool slices = argc > 2 && strcmp(argv[1], "--slices") == 0;
	if (argc < 2 || !src_open(&s, &scratch, str_of(argv[argc - 1]), &e)) {
		fprintf(stderr, "%.*s\n", STR(e.text));
		return 2;
	}
	s->e = &e;
	s->damage->recover = recover;
	const struct src_options summed = { .slices = SLICES_SUMMED };
	if (argc > 2 && strcmp(argv[1], "--sums") == 0)
		s->options = &summed;
	bool ok = read_trace(s, b, &scratch, &e);
	struct str text = notes_text(&a, &notes);
	fprintf(stderr, "%.*s%.*s%s", STR(text), STR(e.text), e.code ? "\n" : "");
	if (ok) {
		build_seal(b);
		if (slices)
			dump_slices(t, &a);
		else
			dump(t, by_name(by), &a);
	}
	src_close(s);
	arena_free(&scratch);
	arena_free(&a);
	account_close(&account);
	return ok ? 0 : 3;
}
