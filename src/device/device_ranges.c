/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of work by range and by step.
 */
#include "device/device_parts.h"
#include "device/device_ranges.h"
#include "trace/pass/nest.h"

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

void gpu_range_take(struct device_use *u, uint32_t scope, int64_t ns)
{
	struct gpu_range *r = range_of(u, scope);

	r->device = num_add(r->device, ns);
	r->operations++;
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
	gpu_range_take(u, recorded_scope(op, c), ns);
}

/* Returns the categories of slices that are ranges. Push-pop ranges of Nsight Systems are ops; its
 * annotations are start-end ranges, which do not nest. */
static uint32_t range_categories(const struct trace *t)
{
	return CATEGORY_BIT(t->source == TRACE_NSYS ? CATEGORY_OP : CATEGORY_ANNOTATION);
}

static void enter_range(struct device_use *u, struct nest_level *level, uint32_t around)
{
	struct recorded_process *p = &u->all.v[device_process(u, level->s.track)];
	struct recording_names *names = &u->all.names;

	level->user = names_push(names, around, names_range(names, trace_str(u->t, level->s.name)));
	while (p->scopes.n <= level->user)
		VEC_PUSH(u->a, &p->scopes, ((struct scope_use){ 0 }));
	struct scope_use *use = &p->scopes.v[level->user];
	use->count++;
	use->host = num_add(use->host, trace_ns(u->t, level->s.length));
}

void gpu_ranges_thread(struct device_use *u, uint32_t track, uint32_t *scope_of)
{
	const uint32_t ranges = range_categories(u->t);
	struct nest_level *level;
	struct scratch own;
	struct nest n;
	enum nest_what what;

	scratch_open(&own, u->a->work);
	nest_init(&n, u->t, track, ranges | nest_bits(CATEGORY_LAUNCH), &own.a);
	while ((what = nest_next(&n, &level))) {
		if (what != NEST_OPEN)
			continue;
		const struct nest_level *around = nest_around(&n, level, ranges);
		uint32_t scope = around ? around->user : SCOPE_NONE;
		const struct launch *launch = link_launch(u->links, &level->s);
		if (CATEGORY_BIT(level->s.category) & ranges)
			enter_range(u, level, scope);
		else if (launch && launch->slice == level->s.number)
			scope_of[launch - u->links->launches.v] = scope;
	}
	scratch_close(&own);
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
