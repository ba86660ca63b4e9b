/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory snapshots of PyTorch: converts dicts and lists to objects.
 */
#include "trace/read/snapshot/snapshot.h"

#include "base/sort.h"
#include "trace/pass/step_range.h"

/* Limits of the frames' texts: bytes per byte of the file, and bytes that are always allowed. Above
 * both, texts are shortened. */
#define FRAME_TEXT_SHARE 40
#define FRAME_TEXT_FREE  ((uint64_t)1 << 20)
#define FRAME_TEXT_SHORT ((size_t)200)

/* Number of values in a list of frames. Shorter stacks are not looked up as a whole. */
#define STACK_SHORT 8

/* Ranges of frames that are kept for comparison. */
#define STACK_FRAMES_MAX ((size_t)1 << 20)

#define FIELD(id, name) { (name), sizeof(name) - 1 },
static const struct str field_names[FIELD_N] = {
#include "trace/read/snapshot/snapshot_field.def"
};
#undef FIELD

/* ---- shapes ---- */

static uint8_t field_of(const struct snapshot *x, const struct pickle_value *key)
{
	uint8_t i = 0;

	if (key->type != PICKLE_TEXT)
		return FIELD_N;
	while (i < FIELD_N && !str_eq(field_names[i], intern_str(&x->texts, (uint32_t)key->id)))
		i++;
	return i;
}

static uint32_t key_id(const struct pickle_value *key)
{
	return key->type == PICKLE_TEXT ? (uint32_t)key->id : ID_NONE;
}

