/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of the command "summary".
 */
#include "export/summary_out.h"

#include "base/fmt.h"
#include "export/table/coverage_out.h"
#include "model/input.h"

#define STEPS_SHOWN   8
#define DEVICES_SHOWN 3
#define LABEL         10 /* columns of the label before the text of a line */

/* ---- lines ---- */

/* A line under construction: a label and a text. */
struct page_text {
	const struct summary_page *p;
	struct sink *to;
	struct arena *a;
	struct sb line;
	bool md;
};

static void begin(struct page_text *t)
{
	t->line.n = 0;
}

/* Returns the name of a device without the job, if all devices have the same job. */
static struct str device_label(const struct page_text *t, struct str name)
{
	const struct facts *f = &t->p->facts;
	size_t same = str_starts(name, S("/job:")) ? str_rfind_char(name, '/') + 1 : 0;

	for (size_t i = 0; i < f->devices.n && i < DEVICES_SHOWN && same; i++)
		if (!str_starts(f->devices.v[i].name, str_sub(name, 0, same)))
			same = 0;
	return str_sub(name, same, SIZE_MAX);
}

/* Appends the name of a device; the worker comes first if there are several. */
static void put_device_name(struct page_text *t, const struct device_summary *d)
{
	const struct strs *workers = &t->p->m->workers;

	if (workers->n > 1 && d->worker < workers->n) {
		sb_put_name(&t->line, workers->v[d->worker]);
		sb_char(&t->line, ' ');
	}
	sb_put_name(&t->line, table_shorten(t->a, device_label(t, d->name), 32));
}

/* Writes the line. If `wrap` is set, wraps it at its blanks. */
static void put_line(struct page_text *t, const char *label, bool wrap)
{
	struct str s = sb_str(&t->line);

	if (t->md) {
		sink_put(t->to, S("- "));
		if (*label)
			sink_fmt(t->to, "**%s**: ", label);
		sink_put(t->to, s);
		sink_char(t->to, '\n');
		return;
	}
	sink_fmt(t->to, "%-*s", LABEL, label);
	if (wrap)
		sink_wrap(t->to, s, t->p->columns, LABEL);
	else
		sink_fmt(t->to, "%.*s\n", STR(s));
}

/* Writes the line, wrapped for a terminal. */
static void end(struct page_text *t, const char *label)
{
	put_line(t, label, t->p->columns > 0);
}

/* Writes a sentence, which is wrapped in files, too. */
static void end_sentence(struct page_text *t, const char *label)
{
	put_line(t, label, true);
}

/* Appends a part of a list. On a terminal the part stays whole: if it does not fit, it begins the
 * next line. */
static void put_whole_part(
        struct page_text *t, const char **label, struct str separator, struct str part)
{
	const unsigned columns = t->md ? 0 : t->p->columns;

	if (columns && t->line.n && LABEL + t->line.n + separator.n + part.n + 1 > columns) {
		sb_put(&t->line, str_sub(separator, 0, separator.n - 1));
		end(t, *label);
		*label = "";
		begin(t);
	}
	sb_put(&t->line, t->line.n ? separator : S(""));
	sb_put(&t->line, part);
}

static void put_time(struct page_text *t, const char *before, int64_t ns, const char *after)
{
	sb_put(&t->line, str_of(before));
	table_put_time(&t->line, ns);
	sb_put(&t->line, str_of(after));
}

static void put_count(struct page_text *t, const char *before, int64_t n, const char *after)
{
	sb_put(&t->line, str_of(before));
	fmt_si(&t->line, (double)n);
	sb_put(&t->line, str_of(after));
}

/* ---- parts ---- */

struct str summary_format(const struct summary_page *p, const struct source *s, struct arena *a)
{
	struct sb b = sb_in(a);

	for (size_t i = 0; i < p->m->files.n; i++) {
		const struct model_file *f = &p->m->files.v[i];
		if (!str_eq(f->path, s->path) || str_eq(f->format, S("profile")))
			continue;
		sb_put_name(&b, f->format);
		sb_put(&b, f->producer.n ? S(" by ") : S(""));
		sb_put_name(&b, f->producer);
		return sb_str(&b);
	}
	return str_of(s->is->name);
}

/* Returns the path. For a terminal, leaves out its middle if the line has no room for it. */
static struct str path_in_line(const struct page_text *t, struct str path)
{
	unsigned columns = t->md ? 0 : t->p->columns;

	return columns > LABEL + 20 ? table_shorten(t->a, path, columns - LABEL) : path;
}

