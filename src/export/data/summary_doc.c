/* SPDX-License-Identifier: Apache-2.0
 *
 * The summary of the inputs as a document.
 */
#include "export/summary_out.h"

#include "export/table/coverage_out.h"

#define VERSION 2

static void put_step_member(struct document *d, const struct summary_page *p)
{
	const struct facts *f = &p->facts;

	document_key(d, "steps");
	json_object(&d->j);
	document_key(d, "loaded");
	json_array(&d->j);
	for (size_t i = 0; i < p->m->step_ids.n; i++)
		json_i64(&d->j, p->m->step_ids.v[i]);
	json_array_end(&d->j);
	document_key(d, "marked");
	json_literal(&d->j, f->marks ? S("true") : S("false"));
	if (f->steps.n) {
		document_i64(d, "slowest", f->steps.v[0].id);
		document_i64(d, "slowest_ns", f->steps.v[0].ns);
		document_i64(d, "median_ns", f->median);
	}
	json_object_end(&d->j);
}

/* Writes the partition of an average step. */
static void put_partition(struct document *d, const struct usage_partition *x)
{
	document_key(d, "step");
	json_object(&d->j);
	document_i64(d, "step_ns", x->window);
	document_i64(d, "compute_ns", x->compute);
	document_i64(d, "exposed_communication_ns", x->communication);
	document_i64(d, "exposed_copy_ns", x->copy);
	document_i64(d, "idle_ns", x->idle);
	json_object_end(&d->j);
}

/* Writes the name of a worker, unless it is unknown. */
static void put_worker_name(struct document *d, const struct strs *workers, uint32_t worker)
{
	if (worker < workers->n)
		document_text(d, "worker", workers->v[worker]);
}

