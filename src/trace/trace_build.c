/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds a trace. Slices go to trace_store.c.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/sort.h"
#include "trace/trace_internal.h"

struct trace_build *build_open(
        struct trace *t, uint64_t wants, struct notes *notes, struct arena *scratch)
{
	struct trace_build *b = ARENA_NEW(scratch, struct trace_build);

	b->t = t;
	b->scratch = scratch;
	b->notes = notes;
	b->wants = wants;
	intern_init(&b->process_keys, scratch);
	intern_init(&b->device_keys, scratch);
	intern_init(&b->track_keys, scratch);
	intern_init(&b->event_keys, t->a);
	return b;
}

struct notes *build_notes(struct trace_build *b)
{
	return b->notes;
}

const struct trace *build_trace(const struct trace_build *b)
{
	return b->t;
}

void build_start(struct trace_build *b, enum trace_source source, int64_t ticks_per_us)
{
	b->t->source = source;
	b->t->ticks_per_us = ticks_per_us;
}

void build_producer(struct trace_build *b, struct str producer)
{
	b->t->producer = build_string(b, producer);
}

void build_origin(struct trace_build *b, int64_t ns, bool epoch)
{
	b->t->origin_ns = ns;
	b->t->epoch = epoch;
}

void build_truncated(struct trace_build *b)
{
	b->t->truncated = true;
}

void build_lists_devices(struct trace_build *b)
{
	b->t->lists_devices = true;
}

void build_scheduled(struct trace_build *b)
{
	b->t->scheduled = true;
}

uint32_t build_string(struct trace_build *b, struct str s)
{
	return intern_add(&b->t->strings, s);
}

/* ---- processes, devices, tracks ---- */

/* Identity of a process, a device or a track. */
struct key {
	uint32_t process, device, kind, text; /* text: string id, or ID_NONE for keys with an id */
	int64_t id;
};

/* Finds or adds a key. Sets *added. */
static uint32_t key_id(struct intern *keys, const struct key *k, bool *added)
{
	size_t before = keys->n;
	uint32_t id = intern_add(keys, str_make(k, sizeof *k));

	*added = keys->n != before;
	return id;
}

static uint32_t add_process(struct trace_build *b, const struct key *k)
{
	struct trace_process made = { .pid = k->id,
		.rank = -1,
		.world = -1,
		.name = k->text,
		.host = ID_NONE,
		.job = ID_NONE };
	bool added;
	uint32_t id = key_id(&b->process_keys, k, &added);

	if (added)
		VEC_PUSH(b->t->a, &b->t->processes, made);
	return id;
}

uint32_t build_process(struct trace_build *b, int64_t pid)
{
	return add_process(b, &(struct key){ .id = pid, .text = ID_NONE });
}

uint32_t build_process_named(struct trace_build *b, struct str pid)
{
	return add_process(b, &(struct key){ .text = build_string(b, pid) });
}

struct trace_process *build_process_at(struct trace_build *b, uint32_t process)
{
	return &b->t->processes.v[process];
}

uint32_t build_device(struct trace_build *b, uint32_t process, enum trace_device_kind kind,
        int64_t index, struct str name)
{
	struct key k = {
		.process = process, .kind = kind, .id = index, .text = build_string(b, name)
	};
	struct trace_device made = { .kind = kind,
		.index = index,
		.process = process,
		.name = k.text,
		.model = ID_NONE,
		.uuid = ID_NONE };
	bool added;
	uint32_t id = key_id(&b->device_keys, &k, &added);

	if (added)
		VEC_PUSH(b->t->a, &b->t->devices, made);
	return id;
}

struct trace_device *build_device_at(struct trace_build *b, uint32_t device)
{
	return &b->t->devices.v[device];
}

static uint32_t add_track(struct trace_build *b, const struct key *k)
{
	struct trace_track made = { .kind = (enum trace_track_kind)k->kind,
		.process = k->process,
		.device = k->device,
		.id = k->id,
		.name = k->text };
	struct build_track state = { .last_start = 0 };
	bool added;
	uint32_t id = key_id(&b->track_keys, k, &added);

	if (!added)
		return id;
	VEC_PUSH(b->t->a, &b->t->tracks, made);
	VEC_PUSH(b->scratch, &b->tracks, state);
	return id;
}

