/* SPDX-License-Identifier: Apache-2.0
 *
 * One block is open at any time; a full block is written to the file. Beyond the size limit, sums
 * replace records.
 */
#include "collect/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/system.h"

#define NOTE_MAX 512u

static struct {
	struct block_encoder put;
	uint8_t *block;
	uint64_t max;
	uint64_t unsummed;  /* lost records for which there was no room, and which have no sums */
	uint64_t unwritten; /* lost records after the file was closed */
	uint32_t last_id;
	bool broken, summing;
} store;

/* ---- sums ----
 *
 * Sums by name and device, used when the recording may not grow: exact, in bounded memory. A hash
 * table of rows; a row that was passed on is emptied and stays, because its name will recur.
 */

#define SUMS_MAX 8192u /* distinct names and devices; a power of two */
#define PROBES   64u

static struct spool_sum *rows; /* SUMS_MAX rows; created with the first record; what == 0: unused */

static void sums_reset(void)
{
	rows = NULL; /* absent in a forked child */
}

/* Returns the id of a name created by the collector. */
static uint32_t made_name(const char *text)
{
	return store_name(names_add(text, strlen(text)));
}

static uint32_t graph_name(uint32_t graph)
{
	char text[32];

	snprintf(text, sizeof text, "CudaGraph_%u", graph);
	return made_name(text);
}

/* Converts a record to a row: key, time and duration. */
static bool row_of(const struct spool_record *r, struct spool_sum *s, uint64_t *start)
{
	switch (r->kind) {
	case SPOOL_KERNEL:
		*s = (struct spool_sum){ .name = r->kernel.name, .device = r->kernel.at.device };
		s->sum = r->kernel.length;
		*start = r->kernel.start;
		break;
	case SPOOL_GRAPH:
		*s = (struct spool_sum){ .name = graph_name(r->graph.graph),
			.device = r->graph.at.device };
		s->sum = r->graph.length;
		*start = r->graph.start;
		break;
	case SPOOL_COPY:
		*s = (struct spool_sum){ .name = made_name(spool_copy_name(r->copy.kind)),
			.device = r->copy.at.device };
		s->sum = r->copy.length;
		s->bytes = r->copy.bytes;
		*start = r->copy.start;
		break;
	case SPOOL_SET:
		*s = (struct spool_sum){ .name = made_name("Memset"), .device = r->set.at.device };
		s->sum = r->set.length;
		s->bytes = r->set.bytes;
		*start = r->set.start;
		break;
	case SPOOL_API:
		*s = (struct spool_sum){ .name = r->api.name };
		s->sum = r->api.length;
		*start = r->api.start;
		break;
	default: return false;
	}
	s->what = r->kind == SPOOL_GRAPH ? SPOOL_KERNEL : r->kind;
	return true;
}

/* Returns the row with the key of s, and creates it if needed. Returns NULL if the table is full.
 */
static struct spool_sum *sums_find(const struct spool_sum *s)
{
	uint32_t h =
	        (s->name * 0x9e3779b1u ^ s->device * 0x85ebca6bu ^ (uint32_t)s->what) * 0xc2b2ae35u;

	if (!rows)
		rows = memory_map(SUMS_MAX * sizeof *rows, MEMORY_GONE_BY_FORK);
	for (uint32_t i = 0; rows && i < PROBES; i++) {
		struct spool_sum *row = &rows[((h >> 12) + i) & (SUMS_MAX - 1)];

		if (!row->what)
			*row = (struct spool_sum){
				.what = s->what, .name = s->name, .device = s->device
			};
		if (row->what == s->what && row->name == s->name && row->device == s->device)
			return row;
	}
	return NULL;
}

/* Adds a record. Returns false if its kind has no sums, or if the table is full. */
static bool sums_add(const struct spool_record *r)
{
	struct spool_sum s, *row;
	uint64_t start;

	if (!row_of(r, &s, &start) || !(row = sums_find(&s)))
		return false;
	if (!row->count || s.sum < row->min)
		row->min = s.sum;
	if (s.sum > row->max)
		row->max = s.sum;
	if (start && (!row->from || start < row->from))
		row->from = start;
	if (start > row->to)
		row->to = start;
	row->count++;
	row->sum += s.sum;
	row->bytes += s.bytes;
	return true;
}

/* Passes the sums since the last call to put, row by row. */
static void sums_take(void (*put)(const struct spool_sum *))
{
	for (uint32_t i = 0; rows && i < SUMS_MAX; i++) {
		struct spool_sum *row = &rows[i];

		if (!row->count)
			continue;
		put(row);
		*row = (struct spool_sum){
			.what = row->what, .name = row->name, .device = row->device
		};
	}
}

/* ---- records ---- */

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

/* Adds a small block that counts the lost records. It usually fits where a large block did not. */
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

/* Reports a failed write in the log and in the recording. */
static void give_up(void)
{
	char text[NOTE_MAX];

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

/* True for the frequent kinds, whose records stop at the size limit. */
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
	case SPOOL_RANGE:
	case SPOOL_NODE: return true;
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

static uint32_t put_name(struct name *n)
{
	struct spool_record r = { .kind = SPOOL_STRING };
	char text[32];

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

uint32_t store_name(struct name *n)
{
	return n->spool_id ? n->spool_id : put_name(n);
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
	char text[NOTE_MAX];
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
