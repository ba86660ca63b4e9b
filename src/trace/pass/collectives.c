/* SPDX-License-Identifier: Apache-2.0
 *
 * Matches the calls of ranks by process group and sequence number, and compares them.
 */
#include "trace/pass/collectives.h"

#include "base/sort.h"
#include "io/json_in.h"
#include "trace/flight.h"

#define PROBLEM(id, name, text) { (name), sizeof(name) - 1 },
const struct str collective_problem_names[PROBLEM_N] = {
#include "trace/pass/collective_problem.def"
};
#undef PROBLEM
#define PROBLEM(id, name, text) text,
const char *const collective_problem_texts[PROBLEM_N] = {
#include "trace/pass/collective_problem.def"
};
#undef PROBLEM

const char *const call_states[] = { "scheduled", "started", "timed out", "ended", "completed" };

struct collective_search {
	struct collectives *out;
	struct arena *a;
	struct intern groups; /* key: name and ranks of a group; value: its index */
	struct imap ranks;    /* key: number of a rank; value: its index */
};

/* ---- reading ---- */

/* A dump that is being read. */
struct dump {
	const struct trace *t;
	uint32_t rank;
	uint32_t keys[FLIGHT_KEYS];
	struct intern names; /* key: name of a group; value: its index in ranks */
	VEC(struct str) ranks;
};

static void open_dump(
        const struct collective_search *x, struct dump *d, const struct trace *t, uint32_t rank)
{
#define KEY(id, name) name,
	static const char *const names[FLIGHT_KEYS] = { FLIGHT_KEY_LIST(KEY) };
#undef KEY

	*d = (struct dump){ .t = t, .rank = rank };
	intern_init(&d->names, x->a);
	for (unsigned i = 0; i < FLIGHT_KEYS; i++)
		d->keys[i] = trace_key(t, names[i]);
}

static struct str text_of(const struct dump *d, const struct slice *s, enum flight_key key)
{
	return slice_text(d->t, s, d->keys[key]);
}

static int64_t number_of(const struct dump *d, const struct slice *s, enum flight_key key)
{
	return slice_int(d->t, s, d->keys[key]);
}

/* Calls `take` for each entry or, if entries is false, for each slice with the ranks of a group. */
static void each_slice(struct collective_search *x, struct dump *d, bool entries,
        void (*take)(struct collective_search *x, struct dump *d, struct slice *s))
{
	struct slice s;

	for (uint32_t k = 0; k < d->t->tracks.n; k++) {
		struct slice_iter i = trace_slices(d->t, k);
		while (slice_next(&i, &s))
			if ((s.category == CATEGORY_COMMUNICATION) == entries)
				take(x, d, &s);
	}
}

static void take_ranks(struct collective_search *x, struct dump *d, struct slice *s)
{
	uint32_t i = intern_add(&d->names, slice_text(d->t, s, ARG_PROCESS_GROUP));

	if (i == d->ranks.n)
		VEC_PUSH(x->a, &d->ranks, text_of(d, s, FLIGHT_RANKS));
}

static void add_member(struct collective_search *x, struct collective_group *g, int64_t number)
{
	struct collective_member m = {
		.number = number, .rank = ID_NONE, .from = INT64_MAX, .to = -1
	};

	imap_get(&x->ranks, (uint64_t)number, &m.rank);
	VEC_PUSH(x->a, &g->members, m);
}

/* Adds the members listed in a text such as "[0, 1, 2]". */
static void add_members(struct collective_search *x, struct collective_group *g, struct str ranks)
{
	struct strs list = str_split(x->a, str_sub(ranks, 1, ranks.n > 2 ? ranks.n - 2 : 0), ',');
	int64_t number;

	for (size_t i = 0; i < list.n; i++)
		if (num_parse_i64(list.v[i], &number))
			add_member(x, g, number);
	g->known = g->members.n > 0;
}

/* Finds or adds the group of an entry. Groups with the same name but different ranks are different
 * groups. */