static void put_device_member(struct document *d, const struct summary_page *p)
{
	const struct facts *f = &p->facts;

	document_key(d, "devices");
	json_array(&d->j);
	for (size_t i = 0; i < f->devices.n; i++) {
		const struct device_summary *x = &f->devices.v[i];
		json_object(&d->j);
		document_text(d, "name", x->name);
		put_worker_name(d, &p->m->workers, x->worker);
		document_i64(d, "window_ns", x->window);
		document_i64(d, "busy_ns", x->busy);
		document_i64(d, "idle_ns", num_sub(x->window, x->busy));
		if (x->causes) {
			document_key(d, "idle");
			json_object(&d->j);
			for (enum idle_cause why = 0; why < IDLE_CAUSES; why++)
				document_i64(d, idle_names[why], x->idle[why]);
			json_object_end(&d->j);
			put_partition(d, &x->step);
		}
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
}

/* Writes the step times of workers with a trace. */
static void put_step_time_member(struct document *d, const struct summary_page *p)
{
	const struct facts *f = &p->facts;

	document_key(d, "step_time");
	json_array(&d->j);
	for (size_t i = 0; i < f->times.n; i++) {
		const struct step_wall *x = &f->times.v[i].time;
		json_object(&d->j);
		put_worker_name(d, &p->m->workers, f->times.v[i].worker);
		document_key(d, "marked");
		json_literal(&d->j, x->marked ? S("true") : S("false"));
		if (x->guessed) {
			document_key(d, "guessed");
			json_literal(&d->j, S("true"));
		}
		document_i64(d, "steps", num_from_u64(x->steps));
		document_i64(d, "mean_ns", x->mean);
		document_i64(d, "median_ns", x->median);
		document_i64(d, "min_ns", x->shortest);
		document_i64(d, "max_ns", x->longest);
		document_i64(d, "deviation_ns", x->deviation);
		document_i64(d, "steps_left_out", num_from_u64(x->left_out));
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
}

static void put_memory_members(struct document *d, const struct summary_page *p)
{
	const struct facts *f = &p->facts;

	document_fraction(d, "requested_bytes", p->requested_bytes);
	if (f->peak_bytes)
		document_i64(d, "peak_bytes", f->peak_bytes);
	if (f->peak_bytes && f->peak_device != ID_NONE)
		document_text(d, "peak_device", device_name(p->m, f->peak_device));
	if (p->pool)
		document_i64(d, "peak_bytes", memory_pool_peak(p->pool));
	if (p->pool && p->pool->device.n)
		document_text(d, "peak_device", p->pool->device);
	if (!p->checkpoint.found)
		return;
	document_key(d, "checkpoint");
	json_object(&d->j);
	document_i64(d, "tensors", num_from_u64(p->checkpoint.tensors));
	document_i64(d, "elements", p->checkpoint.elements);
	document_i64(d, "bytes", num_from_u64(p->checkpoint.bytes));
	json_object_end(&d->j);
}

/* Writes the float operations (null if none are known), and the share of the device time of traces
 * for which they are known. */
static void put_flops_members(struct document *d, const struct summary_page *p)
{
	if (p->uncounted && !p->float_ops.v) {
		document_key(d, "float_ops");
		json_literal(&d->j, S("null"));
	} else {
		document_fraction(d, "float_ops", p->float_ops);
	}
	document_i64(d, "uncounted", p->uncounted);
	if (!p->coverage.counts)
		return;
	document_key(d, "float_ops_coverage");
	json_object(&d->j);
	coverage_members(d, &p->coverage);
	document_key(d, "uncounted");
	json_array(&d->j);
	for (size_t i = 0; i < p->coverage.uncounted && i < UNCOUNTED_SHOWN; i++) {
		const struct uncounted *x = &p->coverage.shown[i];
		json_object(&d->j);
		document_text(d, "op", x->op);
		document_text(d, "reason", str_of(flops_lacks[x->lack]));
		document_i64(d, "device_ns", x->ns);
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
	json_object_end(&d->j);
}

static void put_table_member(
        struct document *d, const char *key, const struct hottest_table *x, size_t rows)
{
	struct sheet sheet;

	document_key(d, key);
	json_array(&d->j);
	if (x->x.rows) {
		sheet_open_json(&sheet, &d->j, d->a, x->x.columns, x->x.n_columns);
		table_put_rows(&x->x, rows, &sheet);
		sheet_close(&sheet);
	}
	json_array_end(&d->j);
}

static void put_lists(struct document *d, const struct summary_page *p)
{
	document_key(d, "missing");
	json_array(&d->j);
	for (size_t i = 0; i < p->n_missing; i++) {
		json_object(&d->j);
		document_text(d, "what", str_of(p->missing[i].what));
		document_text(d, "how", str_of(p->missing[i].how));
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
	document_key(d, "next");
	json_array(&d->j);
	for (size_t i = 0; i < p->next.n; i++)
		document_word(d, p->next.v[i]);
	json_array_end(&d->j);
}

static void put_unused_member(struct document *d, const struct model *m)
{
	document_key(d, "unused");
	json_array(&d->j);
	for (size_t i = 0; i < m->unused.n; i++) {
		json_object(&d->j);
		document_text(d, "format", m->unused.v[i].format);
		document_text(d, "kind", m->unused.v[i].kind);
		document_i64(d, "count", num_from_u64(m->unused.v[i].n));
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
}

bool summary_document(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	const struct summary_page *p = x->of;
	const struct facts *f = &p->facts;
	struct document d;

	(void)e;
	document_open(&d, s, to, "tfprof/summary", VERSION);
	document_key(&d, "formats");
	json_array(&d.j);
	for (size_t i = 0; i < p->from->n; i++)
		document_word(&d, summary_format(p, &p->from->v[i], to->a));
	json_array_end(&d.j);
	if (p->verdict.sentence.p) {
		document_text(&d, "verdict", p->verdict.sentence);
		document_text(&d, "cause", p->verdict.cause);
	}
	put_unused_member(&d, p->m);
	document_i64(&d, "node_count", num_from_u64(f->nodes));
	document_i64(&d, "type_count", num_from_u64(f->types));
	document_i64(&d, "edge_count", num_from_u64(f->edges));
	document_i64(&d, "parameters", f->params);
	put_flops_members(&d, p);
	put_step_member(&d, p);
	put_step_time_member(&d, p);
	put_device_member(&d, p);
	document_fraction(&d, "device_op_micros", p->device_us);
	document_fraction(&d, "host_op_micros", p->host_us);
	put_memory_members(&d, p);
	put_table_member(&d, "ops", &p->ops, p->rows);
	put_table_member(&d, "nodes", &p->nodes, p->rows);
	put_lists(&d, p);
	if (!to->arrays)
		table_put_document_rows(&d, &p->nodes.x, p->rows);
	document_end(&d);
	return true;
}
