/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of memory. The JSON document has three arrays:
 *
 *   memory   a row for each allocator
 *   use      for each allocator, times and the bytes in use from each of them on
 *   live     the owners of memory at an allocator's largest use, or at another moment
 *   by_kind  for each allocator, times and the bytes in use by kind from each of them on
 *   live_at  for each allocator, the largest rows of the live set at moments of its use
 *   segments the largest segments of a snapshot at its end: the share in use of equal parts
 *   pools    the state of each allocator: at that moment, and at the end; text shows two tables
 *   ooms     errors for lack of memory, in a snapshot of PyTorch
 *   changes  bytes of each owner in the first and in the second file
 *   ranks    the devices of several files, the nearest to its limit first
 */
#include "base/fmt.h"
#include "export/table/trace_tables.h"

#define MOMENTS 1000 /* number of parts of an allocator's time; each has at most two moments */

#define TABLE_LIST "export/table/memory_table.def"
#include "export/table/table_list.h"

/* Sets the columns of a table. If there are several workers, the first column is the worker. */
static void set_columns(struct table *x, const struct column *columns, const char *const *titles,
        size_t n, const struct memory_use *use)
{
	x->columns = columns + !use->several;
	x->titles = titles + !use->several;
	x->n_columns = n - !use->several;
}

static void put_worker(struct table *to, const struct memory_use *use, struct str worker)
{
	if (use->several)
		table_text(to, worker);
}

/* ---- a row of each table ---- */

static void put_memory(struct table *to, const struct memory_pool *p)
{
	const struct memory_moment *most = p->use.n ? &p->use.v[p->most] : NULL;

	table_number_if(to, most || p->peak >= 0, p->peak >= 0 || !most ? p->peak : most->bytes);
	table_number_if(to, most && p->peak <= most->bytes, most ? most->ns - p->use.v[0].ns : 0);
	table_number_if(to, p->known_live, p->moment_live);
	table_number_if(to, !p->only_sums, (int64_t)p->allocations);
	table_number_if(to, !p->only_sums, (int64_t)p->frees);
	table_number_if(to, !p->only_sums, p->allocated);
	table_number_if(to, p->reserved >= 0, p->reserved);
	table_number_if(to, p->capacity >= 0, p->capacity);
	table_number_if(to, p->step != MEMORY_NO_STEP, p->step);
	table_text_if(to, p->device.p, p->device);
	table_text_if(to, p->allocator.p, p->allocator);
}

/* Appends an owner. all: bytes of all owners. */
static void put_live(
        struct table *to, const struct memory_pool *p, const struct memory_owner *o, int64_t all)
{
	table_number(to, o->bytes);
	table_number(to, (int64_t)(1e4 * (double)o->bytes / (double)all + 0.5));
	table_count(to, o->buffers);
	table_text_if(to, p->device.p, p->device);
	table_text_if(to, p->allocator.p, p->allocator);
	table_text_if(to, o->name.p, o->name);
	table_text_if(to, o->module.p, o->module);
	table_text_if(to, o->size.p, o->size);
	table_text_if(to, o->line.p, o->line);
	table_text_if(to, o->kind.p, o->kind);
	table_text_if(to, o->rule.p, o->rule);
}

/* Returns a fragmentation in hundredths of a percent. */
static int64_t fragmentation_of(const struct memory_pool *p)
{
	return (int64_t)(1e4 * p->fragmentation + 0.5);
}

static void put_pools(struct table *to, const struct memory_pool *p)
{
	table_number_if(to, p->unused >= 0, p->unused);
	table_number_if(to, p->largest_free >= 0, p->largest_free);
	table_number_if(to, p->fragmentation >= 0, fragmentation_of(p));
	table_number_if(to, p->waiting >= 0, p->waiting);
	table_number(to, p->before);
	table_number_if(to, p->past_use >= 0, p->past_use);
	table_count(to, p->never_freed);
	table_number(to, p->never_freed_bytes);
	table_count(to, p->double_frees);
	table_count(to, p->lost_frees);
	table_text(to, p->device);
	table_text_if(to, p->allocator.p, p->allocator);
}

/* True if the free blocks are known at the end only: in a snapshot. */
static bool has_end(const struct memory_pool *p)
{
	return p->largest_free >= 0;
}

/* Appends the state at the moment of the live set. */
static void put_state(struct table *to, const struct memory_pool *p)
{
	table_number_if(to, p->unused >= 0, p->unused);
	table_number_if(to, p->fragmentation >= 0 && !has_end(p), fragmentation_of(p));
	table_number_if(to, p->waiting >= 0, p->waiting);
	table_number(to, p->before);
	table_number_if(to, p->past_use >= 0, p->past_use);
	table_text(to, p->device);
	table_text_if(to, p->allocator.p, p->allocator);
}

