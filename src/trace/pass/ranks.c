/* SPDX-License-Identifier: Apache-2.0
 *
 * Matches collectives, aligns clocks, and replays all ranks together.
 */
#include "trace/pass/ranks.h"

#include "base/sort.h"
#include "trace/pass/replay_internal.h"

static const struct depend *graph_of(const struct rank_group *x, const struct job_rank *r)
{
	return &x->replays[r->replay]->depend;
}

static const struct depend_node *node_of(const struct rank_group *x, const struct rank_member *m)
{
	return &graph_of(x, &x->ranks.v[m->rank])->nodes.v[m->node];
}

struct str rank_label(const struct rank_group *x, const struct job_rank *r, struct arena *a)
{
	if (r->number >= 0)
		return str_fmt(a, "rank %lld", (long long)r->number);
	if (r->process == ID_NONE)
		return str_fmt(a, "file %u", r->replay + 1);
	return str_fmt(
	        a, "process %lld", (long long)graph_of(x, r)->t->processes.v[r->process].pid);
}

/* ---- ranks ---- */

int64_t rank_number(const struct trace *t)
{
	for (size_t i = 0; i < t->processes.n; i++)
		if (t->processes.v[i].rank >= 0)
			return t->processes.v[i].rank;
	return -1;
}

bool files_are_runs(enum files_as as, size_t n, const int64_t *ranks)
{
	if (as != FILES_AS_AUTO)
		return as == FILES_AS_RUNS;
	return n == 2 && (ranks[0] < 0 || ranks[1] < 0 || ranks[0] == ranks[1]);
}

static uint32_t process_of(const struct depend *d, uint32_t node)
{
	return d->tracks[d->nodes.v[node].track].process;
}

/* The processes of a trace, in groups that edges connect. Slots are the processes, and a last one
 * for tracks without a process. */
struct process_groups {
	const struct depend *d;
	uint32_t *parent; /* indexed by slot: another slot of the group; itself in the first slot of
	                     a group */
	uint32_t *rank;   /* indexed by the first slot of a group: 1 + its rank; 0: none */
	bool *works;      /* indexed by slot: true if it has device work */
	uint32_t n;
};

static uint32_t slot_of(const struct process_groups *g, uint32_t node)
{
	uint32_t process = process_of(g->d, node);

	return process == ID_NONE ? g->n - 1 : process;
}

/* Returns the first slot of the group of a slot. */
static uint32_t group_of(const struct process_groups *g, uint32_t slot)
{
	while (g->parent[slot] != slot)
		slot = g->parent[slot] = g->parent[g->parent[slot]];
	return slot;
}

static void join_groups(struct process_groups *g, uint32_t slot, uint32_t other)
{
	uint32_t x = group_of(g, slot), y = group_of(g, other);

	g->parent[x > y ? x : y] = x > y ? y : x;
}

/* Puts processes with an edge between them into one group. Device work without a process may belong
 * to any process with device work, so it joins all of these. */
static void find_groups(struct process_groups *g, const struct depend *d, struct arena *a)
{
	*g = (struct process_groups){ .d = d, .n = (uint32_t)d->t->processes.n + 1 };
	g->parent = ARENA_ARRAY(a, g->n, uint32_t);
	g->rank = ARENA_ARRAY(a, g->n, uint32_t);
	g->works = ARENA_ARRAY(a, g->n, bool);
	for (uint32_t i = 0; i < g->n; i++)
		g->parent[i] = i;
	for (uint32_t i = 0; i < d->nodes.n; i++) {
		uint32_t slot = slot_of(g, i);
		g->works[slot] |= !d->nodes.v[i].host;
		for (uint32_t k = d->first_edge[i]; k < d->first_edge[i + 1]; k++)
			if (process_of(d, i) != process_of(d, d->edges[k].from))
				join_groups(g, slot, slot_of(g, d->edges[k].from));
	}
	for (uint32_t i = 0; i < g->n; i++)
		if (g->works[i] && g->works[g->n - 1])
			join_groups(g, i, g->n - 1);
}

