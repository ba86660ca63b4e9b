/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes random records, and encodes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recording_rig.h"

uint64_t spool_seed;

static uint64_t next_random(void)
{
	spool_seed = spool_seed * 6364136223846793005u + 1442695040888963407u;
	return spool_seed >> 11;
}

/* Returns a random number of any size, often a small one. */
static uint64_t any(unsigned bits)
{
	unsigned n = (unsigned)(next_random() % (bits + 1));

	return n ? (next_random() << 20 ^ next_random()) >> (64 - n) : 0;
}

static uint32_t any32(void)
{
	return (uint32_t)any(next_random() % 4 ? 6 : 32);
}

static struct spool_text any_text(void)
{
	static const char text[] = "void at::native::kernel<4>(int, float*)";

	return (struct spool_text){ text, (size_t)(next_random() % sizeof text) };
}

static struct spool_where any_where(void)
{
	return (struct spool_where){ any32(), any32(), any32() };
}

static void fill_bytes(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)next_random();
}

/* Those of the GPU. Where a record has padding, it is filled field by field: the padding stays
 * zero, and records can be compared whole. */
static void any_operation(struct spool_record *r)
{
	bool graph = next_random() % 4 == 0;

	switch (r->kind) {
	case SPOOL_KERNEL:
		r->kernel = (struct spool_kernel){ any(64), any(64), any32(), any32(), any_where(),
			.registers = any32(), .static_shared = any32(), .dynamic_shared = any32() };
		for (unsigned i = 0; i < 3; i++) {
			r->kernel.grid[i] = any32();
			r->kernel.block[i] = any32();
		}
		r->kernel.graph = graph ? 1 + any32() / 2 : 0;
		r->kernel.graph_node = r->kernel.graph ? any(64) : 0;
		break;
	case SPOOL_COPY:
		r->copy.start = any(64);
		r->copy.length = any(64);
		r->copy.bytes = any(64);
		r->copy.correlation = any32();
		r->copy.kind = 1;
		r->copy.from = 2;
		r->copy.to = 3;
		r->copy.flags = 4;
		r->copy.at = any_where();
		r->copy.peer = next_random() % 2;
		if (r->copy.peer)
			r->copy.to_device = any32();
		r->copy.graph = graph ? 7 : 0;
		break;
	case SPOOL_SET:
		r->set.start = any(64);
		r->set.length = any(64);
		r->set.bytes = any(64);
		r->set.correlation = any32();
		r->set.memory = 9;
		r->set.at = any_where();
		r->set.graph = graph ? 7 : 0;
		r->set.graph_node = graph ? any(64) : 0;
		break;
	case SPOOL_MEMORY:
		r->memory.time = any(64);
		r->memory.address = any(64);
		r->memory.bytes = any(64);
		r->memory.correlation = any32();
		r->memory.freed = next_random() % 2;
		r->memory.memory = 3;
		r->memory.at = any_where();
		r->memory.name = any32();
		break;
	case SPOOL_GRAPH:
		r->graph.start = any(64);
		r->graph.length = any(64);
		r->graph.correlation = any32();
		r->graph.at = any_where();
		r->graph.graph = any32();
		break;
	default: break;
	}
}

/* Fills random records of the program, and of the recording itself. */
static void any_event(struct spool_record *r)
{
	switch (r->kind) {
	case SPOOL_RANGE:
		r->range.op = (enum spool_range_op)(next_random() % 5);
		r->range.time = any(64);
		r->range.tid = any32();
		r->range.domain = any32();
		r->range.name = any32();
		if (r->range.op == SPOOL_START || r->range.op == SPOOL_STOP)
			r->range.id = any(64);
		break;
	case SPOOL_MARK:
		r->mark.what = (enum spool_mark_what)(next_random() % 3);
		r->mark.time = any(64);
		r->mark.label = 1;
		break;
	case SPOOL_SUM:
		r->sum = (struct spool_sum){ SPOOL_COPY, any32(), any32(), any32(), any(64),
			any(64), any(64), any(64), any(64), any(64), any(64) };
		break;
	case SPOOL_LOST:
		r->lost.why = SPOOL_LOST_WRITE;
		r->lost.count = any(64);
		break;
	case SPOOL_GAP:
		r->gap.from = any(64);
		r->gap.to = any(64);
		r->gap.why = any32();
		break;
	default: break;
	}
}

static void any_record(struct spool_record *r, uint32_t *strings)
{
	memset(r, 0, sizeof *r);
	r->kind = (enum spool_kind)(1 + next_random() % (SPOOL_N - 1));
	any_operation(r);
	any_event(r);
	switch (r->kind) {
	case SPOOL_INFO: r->info = (struct spool_info){ any_text(), any_text() }; break;
	case SPOOL_STRING:
		r->string.id = ++*strings;
		r->string.text = any_text();
		break;
	case SPOOL_CLOCK:
		r->clock = (struct spool_clock){ any(64), any(64), any(64), any(64) };
		break;
	case SPOOL_DEVICE:
		r->device.id = any32();
		r->device.name = any32();
		r->device.memory = any(64);
		r->device.multiprocessors = any32();
		r->device.major = 9;
		fill_bytes(r->device.uuid, 16);
		fill_bytes(r->device.mig_uuid, 16);
		break;
	case SPOOL_CONTEXT: r->context = (struct spool_context){ any32(), any32() }; break;
	case SPOOL_THREAD: r->thread = (struct spool_thread){ any32(), any32() }; break;
	case SPOOL_API:
		r->api = (struct spool_api){ any(64), any(64), any32(), any32(), any32(), any32() };
		break;
	case SPOOL_SYNC:
		r->sync.start = any(64);
		r->sync.length = any(64);
		r->sync.correlation = any32();
		r->sync.type = 2;
		r->sync.context = any32();
		r->sync.stream = any32();
		r->sync.event = 5;
		break;
	case SPOOL_OVERHEAD:
		r->overhead = (struct spool_overhead){ any(64), any(64), any32(), any32() };
		break;
	case SPOOL_NOTE: r->note.text = any_text(); break;
	case SPOOL_END: r->end.time = any(64); break;
	default: break;
	}
}

static void finish_block(
        struct spooled *f, struct block_encoder *put, const uint8_t *buffer, size_t *from)
{
	sb_put(&f->bytes, str_make(buffer, block_encode_finish(put)));
	for (; *from < f->n; ++*from)
		f->block[*from] = f->bytes.n;
}

struct spooled spool_make(struct arena *a, size_t n, unsigned per_block)
{
	struct block_encoder *put = ARENA_NEW(a, struct block_encoder);
	uint8_t *buffer = ARENA_ARRAY(a, BUFFER, uint8_t);
	struct spooled f = { .bytes = sb_in(a) };
	uint32_t strings = 0;
	size_t from = 0;

	f.records = ARENA_ARRAY(a, n, struct spool_record);
	f.block = ARENA_ARRAY(a, n, size_t);
	block_encode_init(put, 42);
	block_encode_begin(put, buffer, BUFFER, any(64));
	for (; f.n < n; f.n++) {
		struct spool_record *r = &f.records[f.n];
		any_record(r, &strings);
		if (put->records == per_block || !block_encode(put, r)) {
			finish_block(&f, put, buffer, &from);
			block_encode_begin(put, buffer, BUFFER, any(64));
			assert_true(block_encode(put, r));
		} else {
			continue;
		}
	}
	finish_block(&f, put, buffer, &from);
	return f;
}