static uint32_t group_of(struct collective_search *x, const struct dump *d, const struct slice *s)
{
	struct str name = slice_text(d->t, s, ARG_PROCESS_GROUP), ranks = STR_NONE;
	uint32_t listed = intern_find(&d->names, name);
	struct sb key = sb_in(x->a);

	if (listed != ID_NONE)
		ranks = d->ranks.v[listed];
	sb_put(&key, name);
	sb_char(&key, 0);
	sb_put(&key, ranks);
	uint32_t i = intern_add(&x->groups, sb_str(&key));
	if (i == x->out->groups.n) {
		struct collective_group g = { .name = name,
			.description = text_of(d, s, FLIGHT_DESCRIPTION),
			.completed = -1,
			.all = -1,
			.any = -1 };
		add_members(x, &g, ranks);
		VEC_PUSH(x->a, &x->out->groups, g);
	}
	return i;
}

/* Returns the state of a call. Libraries of the NCCL family record the completion of a call, so a
 * call that is retired without completion has timed out. Other libraries, such as Gloo, retire a
 * call when it ends. */
static enum call_state state_of(const struct dump *d, const struct slice *s, struct str library)
{
	struct str state = text_of(d, s, FLIGHT_STATE);

	if (str_eq(state, S("completed")))
		return CALL_COMPLETED;
	if (number_of(d, s, FLIGHT_RETIRED))
		return str_contains(library, S("ccl")) ? CALL_TIMED_OUT : CALL_ENDED;
	return str_eq(state, S("started")) ? CALL_STARTED : CALL_SCHEDULED;
}

static void take_entry(struct collective_search *x, struct dump *d, struct slice *s)
{
	struct str name = trace_str(d->t, s->name);
	size_t colon = str_rfind_char(name, ':');

	slice_find_keys(s);
	struct collective_call c = { .rank = d->rank,
		.group = group_of(x, d, s),
		.seq = number_of(d, s, FLIGHT_SEQ),
		.record = number_of(d, s, FLIGHT_RECORD),
		.created = trace_ns(d->t, s->start),
		.p2p = number_of(d, s, FLIGHT_P2P) != 0,
		.state = state_of(d, s, str_sub(name, 0, colon == SIZE_MAX ? 0 : colon)),
		.name = str_sub(name, colon == SIZE_MAX ? 0 : colon + 1, SIZE_MAX),
		.input_sizes = text_of(d, s, FLIGHT_INPUT_SIZES),
		.input_types = text_of(d, s, FLIGHT_INPUT_TYPES),
		.output_sizes = text_of(d, s, FLIGHT_OUTPUT_SIZES),
		.output_types = text_of(d, s, FLIGHT_OUTPUT_TYPES),
		.line = slice_text(d->t, s, ARG_SOURCE) };
	VEC_PUSH(x->a, &x->out->calls, c);
}

static int64_t dump_rank(const struct trace *t)
{
	return t->processes.n ? t->processes.v[0].rank : -1;
}

/* Returns the number of each rank. A dump without a rank in its name gets a number after the
 * largest one. */
static int64_t *number_ranks(
        struct collective_search *x, const struct trace *const *dumps, size_t n)
{
	int64_t *numbers = ARENA_ARRAY(x->a, n, int64_t), next = 0;

	for (size_t i = 0; i < n; i++)
		next = dump_rank(dumps[i]) >= next ? num_add(dump_rank(dumps[i]), 1) : next;
	for (size_t i = 0; i < n; i++) {
		numbers[i] = dump_rank(dumps[i]);
		if (numbers[i] < 0) {
			numbers[i] = next;
			next = num_add(next, 1);
			x->out->unnamed++;
		}
		if (imap_put(&x->ranks, (uint64_t)numbers[i], 0, false))
			VEC_PUSH(x->a, &x->out->ranks, numbers[i]);
	}
	sort_array(x->a, x->out->ranks.v, x->out->ranks.n, sizeof *x->out->ranks.v, sort_ascending);
	for (size_t i = 0; i < x->out->ranks.n; i++)
		imap_put(&x->ranks, (uint64_t)x->out->ranks.v[i], (uint32_t)i, true);
	return numbers;
}

