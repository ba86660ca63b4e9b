/* SPDX-License-Identifier: Apache-2.0
 *
 * Tracks of Perfetto traces. A descriptor may follow the events of its track, so processes, names
 * and devices are set at the end:
 *
 *   TrackDescriptor   uuid 1  name 2  process 3  thread 4  parent_uuid 5  counter 8  static_name 10
 *                     atrace_name 13
 *   ProcessDescriptor pid 1  cmdline 2  process_name 6
 *   ThreadDescriptor  pid 1  tid 2  thread_name 5  reference_timestamp_us 6
 *   CounterDescriptor unit_multiplier 4  is_incremental 5
 *   ProcessTree       processes 1 { pid 1  cmdline 3 }  threads 2 { tid 1  name 2 }
 */
#include "trace/read/perfetto/perfetto_internal.h"

#define PARENTS_MAX 64 /* maximum depth of nested tracks */

enum key_kind { KEY_UUID, KEY_THREAD, KEY_SEQUENCE, KEY_ID };
struct track_key {
	uint64_t kind, a, b, text;
};

/* Returns the index of a key's track, or ID_NONE for a new key. */
static uint32_t find_track(struct perfetto *x, const struct track_key *key)
{
	uint32_t i = intern_find(&x->track_keys, str_make(key, sizeof *key));

	return i == ID_NONE ? ID_NONE : x->track_of.v[i];
}

static void name_track(struct perfetto *x, const struct track_key *key, uint32_t track)
{
	intern_add(&x->track_keys, str_make(key, sizeof *key));
	VEC_PUSH(x->a, &x->track_of, track);
}

static struct pf_track *track_of(struct perfetto *x, const struct track_key *key)
{
	uint32_t i = find_track(x, key);
	struct pf_track made = {
		.track = ID_NONE, .name = ID_NONE, .thread_name = ID_NONE, .unit = 1
	};

	if (i != ID_NONE)
		return &x->tracks.v[i];
	name_track(x, key, (uint32_t)x->tracks.n);
	VEC_PUSH(x->a, &x->tracks, made);
	return &x->tracks.v[x->tracks.n - 1];
}

struct pf_track *pf_track_of_uuid(struct perfetto *x, uint64_t uuid)
{
	return track_of(x, &(struct track_key){ .kind = KEY_UUID, .a = uuid });
}

struct pf_track *pf_track_of_thread(struct perfetto *x, int64_t pid, int64_t tid)
{
	struct pf_track *k = track_of(x,
	        &(struct track_key){ .kind = KEY_THREAD, .a = (uint64_t)pid, .b = (uint64_t)tid });

	k->has_thread = true;
	k->pid = pid;
	k->tid = tid;
	return k;
}

struct pf_track *pf_track_of_sequence(struct perfetto *x, const struct pf_sequence *q)
{
	return q->has_thread ? pf_track_of_thread(x, q->pid, q->tid)
	                     : track_of(x, &(struct track_key){ .kind = KEY_SEQUENCE, .a = q->id });
}

struct pf_track *pf_track_of_id(struct perfetto *x, int64_t pid, struct str scope, uint64_t id)
{
	struct track_key key = {
		.kind = KEY_ID, .a = (uint64_t)pid, .b = id, .text = build_string(x->b, scope)
	};
	struct pf_track *k = track_of(x, &key);

	if (k->name == ID_NONE)
		k->name = build_string(
		        x->b, str_fmt(x->a, "%.*s 0x%llx", STR(scope), (unsigned long long)id));
	k->has_process = true;
	k->pid = pid;
	return k;
}

/* Returns the track in the trace. At the end, the source's number replaces the number of the
 * track. */
uint32_t pf_track_number(struct perfetto *x, struct pf_track *k)
{
	if (k->track == ID_NONE)
		k->track = build_track(x->b, ID_NONE, ID_NONE,
		        k->counter ? TRACK_COUNTER : TRACK_THREAD, k - x->tracks.v);
	return k->track;
}

/* ---- descriptors ---- */

/* Stores the name of a process; a later name replaces an earlier one. */
static void name_process(struct perfetto *x, int64_t pid, struct str name)
{
	if (name.n)
		imap_put(&x->process_names, (uint64_t)pid, build_string(x->b, name), true);
}

