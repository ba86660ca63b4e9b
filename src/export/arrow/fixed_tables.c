/* SPDX-License-Identifier: Apache-2.0
 *
 * The registry of tables, the cells that all tables have, and the table of runs.
 */
#include "export/arrow/arrow.h"
#include "trace/pass/trace_steps.h"
#include "trace/trace.h"

/* ---- registry ---- */

#define KEY(name, doc) INTEGER(name, NULL, doc)
#define BOTH(name, unit, doc)                                                                      \
	INTEGER("self_" name, unit, doc " of the node itself"),                                    \
	        INTEGER("total_" name, unit,                                                       \
	                doc " of the node and all below it in the scope view")

#define BOTH_REAL(name, unit, doc)                                                                 \
	REAL("self_" name, unit, doc " of the node itself"),                                       \
	        REAL("total_" name, unit, doc " of the node and all below it in the scope view")

#define NAMED(name, doc)         TEXT_COLUMN(name)
#define INTEGER(name, unit, doc) NUMBER_COLUMN(name, unit)
#define REAL(name, unit, doc)    REAL_COLUMN(name, unit)
#define FIXED_TABLE(name, doc, open, ...)                                                          \
	static const struct column columns_of_##name[] = { __VA_ARGS__ };
#include "export/arrow/fixed_table.def"
#undef FIXED_TABLE
#undef NAMED
#undef INTEGER
#undef REAL

#define NAMED(name, doc)         doc
#define INTEGER(name, unit, doc) doc
#define REAL(name, unit, doc)    doc
#define FIXED_TABLE(name, doc, open, ...)                                                          \
	static const char *const docs_of_##name[] = { __VA_ARGS__ };
#include "export/arrow/fixed_table.def"
#undef FIXED_TABLE