/* Appends the numbers that do not depend on the moment of the live set. */
static void put_end(struct table *to, const struct memory_pool *p)
{
	table_count(to, p->never_freed);
	table_number(to, p->never_freed_bytes);
	table_count(to, p->double_frees);
	table_count(to, p->lost_frees);
	table_number_if(to, has_end(p), p->largest_free);
	table_number_if(to, p->fragmentation >= 0 && has_end(p), fragmentation_of(p));
	table_text(to, p->device);
	table_text_if(to, p->allocator.p, p->allocator);
}

/* Appends an out-of-memory error. The missing memory is the amount that the device would have
 * needed in addition if the allocator had returned none of its reserved memory. */
static void put_ooms(struct table *to, const struct memory_oom *x)
{
	int64_t missing = num_sub(x->requested, x->device_free);

	table_number(to, x->ns);
	table_number(to, x->requested);
	table_number_if(to, x->device_free >= 0, x->device_free);
	table_number_if(to, x->device_free >= 0, missing > 0 ? missing : 0);
	table_number(to, x->in_use);
	table_number_if(to, x->unused >= 0, x->unused);
	table_text(to, x->device);
}

/* Headings of the live set: the rule is shown with kinds only; the module only if the op's name
 * does not contain it. */
#define LIVE_BUFFERS 3 /* index of "buffers" */
static const char *const live_titles[] = { NULL, "bytes", "share", "buffers", "device", "pool",
	"op", "module", "size", "line", "kind", "" };
static const char *const live_path_titles[] = { NULL, "bytes", "share", "buffers", "device", "pool",
	"op", "", "size", "line", "kind", "" };
static const char *const live_kind_titles[] = { NULL, "bytes", "share", "buffers", "device", "pool",
	"op", "module", "size", "line", "kind", "rule" };

/* True if the source counts the buffers; a memory timeline has only their bytes. */
static bool counts_buffers(const struct memory_use *use)
{
	for (size_t i = 0; i < use->pools.n; i++)
		for (size_t k = 0; k < use->pools.v[i].live.n; k++)
			if (use->pools.v[i].live.v[k].buffers)
				return true;
	return false;
}

/* Returns the headings of the live set, in a. */
static const char *const *live_headings(const struct memory_use *use, struct arena *a)
{
	const char *const *from = use->by_kind       ? live_kind_titles
	                          : use->names_paths ? live_path_titles
	                                             : live_titles;
	const char **v = ARENA_ARRAY(a, N_COLUMNS(live_titles), const char *);

	for (size_t i = 0; i < N_COLUMNS(live_titles); i++)
		v[i] = i == LIVE_BUFFERS && !counts_buffers(use) ? "" : from[i];
	return v;
}

struct memory_shown {
	const struct memory_use *use;
	struct table live;
	size_t top;
};

/* ---- tables ---- */

static void fill_pools(struct table *x, const struct memory_use *use)
{
	for (size_t i = 0; i < use->pools.n; i++, x->rows++) {
		put_worker(x, use, use->pools.v[i].worker);
		put_memory(x, &use->pools.v[i]);
	}
}

static void fill_live(struct table *x, const struct memory_use *use)
{
	for (size_t i = 0; i < use->pools.n; i++) {
		const struct memory_pool *p = &use->pools.v[i];
		int64_t all = p->moment_live;
		for (size_t k = 0; k < p->live.n; k++, x->rows++) {
			put_worker(x, use, p->worker);
			put_live(x, p, &p->live.v[k], all);
		}
	}
}

static void put_change(struct table *to, const struct memory_change *x)
{
	table_number(to, num_sub(x->second, x->first));
	table_number(to, x->first);
	table_number(to, x->second);
	table_text(to, x->device);
	table_text_if(to, x->allocator.p, x->allocator);
	table_text_if(to, x->owner.name.p, x->owner.name);
	table_text_if(to, x->owner.module.p, x->owner.module);
	table_text_if(to, x->owner.size.p, x->owner.size);
	table_text_if(to, x->owner.line.p, x->owner.line);
	table_text_if(to, x->owner.kind.p, x->owner.kind);
}