/* Reads a process descriptor. Returns the process id. */
static int64_t read_process(struct perfetto *x, struct str message)
{
	struct leaf l = leaf_of(message);
	struct str name = S(""), command = S(""), word;
	int64_t pid = 0;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): pid = (int32_t)leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_BYTES):
			word = leaf_bytes(&l);
			command = command.n ? command : word; /* arguments are not read */
			break;
		case LEAF_TAG(6, WIRE_BYTES): name = leaf_bytes(&l); break;
		default: leaf_skip(&l);
		}
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
	name_process(x, pid, name.n ? name : command);
	return pid;
}

struct thread {
	int64_t pid, tid, micros;
	struct str name;
};

static struct thread read_thread(struct perfetto *x, struct str message)
{
	struct leaf l = leaf_of(message);
	struct thread t = { .name = S("") };

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): t.pid = (int32_t)leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_VARINT): t.tid = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(5, WIRE_BYTES): t.name = leaf_bytes(&l); break;
		case LEAF_TAG(6, WIRE_VARINT): t.micros = (int64_t)leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
	return t;
}

static void read_counter(struct perfetto *x, struct pf_track *k, struct str message)
{
	struct leaf l = leaf_of(message);

	k->counter = true;
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(4, WIRE_VARINT): k->unit = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(5, WIRE_VARINT): k->incremental = leaf_varint(&l) != 0; break;
		default: leaf_skip(&l);
		}
	}
	k->unit = k->unit ? k->unit : 1;
	x->lost[PF_LOST_DAMAGED] += l.bad;
}

/* Sets the thread of a track. If the thread already has another track, that track gets the
 * events. */
static void set_thread(struct perfetto *x, uint64_t uuid, struct str message)
{
	struct thread t = read_thread(x, message);
	struct track_key key = { .kind = KEY_THREAD, .a = (uint64_t)t.pid, .b = (uint64_t)t.tid };
	struct pf_track *k = pf_track_of_uuid(x, uuid);
	uint32_t there = find_track(x, &key);

	if (there == ID_NONE) {
		name_track(x, &key, (uint32_t)(k - x->tracks.v));
	} else if (k->track == ID_NONE && &x->tracks.v[there] != k) {
		const struct track_key own = { .kind = KEY_UUID, .a = uuid };
		uint32_t i = intern_find(&x->track_keys, str_make(&own, sizeof own));
		x->track_of.v[i] = there;
		k = &x->tracks.v[there];
	}
	k->has_thread = true;
	k->pid = t.pid;
	k->tid = t.tid;
	if (t.name.n)
		k->thread_name = build_string(x->b, t.name);
}

void pf_describe(struct perfetto *x, struct str descriptor)
{
	struct leaf l = leaf_of(descriptor);
	struct str name = S(""), process = STR_NONE, thread = STR_NONE, counter = STR_NONE;
	uint64_t uuid = 0, parent = 0;
	struct pf_track *k;
	int64_t pid = 0;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): uuid = leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_BYTES):
		case LEAF_TAG(10, WIRE_BYTES):
		case LEAF_TAG(13, WIRE_BYTES): name = leaf_bytes(&l); break;
		case LEAF_TAG(3, WIRE_BYTES): process = leaf_bytes(&l); break;
		case LEAF_TAG(4, WIRE_BYTES): thread = leaf_bytes(&l); break;
		case LEAF_TAG(5, WIRE_VARINT): parent = leaf_varint(&l); break;
		case LEAF_TAG(8, WIRE_BYTES): counter = leaf_bytes(&l); break;
		default: leaf_skip(&l);
		}
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
	if (thread.p)
		set_thread(x, uuid, thread);
	if (process.p)
		pid = read_process(x, process);
	k = pf_track_of_uuid(x, uuid);
	if (parent)
		k->parent = parent;
	if (process.p && !k->has_thread) {
		k->has_process = true;
		k->pid = pid;
	}
	if (counter.p)
		read_counter(x, k, counter);
	if (name.n)
		k->name = build_string(x->b, name);
}

void pf_describe_thread(
        struct perfetto *x, struct pf_sequence *q, struct str process, struct str thread)
{
	struct thread t;