static uint32_t add_rank(struct rank_group *x, uint32_t replay, uint32_t process, struct arena *a)
{
	const struct trace *t = x->replays[replay]->depend.t;
	struct job_rank r = { .replay = replay, .process = process };

	r.number = process == ID_NONE ? rank_number(t) : t->processes.v[process].rank;
	r.order = ARENA_ARRAY(a, x->replays[replay]->depend.nodes.n, uint32_t);
	VEC_PUSH(a, &x->ranks, r);
	return (uint32_t)x->ranks.n;
}

static void take_node(struct rank_group *x, struct job_rank *r, uint32_t node)
{
	const struct depend_node *n = &graph_of(x, r)->nodes.v[node];

	r->order[r->n++] = node;
	if (n->host)
		r->host = num_add(r->host, n->end - n->start);
	else if (n->class != USAGE_COMMUNICATION)
		r->device = num_add(r->device, n->end - n->start);
}

/* Makes a rank of each group of processes that has device work. Other processes, such as that of a
 * profiler's own spans, belong to no rank. Without device work, the whole trace is one rank. */
static void find_ranks(struct rank_group *x, uint32_t replay, struct arena *a)
{
	const struct depend *d = &x->replays[replay]->depend;
	uint32_t before = (uint32_t)x->ranks.n;
	struct process_groups g;

	find_groups(&g, d, a);
	for (uint32_t i = 0; i < g.n; i++) {
		uint32_t *rank = &g.rank[group_of(&g, i)];
		if (!g.works[i])
			continue;
		if (!*rank)
			*rank = add_rank(x, replay, i < g.n - 1 ? i : ID_NONE, a);
		else
			x->ranks.v[*rank - 1].process = ID_NONE;
	}
	uint32_t all = x->ranks.n == before ? add_rank(x, replay, ID_NONE, a) : 0;
	for (size_t i = 0; i < d->nodes.n; i++) {
		uint32_t rank = all ? all : g.rank[group_of(&g, slot_of(&g, d->order[i]))];
		if (rank)
			take_node(x, &x->ranks.v[rank - 1], d->order[i]);
	}
}

/* ---- collectives ---- */

/* Communication that may be a part of a collective. */
struct rank_work {
	uint32_t rank, node, key, place; /* place: position among the work of the same rank, key and
	                                    step */
	int64_t step, start;
};

/* Returns the key that all members of a collective share. Members also belong to the same step. */
static struct str key_of(const struct depend *d, const struct depend_node *n, struct arena *a)
{
	struct slice slice;
	struct str name = trace_str(d->t, d->t->events.v[n->event].name), kind;

	trace_slice(d->t, n->slice, &slice);
	kind = slice_text(d->t, &slice, ARG_COLLECTIVE);
	return str_fmt(a, "%.*s|%.*s", STR(slice_text(d->t, &slice, ARG_PROCESS_GROUP)),
	        STR(kind.n ? kind : name));
}

static bool is_pairwise(const struct depend *d, const struct depend_node *n)
{
	struct str name = trace_str(d->t, d->t->events.v[n->event].name);

	return str_contains(name, S("SendRecv"));
}

static int64_t step_of(const struct replay *x, uint32_t node)
{
	return x->steps[node] == ID_NONE ? INT64_MIN : x->marks->steps.v[x->steps[node]].id;
}

