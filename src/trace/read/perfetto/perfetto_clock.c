/* SPDX-License-Identifier: Apache-2.0
 *
 * Clocks of Perfetto traces. A snapshot has the times of several clocks at the same moment. A time
 * is converted with the last snapshot of its clock at or before it. Without snapshots, the first
 * clock that an event uses is the clock of the trace.
 */
#include "base/sort.h"
#include "trace/read/perfetto/perfetto_internal.h"

#define CLOCK_REALTIME_ID 1  /* counts since 1970 */
#define CLOCK_BOOTTIME_ID 6  /* the default of packets */
#define CLOCK_SEQUENCE    64 /* clocks from this id to 127 belong to a sequence */
#define CLOCK_GLOBAL      128
#define SNAPSHOT_MAX      64 /* maximum number of clocks in a snapshot */

struct clock_reading {
	uint32_t id;
	uint64_t timestamp;
	bool incremental;
	uint64_t unit;
};

static uint64_t clock_key(uint32_t sequence, uint32_t id)
{
	return id >= CLOCK_SEQUENCE && id < CLOCK_GLOBAL ? (uint64_t)sequence << 32 | id : id;
}

static struct pf_clock *find_clock(struct perfetto *x, uint32_t sequence, uint32_t id)
{
	uint32_t i;

	return imap_get(&x->clock_of, clock_key(sequence, id), &i) ? &x->clocks.v[i] : NULL;
}

static struct pf_clock *add_clock(struct perfetto *x, uint32_t sequence, uint32_t id)
{
	struct pf_clock *c = find_clock(x, sequence, id);

	if (c)
		return c;
	imap_put(&x->clock_of, clock_key(sequence, id), (uint32_t)x->clocks.n, false);
	VEC_PUSH(x->a, &x->clocks, ((struct pf_clock){ .unit = 1 }));
	return &x->clocks.v[x->clocks.n - 1];
}

/* Converts a time on a clock that has moments to the clock of the trace. */
static int64_t convert(const struct pf_clock *c, int64_t at)
{
	size_t i;

	BISECT(i, 1, c->moments.n, c->moments.v[i].at <= at);
	return num_add(c->moments.v[i - 1].time, num_sub(at, c->moments.v[i - 1].at));
}

/* Inserts a moment in order. Moments are nearly always sorted already. */
static void add_moment(struct perfetto *x, struct pf_clock *c, struct pf_moment m)
{
	if (c->moments.n && m.at <= c->moments.v[c->moments.n - 1].at) {
		if (m.at == c->moments.v[c->moments.n - 1].at)
			c->moments.v[c->moments.n - 1] = m;
		return; /* the clock was set back, so the earlier moments are used */
	}
	VEC_PUSH(x->a, &c->moments, m);
}

static bool read_clock(struct str message, struct clock_reading *out)
{
	struct leaf l = leaf_of(message);

	*out = (struct clock_reading){ .unit = 1 };
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): out->id = (uint32_t)leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_VARINT): out->timestamp = leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_VARINT): out->incremental = leaf_varint(&l) != 0; break;
		case LEAF_TAG(4, WIRE_VARINT): out->unit = leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
	if (!out->unit)
		out->unit = 1;
	return !l.bad && out->id;
}

static int64_t reading_ns(const struct clock_reading *r)
{
	return num_mul(num_from_u64(r->timestamp), num_from_u64(r->unit));
}

/* Finds the time of a snapshot on the clock of the trace. Returns false if none of its clocks is
 * known. */
static bool snapshot_time(struct perfetto *x, uint32_t sequence, const struct clock_reading *r,
        size_t n, uint32_t primary, int64_t *time)
{
	if (!x->trace_clock)
		x->trace_clock = primary;
	for (size_t i = 0; i < n && !x->trace_clock; i++)
		if (r[i].id == CLOCK_BOOTTIME_ID)
			x->trace_clock = r[i].id;
	if (!x->trace_clock)
		x->trace_clock = r[0].id;
	for (size_t i = 0; i < n; i++)
		if (r[i].id == x->trace_clock) {
			*time = reading_ns(&r[i]);
			return true;
		}
	for (size_t i = 0; i < n; i++) {
		const struct pf_clock *c = find_clock(x, sequence, r[i].id);
		if (!c || !c->moments.n)
			continue;
		*time = convert(c, reading_ns(&r[i]));
		return true;
	}
	return false;
}

void pf_clock_snapshot(struct perfetto *x, uint32_t sequence, struct str data)
{
	struct clock_reading r[SNAPSHOT_MAX];
	struct leaf l = leaf_of(data);
	uint32_t primary = 0;
	int64_t time;
	size_t n = 0;

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES)) {
			struct str message = leaf_bytes(&l);
			if (n < SNAPSHOT_MAX && read_clock(message, &r[n]))
				n++;
		} else if (l.tag == LEAF_TAG(2, WIRE_VARINT)) {
			primary = (uint32_t)leaf_varint(&l);
		} else {
			leaf_skip(&l);
		}
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
	if (!n || !snapshot_time(x, sequence, r, n, primary, &time))
		return;
	for (size_t i = 0; i < n; i++) {
		struct pf_clock *c = add_clock(x, sequence, r[i].id);
		c->unit = num_from_u64(r[i].unit);
		c->incremental = r[i].incremental;
		c->last = reading_ns(&r[i]);
		add_moment(x, c, (struct pf_moment){ c->last, time });
		if (r[i].id == CLOCK_REALTIME_ID && !x->has_epoch) {
			x->has_epoch = true;
			x->epoch = num_sub(c->last, time);
		}
	}
}

bool pf_time(struct perfetto *x, struct pf_sequence *q, const struct pf_packet *p, int64_t *at)
{
	uint32_t id = p->clock ? p->clock : q->clock ? q->clock : CLOCK_BOOTTIME_ID;
	struct pf_clock *c = find_clock(x, q->id, id);

	*at = num_from_u64(p->timestamp);
	if (c) {
		*at = num_mul(*at, c->unit);
		if (c->incremental)
			*at = c->last = num_add(c->last, *at);
	}
	if (!x->trace_clock && id < CLOCK_SEQUENCE)
		x->trace_clock = id;
	if (id == x->trace_clock)
		return true;
	if (!c || !c->moments.n) {
		x->lost[PF_LOST_CLOCK]++;
		return false;
	}
	*at = convert(c, *at);
	return true;
}