/* Sorts by group, then collectives before sends and receives. */
static int by_collective(const void *v, uint32_t a, uint32_t b)
{
	const struct collective_call *c = v, *p = &c[a], *q = &c[b];

	if (p->group != q->group)
		return p->group < q->group ? -1 : 1;
	if (p->p2p != q->p2p)
		return p->p2p ? 1 : -1;
	if (p->seq != q->seq)
		return p->seq < q->seq ? -1 : 1;
	if (p->rank != q->rank)
		return p->rank < q->rank ? -1 : 1;
	return (p->record > q->record) - (p->record < q->record);
}

/* Sorts the calls, and drops duplicates that occur in two dumps of a rank. */
static void sort_calls(struct collective_search *x)
{
	struct collectives *out = x->out;
	size_t n = 0;

	if (!out->calls.n)
		return;
	sort_array(x->a, out->calls.v, out->calls.n, sizeof *out->calls.v, by_collective);
	for (size_t i = 0; i < out->calls.n; i++) {
		if (n && !by_collective(out->calls.v, (uint32_t)n - 1, (uint32_t)i) &&
		        out->calls.v[n - 1].created == out->calls.v[i].created)
			out->twice++;
		else
			out->calls.v[n++] = out->calls.v[i];
	}
	out->calls.n = n;
}

/* ---- texts ---- */

static int64_t rank_at(const struct collective_search *x, uint32_t rank)
{
	return x->out->ranks.v[rank];
}

struct rank_list {
	int64_t *v;
	size_t n, cap;
};

/* Returns ascending numbers as text: "0-2, 5". */
static struct str ranks_text(const struct collective_search *x, const struct rank_list *of)
{
	struct sb b = sb_in(x->a);

	for (size_t i = 0, end; i < of->n; i = end) {
		for (end = i + 1; end < of->n && of->v[end] - of->v[end - 1] <= 1; end++)
			;
		sb_fmt(&b, "%s%lld", i ? ", " : "", (long long)of->v[i]);
		if (of->v[end - 1] > of->v[i])
			sb_fmt(&b, "%s%lld", of->v[end - 1] - of->v[i] > 1 ? "-" : ", ",
			        (long long)of->v[end - 1]);
	}
	return sb_str(&b);
}

static const char *rank_word(const struct rank_list *of)
{
	return of->n > 1 ? "ranks" : "rank";
}

/* ---- problems ---- */

/* Calls first to first + n of a collective, sorted by rank. */
struct together {
	struct collective_call *v;
	size_t n;
};

static int64_t earliest(const struct together *c)
{
	int64_t at = INT64_MAX;

	for (size_t i = 0; i < c->n; i++)
		at = c->v[i].created < at ? c->v[i].created : at;
	return at;
}

/* Adds a problem, or extends the last problem if both are equal. */
static void add_problem(struct collective_search *x, const struct collective_problem *p)
{
	struct collectives *out = x->out;
	struct collective_problem *last =
	        out->problems.n ? &out->problems.v[out->problems.n - 1] : NULL;

	if (last && (p->kind == PROBLEM_MISSING || p->kind == PROBLEM_RUNNING) &&
	        last->kind == p->kind && last->group == p->group && p->seq - last->last == 1 &&
	        str_eq(last->ranks, p->ranks) && str_eq(last->others, p->others)) {
		last->last = p->seq;
		return;
	}
	/* NOLINTNEXTLINE: the macro makes room first */
	VEC_PUSH(x->a, &out->problems, *p);
	out->groups.v[p->group].problems++;
}

static struct collective_problem problem_at(
        const struct together *c, enum collective_problem_kind kind)
{
	return (struct collective_problem){ .kind = kind,
		.group = c->v->group,
		.seq = c->v->seq,
		.last = c->v->seq,
		.at = earliest(c),
		.op = c->v->name,
		.line = c->v->line };
}

/* ---- mismatches ---- */

static bool is_op(const struct collective_call *c, const char *name)
{
	return str_eq(c->name, str_of(name));
}

/* True for operations to which ranks may pass different sizes. */
static bool is_uneven(const struct collective_call *c)
{
	return str_starts(c->name, S("all_to_all")) || str_contains(c->name, S("_v"));
}

/* The compared texts of a call: one for its inputs, one for its outputs. */
struct compared {
	struct str in, out;
};

static struct compared compared_op(const struct collective_call *c)
{
	return (struct compared){ .in = c->name };
}