static int by_place(const void *v, uint32_t a, uint32_t b)
{
	const struct rank_work *x = (const struct rank_work *)v + a,
	                       *y = (const struct rank_work *)v + b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static int by_collective(const void *v, uint32_t a, uint32_t b)
{
	const struct rank_work *x = (const struct rank_work *)v + a,
	                       *y = (const struct rank_work *)v + b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Collects the communication of all ranks. Numbers the communication of each rank, key and step. */
static struct rank_work *find_candidates(struct rank_group *x, size_t *n, struct arena *a)
{
	VEC(struct rank_work) v = { .n = 0 };
	struct intern keys = { .n = 0 };

	intern_init(&keys, a);
	for (uint32_t r = 0; r < x->ranks.n; r++) {
		const struct job_rank *rank = &x->ranks.v[r];
		const struct depend *d = graph_of(x, rank);
		for (size_t i = 0; i < rank->n; i++) {
			uint32_t node = rank->order[i];
			const struct depend_node *c = &d->nodes.v[node];
			if (c->host || c->class != USAGE_COMMUNICATION)
				continue;
			x->unmatched++;
			if (!is_pairwise(d, c))
				VEC_PUSH(a, &v,
				        ((struct rank_work){ .rank = r,
				                .node = node,
				                .key = intern_add(&keys, key_of(d, c, a)),
				                .step = step_of(x->replays[rank->replay], node),
				                .start = c->start }));
		}
	}
	sort_array(a, v.v, v.n, sizeof *v.v, by_place);
	for (size_t i = 1; i < v.n; i++)
		if (v.v[i].rank == v.v[i - 1].rank && v.v[i].key == v.v[i - 1].key &&
		        v.v[i].step == v.v[i - 1].step)
			v.v[i].place = v.v[i - 1].place + 1;
	sort_array(a, v.v, v.n, sizeof *v.v, by_collective);
	*n = v.n;
	return v.v;
}

static bool is_same_step(const struct rank_work *x, const struct rank_work *y)
{
	return x->key == y->key && x->step == y->step;
}

static void add_collective(
        struct rank_group *x, const struct rank_work *v, uint32_t n, struct arena *a)
{
	struct rank_collective c = { (uint32_t)x->members.n, n };

	for (uint32_t i = 0; i < n; i++) {
		struct rank_member m = { .rank = v[i].rank,
			.node = v[i].node,
			.collective = (uint32_t)x->collectives.n };
		VEC_PUSH(a, &x->members, m);
		x->member_of[x->ranks.v[m.rank].replay][m.node] = (uint32_t)x->members.n;
	}
	VEC_PUSH(a, &x->collectives, c);
	x->unmatched -= n;
}

/* Matches the candidates of one key and step, if all their ranks have the same number of
 * candidates. */
static void match_step(struct rank_group *x, const struct rank_work *v, size_t n, struct arena *a)
{
	size_t members = 0;

	while (members < n && v[members].place == 0)
		members++;
	size_t places = members ? n / members : 0;
	if (members < 2 || places * members != n)
		return;
	for (size_t i = 0; i < n; i++)
		if (v[i].place != i / members || v[i].rank != v[i % members].rank)
			return;
	for (size_t i = 0; i < places; i++)
		add_collective(x, v + i * members, (uint32_t)members, a);
}

static void match(struct rank_group *x, struct arena *a)
{
	struct scratch own;
	size_t n;

	scratch_open(&own, a->work);
	const struct rank_work *v = find_candidates(x, &n, &own.a);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && is_same_step(&v[i], &v[end]);)
			end++;
		match_step(x, v + i, end - i, a);
	}
	scratch_close(&own);
}

/* ---- clocks ---- */

static int64_t median(struct arena *a, size_t n, const int64_t *v)
{
	return v[keysort_new(a, n, v)[(n - 1) / 2]];
}

/* Returns a member on an aligned rank, or NULL. */
static const struct rank_member *aligned_member(
        const struct rank_group *x, const struct rank_collective *c)
{
	for (uint32_t i = c->first; i < c->first + c->n; i++)
		if (x->ranks.v[x->members.v[i].rank].aligned)
			return &x->members.v[i];
	return NULL;
}

/* Aligns the clock of a rank with the already aligned clocks, by the ends of its collectives. */
static bool align(struct rank_group *x, uint32_t rank, struct arena *a)
{
	VEC(int64_t) v = { .n = 0 };

	for (size_t i = 0; i < x->members.n; i++) {
		const struct rank_member *m = &x->members.v[i];
		const struct rank_member *other =
		        m->rank == rank ? aligned_member(x, &x->collectives.v[m->collective])
		                        : NULL;
		if (other)
			VEC_PUSH(a, &v,
			        num_sub(num_add(node_of(x, other)->end,
			                        x->ranks.v[other->rank].offset),
			                node_of(x, m)->end));
	}
	if (!v.n)
		return false;
	x->ranks.v[rank].offset = median(a, v.n, v.v);
	return x->ranks.v[rank].aligned = true;
}

static void align_all(struct rank_group *x, struct arena *a)
{
	bool again = x->ranks.n > 0;

	if (again)
		x->ranks.v[0].aligned = true;
	while (again) {
		again = false;
		for (uint32_t i = 0; i < x->ranks.n; i++) {
			struct scratch own;
			scratch_open(&own, a->work);
			again |= !x->ranks.v[i].aligned && align(x, i, &own.a);
			scratch_close(&own);
		}
	}
}

/* ---- arrivals ---- */