static void put_ranks(struct table *to, const struct memory_rank *r)
{
	bool limited = r->capacity >= 0 && r->reserved >= 0, over = r->most_over > 0;

	table_text(to, r->worker);
	table_text(to, r->device);
	table_number(to, r->peak);
	table_number(to, r->over);
	table_number_if(to, r->reserved >= 0, r->reserved);
	table_number_if(to, r->capacity >= 0, r->capacity);
	table_number_if(to, limited, num_sub(r->capacity, r->reserved));
	table_number_if(to, over, r->most_over);
	table_text_if(to, over && r->most.name.p, r->most.name);
	table_text_if(to, over && r->most.module.p, r->most.module);
	table_text_if(to, over && r->most.size.p, r->most.size);
	table_text_if(to, over && r->most.line.p, r->most.line);
	table_text_if(to, over && r->most.kind.p, r->most.kind);
}

/* Returns a sentence about the first rank, in a; p is NULL if there are fewer than two ranks. */
static struct str name_first_rank(const struct memory_use *use, struct arena *a)
{
	const struct memory_rank *r = use->ranks.v;
	struct sb b = sb_in(a);

	if (use->ranks.n < 2)
		return STR_NONE;
	sb_put_name(&b, r->worker);
	sb_char(&b, ' ');
	sb_put_name(&b, r->device);
	if (r->capacity >= 0) {
		sb_put(&b, S(" is nearest to its limit: "));
		fmt_si_bytes(&b, (double)r->reserved);
		sb_put(&b, S(" of "));
		fmt_si_bytes(&b, (double)r->capacity);
		sb_put(&b, S(" were reserved.\n\n"));
		return sb_str(&b);
	}
	sb_put(&b, r->reserved < 0 ? S(" has the highest peak: ") : S(" reserved the most: "));
	fmt_si_bytes(&b, (double)(r->reserved < 0 ? r->peak : r->reserved));
	sb_put(&b, S(" (the files do not have the limits of the devices).\n\n"));
	return sb_str(&b);
}

/* Returns the heading of the state at the moment of the live set, in a. */
static const char *state_title(const struct moment *at, bool step, struct arena *a)
{
	struct sb b = sb_in(a);

	switch (at->kind) {
	case MOMENT_PEAK: return step ? "State at the peak of the step" : "State at the peak";
	case MOMENT_OOM: return "State at the first out-of-memory error";
	case MOMENT_END: return "State at the end";
	case MOMENT_TIME: break;
	}
	sb_put(&b, S("State "));
	fmt_time(&b, at->ns);
	sb_put(&b, S(" after the first entry"));
	return str_z(a, sb_str(&b));
}

/* Fills the tables of the allocators' states: all numbers for data; for text, those at the moment
 * of the live set, then those of the whole file. */
static void fill_states(
        struct table v[3], const struct memory_use *use, const struct opts *o, struct arena *a)
{
	v[0] = (struct table){ .a = a, .key = "pools", .data_only = true };
	v[1] = (struct table){ .a = a,
		.key = "moment",
		.text_only = true,
		.title = state_title(&o->at, opts_names_steps(o), a) };
	v[2] = (struct table){
		.a = a, .key = "file", .text_only = true, .title = "Frees of the whole file"
	};
	set_columns(&v[0], columns_of_pools, titles_of_pools, N_COLUMNS(columns_of_pools), use);
	set_columns(&v[1], columns_of_moment, titles_of_moment, N_COLUMNS(columns_of_moment), use);
	set_columns(&v[2], columns_of_file, titles_of_file, N_COLUMNS(columns_of_file), use);
	for (size_t i = 0; i < use->pools.n; i++) {
		const struct memory_pool *p = &use->pools.v[i];
		if (!p->has_state)
			continue;
		if (has_end(p))
			v[2].title = "Frees of the whole file, and free memory at its end";
		for (unsigned k = 0; k < 3; k++) {
			put_worker(&v[k], use, p->worker);
			v[k].rows++;
		}
		put_pools(&v[0], p);
		put_state(&v[1], p);
		put_end(&v[2], p);
	}
}

/* Fills the tables below the live set. Returns their number. */
static size_t fill_sections(
        struct table v[6], const struct memory_use *use, const struct opts *o, struct arena *a)
{
	fill_states(v, use, o, a);
	v += 2;
	v[1] = (struct table){ .a = a, .key = "ooms", .title = "Out of memory" };
	set_columns(&v[1], columns_of_ooms, titles_of_ooms, N_COLUMNS(columns_of_ooms), use);
	for (size_t i = 0; i < use->ooms.n; i++, v[1].rows++) {
		put_worker(&v[1], use, use->ooms.v[i].worker);
		put_ooms(&v[1], &use->ooms.v[i]);
	}
	v[2] = (struct table){ .a = a,
		.key = "changes",
		.title = "Difference of the live sets",
		.columns = columns_of_changes + 1,
		.titles = titles_of_changes + 1,
		.n_columns = N_COLUMNS(columns_of_changes) - 1 };
	for (size_t i = 0; i < use->changes.n; i++, v[2].rows++)
		put_change(&v[2], &use->changes.v[i]);
	v[3] = (struct table){ .a = a,
		.key = "ranks",
		.title = "Ranks, the nearest to its limit first",
		TABLE_COLUMNS(columns_of_ranks, titles_of_ranks) };
	for (size_t i = 0; i < use->ranks.n; i++, v[3].rows++)
		put_ranks(&v[3], &use->ranks.v[i]);
	return 6;
}

