/* SPDX-License-Identifier: Apache-2.0
 *
 * The first pass over a file: facts, devices, clocks, candidates for steps, and the open ranges of
 * each thread over time. Operations are only counted.
 */
#include "base/sort.h"
#include "trace/read/recording/recording_internal.h"

#define OPEN_RANGES_MAX 128 /* open ranges on a thread; deeper ranges are only counted */
#define CLOCK_STEP                                                                                 \
	(int64_t)1000000000 /* ns; readings closer than this are not used to estimate the drift */

/* ---- ranges ---- */

static struct recorded_thread *thread_of(
        struct recordings *r, struct recorded_process *p, uint32_t tid)
{
	uint32_t at = (uint32_t)p->threads.n;

	if (imap_get(&p->thread_of, tid, &at))
		return &p->threads.v[at];
	imap_put(&p->thread_of, tid, at, false);
	VEC_PUSH(r->a, &p->threads, ((struct recorded_thread){ .tid = tid }));
	return &p->threads.v[at];
}

/* Records that this scope is the innermost scope of the thread from now on. */
static void change_scope(struct arena *a, struct recorded_thread *t, uint64_t time, uint32_t scope)
{
	size_t n = t->times.n;

	if (n && t->times.v[n - 1] == time) {
		t->scopes.v[n - 1] = scope;
		return;
	}
	t->unsorted |= n && t->times.v[n - 1] > time;
	VEC_PUSH(a, &t->times, time);
	VEC_PUSH(a, &t->scopes, scope);
}

static uint32_t top_scope(const struct recorded_thread *t)
{
	return t->open.n ? t->open.v[t->open.n - 1].scope : SCOPE_NONE;
}

/* Adds the time up to now to the self time of the innermost range. */
static void own_time(struct recorded_thread *t, uint64_t time)
{
	struct open_range *o = t->open.n ? &t->open.v[t->open.n - 1] : NULL;

	if (o && time > o->resumed)
		o->own += time - o->resumed;
}

/* Returns the list of marks for a step range: for --step-nvtx, or for implied steps. */
static struct step_marks *marks_of(struct recorded_process *p, const struct range_name *name)
{
	return name->step ? &p->steps_nvtx : &p->steps_implied;
}

/* Adds the step that a range or mark begins. Returns 1 + its index. */
static uint32_t begin_step(struct recordings *r, struct recorded_process *p, uint64_t time,
        const struct range_name *name)
{
	struct step_marks *to = marks_of(p, name);

	steps_add(to, r->a, time, name->label);
	return (uint32_t)to->n;
}

static void end_step(struct step_marks *v, uint32_t step, uint64_t time)
{
	if (step)
		v->v[step - 1].end = time;
}

static uint32_t range_of(struct recordings *r, const struct recording_feed *f, uint32_t id)
{
	struct recorded_process *p = f->p;

	if (id >= p->range_of.n) {
		if (id >= f->get->strings.n)
			return names_range(&r->names, recording_string(f, id));
		size_t more = f->get->strings.n - p->range_of.n;
		VEC_ROOM(r->a, &p->range_of, more);
		memset(p->range_of.v + p->range_of.n, 0, more * sizeof *p->range_of.v);
		p->range_of.n += more;
	}
	if (!p->range_of.v[id])
		p->range_of.v[id] = 1 + names_range(&r->names, recording_string(f, id));
	return p->range_of.v[id] - 1;
}

static void push_range(
        struct recordings *r, struct recording_feed *f, const struct spool_range *g, uint32_t range)
{
	struct recorded_thread *t = thread_of(r, f->p, g->tid);
	const struct range_name *name = &r->names.ranges.v[range];
	struct open_range o = {
		.domain = g->domain, .range = range, .since = g->time, .resumed = g->time
	};

