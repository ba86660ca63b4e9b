/* SPDX-License-Identifier: Apache-2.0
 *
 * Start-up: the first call in the file of an op, or of a function in an op, that takes much longer
 * than the later ones.
 */
#include "why/why_internal.h"

/* Start-up takes at least this many times the mean of the later calls. */
#define START_UP_FACTOR 10

/* The calls of one op, or of one function in one op, in all steps. */
struct why_calls {
	int64_t start;    /* start of the first call */
	uint32_t slice;   /* slice of the first call */
	uint32_t counted; /* the slice that was counted last */
	uint64_t later;   /* number of the other calls */
	int64_t ticks;    /* ticks of the other calls */
};

static enum trace_category category_of(const struct why_scene *s, uint32_t context)
{
	return s->t->events.v[s->d->contexts.v[context].event].category;
}

/* Returns the names of a function and of the op around it, or the name of an op; 0 for another
 * context. Names of steps contain numbers, so they are not used. */
static uint64_t key_of(const struct why_scene *s, uint32_t context)
{
	const struct depend_context *c = &s->d->contexts.v[context];
	enum trace_category category = category_of(s, context);
	uint64_t key = (uint64_t)s->t->events.v[c->event].name + 1;

	if (category == CATEGORY_OP)
		return key;
	if (category != CATEGORY_CALL)
		return 0;
	if (c->parent == ID_NONE || category_of(s, c->parent) == CATEGORY_STEP)
		return key << 32;
	return key << 32 | (s->t->events.v[s->d->contexts.v[c->parent].event].name + 1);
}

/* Returns the calls to which a node belongs, or NULL. */
static struct why_calls *calls_of(const struct why_scene *s, uint32_t node)
{
	uint32_t context = s->d->nodes.v[node].context;
	bool named = s->d->nodes.v[node].host && context != ID_NONE;

	return named && s->call_of[context] != ID_NONE ? &s->calls[s->call_of[context]] : NULL;
}

/* Numbers the ops and functions. Returns their number. */
static uint32_t number_calls(struct why_scene *s)
{
	struct imap keys;
	uint32_t n = 0;

	imap_init(&keys, s->a);
	s->call_of = ARENA_ARRAY(s->a, s->d->contexts.n, uint32_t);
	for (uint32_t i = 0; i < s->d->contexts.n; i++) {
		uint64_t key = key_of(s, i);
		s->call_of[i] = ID_NONE;
		if (key && !imap_get(&keys, key, &s->call_of[i])) {
			imap_put(&keys, key, n, false);
			s->call_of[i] = n++;
		}
	}
	return n;
}

void why_find_first_calls(struct why_scene *s)
{
	const struct depend *d = s->d;
	uint32_t n = number_calls(s);

	s->first_work = INT64_MAX;
	s->calls = ARENA_ARRAY(s->a, n, struct why_calls);
	for (uint32_t i = 0; i < n; i++)
		s->calls[i] = (struct why_calls){ INT64_MAX, ID_NONE, ID_NONE, 0, 0 };
	for (uint32_t i = 0; i < d->nodes.n; i++) {
		const struct depend_node *x = &d->nodes.v[i];
		struct why_calls *c = calls_of(s, i);
		if (!x->host && x->start < s->first_work)
			s->first_work = x->start;
		if (c && x->start < c->start) {
			c->start = x->start;
			c->slice = x->slice;
		}
	}
	for (uint32_t i = 0; i < d->nodes.n; i++) {
		const struct depend_node *x = &d->nodes.v[i];
		struct why_calls *c = calls_of(s, i);
		if (!c || x->slice == c->slice)
			continue;
		c->later += x->slice != c->counted;
		c->counted = x->slice;
		c->ticks = num_add(c->ticks, x->end - x->start);
	}
}

bool why_is_start_up_call(const struct why_scene *s, uint32_t node, int64_t ticks)
{
	const struct depend_node *n = &s->d->nodes.v[node];
	const struct why_calls *c = calls_of(s, node);

	if (!c || c->slice != n->slice)
		return false;
	return c->later ? ticks / START_UP_FACTOR >= c->ticks / num_from_u64(c->later)
	                : n->start < s->first_work;
}