/* Writes the files by format: the first file of each format, and the number of further ones. */
static void put_loaded(struct page_text *t)
{
	const struct origin *from = t->p->from;
	struct str *label = ARENA_ARRAY(t->a, from->n, struct str);
	size_t *more = ARENA_ARRAY(t->a, from->n, size_t);
	struct intern labels;
	size_t shown = 0;

	begin(t);
	intern_init(&labels, t->a);
	for (size_t i = 0; i < from->n; i++) {
		struct str s = summary_format(t->p, &from->v[i], t->a);
		uint32_t id = intern_add(&labels, s);
		if (id == shown)
			label[shown++] = str_fmt(
			        t->a, "%.*s (%.*s", STR(path_in_line(t, from->v[i].path)), STR(s));
		else
			more[id]++;
	}
	for (size_t i = 0; i < shown; i++) {
		sb_put(&t->line, i ? S(", ") : S(""));
		sb_put_name(&t->line, label[i]);
		if (more[i])
			sb_fmt(&t->line, ", and %zu more", more[i]);
		sb_char(&t->line, ')');
	}
	if (t->p->waiting)
		sb_fmt(&t->line, ", %zu %s to be read when needed", t->p->waiting,
		        t->p->waiting == 1 ? "file" : "files");
	end(t, "loaded");
}

/* Writes the numbers of the data that no answer shows. */
static void put_unused(struct page_text *t)
{
	const struct model *m = t->p->m;

	if (!m->unused.n)
		return;
	begin(t);
	for (size_t i = 0; i < m->unused.n; i++) {
		const struct model_unused *u = &m->unused.v[i];
		bool first = !i || !str_eq(u->format, u[-1].format);
		sb_put(&t->line, !i ? S("") : first ? S("; ") : S(", "));
		if (first) {
			sb_put_name(&t->line, u->format);
			sb_put(&t->line, S(": "));
		}
		if (u->n == 1) {
			sb_put_name(&t->line, str_counted(t->a, 1, u->kind));
			continue;
		}
		fmt_si(&t->line, (double)u->n);
		sb_char(&t->line, ' ');
		sb_put_name(&t->line, u->kind);
	}
	end(t, "not used");
}

/* True if a step time omits steps without device work, which the means over operations include. */
static bool omits_steps(const struct facts *f)
{
	for (size_t i = 0; i < f->times.n; i++)
		if (f->times.v[i].time.left_out > 0)
			return true;
	return false;
}

static void put_nodes(struct page_text *t)
{
	const struct facts *f = &t->p->facts;

	if (!f->nodes)
		return;
	begin(t);
	sb_fmt(&t->line, "%zu of %zu %s", f->nodes, f->types, f->types == 1 ? "type" : "types");
	if (f->params)
		put_count(t, "; ", f->params, " parameters");
	if (t->p->float_ops.v) {
		sb_put(&t->line, t->p->bounded ? S("; ~") : t->p->uncounted ? S("; ≥") : S("; "));
		fmt_fraction_si(&t->line, QUANTITY_COUNT, t->p->float_ops);
		sb_put(&t->line, S(" float operations"));
		if (f->marks && t->p->m->step_ids.n)
			sb_put(&t->line, S(" per step"));
		if (t->p->m->averaged > 1 && omits_steps(f))
			sb_fmt(&t->line, ", mean of all %zu steps", t->p->m->averaged);
	}
	end(t, "nodes");
}

/* Appends "rank 1, " if there are several workers. */
static void put_worker(struct page_text *t, const struct step_summary *s)
{
	const struct strs *workers = &t->p->m->workers;

	if (workers->n > 1 && s->worker < workers->n) {
		sb_put(&t->line, S(" of "));
		sb_put_name(&t->line, workers->v[s->worker]);
	}
}

static void put_coverage(struct page_text *t)
{
	if (!t->p->coverage.all_ns)
		return;
	begin(t);
	coverage_put_known(&t->line, &t->p->coverage);
	end_sentence(t, "float ops");
}

