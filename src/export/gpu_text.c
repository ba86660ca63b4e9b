/* SPDX-License-Identifier: Apache-2.0
 *
 * See gpu_tables.h. Lines of at most 80 letters, names apart.
 */
#include "base/demangle.h"
#include "base/fmt.h"
#include "base/num.h"
#include "trace/recordings.h"
#include "export/gpu_tables.h"

#define PARTS_MAX 16  /* processes that are listed below a GPU */
#define NAME_MIN  12  /* a name is not shortened below this */
#define NUMBERS   67  /* columns of the numbers before a name */
#define NARROW    100 /* terminals below have no room for all numbers beside a name */
#define LEFT_OUT  14  /* columns that these tables omit: min and stddev */

struct page {
	const struct gpu_use *u;
	struct arena *a;
	struct sink *to;
	unsigned columns;
};

struct str gpu_uuid(struct arena *a, const struct gpu_device *d)
{
	struct sb b = sb_in(a);

	if (!d->gpu || !recorded_gpu_known(d->gpu))
		return STR_NONE;
	sb_put(&b, S("GPU-"));
	for (unsigned i = 0; i < 16; i++)
		sb_fmt(&b, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
		        d->gpu->identity[i]);
	return sb_str(&b);
}

static const char *time_text(struct page *p, double ns)
{
	struct sb b = sb_in(p->a);

	table_put_time(&b, num_from_real(ns + 0.5));
	return str_z(p->a, sb_str(&b));
}

static const char *percent(struct page *p, int64_t part, int64_t whole)
{
	double share = whole > 0 ? 100.0 * (double)part / (double)whole : 0;

	return str_z(p->a, str_fmt(p->a, "%.1f%%", share));
}

/* Appends the rate of a number of bytes in a number of nanoseconds. */
static const char *rate(struct page *p, int64_t bytes, int64_t ns)
{
	if (ns <= 0)
		return "";
	return str_z(p->a, str_fmt(p->a, "%.2f GB/s", (double)bytes / (double)ns));
}

static bool is_narrow(const struct page *p)
{
	return p->columns && p->columns < NARROW;
}

/* Appends a name from a recording as a part of one line. */
static struct str one_line(struct page *p, struct str name)
{
	struct sb b = sb_in(p->a);

	sb_put_name(&b, name);
	return sb_str(&b);
}

/* The name. Where the line would be too long it goes without templates and parameters, then without
 * its middle; letters of more than one byte are not cut apart. */
static struct str name_text(struct page *p, const struct gpu_times *t)
{
	size_t numbers = NUMBERS - (is_narrow(p) ? LEFT_OUT : 0),
	       room = p->columns > numbers + NAME_MIN ? p->columns - numbers : NAME_MIN;
	struct str name = one_line(p, t->name);

	if (!p->columns || name.n <= room)
		return name;
	name = t->path.n ? one_line(p, t->path) : name;
	if (name.n <= room)
		return name;
	return table_shorten(p->a, name, room > NAME_MIN ? room : NAME_MIN);
}

/* ---- a GPU ---- */

static void put_gaps(struct page *p, const struct gpu_device *d)
{
	const struct hist *g = &d->gaps;

	if (g->n)
		sink_fmt(p->to, "%llu gaps: median %s, p99 %s, max %s", (unsigned long long)g->n,
		        time_text(p, (double)hist_quantile(g, 500)),
		        time_text(p, (double)hist_quantile(g, 990)), time_text(p, (double)g->max));
	else
		sink_put(p->to, S("no gaps"));
}

static void put_ways(struct page *p, const struct gpu_device *d)
{
	for (enum gpu_way i = 0; i < WAY_N; i++) {
		const struct gpu_copies *c = &d->ways[i];
		struct sb bytes = sb_in(p->a);
		if (!c->count)
			continue;
		fmt_bytes(&bytes, c->bytes);
		sink_fmt(p->to, "  %-8s %7s %6llu  %10.*s  %s\n", gpu_ways[i],
		        time_text(p, (double)c->ns), (unsigned long long)c->count,
		        STR(sb_str(&bytes)), rate(p, c->bytes, c->ns));
	}
}

