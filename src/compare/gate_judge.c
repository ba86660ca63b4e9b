/* SPDX-License-Identifier: Apache-2.0
 *
 * See gate.h.
 */
#include "compare/gate.h"

#include "base/fmt.h"
#include "base/sort.h"
#include "base/statistics.h"

#define CULPRITS_MAX 3

/* An entry whose numbers break a rule, and its test over steps. */
struct suspect {
	uint32_t entry;
	double p;    /* negative: no test was made */
	size_t n[2]; /* number of steps in the test */
};

struct judge {
	const struct gate_ask *ask;
	const struct gate *g;
	struct compare c; /* the last comparison made */
	struct arena *a;
	size_t subjects; /* entries the rule applies to */
	VEC(struct suspect) broken;
	struct suspect noise; /* the last entry excused by its steps; entry ID_NONE: none */
	struct sb text;
};

static int64_t value_of(const struct judge *j, uint32_t side, uint32_t i)
{
	const int64_t *total = compare_total(&j->c, side, i);

	return total ? total[0] : 0;
}

static int64_t base_of(const struct judge *j, uint32_t i)
{
	return value_of(j, 0, i);
}

static int64_t now_of(const struct judge *j, uint32_t i)
{
	return value_of(j, j->c.sides - 1, i);
}

static bool compare(struct judge *j, const struct view_ops *view, bool with_steps)
{
	return j->ask->compare(j->ask->user, view, j->g->metric, with_steps, &j->c);
}

/* ---- steps ---- */

/* Collects the numbers of an entry in each step in which it ran. */
static struct sample step_values(struct judge *j, uint32_t side, uint32_t entry)
{
	const int64_t *total = compare_total(&j->c, side, entry);
	uint32_t all = j->c.side[side]->values.n;
	double *v = ARENA_ARRAY(j->a, all, double);
	size_t n = 0;

	for (uint32_t k = 2; total && k + 1 < all; k += 2)
		if (total[k + 1] > 0)
			v[n++] = (double)total[k];
	return sample_of(v, n);
}

static void test(struct judge *j, struct suspect *x)
{
	struct sample a = step_values(j, 0, x->entry), b = step_values(j, j->c.sides - 1, x->entry);

	if (a.n < 1 || b.n < 1 || a.n + b.n < 3)
		return;
	x->p = j->g->less ? welch_above(&a, &b) : welch_above(&b, &a);
	x->n[0] = a.n;
	x->n[1] = b.n;
}

/* True if an unchanged number would satisfy the rule. Noise excuses no rule that demands a change.
 */
static bool forgives(const struct gate *g)
{
	double limit = g->percent ? g->share : (double)g->amount;

	return g->change && (g->less ? limit >= 0 : limit <= 0);
}

/* Removes suspects whose change is within the variation between steps. */
static bool excuse(struct judge *j)
{
	size_t n = 0;

	if (!j->broken.n || j->ask->texts || !forgives(j->g) || j->ask->steps < 3 ||
	        metrics[j->g->metric].value >= V_RECORDED)
		return true;
	if (!compare(j, &views[j->g->view], true))
		return false;
	for (size_t i = 0; i < j->broken.n; i++) {
		struct suspect x = j->broken.v[i];
		test(j, &x);
		if (x.p > j->ask->level)
			j->noise = x;
		else
			j->broken.v[n++] = x;
	}
	j->broken.n = n;
	return true;
}

/* ---- sentences ---- */

static void put_change(struct judge *j, int64_t base, int64_t now)
{
	enum quantity unit = metric_quantity(j->g->metric);
	struct sb *b = &j->text;

	fmt_quantity(b, unit, base, false);
	sb_put(b, S(" -> "));
	fmt_quantity(b, unit, now, false);
	sb_put(b, S(" ("));
	fmt_quantity(b, unit, num_sub(now, base), true);
	if (base) {
		double share =
		        ((double)now - (double)base) / (base < 0 ? -(double)base : (double)base);
		sb_put(b, share < 0 ? S(", ") : S(", +"));
		fmt_fixed2(b, share * 100);
		sb_char(b, '%');
	} else if (now) {
		sb_put(b, S(", x\xe2\x88\x9e"));
	}
	sb_char(b, ')');
}

static void put_test(struct judge *j, const struct suspect *x)
{
	struct sb *b = &j->text;

	if (x->p < 0)
		return;
	sb_fmt(b, "; Welch's t-test, one-sided, over %zu and %zu steps: p = ", x->n[0], x->n[1]);
	fmt_general(b, x->p, 2);
	sb_put(b, S(", level "));
	fmt_general(b, j->ask->level, 3);
}

/* Returns an entry's own contribution against the rule: its change, or its number. */
static int64_t worse(const struct judge *j, uint32_t i)
{
	const int64_t *a = compare_self(&j->c, 0, i), *b = compare_self(&j->c, j->c.sides - 1, i);
	int64_t change = num_sub(b ? b[0] : 0, a && j->g->change ? a[0] : 0);

	return j->g->less ? change : num_sub(0, change);
}

/* Finds the entries at and below a failing one whose own numbers changed most; for op, the nodes of
 * that type in the scope view. */
