/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds steps to the model. A batch holds the content of one step file as a stream of packed records
 * in file order. Folding it builds the columns of the step and does everything that depends on the
 * order of files: unknown nodes, canonical devices, coverage, notes. Independent of file formats.
 *
 *   record: varint node | varint device * 4 + said * 2 + odd | zigzag start - previous |
 *           zigzag length | [odd: varint gpu allocators | varint n, n bytes of label] |
 *           [said: varint thread | varint n, n bytes of label] | varint n, n bytes of memory
 */
#include "base/bits.h"
#include "model/ingest_internal.h"

struct batch_device {
	struct str name; /* name in lower case */
	unsigned kind;
	uint32_t device; /* device of the model; set by the fold */
};

struct batch {
	struct arena *a;
	const struct model *m;
	int64_t step;
	uint32_t ticks_per_us;
	uint32_t n_nodes;    /* number of the model's nodes at the start of the batch; larger ids
	                        are fresh */
	struct intern fresh; /* names of unknown nodes */
	VEC(struct batch_device) devices;
	VEC(uint8_t) stream;
	struct notes notes;
	int64_t last_start;
	bool no_stats;
};

struct batch *batch_new(struct arena *a, const struct model *m, int64_t step, uint32_t unit)
{
	struct batch *b = ARENA_NEW(a, struct batch);

	b->a = a;
	VEC_ROOM(a, &b->stream, 1); /* never NULL, even without elements */
	b->m = m;
	b->step = step;
	b->ticks_per_us = unit;
	b->n_nodes = (uint32_t)m->nodes.n;
	intern_init(&b->fresh, a);
	notes_init(&b->notes, a);
	return b;
}

uint32_t batch_device(struct batch *b)
{
	VEC_PUSH(b->a, &b->devices, ((struct batch_device){ 0 }));
	return (uint32_t)b->devices.n - 1;
}

void batch_name_device(struct batch *b, uint32_t device, struct str name)
{
	struct batch_device *d = &b->devices.v[device];

	d->name = str_lower(b->a, name);
	d->kind = device_kind(d->name);
}

struct arena *batch_arena(struct batch *b)
{
	return b->a;
}

struct notes *batch_notes(struct batch *b)
{
	return &b->notes;
}

void batch_no_stats(struct batch *b)
{
	b->no_stats = true;
}

uint32_t batch_node(struct batch *b, struct str name)
{
	uint32_t node = model_find(b->m, name);

	return node != ID_NONE ? node : b->n_nodes + intern_add(&b->fresh, name);
}

uint32_t batch_find(const struct batch *b, struct str name)
{
	uint32_t node = model_find(b->m, name);

	if (node != ID_NONE)
		return node;
	uint32_t fresh = intern_find(&b->fresh, name);
	return fresh == ID_NONE ? ID_NONE : b->n_nodes + fresh;
}

void batch_prefetch(const struct batch *b, struct str name)
{
	intern_expect(&b->m->strings, name);
}

static uint8_t *put_bytes(uint8_t *p, struct str s)
{
	p = varint_put(p, s.n);
	if (s.n)
		memcpy(p, s.p, s.n);
	return p + s.n;
}

void batch_record(struct batch *b, const struct record *r)
{
	bool odd = r->gpu_allocators > 1 || r->start <= 0;
	bool said = b->m->keep_annotations && (r->said.n || r->thread);

	VEC_ROOM(b->a, &b->stream, (size_t)9 * VARINT_MAX + r->label.n + r->said.n + r->mem_n);
	uint8_t *p = b->stream.v + b->stream.n;
	p = varint_put(p, r->node);
	p = varint_put(p, (uint64_t)r->device * 4 + (uint64_t)said * 2 + odd);
	p = varint_put(p, zigzag((int64_t)((uint64_t)r->start - (uint64_t)b->last_start)));
	p = varint_put(p, zigzag(r->length));
	if (odd) {
		p = varint_put(p, r->gpu_allocators);
		p = put_bytes(p, r->label);
	}
	if (said) {
		p = varint_put(p, r->thread);
		p = put_bytes(p, r->said);
	}
	p = put_bytes(p, str_make(r->mem, r->mem_n));
	b->stream.n = (size_t)(p - b->stream.v);
	b->last_start = r->start;
}

/* ---- folding ---- */

struct fold {
	struct ingest *in;
	struct model *m;
	struct batch *b;
	const struct step *old; /* the existing step with this id; may be NULL */
	const uint8_t *p, *end; /* offset in the stream */
	int64_t last_start;
	uint32_t *fresh_node; /* indexed by fresh name: 1 + node of the model; 0: not created yet */
	VEC(uint32_t) spans;  /* by node: spans; later the position of its next span */
	VEC(uint64_t) mem;    /* by node: bytes of memory; later the next position */
	uint64_t n_spans, n_mem;
	bool placing; /* true in the second pass */
	bool *late;   /* indexed by node: true if the node gets its device only from a record that
	                 the second pass has not reached yet */
	struct scratch scratch;
};