const struct fixed_table tables[] = {
#define FIXED_TABLE(name, doc, open, ...)                                                          \
	{ #name, doc, columns_of_##name, docs_of_##name,                                           \
		sizeof columns_of_##name / sizeof *columns_of_##name, open },
#include "export/arrow/fixed_table.def"
#undef FIXED_TABLE
};
const size_t tables_n = sizeof tables / sizeof *tables;

const struct fixed_table *table_named(struct str name)
{
	for (size_t i = 0; i < tables_n; i++)
		if (str_eq(name, str_of(tables[i].name)))
			return &tables[i];
	return NULL;
}

void table_begin(struct table_reader *x)
{
	const struct model_trace *one = x->m->traces.n == 1 ? &x->m->traces.v[0] : NULL;

	x->t = one && one->kernels && x->m->workers.n <= 1 ? one->t : NULL;
	/* cppcheck-suppress assignBoolToPointer; it misreads the type */
	x->fill = x->table->open(x);
}

/* ---- cells ---- */

void table_put_run(const struct table_reader *x, struct arrow_build *to, uint32_t worker)
{
	arrow_text(to, x->run);
	arrow_text(to, worker < x->m->workers.n ? x->m->workers.v[worker] : x->worker);
}

/* Returns a stable hash of a name: 64-bit FNV-1a. */
static int64_t table_key(struct str name)
{
	uint64_t h = 0xcbf29ce484222325;

	for (size_t i = 0; i < name.n; i++)
		h = (h ^ (uint8_t)name.p[i]) * 0x100000001b3;
	int64_t key;
	memcpy(&key, &h, sizeof key);
	return key;
}

void table_put_named_key(struct arrow_build *to, struct str name)
{
	arrow_text(to, name);
	table_put(to, name.p != NULL, table_key(name));
}

/* ---- runs ---- */

void model_times_add(struct model_times *t, const struct step *s)
{
	int64_t base = num_mul(s->base_us, 1000);
	bool untimed = step_is_untimed(s); /* without start times, the executions are laid end to
	                                      end */

	for (uint32_t i = 0; i < s->n_spans; i++) {
		if (s->span_kind[i] == SPAN_SEEN)
			continue;
		int64_t start = num_add(base, step_ns(s, s->span_start[i]));
		if (untimed && t->any && start < t->end)
			start = t->end;
		int64_t end = num_add(start, step_ns(s, s->span_length[i]));
		if (!t->any || start < t->start)
			t->start = start;
		if (!t->any || end > t->end)
			t->end = end;
		t->any = true;
		t->n++;
	}
}

static void trace_times(const struct trace *t, struct model_times *to)
{
	to->n = t->n_slices;
	to->any = trace_span(t, &to->start, &to->end);
	to->start = trace_ns(t, to->start);
	to->end = trace_ns(t, to->end);
	if (t->epoch && to->any) {
		to->start = num_add(to->start, t->origin_ns);
		to->end = num_add(to->end, t->origin_ns);
	}
}

static const char *source_name(const struct table_reader *x)
{
	if (x->t)
		return trace_source_tables[x->t->source];
	return x->recording ? "recording" : "tensorflow";
}

/* Appends the cells from host to world. */
static void put_process(const struct table_reader *x, struct arrow_build *to)
{
	const struct trace_process *p = x->t && x->t->processes.n ? &x->t->processes.v[0] : NULL;
	int64_t pid = p ? p->pid : !x->t && x->m->files.n == 1 ? x->m->files.v[0].pid : 0;

	arrow_text(to, p ? trace_str(x->t, p->host) : STR_NONE);
	arrow_text(to, p ? trace_str(x->t, p->job) : STR_NONE);
	table_put(to, pid, pid);
	table_put(to, p && p->rank >= 0, p ? p->rank : 0);
	table_put(to, p && p->world >= 0, p ? p->world : 0);
}

/* Appends a text to a list, unless the list has it. */
static void list_text(struct strs *list, struct arena *a, struct str text)
{
	for (size_t i = 0; i < list->n; i++)
		if (str_eq(list->v[i], text))
			return;
	if (text.n)
		strs_add(a, list, text);
}

static void put_list(struct arrow_build *to, const struct strs *list, struct arena *a)
{
	struct sb b = sb_in(a);

	for (size_t i = 0; i < list->n; i++)
		sb_fmt(&b, "%s%.*s", i ? ", " : "", STR(list->v[i]));
	arrow_text(to, list->n ? sb_str(&b) : STR_NONE);
}

/* Appends the formats and the writers of the files; null if the files belong to several workers. */
static void put_formats(const struct model *m, struct arrow_build *to, struct arena *a)
{
	struct strs formats = { 0 }, writers = { 0 };

	for (size_t i = 0; m->workers.n <= 1 && i < m->files.n; i++) {
		list_text(&formats, a, m->files.v[i].format);
		list_text(&writers, a, m->files.v[i].producer);
	}
	put_list(to, &formats, a);
	put_list(to, &writers, a);
}

/* Returns the number of rows of a worker in the table of steps. Adds their times, unless there is a
 * trace. */
static int64_t run_steps(const struct table_reader *x, uint32_t worker, struct model_times *times)
{
	struct trace_steps found;
	int64_t steps = 0;

	if (x->t) {
		trace_find_steps(x->t, &found, x->a);
		return (int64_t)found.steps.n;
	}
	for (size_t i = 0; i < x->m->steps.n; i++) {
		if (x->m->steps.v[i]->worker != worker)
			continue;
		steps++;
		model_times_add(times, x->m->steps.v[i]);
	}
	return steps;
}

static bool fill_runs(struct table_reader *x, struct arrow_build *to, struct arena *scratch)
{
	const struct model *m = x->m;
	size_t workers = m->workers.n ? m->workers.n : 1;

	for (uint32_t w = (uint32_t)x->at[0]; w < workers && !arrow_full(to); w++) {
		struct model_times times = { 0 };
		int64_t steps = run_steps(x, w, &times);
		x->at[0] = w + 1;
		if (x->t)
			trace_times(x->t, &times);
		struct str worker = m->workers.n ? m->workers.v[w] : x->worker;
		table_put_run(x, to, w);
		table_put(to, x->run.p, table_key(x->run));
		table_put(to, worker.p, table_key(worker));
		arrow_text(to, str_of(source_name(x)));
		put_process(x, to);
		table_put(to, times.any, times.start);
		table_put(to, times.any, num_sub(times.end, times.start));
		table_put(to, x->t, x->t && x->t->epoch);
		arrow_i64(to, steps);
		arrow_i64(to, (int64_t)m->nodes.n);
		arrow_i64(to, (int64_t)(x->t ? x->t->devices.n : m->devices.n));
		arrow_i64(to, num_from_u64(times.n));
		put_formats(m, to, scratch);
	}
	return x->at[0] < workers;
}

table_fill *table_open_runs(struct table_reader *x)
{
	(void)x;
	return fill_runs;
}