static void put_steps(struct page_text *t)
{
	const struct facts *f = &t->p->facts;
	const struct model *m = t->p->m;
	size_t n = m->step_ids.n;

	if (!n || model_is_sampled(m))
		return;
	begin(t);
	if (!f->marks) {
		sb_put(&t->line, S("unknown: the file has no step marks"));
	} else {
		sb_fmt(&t->line, "%zu", n);
		for (size_t i = 0; i < n && i < STEPS_SHOWN; i++)
			sb_fmt(&t->line, "%s%lld", i ? ", " : ": ", (long long)m->step_ids.v[i]);
		sb_put(&t->line, n > STEPS_SHOWN ? S(", ...") : S(""));
	}
	if (m->workers.n > 1)
		sb_fmt(&t->line, " of %zu workers", m->workers.n);
	if (f->steps.n && n > 1) {
		sb_fmt(&t->line, "; slowest: %lld", (long long)f->steps.v[0].id);
		put_worker(t, &f->steps.v[0]);
		put_time(t, " with ", f->steps.v[0].ns, "");
		if (!f->times.n)
			put_time(t, ", median ", f->median, "");
	} else if (f->steps.n) {
		put_time(t, ", ", f->steps.v[0].ns, "");
	}
	end(t, "steps");
}

/* Appends the cause of most of the idle time, unless no launch is known. */
static void put_cause(struct page_text *t, const struct device_summary *d)
{
	int64_t idle = num_sub(d->window, d->busy);
	enum idle_cause most = 0;

	for (enum idle_cause i = 0; d->causes && i < IDLE_CAUSES; i++)
		most = d->idle[i] > d->idle[most] ? i : most;
	if (d->causes && d->idle[most] > 0 && d->idle[IDLE_UNKNOWN_LAUNCH] < idle)
		sb_fmt(&t->line, " (%.1f%% %s)", 100.0 * (double)d->idle[most] / (double)idle,
		        idle_texts[most]);
}

/* Appends a part: "compute 97.4ms (55.9%)". */
static void put_part(struct page_text *t, const char *name, int64_t part, int64_t whole)
{
	put_time(t, name, part, "");
	if (whole > 0)
		sb_fmt(&t->line, " (%.1f%%)", 100.0 * (double)part / (double)whole);
}

/* Writes how an average step divides on each device. */
static void put_partition(struct page_text *t)
{
	const struct facts *f = &t->p->facts;
	size_t shown = 0;

	for (size_t i = 0; i < f->devices.n && shown < DEVICES_SHOWN; i++) {
		const struct device_summary *d = &f->devices.v[i];
		int64_t all = d->step.window;
		if (d->host || !d->causes)
			continue;
		shown++;
		begin(t);
		put_device_name(t, d);
		put_part(t, ": compute ", d->step.compute, all);
		if (d->step.communication)
			put_part(t, ", exposed communication ", d->step.communication, all);
		if (d->step.copy)
			put_part(t, ", exposed copy ", d->step.copy, all);
		put_part(t, ", idle ", d->step.idle, all);
		end(t, "");
	}
}

/* Appends the number of steps, and the number of omitted steps with the reason. */
static void put_counted(struct page_text *t, const struct step_wall *x)
{
	size_t all = x->steps + x->left_out;
	const char *guessed = x->guessed ? "guessed " : "";

	if (!x->left_out)
		sb_fmt(&t->line, " (%zu %ssteps)", x->steps, guessed);
	else
		sb_fmt(&t->line, " (%zu of %zu %ssteps; the other%s no device work)", x->steps, all,
		        guessed, x->left_out == 1 ? " has" : "s have");
}

/* True if the mean step of the verdict differs from the mean by marks. */
static bool has_work_step(const struct page_text *t, const struct step_wall *x)
{
	struct sb marks = sb_in(t->a), work = sb_in(t->a);

	table_put_time(&marks, x->mean);
	table_put_time(&work, t->p->verdict.step_ns);
	return t->p->verdict.step_ns && x->marked && t->p->facts.times.n == 1 &&
	       !str_eq(sb_str(&marks), sb_str(&work));
}

/* Appends what is known of the steps by marks, then the mean step of the verdict. */
static void put_steps_of(struct page_text *t, const struct step_wall *x)
{
	bool work = has_work_step(t, x);

	if (work)
		sb_put(&t->line, S(" by marks"));
	if (x->marked && x->steps > 1) {
		put_time(t, work ? ", median " : "; median ", x->median, "");
		put_time(t, ", from ", x->shortest, "");
		put_time(t, " to ", x->longest, "");
	}
	if (x->marked && x->steps + x->left_out > 1)
		put_counted(t, x);
	if (work)
		put_time(t, "; ", t->p->verdict.step_ns, " by the device's work");
}