static struct str next_bytes(struct fold *f)
{
	uint64_t n = 0;
	struct str s;

	varint_get(&f->p, f->end, &n);
	s = str_make(f->p, (size_t)n);
	f->p += n;
	return s;
}

static bool next_record(struct fold *f, struct record *r)
{
	uint64_t v = 0, odd;

	if (f->p == f->end)
		return false;
	*r = (struct record){ 0 };
	varint_get(&f->p, f->end, &v);
	r->node = (uint32_t)v;
	varint_get(&f->p, f->end, &odd);
	r->device = (uint32_t)(odd >> 2);
	varint_get(&f->p, f->end, &v);
	r->start = (int64_t)((uint64_t)f->last_start + (uint64_t)unzigzag(v));
	f->last_start = r->start;
	varint_get(&f->p, f->end, &v);
	r->length = unzigzag(v);
	if (odd & 1) {
		varint_get(&f->p, f->end, &v);
		r->gpu_allocators = (uint32_t)v;
		r->label = next_bytes(f);
	}
	if (odd & 2) {
		varint_get(&f->p, f->end, &v);
		r->thread = (uint32_t)v;
		r->said = next_bytes(f);
	}
	struct str mem = next_bytes(f);
	r->mem = (const uint8_t *)mem.p;
	r->mem_n = mem.n;
	return true;
}

static void rewind_records(struct fold *f)
{
	f->p = f->b->stream.v;
	f->end = f->p + f->b->stream.n;
	f->last_start = 0;
}

/* Returns the node of the model for a node of the batch. Creates it at first use; its op is its
 * name. */
static uint32_t resolve_node(struct fold *f, uint32_t node)
{
	if (node >= f->b->n_nodes) {
		uint32_t fresh = node - f->b->n_nodes;
		if (!f->fresh_node[fresh]) {
			uint32_t name = ingest_string(f->in, intern_str(&f->b->fresh, fresh));
			uint32_t found = name < f->m->node_of_cap ? f->m->node_of[name] : 0;
			if (!found) {
				f->fresh_node[fresh] = ingest_plain_node(f->in, name, name) + 1;
				return f->fresh_node[fresh] - 1;
			}
			f->fresh_node[fresh] = found;
		}
		node = f->fresh_node[fresh] - 1;
	}
	struct node *n = &f->m->nodes.v[node];
	f->m->covered += !(n->flags & NODE_COVERED);
	n->flags |= NODE_COVERED;
	return node;
}

/* True if a record on this device belongs to the node. The node's canonical device never
 * changes. */
static bool on_device(struct fold *f, uint32_t node, const struct batch_device *d)
{
	if (!(d->kind & DEVICE_CANONICAL))
		return true;
	if (f->placing) {
		f->late[node] = false;
	} else if (f->m->nodes.v[node].device == ID_NONE) {
		ingest_canonical(f->in, node, d->device);
		f->late[node] = true;
	}
	return f->m->nodes.v[node].device == d->device;
}

/* True if the record belongs to the node's own device, so that its memory counts. A device without
 * a name belongs to a node without a device. */
static bool own_device(const struct fold *f, uint32_t node, const struct batch_device *d)
{
	uint32_t own = f->m->nodes.v[node].device;
	bool none = own == ID_NONE || (f->placing && f->late[node]);

	return own == d->device || (none && d->name.n == 0);
}

static unsigned record_spans(const struct record *r, unsigned kind)
{
	unsigned n = (kind & DEVICE_ACCELERATOR ? 1u : 0u) + (kind & DEVICE_CANONICAL ? 1u : 0u);

	return r->start > 0 && n ? n : 1;
}

static void count_old(struct fold *f)
{
	const struct step *s = f->old;

	for (uint32_t c = 0; s && c < s->n_cells; c++) {
		f->spans.v[s->cell_node[c]] = s->cell_span0[c + 1] - s->cell_span0[c];
		f->mem.v[s->cell_node[c]] = s->cell_mem0[c + 1] - s->cell_mem0[c];
	}
}