	if (process.p)
		read_process(x, process);
	if (!thread.p)
		return;
	t = read_thread(x, thread);
	q->has_thread = true;
	q->pid = t.pid;
	q->tid = t.tid;
	q->micros = t.micros;
	struct pf_track *k = pf_track_of_thread(x, t.pid, t.tid);
	if (t.name.n)
		k->thread_name = build_string(x->b, t.name);
}

static void read_tree_thread(struct perfetto *x, struct str message)
{
	struct leaf l = leaf_of(message);
	struct str name = S("");
	uint64_t tid = 0;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): tid = leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_BYTES): name = leaf_bytes(&l); break;
		default: leaf_skip(&l);
		}
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
	if (name.n)
		imap_put(&x->thread_names, tid, build_string(x->b, name), true);
}

static void read_tree_process(struct perfetto *x, struct str message)
{
	struct leaf l = leaf_of(message);
	struct str name = S(""), word;
	int64_t pid = 0;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): pid = (int32_t)leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_BYTES):
			word = leaf_bytes(&l);
			name = name.n ? name : word; /* arguments are not read */
			break;
		default: leaf_skip(&l);
		}
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
	name_process(x, pid, name);
}

void pf_process_tree(struct perfetto *x, struct str tree)
{
	struct leaf l = leaf_of(tree);

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES))
			read_tree_process(x, leaf_bytes(&l));
		else if (l.tag == LEAF_TAG(2, WIRE_BYTES))
			read_tree_thread(x, leaf_bytes(&l));
		else
			leaf_skip(&l);
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
}

/* ---- the end ---- */

/* Finds the process of a track: the process of the track itself, or of an ancestor. */
static bool process_of(struct perfetto *x, const struct pf_track *k, int64_t *pid)
{
	for (unsigned level = 0; level < PARENTS_MAX; level++) {
		const struct track_key above = { .kind = KEY_UUID, .a = k->parent };
		uint32_t i;

		*pid = k->pid;
		if (k->has_process || k->has_thread)
			return true;
		i = find_track(x, &above);
		if (i == ID_NONE)
			return false;
		k = &x->tracks.v[i];
	}
	return false;
}

/* Returns the first number in a text, such as "COMPUTE AGENT [4] STREAM [1] (GPU)". */
static int64_t first_number(struct str s)
{
	int64_t n = 0;
	size_t from = 0, to;

	while (from < s.n && !char_is_digit(s.p[from]))
		from++;
	for (to = from; to < s.n && char_is_digit(s.p[to]); to++)
		;
	num_parse_i64(str_sub(s, from, to - from), &n);
	return n;
}

/* Sets the device of a track: a track with device work and without a thread is a stream. */
static void set_device(struct perfetto *x, const struct pf_track *k)
{
	struct str name = k->name == ID_NONE ? S("") : trace_str(build_trace(x->b), k->name);
	int64_t index = first_number(name);
	uint32_t device = build_device(
	        x->b, ID_NONE, DEVICE_KIND_GPU, index, str_fmt(x->a, "gpu:%lld", (long long)index));

	build_track_at(x->b, k->track)->device = device;
	build_track_at(x->b, k->track)->kind = TRACK_STREAM;
}

static void finish_track(struct perfetto *x, const struct pf_track *k)
{
	struct trace_track *to = build_track_at(x->b, k->track);
	uint32_t name;
	int64_t pid;

	to->id = k->has_thread ? k->tid : k - x->tracks.v + 1;
	to->name = k->thread_name != ID_NONE ? k->thread_name : k->name;
	if (to->name == ID_NONE && k->has_thread &&
	        imap_get(&x->thread_names, (uint64_t)k->tid, &name))
		to->name = name;
	if (k->counter)
		to->kind = TRACK_COUNTER;
	if (process_of(x, k, &pid)) {
		uint32_t process = build_process(x->b, pid);
		build_track_at(x->b, k->track)->process = process;
	}
	if (k->work && !k->has_thread && !k->counter)
		set_device(x, k);
}

void pf_tracks_end(struct perfetto *x)
{
	for (size_t i = 0; i < x->tracks.n; i++)
		if (x->tracks.v[i].track != ID_NONE)
			finish_track(x, &x->tracks.v[i]);
	for (uint32_t i = 0; i < build_trace(x->b)->processes.n; i++) {
		struct trace_process *p = build_process_at(x->b, i);
		imap_get(&x->process_names, (uint64_t)p->pid, &p->name);
	}
}