	if (t->open.n == OPEN_RANGES_MAX) {
		t->too_deep++;
		return;
	}
	own_time(t, g->time);
	if (name->step || (name->implied && r->o->step_implied))
		o.step = begin_step(r, f->p, g->time, name);
	o.scope = names_push(&r->names, top_scope(t), range);
	VEC_PUSH(r->a, &t->open, o);
	change_scope(r->a, t, g->time, o.scope);
}

static void use_scope(
        struct recordings *r, struct recorded_process *p, const struct open_range *o, uint64_t time)
{
	while (p->scopes.n <= o->scope)
		VEC_PUSH(r->a, &p->scopes, ((struct scope_use){ 0 }));
	struct scope_use *use = &p->scopes.v[o->scope];
	use->count++;
	if (time > o->since)
		use->host = num_add(use->host, num_from_u64(time - o->since));
}

static void end_range(struct recordings *r, struct recorded_process *p, const struct open_range *o,
        const struct spool_range *g)
{
	end_step(marks_of(p, &r->names.ranges.v[o->range]), o->step, g->time);
	if (o->scope)
		use_scope(r, p, o, g->time);
	if (r->o->by_op && o->scope)
		VEC_PUSH(
		        r->a, &p->runs, ((struct range_run){ o->scope, g->tid, o->since, o->own }));
}

/* Ends the innermost range of the domain; ranges of other domains within it move to its parent. */
static void pop_range(struct recordings *r, struct recording_feed *f, const struct spool_range *g)
{
	struct recorded_thread *t = thread_of(r, f->p, g->tid);
	size_t i = t->open.n;

	if (t->too_deep) {
		t->too_deep--;
		return;
	}
	while (i && t->open.v[i - 1].domain != g->domain)
		i--;
	if (!i)
		return;
	own_time(t, g->time);
	end_range(r, f->p, &t->open.v[i - 1], g);
	memmove(t->open.v + i - 1, t->open.v + i, (t->open.n - i) * sizeof *t->open.v);
	t->open.n--;
	for (size_t k = i - 1; k < t->open.n; k++) {
		struct open_range *o = &t->open.v[k];
		o->scope = names_push(&r->names, k ? t->open.v[k - 1].scope : SCOPE_NONE, o->range);
	}
	if (t->open.n)
		t->open.v[t->open.n - 1].resumed = g->time;
	change_scope(r->a, t, g->time, top_scope(t));
}

static void take_range(struct recordings *r, struct recording_feed *f, const struct spool_range *g)
{
	struct recorded_process *p = f->p;
	uint32_t step = 0;

	if (g->op == SPOOL_POP) {
		pop_range(r, f, g);
		return;
	}
	if (g->op == SPOOL_STOP) {
		if (imap_get(&p->started_range, g->id, &step))
			end_step(&p->steps_nvtx, step, g->time);
		return;
	}
	uint32_t range = range_of(r, f, g->name);
	const struct range_name *name = &r->names.ranges.v[range];
	if (g->op == SPOOL_PUSH)
		push_range(r, f, g, range);
	else if (g->op == SPOOL_START && name->step)
		imap_put(&p->started_range, g->id, begin_step(r, p, g->time, name), true);
	else if (g->op == SPOOL_INSTANT && name->step)
		begin_step(r, p, g->time, name);
	else if (g->op == SPOOL_INSTANT && name->mark)
		steps_add(&p->steps_mark, r->a, g->time, name->label);
}

/* ---- facts ---- */

/* Returns the device with a given number. */
static struct recorded_gpu *gpu_of(struct recordings *r, struct recorded_process *p, uint32_t id)
{
	id = recording_device(id);
	if (p->last_gpu < p->gpus.n && p->gpus.v[p->last_gpu].id == id)
		return &p->gpus.v[p->last_gpu];
	for (p->last_gpu = 0; p->last_gpu < p->gpus.n; p->last_gpu++)
		if (p->gpus.v[p->last_gpu].id == id)
			return &p->gpus.v[p->last_gpu];
	VEC_PUSH(r->a, &p->gpus, ((struct recorded_gpu){ .id = id }));
	return &p->gpus.v[p->last_gpu];
}