static void put_parts(struct page *p, const struct gpu_device *d)
{
	int64_t time = num_sub(d->to, d->from);

	for (size_t i = 0; d->parts.n > 1 && i < d->parts.n && i < PARTS_MAX; i++) {
		const struct gpu_part *x = &p->u->parts.v[d->parts.v[i]];
		const struct process_identity *who = &gpu_facts(p->u, x->process)->who;
		sink_fmt(p->to, "  %-8lld %7s %6s  %8llu  ", (long long)who->pid,
		        time_text(p, (double)x->busy), percent(p, x->busy, time),
		        (unsigned long long)x->kernels);
		sink_put(p->to, one_line(p, who->program));
		if (who->rank >= 0)
			sink_fmt(p->to, ", rank %lld", (long long)who->rank);
		if (who->job.n)
			sink_fmt(p->to, ", job %.*s", STR(one_line(p, who->job)));
		sink_char(p->to, '\n');
	}
	if (d->parts.n > PARTS_MAX)
		sink_fmt(p->to, "  and %zu processes more\n", d->parts.n - PARTS_MAX);
}

static void put_line(struct page *p, const char *name, int64_t part, int64_t whole)
{
	sink_fmt(p->to, "  %-8s %7s %6s  ", name, time_text(p, (double)part),
	        percent(p, part, whole));
}

static void put_device(struct page *p, const struct gpu_device *d)
{
	int64_t time = num_sub(d->to, d->from), idle = num_sub(time, d->busy);
	struct str uuid = gpu_uuid(p->a, d);

	sink_fmt(p->to, "GPU %u", d->number);
	if (d->gpu && d->gpu->name.n)
		sink_fmt(p->to, ": %.*s", STR(one_line(p, d->gpu->name)));
	if (uuid.n)
		sink_fmt(p->to, ", %.*s", STR(uuid));
	sink_fmt(p->to, "\n  %-8s %7s %6s  first operation to end of last\n", "time",
	        time_text(p, (double)time), "");
	put_line(p, "busy", d->busy, time);
	sink_put(p->to, S("something runs\n"));
	put_line(p, "idle", idle, time);
	put_gaps(p, d);
	sink_char(p->to, '\n');
	put_line(p, "kernels", d->busy_kernels, time);
	sink_fmt(p->to, "%llu launched\n", (unsigned long long)d->kernels);
	put_line(p, "copies", d->busy_copies, time);
	if (d->busy_copies)
		sink_fmt(p->to, "%s of that beside kernels\n",
		        percent(p, d->overlap, d->busy_copies));
	else
		sink_put(p->to, S("none\n"));
	put_ways(p, d);
	if (d->parts.n > 1) {
		put_line(p, "shared", d->shared, time);
		sink_fmt(p->to, "by two of the %zu processes, or more, at once\n", d->parts.n);
	}
	put_parts(p, d);
	sink_char(p->to, '\n');
}

/* ---- tables ---- */

static void put_times(struct page *p, const struct gpu_times *t, int64_t all)
{
	const struct hist *h = &t->h;
	uint64_t n = gpu_count(t);

	sink_fmt(p->to, "%7s %6s %8llu", time_text(p, (double)gpu_total(t)),
	        percent(p, gpu_total(t), all), (unsigned long long)n);
	sink_fmt(p->to, " %6s", time_text(p, n ? (double)gpu_total(t) / (double)n : 0));
	sink_fmt(p->to, " %6s %6s", h->n ? time_text(p, (double)hist_quantile(h, 500)) : "-",
	        h->n ? time_text(p, (double)hist_quantile(h, 990)) : "-");
	if (!is_narrow(p))
		sink_fmt(p->to, " %6s", time_text(p, (double)gpu_min(t)));
	sink_fmt(p->to, " %6s", time_text(p, (double)gpu_max(t)));
	if (!is_narrow(p))
		sink_fmt(p->to, " %6s", h->n ? time_text(p, hist_deviation(h)) : "-");
	sink_put(p->to, S("  "));
	sink_put(p->to, name_text(p, t));
	sink_char(p->to, '\n');
}

