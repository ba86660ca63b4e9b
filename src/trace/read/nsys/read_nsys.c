/* SPDX-License-Identifier: Apache-2.0
 *
 * Nsight Systems exports in SQLite, schema 2.9 to 3.25: a table for each kind of event, whose
 * names are numbers of StringIds. Tables and columns are looked up by name; any may be missing.
 */
#include "trace/trace_build.h"

#include "trace/read/nsys/nsys_internal.h"
#include "trace/pass/step_range.h"

/* ---- the file ---- */

/* Reads the producer, and the start time of the recording. */
static void read_origin(struct nsys *x)
{
	static const char *const pairs[] = { "name", "value" };
	static const char *const begin[] = { "utcEpochNs" };
	struct sqlite_rows *r = sqlite_in_rows(x->db, "META_DATA_EXPORT", pairs, 2);
	struct str product = S(""), schema = S("");

	if (!r)
		r = sqlite_in_rows(x->db, "EXPORT_META_DATA", pairs, 2);
	while (r && sqlite_in_next(r)) {
		if (str_eq(sqlite_in_text(r, 0), S("EXPORT_PRODUCT_VERSION")))
			product = str_copy(x->a, sqlite_in_text(r, 1));
		if (str_eq(sqlite_in_text(r, 0), S("EXPORT_SCHEMA_VERSION")))
			schema = str_copy(x->a, sqlite_in_text(r, 1));
	}
	build_producer(x->b, str_fmt(x->a, "Nsight Systems%s%.*s%s%.*s", product.n ? " " : "",
	                             STR(product), schema.n ? ", schema " : "", STR(schema)));
	build_origin(x->b, 0, false);
	r = sqlite_in_rows(x->db, "TARGET_INFO_SESSION_START_TIME", begin, 1);
	while (r && sqlite_in_next(r))
		if (sqlite_in_int(r, 0) > 0)
			build_origin(x->b, sqlite_in_int(r, 0), true);
}

/* Counts the rows of tables whose events do not become slices. */
static void count_unused(struct nsys *x)
{
	static const char *const tables[] = { NSYS_SWITCHES, "COMPOSITE_EVENTS", "GPU_METRICS",
		"NET_NIC_METRIC", "CUDA_GPU_MEMORY_USAGE_EVENTS", "CUDA_GRAPH_EVENTS",
		"CUDA_UM_CPU_PAGE_FAULT_EVENTS", "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
		"DIAGNOSTIC_EVENT", "GENERIC_EVENTS", "MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS",
		"MPI_OTHER_EVENTS", "OPENMP_EVENT_KIND_PARALLEL", "OSRT_CALLCHAINS",
		"PERF_EVENT_CPU_CORE_EVENT", "SAMPLING_CALLCHAINS", "CUDA_CALLCHAINS", "SYSCALL",
		"UNKNOWN_EVENTS", "VULKAN_API", "GPU_CONTEXT_SWITCH_EVENTS",
		"CUDA_GRAPH_NODE_EVENTS" };
	size_t n = sizeof tables / sizeof *tables -
	           !x->sum; /* without the last table: sums need no graph nodes */
	struct sb b = sb_in(x->a);
	size_t refused;
	struct strs there = sqlite_in_tables(x->db, &refused);

	for (size_t i = 0; i < there.n; i++)
		for (size_t k = 0; k < n; k++) {
			if (!str_eq(there.v[i], str_of(tables[k])) || (!k && x->switches))
				continue;
			int64_t rows = sqlite_in_last_row(x->db, there.v[i]);
			src_count_unused(
			        x->s, str_fmt(x->a, "rows of %s", tables[k]), (uint64_t)rows);
			if (rows)
				sb_fmt(&b, "%s%s (%lld)", b.n ? ", " : "", tables[k],
				        (long long)rows);
		}
	if (b.n)
		note_line(build_notes(x->b), "note: events that are not used: %.*s\n",
		        STR(sb_str(&b)));
	src_count_unused(x->s, S("views, triggers and virtual tables"), refused);
	note_count(build_notes(x->b), refused,
	        "note: %zu {view, trigger or virtual table is|views, triggers and virtual tables "
	        "are} not read\n",
	        refused);
}