static bool has_keys(const struct snapshot_shape *of, const struct pickle_value *v, size_t n)
{
	if (of->n != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (of->keys[i] != key_id(&v[2 * i]))
			return false;
	return true;
}

/* Finds or creates the shape of a dict with n keys. If there are too many shapes, reuses the last
 * element. */
static struct snapshot_shape *shape_of(struct snapshot *x, const struct pickle_value *v, size_t n)
{
	struct snapshot_shape *to = &x->shapes[x->last_shape];

	if (x->n_shapes && has_keys(to, v, n))
		return to;
	for (unsigned i = 0; i < x->n_shapes; i++)
		if (has_keys(&x->shapes[i], v, n)) {
			x->last_shape = i;
			return &x->shapes[i];
		}
	x->last_shape = x->n_shapes < SHAPES_MAX ? x->n_shapes++ : SHAPES_MAX - 1;
	to = &x->shapes[x->last_shape];
	*to = (struct snapshot_shape){ .n = (uint32_t)n };
	for (size_t i = 0; i < n; i++) {
		to->keys[i] = key_id(&v[2 * i]);
		to->field[i] = field_of(x, &v[2 * i]);
		to->fields |= to->field[i] < FIELD_N ? (uint64_t)1 << to->field[i] : 0;
	}
	return to;
}

/* ---- values ---- */

/* The members of a dict, indexed by field. */
struct dict_members {
	const struct pickle_value *of[FIELD_N];
};

static bool is_number(const struct dict_members *m, enum snapshot_field field)
{
	return m->of[field] && m->of[field]->type == PICKLE_INT;
}

static int64_t number(const struct dict_members *m, enum snapshot_field field, int64_t other)
{
	return is_number(m, field) ? m->of[field]->i : other;
}

static struct str text(
        const struct snapshot *x, const struct dict_members *m, enum snapshot_field field)
{
	return m->of[field] && m->of[field]->type == PICKLE_TEXT
	               ? intern_str(&x->texts, (uint32_t)m->of[field]->id)
	               : STR_NONE;
}

static bool is_true(const struct dict_members *m, enum snapshot_field field)
{
	return m->of[field] && m->of[field]->type == PICKLE_BOOL && m->of[field]->i;
}

static const struct pickle_value *object(
        const struct dict_members *m, enum snapshot_field field, enum snapshot_kind kind)
{
	const struct pickle_value *v = m->of[field];

	return v && v->type == PICKLE_OBJECT && v->kind == kind ? v : NULL;
}

static uint32_t object_id(
        const struct dict_members *m, enum snapshot_field field, enum snapshot_kind kind)
{
	const struct pickle_value *v = object(m, field, kind);

	return v ? (uint32_t)v->id : ID_NONE;
}

static void set_object(struct pickle_value *out, enum snapshot_kind kind, uint64_t id)
{
	*out = (struct pickle_value){
		.type = PICKLE_OBJECT, .kind = (uint8_t)kind, .n = 1, .id = id
	};
}

/* ---- frames and stacks ---- */

/* Keeps only the end of a file's name and the beginning of a function's name, if the texts of all
 * frames take too much memory for a file of this size. */
static void shorten(struct snapshot *x, struct str *file, struct str *function)
{
	bool much = x->written > FRAME_TEXT_FREE + FRAME_TEXT_SHARE * src_at(x->s);

	if (!much || (file->n <= FRAME_TEXT_SHORT && function->n <= FRAME_TEXT_SHORT))
		return;
	if (file->n > FRAME_TEXT_SHORT)
		*file = str_sub(*file, file->n - FRAME_TEXT_SHORT, SIZE_MAX);
	*function = str_sub(*function, 0, FRAME_TEXT_SHORT);
	x->shortened++;
}

static uint32_t make_frame(struct snapshot *x, struct str file, int64_t line, struct str function)
{
	struct sb b = sb_in(x->a);

	shorten(x, &file, &function);
	if (file.p && file.n && !str_eq(file, S("??")))
		sb_fmt(&b, "%.*s(%lld): ", STR(file), (long long)line);
	sb_put(&b, function);
	x->written += b.n;
	return build_event(x->b, CATEGORY_FRAME, build_string(x->b, sb_str(&b)));
}

static bool close_frame(struct snapshot *x, const struct dict_members *m, struct pickle_value *out)
{
	struct frame_key {
		uint32_t file, function;
		int64_t line;
	} key = { .line = number(m, FIELD_LINE, 0) };
	struct str file = text(x, m, FIELD_FILENAME), function = text(x, m, FIELD_NAME);

	key.file = file.p ? (uint32_t)m->of[FIELD_FILENAME]->id : ID_NONE;
	key.function = function.p ? (uint32_t)m->of[FIELD_NAME]->id : ID_NONE;
	uint32_t i = intern_add(&x->frames, str_make(&key, sizeof key));
	if (i == x->frame_events.n)
		VEC_PUSH(x->a, &x->frame_events, make_frame(x, file, key.line, function));
	set_object(out, OBJECT_FRAME, i);
	return true;
}

/* Finds or adds the site of a frame. */
static uint32_t make_site(struct snapshot *x, uint32_t parent, uint32_t frame)
{
	uint32_t event = x->frame_events.v[frame], site;
	uint64_t key = (uint64_t)(parent + 1) << 32 | event;

	if (!imap_get(&x->sites, key, &site)) {
		site = build_site(x->b, parent, event, false);
		imap_put(&x->sites, key, site, false);
	}
	return site;
}

static uint64_t stack_hash(const struct pickle_value *v, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++)
		h = (h ^ h >> 29 ^ v[i].id ^ (uint64_t)v[i].n << 40) * 0x9e3779b97f4a7c15u;
	return h;
}

/* True if a site has these frames. The innermost frame comes first. */
static bool is_stack(
        const struct snapshot *x, uint32_t site, const struct pickle_value *v, size_t n)
{
	const struct trace_site *sites = build_trace(x->b)->sites.v;

	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; v[i].type == PICKLE_OBJECT && k < v[i].n; k++) {
			if (site == ID_NONE ||
			        sites[site].event != x->frame_events.v[(uint32_t)v[i].id + k])
				return false;
			site = sites[site].parent;
		}
	return site == ID_NONE;
}

/* Finds or adds a stack. The innermost frame comes first. Outer frames that equal the frames of the
 * previous stack are not looked up. */
static uint32_t make_stack(struct snapshot *x, const struct pickle_value *v, size_t n)
{
	uint32_t site = ID_NONE;
	size_t depth = 0;

	for (size_t i = n; i-- > 0;)
		for (uint32_t k = v[i].n; v[i].type == PICKLE_OBJECT && k-- > 0; depth++) {
			uint32_t frame = (uint32_t)v[i].id + k;
			if (depth < x->last.n && x->last.v[depth].frame == frame) {
				site = x->last.v[depth].site;
				continue;
			}
			x->last.n = depth;
			site = make_site(x, site, frame);
			VEC_PUSH(x->a, &x->last, ((struct stack_level){ frame, site }));
		}
	return site;
}

