/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash table of rows. A row that was passed on is emptied and stays, because its name will recur.
 */
#include "collect/store.h"

#include <stdio.h>
#include <string.h>

#include "collect/system.h"

#define PROBES 64u

static struct spool_sum
        *rows; /* SUMS_MOST rows; created with the first record; what == 0: unused */

void sums_reset(void)
{
	rows = NULL; /* absent in a forked child */
}

/* Returns the id of a name created here. */
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

/* Returns the row with the key of s, created if needed; NULL: no room. */
static struct spool_sum *find(const struct spool_sum *s)
{
	uint32_t h =
	        (s->name * 0x9e3779b1u ^ s->device * 0x85ebca6bu ^ (uint32_t)s->what) * 0xc2b2ae35u;

	if (!rows)
		rows = memory_map(SUMS_MOST * sizeof *rows, MEMORY_GONE_BY_FORK);
	for (uint32_t i = 0; rows && i < PROBES; i++) {
		struct spool_sum *row = &rows[((h >> 12) + i) & (SUMS_MOST - 1)];

		if (!row->what)
			*row = (struct spool_sum){
				.what = s->what, .name = s->name, .device = s->device
			};
		if (row->what == s->what && row->name == s->name && row->device == s->device)
			return row;
	}
	return NULL;
}

bool sums_add(const struct spool_record *r)
{
	struct spool_sum s, *row;
	uint64_t start;

	if (!row_of(r, &s, &start) || !(row = find(&s)))
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

void sums_take(void (*put)(const struct spool_sum *))
{
	for (uint32_t i = 0; rows && i < SUMS_MOST; i++) {
		struct spool_sum *row = &rows[i];

		if (!row->count)
			continue;
		put(row);
		*row = (struct spool_sum){
			.what = row->what, .name = row->name, .device = row->device
		};
	}
}
