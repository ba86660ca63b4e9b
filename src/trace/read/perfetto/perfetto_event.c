/* SPDX-License-Identifier: Apache-2.0
 *
 * Events of Perfetto traces as slices, instants and samples:
 *
 *   TrackEvent       timestamp_delta_us 1  category_iids 3  debug_annotations 4  legacy_event 6
 *                    type 9  name_iid 10  track_uuid 11  extra_counter_values 12
 *                    timestamp_absolute_us 16  categories 22  name 23  counter_value 30
 *                    extra_counter_track_uuids 31  flow_ids_old 36  double_counter_value 44
 *                    extra_double_counter_track_uuids 45  extra_double_counter_values 46
 *                    flow_ids 47  correlation_id 52
 *   LegacyEvent      name_iid 1  phase 2  duration_us 3  unscoped_id 6  id_scope 7  local_id 10
 *                    global_id 11  pid_override 18  tid_override 19
 *   DebugAnnotation  name_iid 1  bool 2  uint 3  int 4  double 5  string 6  pointer 7  nested 8
 *                    json 9  name 10  dict_entries 11  array_values 12  proto_value 14
 *                    string_iid 17
 */
#include "trace/read/perfetto/perfetto_internal.h"

#define UNNAMED "(unnamed)"

enum { TYPE_NONE, TYPE_BEGIN, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };

struct event {
	struct str bytes, name, legacy;
	uint64_t name_iid, track, flow;
	uint32_t type;
	enum trace_category category;
	struct str category_name;
	bool has_track, annotated, has_value, has_real, has_delta, has_micros;
	int64_t value, micros, correlation;
	double real;
	size_t n_extra, n_extra_real;
	int64_t extra[PF_EXTRA_MAX];
	double extra_real[PF_EXTRA_MAX];
	struct pf_uuids uuids, uuids_real;
};

struct legacy {
	uint64_t name_iid, id;
	int64_t duration, pid, tid;
	bool has_id, has_pid, has_tid;
	unsigned phase;
	struct str scope;
};

/* ---- parsing ---- */

