/* SPDX-License-Identifier: Apache-2.0
 *
 * One block is open at any time; a full block is written to the file.
 */
#include "collect/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/system.h"

#define NOTE_MOST 512u

static struct {
	struct block_encoder put;
	uint8_t *block;
	uint64_t max;
	uint64_t unsummed;  /* records with neither room nor sum */
	uint64_t unwritten; /* since the file was closed to writes */
	uint32_t last_id;
	bool broken, summing;
} store;

static void begin(void)
{
	block_encode_begin(&store.put, store.block, STORE_BLOCK, process_clock());
}

bool store_open(uint64_t max)
{
	uint8_t *block = memory_map(STORE_BLOCK, MEMORY_GONE_BY_FORK);

	if (!block)
		return false;
	memset(&store, 0, sizeof store);
	store.block = block;
	store.max = max;
	sums_reset();
	block_encode_init(&store.put, (uint32_t)getpid());
	begin();
	return true;
}

/* Adds a small block that counts the lost records; it usually fits where a large one did not. */
static void put_last(const char *note, uint64_t count)
{
	struct spool_record r = { .kind = SPOOL_NOTE }, lost = { .kind = SPOOL_LOST,
		.lost = { SPOOL_LOST_WRITE, count, true } };

	begin();
	if (note) {
		r.note.text = (struct spool_text){ note, strlen(note) };
		block_encode(&store.put, &r);
	}
	block_encode(&store.put, &lost);
	if (!files_spool_write_last(store.block, block_encode_finish(&store.put)))
		store.put.sequence--;
}

/* Handles a failed write: reports it in the log and in the recording. */
static void give_up(void)
{
	char text[NOTE_MOST];

	snprintf(text, sizeof text, "recording stopped after %llu bytes: %s",
	        (unsigned long long)files_spool_size(), files_spool_fault());
	store.broken = true;
	files_say("%s", text);
	store.put.sequence--; /* reuse the number of the removed block */
	put_last(text, store.put.records);
}

void store_sync(void)
{
	size_t n;

	if (store.broken || !(n = block_encode_finish(&store.put)))
		return;
	if (!files_spool_write(store.block, n))
		give_up();
	else
		begin();
}

static void put(const struct spool_record *r)
{
	if (!store.broken && block_encode(&store.put, r))
		return;
	store_sync();
	if (store.broken)
		store.unwritten++;
	else
		block_encode(&store.put, r);
}

/* True if records of this kind stop at the size limit: the frequent kinds. */
static bool is_counted(enum spool_kind kind)
{
	switch (kind) {
	case SPOOL_KERNEL:
	case SPOOL_COPY:
	case SPOOL_SET:
	case SPOOL_API:
	case SPOOL_GRAPH:
	case SPOOL_MEMORY:
	case SPOOL_SYNC:
	case SPOOL_OVERHEAD:
	case SPOOL_RANGE: return true;
	default: return false;
	}
}

static bool is_full(void)
{
	uint64_t n = files_spool_size() + (uint64_t)(store.put.p - store.put.block);

	if (store.max && !store.summing && n >= store.max) {
		store.summing = true;
		store_note(
		        "the size limit of %llu bytes is reached: from here on there are sums by "
		        "name instead of records",
		        (unsigned long long)store.max);
	}
	return store.summing;
}

void store_put(const struct spool_record *r)
{
	if (!is_counted(r->kind) || !is_full())
		put(r);
	else if (!sums_add(r))
		store.unsummed++;
}

uint32_t store_name(struct name *n)
{
	struct spool_record r = { .kind = SPOOL_STRING };
	char text[32];

	if (n->spool_id)
		return n->spool_id;
	n->spool_id = ++store.last_id;
	r.string.id = n->spool_id;
	if (n->length == NAME_NO_TEXT) {
		r.string.text.n = (size_t)snprintf(text, sizeof text, "name#%u", names_number(n));
		r.string.text.p = text;
	} else {
		r.string.text = (struct spool_text){ n->text, n->length };
	}
	put(&r);
	return n->spool_id;
}

void store_info(const char *key, const char *value, size_t n)
{
	struct spool_record r = { .kind = SPOOL_INFO };

	r.info.key = (struct spool_text){ key, strlen(key) };
	r.info.value = (struct spool_text){ value, n };
	put(&r);
}

void store_lost(enum spool_lost_why why, uint64_t count)
{
	struct spool_record r = { .kind = SPOOL_LOST };

	if (!count)
		return;
	r.lost = (struct spool_lost){ why, count, false };
	put(&r);
}

void store_lost_least(enum spool_lost_why why, uint64_t count)
{
	struct spool_record r = { .kind = SPOOL_LOST, .lost = { why, count, true } };

	put(&r);
}

void store_note(const char *format, ...)
{
	struct spool_record r = { .kind = SPOOL_NOTE };
	char text[NOTE_MOST];
	va_list args;

	va_start(args, format);
	int n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (n < 0)
		return;
	r.note.text.p = text;
	r.note.text.n = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
	put(&r);
	files_say("%s", text);
}

static void put_sum(const struct spool_sum *s)
{
	struct spool_record r = { .kind = SPOOL_SUM };

	r.sum = *s;
	if (store.broken)
		store.unwritten += s->count;
	else
		put(&r);
}

void store_put_sums(void)
{
	if (!store.summing)
		return;
	sums_take(put_sum);
	if (store.broken)
		store.unwritten += store.unsummed;
	else
		store_lost(SPOOL_LOST_WRITE, store.unsummed);
	store.unsummed = 0;
}

bool store_broken(void)
{
	return store.broken;
}

void store_close(void)
{
	struct spool_record r = { .kind = SPOOL_END };

	store_put_sums();
	if (store.broken) {
		if (store.unwritten)
			put_last(NULL, store.unwritten);
		return;
	}
	r.end.time = process_clock();
	put(&r);
	store_sync();
}