/* Writes the headline of traces: the wall time, never a sum over operations. */
static void put_step_time(struct page_text *t)
{
	const struct facts *f = &t->p->facts;

	for (size_t i = 0; i < f->times.n && i < DEVICES_SHOWN; i++) {
		const struct step_wall *x = &f->times.v[i].time;
		const struct strs *workers = &t->p->m->workers;
		begin(t);
		if (f->times.n > 1 && f->times.v[i].worker < workers->n) {
			sb_put_name(&t->line, workers->v[f->times.v[i].worker]);
			sb_put(&t->line, S(": "));
		}
		put_time(t, "", x->mean, x->marked ? " per step" : ", the whole trace");
		put_steps_of(t, x);
		if (i + 1 == DEVICES_SHOWN && f->times.n > DEVICES_SHOWN)
			sb_fmt(&t->line, "; and %zu more workers", f->times.n - DEVICES_SHOWN);
		end(t, i ? "" : "step time");
	}
	put_partition(t);
}

static void put_devices(struct page_text *t)
{
	const struct facts *f = &t->p->facts;

	for (size_t i = 0; i < f->devices.n && i < DEVICES_SHOWN; i++) {
		const struct device_summary *d = &f->devices.v[i];
		begin(t);
		put_device_name(t, d);
		put_time(t, " busy ", d->busy, "");
		if (d->window > 0)
			sb_fmt(&t->line, " (%.1f%%", 100.0 * (double)d->busy / (double)d->window);
		/* the lines of the step time above have shares of an average step */
		if (d->window > 0 && f->times.n && f->marks)
			put_time(t, " of ", d->window, "");
		if (d->window > 0)
			sb_char(&t->line, ')');
		put_time(t, ", idle ", num_sub(d->window, d->busy), "");
		put_cause(t, d);
		if (i + 1 == DEVICES_SHOWN && f->devices.n > DEVICES_SHOWN)
			sb_fmt(&t->line, "; and %zu more", f->devices.n - DEVICES_SHOWN);
		end(t, i ? "" : "devices");
	}
}

static void put_times(struct page_text *t)
{
	const struct summary_page *p = t->p;

	if (!p->host_us.v && !p->device_us.v)
		return;
	begin(t);
	put_time(t, "device ops ", fraction_in(p->device_us, 1000), "");
	put_time(t, ", host ops ", fraction_in(p->host_us, 1000), "");
	sb_put(&t->line, S(", sums over operations"));
	if (p->m->averaged > 1 && omits_steps(&p->facts))
		sb_fmt(&t->line, ", mean of all %zu steps, also those without device work",
		        p->m->averaged);
	else if (p->m->averaged > 1)
		sb_put(&t->line, S(", mean of the steps"));
	if (p->m->averaged > 1 && p->m->workers.n > 1)
		sb_fmt(&t->line, " of %zu workers", p->m->workers.n);
	end(t, "time");
}

/* Writes the largest peak of the pools of snapshots. */
static void put_pool(struct page_text *t, const struct memory_pool *p)
{
	begin(t);
	sb_put(&t->line, S("peak "));
	fmt_si_bytes(&t->line, (double)memory_pool_peak(p));
	if (p->use.n && p->peak <= p->use.v[p->most].bytes)
		put_time(t, " at ", num_sub(p->use.v[p->most].ns, p->use.v[0].ns), "");
	if (p->reserved > 0) {
		sb_put(&t->line, S(", reserved "));
		fmt_si_bytes(&t->line, (double)p->reserved);
	}
	sb_put(&t->line, p->device.n ? S(", on ") : S(""));
	sb_put_name(&t->line, table_shorten(t->a, p->device, 32));
	end(t, "memory");
}

static void put_memory(struct page_text *t)
{
	const struct summary_page *p = t->p;

	if (p->pool)
		put_pool(t, p->pool);
	if (!p->facts.peak_bytes && !p->requested_bytes.v)
		return;
	begin(t);
	if (p->facts.peak_bytes) {
		sb_put(&t->line, S("peak "));
		fmt_si_bytes(&t->line, (double)p->facts.peak_bytes);
		sb_put(&t->line, S(" in use"));
		if (p->facts.peak_device != ID_NONE) {
			sb_put(&t->line, S(" on "));
			sb_put_name(&t->line,
			        table_shorten(t->a, device_name(p->m, p->facts.peak_device), 32));
		}
		sb_put(&t->line, p->requested_bytes.v ? S("; ") : S(""));
	}
	if (p->requested_bytes.v) {
		fmt_fraction_si(&t->line, QUANTITY_BYTES, p->requested_bytes);
		sb_put(&t->line, S(" requested by all nodes"));
	}
	end(t, "memory");
}