/* The range of frames of a value; empty for a value that was left out. */
static struct frame_range range_of(const struct pickle_value *v)
{
	return (struct frame_range){ (uint32_t)v->id, v->type == PICKLE_OBJECT ? v->n : 0 };
}

/* True if a stack that was looked up before has these frames. */
static bool is_whole_stack(const struct snapshot *x, const struct whole_stack *of,
        const struct pickle_value *v, size_t n)
{
	if (of->range0 == ID_NONE)
		return is_stack(x, of->site, v, n);
	if (of->ranges != n)
		return false;
	const struct frame_range *ranges = x->stack_frames.v + of->range0;
	for (size_t i = 0; i < n; i++) {
		struct frame_range r = range_of(&v[i]);
		if (ranges[i].first != r.first || ranges[i].n != r.n)
			return false;
	}
	return true;
}

/* Keeps a stack, in place of another one with the same hash. */
static void keep_stack(
        struct snapshot *x, uint64_t hash, uint32_t site, const struct pickle_value *v, size_t n)
{
	struct whole_stack made = { site, ID_NONE, (uint32_t)n };

	if (n <= STACK_FRAMES_MAX - x->stack_frames.n) {
		made.range0 = (uint32_t)x->stack_frames.n;
		VEC_ROOM(x->a, &x->stack_frames, n);
		for (size_t i = 0; i < n; i++)
			x->stack_frames.v[x->stack_frames.n++] = range_of(&v[i]);
	}
	imap_put(&x->stacks, hash, (uint32_t)x->whole_stacks.n, true);
	VEC_PUSH(x->a, &x->whole_stacks, made);
}

/* Finds or adds a stack. A stack of many frames is looked up as a whole first, which is faster than
 * frame by frame. */
static void close_stack(
        struct snapshot *x, const struct pickle_value *v, size_t n, struct pickle_value *out)
{
	uint64_t hash = n < STACK_SHORT ? 0 : stack_hash(v, n);
	uint32_t site, i;

	if (n < STACK_SHORT) {
		site = make_stack(x, v, n);
	} else if (imap_get(&x->stacks, hash, &i) &&
	           is_whole_stack(x, &x->whole_stacks.v[i], v, n)) {
		site = x->whole_stacks.v[i].site;
	} else {
		site = make_stack(x, v, n);
		if (site != ID_NONE)
			keep_stack(x, hash, site, v, n);
	}
	set_object(out, OBJECT_STACK, site);
}

/* ---- pools ---- */

/* Converts a tuple of two numbers to a pool: they are the id of the pool; (0, 0) is the default
 * pool. */
static bool close_pool(struct snapshot *x, const struct pickle_value *v, struct pickle_value *out)
{
	int64_t key[] = { v[0].i, v[1].i };
	uint32_t i = intern_add(&x->pools, str_make(key, sizeof key));

	if (i == x->pool_names.n)
		VEC_PUSH(x->a, &x->pool_names,
		        build_string(x->b, key[0] || key[1]
		                                   ? str_fmt(x->a, "private %lld.%lld",
		                                             (long long)key[0], (long long)key[1])
		                                   : S("default")));
	set_object(out, OBJECT_POOL, i);
	return true;
}

static bool is_private(const struct snapshot *x, uint32_t pool)
{
	return pool != ID_NONE && !str_eq(trace_str(build_trace(x->b), pool), S("default"));
}

static uint32_t pool_name(
        const struct snapshot *x, const struct dict_members *m, enum snapshot_field field)
{
	uint32_t i = object_id(m, field, OBJECT_POOL);

	return i == ID_NONE ? ID_NONE : x->pool_names.v[i];
}

static int by_address(const void *v, uint32_t a, uint32_t b)
{
	const struct snapshot_segment *s = v;

	return (s[a].address > s[b].address) - (s[a].address < s[b].address);
}

/* Returns the pool of the segment that contains an address. Without private pools, and before the
 * segments have been read, this is the default pool; otherwise it is unknown. */