static double real_of(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

/* Sets the category of an event: the first of its categories that tfprof recognises. */
static void take_category(struct event *v, enum trace_category category, struct str name)
{
	if (!v->category_name.n)
		v->category_name = name;
	if (v->category == CATEGORY_OP)
		v->category = category;
}

static void take_category_iid(
        struct perfetto *x, const struct pf_sequence *q, struct event *v, uint64_t iid)
{
	const struct pf_text *t = pf_text(x, q, PF_CATEGORY, iid);

	if (t)
		take_category(
		        v, (enum trace_category)t->value, trace_str(build_trace(x->b), t->text));
}

static void take_value(struct event *v, uint64_t value)
{
	if (v->n_extra < PF_EXTRA_MAX)
		v->extra[v->n_extra++] = (int64_t)value;
}

static void take_real(struct event *v, uint64_t bits)
{
	if (v->n_extra_real < PF_EXTRA_MAX)
		v->extra_real[v->n_extra_real++] = real_of(bits);
}

static void take_uuid(struct perfetto *x, struct pf_uuids *to, uint64_t uuid)
{
	if (to->n < PF_EXTRA_MAX)
		VEC_PUSH(x->a, to, uuid);
}

/* Reads the numbers of a repeated field. Packed numbers are the bytes of a leaf. */
static void take_number(struct perfetto *x, const struct pf_sequence *q, struct event *v,
        uint32_t field, uint64_t n)
{
	switch (field) {
	case 3: take_category_iid(x, q, v, n); break;
	case 12: take_value(v, n); break;
	case 31: take_uuid(x, &v->uuids, n); break;
	case 45: take_uuid(x, &v->uuids_real, n); break;
	case 46: take_real(v, n); break;
	default: v->flow = v->flow ? v->flow : n;
	}
}

static void take_packed(struct perfetto *x, const struct pf_sequence *q, struct event *v,
        uint32_t field, struct str bytes)
{
	struct leaf l = leaf_of(bytes);

	while (l.p < l.end && !l.bad) {
		uint64_t n = field == 46 || field == 47 ? leaf_fixed64(&l) : leaf_varint(&l);
		if (!l.bad)
			take_number(x, q, v, field, n);
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
}

/* Reads the numbers of a repeated field, or skips any other field. */
static void take_repeated(
        struct perfetto *x, const struct pf_sequence *q, struct event *v, struct leaf *l)
{
	uint32_t field = l->tag >> 3;

	switch (l->tag) {
	case LEAF_TAG(3, WIRE_VARINT):
	case LEAF_TAG(12, WIRE_VARINT):
	case LEAF_TAG(31, WIRE_VARINT):
	case LEAF_TAG(36, WIRE_VARINT):
	case LEAF_TAG(45, WIRE_VARINT): take_number(x, q, v, field, leaf_varint(l)); break;
	case LEAF_TAG(46, WIRE_FIXED64):
	case LEAF_TAG(47, WIRE_FIXED64): take_number(x, q, v, field, leaf_fixed64(l)); break;
	case LEAF_TAG(3, WIRE_BYTES):
	case LEAF_TAG(12, WIRE_BYTES):
	case LEAF_TAG(31, WIRE_BYTES):
	case LEAF_TAG(36, WIRE_BYTES):
	case LEAF_TAG(45, WIRE_BYTES):
	case LEAF_TAG(46, WIRE_BYTES):
	case LEAF_TAG(47, WIRE_BYTES): take_packed(x, q, v, field, leaf_bytes(l)); break;
	default: leaf_skip(l);
	}
}

static void read_event(
        struct perfetto *x, const struct pf_sequence *q, struct str bytes, struct event *v)
{
	struct leaf l = leaf_of(bytes);

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(9, WIRE_VARINT): v->type = (uint32_t)leaf_varint(&l); break;
		case LEAF_TAG(10, WIRE_VARINT): v->name_iid = leaf_varint(&l); break;
		case LEAF_TAG(11, WIRE_VARINT):
			v->track = leaf_varint(&l);
			v->has_track = true;
			break;
		case LEAF_TAG(4, WIRE_BYTES):
			v->annotated = true;
			leaf_bytes(&l);
			break;
		case LEAF_TAG(6, WIRE_BYTES): v->legacy = leaf_bytes(&l); break;
		case LEAF_TAG(22, WIRE_BYTES): {
			struct str name = leaf_bytes(&l);
			take_category(v, pf_category(name), name);
			break;
		}
		case LEAF_TAG(23, WIRE_BYTES): v->name = leaf_bytes(&l); break;
		case LEAF_TAG(30, WIRE_VARINT):
			v->value = (int64_t)leaf_varint(&l);
			v->has_value = true;
			break;
		case LEAF_TAG(44, WIRE_FIXED64):
			v->real = real_of(leaf_fixed64(&l));
			v->has_real = true;
			break;
		case LEAF_TAG(52, WIRE_VARINT): v->correlation = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(1, WIRE_VARINT):
		case LEAF_TAG(16, WIRE_VARINT):
			v->has_delta = l.tag >> 3 == 1;
			v->has_micros = !v->has_delta;
			v->micros = (int64_t)leaf_varint(&l);
			break;
		default: take_repeated(x, q, v, &l);
		}
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
}

static void read_legacy(struct perfetto *x, struct str bytes, struct legacy *v)
{
	struct leaf l = leaf_of(bytes);

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): v->name_iid = leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_VARINT): v->phase = (unsigned)leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_VARINT): v->duration = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(6, WIRE_VARINT):
		case LEAF_TAG(10, WIRE_VARINT):
		case LEAF_TAG(11, WIRE_VARINT):
			v->id = leaf_varint(&l);
			v->has_id = true;
			break;
		case LEAF_TAG(7, WIRE_BYTES): v->scope = leaf_bytes(&l); break;
		case LEAF_TAG(18, WIRE_VARINT):
			v->pid = (int32_t)leaf_varint(&l);
			v->has_pid = true;
			break;
		case LEAF_TAG(19, WIRE_VARINT):
			v->tid = (int32_t)leaf_varint(&l);
			v->has_tid = true;
			break;
		default: leaf_skip(&l);
		}
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
}

/* ---- annotations ---- */

