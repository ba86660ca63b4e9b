/* SPDX-License-Identifier: Apache-2.0
 *
 * See gpu_tables.h. Times are whole nanoseconds.
 */
#include <inttypes.h>

#include "base/num.h"
#include "export/document.h"
#include "export/gpu_tables.h"

#define GPU_SCHEMA  "tfprof/gpu"
#define GPU_VERSION 1

static int64_t mean(const struct gpu_times *t)
{
	uint64_t n = gpu_count(t);

	return n ? num_from_real((double)gpu_total(t) / (double)n + 0.5) : 0;
}

static int64_t deviation(const struct hist *h)
{
	return num_from_real(hist_deviation(h) + 0.5);
}

/* ---- JSON ---- */

static void put_copies(struct document *w, const struct gpu_device *d)
{
	document_key(w, "copies");
	json_array(&w->j);
	for (enum gpu_way i = 0; i < WAY_N; i++) {
		const struct gpu_copies *c = &d->ways[i];
		if (!c->count)
			continue;
		json_object(&w->j);
		document_text(w, "way", str_of(gpu_ways[i]));
		document_i64(w, "count", num_from_u64(c->count));
		document_i64(w, "bytes", c->bytes);
		document_i64(w, "ns", c->ns);
		if (c->ns > 0)
			document_i64(w, "bytes_per_second",
			        num_from_real((double)c->bytes / (double)c->ns * 1e9));
		json_object_end(&w->j);
	}
	json_array_end(&w->j);
}

static void put_processes(struct document *w, const struct gpu_use *u, const struct gpu_device *d)
{
	document_key(w, "processes");
	json_array(&w->j);
	for (size_t i = 0; i < d->parts.n; i++) {
		const struct gpu_part *p = &u->parts.v[d->parts.v[i]];
		const struct process_identity *who = &gpu_facts(u, p->process)->who;
		json_object(&w->j);
		document_i64(w, "pid", who->pid);
		document_text(w, "host", who->host);
		document_text(w, "program", who->program);
		document_text(w, "job", who->job);
		document_text(w, "rank",
		        who->rank < 0 ? STR_NONE : str_fmt(u->a, "%lld", (long long)who->rank));
		document_i64(w, "kernels", num_from_u64(p->kernels));
		document_i64(w, "busy_ns", p->busy);
		json_object_end(&w->j);
	}
	json_array_end(&w->j);
}

static void put_device(struct document *w, const struct gpu_use *u, const struct gpu_device *d)
{
	json_object(&w->j);
	document_i64(w, "gpu", d->number);
	document_text(w, "name", d->gpu ? d->gpu->name : STR_NONE);
	document_text(w, "uuid", gpu_uuid(u->a, d));
	document_i64(w, "from_ns", d->from);
	document_i64(w, "to_ns", d->to);
	document_i64(w, "busy_ns", d->busy);
	document_i64(w, "idle_ns", num_sub(num_sub(d->to, d->from), d->busy));
	document_i64(w, "kernel_busy_ns", d->busy_kernels);
	document_i64(w, "copy_busy_ns", d->busy_copies);
	document_i64(w, "overlap_ns", d->overlap);
	document_i64(w, "shared_ns", d->shared);
	document_i64(w, "kernels", num_from_u64(d->kernels));
	document_key(w, "gaps");
	json_object(&w->j);
	document_i64(w, "count", num_from_u64(d->gaps.n));
	document_i64(w, "median_ns", hist_quantile(&d->gaps, 500));
	document_i64(w, "p99_ns", hist_quantile(&d->gaps, 990));
	document_i64(w, "max_ns", d->gaps.max);
	json_object_end(&w->j);
	put_copies(w, d);
	put_processes(w, u, d);
	json_object_end(&w->j);
}

static void put_times(struct document *w, const char *key, const struct gpu_times *v, size_t n)
{
	document_key(w, key);
	json_array(&w->j);
	for (size_t i = 0; i < n; i++) {
		const struct gpu_times *t = &v[i];
		if (!gpu_count(t))
			continue;
		json_object(&w->j);
		document_text(w, "name", t->name);
		document_i64(w, "count", num_from_u64(gpu_count(t)));
		document_i64(w, "total_ns", gpu_total(t));
		document_i64(w, "average_ns", mean(t));
		document_i64(w, "min_ns", gpu_min(t));
		document_i64(w, "max_ns", gpu_max(t));
		if (t->h.n) {
			document_i64(w, "median_ns", hist_quantile(&t->h, 500));
			document_i64(w, "p99_ns", hist_quantile(&t->h, 990));
			document_i64(w, "deviation_ns", deviation(&t->h));
		}
		json_object_end(&w->j);
	}
	json_array_end(&w->j);
}