static uint32_t pool_of_address(struct snapshot *x, uint64_t address)
{
	size_t i;

	if (!x->private_pools)
		return build_string(x->b, S("default"));
	if (!x->order)
		x->order = sort_order(x->a, x->segments.n, by_address, x->segments.v);
	BISECT(i, 0, x->segments.n, x->segments.v[x->order[i]].address <= address);
	if (i) {
		const struct snapshot_segment *s = &x->segments.v[x->order[i - 1]];
		if (address - s->address < (uint64_t)s->size)
			return s->pool;
	}
	x->outside++;
	return ID_NONE;
}

/* ---- entries ---- */

/* Returns the list that stores an entry, with its track. */
static struct snapshot_entries *entries_of(struct snapshot *x, uint64_t number)
{
	if (!x->lists.n || x->lists.v[x->lists.n - 1].number != number) {
		uint32_t track = build_track_named(x->b, build_process(x->b, 0), ID_NONE,
		        TRACK_LINE, str_fmt(x->a, "allocator %zu", x->lists.n));
		VEC_PUSH(x->a, &x->lists,
		        ((struct snapshot_entries){ number, x->entries, track, INT64_MIN }));
	}
	return &x->lists.v[x->lists.n - 1];
}

/* Returns the list that begins with this entry, or another list if there is none. */
static uint32_t list_of(const struct snapshot *x, uint64_t first_entry)
{
	size_t i;

	BISECT(i, 1, x->lists.n, x->lists.v[i].first_entry <= first_entry);
	return (uint32_t)i - 1;
}

/* Returns the time of an entry: the time that it states, which never decreases, or its number if
 * the file has no times. */
static int64_t time_of(
        struct snapshot *x, const struct dict_members *m, struct snapshot_entries *list)
{
	int64_t at = number(m, FIELD_TIME_US, INT64_MIN);

	if (!x->entries)
		x->timeless = at == INT64_MIN;
	if (x->timeless)
		at = list->last == INT64_MIN ? 0 : list->last + 1;
	x->backwards += at < list->last;
	list->last = at < list->last ? list->last : at;
	x->end = list->last > x->end ? list->last : x->end;
	return list->last;
}

static void put_text(
        struct snapshot *x, const struct dict_members *m, enum snapshot_field field, uint32_t key)
{
	struct str s = text(x, m, field);

	if (s.n)
		build_arg_text(x->b, key, str_sub(s, 0, ARGS_MAX / 4));
}

static void put_site(struct snapshot *x, uint32_t site)
{
	if (site != ID_NONE)
		build_arg_int(x->b, ARG_SITE, (int64_t)site + 1);
}

static void put_address(struct snapshot *x, uint64_t address)
{
	build_arg_int(x->b, ARG_ADDRESS, (int64_t)address);
}

static void put_pool(struct snapshot *x, uint32_t pool)
{
	if (pool != ID_NONE)
		build_arg_text(x->b, ARG_ALLOCATOR, trace_str(build_trace(x->b), pool));
}

static void put_entry(struct snapshot *x, const struct dict_members *m)
{
	bool placed = is_number(m, FIELD_ADDR);
	uint32_t pool = pool_name(x, m, FIELD_POOL_ID);
	uint64_t address = (uint64_t)number(m, FIELD_ADDR, 0);

	if (is_number(m, FIELD_SIZE))
		build_arg_int(x->b, ARG_BYTES, m->of[FIELD_SIZE]->i);
	if (is_number(m, FIELD_STREAM))
		build_arg_int(x->b, ARG_STREAM, m->of[FIELD_STREAM]->i);
	put_site(x, object_id(m, FIELD_FRAMES, OBJECT_STACK));
	if (is_number(m, FIELD_DEVICE_FREE))
		build_arg_int(x->b, ARG_AVAILABLE_TOTAL, m->of[FIELD_DEVICE_FREE]->i);
	if (placed)
		put_address(x, address);
	put_pool(x, pool == ID_NONE && placed ? pool_of_address(x, address) : pool);
	put_text(x, m, FIELD_USER_METADATA, x->key_metadata);
	put_text(x, m, FIELD_COMPILE_CONTEXT, x->key_context);
	put_text(x, m, FIELD_CATEGORY, x->key_category);
}

