/* SPDX-License-Identifier: Apache-2.0
 *
 * See trace_tables.h. The document has three lists:
 *
 *   memory   a row for each allocator
 *   use      for each allocator, times and the bytes in use from each of them on
 *   live     what each op has allocated at the moment of an allocator's largest use
 */
#include "export/trace_tables.h"

#include "export/table.h"

#define MOMENTS 1000 /* parts of the time of an allocator; each has at most two moments */

static const struct column pool_columns[] = { NUMBER_COLUMN("peak_bytes", "bytes"),
	NUMBER_COLUMN("peak_at_ns", "ns"), NUMBER_COLUMN("live_bytes", "bytes"),
	NUMBER_COLUMN("allocations", NULL), NUMBER_COLUMN("frees", NULL),
	NUMBER_COLUMN("allocated_bytes", "bytes"), NUMBER_COLUMN("reserved_bytes", "bytes"),
	NUMBER_COLUMN("capacity_bytes", "bytes"), NUMBER_COLUMN("step", NULL),
	TEXT_COLUMN("device"), TEXT_COLUMN("allocator") };
static const struct column live_columns[] = { NUMBER_COLUMN("bytes", "bytes"),
	{ S("share"), COLUMN_REAL, "percent" }, NUMBER_COLUMN("buffers", NULL),
	TEXT_COLUMN("device"), TEXT_COLUMN("allocator"), TEXT_COLUMN("op") };

struct memory_shown {
	const struct memory_use *use;
	struct table live;
	size_t top;
};

static void put_known(struct table *x, bool known, int64_t v)
{
	if (known)
		table_number(x, v);
	else
		table_null(x);
}

static void put_text(struct table *x, struct str s)
{
	if (s.p)
		table_text(x, s);
	else
		table_null(x);
}

/* ---- tables ---- */

static void fill_pools(struct table *x, const struct memory_use *use)
{
	for (size_t i = 0; i < use->pools.n; i++, x->rows++) {
		const struct memory_pool *p = &use->pools.v[i];
		bool used = p->use.n > 0;
		int64_t most = used ? p->use.v[p->most].bytes : -1;
		put_known(x, used || p->peak >= 0, p->peak >= 0 ? p->peak : most);
		put_known(x, used, used ? p->use.v[p->most].ns - p->use.v[0].ns : 0);
		put_known(x, p->known_live, memory_live_bytes(p));
		table_number(x, num_from_u64(p->allocations));
		table_number(x, num_from_u64(p->frees));
		table_number(x, p->allocated);
		put_known(x, p->reserved >= 0, p->reserved);
		put_known(x, p->capacity >= 0, p->capacity);
		put_known(x, p->step != MEMORY_NO_STEP, p->step);
		put_text(x, p->device);
		put_text(x, p->allocator);
	}
}

static void fill_live(struct table *x, const struct memory_use *use)
{
	for (size_t i = 0; i < use->pools.n; i++) {
		const struct memory_pool *p = &use->pools.v[i];
		int64_t all = memory_live_bytes(p);
		for (size_t k = 0; k < p->live.n; k++, x->rows++) {
			const struct memory_owner *o = &p->live.v[k];
			table_number(x, o->bytes);
			table_number(x, (int64_t)(1e4 * (double)o->bytes / (double)all + 0.5));
			table_number(x, num_from_u64(o->buffers));
			put_text(x, p->device);
			put_text(x, p->allocator);
			put_text(x, o->name);
		}
	}
}

/* ---- use over time ---- */

static void put_moment(struct json *j, const struct memory_pool *p, size_t i, bool time)
{
	json_i64(j, time ? p->use.v[i].ns : p->use.v[i].bytes);
}

/* The part of the time in which a moment lies. */
static size_t part_of(const struct memory_pool *p, size_t i)
{
	double from = (double)p->use.v[0].ns, length = (double)p->use.v[p->use.n - 1].ns - from;

	return length > 0 ? (size_t)(((double)p->use.v[i].ns - from) / length * MOMENTS) : 0;
}

/* Writes times or bytes. Of each part of the time only the largest use and the last one remain. */
static void put_moments(struct json *j, const struct memory_pool *p, bool time)
{
	json_array(j);
	for (size_t i = 0, n = p->use.n; i < n;) {
		size_t part = part_of(p, i), most = i, last = i;
		for (; i < n && part_of(p, i) == part; i++) {
			last = i;
			most = p->use.v[i].bytes > p->use.v[most].bytes ? i : most;
		}
		put_moment(j, p, most, time);
		if (last != most)
			put_moment(j, p, last, time);
	}
	json_array_end(j);
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
	struct memory_shown shown = { .use = use,
		.top = top,
		.live = { .a = to->a,
		        .key = "live",
		        .columns = live_columns,
		        .n_columns = sizeof live_columns / sizeof *live_columns } };
	struct table x = { .a = to->a,
		.key = "memory",
		.schema = "tfprof/memory",
		.columns = pool_columns,
		.n_columns = sizeof pool_columns / sizeof *pool_columns,
		.members = put_members,
		.user = &shown };

	fill_live(&shown.live, use);
	fill_pools(&x, use);
	if (shown.live.rows)
		x.below = &shown.live;
	return table_write(&x, top, &o->output, columns, to, e);
}