/* Returns the compared sizes of a call. Leaves out the list that only the root passes. */
static struct compared compared_sizes(const struct collective_call *c)
{
	if (is_uneven(c))
		return (struct compared){ .in = STR_NONE };
	return (struct compared){ is_op(c, "scatter") ? STR_NONE : c->input_sizes,
		is_op(c, "gather") ? STR_NONE : c->output_sizes };
}

static struct compared compared_types(const struct collective_call *c)
{
	bool in = !is_op(c, "scatter") && !is_op(c, "broadcast");

	return (struct compared){ in ? c->input_types : STR_NONE,
		is_op(c, "gather") ? STR_NONE : c->output_types };
}

static bool all_equal(
        const struct together *c, struct compared (*of)(const struct collective_call *c))
{
	struct compared first = of(c->v);
	size_t i = 1;

	for (; i < c->n; i++) {
		struct compared other = of(&c->v[i]);
		if (!str_eq(first.in, other.in) || !str_eq(first.out, other.out))
			break;
	}
	return i >= c->n;
}

static struct str compared_text(const struct collective_search *x, struct compared of)
{
	if (!of.in.n || !of.out.n || str_eq(of.in, of.out))
		return of.in.n ? of.in : of.out;
	return str_fmt(x->a, "%.*s -> %.*s", STR(of.in), STR(of.out));
}

/* A text, and the ranks whose calls have it. */
struct variant {
	struct str text;
	struct rank_list ranks;
};

/* Adds a problem if the calls differ in a text. The problem lists the ranks without the most
 * frequent text, or all ranks if two texts are equally frequent. */
static bool find_variants(struct collective_search *x, const struct together *c,
        enum collective_problem_kind kind, struct compared (*of)(const struct collective_call *c))
{
	struct collective_problem p = problem_at(c, kind);
	VEC(struct variant) found = { 0 };
	struct rank_list ranks = { 0 };
	struct sb detail = sb_in(x->a);
	struct intern texts;
	size_t most = 0, ties = 0;

	if (all_equal(c, of))
		return false;
	intern_init(&texts, x->a);
	for (size_t i = 0; i < c->n; i++) {
		uint32_t at = intern_add(&texts, compared_text(x, of(&c->v[i])));
		if (at == found.n)
			VEC_PUSH(
			        x->a, &found, ((struct variant){ .text = intern_str(&texts, at) }));
		/* NOLINTNEXTLINE: found has an element for each text */
		VEC_PUSH(x->a, &found.v[at].ranks, rank_at(x, c->v[i].rank));
	}
	for (size_t i = 0; i < found.n; i++) {
		const struct variant *v = &found.v[i];
		most = v->ranks.n > found.v[most].ranks.n ? i : most;
		sb_fmt(&detail, "%s%.*s on %s %.*s", i ? ", " : "", STR(v->text),
		        rank_word(&v->ranks), STR(ranks_text(x, &v->ranks)));
	}
	for (size_t i = 0; i < found.n; i++)
		ties += found.v[i].ranks.n == found.v[most].ranks.n;
	for (size_t i = 0; i < c->n; i++)
		if (ties > 1 || !str_eq(compared_text(x, of(&c->v[i])), found.v[most].text))
			VEC_PUSH(x->a, &ranks, rank_at(x, c->v[i].rank));
	p.ranks = ranks_text(x, &ranks);
	p.others = ties > 1 ? STR_NONE : ranks_text(x, &found.v[most].ranks);
	p.detail = sb_str(&detail);
	add_problem(x, &p);
	return true;
}

/* Returns the number of elements of all tensors in "[[4, 3], [2]]". */
static double elements(struct str sizes)
{
	double sum = 0, product = 1;
	int64_t v;

	for (size_t i = 1, n; i < sizes.n; i += n ? n : 1) {
		for (n = 0; i + n < sizes.n && char_is_digit(sizes.p[i + n]); n++)
			;
		if (n && num_parse_i64(str_sub(sizes, i, n), &v))
			product *= (double)v;
		if (sizes.p[i] == '[')
			product = 1;
		else if (sizes.p[i] == ']' && sizes.p[i - 1] != ']')
			sum += product;
	}
	return sum;
}

