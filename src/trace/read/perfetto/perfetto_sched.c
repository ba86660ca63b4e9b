/* SPDX-License-Identifier: Apache-2.0
 *
 * Switches of threads, from the scheduling events of ftrace:
 *
 *   FtraceEventBundle  event 2  compact_sched 4  ftrace_clock 5 (0: boottime)
 *   FtraceEvent        timestamp 1  sched_switch 4  sched_wakeup 17  sched_waking 20
 *   sched_switch       prev_pid 2  prev_state 4  next_pid 6
 *   sched_waking       pid 2, as in sched_wakeup
 *   CompactSched       switch_timestamp 1  switch_prev_state 2  switch_next_pid 3
 *                      waking_timestamp 7  waking_pid 8: packed lists, one number per event.
 *                      Timestamps are differences; a switch is from the next_pid of the one before
 */
#include "trace/read/perfetto/perfetto_internal.h"
#include "trace/read/thread_switches.h"

#define CLOCK_BOOTTIME_ID 6
#define STATE_ASLEEP      0xff /* bits of prev_state; without any of them, the thread could run */

static void put(struct perfetto *x, uint64_t at, int64_t tid, bool runs, bool ready)
{
	/* the idle task of a CPU has the number 0 */
	if (tid)
		VEC_PUSH(x->a, &x->switches, ((struct pf_switch){ at, (int32_t)tid, runs, ready }));
}

/* ---- single events ---- */

static void read_switch(struct perfetto *x, uint64_t at, struct str message)
{
	int64_t from = 0, to = 0;
	uint64_t state = 0;
	struct leaf l = leaf_of(message);

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(2, WIRE_VARINT): from = (int32_t)leaf_varint(&l); break;
		case LEAF_TAG(4, WIRE_VARINT): state = leaf_varint(&l); break;
		case LEAF_TAG(6, WIRE_VARINT): to = (int32_t)leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
	put(x, at, from, false, !(state & STATE_ASLEEP));
	put(x, at, to, true, false);
}

static void read_waking(struct perfetto *x, uint64_t at, struct str message)
{
	struct leaf l = leaf_of(message);
	int64_t tid = 0;

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(2, WIRE_VARINT))
			tid = (int32_t)leaf_varint(&l);
		else
			leaf_skip(&l);
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
	put(x, at, tid, false, true);
}

/* Reads an event. Returns true if it is a switch or a wake-up. */
static bool read_event(struct perfetto *x, struct str message)
{
	struct str switched = { NULL, 0 }, waking = { NULL, 0 };
	struct leaf l = leaf_of(message);
	uint64_t at = 0;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): at = leaf_varint(&l); break;
		case LEAF_TAG(4, WIRE_BYTES): switched = leaf_bytes(&l); break;
		case LEAF_TAG(17, WIRE_BYTES):
		case LEAF_TAG(20, WIRE_BYTES): waking = leaf_bytes(&l); break;
		default: leaf_skip(&l);
		}
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
	if (switched.p)
		read_switch(x, at, switched);
	if (waking.p)
		read_waking(x, at, waking);
	return switched.p || waking.p;
}

/* ---- packed events ---- */

enum { SWITCH_AT = 1, SWITCH_STATE, SWITCH_NEXT, WAKING_AT = 7, WAKING_PID, PACKED_N };

static bool more(const struct leaf *l)
{
	return l->p < l->end && !l->bad;
}

static bool read_compact(struct perfetto *x, struct str message)
{
	struct leaf l = leaf_of(message), v[PACKED_N] = { { .p = NULL } };
	uint64_t at = 0, state = 0;
	int64_t on = 0; /* the thread on the CPU; before the first switch it is unknown */
	bool any = false;

	while (leaf_next(&l)) {
		uint32_t field = l.tag >> 3;
		if (field < PACKED_N && (l.tag & 7) == WIRE_BYTES)
			v[field] = leaf_of(leaf_bytes(&l));
		else
			leaf_skip(&l);
	}
	for (; more(&v[SWITCH_AT]) && more(&v[SWITCH_STATE]) && more(&v[SWITCH_NEXT]); any = true) {
		at += leaf_varint(&v[SWITCH_AT]);
		state = leaf_varint(&v[SWITCH_STATE]);
		put(x, at, on, false, !(state & STATE_ASLEEP));
		on = (int32_t)leaf_varint(&v[SWITCH_NEXT]);
		put(x, at, on, true, false);
	}
	at = 0;
	for (; more(&v[WAKING_AT]) && more(&v[WAKING_PID]); any = true) {
		at += leaf_varint(&v[WAKING_AT]);
		put(x, at, (int32_t)leaf_varint(&v[WAKING_PID]), false, true);
	}
	for (unsigned i = 0; i < PACKED_N; i++)
		l.bad |= v[i].bad;
	x->lost[PF_LOST_DAMAGED] += l.bad;
	return any;
}

bool pf_scheduled(struct perfetto *x, struct str bundle)
{
	struct leaf l = leaf_of(bundle);
	bool found = false;

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(5, WIRE_VARINT) && leaf_varint(&l))
			return false; /* times of another clock, which no snapshot contains */
		if (l.tag != LEAF_TAG(5, WIRE_VARINT))
			leaf_skip(&l);
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
	l = leaf_of(bundle);
	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(2, WIRE_BYTES))
			found |= read_event(x, leaf_bytes(&l));
		else if (l.tag == LEAF_TAG(4, WIRE_BYTES))
			found |= read_compact(x, leaf_bytes(&l));
		else
			leaf_skip(&l);
	}
	return found;
}

/* ---- the trace ---- */

/* Switches of threads without other slices are left out. */
void pf_switches_end(struct perfetto *x)
{
	struct thread_switches all = { .v = { .n = 0 } };
	struct pf_sequence none = { .id = 0 };
	struct imap tracks;

	if (!x->switches.n)
		return;
	imap_init(&tracks, x->a);
	for (size_t i = 0; i < x->tracks.n; i++) {
		const struct pf_track *k = &x->tracks.v[i];
		if (k->has_thread && !k->work && !k->counter && k->track != ID_NONE)
			imap_put(&tracks, (uint64_t)k->tid, k->track, false);
	}
	for (size_t i = 0; i < x->switches.n; i++) {
		const struct pf_switch *s = &x->switches.v[i];
		const struct pf_packet p = { .timestamp = s->at, .clock = CLOCK_BOOTTIME_ID };
		struct thread_switch made = { .runs = s->runs, .ready = s->ready };
		if (imap_get(&tracks, (uint64_t)s->tid, &made.track) &&
		        pf_time(x, &none, &p, &made.at))
			VEC_PUSH(x->a, &all.v, made);
	}
	if (all.v.n)
		thread_switches_put(&all, x->b, x->a);
}