/* First pass: counts the records to store for each node, and adds notes. */
static void count_records(struct fold *f)
{
	struct record r;

	VEC_ROOM(&f->scratch.a, &f->spans, f->m->nodes.n + f->b->fresh.n);
	VEC_ROOM(&f->scratch.a, &f->mem, f->m->nodes.n + f->b->fresh.n);
	count_old(f);
	for (rewind_records(f); next_record(f, &r);) {
		const struct batch_device *d = &f->b->devices.v[r.device];
		uint32_t node = resolve_node(f, r.node);
		if (!on_device(f, node, d))
			continue;
		f->spans.v[node] += record_spans(&r, d->kind);
		if (!own_device(f, node, d))
			continue;
		if (r.start <= 0)
			note_line(f->in->notes, "%.*s has no start time, skipping\n", STR(r.label));
		else
			f->mem.v[node] += r.mem_n;
		if (r.start > 0 && r.gpu_allocators > 1)
			note_line(f->in->notes, "found %u gpu allocator for 1 node\n",
			        r.gpu_allocators);
	}
}

/* Creates the cells of the nodes with spans, in ascending order. Counts become positions. */
static bool make_cells(struct fold *f, struct step *s, struct err *e)
{
	size_t n = f->m->nodes.n;
	uint32_t cells = 0;

	for (size_t i = 0; i < n; i++) {
		cells += f->spans.v[i] != 0;
		f->n_spans += f->spans.v[i];
		f->n_mem += f->mem.v[i];
	}
	if (f->n_spans >= UINT32_MAX || f->n_mem >= UINT32_MAX)
		return err_set(e, ERR_RESOURCE, "step %lld has more than 4294967294 %s",
		        (long long)s->id,
		        f->n_mem >= UINT32_MAX ? "bytes of memory records" : "execution records");
	step_make_columns(f->m->a, s, cells, (uint32_t)f->n_spans, f->n_mem);
	if (f->m->keep_annotations)
		s->span_annotation = ARENA_ARRAY(f->m->a, f->n_spans, struct span_annotation);
	uint32_t span = 0, mem = 0, c = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!f->spans.v[i])
			continue;
		s->cell_node[c] = i;
		span += f->spans.v[i];
		mem += (uint32_t)f->mem.v[i];
		f->spans.v[i] = span - f->spans.v[i];
		f->mem.v[i] = mem - f->mem.v[i];
		s->cell_span0[++c] = span;
		s->cell_mem0[c] = mem;
	}
	return true;
}

static void put_span(struct step *s, uint32_t at, enum span_kind kind, uint32_t device,
        int64_t start, int64_t length)
{
	s->span_kind[at] = (uint8_t)kind;
	s->span_device[at] = (uint16_t)device;
	s->span_start[at] = start;
	s->span_length[at] = length;
}

/* Stores the annotations of a record's n spans, from position `at` on. */
static void put_annotation(
        struct fold *f, struct step *s, uint32_t at, unsigned n, const struct record *r)
{
	struct span_annotation said = { .thread = r->thread };

	if (!s->span_annotation)
		return;
	if (r->said.n)
		said.label = 1 + ingest_string(f->in, r->said);
	for (unsigned i = 0; i < n; i++)
		s->span_annotation[at + i] = said;
}

static void copy_old(struct fold *f, struct step *s)
{
	const struct step *o = f->old;

	for (uint32_t c = 0; o && c < o->n_cells; c++) {
		uint32_t node = o->cell_node[c], at = step_cell(s, node);
		s->cell_runs[at] = o->cell_runs[c];
		s->cell_start[at] = o->cell_start[c];
		s->cell_end[at] = o->cell_end[c];
		for (uint32_t i = o->cell_span0[c]; i < o->cell_span0[c + 1]; i++) {
			uint32_t k = f->spans.v[node]++;
			put_span(s, k, o->span_kind[i], o->span_device[i], o->span_start[i],
			        o->span_length[i]);
			if (s->span_annotation && o->span_annotation)
				s->span_annotation[k] = o->span_annotation[i];
		}
		uint32_t n = o->cell_mem0[c + 1] - o->cell_mem0[c];
		memcpy(s->mem + f->mem.v[node], o->mem + o->cell_mem0[c], n);
		f->mem.v[node] += n;
	}
}

/* Stores a record with a time: the cell's box and runs, the spans whose number record_spans
 * returns, and memory. */