/* Adds a problem if the sizes of an uneven operation do not match: all ranks together must receive
 * as many elements as they send. */
static bool find_unequal_sums(
        struct collective_search *x, const struct together *c, const struct collective_group *g)
{
	struct collective_problem p = problem_at(c, PROBLEM_SIZE);
	double in = 0, out = 0;

	if (!str_starts(c->v->name, S("all_to_all")) || c->n != g->members.n)
		return false;
	for (size_t i = 0; i < c->n; i++) {
		in += elements(c->v[i].input_sizes);
		out += elements(c->v[i].output_sizes);
	}
	if (!(in < out) && !(in > out))
		return false;
	p.detail = str_fmt(x->a, "all ranks send %.0f elements and receive %.0f", in, out);
	add_problem(x, &p);
	return true;
}

static bool find_mismatch(
        struct collective_search *x, const struct together *c, const struct collective_group *g)
{
	return find_variants(x, c, PROBLEM_OP, compared_op) ||
	       find_variants(x, c, PROBLEM_SIZE, compared_sizes) || find_unequal_sums(x, c, g) ||
	       find_variants(x, c, PROBLEM_TYPE, compared_types);
}

/* Compares the calls of all ranks that have the same place in a coalesced collective; in any other
 * collective, each rank has one call. */
static bool find_mismatches(
        struct collective_search *x, const struct together *c, const struct collective_group *g)
{
	int64_t *place = ARENA_ARRAY(x->a, c->n, int64_t);
	struct collective_call *v;
	size_t coalesced = 0;

	for (size_t i = 1; i < c->n; i++) {
		place[i] = c->v[i].rank == c->v[i - 1].rank ? place[i - 1] + 1 : 0;
		coalesced += place[i] > 0;
	}
	if (!coalesced)
		return find_mismatch(x, c, g);
	const uint32_t *order = keysort_new(x->a, c->n, place);
	v = ARENA_ARRAY(x->a, c->n, struct collective_call);
	for (size_t i = 0; i < c->n; i++)
		v[i] = c->v[order[i]];
	for (size_t i = 0, end; i < c->n; i = end) {
		for (end = i; end < c->n && place[order[end]] == place[order[i]]; end++)
			;
		if (find_mismatch(x, &(struct together){ v + i, end - i }, g))
			return true;
	}
	return false;
}

/* ---- collectives ---- */

/* Returns a sentence about the last call of a member. */
static struct str last_call(const struct collective_search *x, const struct collective_group *g,
        const struct collective_member *m, const struct together *all)
{
	size_t low = 0, high = all->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct collective_call *c = &all->v[mid];
		if (c->seq < m->to || (c->seq == m->to && c->rank <= m->rank))
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || m->to < 0)
		return str_fmt(x->a, "rank %lld called none of group %.*s", (long long)m->number,
		        STR(g->name));
	const struct collective_call *c = &all->v[low - 1];
	return str_fmt(x->a, "rank %lld called last: %.*s, collective %lld, %s%s%.*s",
	        (long long)m->number, STR(c->name), (long long)c->seq, call_states[c->state],
	        c->line.n ? ", at " : "", STR(c->line));
}

/* Adds a problem if members have not called a collective. */
static bool find_missing(
        struct collective_search *x, const struct together *c, const struct together *all)
{
	const struct collective_group *g = &x->out->groups.v[c->v->group];
	struct collective_problem p = problem_at(c, PROBLEM_MISSING);
	struct rank_list missing = { 0 }, others = { 0 };

	for (size_t i = 0; i < g->members.n; i++) {
		const struct collective_member *m = &g->members.v[i];
		if (m->rank == ID_NONE || m->to >= c->v->seq)
			continue;
		if (!missing.n)
			p.detail = last_call(x, g, m, all);
		VEC_PUSH(x->a, &missing, m->number);
	}
	if (!missing.n)
		return false;
	for (size_t i = 0; i < c->n; i++)
		if (!i || c->v[i].rank != c->v[i - 1].rank)
			VEC_PUSH(x->a, &others, rank_at(x, c->v[i].rank));
	p.ranks = ranks_text(x, &missing);
	p.others = ranks_text(x, &others);
	add_problem(x, &p);
	return true;
}

