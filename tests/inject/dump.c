/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints a spool as lines of JSON, one for each record, then one that says how it ended: for the
 * tests. dump [--count] FILE
 * --count: totals alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "io/recording_in.h"

#define KIND_NAME(name, text) [SPOOL_##name] = #name,
static const char *const kinds[SPOOL_N] = { SPOOL_KINDS(KIND_NAME) };

static void text(const char *key, const char *p, size_t n)
{
	printf(", \"%s\": \"", key);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		if (c < ' ' || c == '"' || c == '\\')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void string(const struct block_decoder *g, const char *key, uint32_t id)
{
	struct str s = block_decode_string(g, id);

	text(key, s.p ? s.p : "", s.p ? s.n : 0);
}

static void field(const char *key, uint64_t v)
{
	printf(", \"%s\": %" PRIu64, key, v);
}

static void put_work(uint64_t start, uint64_t length, uint32_t correlation)
{
	field("start", start);
	field("length", length);
	field("correlation", correlation);
}

/* Prints a UUID in the format of the driver's tools. */
static void uuid(const uint8_t u[16])
{
	printf(", \"uuid\": \"GPU-");
	for (unsigned i = 0; i < 16; i++)
		printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[i]);
	putchar('"');
}

static void where(const struct spool_where *w)
{
	field("device", w->device);
	field("context", w->context);
	field("stream", w->stream);
}

static void print_more(const struct block_decoder *g, const struct spool_record *r)
{
	switch (r->kind) {
	case SPOOL_MEMORY:
		field("freed", r->memory.freed);
		field("bytes", r->memory.bytes);
		field("address", r->memory.address);
		break;
	case SPOOL_SYNC:
		put_work(r->sync.start, r->sync.length, r->sync.correlation);
		field("type", r->sync.type);
		break;
	case SPOOL_GRAPH:
		put_work(r->graph.start, r->graph.length, r->graph.correlation);
		field("graph", r->graph.graph);
		break;
	case SPOOL_RANGE:
		field("op", r->range.op);
		field("time", r->range.time);
		field("tid", r->range.tid);
		field("id", r->range.id);
		string(g, "domain", r->range.domain);
		string(g, "name", r->range.name);
		break;
	case SPOOL_NODE:
		field("id", r->node.id);
		field("tid", r->node.tid);
		field("original", r->node.original);
		field("time", r->node.time);
		break;
	case SPOOL_MARK:
		field("what", r->mark.what);
		field("time", r->mark.time);
		break;
	case SPOOL_SUM:
		field("what", r->sum.what);
		string(g, "name", r->sum.name);
		field("count", r->sum.count);
		field("sum", r->sum.sum);
		field("min", r->sum.min);
		field("max", r->sum.max);
		field("bytes", r->sum.bytes);
		break;
	case SPOOL_LOST:
		field("why", r->lost.why);
		field("count", r->lost.count);
		field("bound", r->lost.at_least);
		break;
	case SPOOL_GAP:
		field("from", r->gap.from);
		field("to", r->gap.to);
		string(g, "text", r->gap.why);
		break;
	case SPOOL_NOTE: text("text", r->note.text.p, r->note.text.n); break;
	default: break;
	}
}

static void print(const struct block_decoder *g, const struct spool_record *r)
{
	printf("{\"kind\": \"%s\"", kinds[r->kind]);
	switch (r->kind) {
	case SPOOL_INFO:
		text("key", r->info.key.p, r->info.key.n);
		text("value", r->info.value.p, r->info.value.n);
		break;
	case SPOOL_CLOCK:
		field("realtime", r->clock.realtime);
		field("raw", r->clock.monotonic_raw);
		field("cupti", r->clock.cupti);
		field("width", r->clock.width);
		break;
	case SPOOL_DEVICE:
		field("id", r->device.id);
		field("memory", r->device.memory);
		field("uuid0", r->device.uuid[0]);
		uuid(r->device.uuid);
		string(g, "name", r->device.name);
		break;
	case SPOOL_CONTEXT: field("id", r->context.id); break;
	case SPOOL_THREAD:
		field("tid", r->thread.tid);
		string(g, "name", r->thread.name);
		break;
	case SPOOL_KERNEL:
		put_work(r->kernel.start, r->kernel.length, r->kernel.correlation);
		where(&r->kernel.at);
		string(g, "name", r->kernel.name);
		field("grid", r->kernel.grid[0]);
		field("block", r->kernel.block[0]);
		field("registers", r->kernel.registers);
		field("graph", r->kernel.graph);
		field("node", r->kernel.graph_node);
		break;
	case SPOOL_COPY:
		put_work(r->copy.start, r->copy.length, r->copy.correlation);
		field("type", r->copy.kind);
		field("bytes", r->copy.bytes);
		field("peer", r->copy.peer);
		break;
	case SPOOL_SET:
		put_work(r->set.start, r->set.length, r->set.correlation);
		field("bytes", r->set.bytes);
		break;
	case SPOOL_API:
		put_work(r->api.start, r->api.length, r->api.correlation);
		string(g, "name", r->api.name);
		field("tid", r->api.tid);
		break;
	default: print_more(g, r); break;
	}
	puts("}");
}

/* Prints the launches that were counted. */
static void put_count(const struct spool_count *c)
{
	uint64_t kernels = 0, graphs = 0, unsure = 0;

	for (unsigned i = 0; i < SPOOL_COUNT_SHARDS; i++) {
		kernels += c->shard[i].kernels;
		graphs += c->shard[i].graphs;
		unsure += c->shard[i].unsure;
	}
	field("launches", kernels);
	field("graph_launches", graphs);
	field("unsure", unsure);
	field("flags", c->flags);
}

/* Reads the whole recording; the last line has the totals. */
static int dump(const char *path, bool count, struct arena *a, struct err *e)
{
	uint64_t totals[SPOOL_N] = { 0 }, damaged = 0;
	struct src *s;
	struct spool_record r;
	struct spool_damage d;
	struct block_decoder g;
	enum spool_event event;

	if (!src_open(&s, a, str_of(path), e))
		return 2;
	block_decode_init(&g, s, a, e);
	while ((event = block_decode(&g, &r, &d)) == SPOOL_EVENT_RECORD ||
	        event == SPOOL_EVENT_DAMAGE) {
		if (event == SPOOL_EVENT_DAMAGE) {
			damaged += d.skipped;
			continue;
		}
		totals[r.kind]++;
		if (!count && r.kind != SPOOL_STRING)
			print(&g, &r);
	}
	printf("{\"kind\": \"TOTALS\", \"complete\": %d, \"damaged\": %" PRIu64, g.ended, damaged);
	for (unsigned i = 1; i < SPOOL_N; i++)
		field(kinds[i], totals[i]);
	put_count(&g.count);
	puts("}");
	src_close(s);
	return event == SPOOL_EVENT_FAILED;
}

int main(int argc, char **argv)
{
	struct account account = { 0 };
	struct work w = { .account = &account };
	struct arena a;
	struct err e = { .a = &a };

	if (argc < 2)
		return 2;
	if (setjmp(w.escape))
		return 3;
	arena_init(&a, &w);
	int status = dump(argv[argc - 1], argc > 2 && !strcmp(argv[1], "--count"), &a, &e);

	if (e.code)
		fprintf(stderr, "%.*s\n", (int)e.text.n, e.text.p);
	arena_free(&a);
	return status;
}
