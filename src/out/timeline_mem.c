/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory counters of the graph timeline (B§6.2): bytes in use on each accelerator, and which nodes
 * hold the largest buffers. Allocations and releases of all nodes are gone through once, in time;
 * those that live are a set ordered by size, then name:
 *
 *   changes   every moment at which a node's bytes change, by node in name order, then time
 *   place     of a change with bytes > 0: its rank by (bytes descending, name, time)
 *   live      one bit per place: set if the node has just these bytes now
 */
#include "base/fmt.h"
#include "base/sort.h"
#include "out/keysort.h"
#include "out/timeline.h"

#define SHOWN     10  /* allocations named in one counter */
#define BETWEEN   100 /* microseconds from one counter to the next */
#define LEVELS    6   /* of bits: 64^6 places and more than there can be */
#define WORD_BITS 64

/* Every level has a word more than its bits need, so that one may ask from the end on. */
struct bits {
	uint64_t *level[LEVELS]; /* a bit of level i + 1: some bit of that word of level i is set */
};

struct trace_mem {
	const struct query *q;
	const struct model *m;
	const struct step *s;
	struct arena *a;
	uint32_t *device; /* model devices that are no CPU, by name */
	uint32_t n_devices;
	uint32_t *cell0,
	        *cell;  /* cells of device i, as shown: cell[cell0[i]] .. cell[cell0[i+1]] */
	uint32_t *rank; /* of each node of the model, by name */
	int64_t *held;  /* by node: the most that it held from the start of a step on; or NULL */
};

/* The changes of one device. */
struct changes {
	const struct trace_mem *x;
	struct arena *a;
	VEC(int64_t) time;  /* microseconds */
	VEC(int64_t) bytes; /* that the node holds from then on */
	VEC(uint32_t) node;
	uint32_t *by_time; /* all changes but each node's first */
	size_t n_by_time, applied;
	uint32_t *place, *at; /* place of a change; change at a place */
	size_t n_places;
	struct bits live;
	/* The texts of the counter written last: most of it comes again in the next. */
	struct shown_text {
		uint32_t change; /* 1 + change, 0: none */
		struct sb text;
	} shown[SHOWN];
};

/* Bytes in use on one device. */
struct points {
	VEC(uint64_t) time; /* as keys */
	VEC(uint32_t) id;   /* in bytes */
	VEC(int64_t) bytes;
};

/* ---- the ordered set ---- */

static void bits_init(struct bits *b, size_t n, struct arena *a)
{
	for (int i = 0; i < LEVELS; i++) {
		n = n / WORD_BITS + 1;
		b->level[i] = ARENA_ARRAY(a, n, uint64_t);
	}
}

static void bits_set(struct bits *b, size_t at)
{
	for (int i = 0; i < LEVELS; i++) {
		uint64_t *word = &b->level[i][at / WORD_BITS], had = *word;
		*word |= (uint64_t)1 << at % WORD_BITS;
		if (had)
			return;
		at /= WORD_BITS;
	}
}

static void bits_clear(struct bits *b, size_t at)
{
	for (int i = 0; i < LEVELS; i++) {
		uint64_t *word = &b->level[i][at / WORD_BITS];
		*word &= ~((uint64_t)1 << at % WORD_BITS);
		if (*word)
			return;
		at /= WORD_BITS;
	}
}

/* The first bit set from `at` on, or SIZE_MAX. */
static size_t bits_next(const struct bits *b, size_t at)
{
	int i = 0;

	for (; i < LEVELS; i++) {
		uint64_t word = b->level[i][at / WORD_BITS] >> at % WORD_BITS;
		if (word) {
			at += (size_t)__builtin_ctzll(word);
			break;
		}
		at = at / WORD_BITS + 1;
	}
	if (i == LEVELS)
		return SIZE_MAX;
	while (i-- > 0)
		at = at * WORD_BITS + (size_t)__builtin_ctzll(b->level[i][at]);
	return at;
}

/* ---- devices and their cells ---- */

static uint32_t cell_device(const struct trace_mem *x, uint32_t cell)
{
	return x->m->nodes.v[x->s->cell_node[cell]].device;
}

static int by_device_name(const void *ctx, uint32_t a, uint32_t b)
{
	return str_cmp(device_name(ctx, a), device_name(ctx, b));
}