/* True for actions that do not concern memory at an address. */
static bool has_no_address(struct str action)
{
	return str_eq(action, S("oom")) || str_eq(action, S("snapshot"));
}

static bool close_entry(struct snapshot *x, const struct dict_members *m,
        const struct pickle_container *c, struct pickle_value *out)
{
	struct str action = text(x, m, FIELD_ACTION);

	if (!c->whole)
		return true;
	if (!action.n || (!has_no_address(action) &&
	                         (!is_number(m, FIELD_ADDR) || !is_number(m, FIELD_SIZE) ||
	                                 m->of[FIELD_SIZE]->i < 0))) {
		x->odd++;
		return true;
	}
	struct snapshot_entries *list = entries_of(x, c->around);
	int64_t at = time_of(x, m, list);
	uint32_t event =
	        build_event(x->b, CATEGORY_ALLOCATION, build_string(x->b, str_sub(action, 0, 200)));
	put_entry(x, m);
	build_instant(x->b, list->track, event, at, 0);
	set_object(out, OBJECT_ENTRY, x->entries++);
	return true;
}

/* ---- segments ---- */

static bool close_block(struct snapshot *x, const struct dict_members *m, struct pickle_value *out)
{
	struct str state = text(x, m, FIELD_STATE);
	struct snapshot_block made = { .address = (uint64_t)number(m, FIELD_ADDRESS, 0),
		.has_address = is_number(m, FIELD_ADDRESS),
		.size = number(m, FIELD_SIZE, -1),
		.requested = number(m, FIELD_REQUESTED_SIZE, -1),
		.state = state.n ? build_string(x->b, str_sub(state, 0, 200)) : ID_NONE,
		.site = object_id(m, FIELD_FRAMES, OBJECT_STACK) };

	if (made.size < 0) {
		x->odd++;
		return true;
	}
	set_object(out, OBJECT_BLOCK, x->blocks.n);
	VEC_PUSH(x->a, &x->blocks, made);
	return true;
}

static bool close_segment(
        struct snapshot *x, const struct dict_members *m, struct pickle_value *out)
{
	const struct pickle_value *blocks = object(m, FIELD_BLOCKS, OBJECT_BLOCKS);
	struct snapshot_range range = { 0 };
	struct snapshot_segment made = { .address = (uint64_t)number(m, FIELD_ADDRESS, 0),
		.size = number(m, FIELD_TOTAL_SIZE, -1),
		.stream = number(m, FIELD_STREAM, 0),
		.device = number(m, FIELD_DEVICE, 0),
		.pool = pool_name(x, m, FIELD_SEGMENT_POOL_ID),
		.expandable = is_true(m, FIELD_IS_EXPANDABLE) };

	if (made.size < 0) {
		x->odd++;
		return true;
	}
	if (blocks)
		range = x->ranges.v[blocks->id];
	made.block0 = range.first;
	made.n_blocks = range.n;
	if (made.pool == ID_NONE)
		made.pool = build_string(x->b, S("default"));
	x->private_pools |= is_private(x, made.pool);
	set_object(out, OBJECT_SEGMENT, x->segments.n);
	VEC_PUSH(x->a, &x->segments, made);
	x->order = NULL;
	return true;
}

/* ---- annotations ---- */

/* Returns the event of an annotation. Annotations with names such as "ProfilerStep#3" are steps. */
static uint32_t annotation_event(struct snapshot *x, struct str name)
{
	bool step = step_range_is_common(name);

	if (step)
		build_arg_int(x->b, ARG_STEP, step_range_number(name));
	return build_event(
	        x->b, step ? CATEGORY_STEP : CATEGORY_ANNOTATION, build_string(x->b, name));
}

/* Reads {"name", "stage": "START" or "END", "device", "time_us"}. */
static bool close_annotation(
        struct snapshot *x, const struct dict_members *m, struct pickle_value *out)
{
	uint32_t track = build_track(
	        x->b, build_process(x->b, 0), ID_NONE, TRACK_THREAD, number(m, FIELD_DEVICE, 0));
	struct str stage = text(x, m, FIELD_STAGE), name = text(x, m, FIELD_NAME);
	int64_t at = number(m, FIELD_TIME_US, INT64_MIN);

