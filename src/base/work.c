/* SPDX-License-Identifier: Apache-2.0
 *
 * The recovery point of a call: guards of objects on the stack, and the escape that closes them.
 * Declared in arena.h.
 */
#include <assert.h>
#include <setjmp.h>

#include "base/arena_internal.h"

void guard_unlink(struct guard **at, const struct guard *g)
{
	while (*at && *at != g)
		at = &(*at)->next;
	if (*at)
		*at = g->next;
}

void work_escape(struct work *w)
{
	struct guard *g;

	while ((g = w->guards)) {
		w->guards = g->next;
		g->drop(g->what);
	}
	longjmp(w->escape, 1);
}

void work_guard(struct work *w, struct guard *g, void (*drop)(void *), void *what)
{
	*g = (struct guard){ w->guards, drop, what, 0 };
	w->guards = g;
}

void work_unguard(struct work *w, struct guard *g)
{
	guard_unlink(&w->guards, g);
}

void work_end(struct work *w)
{
	assert(!w->guards);
	w->guards = NULL; /* in a release build: a forgotten guard leaks */
}
