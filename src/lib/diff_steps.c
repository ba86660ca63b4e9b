/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps as sides: PATH@11, PATH@3..9, PATH@slowest, PATH@fastest, PATH@median.
 */
#include <unistd.h>

#include "lib/diff.h"
#include "view/facts.h"

enum rank { RANK_SLOWEST, RANK_FASTEST, RANK_MEDIAN, RANK_N };

static enum rank rank_of(struct str word)
{
	static const char *const names[] = {
		[RANK_SLOWEST] = "slowest", [RANK_FASTEST] = "fastest", [RANK_MEDIAN] = "median"
	};
	enum rank i = 0;

	while (i < RANK_N && !str_eq(word, str_of(names[i])))
		i++;
	return i;
}

struct str diff_side_path(struct session *s, struct str word, struct str *step)
{
	size_t at = word.n;

	*step = STR_NONE;
	while (at > 0 && word.p[at - 1] != '@' && word.p[at - 1] != '/')
		at--;
	if (at < 2 || word.p[at - 1] != '@' || access(str_z(&s->query_arena, word), F_OK) == 0)
		return word;
	*step = str_sub(word, at, SIZE_MAX);
	return str_sub(word, 0, at - 1);
}

bool diff_check_step(struct session *s, struct str word, struct str step)
{
	struct err e = { .a = &s->query_arena };
	struct step_set set;
	int64_t one;

	if (!step.n || rank_of(step) != RANK_N)
		return true;
	if (num_parse_i64(step, &one) ? one >= 0 : steps_parse(&set, &s->query_arena, step, &e))
		return true;
	return session_fail(s, ERR_INVALID_ARGUMENT,
	        "'%.*s': '%.*s' is not a step: N, N..M, slowest, fastest or median expected",
	        STR(word), STR(step));
}

bool diff_choose_step(struct session *s, struct str step, struct opts *o)
{
	struct arena *a = &s->query_arena;
	enum rank rank = rank_of(step);
	int64_t one;
	size_t n;

	if (!step.n)
		return true;
	o->step = -1;
	o->steps = (struct step_set){ 0 };
	if (rank == RANK_N) {
		if (!num_parse_i64(step, &one))
			return steps_parse(&o->steps, a, step, &s->error);
		o->step = one;
		return true;
	}
	if (!session_need_steps(s, o) || !session_seal(s))
		return false;
	const struct step_time *v = facts_steps(&s->model, &n, a);
	if (!n)
		return session_fail(
		        s, ERR_FAILED, "no steps are loaded: '@%.*s' needs one", STR(step));
	o->step = v[rank == RANK_SLOWEST ? n - 1 : rank == RANK_FASTEST ? 0 : (n - 1) / 2].id;
	note_line(&s->notes, "the %.*s step is %lld\n", STR(step), (long long)o->step);
	return true;
}
