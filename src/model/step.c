/* SPDX-License-Identifier: Apache-2.0
 *
 * Packing of memory records and sums over a cell. Independent of file formats and nodes.
 */
#include "base/bits.h"
#include "base/map.h"
#include "base/sort.h"
#include "model/step.h"

/* The numbers of a packed item, in this order: host, then accelerators. Each row also names the
 * value to which a record adds its number, unless the record is an allocation. */
#define MEM_NUMBERS(F)                                                                             \
	F(bytes, V_BYTES)                                                                          \
	F(peak, V_PEAK_BYTES)                                                                      \
	F(residual, V_RESIDUAL_BYTES)                                                              \
	F(output, V_OUTPUT_BYTES)                                                                  \
	F(kernels, V_KERNELS)                                                                      \
	F(bytes_accessed, V_BYTES_ACCESSED)                                                        \
	F(flops, V_CALL_FLOPS)                                                                     \
	F(uncounted, V_UNCOUNTED)                                                                  \
	F(windowed, V_WINDOWED)                                                                    \
	F(critical, V_CRITICAL_MICROS)                                                             \
	F(time, V_NONE)                                                                            \
	F(in_use, V_NONE)                                                                          \
	F(host_temp, V_NONE)                                                                       \
	F(host_persistent, V_NONE)                                                                 \
	F(accelerator_temp, V_NONE)                                                                \
	F(accelerator_persistent, V_NONE)

enum {
#define F(name, value) AT_##name,
	MEM_NUMBERS(F) AT_OUTPUTS
#undef F
};

/* Bits of the mask at the start of an item. Only the nonzero numbers follow the mask. */
#define HAS(name)     (1u << AT_##name)
#define HAS_OUTPUTS   (1u << AT_OUTPUTS)
#define IS_ALLOCATION (HAS_OUTPUTS << 1)
#define IS_OTHER      (HAS_OUTPUTS << 2) /* the name of the allocator follows the numbers */

#define MASK              3          /* size in bytes */
#define HEAD              (MASK + 1) /* size of mask and length */
#define HOST_BITS         (HAS(host_temp) | HAS(host_persistent))
#define ACCELERATOR_SHIFT 2 /* distance from a host bit to the accelerator's bit */

static void put_mask(uint8_t *item, unsigned mask)
{
	for (unsigned i = 0; i < MASK; i++)
		item[i] = (uint8_t)(mask >> 8 * i);
}

uint8_t *mem_put(uint8_t *p, const struct mem_item *m)
{
	unsigned mask = (m->n_outputs ? HAS_OUTPUTS : 0u) | (m->allocation ? IS_ALLOCATION : 0u);
	uint8_t *item = p;

	p += HEAD;
#define F(name, value)                                                                             \
	if (m->name) {                                                                             \
		mask |= HAS(name);                                                                 \
		p = varint_put(p, zigzag(m->name));                                                \
	}
	MEM_NUMBERS(F)
#undef F
	put_mask(item, mask);
	item[MASK] = 0;
	if (m->n_outputs)
		p = varint_put(p, m->n_outputs);
	else
		mem_close(item, p);
	return p;
}

void mem_close(uint8_t *item, const uint8_t *end)
{
	size_t n = (size_t)(end - item) - HEAD;

	item[MASK] = n <= UINT8_MAX ? (uint8_t)n : 0;
}

uint8_t *mem_put_output(uint8_t *p, const struct mem_output *o)
{
	p = varint_put(p, zigzag(o->slot));
	p = varint_put(p, zigzag(o->bytes));
	return varint_put(p, o->ptr);
}

/* Reads a varint of a packed item. */
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

void mem_next_output(const uint8_t **p, struct mem_output *o)
{
	o->slot = (int32_t)unzigzag(get(p));
	o->bytes = unzigzag(get(p));
	o->ptr = get(p);
}

static uint64_t item_mask(const uint8_t *item)
{
	return (uint64_t)item[0] | (uint64_t)item[1] << 8 | (uint64_t)item[2] << 16;
}

static void skip(const uint8_t **p, size_t varints)
{
	for (size_t i = 0; i < varints; i++)
		get(p);
}

/* Returns the end of an item. */
static const uint8_t *item_end(const uint8_t *item)
{
	const uint8_t *p = item + HEAD;
	uint64_t mask = item_mask(item);

	if (item[MASK])
		return p + item[MASK];
	for (uint64_t bit = 1; bit < HAS_OUTPUTS; bit <<= 1)
		skip(&p, (mask & bit) != 0);
	if (mask & HAS_OUTPUTS)
		skip(&p, 3 * (size_t)get(&p));
	return p;
}

/* Unpacks an item. Returns the end of its numbers. */
static const uint8_t *unpack(const uint8_t *item, struct mem_item *m)
{
	const uint8_t *p = item + HEAD;
	uint64_t mask = item_mask(item);

	m->allocation = (mask & IS_ALLOCATION) != 0;
#define F(name, value) m->name = mask & HAS(name) ? unzigzag(get(&p)) : 0;
	MEM_NUMBERS(F)
#undef F
	m->n_outputs = mask & HAS_OUTPUTS ? (size_t)get(&p) : 0;
	m->outputs = p;
	return p;
}

/* Skips to the next item whose bits in `of` have the given values. */
static bool find_item(const uint8_t **p, const uint8_t *end, unsigned of, unsigned values)
{
	while (*p != end && (item_mask(*p) & of) != values)
		*p = item_end(*p);
	return *p != end;
}