static void take_device(
        struct recordings *r, const struct recording_feed *f, const struct spool_device *d)
{
	static const uint8_t none[16];
	struct recorded_gpu *g = gpu_of(r, f->p, d->id);

	memcpy(g->identity, memcmp(d->mig_uuid, none, 16) ? d->mig_uuid : d->uuid, 16);
	g->name = str_copy(r->a, block_decode_string(f->get, d->name));
	g->capability = d->major < 100 && d->minor < 10 ? d->major * 10 + d->minor : 0;
}

static void use_device(struct recordings *r, struct recorded_process *p, uint32_t id)
{
	struct recorded_gpu *g = gpu_of(r, p, id);

	p->gpus_used += !g->used;
	g->used = true;
}

static void take_clock(
        struct recordings *r, struct recorded_process *p, const struct spool_clock *c)
{
	int64_t offset = (int64_t)(c->realtime - c->monotonic_raw);
	size_t n = p->clocks.n;

	if (p->clocks_known)
		return;
	clock_map_add(&p->clock_map, r->a, c);
	VEC_PUSH(r->a, &p->clocks, ((struct clock_at){ c->monotonic_raw, offset }));
	if (!n)
		return;
	int64_t change = num_sub(offset, p->clocks.v[n - 1].offset);
	if (change > CLOCK_STEP || change < -CLOCK_STEP) {
		p->jumped = true;
		p->jump = num_add(p->jump, change);
	}
}

static void take_mark(
        struct recordings *r, const struct recording_feed *f, const struct spool_mark *m)
{
	struct recorded_process *p = f->p;
	struct str label = str_copy(r->a, block_decode_string(f->get, m->label));
	size_t n = p->steps_profiler.n;

	if (m->what == SPOOL_STEP)
		steps_add(&p->steps_signal, r->a, m->time, label);
	else if (m->what == SPOOL_PROFILER_START)
		steps_add(&p->steps_profiler, r->a, m->time, label);
	else if (n && !p->steps_profiler.v[n - 1].end)
		p->steps_profiler.v[n - 1].end = m->time;
}

static void take_time(struct recorded_process *p, uint64_t time)
{
	if (time && time < p->first)
		p->first = time;
	if (time > p->last)
		p->last = time;
}

/* Keeps the creation of a graph node for the work of the graph's launches. */
static void take_node(struct recordings *r, struct recorded_process *p, const struct spool_node *n)
{
	idmap_put(n->original ? &p->copies : &p->created, n->id, (uint32_t)p->nodes.n);
	VEC_PUSH(r->a, &p->nodes, ((struct recorded_node){ n->time, n->original, n->tid }));
}

static void take_record(
        struct recordings *r, struct recording_feed *f, const struct spool_record *x)
{
	struct recorded_process *p = f->p;

	switch (x->kind) {
	case SPOOL_API: take_time(p, x->api.start); break;
	case SPOOL_KERNEL:
		take_time(p, x->kernel.start);
		use_device(r, p, x->kernel.at.device);
		break;
	case SPOOL_RANGE: take_range(r, f, &x->range); break;
	case SPOOL_NODE: take_node(r, p, &x->node); break;
	case SPOOL_COPY: use_device(r, p, x->copy.at.device); break;
	case SPOOL_SET: use_device(r, p, x->set.at.device); break;
	case SPOOL_GRAPH: use_device(r, p, x->graph.at.device); break;
	case SPOOL_SUM:
		if (x->sum.what != SPOOL_API)
			use_device(r, p, x->sum.device);
		take_time(p, x->sum.from);
		break;
	case SPOOL_DEVICE: take_device(r, f, &x->device); break;
	case SPOOL_CLOCK: take_clock(r, p, &x->clock); break;
	case SPOOL_MARK: take_mark(r, f, &x->mark); break;
	default: break;
	}
}

/* ---- the whole file ---- */