/* Adds a problem if some calls have timed out or have not ended. */
static void find_unfinished(struct collective_search *x, const struct together *c)
{
	struct rank_list late = { 0 }, running = { 0 }, others = { 0 };
	size_t n = 0;

	while (n < c->n && c->v[n].state >= CALL_ENDED)
		n++;
	for (size_t i = 0; n < c->n && i < c->n; i++) {
		int64_t number = rank_at(x, c->v[i].rank);
		if (c->v[i].state == CALL_TIMED_OUT)
			VEC_PUSH(x->a, &late, number);
		else if (!call_has_ended(&c->v[i]))
			VEC_PUSH(x->a, &running, number);
		else
			VEC_PUSH(x->a, &others, number);
	}
	if (!late.n && !running.n)
		return;
	struct collective_problem p = problem_at(c, late.n ? PROBLEM_TIMEOUT : PROBLEM_RUNNING);
	p.ranks = ranks_text(x, late.n ? &late : &running);
	p.others = ranks_text(x, &others);
	add_problem(x, &p);
}

/* Finds the first and last collective of each member, and how far the group is. */
static void find_ranges(
        const struct collective_search *x, struct collective_group *g, const struct together *all)
{
	struct collective_member **of =
	        ARENA_ARRAY(x->a, x->out->ranks.n, struct collective_member *);
	int64_t open = INT64_MAX;

	for (size_t i = 0; i < g->members.n; i++)
		if (g->members.v[i].rank != ID_NONE) {
			of[g->members.v[i].rank] = &g->members.v[i];
			g->dumps++;
		}
	for (size_t i = 0; i < all->n; i++) {
		const struct collective_call *c = &all->v[i];
		struct collective_member *m = of[c->rank];
		if (!call_has_ended(c) || c->state == CALL_TIMED_OUT)
			open = c->seq < open ? c->seq : open;
		if (!m)
			continue;
		m->from = c->seq < m->from ? c->seq : m->from;
		m->to = c->seq > m->to ? c->seq : m->to;
		g->any = c->seq > g->any ? c->seq : g->any;
	}
	g->all = g->any;
	for (size_t i = 0; i < g->members.n; i++)
		if (g->members.v[i].rank != ID_NONE && g->members.v[i].to < g->all)
			g->all = g->members.v[i].to;
	g->completed = open == INT64_MAX || open > g->all ? g->all : num_sub(open, 1);
}

/* Infers the members of a group whose members the dumps do not list: all ranks for the default
 * group, otherwise the ranks that called a collective of the group. */
static void guess_members(
        struct collective_search *x, struct collective_group *g, const struct together *all)
{
	bool world = str_eq(g->description, S("default_pg"));
	bool *called = ARENA_ARRAY(x->a, x->out->ranks.n, bool);

	for (size_t i = 0; i < all->n; i++)
		called[all->v[i].rank] = true;
	for (uint32_t i = 0; i < x->out->ranks.n; i++)
		if (world || called[i])
			add_member(x, g, rank_at(x, i));
}

static void find_collectives(struct collective_search *x, const struct together *all)
{
	struct collective_group *g = &x->out->groups.v[all->v->group];

	if (!g->known)
		guess_members(x, g, all);
	find_ranges(x, g, all);
	for (size_t i = 0, end; i < all->n; i = end) {
		for (end = i; end < all->n && all->v[end].seq == all->v[i].seq; end++)
			;
		struct together c = { all->v + i, end - i };
		bool missing = find_missing(x, &c, all);
		if (!find_mismatches(x, &c, g) && !missing)
			find_unfinished(x, &c);
	}
}

/* ---- sends and receives ---- */

/* Counts sends and receives between two ranks of a group that have not ended. */
struct peer_pair {
	const struct collective_call *call; /* the first such call */
	int64_t from, to;                   /* numbers of the two ranks in the group */
	uint64_t sends, receives;
};