/* Finds the devices; of[device] becomes 1 + place in x->device, 0 for those left out. */
static void find_devices(struct trace_mem *x, const uint32_t *cell, uint32_t n, uint32_t *of)
{
	for (uint32_t i = 0; i < n; i++) {
		if (cell[i] == ID_NONE)
			continue;
		uint32_t d = cell_device(x, cell[i]);
		if (of[d] || (x->m->devices.v[d].kind & DEVICE_CPU))
			continue;
		of[d] = 1;
		x->device[x->n_devices++] = d;
	}
	sort_stable(x->a, x->device, x->n_devices, by_device_name, x->m);
	for (uint32_t k = 0; k < x->n_devices; k++)
		of[x->device[k]] = k + 1;
}

static void find_held(struct trace_mem *x)
{
	for (size_t i = 0; i < x->m->steps.n; i++) {
		const struct step *s = x->m->steps.v[i];
		if (s->holdings.n && !x->held)
			x->held = ARENA_ARRAY(x->a, x->m->nodes.n, int64_t);
		for (size_t k = 0; k < s->holdings.n; k++) {
			int64_t *most = &x->held[s->holdings.v[k].node];
			*most = s->holdings.v[k].bytes > *most ? s->holdings.v[k].bytes : *most;
		}
	}
}

struct trace_mem *trace_mem_new(const struct result *r, const uint32_t *cell, struct arena *a)
{
	struct trace_mem *x = ARENA_NEW(a, struct trace_mem);
	const struct query *q = r->q;

	*x = (struct trace_mem){ .q = q, .m = q->m, .s = q->step, .a = a };
	uint32_t *of = ARENA_ARRAY(a, x->m->devices.n, uint32_t), total = 0;
	x->device = ARENA_ARRAY(a, x->m->devices.n, uint32_t);
	find_devices(x, cell, r->n, of);
	x->cell0 = ARENA_ARRAY(a, (size_t)x->n_devices + 2, uint32_t);
	for (uint32_t i = 0; i < r->n; i++) {
		if (cell[i] == ID_NONE || !of[cell_device(x, cell[i])])
			continue;
		x->cell0[of[cell_device(x, cell[i])] + 1]++;
		total++;
	}
	for (uint32_t k = 2; k < x->n_devices + 2; k++)
		x->cell0[k] += x->cell0[k - 1];
	x->cell = ARENA_ARRAY(a, total, uint32_t);
	for (uint32_t i = 0; i < r->n; i++)
		if (cell[i] != ID_NONE && of[cell_device(x, cell[i])])
			x->cell[x->cell0[of[cell_device(x, cell[i])]]++] = cell[i];
	if (total)
		find_held(x);
	x->rank = ARENA_ARRAY(a, total ? x->m->nodes.n : 0, uint32_t);
	for (uint32_t i = 0; total && i < x->m->by_name.n; i++)
		x->rank[x->m->by_name.v[i]] = i;
	return x;
}

void trace_mem_rows(const struct trace_mem *x, struct trace *t, int64_t pid)
{
	for (uint32_t k = 0; k < x->n_devices; k++) {
		t->text.n = 0;
		sb_put(&t->text, S("mem usage on:"));
		sb_put(&t->text, device_name(x->m, x->device[k]));
		trace_process(t, sb_str(&t->text), pid++);
		sb_put(&t->text, S(" allocations"));
		trace_process(t, sb_str(&t->text), pid++);
	}
}

/* ---- changes ---- */

/* Puts the changes from `from` on in the order of time, makes one of those of one moment, and
 * changes by so many bytes into bytes held. */
static void settle(struct changes *c, size_t from)
{
	size_t n = c->time.n - from, kept = from;
	struct arena_mark mark = arena_mark(c->a);
	uint64_t *keys = ARENA_ARRAY(c->a, n, uint64_t);
	uint32_t *ids = ARENA_ARRAY(c->a, n, uint32_t);
	int64_t *by = ARENA_ARRAY(c->a, n, int64_t), held = 0;

	for (uint32_t i = 0; i < n; i++) {
		keys[i] = keysort_signed(c->time.v[from + i]);
		ids[i] = i;
		by[i] = c->bytes.v[from + i];
	}
	keysort(c->a, keys, ids, n);
	for (size_t i = 0; i < n; i++) {
		held = num_add(held, by[ids[i]]);
		if (i && keys[i] == keys[i - 1])
			kept--;
		c->time.v[kept] = (int64_t)(keys[i] ^ keysort_signed(0));
		c->bytes.v[kept++] = held;
	}
	c->time.n = c->bytes.n = c->node.n = kept;
	arena_reset(c->a, mark);
}