static void put_causes(struct judge *j, uint32_t from, uint32_t end, struct str type)
{
	uint32_t most[CULPRITS_MAX];
	size_t n = 0;

	for (uint32_t i = from; i < end; i++) {
		if (type.n && !str_eq(compare_type(&j->c, i), type))
			continue;
		size_t k = n < CULPRITS_MAX ? n : CULPRITS_MAX;
		if (worse(j, i) <= 0)
			continue;
		while (k > 0 && worse(j, most[k - 1]) < worse(j, i))
			k--;
		if (k == CULPRITS_MAX)
			continue;
		n += n < CULPRITS_MAX;
		memmove(most + k + 1, most + k, (n - 1 - k) * sizeof *most);
		most[k] = i;
	}
	for (size_t k = 0; k < n; k++) {
		sb_put(&j->text, k ? S(", ") : S("; caused by "));
		sb_put_name(&j->text, j->c.name[most[k]]);
		sb_put(&j->text, S(" ("));
		fmt_quantity(&j->text, metric_quantity(j->g->metric),
		        j->g->less ? worse(j, most[k]) : num_sub(0, worse(j, most[k])),
		        j->g->change);
		sb_char(&j->text, ')');
	}
}

/* ---- one gate ---- */

static bool is_subject(struct judge *j, struct pattern_list *l, uint32_t i)
{
	uint32_t last = j->c.sides - 1;

	if (j->g->total || i == 0)
		return j->g->total && i == 0;
	return pattern_match(l, j->c.name[i]) ||
	       (compare_has(&j->c, last, i) &&
	               pattern_match(l, side_given(j->c.side[last], j->c.at[last][i])));
}

static void find_broken(struct judge *j, struct pattern_list *l)
{
	for (uint32_t i = 0; i < j->c.n; i++) {
		if (!is_subject(j, l, i))
			continue;
		struct suspect x = { i, -1, { 0, 0 } };
		j->subjects++;
		if (!gate_holds(j->g, base_of(j, i), now_of(j, i)))
			VEC_PUSH(j->a, &j->broken, x);
		else if (j->subjects == 1)
			put_change(j, base_of(j, i), now_of(j, i));
	}
}

static int by_worse(const void *ctx, uint32_t a, uint32_t b)
{
	const struct judge *j = ctx;
	uint32_t i = j->broken.v[a].entry, k = j->broken.v[b].entry;
	int64_t x = num_sub(now_of(j, i), base_of(j, i)), y = num_sub(now_of(j, k), base_of(j, k));

	return j->g->less ? (x < y) - (x > y) : (x > y) - (x < y);
}

static void put_suspect(struct judge *j, const struct suspect *x)
{
	if (!j->g->total) {
		sb_put_name(&j->text, j->c.name[x->entry]);
		sb_char(&j->text, ' ');
	}
	put_change(j, base_of(j, x->entry), now_of(j, x->entry));
	put_test(j, x);
}

static bool put_broken(struct judge *j)
{
	const uint32_t *order =
	        sort_order(j->a, j->broken.n, by_worse, j); /* largest violation first */
	uint32_t worst = j->broken.v[order[0]].entry;
	struct str name = j->c.name[worst];

	for (size_t k = 0; k < j->broken.n && k < CULPRITS_MAX; k++) {
		if (k)
			sb_put(&j->text, S("; "));
		put_suspect(j, &j->broken.v[order[k]]);
	}
	if (j->broken.n > CULPRITS_MAX)
		sb_fmt(&j->text, "; and %zu more", (size_t)j->broken.n - CULPRITS_MAX);
	if (!view_is(j->g->view, VIEW_LIST)) {
		if (j->c.end[worst] > worst + 1)
			put_causes(j, worst, j->c.end[worst], STR_NONE);
		return true;
	}
	if (j->ask->texts)
		return true;
	if (!compare(j, view_with(VIEW_PATHS), false))
		return false;
	put_causes(j, 1, j->c.n, name);
	return true;
}

static bool judge_one(struct judge *j, struct pattern_list *l, struct gate_result *to)
{
	find_broken(j, l);
	if (pattern_failed(l, j->ask->e) || !excuse(j))
		return false;
	to->rule = j->g->text;
	to->holds = j->subjects && !j->broken.n;
	if (j->subjects != 1 || !to->holds || j->noise.entry != ID_NONE)
		j->text.n = 0;
	if (!j->subjects) {
		sb_put(&j->text, S("no node matches"));
	} else if (j->broken.n) {
		if (!put_broken(j))
			return false;
	} else if (j->noise.entry != ID_NONE) {
		sb_put(&j->text, S("within the spread of the steps: "));
		put_suspect(j, &j->noise);
	} else if (j->subjects > 1) {
		sb_fmt(&j->text, "%zu nodes", j->subjects);
	}
	to->text = sb_str(&j->text);
	return true;
}

bool gate_judge(
        const struct gate *g, const struct gate_ask *ask, struct arena *a, struct gate_result *to)
{
	struct judge j = { .ask = ask, .g = g, .a = a, .text = sb_in(a), .noise.entry = ID_NONE };
	struct strs pattern = { 0 };
	struct pattern_list *l;

	strs_add(a, &pattern, g->pattern);
	if (!pattern_compile(&l, a, &pattern, ask->e))
		return false;
	bool ok = compare(&j, &views[g->view], false) && judge_one(&j, l, to);
	pattern_free(l);
	return ok;
}