	if (at == INT64_MIN || (!str_eq(stage, S("START")) && !str_eq(stage, S("END")))) {
		x->odd++;
		return true;
	}
	if (str_eq(stage, S("START")))
		build_begin(
		        x->b, track, annotation_event(x, str_sub(name, 0, ARGS_MAX / 4)), at, 0);
	else
		build_end(x->b, track, at);
	set_object(out, OBJECT_ANNOTATION, x->annotations++);
	return true;
}

/* ---- lists ---- */

static uint64_t add_range(struct snapshot *x, uint64_t first, uint64_t n)
{
	VEC_PUSH(x->a, &x->ranges, ((struct snapshot_range){ (uint32_t)first, (uint32_t)n }));
	return x->ranges.n - 1;
}

/* Creates an object from the blocks or segments of a list. They are consecutive, unless one of them
 * is also in another list. */
static void close_rows(struct snapshot *x, const struct pickle_value *v, size_t n,
        enum snapshot_kind kind, struct pickle_value *out)
{
	uint64_t first = UINT64_MAX, end = 0;

	for (size_t i = 0; i < n; i++) {
		if (v[i].type != PICKLE_OBJECT || v[i].kind == OBJECT_EMPTY)
			continue;
		first = first == UINT64_MAX ? v[i].id : first;
		x->odd += end && v[i].id != end;
		end = end && v[i].id != end ? end : v[i].id + v[i].n;
	}
	set_object(out, kind, add_range(x, first, end - first));
}

/* Stores the members of a list of lists of entries. It contains a list for each device, which may
 * be empty. */
static void close_traces(
        struct snapshot *x, const struct pickle_value *v, size_t n, struct pickle_value *out)
{
	size_t first = x->members.n;

	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < v[i].n; k++)
			VEC_PUSH(x->a, &x->members,
			        v[i].type == PICKLE_OBJECT && v[i].kind == OBJECT_ENTRIES
			                ? (uint32_t)v[i].id + k + 1
			                : 0);
	set_object(out, OBJECT_TRACES, add_range(x, first, x->members.n - first));
}

/* Returns the kind of all objects of a list, ignoring empty lists and omitted values; OBJECT_N if
 * the kinds differ. */
static enum snapshot_kind kind_of(const struct pickle_value *v, size_t n)
{
	enum snapshot_kind kind = OBJECT_EMPTY;

	for (size_t i = 0; i < n; i++) {
		if (v[i].type == PICKLE_NONE ||
		        (v[i].type == PICKLE_OBJECT && v[i].kind == OBJECT_EMPTY))
			continue;
		if (v[i].type != PICKLE_OBJECT)
			return OBJECT_N;
		if (kind != OBJECT_EMPTY && kind != v[i].kind)
			return OBJECT_N;
		kind = v[i].kind;
	}
	return kind;
}

/* Returns the id of the first object. */
static uint64_t first_id(const struct pickle_value *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].type == PICKLE_OBJECT && v[i].kind != OBJECT_EMPTY)
			return v[i].id;
	return 0;
}

static bool close_list(
        struct snapshot *x, const struct pickle_value *v, size_t n, struct pickle_value *out)
{
	enum snapshot_kind kind = kind_of(v, n);

	switch (kind) {
	case OBJECT_EMPTY:
		set_object(out, OBJECT_EMPTY, 0);
		if (n) /* the devices have no entries */
			close_traces(x, v, n, out);
		return true;
	case OBJECT_ENTRIES: close_traces(x, v, n, out); return true;
	case OBJECT_ENTRY: set_object(out, OBJECT_ENTRIES, list_of(x, first_id(v, n))); return true;
	case OBJECT_FRAME: close_stack(x, v, n, out); return true;
	case OBJECT_BLOCK: close_rows(x, v, n, OBJECT_BLOCKS, out); return true;
	case OBJECT_SEGMENT: close_rows(x, v, n, OBJECT_SEGMENTS, out); return true;
	case OBJECT_ANNOTATION: set_object(out, OBJECT_ANNOTATION, 0); return true;
	default: x->unused_lists++; return true;
	}
}

/* ---- the root ---- */

static uint32_t device_at(struct snapshot *x, int64_t index)
{
	return build_device(x->b, build_process(x->b, 0), DEVICE_KIND_GPU, index,
	        str_fmt(x->a, "gpu:%lld", (long long)index));
}

