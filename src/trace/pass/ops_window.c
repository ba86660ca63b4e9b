/* SPDX-License-Identifier: Apache-2.0
 *
 * Recognises attention that is probably limited to a window in some layers. No argument of a paged
 * call states this. Calls with equal shapes that serve the same requests compute the same, so their
 * kernels take one time, or two clearly different times if some layers look at a window only.
 */
#include "trace/pass/ops_internal.h"

#include "base/sort.h"

#define CALLS_MIN 4

static int by_call(const void *v, uint32_t a, uint32_t b)
{
	const struct paged_kernel *x = (const struct paged_kernel *)v + a,
	                          *y = (const struct paged_kernel *)v + b;

	if (x->calls != y->calls)
		return x->calls < y->calls ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

/* True if n sorted times form two groups, each with at least a quarter of the times. Times within a
 * group differ by less than a third, and the groups differ by more than a half. */
static bool are_two_groups(const struct paged_kernel *v, size_t n)
{
	size_t i = 1;

	while (i < n && 2 * (v[i].time / 3) <= v[i - 1].time)
		i++;
	return n >= CALLS_MIN && i < n && 4 * i >= n && 4 * (n - i) >= n &&
	       3 * (v[i - 1].time / 4) <= v[0].time && 3 * (v[n - 1].time / 4) <= v[i].time;
}

void ops_take_paged(struct finding *x, uint32_t calls, const struct slice *s, uint32_t op)
{
	if (x->to->calls.v[calls - 1].formula == FORMULA_PAGED)
		VEC_PUSH(x->a, &x->paged,
		        ((struct paged_kernel){ calls, x->to->cells.v[x->last_cell.v[op]].step,
		                s->name, s->length }));
}

void ops_find_windows(struct finding *x)
{
	sort_array(x->a, x->paged.v, x->paged.n, sizeof *x->paged.v, by_call);
	for (size_t i = 0, end; i < x->paged.n; i = end) {
		const struct paged_kernel *v = x->paged.v + i;
		for (end = i; end < x->paged.n && x->paged.v[end].calls == v->calls &&
		              x->paged.v[end].step == v->step && x->paged.v[end].name == v->name;)
			end++;
		if (are_two_groups(v, end - i))
			x->to->calls.v[v->calls - 1].windowed = true;
	}
	for (size_t i = 0; i < x->paged_calls.n; i++) {
		const struct paged_call *c = &x->paged_calls.v[i];
		x->to->cells.v[c->cell].windowed += x->to->calls.v[c->calls - 1].windowed;
	}
}
