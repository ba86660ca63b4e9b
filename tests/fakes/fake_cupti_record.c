/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of the fake CUPTI: each field is put where that version's own headers have it.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake_cupti.h"

/* Sizes of records in this version; 0: there is no such kind. */
static unsigned size_of[KINDS] = {
	[1] = NEWEST            ? 112
	      : NEWER || MIDDLE ? 96
	                        : 88,
	[2] = NEWEST ? 104 : 88,
	[4] = 40,
	[5] = 40,
	[8] = NEWEST   ? 192
	      : MIDDLE ? 184
	               : 176,
	[9] = NEWEST   ? 40
	      : MIDDLE ? 32
	               : 16,
	[10] = NEWEST   ? 248
	       : NEWER  ? 216
	       : MIDDLE ? 208
	                : 200,
	[17] = MIDDLE ? 56 : 40,
	[22] = 96,
	[38] = MIDDLE ? 56 : 40,
	[49] = NEWER ? 128 : 120,
	[51] = MIDDLE ? 56 : 48,
	[55] = 48,
};

unsigned fake_record_size(unsigned kind)
{
	return kind < KINDS ? size_of[kind] : 0;
}

__attribute__((constructor)) static void set_sizes(void)
{
	if (fake_option("FAKE_KERNEL_SIZE"))
		size_of[10] = (unsigned)fake_option("FAKE_KERNEL_SIZE");
}

static uint8_t *record(struct shard *s, unsigned kind)
{
	uint8_t *p = fake_room(s, size_of[kind]);

	if (!p)
		return NULL;
	memset(p, 0, size_of[kind]);
	memcpy(p, &kind, 4);
	return p;
}

static void put(uint8_t *p, unsigned at, uint64_t v, unsigned size)
{
	memcpy(p + at, &v, size);
}
#define PUT32(at, v) put(p, at, (uint64_t)(v), 4)
#define PUT64(at, v) put(p, at, (uint64_t)(v), 8)

static void times(uint64_t *start, uint64_t *end)
{
	if (fake_option_is("FAKE_TIMES", "zero"))
		*start = *end = 0;
	if (fake_option_is("FAKE_TIMES", "negative"))
		*end = *start - 100;
	if (fake_option_is("FAKE_TIMES", "huge"))
		*end = UINT64_MAX - 5;
	if (fake_option_is("FAKE_TIMES", "early"))
		*start = *end = *start - 3600u * 1000000000u;
}

/* ---- records ---- */

uint32_t fake_tid(const struct fake_client *c)
{
	static __thread uint32_t mine;

	if (!mine)
		mine = (uint32_t)syscall(SYS_gettid);
	return GET(c->system_tids) ? mine : (uint32_t)pthread_self();
}