static int64_t common(const struct rank_group *x, const struct rank_member *m, int64_t at)
{
	return num_add(at, x->ranks.v[m->rank].offset);
}

/* Finds for each member of a collective how long it waits, how far it lags behind the first member,
 * and how late it is. Returns the time between the first and the last end of its members. */
static int64_t find_arrivals(struct rank_group *x, const struct rank_collective *c, struct arena *a)
{
	int64_t *arrivals = ARENA_ARRAY(a, c->n, int64_t), last = INT64_MIN;
	int64_t first_end = INT64_MAX, last_end = INT64_MIN;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct rank_member *m = &x->members.v[c->first + i];
		int64_t end = common(x, m, node_of(x, m)->end);
		arrivals[i] = common(x, m, node_of(x, m)->start);
		last = arrivals[i] > last ? arrivals[i] : last;
		first_end = end < first_end ? end : first_end;
		last_end = end > last_end ? end : last_end;
	}
	int64_t usual = median(a, c->n, arrivals);
	for (uint32_t i = 0; i < c->n; i++) {
		struct rank_member *m = &x->members.v[c->first + i];
		const struct depend_node *n = node_of(x, m);
		int64_t wait = num_sub(last, arrivals[i]), length = n->end - n->start;
		m->lag = num_sub(common(x, m, n->end), last);
		x->waiting = num_add(x->waiting, wait < length ? wait : length);
		x->transferring = num_add(x->transferring, wait < length ? length - wait : 0);
		if (arrivals[i] > usual)
			x->ranks.v[m->rank].late =
			        num_add(x->ranks.v[m->rank].late, arrivals[i] - usual);
	}
	return num_sub(last_end, first_end);
}

void rank_group_open(
        const struct replay *const *replays, size_t n, struct rank_group *out, struct arena *a)
{
	struct scratch own;
	bool same = true;

	*out = (struct rank_group){ .replays = replays, .n_replays = n };
	out->member_of = ARENA_ARRAY(a, n, uint32_t *);
	for (uint32_t i = 0; i < n; i++) {
		out->member_of[i] = ARENA_ARRAY(a, replays[i]->depend.nodes.n, uint32_t);
		same &= replays[i]->depend.t->ticks_per_us == replays[0]->depend.t->ticks_per_us;
		find_ranks(out, i, a);
	}
	if (same && out->ranks.n > 1)
		match(out, a);
	if (!out->collectives.n)
		return;
	align_all(out, a);
	scratch_open(&own, a->work);
	int64_t *spreads = ARENA_ARRAY(&own.a, out->collectives.n, int64_t);
	for (size_t i = 0; i < out->collectives.n; i++)
		spreads[i] = find_arrivals(out, &out->collectives.v[i], &own.a);
	out->spread = median(&own.a, out->collectives.n, spreads);
	scratch_close(&own);
}

/* ---- replay ---- */

/* State of a joint replay of all ranks. */
struct group_going {
	const struct rank_group *x;
	struct replay_factors *factors; /* factors of each replay */
	struct replay_run *runs;
	size_t *at;        /* indexed by rank: the next position in the rank's order */
	bool *arrived;     /* indexed by member */
	uint32_t *waiting; /* indexed by collective: number of members that have not arrived */
	int64_t *last;     /* indexed by collective: the last arrival so far */
};

static int64_t transfer_of(const struct group_going *g, const struct rank_member *m)
{
	const struct replay_plan *plan = g->factors[g->x->ranks.v[m->rank].replay].plan;
	const struct depend_node *n = node_of(g->x, m);

	if (!plan->lengths || plan->lengths[m->node] >= n->end - n->start)
		return m->lag;
	return m->lag < plan->lengths[m->node] ? m->lag : plan->lengths[m->node];
}

/* Ends a collective on all members that have arrived. */
static void end_collective(struct group_going *g, uint32_t collective)
{
	const struct rank_collective *c = &g->x->collectives.v[collective];

	g->waiting[collective] = 0;
	for (uint32_t i = c->first; i < c->first + c->n; i++) {
		const struct rank_member *m = &g->x->members.v[i];
		const struct job_rank *r = &g->x->ranks.v[m->rank];
		struct depend_times *times = &g->runs[r->replay].times;
		if (!g->arrived[i])
			continue;
		int64_t end = num_sub(num_add(g->last[collective], transfer_of(g, m)), r->offset);
		times->end[m->node] = end > times->start[m->node] ? end : times->start[m->node];
	}
}

