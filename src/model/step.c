/* SPDX-License-Identifier: Apache-2.0
 *
 * Packing of memory records and sums over a cell. Knows no file format and no node.
 */
#include "base/bits.h"
#include "base/map.h"
#include "model/step.h"

/* Bits of the mask that begins a packed item; the values follow in this order. */
enum {
	HAS_BYTES = 1,
	HAS_PEAK = 2,
	HAS_RESIDUAL = 4,
	HAS_OUTPUT = 8,
	HAS_KERNELS = 16,
	HAS_BYTES_ACCESSED = 32,
	HAS_TIME = 64,
	HAS_IN_USE = 128,
	HAS_HOST_TEMP = 256,
	HAS_HOST_PERSISTENT = 512,
	HAS_ACCELERATOR_TEMP = 1024,
	HAS_ACCELERATOR_PERSISTENT = 2048,
	HAS_OUTPUTS = 4096,
	IS_ALLOCATION = 8192
};

#define HEAD              3 /* mask and length */
#define HOST_BITS         (HAS_HOST_TEMP | HAS_HOST_PERSISTENT)
#define ACCELERATOR_SHIFT 2 /* distance from a host bit to the accelerator's bit */

static uint8_t *put(uint8_t *p, uint64_t mask, uint64_t bit, int64_t v)
{
	return mask & bit ? varint_put(p, zigzag(v)) : p;
}

uint8_t *mem_put(uint8_t *p, const struct mem_item *m)
{
	uint64_t mask = (m->bytes ? HAS_BYTES : 0u) | (m->peak ? HAS_PEAK : 0u) |
	                (m->residual ? HAS_RESIDUAL : 0u) | (m->output ? HAS_OUTPUT : 0u) |
	                (m->kernels ? HAS_KERNELS : 0u) |
	                (m->bytes_accessed ? HAS_BYTES_ACCESSED : 0u) | (m->time ? HAS_TIME : 0u) |
	                (m->in_use ? HAS_IN_USE : 0u) | (m->host_temp ? HAS_HOST_TEMP : 0u) |
	                (m->host_persistent ? HAS_HOST_PERSISTENT : 0u) |
	                (m->accelerator_temp ? HAS_ACCELERATOR_TEMP : 0u) |
	                (m->accelerator_persistent ? HAS_ACCELERATOR_PERSISTENT : 0u) |
	                (m->n_outputs ? HAS_OUTPUTS : 0u) | (m->allocation ? IS_ALLOCATION : 0u);

	uint8_t *item = p;
	*p++ = (uint8_t)mask;
	*p++ = (uint8_t)(mask >> 8);
	*p++ = 0;
	p = put(p, mask, HAS_BYTES, m->bytes);
	p = put(p, mask, HAS_PEAK, m->peak);
	p = put(p, mask, HAS_RESIDUAL, m->residual);
	p = put(p, mask, HAS_OUTPUT, m->output);
	p = put(p, mask, HAS_KERNELS, m->kernels);
	p = put(p, mask, HAS_BYTES_ACCESSED, m->bytes_accessed);
	p = put(p, mask, HAS_TIME, m->time);
	p = put(p, mask, HAS_IN_USE, m->in_use);
	p = put(p, mask, HAS_HOST_TEMP, m->host_temp);
	p = put(p, mask, HAS_HOST_PERSISTENT, m->host_persistent);
	p = put(p, mask, HAS_ACCELERATOR_TEMP, m->accelerator_temp);
	p = put(p, mask, HAS_ACCELERATOR_PERSISTENT, m->accelerator_persistent);
	if (m->n_outputs)
		p = varint_put(p, m->n_outputs);
	else
		mem_close(item, p);
	return p;
}

void mem_close(uint8_t *item, const uint8_t *end)
{
	size_t n = (size_t)(end - item) - HEAD;

	item[2] = n <= UINT8_MAX ? (uint8_t)n : 0;
}

uint8_t *mem_put_output(uint8_t *p, const struct mem_output *o)
{
	p = varint_put(p, zigzag(o->slot));
	p = varint_put(p, zigzag(o->bytes));
	return varint_put(p, o->ptr);
}

