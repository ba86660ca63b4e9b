/* SPDX-License-Identifier: Apache-2.0
 *
 * Host time of the critical path that belongs to no cause.
 */
#include "why/why_internal.h"

/* Returns the time of a path on nodes of threads that are not marked. */
static int64_t rest_of(const struct why_scene *s, const struct critical *path, const bool *removed)
{
	int64_t sum = 0;

	for (size_t i = 0; i < path->segments.n; i++) {
		const struct critical_segment *x = &path->segments.v[i];
		uint32_t node =
		        x->track == ID_NONE ? ID_NONE : replay_node_at(s->d, x->track, x->start);
		if (node != ID_NONE && s->d->nodes.v[node].host && !removed[node])
			sum = num_add(sum, x->end - x->start);
	}
	return sum;
}

int64_t why_rest_of_path(const struct why_scene *s, const bool *removed, struct arena *a)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->x->n_chosen; i++) {
		struct critical path;
		replay_path(s->x, &s->x->recorded, i, &path, a);
		sum = num_add(sum, rest_of(s, &path, removed));
	}
	return s->x->n_chosen ? sum / (int64_t)s->x->n_chosen : 0;
}