/* Puts a kernel behind those before it. */
static void queue(const struct fake_op *op, uint64_t *start, uint64_t *end)
{
	static uint64_t busy_until;
	uint64_t free_at = GET(busy_until);
	uint64_t length = fake_option("FAKE_SERIAL") * 1000000;

	if (!length)
		return;
	if (op->what == FAKE_LAUNCH && op->bytes)
		length = op->bytes;
	do {
		if (*start < free_at)
			*start = free_at;
		*end = *start + length;
	} while (!__atomic_compare_exchange_n(
	        &busy_until, &free_at, *end, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

static void put_kernel(
        struct shard *s, const struct fake_op *op, uint32_t correlation, uint64_t at, uint64_t node)
{
	uint64_t length = op->what == FAKE_LAUNCH && op->bytes ? op->bytes : 1000 + node;
	uint64_t start = at + 500, end = start + length;
	uint8_t *p = record(s, 10);

	if (!p)
		return;
	queue(op, &start, &end);
	times(&start, &end);
	put(p, 6, 32, 2);
	PUT32(40, 0);
	PUT32(44, 1);
	PUT32(48, op->stream + 7);
	for (unsigned i = 0; i < 3; i++) {
		PUT32(52 + 4 * i, op->grid[i] ? op->grid[i] : 1);
		PUT32(64 + 4 * i, op->block[i] ? op->block[i] : 1);
	}
	PUT32(80, op->shared);
	PUT32(92, correlation);
	PUT64(104, (uintptr_t)(op->name ? op->name : "_Z4nodev"));
	if (node) {
		PUT64(144, node);
		PUT32(156, 5);
	}
	fake_put_times(s, p, 16, 24, start, end);
}

static void put_transfer(
        struct shard *s, const struct fake_op *op, uint32_t correlation, uint64_t at)
{
	int peer = op->kind == 10, set = op->what == FAKE_SET;
	uint8_t *p = record(s, set ? 2 : peer ? 22 : 1);

	if (!p)
		return;
	if (!set) {
		put(p, 4, (uint64_t)op->kind, 1);
		put(p, 5, op->kind == 1 ? 1 : 3, 1);
		put(p, 6, op->kind == 2 ? 1 : 3, 1);
	}
	PUT64(8, op->bytes);
	PUT32(36, 1);
	PUT32(40, 7);
	if (peer) {
		PUT32(44, 0);
		PUT32(52, 1);
		PUT32(60, correlation);
	} else {
		PUT32(44, correlation);
	}
	if (set)
		put(p, 50, 3, 2);
	fake_put_times(s, p, 16, 24, at + 500, at + 500 + op->bytes / 16);
}

static void put_memory(struct shard *s, const struct fake_op *op, uint32_t correlation, uint64_t at)
{
	uint8_t *p = record(s, 49);

	if (!p)
		return;
	PUT32(4, op->what == FAKE_ALLOC ? 1 : 2);
	PUT32(8, 3);
	PUT32(12, correlation);
	PUT64(16, op->address);
	PUT64(24, op->bytes);
	PUT64(32, at);
	PUT32(56, 1);
}

static void put_sync(struct shard *s, uint32_t correlation, uint64_t at)
{
	uint8_t *p = record(s, 38);

	if (!p)
		return;
	PUT32(4, 4);
	PUT64(8, at - 1);
	PUT64(16, at);
	PUT32(24, correlation);
	PUT32(28, 1);
}

static void put_graph(struct shard *s, const struct fake_op *op, uint32_t correlation, uint64_t at)
{
	struct fake_op node = *op;
	uint8_t *p;

	int whole = GET(s->owner->kinds[51]);

	if (!(GET(fake.several) ? GET(fake.whole_graphs) : whole)) {
		node.name = NULL;
		for (uint64_t i = 1; i <= op->bytes && GET(s->owner->kinds[10]); i++)
			put_kernel(s, &node, correlation, at, i);
		return;
	}
	if (!whole || !(p = record(s, 51)))
		return;
	PUT32(4, correlation);
	PUT32(28, 5);
	PUT32(32, 1);
	PUT32(36, op->stream + 7);
	fake_put_times(s, p, 8, 16, at + 500, at + 500 + 1000 * op->bytes);
}

void fake_put_work(struct shard *s, const struct fake_op *op, uint32_t correlation, uint64_t at)
{
	switch (op->what) {
	case FAKE_LAUNCH:
		if (GET(s->owner->kinds[10]) && op->kind != FAKE_CAPTURED &&
		        !fake_option("FAKE_MUTE"))
			put_kernel(s, op, correlation, at, 0);
		break;
	case FAKE_GRAPH: put_graph(s, op, correlation, at); break;
	case FAKE_COPY:
		if (GET(s->owner->kinds[op->kind == 10 ? 22 : 1]))
			put_transfer(s, op, correlation, at);
		break;
	case FAKE_SET:
		if (GET(s->owner->kinds[2]))
			put_transfer(s, op, correlation, at);
		break;
	case FAKE_ALLOC:
	case FAKE_FREE:
		if (GET(s->owner->kinds[49]))
			put_memory(s, op, correlation, at);
		break;
	case FAKE_SYNC:
		if (GET(s->owner->kinds[38]))
			put_sync(s, correlation, at);
		break;
	default: break;
	}
}

void fake_put_call(struct shard *s, unsigned domain, unsigned cbid, uint32_t correlation,
        uint64_t start, uint64_t end)
{
	uint8_t *p;

	if (!GET(s->owner->kinds[domain == RUNTIME ? 5 : 4]) &&
	        !GET(s->owner->single[domain][cbid]))
		return;
	if (!(p = record(s, domain == RUNTIME ? 5 : 4)))
		return;
	PUT32(4, cbid);
	PUT64(8, start);
	PUT64(16, end);
	PUT32(24, getpid());
	PUT32(28, fake_tid(s->owner));
	PUT32(32, correlation);
}

void fake_put_device(struct shard *s)
{
	uint8_t *p = record(s, 8);

	if (!p)
		return;
	PUT64(16, (uint64_t)80 << 30);
	PUT32(44, 132);
	PUT32(104, 9);
	PUT32(108, 0);
	PUT32(112, 0);
	for (unsigned i = 0; i < 16; i++)
		p[120 + i] = (uint8_t)(0xa0 + i);
	PUT64(136, (uintptr_t) "Fake GPU");
}

void fake_put_context(struct shard *s)
{
	uint8_t *p = record(s, 9);

	if (p)
		PUT32(4, 1);
}