/* True if a rank may go on after a node: it is not a member, or its collective has ended. */
static bool pass_member(struct group_going *g, uint32_t member)
{
	if (!member)
		return true;
	const struct rank_member *m = &g->x->members.v[member - 1];
	uint32_t c = m->collective;
	if (g->arrived[member - 1])
		return !g->waiting[c];
	if (!g->waiting[c]) /* the collective ended without this member */
		return true;
	g->arrived[member - 1] = true;
	int64_t at = common(g->x, m, g->runs[g->x->ranks.v[m->rank].replay].times.start[m->node]);
	g->last[c] = at > g->last[c] ? at : g->last[c];
	if (!--g->waiting[c])
		end_collective(g, c);
	return !g->waiting[c];
}

/* Replays the nodes of a rank until it has to wait for other ranks. Returns the number of replayed
 * nodes. */
static size_t go_on(struct group_going *g, uint32_t rank)
{
	const struct job_rank *r = &g->x->ranks.v[rank];
	size_t from = g->at[rank];

	for (; g->at[rank] < r->n; g->at[rank]++) {
		uint32_t node = r->order[g->at[rank]], member = g->x->member_of[r->replay][node];
		if (!member || !g->arrived[member - 1])
			replay_node(g->x->replays[r->replay], &g->factors[r->replay],
			        &g->runs[r->replay], node);
		if (!pass_member(g, member))
			break;
		if (g->at[rank] % 65536 == 0)
			work_poll(g->x->replays[r->replay]->a->work);
	}
	return g->at[rank] - from;
}

/* Ends the collective for which the first waiting rank waits. Called if all ranks wait, because the
 * ranks call the collectives in different orders. Returns false if no rank waits. */
static bool break_tie(struct group_going *g)
{
	for (uint32_t i = 0; i < g->x->ranks.n; i++) {
		const struct job_rank *r = &g->x->ranks.v[i];
		if (g->at[i] == r->n)
			continue;
		uint32_t member = g->x->member_of[r->replay][r->order[g->at[i]]];
		end_collective(g, g->x->members.v[member - 1].collective);
		return true;
	}
	return false;
}

/* Gives the nodes of a replay their recorded times, which nodes outside all ranks keep. */
static void take_recorded(const struct replay *x, struct replay_run *run)
{
	size_t bytes = x->depend.nodes.n * sizeof *run->times.start;

	if (!bytes)
		return;
	memcpy(run->times.start, x->recorded.times.start, bytes);
	memcpy(run->times.end, x->recorded.times.end, bytes);
}

static void go_all(struct group_going *g)
{
	size_t passed;

	do {
		passed = 0;
		for (uint32_t i = 0; i < g->x->ranks.n; i++)
			passed += go_on(g, i);
	} while (passed || break_tie(g));
}

void rank_group_run(const struct rank_group *x, const struct replay_plan *plans,
        struct replay_run *runs, struct arena *a)
{
	struct scratch own;
	struct group_going g = { .x = x, .runs = runs };

	scratch_open(&own, a->work);
	g.factors = ARENA_ARRAY(&own.a, x->n_replays, struct replay_factors);
	g.at = ARENA_ARRAY(&own.a, x->ranks.n, size_t);
	g.arrived = ARENA_ARRAY(&own.a, x->members.n, bool);
	g.waiting = ARENA_ARRAY(&own.a, x->collectives.n, uint32_t);
	g.last = ARENA_ARRAY(&own.a, x->collectives.n, int64_t);
	for (size_t i = 0; i < x->collectives.n; i++) {
		g.waiting[i] = x->collectives.v[i].n;
		g.last[i] = INT64_MIN;
	}
	for (size_t i = 0; i < x->n_replays; i++) {
		g.factors[i] = replay_plan_factors(&plans[i]);
		replay_begin(x->replays[i], &runs[i], a);
		take_recorded(x->replays[i], &runs[i]);
		runs[i].times.launch = g.factors[i].launch;
	}
	go_all(&g);
	for (size_t i = 0; i < x->n_replays; i++)
		runs[i].after = replay_measure(x->replays[i], &runs[i], a);
	scratch_close(&own);
}