/* ---- use over time ---- */

static void put_moment(struct json *j, const struct memory_pool *p, size_t i, bool time)
{
	json_i64(j, time ? p->use.v[i].ns : p->use.v[i].bytes);
}

/* Returns the section of the time axis that contains a moment. */
static size_t part_of(const struct memory_pool *p, size_t i)
{
	double from = (double)p->use.v[0].ns, length = (double)p->use.v[p->use.n - 1].ns - from;

	return length > 0 ? (size_t)(((double)p->use.v[i].ns - from) / length * MOMENTS) : 0;
}

/* Writes times or bytes. Only the first use remains and, of each part of the time, the largest use
 * and the last one. */
static void put_moments(struct json *j, const struct memory_pool *p, bool time)
{
	json_array(j);
	for (size_t i = 0, n = p->use.n; i < n;) {
		size_t part = part_of(p, i), most = i, last = i;
		for (; i < n && part_of(p, i) == part; i++) {
			last = i;
			most = p->use.v[i].bytes > p->use.v[most].bytes ? i : most;
		}
		if (!part && most)
			put_moment(j, p, 0, time);
		put_moment(j, p, most, time);
		if (last != most)
			put_moment(j, p, last, time);
	}
	json_array_end(j);
}

static void put_kind(struct document *d, struct str name, const struct memory_pool *p, size_t kind)
{
	struct json *j = &d->j;

	json_object(j);
	json_key(j, S("kind"));
	json_bytes(j, &d->scratch, name);
	json_key(j, S("bytes"));
	json_array(j);
	for (size_t i = 0; i < p->by_kind.n; i++)
		json_i64(j, p->by_kind.v[i].bytes[kind]);
	json_array_end(j);
	json_object_end(j);
}

/* Writes the use over time by kind, for a snapshot. */
static void put_kinds(struct document *d, const struct memory_use *use)
{
	document_key(d, "by_kind");
	json_array(&d->j);
	for (size_t i = 0; i < use->pools.n; i++) {
		const struct memory_pool *p = &use->pools.v[i];
		json_line(&d->j);
		json_object(&d->j);
		document_key(d, "ns");
		json_array(&d->j);
		for (size_t m = 0; m < p->by_kind.n; m++)
			json_i64(&d->j, p->by_kind.v[m].ns);
		json_array_end(&d->j);
		document_key(d, "kinds");
		json_array(&d->j);
		for (size_t k = 0; k < use->kinds.n; k++)
			put_kind(d, use->kinds.v[k], p, k);
		json_array_end(&d->j);
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
}

static void put_owner(struct document *d, const struct memory_owner *o)
{
	const struct {
		const char *key;
		struct str text;
	} parts[] = { { "op", o->name }, { "module", o->module }, { "size_class", o->size },
		{ "line", o->line }, { "kind", o->kind } };

	json_object(&d->j);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		document_key(d, parts[i].key);
		if (parts[i].text.p)
			json_bytes(&d->j, &d->scratch, parts[i].text);
		else
			json_literal(&d->j, S("null"));
	}
	json_object_end(&d->j);
}

static void put_live_at(
        struct document *d, const struct memory_pool *p, const struct memory_live_at *at)
{
	struct json *j = &d->j;