static void add_notes(struct nsys *x)
{
	struct notes *to = build_notes(x->b);

	if (sqlite_in_pending(x->db))
		note_line(to,
		        "note: '%.*s-wal' has %llu bytes of changes that are not in the database: "
		        "they "
		        "are not read\n",
		        STR(x->s->name), (unsigned long long)sqlite_in_pending(x->db));
	src_count_unused(x->s, S("rows without a start"), x->timeless);
	note_count(to, x->timeless,
	        "note: %llu {row has|rows have} no start: {it is|they are} left out\n",
	        (unsigned long long)x->timeless);
	note_count(to, x->endless,
	        "note: %llu {row has|rows have} no end: {it takes|they take} no time\n",
	        (unsigned long long)x->endless);
}

int sniff_nsys(struct str head, struct str path)
{
	static const char *const tables[] = { "StringIds", "CUPTI_ACTIVITY_KIND_", "NVTX_EVENTS",
		"TARGET_INFO_" };

	(void)path;
	if (!str_starts(head, S(SQLITE_IN_MAGIC "\0")))
		return 0;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (str_contains(head, str_of(tables[i])))
			return 100;
	return 60;
}

/* ---- tables ---- */

const struct nsys_table nsys_tables[] = {
	{ "CUPTI_ACTIVITY_KIND_RUNTIME", NSYS_CALLS, nsys_call_columns, 4, 5, nsys_take_call, 1 },
	{ "CUPTI_ACTIVITY_KIND_DRIVER", NSYS_CALLS, nsys_call_columns, 4, 5, nsys_take_call, 1 },
	{ "CUDNN_EVENTS", NSYS_ON_THREADS, nsys_call_columns, 3, 0, nsys_take_call, 0 },
	{ "CUBLAS_EVENTS", NSYS_ON_THREADS, nsys_call_columns, 3, 0, nsys_take_call, 0 },
	{ "OSRT_API", NSYS_ON_THREADS, nsys_call_columns, 3, 0, nsys_take_call, 0 },
	{ "CUPTI_ACTIVITY_KIND_KERNEL", NSYS_WORK, nsys_kernel_columns, WORK_N, WORK_N + 3,
	        nsys_take_kernel, 0 },
	{ "CUPTI_ACTIVITY_KIND_MEMCPY", NSYS_WORK, nsys_copy_columns, WORK_N, WORK_N + 2,
	        nsys_take_copy, 0 },
	{ "CUPTI_ACTIVITY_KIND_MEMSET", NSYS_WORK, nsys_copy_columns, WORK_N, WORK_N + 2,
	        nsys_take_copy, 1 },
	{ "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", NSYS_WORK, nsys_graph_columns, WORK_N, WORK_N + 1,
	        nsys_take_graph, 0 },
	{ "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", NSYS_ON_STREAMS, nsys_sync_columns, WORK_N,
	        WORK_N + 1, nsys_take_sync, 0 },
	{ "NVTX_EVENTS", NSYS_RANGES, nsys_range_columns, 6, 7, nsys_take_range, 0 },
	{ "CUPTI_ACTIVITY_KIND_OVERHEAD", NSYS_ON_THREADS, nsys_overhead_columns, 3, 0,
	        nsys_take_overhead, 0 },
	{ "PROFILER_OVERHEAD", NSYS_ON_THREADS, nsys_overhead_columns, 3, 0, nsys_take_overhead,
	        0 },
};
const size_t nsys_n_tables = sizeof nsys_tables / sizeof *nsys_tables;

static unsigned count_columns(const char *const *columns)
{
	unsigned n = 0;

	while (columns[n])
		n++;
	return n;
}

static void keep_slice(struct nsys *x, uint32_t track, uint32_t event, int64_t start,
        int64_t length, int64_t correlation)
{
	build_slice(x->b, track, event, start, length, correlation);
}

