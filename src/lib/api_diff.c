/* SPDX-License-Identifier: Apache-2.0
 *
 * The public interface: the difference of two sessions, which are the jobs left and right of the
 * command diff while it runs.
 */
#include "lib/api_internal.h"

struct comparing {
	const struct tfp_str *words;
	size_t n;
	const struct tfp_run *run;
};

/* Returns the word for a side, with its step if there is one: "left@3". */
static struct str side_word(const struct strs *words, struct str side)
{
	for (size_t i = 0; i < words->n; i++)
		if (str_starts(words->v[i], side) &&
		        (words->v[i].n == side.n || words->v[i].p[side.n] == '@'))
			return words->v[i];
	return side;
}

static void read_words(struct session *s, const struct comparing *x, struct request *r)
{
	struct strs words = { 0 };

	for (size_t i = 0; i < x->n; i++)
		strs_add(&s->query_arena, &words, api_str(x->words[i].data, x->words[i].size));
	struct str left = side_word(&words, S("left")), right = side_word(&words, S("right"));
	strs_add(&s->query_arena, &r->topics, left);
	strs_add(&s->query_arena, &r->topics, right);
	for (size_t i = 0; i < words.n; i++)
		if (words.v[i].p != left.p && words.v[i].p != right.p)
			strs_add(&s->query_arena, &r->topics, words.v[i]);
}

static bool compare(struct tfp_session *t, void *arg)
{
	const struct comparing *x = arg;
	struct session *s = t->s;
	struct tfp_run how;

	if (!api_take(&how, sizeof how, x->run))
		return api_fail_size(s, "struct tfp_run");
	struct request r = { .command = cmd_find(s, S("diff")) };
	read_words(s, x, &r);
	struct sink *out = api_receiver(t, how.text, how.text_user);
	bool ok = r.command->run(s, &r, out);
	return sink_close(out, &s->error) && ok;
}

int tfp_diff(struct tfp_session *t, struct tfp_session *other, const struct tfp_str *words,
        size_t n, const struct tfp_run *run)
{
	struct comparing x = { words, words ? n : 0, run };

	if (!t || !other)
		return TFP_E_INVALID_ARGUMENT;
	return api_call_with(t, other, compare, &x);
}
