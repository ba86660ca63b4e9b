/* SPDX-License-Identifier: Apache-2.0
 *
 * See device_parts.h.
 */
#include "view/device_parts.h"

static struct gpu_range *range_of(struct device_use *u, uint32_t scope)
{
	while (u->ranges.n <= scope)
		VEC_PUSH(u->a, &u->ranges, ((struct gpu_range){ 0 }));
	return &u->ranges.v[scope];
}

void gpu_step_take(struct device_use *u, uint32_t process, size_t step, int64_t ns)
{
	struct gpu_process *p = &u->processes.v[process];

	while (p->steps.n <= step)
		VEC_PUSH(u->a, &p->steps, ((struct gpu_step){ 0 }));
	p->steps.v[step].device = num_add(p->steps.v[step].device, ns);
	p->steps.v[step].operations++;
}

void gpu_ranges_take(struct device_use *u, uint32_t process, const struct recorded_op *op,
        const struct recorded_call *c)
{
	struct gpu_process *p = &u->processes.v[process];
	int64_t ns = num_from_u64(op->length);

	if (recording_has_steps(p->from)) {
		int64_t at = recording_step(&u->all, p->from, c ? c->start : op->start);
		if (at >= 0)
			gpu_step_take(u, process, (size_t)at, ns);
	}
	if (c && c->scope) {
		struct gpu_range *r = range_of(u, c->scope);
		r->device = num_add(r->device, ns);
		r->operations++;
	}
}

static void add_uses(struct device_use *u, const struct recorded_process *p)
{
	for (uint32_t i = 0; i < p->scopes.n; i++) {
		struct gpu_range *r = range_of(u, i);
		r->count = num_add_u64(r->count, p->scopes.v[i].count);
		r->host = num_add(r->host, p->scopes.v[i].host);
	}
}

void gpu_ranges_end(struct device_use *u)
{
	for (size_t i = 0; i < u->all.n; i++)
		add_uses(u, &u->all.v[i]);
	for (size_t i = 0; i < u->ranges.n; i++)
		u->ranges.v[i].total = u->ranges.v[i].device;
	/* Inner scopes follow outer scopes. */
	for (size_t i = u->ranges.n; i-- > 1;) {
		uint32_t parent = u->all.names.scopes.v[i].parent;
		u->ranges.v[parent].total =
		        num_add(u->ranges.v[parent].total, u->ranges.v[i].total);
	}
}