static void put_missing(struct document *w, const struct gpu_use *u)
{
	static const char *const why[] = { [SPOOL_LOST_DROPPED] = "dropped",
		[SPOOL_LOST_UNKNOWN] = "unknown",
		[SPOOL_LOST_UNTIMED] = "untimed",
		[SPOOL_LOST_RANGES] = "ranges",
		[SPOOL_LOST_WRITE] = "not_written",
		[SPOOL_LOST_KEPT] = "kept_by_cupti",
		[SPOOL_LOST_KERNELS] = "kernels_without_record" };
	int64_t open = 0;

	for (uint32_t i = 0; i < u->processes.n; i++)
		open += !gpu_facts(u, i)->ended;
	document_key(w, "lost");
	json_object(&w->j);
	for (unsigned i = 0; i < SPOOL_LOST_WHY_N; i++)
		document_i64(w, why[i], num_from_u64(u->lost[i]));
	document_i64(w, "damaged_bytes", num_from_u64(u->damaged));
	document_i64(w, "operations_without_times", num_from_u64(u->untimed));
	document_i64(w, "operations_in_sums_only", num_from_u64(u->summed));
	document_i64(w, "times_not_recorded", num_from_u64(u->gaps));
	document_i64(w, "ns_not_recorded", u->gap_ns);
	document_i64(w, "processes_not_closed", open);
	json_object_end(&w->j);
	document_key(w, "warnings");
	json_array(&w->j);
	for (size_t i = 0; i < u->notes.n; i++)
		document_word(w, u->notes.v[i]);
	json_array_end(&w->j);
}

void gpu_json(const struct gpu_use *u, size_t top, const struct gpu_members *more, struct sink *to)
{
	struct document w;

	document_begin(&w, to, u->a, GPU_SCHEMA, GPU_VERSION);
	if (more)
		more->put(&w, more->user);
	document_key(&w, "gpus");
	json_array(&w.j);
	for (size_t i = 0; i < u->devices.n; i++)
		put_device(&w, u, &u->devices.v[i]);
	json_array_end(&w.j);
	put_times(&w, "waits", u->waits.v, u->waits.n);
	put_times(&w, "synchronisations", u->syncs, GPU_SYNCS);
	put_times(&w, "kernels", u->kernels.v, top < u->kernels.n ? top : u->kernels.n);
	gpu_tables_json(&(struct gpu_workers){ &(struct gpu_worker){ .u = u }, 1 }, false, top, &w);
	put_missing(&w, u);
	document_end(&w);
}

/* ---- CSV ---- */

static void put_row(struct sink *to, enum sheet_form form, const char *kind,
        const struct gpu_times *t, struct sb *scratch)
{
	scratch->n = 0;
	sb_put_utf8(scratch, t->name);
	sink_fmt(to, "%s,,", kind);
	sheet_put_text(form, to, sb_str(scratch));
	sink_fmt(to, ",%" PRIu64 ",%" PRId64 ",%" PRId64, gpu_count(t), gpu_total(t), mean(t));
	if (t->h.n)
		sink_fmt(to, ",%" PRId64 ",%" PRId64, hist_quantile(&t->h, 500),
		        hist_quantile(&t->h, 990));
	else
		sink_put(to, S(",,"));
	sink_fmt(to, ",%" PRId64 ",%" PRId64, gpu_min(t), gpu_max(t));
	if (t->h.n)
		sink_fmt(to, ",%" PRId64 ",\n", deviation(&t->h));
	else
		sink_put(to, S(",,\n"));
}

static void put_sums(struct sink *to, const struct gpu_device *d, struct str gpu)
{
	const struct {
		const char *name;
		int64_t ns;
	} sums[] = { { "time", num_sub(d->to, d->from) }, { "busy", d->busy },
		{ "idle", num_sub(num_sub(d->to, d->from), d->busy) },
		{ "kernels", d->busy_kernels }, { "copies", d->busy_copies },
		{ "overlap", d->overlap }, { "shared", d->shared } };

	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
		sink_put(to, S("gpu,"));
		csv_text(to, gpu, false);
		sink_fmt(to, ",%s,,%" PRId64 ",,,,,,,\n", sums[i].name, sums[i].ns);
	}
	sink_put(to, S("gpu,"));
	csv_text(to, gpu, false);
	sink_fmt(to,
	        ",gaps,%" PRIu64 ",%" PRId64 ",,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
	        ",,\n",
	        d->gaps.n, d->gaps.sum, hist_quantile(&d->gaps, 500), hist_quantile(&d->gaps, 990),
	        d->gaps.min, d->gaps.max);
	for (enum gpu_way i = 0; i < WAY_N; i++) {
		if (!d->ways[i].count)
			continue;
		sink_put(to, S("copy,"));
		csv_text(to, gpu, false);
		sink_fmt(to, ",%s,%" PRIu64 ",%" PRId64 ",,,,,,,%" PRId64 "\n", gpu_ways[i],
		        d->ways[i].count, d->ways[i].ns, d->ways[i].bytes);
	}
}

void gpu_csv(const struct gpu_use *u, size_t top, enum sheet_form form, struct sink *to)
{
	struct sb scratch = sb_in(u->a);

	sink_put(to, S("kind,gpu,name,count,total_ns,average_ns,median_ns,p99_ns,min_ns,max_ns,"
	               "deviation_ns,bytes\n"));
	for (size_t i = 0; i < u->devices.n; i++) {
		struct str gpu = gpu_uuid(u->a, &u->devices.v[i]);
		put_sums(to, &u->devices.v[i],
		        gpu.n ? gpu : str_fmt(u->a, "GPU %u", u->devices.v[i].number));
	}
	for (size_t i = 0; i < u->waits.n; i++)
		put_row(to, form, "wait", &u->waits.v[i], &scratch);
	for (size_t i = 0; i < GPU_SYNCS; i++)
		if (u->syncs[i].h.n)
			put_row(to, form, "synchronisation", &u->syncs[i], &scratch);
	for (size_t i = 0; i < u->kernels.n && i < top; i++)
		put_row(to, form, "kernel", &u->kernels.v[i], &scratch);
}