/* Sets the devices of the tracks with entries. */
static void close_root(struct snapshot *x, const struct dict_members *m, struct pickle_value *out)
{
	uint32_t traces = object_id(m, FIELD_DEVICE_TRACES, OBJECT_TRACES);
	uint32_t host = object_id(m, FIELD_HOST_SEGMENTS, OBJECT_SEGMENTS);

	for (uint32_t i = 0; traces != ID_NONE && i < x->ranges.v[traces].n; i++) {
		uint32_t list = x->members.v[x->ranges.v[traces].first + i];
		if (list)
			build_track_at(x->b, x->lists.v[list - 1].track)->device = device_at(x, i);
	}
	for (uint32_t i = 0; host != ID_NONE && i < x->ranges.v[host].n; i++)
		x->segments.v[x->ranges.v[host].first + i].host = true;
	set_object(out, OBJECT_ROOT, 0);
}

/* ---- containers ---- */

static bool has(const struct snapshot_shape *s, uint64_t fields)
{
	return (s->fields & fields) == fields;
}

static bool close_dict(
        struct snapshot *x, const struct pickle_container *c, struct pickle_value *out)
{
	struct dict_members m = { { NULL } };
	size_t n = c->n / 2;

	if (n > SHAPE_KEYS) {
		x->unused_dicts++;
		return true;
	}
	struct snapshot_shape *shape = shape_of(x, c->v, n);
	shape->uses++;
	for (size_t i = 0; i < n; i++)
		if (shape->field[i] < FIELD_N)
			m.of[shape->field[i]] = &c->v[2 * i + 1];
	if (has(shape, FIELD_BIT(ACTION)))
		return close_entry(x, &m, c, out);
	if (has(shape, FIELD_BIT(FILENAME) | FIELD_BIT(NAME)))
		return !c->whole || close_frame(x, &m, out);
	if (has(shape, FIELD_BIT(STATE) | FIELD_BIT(SIZE)))
		return !c->whole || close_block(x, &m, out);
	if (has(shape, FIELD_BIT(TOTAL_SIZE) | FIELD_BIT(BLOCKS)))
		return !c->whole || close_segment(x, &m, out);
	if (has(shape, FIELD_BIT(STAGE) | FIELD_BIT(NAME)))
		return !c->whole || close_annotation(x, &m, out);
	if (shape->fields & (FIELD_BIT(SEGMENTS) | FIELD_BIT(DEVICE_TRACES)))
		close_root(x, &m, out);
	else if (!has(shape, FIELD_BIT(MAX_SPLIT_SIZE))) /* settings of the allocator */
		x->unused_dicts++;
	return true;
}

bool snapshot_close(void *snapshot, const struct pickle_container *c, struct pickle_value *out)
{
	struct snapshot *x = snapshot;
	bool pair = c->n == 2 && c->v[0].type == PICKLE_INT && c->v[1].type == PICKLE_INT;

	if (c->type == PICKLE_DICT)
		return close_dict(x, c, out);
	if (pair) /* tuples of a pickle are lists in JSON */
		return close_pool(x, c->v, out);
	return c->type == PICKLE_TUPLE || close_list(x, c->v, c->n, out);
}

/* ---- the end ---- */

/* Returns the track of a device's entries, or of the host. */
static uint32_t track_of(struct snapshot *x, const struct snapshot_segment *s)
{
	const struct trace *t = build_trace(x->b);
	uint32_t device = s->host ? ID_NONE : device_at(x, s->device);

	for (size_t i = 0; i < x->lists.n; i++)
		if (t->tracks.v[x->lists.v[i].track].device == device)
			return x->lists.v[i].track;
	return build_track(x->b, build_process(x->b, 0), device, TRACK_LINE, s->host);
}

static void put_block(struct snapshot *x, uint32_t track, uint32_t pool, uint64_t at,
        const struct snapshot_block *k)
{
	uint32_t event = build_event(x->b, CATEGORY_ALLOCATION, build_string(x->b, S("block")));

	put_address(x, k->has_address ? k->address : at);
	build_arg_int(x->b, ARG_BYTES, k->size);
	if (k->requested >= 0)
		build_arg_int(x->b, ARG_REQUESTED, k->requested);
	put_site(x, k->site);
	put_pool(x, pool);
	if (k->state != ID_NONE)
		build_arg_text(x->b, x->key_state, trace_str(build_trace(x->b), k->state));
	build_instant(x->b, track, event, x->end, 0);
}