/* Adds an annotation to the next slice. Returns the correlation, if the annotation is one. */
static int64_t put_annotation(struct perfetto *x, const struct pf_sequence *q, struct str bytes)
{
	const struct pf_text *key = NULL, *value;
	struct leaf l = leaf_of(bytes);
	struct argument arg = { .key = ID_NONE, .type = ARG_INT };
	struct str text = STR_NONE, name = STR_NONE;
	bool found = false;

	while (leaf_next(&l)) {
		uint32_t field = l.tag >> 3;
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT):
			key = pf_text(x, q, PF_KEY, leaf_varint(&l));
			continue;
		case LEAF_TAG(10, WIRE_BYTES): name = leaf_bytes(&l); continue;
		case LEAF_TAG(2, WIRE_VARINT):
		case LEAF_TAG(3, WIRE_VARINT):
		case LEAF_TAG(4, WIRE_VARINT):
		case LEAF_TAG(7, WIRE_VARINT):
			arg.type = field == 3 || field == 7 ? ARG_UINT : ARG_INT;
			arg.u = leaf_varint(&l);
			break;
		case LEAF_TAG(5, WIRE_FIXED64):
			arg.type = ARG_REAL;
			arg.real = real_of(leaf_fixed64(&l));
			break;
		case LEAF_TAG(17, WIRE_VARINT):
			value = pf_text(x, q, PF_TEXT, leaf_varint(&l));
			text = value ? trace_str(build_trace(x->b), value->text) : S("");
			break;
		case LEAF_TAG(6, WIRE_BYTES):
		case LEAF_TAG(9, WIRE_BYTES): text = leaf_bytes(&l); break;
		default: leaf_skip(&l); continue;
		}
		found = true;
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
	x->lost[PF_LOST_NESTED] += !l.bad && !found;
	if (l.bad || !found || (!key && !name.n))
		return 0;
	arg.key = key ? key->value : pf_key(x, name);
	if (text.p)
		build_arg_text(x->b,
		        arg.key == PF_CORRELATION ? build_key(x->b, S("corr_id")) : arg.key, text);
	else if (arg.key == PF_CORRELATION)
		return arg.type == ARG_REAL ? 0 : arg.i;
	else if (arg.type == ARG_REAL)
		build_arg_real(x->b, arg.key, arg.real);
	else if (arg.type == ARG_UINT)
		build_arg_uint(x->b, arg.key, arg.u);
	else
		build_arg_int(x->b, arg.key, arg.i);
	return 0;
}

/* Sets the arguments of the next slice, and returns its correlation. */
static int64_t put_annotations(
        struct perfetto *x, const struct pf_sequence *q, const struct event *v)
{
	struct leaf l = leaf_of(v->bytes);
	int64_t correlation = v->correlation, c;

	while (v->annotated && leaf_next(&l)) {
		if (l.tag != LEAF_TAG(4, WIRE_BYTES)) {
			leaf_skip(&l);
			continue;
		}
		c = put_annotation(x, q, leaf_bytes(&l));
		correlation = c ? c : correlation;
	}
	if (!correlation && v->category != CATEGORY_OP)
		correlation = (int64_t)v->flow;
	return correlation;
}

/* ---- events ---- */

static uint32_t event_name(struct perfetto *x, const struct pf_sequence *q, const struct event *v)
{
	const struct pf_text *t = v->name_iid ? pf_text(x, q, PF_NAME, v->name_iid) : NULL;

	return t ? t->text : build_string(x->b, v->name.n ? v->name : S(UNNAMED));
}

/* Puts an event on a track. */
static void put(struct perfetto *x, const struct pf_sequence *q, const struct event *v,
        struct pf_track *k, unsigned type, int64_t at, int64_t length)
{
	enum trace_category category = v->category;
	uint32_t track = pf_track_number(x, k), event;
	int64_t correlation;

	x->events++;
	if (type == TYPE_END) {
		put_annotations(x, q, v);
		build_end(x->b, track, at);
		return;
	}
	if (category != CATEGORY_OP && trace_category_flags[category] & CATEGORY_WORK)
		k->work = true;
	if (type == TYPE_INSTANT && category == CATEGORY_OP)
		category = CATEGORY_OTHER;
	event = build_event(x->b, category, event_name(x, q, v));
	correlation = put_annotations(x, q, v);
	if (type == TYPE_BEGIN)
		build_begin(x->b, track, event, at, correlation);
	else if (type == TYPE_INSTANT)
		build_instant(x->b, track, event, at, correlation);
	else
		build_slice(x->b, track, event, at, length, correlation);
}

static void put_sample(struct perfetto *x, struct pf_track *k, int64_t at, int64_t value)
{
	uint32_t name = k->name == ID_NONE ? build_string(x->b, S("counter")) : k->name;

	k->counter = true;
	value = num_mul(value, k->unit);
	if (k->incremental)
		value = k->sum = num_add(k->sum, value);
	build_sample(
	        x->b, pf_track_number(x, k), build_event(x->b, CATEGORY_OTHER, name), at, value);
}

