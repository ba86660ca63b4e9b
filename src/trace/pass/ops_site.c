/* SPDX-License-Identifier: Apache-2.0
 *
 * Places from which the work of graphs comes (trace.sites).
 */
#include "trace/pass/ops_internal.h"

struct slice ops_site_slice(const struct trace *t, uint32_t site)
{
	const struct trace_event *e = &t->events.v[t->sites.v[site].event];

	return (struct slice){
		.event = t->sites.v[site].event, .category = e->category, .name = e->name
	};
}

bool ops_site_is_level(const struct finding *x, uint32_t site)
{
	const struct trace *t = x->to->t;

	return x->rule.levels & CATEGORY_BIT(t->events.v[t->sites.v[site].event].category);
}