static void add_change(struct changes *c, uint32_t node, int64_t time, int64_t bytes)
{
	VEC_PUSH(c->a, &c->time, time);
	VEC_PUSH(c->a, &c->bytes, bytes);
	VEC_PUSH(c->a, &c->node, node);
}

/* Appends the changes of a cell: what its node holds from the start on, then its records. */
static void collect_cell(struct changes *c, uint32_t cell)
{
	const struct step *s = c->x->s;
	const uint8_t *p = s->mem + s->cell_mem0[cell], *end = s->mem + s->cell_mem0[cell + 1];
	uint32_t node = s->cell_node[cell];
	size_t from = c->time.n;
	struct mem_item item;

	add_change(c, node, 0, c->x->held ? c->x->held[node] : 0);
	while (mem_next_of(&p, end, true, &item))
		add_change(c, node, trace_us(s, item.time), item.bytes);
	settle(c, from);
	if (c->time.n == from + 1 && c->bytes.v[from] <= 0)
		c->time.n = c->bytes.n = c->node.n = from;
}

static bool is_first(const struct changes *c, size_t i)
{
	return i == 0 || c->node.v[i] != c->node.v[i - 1];
}

/* Gives every change with bytes its place in the set. */
static void find_places(struct changes *c)
{
	size_t n = c->time.n;
	uint64_t *keys = ARENA_ARRAY(c->a, n, uint64_t);

	c->place = ARENA_ARRAY(c->a, n, uint32_t);
	c->at = ARENA_ARRAY(c->a, n, uint32_t);
	c->by_time = ARENA_ARRAY(c->a, n, uint32_t);
	for (uint32_t i = 0; i < n; i++) {
		if (c->bytes.v[i] <= 0)
			continue;
		keys[c->n_places] = (uint64_t)(INT64_MAX - c->bytes.v[i]);
		c->at[c->n_places++] = i;
	}
	keysort(c->a, keys, c->at, c->n_places);
	for (uint32_t k = 0; k < c->n_places; k++)
		c->place[c->at[k]] = k;
	for (uint32_t i = 0; i < n; i++) {
		if (is_first(c, i))
			continue;
		keys[c->n_by_time] = keysort_signed(c->time.v[i]);
		c->by_time[c->n_by_time++] = i;
	}
	keysort(c->a, keys, c->by_time, c->n_by_time);
	bits_init(&c->live, c->n_places, c->a);
	for (uint32_t i = 0; i < n; i++)
		if (is_first(c, i) && c->bytes.v[i] > 0)
			bits_set(&c->live, c->place[i]);
}

static void collect_changes(struct changes *c, uint32_t device)
{
	const struct trace_mem *x = c->x;
	uint32_t n = x->cell0[device + 1] - x->cell0[device];
	uint32_t *cells = ARENA_ARRAY(c->a, n, uint32_t);
	uint64_t *keys = ARENA_ARRAY(c->a, n, uint64_t);

	for (uint32_t i = 0; i < n; i++) {
		cells[i] = x->cell[x->cell0[device] + i];
		keys[i] = x->rank[x->s->cell_node[cells[i]]];
	}
	keysort(c->a, keys, cells, n);
	for (uint32_t i = 0; i < n; i++)
		collect_cell(c, cells[i]);
	find_places(c);
}

/* Applies what changed before `time`. */
static void advance(struct changes *c, int64_t time)
{
	for (; c->applied < c->n_by_time; c->applied++) {
		uint32_t i = c->by_time[c->applied];
		if (c->time.v[i] >= time)
			break;
		if (c->bytes.v[i - 1] > 0)
			bits_clear(&c->live, c->place[i - 1]);
		if (c->bytes.v[i] > 0)
			bits_set(&c->live, c->place[i]);
	}
}