/* Reads a varint of our own packing. */
static uint64_t get(const uint8_t **p)
{
	uint64_t v = 0;
	unsigned shift = 0;

	while (**p >= 0x80) {
		v |= (uint64_t)(*(*p)++ & 0x7f) << shift;
		shift += 7;
	}
	return v | (uint64_t)(*(*p)++) << shift;
}

static int64_t get_if(const uint8_t **p, uint64_t mask, uint64_t bit)
{
	return mask & bit ? unzigzag(get(p)) : 0;
}

void mem_next_output(const uint8_t **p, struct mem_output *o)
{
	o->slot = (int32_t)unzigzag(get(p));
	o->bytes = unzigzag(get(p));
	o->ptr = get(p);
}

static uint64_t item_mask(const uint8_t *item)
{
	return (uint64_t)item[0] | (uint64_t)item[1] << 8;
}

static void skip(const uint8_t **p, size_t varints)
{
	for (size_t i = 0; i < varints; i++)
		get(p);
}

/* end of the item */
static const uint8_t *item_end(const uint8_t *item)
{
	const uint8_t *p = item + HEAD;
	uint64_t mask = item_mask(item);

	if (item[2])
		return p + item[2];
	for (uint64_t bit = HAS_BYTES; bit < HAS_OUTPUTS; bit <<= 1)
		skip(&p, (mask & bit) != 0);
	if (mask & HAS_OUTPUTS)
		skip(&p, 3 * (size_t)get(&p));
	return p;
}

bool mem_next(const uint8_t **at, const uint8_t *end, struct mem_item *m)
{
	const uint8_t *p = *at + HEAD;

	if (*at == end)
		return false;
	uint64_t mask = item_mask(*at);
	m->allocation = (mask & IS_ALLOCATION) != 0;
	m->bytes = get_if(&p, mask, HAS_BYTES);
	m->peak = get_if(&p, mask, HAS_PEAK);
	m->residual = get_if(&p, mask, HAS_RESIDUAL);
	m->output = get_if(&p, mask, HAS_OUTPUT);
	m->kernels = get_if(&p, mask, HAS_KERNELS);
	m->bytes_accessed = get_if(&p, mask, HAS_BYTES_ACCESSED);
	m->time = get_if(&p, mask, HAS_TIME);
	m->in_use = get_if(&p, mask, HAS_IN_USE);
	m->host_temp = get_if(&p, mask, HAS_HOST_TEMP);
	m->host_persistent = get_if(&p, mask, HAS_HOST_PERSISTENT);
	m->accelerator_temp = get_if(&p, mask, HAS_ACCELERATOR_TEMP);
	m->accelerator_persistent = get_if(&p, mask, HAS_ACCELERATOR_PERSISTENT);
	m->n_outputs = mask & HAS_OUTPUTS ? (size_t)get(&p) : 0;
	m->outputs = p;
	*at = item_end(*at);
	return true;
}

bool mem_next_of(const uint8_t **p, const uint8_t *end, bool allocation, struct mem_item *m)
{
	while (*p != end && ((item_mask(*p) & IS_ALLOCATION) != 0) != allocation)
		*p = item_end(*p);
	return mem_next(p, end, m);
}

void mem_to_host(uint8_t *p, size_t n)
{
	for (uint8_t *item = p; item != p + n; item += item_end(item) - item) {
		unsigned mask = (unsigned)item_mask(item);
		unsigned host = mask >> ACCELERATOR_SHIFT & HOST_BITS;
		mask = (mask & ~((unsigned)HOST_BITS << ACCELERATOR_SHIFT)) | host;
		item[0] = (uint8_t)mask;
		item[1] = (uint8_t)(mask >> 8);
	}
}

static void add_if(int64_t *to, const uint8_t **p, uint64_t mask, uint64_t bit)
{
	if (mask & bit)
		*to = num_sum(*to, unzigzag(get(p)));
}

