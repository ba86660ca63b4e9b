/* SPDX-License-Identifier: Apache-2.0
 *
 * The command collectives.
 */
#include "lib/command.h"

#include "export/table/collectives_out.h"

/* Sets a bit for each kind of problem that the values of --fail-on name. */
static bool read_rules(struct session *s, const struct strs *fail_on, unsigned *kinds)
{
	*kinds = 0;
	for (size_t i = 0; i < fail_on->n; i++) {
		unsigned k = 0;
		while (k < PROBLEM_N && !str_eq(fail_on->v[i], collective_problem_names[k]))
			k++;
		if (k == PROBLEM_N)
			return session_fail(s, ERR_INVALID_ARGUMENT,
			        "--fail-on: '%.*s' is not a problem: op, size, dtype, missing, "
			        "timeout, peer or running was expected",
			        STR(fail_on->v[i]));
		*kinds |= 1u << k;
	}
	return true;
}

static bool check_rules(struct session *s, unsigned kinds, const struct collectives *x)
{
	for (size_t i = 0; i < x->problems.n; i++) {
		const struct collective_problem *p = &x->problems.v[i];
		if (kinds >> p->kind & 1)
			return session_fail(s, ERR_FAILED,
			        "collective %lld of group %.*s has the problem %.*s (--fail-on)",
			        (long long)p->seq, STR(x->groups.v[p->group].name),
			        STR(collective_problem_names[p->kind]));
	}
	return true;
}

static void add_notes(struct session *s, const struct collectives *x)
{
	uint64_t guessed = 0, absent = 0;

	for (size_t i = 0; i < x->groups.n; i++) {
		guessed += !x->groups.v[i].known;
		absent += x->groups.v[i].members.n - x->groups.v[i].dumps;
	}
	note_count(&s->notes, guessed,
	        "note: the dumps do not list the ranks of %llu {group|groups}: tfprof assumes "
	        "all ranks for default_pg, and for any other group the ranks that made its calls\n",
	        (unsigned long long)guessed);
	note_count(&s->notes, absent,
	        "note: %llu {rank|ranks} of groups {has|have} no dump: {its|their} calls are "
	        "unknown\n",
	        (unsigned long long)absent);
	note_count(&s->notes, x->unnamed,
	        "note: %llu {dump has|dumps have} no rank in the file name: {it is|they are} "
	        "numbered after the others\n",
	        (unsigned long long)x->unnamed);
	note_count(&s->notes, x->twice,
	        "note: %llu {call is|calls are} in two dumps of the same rank: {it is|they are} "
	        "counted once\n",
	        (unsigned long long)x->twice);
}

bool check_collectives(struct session *s, const struct request *r)
{
	unsigned kinds;

	return r->help || read_rules(s, &r->fail_on, &kinds);
}

bool run_collectives(struct session *s, const struct request *r, struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);
	struct arena *a = &s->query_arena;
	size_t n = 0;
	const struct model_trace *v = session_traces(s, &n);
	struct collectives x;
	unsigned kinds;

	if (!v || !read_rules(s, &r->fail_on, &kinds))
		return false;
	const struct trace **dumps = ARENA_ARRAY(a, n, const struct trace *);
	for (size_t i = 0; i < n; i++) {
		if (v[i].t->source != TRACE_FLIGHT)
			return session_fail(s, ERR_FAILED,
			        "collectives needs dumps of PyTorch's Flight Recorder\n"
			        "hint: of a trace, 'devices' and 'why "
			        "--cause=exposed_communication' show the communication");
		dumps[i] = v[i].t;
	}
	collectives_find(dumps, n, &x, a);
	if (!x.calls.n)
		return session_fail(s, ERR_FAILED, "no collectives are recorded");
	add_notes(s, &x);
	return collectives_write(&x, (size_t)r->top, &r->opts, s->columns, &to, &s->error) &&
	       check_rules(s, kinds, &x);
}