/* Adds the counters of an event. */
static void put_extra(
        struct perfetto *x, const struct pf_sequence *q, const struct event *v, int64_t at)
{
	const struct pf_uuids *uuids = v->uuids.n ? &v->uuids : &q->extra;
	const struct pf_uuids *real = v->uuids_real.n ? &v->uuids_real : &q->extra_real;

	for (size_t i = 0; i < v->n_extra && i < uuids->n; i++)
		put_sample(x, pf_track_of_uuid(x, uuids->v[i]), at, v->extra[i]);
	for (size_t i = 0; i < v->n_extra_real && i < real->n; i++)
		put_sample(x, pf_track_of_uuid(x, real->v[i]), at, num_from_real(v->extra_real[i]));
}

static struct pf_track *track_of(
        struct perfetto *x, const struct pf_sequence *q, const struct event *v)
{
	if (v->has_track || q->has_track)
		return pf_track_of_uuid(x, v->has_track ? v->track : q->track);
	return pf_track_of_sequence(x, q);
}

/* Adds an event in the form of Chrome JSON. */
static void put_legacy(struct perfetto *x, const struct pf_sequence *q, struct event *v, int64_t at)
{
	struct legacy legacy = { .scope = S("") };
	struct pf_track *k = track_of(x, q, v);
	int64_t pid;

	read_legacy(x, v->legacy, &legacy);
	if (!v->name_iid && legacy.name_iid)
		v->name_iid = legacy.name_iid;
	pid = legacy.has_pid ? legacy.pid : k->has_thread || k->has_process ? k->pid : q->pid;
	if (legacy.has_tid)
		k = pf_track_of_thread(x, pid, legacy.tid);
	if (strchr("SbFenT", (int)(legacy.phase & 0x7f)) && legacy.phase && legacy.has_id)
		k = pf_track_of_id(
		        x, pid, legacy.scope.n ? legacy.scope : v->category_name, legacy.id);
	switch (legacy.phase) {
	case 'B':
	case 'S':
	case 'b': put(x, q, v, k, TYPE_BEGIN, at, 0); break;
	case 'E':
	case 'F':
	case 'e': put(x, q, v, k, TYPE_END, at, 0); break;
	case 'X': put(x, q, v, k, TYPE_NONE, at, num_mul(legacy.duration, 1000)); break;
	case 'I':
	case 'i':
	case 'n': put(x, q, v, k, TYPE_INSTANT, at, 0); break;
	default: x->lost[PF_LOST_PHASE]++;
	}
}

/* Finds the time of an event. Old events have a time of their own in microseconds. */
static bool time_of(struct perfetto *x, struct pf_sequence *q, const struct pf_packet *p,
        const struct event *v, int64_t *at)
{
	if (v->has_delta || v->has_micros) {
		q->micros = v->has_delta ? num_add(q->micros, v->micros) : v->micros;
		*at = num_mul(q->micros, 1000);
		return true;
	}
	if (p->has_time)
		return pf_time(x, q, p, at);
	x->lost[PF_LOST_TIME]++;
	return false;
}

void pf_event(struct perfetto *x, struct pf_sequence *q, const struct pf_packet *p)
{
	struct event v;
	struct pf_track *k;
	int64_t at;

	memset(&v, 0, offsetof(struct event, extra));
	v.uuids = v.uuids_real = (struct pf_uuids){ .n = 0 };
	v.bytes = p->event;
	v.category = CATEGORY_OP;
	read_event(x, q, p->event, &v);
	if (!time_of(x, q, p, &v, &at))
		return;
	if (v.n_extra + v.n_extra_real)
		put_extra(x, q, &v, at);
	switch (v.type) {
	case TYPE_BEGIN:
	case TYPE_END:
	case TYPE_INSTANT: put(x, q, &v, track_of(x, q, &v), v.type, at, 0); break;
	case TYPE_COUNTER:
		k = track_of(x, q, &v);
		if (v.has_value || v.has_real)
			put_sample(x, k, at, v.has_real ? num_from_real(v.real) : v.value);
		x->events++;
		break;
	default:
		if (v.type || !v.legacy.p)
			x->lost[PF_LOST_PHASE]++;
		else
			put_legacy(x, q, &v, at);
	}
}