static void put_checkpoint(struct page_text *t)
{
	const struct checkpoint_summary *c = &t->p->checkpoint;

	if (!c->found)
		return;
	begin(t);
	sb_fmt(&t->line, "%zu tensors", c->tensors);
	put_count(t, "; ", c->elements, " values, ");
	fmt_si_bytes(&t->line, (double)c->bytes);
	end(t, "variables");
}

static void put_table(struct page_text *t, const struct hottest_table *x, const char *title)
{
	struct sheet sheet;

	if (!x->x.rows)
		return;
	if (!t->md) {
		table_put_text(&x->x, t->p->rows, t->p->columns, t->to);
		return;
	}
	sink_fmt(t->to, "\n## Hottest %s\n\n", title);
	sheet_open(&sheet, SHEET_MD, t->to, t->a, x->x.columns, x->x.n_columns);
	table_put_rows(&x->x, t->p->rows, &sheet);
	sheet_close(&sheet);
}

/* Writes the parts that are not loaded. */
static void put_missing(struct page_text *t)
{
	const struct summary_page *p = t->p;
	const char *label = "missing";

	begin(t);
	for (size_t i = 0; i < p->n_missing; i++) {
		const struct missing *x = &p->missing[i];
		bool last = i + 1 == p->n_missing || strcmp(x->how, p->missing[i + 1].how) != 0;
		struct str part = str_fmt(t->a, last ? "%s (%s)" : "%s", x->what, x->how);
		put_whole_part(t, &label, S(", "), part);
	}
	if (p->n_missing)
		end(t, label);
}

/* Writes the suggested commands, without cutting or wrapping them: at the prompt in sequence, in a
 * shell each on its own line. */
static void put_commands(struct page_text *t)
{
	const struct summary_page *p = t->p;
	const char *label = "next";

	begin(t);
	for (size_t i = 0; i < p->next.n; i++) {
		put_whole_part(t, &label, S("; "), p->next.v[i]);
		if (p->prompt && i + 1 < p->next.n)
			continue;
		put_line(t, label, false);
		label = "";
		begin(t);
	}
}

static void put_ends(struct page_text *t)
{
	sink_char(t->to, '\n');
	put_missing(t);
	put_commands(t);
}

static void put_verdict(struct page_text *t)
{
	struct str verdict = t->p->verdict.sentence;

	if (t->p->verdict.left_out)
		verdict = S("not in this summary, because it takes long for an input of this size: "
		            "why prints it");
	if (!verdict.p)
		return;
	begin(t);
	sb_put(&t->line, verdict);
	end_sentence(t, "verdict");
}

static void put_page(struct page_text *t)
{
	t->line = sb_in(t->a);
	put_verdict(t);
	put_loaded(t);
	put_step_time(t);
	put_unused(t);
	put_nodes(t);
	put_coverage(t);
	put_steps(t);
	put_devices(t);
	put_times(t);
	put_memory(t);
	put_checkpoint(t);
	if (!t->md && (t->p->ops.x.rows || t->p->nodes.x.rows))
		sink_char(t->to, '\n');
	put_table(t, &t->p->ops, "operation types");
	put_table(t, &t->p->nodes, "nodes");
	put_ends(t);
}

void summary_page_text(const struct summary_page *p, struct arena *a, struct sink *to)
{
	struct page_text t = { .p = p, .to = to, .a = a };

	put_page(&t);
}

/* ---- forms ---- */

static bool as_text(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	(void)e;
	summary_page_text(x->of, to->a, s);
	return true;
}

/* Writes the page as Markdown, the only row format that output.def accepts for a summary, or the
 * rows of its document as cells. */
static bool as_rows(const struct exported *x, enum sheet_form form, struct sink *s, struct emit *to,
        struct err *e)
{
	struct page_text t = { .p = x->of, .to = s, .a = to->a, .md = true };

	(void)e;
	if (form == SHEET_CELLS)
		table_put_sheet(&t.p->nodes.x, t.p->rows, form, s);
	else
		put_page(&t);
	return true;
}

bool summary_page_write(
        const struct summary_page *p, const struct output *o, struct emit *to, struct err *e)
{
	struct exported x = { .kind = RESULT_SUMMARY,
		.name = "summary",
		.of = p,
		.output = o,
		.text = as_text,
		.document = summary_document,
		.rows = as_rows };

	return out_export(&x, to, e);
}