static void put_table(
        struct page *p, const struct gpu_times *v, size_t n, size_t top, const char *what)
{
	int64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all = num_add(all, gpu_total(&v[i]));
	bool narrow = is_narrow(p);
	sink_fmt(p->to, "%7s %6s %8s %6s %6s %6s%s %6s%s  %s\n", "total", "share", "count", "mean",
	        "median", "p99", narrow ? "" : "    min", "max", narrow ? "" : " stddev", what);
	for (size_t i = 0; i < n && i < top; i++) {
		struct arena_mark m = arena_mark(p->a);
		if (gpu_count(&v[i]))
			put_times(p, &v[i], all);
		arena_reset(p->a, m);
	}
	gpu_put_rest(n, top, p->to);
	sink_char(p->to, '\n');
}

/* ---- losses ---- */

static void put_missing(struct page *p)
{
	const struct gpu_use *u = p->u;
	struct sb b = sb_in(p->a);
	size_t open = 0;

	for (uint32_t i = 0; i < u->processes.n; i++)
		open += !gpu_facts(u, i)->ended;
	recording_lost_text(&b, u->lost, u->damaged);
	sink_fmt(p->to, "Lost: %.*s.\n", STR(b.n ? sb_str(&b) : S("nothing that is known of")));
	if (open && u->processes.n == 1)
		sink_put(p->to, S("The process had not closed its spool: what it recorded last "
		                  "may be missing.\n"));
	else if (open)
		sink_fmt(p->to,
		        "%zu of %zu processes had not closed their spools: what they recorded last "
		        "may be missing.\n",
		        open, u->processes.n);
	if (u->untimed)
		sink_fmt(p->to, "%llu operations have no times: counted above, but in no sum.\n",
		        (unsigned long long)u->untimed);
	if (u->summed)
		sink_fmt(p->to,
		        "%llu operations came after --max-size: in totals and means, not in busy "
		        "times, gaps,\nmedians and deviations.\n",
		        (unsigned long long)u->summed);
	if (u->gaps)
		sink_fmt(p->to, "%llu time%s, %s in all, a process did not record.\n",
		        (unsigned long long)u->gaps, u->gaps == 1 ? "" : "s",
		        time_text(p, (double)u->gap_ns));
	for (size_t i = 0; i < u->notes.n; i++)
		sink_fmt(p->to, "Note: %.*s.\n", STR(one_line(p, u->notes.v[i])));
}

void gpu_text(const struct gpu_use *u, size_t top, unsigned columns, struct sink *to)
{
	struct page p = { .u = u, .a = u->a, .to = to, .columns = columns };
	const struct gpu_workers one = { &(struct gpu_worker){ .u = u }, 1 };

	for (size_t i = 0; i < u->devices.n; i++)
		put_device(&p, &u->devices.v[i]);
	if (!u->devices.n)
		sink_put(to, S("No GPU did anything.\n\n"));
	if (u->waits.n)
		put_table(&p, u->waits.v, u->waits.n, top, "the host waits in");
	else if (u->syncs[0].h.n + u->syncs[1].h.n + u->syncs[3].h.n + u->syncs[4].h.n)
		put_table(&p, u->syncs, GPU_SYNCS, GPU_SYNCS, "the host waits for");
	else
		sink_put(to, S("The host waited in no call that was recorded.\n\n"));
	if (top && u->kernels.n)
		put_table(&p, u->kernels.v, u->kernels.n, top, "kernel");
	if (top)
		gpu_tables_text(&one, false, top, columns, to);
	put_missing(&p);
}