/* Reads all tables and keeps every slice. */
static void read_slices(struct nsys *x)
{
	x->put = keep_slice;
	nsys_read_records(x);
	for (size_t i = 0; i < nsys_n_tables; i++) {
		const struct nsys_table *t = &nsys_tables[i];
		struct sqlite_rows *r =
		        sqlite_in_rows(x->db, t->name, t->columns, count_columns(t->columns));
		while (r && sqlite_in_next(r))
			t->take(x, r, t->which);
	}
	nsys_put_steps(x);
	nsys_close_ranges(x);
	nsys_read_nodes(x);
	nsys_read_switches(x);
}

/* True if only sums of the slices are kept. This requires a regular file, which can be read again
 * when a command needs the slices. */
static bool is_summed(const struct nsys *x)
{
	if (x->s->options->slices != SLICES_BY_SIZE || !src_is_plain_file(x->s))
		return x->s->options->slices == SLICES_SUMMED;
	return src_size(x->s) > TRACE_KEPT_MAX;
}

static bool read_tables(struct nsys *x)
{
	bool summed = is_summed(x);

	nsys_open_names(x);
	read_origin(x);
	nsys_read_gpus(x);
	if (!step_range_compile(&x->step_pattern, x->a, x->s->options->step, x->e))
		return false;
	if (!summed || !nsys_sum_read(x))
		read_slices(x);
	bool ok = !x->step_pattern || !pattern_failed(x->step_pattern, x->e);
	pattern_free(x->step_pattern);
	nsys_name_processes(x);
	nsys_describe_gpus(x);
	count_unused(x);
	return ok;
}

/* Returns false if the database is damaged, unless the user wants to read the intact part. */
static bool check_damage(struct nsys *x)
{
	bool skipped;
	struct str why = sqlite_in_damage(x->db, &skipped);

	if (skipped)
		note_line(build_notes(x->b),
		        "note: %.*s: not checked for damage, which takes long above 1 GB: "
		        "sqlite3's "
		        "'PRAGMA quick_check' does it\n",
		        STR(x->s->name));
	if (why.n && x->s->damage->recover)
		note_line(build_notes(x->b), "warning: %.*s: %.*s; rows may be missing or wrong\n",
		        STR(x->s->name), STR(why));
	if (!why.n || x->s->damage->recover)
		return true;
	x->s->damage->kept = 1; /* causes a hint at --recover */
	return err_set(x->e, ERR_DATA_LOSS, "%.*s: %.*s", STR(x->s->name), STR(why));
}

bool read_nsys(struct src *s, struct trace_build *b, struct arena *a, struct err *e)
{
	struct nsys *x = ARENA_NEW(a, struct nsys);

	*x = (struct nsys){ .s = s, .b = b, .a = a, .e = e };
	imap_init(&x->name_of, a);
	imap_init(&x->processes, a);
	imap_init(&x->pids, a);
	imap_init(&x->threads, a);
	imap_init(&x->gpus, a);
	imap_init(&x->work_streams, a);
	imap_init(&x->work_devices, a);
	intern_init(&x->streams, a);
	intern_init(&x->kernels, a);
	imap_init(&x->calls, a);
	imap_init(&x->graphs, a);
	imap_init(&x->domains, a);
	imap_init(&x->step_names, a);
	build_start(b, TRACE_NSYS, 1000);
	if (!sqlite_in_open(&x->db, s, a, e) || !check_damage(x) || !read_tables(x))
		return false;
	add_notes(x);
	s->damage->kept = sqlite_in_failed(x->db) && s->damage->recover ? x->rows : 0;
	if (sqlite_in_failed(x->db))
		return s->damage->kept > 0;
	if (!x->rows)
		return err_set(e, ERR_DATA_LOSS,
		        "%.*s: SQLite database without Nsight Systems events: the output of "
		        "'nsys export --type sqlite' was expected",
		        STR(s->name));
	return true;
}