	json_line(j);
	json_object(j);
	document_key(d, "ns");
	json_i64(j, at->ns);
	document_key(d, "bytes");
	json_i64(j, at->bytes);
	document_key(d, "row_count");
	json_i64(j, (int64_t)at->all);
	document_key(d, "rows");
	json_array(j);
	for (size_t i = at->first; i < at->first + at->n; i++) {
		const struct memory_moment_row *r = &p->moment_rows.v[i];
		json_array(j);
		json_i64(j, r->owner);
		json_i64(j, r->bytes);
		json_i64(j, (int64_t)r->buffers);
		json_array_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

/* The live set over time. */
static void put_moments_of_live(struct document *d, const struct memory_use *use)
{
	document_key(d, "live_at");
	json_array(&d->j);
	for (size_t i = 0; i < use->pools.n; i++) {
		const struct memory_pool *p = &use->pools.v[i];
		json_line(&d->j);
		json_object(&d->j);
		document_key(d, "owners");
		json_array(&d->j);
		for (size_t k = 0; p->live_at.n && k < p->moment_owners.n; k++)
			put_owner(d, &p->moment_owners.v[k]);
		json_array_end(&d->j);
		document_key(d, "moments");
		json_array(&d->j);
		for (size_t k = 0; k < p->live_at.n; k++)
			put_live_at(d, p, &p->live_at.v[k]);
		json_array_end(&d->j);
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
}

static void put_segment(
        struct document *d, const struct memory_use *use, const struct memory_segment *s)
{
	struct json *j = &d->j;

	json_line(j);
	json_object(j);
	if (use->several) {
		document_key(d, "worker");
		json_bytes(j, &d->scratch, s->worker);
	}
	document_key(d, "device");
	json_bytes(j, &d->scratch, s->device);
	document_key(d, "allocator");
	json_bytes(j, &d->scratch, s->allocator);
	document_key(d, "address");
	json_bytes(j, &d->scratch, str_fmt(d->a, "0x%llx", (unsigned long long)s->address));
	document_key(d, "bytes");
	json_i64(j, s->bytes);
	document_key(d, "used_bytes");
	json_i64(j, s->used);
	document_key(d, "largest_free_bytes");
	json_i64(j, s->largest_free);
	document_key(d, "blocks");
	json_i64(j, (int64_t)s->blocks);
	document_key(d, "parts_percent");
	json_array(j);
	for (unsigned i = 0; i < MEMORY_SEGMENT_PARTS; i++) {
		int64_t all = memory_segment_part(s, i + 1) - memory_segment_part(s, i);
		json_i64(j, all > 0 ? (int64_t)(100.0 * (double)s->parts[i] / (double)all) : 0);
	}
	json_array_end(j);
	json_object_end(j);
}

static void put_segments(struct document *d, const struct memory_use *use)
{
	document_key(d, "segments");
	json_array(&d->j);
	for (size_t i = 0; i < use->segments.n; i++)
		put_segment(d, use, &use->segments.v[i]);
	json_array_end(&d->j);
	document_key(d, "segments_left_out");
	json_i64(&d->j, (int64_t)use->segments_left_out);
}

static void put_use(struct document *d, const struct memory_use *use)
{
	document_key(d, "use");
	json_array(&d->j);
	for (size_t i = 0; i < use->pools.n; i++) {
		json_line(&d->j);
		json_object(&d->j);
		document_key(d, "ns");
		put_moments(&d->j, &use->pools.v[i], true);
		document_key(d, "bytes");
		put_moments(&d->j, &use->pools.v[i], false);
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
}

static void put_members(struct document *d, const void *shown)
{
	const struct memory_shown *x = shown;
	struct sheet rows;

	put_use(d, x->use);
	if (x->use->kinds.n)
		put_kinds(d, x->use);
	if (x->use->kinds.n)
		put_moments_of_live(d, x->use);
	if (x->use->segments.n)
		put_segments(d, x->use);
	document_key(d, "live");
	json_array(&d->j);
	sheet_open_json(&rows, &d->j, d->a, x->live.columns, x->live.n_columns);
	table_put_rows(&x->live, x->top, &rows);
	sheet_close(&rows);
	json_array_end(&d->j);
}

bool memory_write(const struct memory_use *use, size_t top, const struct opts *o, unsigned columns,
        struct emit *to, struct err *e)
{
	struct memory_shown shown = {
		.use = use, .top = top, .live = { .a = to->a, .key = "live" }
	};
	struct table sections[6];
	struct table x = { .a = to->a,
		.key = "memory",
		.schema = "tfprof/memory",
		.version = 2,
		.members = put_members,
		.user = &shown,
		.lead = name_first_rank(use, to->a),
		.sections = sections };

	x.n_sections = fill_sections(sections, use, o, to->a);
	set_columns(&x, columns_of_memory, titles_of_memory, N_COLUMNS(columns_of_memory), use);
	set_columns(&shown.live, columns_of_live, live_headings(use, to->a),
	        N_COLUMNS(columns_of_live), use);
	fill_live(&shown.live, use);
	fill_pools(&x, use);
	if (shown.live.rows)
		x.below = &shown.live;
	return table_write(&x, top, &o->output, columns, to, e);
}
