/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts what a recording contains and what was lost.
 */
#include "trace/read/recording/recordings.h"

#include "base/num.h"

static struct str text_of(struct spool_text t)
{
	return str_make(t.p, t.n);
}

void recording_facts_init(struct recording_facts *f)
{
	*f = (struct recording_facts){ 0 };
	process_identity_init(&f->who);
}

static void take_info(struct recording_facts *f, struct arena *a, const struct spool_info *info)
{
	struct str key = text_of(info->key), value = text_of(info->value);

	process_identity_take(&f->who, a, info);
	if (str_eq(key, S("launches")))
		f->compared = true;
	else if (str_eq(key, S("tfprof")))
		f->tfprof = str_copy(a, value);
	else if (str_eq(key, S("cupti")))
		num_parse_i64(value, &f->cupti);
	else if (str_eq(key, S("driver")))
		num_parse_i64(value, &f->driver);
}

static void take_lost(struct recording_facts *f, const struct spool_lost *l)
{
	f->lost.n[l->why] = num_add_u64(f->lost.n[l->why], l->count);
	if (l->at_least)
		f->lost.at_least |= 1u << l->why;
}

/* Counts the launches of graphs whose nodes are recorded. Counts changes of the launch, because the
 * nodes of one launch mostly follow one another. */
static void take_graph(struct recording_facts *f, uint32_t graph, uint32_t correlation)
{
	struct recording_graph *g = &f->graph[graph % RECORDING_GRAPHS];

	if (!graph)
		return;
	if (!f->graphs || correlation != f->graph_launch) {
		f->graphs++;
		g->run = 0;
	}
	f->graph_launch = correlation;
	g->shared |= g->graph && g->graph != graph;
	g->graph = graph;
	g->nodes++;
	g->run++;
	if (g->run > g->most)
		g->most = g->run;
}

/* Stores the last work of each stream: if it has a record, all earlier work has ended. */
static void take_stream(struct recording_facts *f, const struct spool_where *at, uint32_t graph,
        uint32_t correlation)
{
	struct recording_stream *s =
	        &f->stream[(at->stream + 31 * at->context + 7 * at->device) % RECORDING_GRAPHS];

	s->shared |= s->used && memcmp(&s->at, at, sizeof *at) != 0;
	if (s->used && (int32_t)(correlation - s->last) < 0)
		return;
	s->used = true;
	s->at = *at;
	s->last = correlation;
	s->graph = graph;
}

static void take_work(struct recording_facts *f, const struct spool_where *at, uint32_t graph,
        uint32_t correlation)
{
	take_graph(f, graph, correlation);
	take_stream(f, at, graph, correlation);
}

/* True if the last work of a stream is a graph that was launched once: the graph may have more
 * nodes than have ended. */
static bool may_end_early(const struct recording_facts *f)
{
	for (unsigned i = 0; i < RECORDING_GRAPHS; i++) {
		const struct recording_stream *s = &f->stream[i];
		const struct recording_graph *g = &f->graph[s->graph % RECORDING_GRAPHS];

		if (s->graph && !s->shared && (g->shared || g->nodes == g->most))
			return true;
	}
	return false;
}

/* True if nodes of a graph are certainly missing, because its launches have different numbers of
 * nodes. (A graph that chooses at run time which of its nodes run is an exception.) */
static bool is_uneven(const struct recording_facts *f)
{
	for (unsigned i = 0; i < RECORDING_GRAPHS; i++)
		if (f->graph[i].most && !f->graph[i].shared && f->graph[i].nodes % f->graph[i].most)
			return true;
	return false;
}

/* True if records are missing or may be missing. */
static bool misses_records(const struct recording_facts *f)
{
	static const unsigned why[] = { SPOOL_LOST_DROPPED, SPOOL_LOST_WRITE, SPOOL_LOST_KEPT,
		SPOOL_LOST_UNREAD, SPOOL_LOST_KERNELS };

	for (unsigned i = 0; i < sizeof why / sizeof *why; i++)
		if (f->lost.n[why[i]] || recording_is_bound(&f->lost, why[i]))
			return true;
	return !f->ended || f->fault.cut.why;
}

