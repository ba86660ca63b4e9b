/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads deferred files when a command selects one of their steps.
 */
#include "lib/session.h"

static struct input_step *copy_steps(struct arena *a, const struct input_step *v, size_t n)
{
	struct input_step *to = ARENA_ARRAY(a, n, struct input_step);

	for (size_t i = 0; i < n; i++) {
		to[i] = v[i];
		to[i].from.name = str_copy(a, v[i].from.name);
	}
	return to;
}

void session_load_later(struct session *s, const struct input_step *v, size_t n)
{
	s->later = copy_steps(&s->model_arena, v, n);
	s->n_later = n;
}

bool session_keep_older(struct session *s, const struct input_worker *v, size_t n)
{
	struct arena *a = &s->model_arena;

	s->older = ARENA_ARRAY(a, n, struct input_worker);
	s->n_older = n;
	for (size_t i = 0; i < n; i++) {
		s->older[i] = v[i];
		s->older[i].name = str_copy(a, v[i].name);
		s->older[i].profile = str_copy(a, v[i].profile);
		s->older[i].steps = copy_steps(a, v[i].steps, v[i].n_steps);
	}
	return true;
}

/* Steps are loaded one after the other and never twice. */
static bool count_folded(void *user, size_t i)
{
	size_t *n = user;

	*n = i + 1;
	return true;
}

/* True if the steps that the options name are loaded or deferred. */
static bool knows_steps(struct session *s, const struct opts *o)
{
	struct imap later;
	uint32_t place;

	imap_init(&later, &s->query_arena);
	for (size_t i = 0; i < s->n_later; i++)
		imap_put(&later, (uint64_t)s->later[i].step, 0, false);
	for (size_t i = 0; i < o->steps.n; i++) {
		int64_t step = o->steps.v[i].from;
		if (step == o->steps.v[i].to && !model_step(&s->model, step) &&
		        !imap_get(&later, (uint64_t)step, &place))
			return false;
	}
	return o->step < 0 || model_step(&s->model, o->step) ||
	       imap_get(&later, (uint64_t)o->step, &place);
}

/* Loads the deferred files of missing steps, all at once and only once. */
static bool load_older(struct session *s)
{
	size_t n = s->n_older;

	s->n_older = 0;
	return n == 0 || session_load_workers(s, NULL, s->older, n);
}

/* Loads the deferred steps that the options select, NULL: all; also all if a step is missing,
 * because the sentence lists the existing ones. */
static bool load_later(struct session *s, const struct opts *o)
{
	struct input_step *now, *left = s->later;
	size_t n = 0, seen = 0, folded = 0;

	if (s->n_later == 0)
		return true;
	if (o && !knows_steps(s, o))
		o = NULL;
	now = ARENA_ARRAY(&s->query_arena, s->n_later, struct input_step);
	for (size_t i = 0; i < s->n_later; i++)
		if (!o || opts_has_step(o, s->later[i].step))
			now[n++] = s->later[i];
	if (n == 0)
		return true;
	bool ok = session_load_steps(s, now, n, count_folded, &folded);
	for (size_t i = 0; i < s->n_later; i++)
		if ((o && !opts_has_step(o, s->later[i].step)) || seen++ >= folded)
			*left++ = s->later[i];
	s->n_later = (size_t)(left - s->later);
	return ok;
}

/* Older files are needed for a missing step and for a range, which may include their steps. */
bool session_need_steps(struct session *s, const struct opts *o)
{
	bool older = !knows_steps(s, o);

	for (size_t i = 0; i < o->steps.n; i++)
		older |= o->steps.v[i].from != o->steps.v[i].to;
	return load_later(s, o) && (!older || load_older(s));
}

bool session_need_all(struct session *s, bool older)
{
	return load_later(s, NULL) && (!older || load_older(s));
}