uint32_t build_track(struct trace_build *b, uint32_t process, uint32_t device,
        enum trace_track_kind kind, int64_t id)
{
	return add_track(b, &(struct key){ process, device, kind, ID_NONE, id });
}

uint32_t build_track_named(struct trace_build *b, uint32_t process, uint32_t device,
        enum trace_track_kind kind, struct str name)
{
	return add_track(b, &(struct key){ process, device, kind, build_string(b, name), 0 });
}

struct trace_track *build_track_at(struct trace_build *b, uint32_t track)
{
	return &b->t->tracks.v[track];
}

/* ---- arguments ---- */

bool build_wants(const struct trace_build *b, uint32_t key)
{
	return b->wants & argument_bit(key);
}

uint32_t build_key(struct trace_build *b, struct str name)
{
	return ARG_N + build_string(b, name);
}

static void put_arg(struct trace_build *b, uint32_t key, enum argument_type type, uint64_t v)
{
	size_t before = b->args.n;
	uint8_t *end;

	if (!build_wants(b, key))
		return;
	b->t->keys |= argument_bit(key);
	VEC_ROOM(b->scratch, &b->args, (size_t)2 * VARINT_MAX);
	end = varint_put(b->args.v + before, (uint64_t)key << 2 | type);
	if (type == ARG_REAL) {
		le64_put(end, v);
		end += 8;
	} else {
		end = varint_put(end, v);
	}
	b->args.n = (size_t)(end - b->args.v);
	if (b->args.n > ARGS_MAX) {
		b->args.n = before;
		b->t->dropped_args++;
	}
}

void build_arg_int(struct trace_build *b, uint32_t key, int64_t v)
{
	put_arg(b, key, ARG_INT, zigzag(v));
}

void build_arg_uint(struct trace_build *b, uint32_t key, uint64_t v)
{
	put_arg(b, key, ARG_UINT, v);
}

void build_arg_real(struct trace_build *b, uint32_t key, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	put_arg(b, key, ARG_REAL, bits);
}

void build_arg_text(struct trace_build *b, uint32_t key, struct str v)
{
	if (build_wants(b, key))
		put_arg(b, key, ARG_TEXT, build_string(b, v));
}

void build_arg_triple(struct trace_build *b, uint32_t key, const int64_t v[3])
{
	char text[3 * 21 + 1]; /* 20 characters each, with a comma or NUL */

	snprintf(text, sizeof text, "%" PRId64 ",%" PRId64 ",%" PRId64, v[0], v[1], v[2]);
	build_arg_text(b, key, str_of(text));
}

void build_args_clear(struct trace_build *b)
{
	b->args.n = 0;
}

struct str build_args_take(struct trace_build *b)
{
	struct str args = str_make(b->args.v, b->args.n);

	b->args.n = 0;
	return args;
}

/* ---- slices ---- */

uint32_t build_event(struct trace_build *b, enum trace_category category, uint32_t name)
{
	const uint32_t head[2] = { category, name };
	struct str args = build_args_take(b);
	size_t before = b->event_keys.n;
	uint32_t id;

	b->key.n = 0;
	VEC_ROOM(b->scratch, &b->key, sizeof head + args.n);
	memcpy(b->key.v, head, sizeof head);
	if (args.n)
		memcpy(b->key.v + sizeof head, args.p, args.n);
	id = intern_add(&b->event_keys, str_make(b->key.v, sizeof head + args.n));
	if (b->event_keys.n != before) {
		args = str_sub(intern_str(&b->event_keys, id), sizeof head, SIZE_MAX);
		struct trace_event made = { category, name, args, argument_keys(args) };
		VEC_PUSH(b->t->a, &b->t->events, made);
	}
	return id;
}

int64_t build_length(struct trace_build *b, int64_t start, int64_t length)
{
	if (length >= 0 && start <= INT64_MAX - length)
		return length;
	b->t->clamped++;
	return length < 0 ? 0 : INT64_MAX - start;
}

static void add_slice(struct trace_build *b, struct slice *s)
{
	s->length = build_length(b, s->start, s->length);
	if (b->t->n_slices == TRACE_SLICES_MAX) {
		b->t->dropped_slices++;
		return;
	}
	b->t->n_slices++;
	store_append(b, s);
}