static void put_segment(struct snapshot *x, const struct snapshot_segment *s)
{
	uint32_t track = track_of(x, s);
	uint32_t event = build_event(x->b, CATEGORY_ALLOCATION, build_string(x->b, S("segment")));
	uint64_t at = s->address;

	put_address(x, s->address);
	build_arg_int(x->b, ARG_BYTES, s->size);
	build_arg_int(x->b, ARG_STREAM, s->stream);
	put_pool(x, s->pool);
	if (s->expandable)
		build_arg_int(x->b, x->key_expandable, 1);
	build_instant(x->b, track, event, x->end, 0);
	for (uint32_t i = 0; i < s->n_blocks; i++) {
		const struct snapshot_block *k = &x->blocks.v[s->block0 + i];
		put_block(x, track, s->pool, at, k);
		at += (uint64_t)k->size;
	}
}

/* Adds a note about the unused members of dicts. */
static void note_members(struct snapshot *x)
{
	for (unsigned i = 0; i < x->n_shapes; i++) {
		const struct snapshot_shape *s = &x->shapes[i];
		for (uint32_t k = 0; k < s->n && s->fields && !has(s, FIELD_BIT(MAX_SPLIT_SIZE));
		        k++) {
			struct sb b = sb_in(x->a);
			if (s->field[k] < FIELD_N || s->keys[k] == ID_NONE)
				continue;
			sb_put(&b, S("members "));
			sb_put_name(&b, str_sub(intern_str(&x->texts, s->keys[k]), 0, 100));
			src_count_unused(x->s, sb_str(&b), s->uses);
		}
	}
	src_count_unused(x->s, S("dicts of other kinds"), x->unused_dicts);
	src_count_unused(x->s, S("lists of other kinds"), x->unused_lists);
}

static void add_notes(struct snapshot *x)
{
	struct notes *to = build_notes(x->b);
	const char *name = str_z(x->a, x->s->name);

	if (x->timeless && x->entries)
		note_line(to,
		        "note: %s: the entries have no times: they are numbered, and each number "
		        "counts as a microsecond\n",
		        name);
	note_count(to, x->odd,
	        "note: %2$s: %1$llu {entry or block lacks|entries or blocks lack} an action, an "
	        "address or a size: {it is|they are} left out\n",
	        (unsigned long long)x->odd, name);
	note_count(to, x->backwards,
	        "note: %2$s: %1$llu {entry is|entries are} earlier than the one before: the order "
	        "in the file counts\n",
	        (unsigned long long)x->backwards, name);
	note_count(to, x->shortened,
	        "note: %2$s: %1$llu {frame has a name|frames have names} too long for a file of "
	        "this size: {it was|they were} shortened\n",
	        (unsigned long long)x->shortened, name);
	note_count(to, x->outside,
	        "note: %2$s: %1$llu {entry lies|entries lie} in no segment that exists at the end: "
	        "the pool is unknown\n",
	        (unsigned long long)x->outside, name);
}

void snapshot_init(struct snapshot *x, struct src *s, struct trace_build *b, struct arena *a)
{
	*x = (struct snapshot){ .s = s, .b = b, .a = a };
	intern_init(&x->texts, a);
	intern_init(&x->frames, a);
	intern_init(&x->pools, a);
	imap_init(&x->sites, a);
	imap_init(&x->stacks, a);
	build_start(b, TRACE_SNAPSHOT, 1);
	x->key_metadata = build_key(b, S("user_metadata"));
	x->key_context = build_key(b, S("compile_context"));
	x->key_category = build_key(b, S("category"));
	x->key_state = build_key(b, S("state"));
	x->key_expandable = build_key(b, S("expandable"));
}

void snapshot_end(struct snapshot *x)
{
	build_origin(x->b, 0, !x->timeless && x->entries);
	for (size_t i = 0; i < x->segments.n; i++)
		put_segment(x, &x->segments.v[i]);
	note_members(x);
	add_notes(x);
}