static void take(struct recording_facts *f, struct arena *a, const struct spool_record *r)
{
	f->totals[r->kind] = num_add_u64(f->totals[r->kind], 1);
	f->ended = r->kind == SPOOL_END;
	switch (r->kind) {
	case SPOOL_INFO: take_info(f, a, &r->info); break;
	case SPOOL_LOST: take_lost(f, &r->lost); break;
	case SPOOL_KERNEL:
		f->single += !r->kernel.graph;
		take_work(f, &r->kernel.at, r->kernel.graph, r->kernel.correlation);
		break;
	case SPOOL_COPY: take_work(f, &r->copy.at, r->copy.graph, r->copy.correlation); break;
	case SPOOL_SET: take_work(f, &r->set.at, r->set.graph, r->set.correlation); break;
	case SPOOL_GAP:
		f->gaps++;
		if (r->gap.to > r->gap.from)
			f->gap_ns = num_add_u64(f->gap_ns, r->gap.to - r->gap.from);
		break;
	case SPOOL_NOTE:
		if (f->notes.n < RECORDING_NOTES_MAX)
			strs_add(a, &f->notes, str_copy(a, text_of(r->note.text)));
		break;
	case SPOOL_SUM:
		f->summed[r->sum.what] = num_add_u64(f->summed[r->sum.what], r->sum.count);
		break;
	default: break;
	}
}

void recording_facts_take(struct recording_facts *f, struct arena *a, enum spool_event event,
        const struct spool_record *r, const struct spool_damage *d)
{
	spool_fault_take(&f->fault, event, r, d);
	if (event == SPOOL_EVENT_RECORD)
		take(f, a, r);
}

/* ---- launches ---- */

static void sum_up(
        const struct spool_count *c, uint64_t *kernels, uint64_t *graphs, uint64_t *unsure)
{
	*kernels = *graphs = *unsure = 0;
	for (unsigned i = 0; i < SPOOL_COUNT_SHARDS; i++) {
		/* threads share the counters, so a single counter may be negative; the sum is
		 * correct */
		*kernels += c->shard[i].kernels;
		*graphs += c->shard[i].graphs;
		*unsure += c->shard[i].unsure;
	}
}