void build_slice(struct trace_build *b, uint32_t track, uint32_t event, int64_t start,
        int64_t length, int64_t correlation)
{
	add_slice(b, &(struct slice){ .track = track,
	                     .event = event,
	                     .form = SLICE_COMPLETE,
	                     .start = start,
	                     .length = length,
	                     .correlation = correlation,
	                     .args = build_args_take(b) });
}

void build_instant(
        struct trace_build *b, uint32_t track, uint32_t event, int64_t at, int64_t correlation)
{
	add_slice(b, &(struct slice){ .track = track,
	                     .event = event,
	                     .form = SLICE_INSTANT,
	                     .start = at,
	                     .correlation = correlation,
	                     .args = build_args_take(b) });
}

void build_sample(struct trace_build *b, uint32_t track, uint32_t event, int64_t at, int64_t value)
{
	uint64_t wants = b->wants;

	b->wants |= ARG_BIT(ARG_VALUE);
	build_arg_int(b, ARG_VALUE, value);
	b->wants = wants;
	add_slice(b, &(struct slice){ .track = track,
	                     .event = event,
	                     .form = SLICE_SAMPLE,
	                     .start = at,
	                     .args = build_args_take(b) });
}

static void add_mark(struct trace_build *b, const struct slice *s)
{
	if (b->t->tracks.v[s->track].n == TRACE_SLICES_MAX) {
		b->t->dropped_slices++;
		return;
	}
	b->tracks.v[s->track].marks = true;
	store_append(b, s);
}

void build_begin(
        struct trace_build *b, uint32_t track, uint32_t event, int64_t start, int64_t correlation)
{
	struct slice s = { .track = track,
		.event = event,
		.form = (enum slice_form)FORM_BEGIN,
		.start = start,
		.correlation = correlation,
		.args = build_args_take(b) };

	if (b->t->n_slices == TRACE_SLICES_MAX) {
		b->t->dropped_slices++;
		return;
	}
	b->t->n_slices++;
	add_mark(b, &s);
}

void build_end(struct trace_build *b, uint32_t track, int64_t at)
{
	add_mark(b, &(struct slice){ .track = track,
	                    .form = (enum slice_form)FORM_END,
	                    .start = at,
	                    .args = build_args_take(b) });
}

/* ---- nodes of a compiled program ---- */

uint32_t build_node(struct trace_build *b, uint64_t program, struct str name, struct str type,
        struct str category)
{
	struct trace_node made = { .name = build_string(b, name),
		.type = build_string(b, type),
		.category = category.n ? build_string(b, category) : ID_NONE,
		.program = program,
		.args = str_copy(b->t->a, build_args_take(b)) };

	VEC_PUSH(b->t->a, &b->t->nodes, made);
	return (uint32_t)(b->t->nodes.n - 1);
}

void build_node_input(struct trace_build *b, uint32_t node, uint32_t source)
{
	struct build_edge made = { node, source };

	VEC_PUSH(b->scratch, &b->edges, made);
}

void build_program_memory(struct trace_build *b, struct trace_program_memory made)
{
	made.buffer0 = b->t->buffers.n;
	VEC_PUSH(b->t->a, &b->t->program_memory, made);
}

void build_buffer(struct trace_build *b, const struct trace_buffer *v)
{
	VEC_PUSH(b->t->a, &b->t->buffers, *v);
}

/* Groups the edges by node, in order of their addition. */
static void seal_nodes(struct trace_build *b)
{
	struct trace *t = b->t;
	size_t nodes = t->nodes.n;
	uint32_t *next;

	if (!nodes)
		return;
	VEC_PUSH(t->a, &t->nodes, (struct trace_node){ .name = ID_NONE });
	next = ARENA_ARRAY(b->scratch, nodes + 1, uint32_t);
	for (size_t i = 0; i < b->edges.n; i++)
		next[b->edges.v[i].node + 1]++;
	for (size_t i = 0; i < nodes; i++) {
		next[i + 1] += next[i];
		t->nodes.v[i + 1].input0 = next[i + 1];
	}
	VEC_ROOM(t->a, &t->inputs, b->edges.n);
	t->inputs.n = b->edges.n;
	for (size_t i = 0; i < b->edges.n; i++)
		t->inputs.v[next[b->edges.v[i].node]++] = b->edges.v[i].source;
}

/* ---- the end ---- */