/* Adds the numbers at the start of each item except allocations. */
static void add_memory(const struct step *s, uint32_t c, int64_t *v)
{
	const uint8_t *item = s->mem + s->cell_mem0[c], *end = s->mem + s->cell_mem0[c + 1];

	for (; item != end; item = item_end(item)) {
		const uint8_t *p = item + HEAD;
		uint64_t mask = item_mask(item);
		if (mask & IS_ALLOCATION)
			continue;
		add_if(&v[V_BYTES], &p, mask, HAS_BYTES);
		add_if(&v[V_PEAK_BYTES], &p, mask, HAS_PEAK);
		add_if(&v[V_RESIDUAL_BYTES], &p, mask, HAS_RESIDUAL);
		add_if(&v[V_OUTPUT_BYTES], &p, mask, HAS_OUTPUT);
		add_if(&v[V_KERNELS], &p, mask, HAS_KERNELS);
		add_if(&v[V_BYTES_ACCESSED], &p, mask, HAS_BYTES_ACCESSED);
	}
}

/* Adds times and runs of a cell. */
static void add_times(const struct step *s, uint32_t c, int64_t *v)
{
	int64_t micros[3] = { 0, 0, 0 };

	for (uint32_t i = s->cell_span0[c]; i < s->cell_span0[c + 1]; i++)
		micros[s->span_kind[i]] = num_sum(micros[s->span_kind[i]], s->span_length[i]);
	int64_t accelerator = step_us(s, micros[SPAN_ACCELERATOR]);
	int64_t cpu = step_us(s, micros[SPAN_CPU]);
	v[V_ACCELERATOR_MICROS] = num_sum(v[V_ACCELERATOR_MICROS], accelerator);
	v[V_CPU_MICROS] = num_sum(v[V_CPU_MICROS], cpu);
	v[V_MICROS] = num_sum(v[V_MICROS], num_sum(accelerator, cpu));
	v[V_RUNS] = num_sum(v[V_RUNS], s->cell_runs[c]);
}

void step_tally(const struct step *s, uint32_t c, struct tally *to)
{
	add_times(s, c, to->v);
	add_memory(s, c, to->v);
}

int64_t step_value(const struct step *s, uint32_t c, enum value which)
{
	int64_t v[V_N] = { 0 };

	if (which < V_MICROS)
		add_memory(s, c, v);
	else
		add_times(s, c, v);
	return v[which];
}

int64_t step_find_holding(const struct step *s, uint32_t c)
{
	const uint8_t *item = s->mem + s->cell_mem0[c], *end = s->mem + s->cell_mem0[c + 1];
	int64_t bytes = 0;
	struct mem_item m;

	while (item != end) {
		if (item_mask(item) & HAS_ACCELERATOR_PERSISTENT) {
			mem_next(&item, end, &m);
			bytes = num_add(bytes, m.accelerator_persistent);
		} else {
			item = item_end(item);
		}
	}
	return bytes;
}

uint32_t step_cell(const struct step *s, uint32_t node)
{
	uint32_t lo = 0, hi = s->n_cells;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (s->cell_node[mid] < node)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->n_cells && s->cell_node[lo] == node ? lo : ID_NONE;
}

void step_make_columns(struct arena *a, struct step *s, uint32_t cells, uint32_t spans, size_t mem)
{
	s->n_cells = cells;
	s->cell_node = ARENA_ARRAY(a, cells, uint32_t);
	s->cell_span0 = ARENA_ARRAY(a, (size_t)cells + 1, uint32_t);
	s->cell_mem0 = ARENA_ARRAY(a, (size_t)cells + 1, uint32_t);
	s->cell_runs = ARENA_ARRAY(a, cells, int64_t);
	s->cell_start = ARENA_ARRAY(a, cells, int64_t);
	s->cell_end = ARENA_ARRAY(a, cells, int64_t);
	s->n_spans = spans;
	s->span_device = ARENA_ARRAY(a, spans, uint16_t);
	s->span_kind = ARENA_ARRAY(a, spans, uint8_t);
	s->span_start = ARENA_ARRAY(a, spans, int64_t);
	s->span_length = ARENA_ARRAY(a, spans, int64_t);
	s->mem = ARENA_ARRAY(a, mem, uint8_t);
}