static bool next_item(
        const uint8_t **p, const uint8_t *end, unsigned of, unsigned values, struct mem_item *m)
{
	if (!find_item(p, end, of, values))
		return false;
	unpack(*p, m);
	*p = item_end(*p);
	return true;
}

bool mem_next(const uint8_t **p, const uint8_t *end, struct mem_item *m)
{
	return next_item(p, end, IS_OTHER, 0, m);
}

bool mem_next_of(const uint8_t **p, const uint8_t *end, bool allocation, struct mem_item *m)
{
	return next_item(p, end, IS_OTHER | IS_ALLOCATION, allocation ? IS_ALLOCATION : 0, m);
}

uint8_t *mem_put_other(uint8_t *p, const struct mem_item *m, struct str allocator)
{
	uint8_t *item = p;

	allocator = str_sub(allocator, 0, MEM_NAME_MAX);
	p = mem_put(p, m);
	put_mask(item, (unsigned)item_mask(item) | IS_OTHER);
	if (allocator.n)
		memcpy(p, allocator.p, allocator.n);
	p += allocator.n;
	mem_close(item, p);
	return p;
}

bool mem_next_other(
        const uint8_t **p, const uint8_t *end, struct mem_item *m, struct str *allocator)
{
	if (!find_item(p, end, IS_OTHER, IS_OTHER))
		return false;
	const uint8_t *name = unpack(*p, m);
	*p = item_end(*p);
	*allocator = str_make(name, (size_t)(*p - name));
	return true;
}

void mem_to_host(uint8_t *p, size_t n)
{
	for (uint8_t *item = p; item != p + n; item += item_end(item) - item) {
		unsigned mask = (unsigned)item_mask(item);
		unsigned host = mask >> ACCELERATOR_SHIFT & HOST_BITS;
		mask = (mask & ~((unsigned)HOST_BITS << ACCELERATOR_SHIFT)) | host;
		put_mask(item, mask);
	}
}

/* Adds the numbers at the start of each item that is not an allocation. */
static void add_memory(const struct step *s, uint32_t c, int64_t ticks_per_us, int64_t *v)
{
	const uint8_t *item = s->mem + s->cell_mem0[c], *end = s->mem + s->cell_mem0[c + 1];
	int64_t finer = ticks_per_us / s->ticks_per_us;

	for (; item != end; item = item_end(item)) {
		const uint8_t *p = item + HEAD;
		uint64_t mask = item_mask(item);
		if (mask & IS_ALLOCATION)
			continue;
#define F(name, value)                                                                             \
	if ((value) != V_NONE && (mask & HAS(name)))                                               \
		v[value] = num_sum(                                                                \
		        v[value], num_mul(unzigzag(get(&p)), value_is_time(value) ? finer : 1));
		MEM_NUMBERS(F)
#undef F
	}
}

/* Adds times and runs of a cell. */
static void add_times(const struct step *s, uint32_t c, int64_t ticks_per_us, int64_t *v)
{
	int64_t ticks[3] = { 0, 0, 0 }, finer = ticks_per_us / s->ticks_per_us;

	for (uint32_t i = s->cell_span0[c]; i < s->cell_span0[c + 1]; i++)
		ticks[s->span_kind[i]] = num_sum(ticks[s->span_kind[i]], s->span_length[i]);
	int64_t accelerator = num_mul(ticks[SPAN_ACCELERATOR], finer);
	int64_t cpu = num_mul(ticks[SPAN_CPU], finer);
	v[V_ACCELERATOR_MICROS] = num_sum(v[V_ACCELERATOR_MICROS], accelerator);
	v[V_CPU_MICROS] = num_sum(v[V_CPU_MICROS], cpu);
	v[V_MICROS] = num_sum(v[V_MICROS], num_sum(accelerator, cpu));
	v[V_RUNS] = num_sum(v[V_RUNS], s->cell_runs[c]);
}

void step_tally(const struct step *s, uint32_t c, int64_t ticks_per_us, struct tally *to)
{
	add_times(s, c, ticks_per_us, to->v);
	add_memory(s, c, ticks_per_us, to->v);
}

int64_t step_value(const struct step *s, uint32_t c, int64_t ticks_per_us, enum value which)
{
	int64_t v[V_N] = { 0 };

	if (which < V_MICROS)
		add_memory(s, c, ticks_per_us, v);
	else
		add_times(s, c, ticks_per_us, v);
	return v[which];
}

int64_t step_find_holding(const struct step *s, uint32_t c)
{
	const uint8_t *item = s->mem + s->cell_mem0[c], *end = s->mem + s->cell_mem0[c + 1];
	int64_t bytes = 0;
	struct mem_item m;

	while (item != end) {
		if (item_mask(item) & HAS(accelerator_persistent)) {
			mem_next(&item, end, &m);
			bytes = num_add(bytes, m.accelerator_persistent);
		} else {
			item = item_end(item);
		}
	}
	return bytes;
}

bool step_is_untimed(const struct step *s)
{
	int64_t start = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_spans; i++) {
		if (s->span_kind[i] == SPAN_SEEN)
			continue;
		if (n++ && s->span_start[i] != start)
			return false;
		start = s->span_start[i];
	}
	/* TensorFlow steps have starts, in microseconds */
	return n > 1 && (start == 0 || s->ticks_per_us > 1);
}

uint32_t step_cell(const struct step *s, uint32_t node)
{
	uint32_t i;

	BISECT(i, 0, s->n_cells, s->cell_node[i] < node);
	return i < s->n_cells && s->cell_node[i] == node ? i : ID_NONE;
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