/* The first place from `from` on with at most so many bytes. */
static size_t skip_larger(const struct changes *c, size_t from, int64_t bytes)
{
	size_t lo = from, hi = c->n_places;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (c->bytes.v[c->at[mid]] > bytes)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The largest allocations that are not larger than what is left of the bytes in use. */
static int find_top(const struct changes *c, int64_t *left, uint32_t top[SHOWN])
{
	size_t place = 0;
	int n = 0;

	while (n < SHOWN) {
		place = bits_next(&c->live, skip_larger(c, place, *left));
		if (place == SIZE_MAX)
			break;
		top[n] = c->at[place++];
		*left -= c->bytes.v[top[n++]];
	}
	return n;
}

/* ---- counters ---- */

static void put_in_use(struct trace *t, int64_t pid, int64_t at, int64_t bytes)
{
	trace_counter(t);
	trace_counter_number(t, S("Allocator Bytes in Use"), bytes);
	trace_counter_end(t, S("Allocated Bytes"), pid, at);
}

/* What the counter says of a change in a slot. */
static struct str top_text(struct changes *c, int slot, uint32_t change)
{
	struct shown_text *x = &c->shown[slot];

	if (x->change == change + 1)
		return sb_str(&x->text);
	x->change = change + 1;
	x->text.a = c->a;
	x->text.n = 0;
	fmt_general(&x->text, (double)c->bytes.v[change] / 1e6, 6);
	sb_put(&x->text, S(" MB from "));
	sb_put(&x->text, node_name(c->x->m, c->node.v[change]));
	return sb_str(&x->text);
}

/* Quirk 28: slot 00 is there only if it is filled. */
static void put_top(struct trace *t, struct changes *c, int64_t pid, int64_t at, int64_t left)
{
	uint32_t top[SHOWN];
	int n = find_top(c, &left, top);
	char key[] = "Top Allocation 00";

	trace_counter(t);
	t->text.n = 0;
	fmt_ratio2(&t->text, left, 1000000);
	sb_put(&t->text, S(" MB"));
	trace_counter_text(t, S("Not Displayed"), sb_str(&t->text));
	for (int i = 0; i < SHOWN; i++) {
		if (i == 0 && n == 0)
			continue;
		key[sizeof key - 2] = (char)('0' + i);
		trace_counter_text(t, str_make(key, sizeof key - 1),
		        i < n ? top_text(c, i, top[i]) : S("N/A"));
	}
	trace_counter_end(t, S("Top Allocations"), pid, at);
}

/* Bytes in use as recorded with each execution, in time; of one moment the last counts. */
static void collect_points(struct changes *c, uint32_t device, struct points *v)
{
	const struct trace_mem *x = c->x;
	const struct step *s = x->s;
	struct mem_item item;

	for (uint32_t i = x->cell0[device]; i < x->cell0[device + 1]; i++) {
		const uint8_t *p = s->mem + s->cell_mem0[x->cell[i]];
		const uint8_t *end = s->mem + s->cell_mem0[x->cell[i] + 1];
		while (mem_next_of(&p, end, false, &item)) {
			if (item.time <= 0)
				continue;
			VEC_PUSH(c->a, &v->time, keysort_signed(trace_us(s, item.time)));
			VEC_PUSH(c->a, &v->id, (uint32_t)v->bytes.n);
			VEC_PUSH(c->a, &v->bytes, item.in_use);
		}
	}
	keysort(c->a, v->time.v, v->id.v, v->time.n);
}

/* The counters of one device; returns the most bytes in use. */
static int64_t put_device(struct trace *t, struct changes *c, const struct points *v, int64_t pid)
{
	int64_t most = 0, last = 0;

	for (size_t i = 0; i < v->time.n; i++) {
		int64_t at = (int64_t)(v->time.v[i] ^ keysort_signed(0)),
		        bytes = v->bytes.v[v->id.v[i]];
		if (i + 1 < v->time.n && v->time.v[i + 1] == v->time.v[i])
			continue;
		most = bytes > most ? bytes : most;
		if (at - last < BETWEEN)
			continue;
		last = at;
		advance(c, at);
		put_in_use(t, pid, at, bytes);
		put_top(t, c, pid + 1, at, bytes);
	}
	return most;
}

static void put_peak(const struct trace_mem *x, uint32_t device, int64_t most, struct sink *say)
{
	struct sb b = sb_in(x->a);

	sb_put(&b, device_name(x->m, x->device[device]));
	sb_put(&b, S(" peak memory: "));
	fmt_ratio2(&b, most, 1000000);
	sb_put(&b, S(" MB\n"));
	sink_put(say, sb_str(&b));
}

void trace_mem_counters(const struct trace_mem *x, struct trace *t, int64_t pid, struct sink *say)
{
	struct scratch own;

	scratch_open(&own, x->a->work);
	for (uint32_t k = 0; k < x->n_devices; k++, pid += 2) {
		struct changes c = { .x = x, .a = &own.a };
		struct points v = { 0 };
		collect_changes(&c, k);
		collect_points(&c, k, &v);
		int64_t most = put_device(t, &c, &v, pid);
		if (x->m->devices.v[x->device[k]].kind & DEVICE_GPU)
			put_peak(x, k, most, say);
		arena_clear(&own.a);
	}
	scratch_close(&own);
}
