/* SPDX-License-Identifier: Apache-2.0
 *
 * The cause of each node, and the host time of the critical path that has none.
 */
#include "why/why_internal.h"

struct why_change why_change_of(const struct why_scene *s, enum why_id id, struct arena *a)
{
	struct why_change c = { .a = a, .saved = INT64_MIN };

	intern_init(&c.names, a);
	why_rows[id].find(s, &c);
	return c;
}

uint8_t *why_node_owners(const struct why_scene *s, const bool *of, struct arena *a)
{
	const struct depend *d = s->d;
	uint8_t *owners = ARENA_ARRAY(a, d->nodes.n, uint8_t);

	for (uint32_t i = 0; i < d->nodes.n; i++)
		owners[i] = d->nodes.v[i].host ? (uint8_t)why_owner(s, i) : WHY_IDS;
	why_own_launches(s, owners);
	for (int id = 0; id < WHY_IDS; id++) {
		struct scratch own;
		if (of && !of[id])
			continue;
		scratch_open(&own, a->work);
		const struct why_change c = why_change_of(s, (enum why_id)id, &own.a);
		const int64_t *lengths = c.reason.p ? NULL : c.plan.lengths;
		for (size_t i = 0; lengths && i < d->nodes.n; i++) {
			int64_t length = d->nodes.v[i].end - d->nodes.v[i].start;
			if (owners[i] == WHY_IDS && lengths[i] < length && lengths[i] <= length / 2)
				owners[i] = (uint8_t)id;
		}
		scratch_close(&own);
	}
	return owners;
}

/* Returns the time of a path on nodes of threads whose owner is not reported, and adds it to the
 * events of their slices. */
static int64_t rest_of(const struct why_scene *s, const struct critical *path,
        const uint8_t *owners, const bool *reported, int64_t *events)
{
	int64_t sum = 0;

	for (size_t i = 0; i < path->segments.n; i++) {
		const struct critical_segment *x = &path->segments.v[i];
		uint32_t node =
		        x->track == ID_NONE ? ID_NONE : replay_node_at(s->d, x->track, x->start);
		if (node == ID_NONE || !s->d->nodes.v[node].host)
			continue;
		if (owners[node] != WHY_IDS && reported[owners[node]])
			continue;
		int64_t ticks = x->end - x->start;
		sum = num_add(sum, ticks);
		if (x->event != ID_NONE)
			events[x->event] = num_add(events[x->event], ticks);
	}
	return sum;
}

struct why_rest why_rest_of_path(const struct why_scene *s, const bool *reported, struct arena *a)
{
	const struct trace *t = s->d->t;
	const uint8_t *owners = why_node_owners(s, reported, a);
	int64_t *events = ARENA_ARRAY(a, t->events.n, int64_t), n = (int64_t)s->x->n_chosen;
	struct why_rest out = { .ticks = 0 };

	for (size_t i = 0; i < s->x->n_chosen; i++) {
		struct critical path;
		replay_path(s->x, &s->x->recorded, i, &path, a);
		out.ticks = num_add(out.ticks, rest_of(s, &path, owners, reported, events));
	}
	for (size_t i = 0; i < t->events.n; i++) {
		if (events[i] <= out.ticks / 2)
			continue;
		out.name = trace_str(t, t->events.v[i].name);
		out.named = events[i] / n;
		out.waits = s->d->classes[i] == DEPEND_BLOCKS || s->d->classes[i] == DEPEND_ALL;
	}
	out.ticks = n ? out.ticks / n : 0;
	return out;
}