static uint64_t rest(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

/* Counts n missing kernels. more: there may be more than n. */
static void miss(struct recording_facts *f, uint64_t n, bool more)
{
	f->lost.n[SPOOL_LOST_KERNELS] = num_add_u64(f->lost.n[SPOOL_LOST_KERNELS], n);
	if (more)
		f->lost.at_least |= 1u << SPOOL_LOST_KERNELS;
}

void recording_facts_count(struct recording_facts *f, const struct spool_count *c)
{
	uint64_t kernels, graphs, unsure, summed = f->summed[SPOOL_KERNEL];
	bool whole = c->flags & SPOOL_COUNT_GRAPHS, known;

	if (!c->version && !f->totals[SPOOL_INFO])
		miss(f, 0, true); /* nothing could be written */
	if (!c->version)
		return;
	sum_up(c, &kernels, &graphs, &unsure);
	f->exited = c->status;
	f->count_flags = c->flags;
	f->launched = num_add_u64(kernels, graphs);
	f->counted = c->flags & SPOOL_COUNT_ON && !(c->flags & SPOOL_COUNT_PART) &&
	             (f->ended || !(c->flags & SPOOL_COUNT_LATE));
	/* Sums of kernels do not show which kernels a graph launched. After a sudden end, it is
	 * unknown whether another client has stopped the count. */
	known = f->counted && !(summed && graphs) && !(c->flags & SPOOL_COUNT_CHANGED) && f->ended;
	uint64_t single = num_add_u64(f->single, summed);
	uint64_t seen = num_add_u64(whole ? f->totals[SPOOL_GRAPH] : f->graphs, summed);
	uint64_t lost = rest(kernels, single), lost_graphs = rest(graphs, seen);

	if (lost || lost_graphs)
		miss(f, num_add_u64(lost, lost_graphs), !known || unsure);
	else if (c->flags & SPOOL_COUNT_PART || !f->ended || single < num_add_u64(kernels, unsure))
		miss(f, 0, true);
	/* The number of nodes of a graph is not known. */
	if (graphs && !whole && (misses_records(f) || is_uneven(f) || may_end_early(f)))
		miss(f, 0, true);
	f->compared = known && (!unsure || single == num_add_u64(kernels, unsure));
}

void recording_end_text(struct sb *b, const struct recording_facts *f)
{
	unsigned status = f->exited - 1;

	if (f->count_flags & SPOOL_COUNT_SHUT)
		sb_put(b, S("closed the descriptor of its recording"));
	else if (f->count_flags & SPOOL_COUNT_EXITS)
		sb_put(b, S("ended before its recording was closed"));
	else if (!f->exited)
		sb_put(b, S("was killed, ended by _exit or exec, or is still recording"));
	else if (status & 127)
		sb_fmt(b, "was ended by signal %u", status & 127);
	else
		sb_fmt(b, "ended by _exit or exec, with status %u", status >> 8 & 255);
}

uint64_t recording_kernels(const struct recording_facts *f)
{
	return num_add_u64(num_add_u64(f->totals[SPOOL_KERNEL], f->summed[SPOOL_KERNEL]),
	        f->totals[SPOOL_GRAPH]);
}

uint64_t recording_copies(const struct recording_facts *f)
{
	uint64_t records = num_add_u64(f->totals[SPOOL_COPY], f->totals[SPOOL_SET]);

	return num_add_u64(records, num_add_u64(f->summed[SPOOL_COPY], f->summed[SPOOL_SET]));
}

void recording_losses_add(struct recording_losses *to, const struct recording_losses *l)
{
	for (unsigned i = 0; i < SPOOL_LOST_WHY_N; i++)
		to->n[i] = num_add_u64(to->n[i], l->n[i]);
	to->at_least |= l->at_least;
}

uint64_t recording_lost_work(const struct recording_losses *l)
{
	uint64_t most = 0;

	for (int i = 0; i < SPOOL_LOST_WHY_N; i++)
		if (i != SPOOL_LOST_RANGES && i != SPOOL_LOST_NAMES && l->n[i] > most)
			most = l->n[i];
	return most;
}

static void put_lost(struct sb *b, uint64_t n, bool at_least, const char *what)
{
	sb_put(b, b->n ? S(", ") : S(""));
	if (at_least && !n) {
		sb_fmt(b, "possibly %s", what);
		return;
	}
	sb_put(b, at_least ? S("at least ") : S(""));
	sb_counted(b, n, str_of(what));
}

void recording_lost_text(struct sb *b, const struct recording_losses *l, uint64_t damaged)
{
	static const char *const why[] = { [SPOOL_LOST_DROPPED] = "records dropped by CUPTI",
		[SPOOL_LOST_UNKNOWN] = "records of unknown kinds",
		[SPOOL_LOST_UNTIMED] = "records with impossible times",
		[SPOOL_LOST_RANGES] = "NVTX events lost",
		[SPOOL_LOST_WRITE] = "records not written",
		[SPOOL_LOST_KEPT] = "records withheld by CUPTI",
		[SPOOL_LOST_KERNELS] = "kernels launched but not recorded",
		[SPOOL_LOST_UNREAD] = "records that CUPTI could not read",
		[SPOOL_LOST_NAMES] = "names shortened or shared",
		[SPOOL_LOST_RUNNING] = "operations without times, not ended or not timed" };

	for (unsigned i = 0; i < SPOOL_LOST_WHY_N; i++)
		if (l->n[i] || recording_is_bound(l, i))
			put_lost(b, l->n[i], recording_is_bound(l, i), why[i]);
	if (damaged)
		put_lost(b, damaged, false, "bytes damaged");
}