static int by_time(const void *ctx, uint32_t a, uint32_t b)
{
	const struct recorded_thread *t = ctx;

	return t->times.v[a] < t->times.v[b] ? -1 : t->times.v[a] > t->times.v[b];
}

/* Sorts the moments of a thread by time. */
static void sort_thread(struct arena *a, struct recorded_thread *t)
{
	size_t n = t->times.n;
	const uint32_t *by = sort_order(a, n, by_time, t);
	uint32_t *scopes = ARENA_ARRAY(a, n, uint32_t);
	uint64_t *times = ARENA_ARRAY(a, n, uint64_t);

	for (size_t i = 0; i < n; i++) {
		times[i] = t->times.v[by[i]];
		scopes[i] = t->scopes.v[by[i]];
	}
	memcpy(t->times.v, times, n * sizeof *times);
	memcpy(t->scopes.v, scopes, n * sizeof *scopes);
}

static void start_over(struct recorded_process *p, struct arena *a)
{
	struct recorded_process fresh = { .file = p->file, .name = p->name, .first = UINT64_MAX };

	*p = fresh;
	recording_facts_init(&p->facts);
	imap_init(&p->thread_of, a);
	idmap_init(&p->created, a);
	idmap_init(&p->copies, a);
	imap_init(&p->started_range, a);
}

static bool begins_as_spool(struct src *s)
{
	return src_rewind(s) && src_need(s, SPOOL_MAGIC_SIZE) &&
	       (!memcmp(s->p, SPOOL_MAGIC, SPOOL_MAGIC_SIZE) ||
	               !memcmp(s->p, SPOOL_COUNT_MAGIC, SPOOL_MAGIC_SIZE));
}

/* Refuses a damaged recording, unless --recover was given and an intact part or another file
 * remains. */
static void judge_fault(struct recordings *r, const struct recorded_process *p, bool is_spool)
{
	const struct spool_fault *f = &p->facts.fault;
	bool others = r->files->n > 1;

	if (!f->places || (r->o->recover && (f->kept || others)))
		return;
	if (is_spool) {
		spool_fault_judge(f, p->name, others, r->e);
		return;
	}
	err_set(r->e, ERR_DATA_LOSS, "%.*s: byte 0: not a recording", STR(p->name));
	r->e->partial = others;
}

static bool read_all(struct recordings *r, struct recorded_process *p)
{
	struct spool_record x;
	struct spool_damage d;
	enum spool_event event;
	struct recording_feed f;

	if (!feed_open(&f, r, p))
		return false;
	while ((event = feed_next(&f, &x, &d)) != SPOOL_EVENT_END && event != SPOOL_EVENT_FAILED) {
		recording_facts_take(&p->facts, r->a, event, &x, &d);
		if (event == SPOOL_EVENT_RECORD)
			take_record(r, &f, &x);
	}
	recording_facts_count(&p->facts, &f.get->count);
	if (event == SPOOL_EVENT_END)
		judge_fault(r, p, f.get->blocks || begins_as_spool(f.s));
	feed_close(&f);
	return !r->e->code;
}

/* Surveys the file of a process. Repeats the survey with corrected times if the system clock was
 * changed, or if CUPTI has its own clock. */
bool survey_process(struct recordings *r, struct recorded_process *p)
{
	start_over(p, r->a);
	if (!read_all(r, p))
		return false;
	if (p->jumped || p->clock_map.apart) {
		struct recorded_process first = *p;
		start_over(p, r->a);
		p->clocks.v = first.clocks.v;
		p->clocks.n = first.clocks.n;
		p->jump = first.jump;
		p->jumped = first.jumped;
		p->clock_map = first.clock_map;
		p->clocks_known = true;
		if (!read_all(r, p))
			return false;
	}
	for (size_t i = 0; i < p->threads.n; i++)
		if (p->threads.v[i].unsorted)
			sort_thread(r->a, &p->threads.v[i]);
	return true;
}
