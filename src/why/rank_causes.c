/* SPDX-License-Identifier: Apache-2.0
 *
 * Causes that compare ranks. A rank's own time is that of its threads and of its devices without
 * communication; a remedy multiplies the lengths of its nodes.
 */
#include "base/sort.h"
#include "why/why_internal.h"

/* Returns the number of ranks of the job that communicate. */
static size_t communicating_ranks(const struct why_scene *s)
{
	size_t found = 0;

	for (size_t i = 0; i < s->job->ranks.n; i++) {
		const struct job_rank *r = &s->job->ranks.v[i];
		const struct depend *d = &s->job->replays[r->replay]->depend;
		bool any = false;
		for (size_t k = 0; k < r->n && !any; k++)
			any = !d->nodes.v[r->order[k]].host &&
			      d->nodes.v[r->order[k]].class == USAGE_COMMUNICATION;
		found += any;
	}
	return found;
}

/* Returns the number of devices of this trace that communicate. */
static size_t communicating_devices(const struct why_scene *s, struct arena *a)
{
	bool *seen = ARENA_ARRAY(a, s->t->devices.n, bool);
	size_t found = 0;

	for (size_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		if (n->host || n->class != USAGE_COMMUNICATION)
			continue;
		bool *device = &seen[s->t->tracks.v[n->track].device];
		found += !*device;
		*device = true;
	}
	return found;
}

/* True if ranks can be compared. Otherwise sets the reason, unless no device communicates, because
 * then no rank waits for another. */
static bool can_compare(const struct why_scene *s, struct why_change *out)
{
	size_t devices = communicating_devices(s, out->a);

	if (!devices || (s->job->ranks.n > 1 && s->job->collectives.n))
		return devices;
	if (communicating_ranks(s) > 1)
		out->reason = S("the loaded ranks have no collective in common; sends and receives "
		                "are not matched");
	else if (devices > 1)
		out->reason = S("the devices of one process are not compared");
	else
		out->reason = S("only one rank is loaded; name the files of all ranks");
	return false;
}

static double factor(int64_t to, int64_t from)
{
	return from > 0 ? (double)to / (double)from : 1;
}

/* Multiplies the own time of a rank in this trace. */
static void scale_rank(const struct why_scene *s, struct why_change *out, const struct job_rank *r,
        double host, double device)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct depend_node *n = &s->d->nodes.v[r->order[i]];
		double by = n->host ? host : device;
		if (by != 1 && (n->host || n->class != USAGE_COMMUNICATION))
			why_scale(s, out, r->order[i], by);
	}
}

/* Returns the median of the own times of the ranks, host or device. */
static int64_t median_of(const struct why_scene *s, bool host, struct arena *a)
{
	size_t n = s->job->ranks.n;
	int64_t *v = ARENA_ARRAY(a, n, int64_t);

	for (size_t i = 0; i < n; i++)
		v[i] = host ? s->job->ranks.v[i].host : s->job->ranks.v[i].device;
	return v[keysort_new(a, n, v)[(n - 1) / 2]];
}

/* Assigns the median times to the rank that arrives last. */
void why_find_slow_rank(const struct why_scene *s, struct why_change *out)
{
	const struct job_rank *late;

	if (!can_compare(s, out))
		return;
	late = &s->job->ranks.v[0];
	for (size_t i = 1; i < s->job->ranks.n; i++)
		if (s->job->ranks.v[i].late > late->late)
			late = &s->job->ranks.v[i];
	if (late->replay != s->index)
		return;
	double host = factor(median_of(s, true, out->a), late->host);
	double device = factor(median_of(s, false, out->a), late->device);
	out->at = rank_label(s->job, late, out->a);
	scale_rank(s, out, late, host < 1 ? host : 1, device < 1 ? device : 1);
}

/* Assigns the mean times to all ranks. */
void why_find_unbalanced_ranks(const struct why_scene *s, struct why_change *out)
{
	int64_t host = 0, device = 0, n = (int64_t)s->job->ranks.n;

	if (!can_compare(s, out))
		return;
	for (size_t i = 0; i < s->job->ranks.n; i++) {
		host = num_add(host, s->job->ranks.v[i].host);
		device = num_add(device, s->job->ranks.v[i].device);
	}
	for (size_t i = 0; i < s->job->ranks.n; i++) {
		const struct job_rank *r = &s->job->ranks.v[i];
		if (r->replay != s->index)
			continue;
		out->at = rank_label(s->job, r, out->a);
		scale_rank(s, out, r, factor(host / n, r->host), factor(device / n, r->device));
	}
}