/* Reads "send 0->1" or "recv 1<-0". The source of a receive may be unknown: "?". */
static bool read_pair(const struct collective_call *c, int64_t *from, int64_t *to)
{
	bool send = str_starts(c->name, S("send "));
	struct str text = str_sub(c->name, 5, SIZE_MAX);
	size_t at = str_find(text, send ? S("->") : S("<-"));

	if ((!send && !str_starts(c->name, S("recv "))) || at == SIZE_MAX)
		return false;
	return num_parse_i64(str_sub(text, 0, at), send ? from : to) &&
	       num_parse_i64(str_sub(text, at + 2, SIZE_MAX), send ? to : from);
}

static bool has_member(const struct collective_group *g, int64_t at)
{
	return at >= 0 && (uint64_t)at < g->members.n && g->members.v[at].rank != ID_NONE;
}

static void add_pair(struct collective_search *x, const struct peer_pair *k)
{
	const struct together one = { (struct collective_call *)k->call, 1 };
	const struct collective_group *g = &x->out->groups.v[k->call->group];
	struct collective_problem p = problem_at(&one, PROBLEM_PEER);

	if (k->sends == k->receives || !has_member(g, k->from) || !has_member(g, k->to))
		return;
	long long from = g->members.v[k->from].number, to = g->members.v[k->to].number;
	bool receiver = k->sends > k->receives;
	p.ranks = str_fmt(x->a, "%lld", receiver ? to : from);
	p.others = str_fmt(x->a, "%lld", receiver ? from : to);
	p.detail = str_fmt(x->a,
	        "not ended: %llu to rank %lld on rank %lld, %llu from rank %lld on rank %lld",
	        (unsigned long long)k->sends, to, from, (unsigned long long)k->receives, from, to);
	add_problem(x, &p);
}

/* Adds problems for sends and receives of a group that have not ended and have no counterpart. */
static void find_pairs(struct collective_search *x, const struct together *all)
{
	VEC(struct peer_pair) pairs = { 0 };
	struct intern keys;

	intern_init(&keys, x->a);
	for (size_t i = 0; i < all->n; i++) {
		int64_t pair[2];
		if (call_has_ended(&all->v[i]) || !read_pair(&all->v[i], &pair[0], &pair[1]))
			continue;
		uint32_t at = intern_add(&keys, str_make(pair, sizeof pair));
		if (at == pairs.n)
			VEC_PUSH(x->a, &pairs,
			        ((struct peer_pair){ &all->v[i], pair[0], pair[1], 0, 0 }));
		if (str_starts(all->v[i].name, S("send")))
			pairs.v[at].sends++;
		else
			pairs.v[at].receives++;
	}
	for (size_t i = 0; i < pairs.n; i++)
		add_pair(x, &pairs.v[i]);
}

/* ---- the whole ---- */

static int by_time(const void *v, uint32_t a, uint32_t b)
{
	const struct collective_problem *p = v;
	bool first = p[a].kind == PROBLEM_RUNNING, second = p[b].kind == PROBLEM_RUNNING;

	if (first != second)
		return first ? 1 : -1;
	return (p[a].at > p[b].at) - (p[a].at < p[b].at);
}

void collectives_find(
        const struct trace *const *dumps, size_t n, struct collectives *out, struct arena *a)
{
	struct collective_search x = { .out = out, .a = a };
	struct dump d;
	uint32_t rank;

	*out = (struct collectives){ 0 };
	intern_init(&x.groups, a);
	imap_init(&x.ranks, a);
	const int64_t *numbers = number_ranks(&x, dumps, n);
	for (size_t i = 0; i < n; i++) {
		imap_get(&x.ranks, (uint64_t)numbers[i], &rank);
		open_dump(&x, &d, dumps[i], rank);
		each_slice(&x, &d, false, take_ranks);
		each_slice(&x, &d, true, take_entry);
	}
	sort_calls(&x);
	for (size_t i = 0, end; i < out->calls.n; i = end) {
		const struct collective_call *c = &out->calls.v[i];
		for (end = i; end < out->calls.n && out->calls.v[end].group == c->group &&
		              out->calls.v[end].p2p == c->p2p;)
			end++;
		struct together all = { out->calls.v + i, end - i };
		if (c->p2p)
			find_pairs(&x, &all);
		else
			find_collectives(&x, &all);
	}
	sort_array(a, out->problems.v, out->problems.n, sizeof *out->problems.v, by_time);
}