static int compare_devices(const void *v, uint32_t a, uint32_t b)
{
	const struct trace_device *x = (const struct trace_device *)v + a;
	const struct trace_device *y = (const struct trace_device *)v + b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Orders devices by kind and number, independently of their order in the file. */
static void order_devices(struct trace_build *b)
{
	struct trace *t = b->t;
	const uint32_t *order = sort_order(b->scratch, t->devices.n, compare_devices, t->devices.v);
	struct trace_device *old = ARENA_ARRAY(b->scratch, t->devices.n, struct trace_device);
	uint32_t *place = ARENA_ARRAY(b->scratch, t->devices.n, uint32_t);

	if (t->devices.n)
		memcpy(old, t->devices.v, t->devices.n * sizeof *old);
	for (uint32_t i = 0; i < t->devices.n; i++) {
		t->devices.v[i] = old[order[i]];
		place[order[i]] = i;
	}
	for (size_t i = 0; i < t->tracks.n; i++)
		if (t->tracks.v[i].device != ID_NONE)
			t->tracks.v[i].device = place[t->tracks.v[i].device];
}

void build_seal(struct trace_build *b)
{
	struct trace *t = b->t;
	uint32_t number = 0;

	if (b->sealed)
		return;
	b->sealed = true;
	seal_nodes(b);
	order_devices(b);
	for (uint32_t i = 0; i < t->tracks.n; i++)
		marks_pair(b, i);
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		t->tracks.v[i].first = number;
		store_order(b, i);
		number += t->tracks.v[i].n;
	}
}

void build_number(struct trace_build *b, uint32_t track, uint32_t key, const uint32_t *numbers)
{
	struct trace_track old = store_take(b, track);
	struct slice s = { .track = track };
	uint32_t n = 0;

	for (size_t i = 0; i < old.blocks.n; i++) {
		const struct slice_block *block = &old.blocks.v[i];
		int64_t start = block->base;
		for (const uint8_t *p = block->bytes, *end = p + block->size; p < end; n++) {
			p = store_decode(block, p, &start, &s);
			if (numbers[n]) {
				VEC_ROOM(b->scratch, &b->args, s.args.n);
				if (s.args.n)
					memcpy(b->args.v, s.args.p, s.args.n);
				b->args.n = s.args.n;
				build_arg_int(b, key, numbers[n]);
				s.args = build_args_take(b);
			}
			store_append(b, &s);
		}
	}
	store_release(b, &old);
}

uint32_t build_site(struct trace_build *b, uint32_t parent, uint32_t event, bool replayed)
{
	struct trace *t = b->t;
	bool in_module = t->events.v[event].category == CATEGORY_MODULE ||
	                 (parent != ID_NONE && t->sites.v[parent].in_module);

	VEC_PUSH(t->a, &t->sites, ((struct trace_site){ parent, event, in_module, replayed }));
	return (uint32_t)(b->t->sites.n - 1);
}

void build_graph(struct trace_build *b, const struct trace_graph *graph)
{
	VEC_PUSH(b->t->a, &b->t->graphs, *graph);
}

void build_replay(struct trace_build *b, const struct trace_replay *replay)
{
	VEC_PUSH(b->t->a, &b->t->replays, *replay);
}

void build_guess(struct trace_build *b, const struct trace_guess *step)
{
	VEC_PUSH(b->t->a, &b->t->guesses, *step);
}

void build_creation(struct trace_build *b, const struct build_creation *node)
{
	VEC_PUSH(b->scratch, &b->creations, *node);
}

const struct build_creations *build_get_creations(const struct trace_build *b)
{
	return &b->creations;
}

void build_cover(struct trace_build *b, int64_t start, int64_t end)
{
	struct trace_extent *x = &b->t->extent;

	x->start = !x->any || start < x->start ? start : x->start;
	x->end = !x->any || end > x->end ? end : x->end;
	x->any = true;
}

void build_extent(struct trace_build *b, uint32_t track, uint32_t n, int64_t start, int64_t end)
{
	struct trace_track *k = &b->t->tracks.v[track];

	k->start = start;
	k->end = end;
	if (n > k->n && n - k->n <= TRACE_SLICES_MAX - b->t->n_slices)
		b->t->n_slices += n - k->n;
	if (!k->n)
		k->n = n;
}

void build_sums(struct trace_build *b, const struct trace_sums *sums)
{
	b->t->sums = sums;
}