static void place_timed(struct fold *f, struct step *s, uint32_t cell, const struct record *r,
        const struct batch_device *d, uint32_t device)
{
	uint32_t node = s->cell_node[cell], *at = &f->spans.v[node];
	/* The original gives every execution at least a microsecond. */
	int64_t length = r->length || f->b->ticks_per_us > 1 ? r->length : 1,
	        end = num_add(r->start, length);

	if (s->cell_start[cell] <= 0 || r->start < s->cell_start[cell])
		s->cell_start[cell] = r->start;
	if (end > s->cell_end[cell])
		s->cell_end[cell] = end;
	if (d->kind & DEVICE_ACCELERATOR)
		put_span(s, (*at)++, SPAN_ACCELERATOR, device, r->start, length);
	if (d->kind & DEVICE_CANONICAL) {
		put_span(s, (*at)++, SPAN_CPU, device, r->start, length);
		s->cell_runs[cell]++;
	}
	if (!(d->kind & (DEVICE_ACCELERATOR | DEVICE_CANONICAL)))
		put_span(s, (*at)++, SPAN_SEEN, device, 0, 0);
	if (own_device(f, node, d) && r->mem_n) {
		memcpy(s->mem + f->mem.v[node], r->mem, r->mem_n);
		if (d->kind & DEVICE_CPU)
			mem_to_host(s->mem + f->mem.v[node], r->mem_n);
		f->mem.v[node] += r->mem_n;
	}
}

/* Second pass: stores the counted records. */
static void place_records(struct fold *f, struct step *s)
{
	uint32_t device0 = f->old ? f->old->n_devices : 0;
	uint32_t *cell = ARENA_ARRAY(&f->scratch.a, f->m->nodes.n, uint32_t);
	struct record r;

	for (uint32_t c = 0; c < s->n_cells; c++)
		cell[s->cell_node[c]] = c;
	copy_old(f, s);
	for (rewind_records(f); next_record(f, &r);) {
		const struct batch_device *d = &f->b->devices.v[r.device];
		uint32_t node =
		        r.node < f->b->n_nodes ? r.node : f->fresh_node[r.node - f->b->n_nodes] - 1;
		if (!on_device(f, node, d))
			continue;
		put_annotation(f, s, f->spans.v[node], record_spans(&r, d->kind), &r);
		if (r.start > 0)
			place_timed(f, s, cell[node], &r, d, r.device + device0);
		else
			put_span(s, f->spans.v[node]++, SPAN_SEEN, r.device + device0, 0, 0);
	}
}

static bool fold_devices(struct fold *f, struct step *s, struct err *e)
{
	struct batch *b = f->b;
	size_t old = f->old ? f->old->n_devices : 0;
	unsigned kinds = 0;

	if (old + b->devices.n > STEP_DEVICES_MAX)
		return err_set(e, ERR_RESOURCE, "step %lld has %zu devices; at most %u can be held",
		        (long long)b->step, old + b->devices.n, STEP_DEVICES_MAX);
	s->devices = ARENA_ARRAY(f->m->a, old + b->devices.n, uint32_t);
	if (old)
		memcpy(s->devices, f->old->devices, old * sizeof *s->devices);
	for (size_t i = 0; i < b->devices.n; i++) {
		b->devices.v[i].device = ingest_device(f->in, b->devices.v[i].name);
		s->devices[old + i] = b->devices.v[i].device;
		kinds |= b->devices.v[i].kind;
	}
	s->n_devices = (uint32_t)(old + b->devices.n);
	if ((kinds & DEVICE_GPU) && !(kinds & DEVICE_ACCELERATOR))
		f->m->misses_streams = true;
	return true;
}

static bool fold_records(struct fold *f, struct step *s, struct err *e)
{
	if (f->b->n_nodes + f->b->fresh.n >= NODES_MAX ||
	        f->m->nodes.n + f->b->fresh.n >= NODES_MAX)
		return err_set(e, ERR_RESOURCE, "the model has more than %u nodes", NODES_MAX);
	f->fresh_node = ARENA_ARRAY(&f->scratch.a, f->b->fresh.n, uint32_t);
	f->late = ARENA_ARRAY(&f->scratch.a, f->m->nodes.n + f->b->fresh.n, bool);
	count_records(f);
	f->placing = true;
	if (!make_cells(f, s, e))
		return false;
	place_records(f, s);
	return true;
}

bool ingest_fold(struct ingest *in, struct batch *b, struct err *e)
{
	struct fold f = {
		.in = in, .m = in->m, .b = b, .old = model_step_of(in->m, 0, b->step, NULL)
	};
	bool ok;

	note_append(in->notes, &b->notes);
	if (b->no_stats) {
		note_line(in->notes, "Invalid RunMetadata for step %lld\n", (long long)b->step);
		return true;
	}
	struct step *s = ARENA_NEW(in->m->a, struct step);
	s->id = b->step;
	s->ticks_per_us = b->ticks_per_us;
	if (f.old && f.old->ticks_per_us != s->ticks_per_us)
		return err_set(e, ERR_FAILED, "step %lld has times in another unit already",
		        (long long)s->id);
	scratch_open(&f.scratch, in->m->a->work);
	ok = fold_devices(&f, s, e) && fold_records(&f, s, e);
	scratch_close(&f.scratch);
	if (ok)
		ingest_put_steps(in, &s, 1);
	return ok;
}
