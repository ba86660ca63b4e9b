/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps as sides: PATH@11, PATH@3..9, PATH@slowest, PATH@fastest, PATH@median.
 */
#include <unistd.h>

#include "lib/diff.h"

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

	if (!step.n || step_rank_of(step) != STEP_RANK_NONE)
		return true;
	if (num_parse_i64(step, &one) ? one >= 0 : steps_parse(&set, &s->query_arena, step, &e))
		return true;
	return session_fail(s, ERR_INVALID_ARGUMENT,
	        "'%.*s': '%.*s' is not a step: N, N..M, slowest, fastest or median expected",
	        STR(word), STR(step));
}

bool diff_choose_step(struct session *s, struct str step, struct opts *o)
{
	int64_t one;

	if (step.n) {
		o->step = -1;
		o->steps = (struct step_set){ 0 };
		o->rank = step_rank_of(step);
		if (o->rank == STEP_RANK_NONE && !num_parse_i64(step, &one))
			return steps_parse(&o->steps, &s->query_arena, step, &s->error);
		if (o->rank == STEP_RANK_NONE)
			o->step = one;
	}
	return session_rank_step(s, o);
}
