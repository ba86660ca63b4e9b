/* SPDX-License-Identifier: Apache-2.0
 *
 * Evaluates gates.
 */
#include "compare/gate.h"

#include <math.h>

#include "base/fmt.h"
#include "base/sort.h"
#include "compare/difference.h"

#define CULPRITS_MAX 3
#define NEEDED_MAX   10000 /* a larger number of needed steps is not printed */

/* Reasons for an inconclusive result. */
enum doubt {
	DOUBT_WIDE,     /* the interval contains the limit */
	DOUBT_FEW,      /* there are too few steps for a test */
	DOUBT_OUTLIERS, /* the interval and the average are on different sides of the limit */
	DOUBT_MANY      /* the certainty is too low for the number of subjects */
};

/* An entry to which a rule applies, and its result. */
struct subject {
	uint32_t entry;
	enum gate_verdict verdict;
	enum doubt doubt; /* reason of an inconclusive verdict */
	enum shift_test
	        test;  /* SHIFT_NONE: the numbers alone decided, or there are too few steps */
	bool measured; /* true: the average satisfies the rule */
	size_t n[2];   /* number of steps of each side */
	double low, high, detects;
	size_t needed;
};

struct judge {
	const struct gate_request *request;
	const struct gate *g;
	struct compare c; /* the last comparison */
	struct noise_request noise;
	struct arena *a;
	size_t subjects; /* number of entries to which the rule applies */
	VEC(struct subject) failing, undecided;
	struct subject last; /* the last subject */
	double detects;      /* the largest value of all subjects */
	struct sb text;
	struct str lack; /* reason why a side does not have the number; p is NULL if all sides have
	                    it */
};

const char *gate_verdict_name(enum gate_verdict verdict)
{
	static const char *const names[] = {
		[GATE_HOLDS] = "holds", [GATE_FAILS] = "fails", [GATE_INCONCLUSIVE] = "inconclusive"
	};

	return names[verdict];
}

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

/* Returns the whole of which the numbers of the last side are parts: the root's total or, of a list
 * without one, the sum. */
static int64_t whole_of(const struct judge *j)
{
	int64_t whole = now_of(j, 0);

	for (uint32_t i = 1; i < j->c.n && view_is(j->g->view, VIEW_LIST) && !now_of(j, 0); i++)
		whole = num_add(whole, now_of(j, i));
	return whole;
}

/* Returns the number of parts of a unit in which the numbers are stored. */
static int64_t parts_of(const struct judge *j)
{
	return compare_parts(&j->c, metrics[j->g->metric].value);
}

static bool compare(struct judge *j, const struct view_ops *view, bool with_steps)
{
	return j->request->compare(j->request->user, view, j->g, with_steps, &j->c, &j->lack);
}

/* ---- steps ---- */

/* True if the rule is about a number that may differ from step to step. */
static bool may_vary(const struct gate *g)
{
	return g->change && metrics[g->metric].value < V_RECORDED;
}

/* Returns the limit as a change: relative, or in the parts of the numbers. */
static double limit_of(const struct judge *j)
{
	return j->g->percent ? j->g->share : (double)j->g->amount * (double)parts_of(j);
}

/* Returns a relative change on a scale on which changes add up; an absolute change unchanged. */
static double scaled(const struct gate *g, double change)
{
	return g->percent ? log1p(change) : change;
}

/* Computes the changes that the steps can show, and the number of steps that would decide. The
 * interval becomes shorter with the square root of the number of steps. */
static void plan(const struct judge *j, const struct shift *s, struct subject *x)
{
	const struct gate *g = j->g;

	x->detects = INFINITY;
	if (!shift_interval(s, &x->low, &x->high)) {
		x->low = g->percent ? -1 : -INFINITY;
		x->high = INFINITY;
	}
	double low = scaled(g, x->low), high = scaled(g, x->high), half = (high - low) / 2;
	double gap = fabs(scaled(g, limit_of(j)) - (low + high) / 2);
	if (!isfinite(half))
		return;
	x->detects = !g->percent ? half : g->less ? expm1(half) : -expm1(-half);
	size_t most = x->n[0] > x->n[1] ? x->n[0] : x->n[1];
	double needed = ceil((double)most * (half / gap) * (half / gap));
	if (x->verdict == GATE_INCONCLUSIVE && x->doubt == DOUBT_WIDE && needed <= NEEDED_MAX)
		x->needed = (size_t)needed > most ? (size_t)needed : most + 1;
}

/* True if the steps exclude that the change is within the limit, even with the given number of
 * subjects. */
static bool surely_beyond(const struct judge *j, const struct subject *x)
{
	struct noise_request strict = j->noise;
	struct shift s;

	strict.level /= (double)j->subjects;
	if (!noise_shift(&strict, j->c.sides - 1, x->entry, 0, j->g->percent, &s))
		return false;
	double p = j->g->less ? shift_above(&s, limit_of(j)) : shift_below(&s, limit_of(j));
	return p <= strict.level / 2;
}

/* Judges by the test of the steps and the average. */
static void judge_test(const struct judge *j, const struct shift *s, struct subject *x)
{
	double limit = limit_of(j), enough = j->noise.level / 2;
	bool above = shift_above(s, limit) <= enough, below = shift_below(s, limit) <= enough;
	bool within = j->g->less ? below : above, beyond = j->g->less ? above : below;

	x->verdict = GATE_INCONCLUSIVE;
	if (within && x->measured)
		x->verdict = GATE_HOLDS;
	else if (beyond && !x->measured && (j->subjects == 1 || surely_beyond(j, x)))
		x->verdict = GATE_FAILS;
	else if (beyond && !x->measured)
		x->doubt = DOUBT_MANY;
	else if (within || beyond)
		x->doubt = DOUBT_OUTLIERS;
}

static void judge_steps(struct judge *j, struct subject *x)
{
	uint32_t last = j->c.sides - 1;
	struct shift s;

	bool tested = noise_shift(&j->noise, last, x->entry, 0, j->g->percent, &s);
	x->n[0] = s.x.n;
	x->n[1] = s.y.n;
	if (tested && !s.constant) {
		x->test = s.test;
		judge_test(j, &s, x);
		noise_shift(&j->noise, last, x->entry, 0, j->g->percent, &s); /* of this level */
		plan(j, &s, x);
	} else if (!tested && metrics[j->g->metric].unit == UNIT_TIME) {
		x->verdict = GATE_INCONCLUSIVE;
		x->doubt = DOUBT_FEW;
		x->needed = shift_least_steps(j->noise.level);
	}
}

static struct subject judge_entry(struct judge *j, uint32_t i)
{
	int64_t base = base_of(j, i), now = now_of(j, i);
	struct subject x = { .entry = i,
		.measured = gate_holds(j->g, parts_of(j), base, now, whole_of(j)) };

	x.verdict = x.measured ? GATE_HOLDS : GATE_FAILS;
	if (may_vary(j->g) && (base || now) && compare_has(&j->c, 0, i) &&
	        compare_has(&j->c, j->c.sides - 1, i))
		judge_steps(j, &x);
	return x;
}

/* ---- sentences ---- */

/* Appends "4.52ms of 12.0ms (37.67%)". */
static void put_part(struct judge *j, int64_t now)
{
	enum quantity unit = metric_quantity(j->g->metric);
	int64_t whole = whole_of(j);

	fmt_quantity_in(&j->text, unit, now, parts_of(j), false);
	sb_put(&j->text, S(" of "));
	fmt_quantity_in(&j->text, unit, whole, parts_of(j), false);
	sb_put(&j->text, S(" ("));
	fmt_fixed2(&j->text, whole ? 100 * (double)now / (double)whole : 0);
	sb_put(&j->text, S("%)"));
}

static void put_change(struct judge *j, int64_t base, int64_t now)
{
	enum quantity unit = metric_quantity(j->g->metric);
	int64_t parts = parts_of(j);
	struct sb *b = &j->text;

	if (j->c.sides == 1) {
		fmt_quantity_in(b, unit, now, parts, false);
		return;
	}
	fmt_quantity_in(b, unit, base, parts, false);
	sb_put(b, S(" -> "));
	fmt_quantity_in(b, unit, now, parts, false);
	sb_put(b, S(" ("));
	fmt_quantity_in(b, unit, num_sub(now, base), parts, true);
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

/* Appends a change with its sign, such as +3.50%. Without is_signed, appends a size. */
static void put_shift(struct judge *j, double change, bool is_signed)
{
	if (isinf(change)) {
		sb_put(&j->text, change < 0 ? S("-\xe2\x88\x9e") : S("+\xe2\x88\x9e"));
	} else if (j->g->percent) {
		if (is_signed && change >= 0)
			sb_char(&j->text, '+');
		fmt_fixed2(&j->text, change * 100);
		sb_char(&j->text, '%');
	} else {
		fmt_quantity_in(&j->text, metric_quantity(j->g->metric), (int64_t)llround(change),
		        parts_of(j), is_signed);
	}
}

static void put_detects(struct judge *j, double detects)
{
	if (isinf(detects)) {
		sb_put(&j->text, S("these steps cannot show any change"));
		return;
	}
	sb_put(&j->text, S("these steps can show a change of "));
	put_shift(j, detects, false);
}

static void put_test(struct judge *j, const struct subject *x)
{
	struct sb *b = &j->text;

	if (x->test != SHIFT_NONE) {
		sb_put(b, S("; "));
		fmt_general(b, 100 * (1 - j->noise.level), 4);
		sb_put(b, S("% interval "));
		put_shift(j, x->low, true);
		sb_put(b, S(" to "));
		put_shift(j, x->high, true);
		sb_fmt(b, " (%s, %zu and %zu steps); ",
		        x->test == SHIFT_RANKS ? "rank test" : "Welch's t-test", x->n[0], x->n[1]);
		put_detects(j, x->detects);
	} else if (x->verdict == GATE_INCONCLUSIVE) {
		sb_fmt(b, "; %zu and %zu steps are too few to show how much steps vary", x->n[0],
		        x->n[1]);
	}
	if (x->verdict != GATE_INCONCLUSIVE)
		return;
	if (x->needed)
		sb_fmt(b, "; about %zu steps on each side would be enough", x->needed);
	else if (x->doubt == DOUBT_OUTLIERS)
		sb_put(b, S("; the average and most steps disagree: some steps are outliers"));
	else if (x->doubt == DOUBT_MANY)
		sb_fmt(b, "; not significant enough for one of %zu nodes", j->subjects);
}

/* Returns an entry's own contribution against the rule: its change, or its number. */
static int64_t worse(const struct judge *j, uint32_t i)
{
	const int64_t *a = compare_self(&j->c, 0, i), *b = compare_self(&j->c, j->c.sides - 1, i);
	int64_t change = num_sub(b ? b[0] : 0, a && j->g->change ? a[0] : 0);

	return j->g->less ? change : num_sub(0, change);
}

/* Finds the entries at and below a failing entry whose own numbers changed most; for op, the nodes
 * of that type in the scope view. */
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
		fmt_quantity_in(&j->text, metric_quantity(j->g->metric),
		        j->g->less ? worse(j, most[k]) : num_sub(0, worse(j, most[k])), parts_of(j),
		        j->g->change);
		sb_char(&j->text, ')');
	}
}

/* ---- one gate ---- */

static bool is_subject(struct judge *j, struct pattern_list *l, uint32_t i)
{
	uint32_t last = j->c.sides - 1;

	if (j->g->total && gate_is_share(j->g)) /* of a number of a step */
		return i != 0;
	if (j->g->total || i == 0)
		return j->g->total && i == 0;
	return pattern_match(l, j->c.name[i]) ||
	       (compare_has(&j->c, last, i) &&
	               pattern_match(l, side_given(j->c.side[last], j->c.at[last][i])));
}

static void judge_all(struct judge *j, struct pattern_list *l)
{
	VEC(uint32_t) list = { 0 };

	for (uint32_t i = 0; i < j->c.n; i++)
		if (is_subject(j, l, i))
			VEC_PUSH(j->a, &list, i);
	j->subjects = list.n;
	for (size_t i = 0; i < list.n; i++) {
		struct subject x = judge_entry(j, list.v[i]);
		if (x.verdict == GATE_FAILS)
			VEC_PUSH(j->a, &j->failing, x);
		else if (x.verdict == GATE_INCONCLUSIVE)
			VEC_PUSH(j->a, &j->undecided, x);
		if (x.test != SHIFT_NONE && x.detects > j->detects)
			j->detects = x.detects;
		j->last = x;
	}
}

static int by_worse(const void *ctx, uint32_t a, uint32_t b)
{
	const struct judge *j = ctx;
	const struct subject *v = j->failing.n ? j->failing.v : j->undecided.v;
	uint32_t i = v[a].entry, k = v[b].entry;
	int64_t x = now_of(j, i), y = now_of(j, k);

	if (!gate_is_share(j->g)) {
		x = num_sub(x, base_of(j, i));
		y = num_sub(y, base_of(j, k));
	}

	return j->g->less ? (x < y) - (x > y) : (x > y) - (x < y);
}

static void put_subject(struct judge *j, const struct subject *x)
{
	if (!j->g->total) {
		sb_put_name(&j->text, j->c.name[x->entry]);
		sb_char(&j->text, ' ');
	}
	if (gate_is_share(j->g))
		put_part(j, now_of(j, x->entry));
	else
		put_change(j, base_of(j, x->entry), now_of(j, x->entry));
	put_test(j, x);
}

/* Describes n subjects that fail or are undecided, the largest violation first, and the causes of
 * the largest violation, which becomes *worst. */
static bool put_broken(struct judge *j, const struct subject *v, size_t n, struct subject *worst)
{
	const uint32_t *order = sort_order(j->a, n, by_worse, j);

	*worst = v[order[0]];
	uint32_t i = worst->entry;
	struct str name = j->c.name[i];
	for (size_t k = 0; k < n && k < CULPRITS_MAX; k++) {
		if (k)
			sb_put(&j->text, S("; "));
		put_subject(j, &v[order[k]]);
	}
	if (n > CULPRITS_MAX)
		sb_fmt(&j->text, "; and %zu more", n - CULPRITS_MAX);
	if (!view_is(j->g->view, VIEW_LIST)) {
		if (j->c.end[i] > i + 1)
			put_causes(j, i, j->c.end[i], STR_NONE);
		return true;
	}
	if (j->request->texts)
		return true;
	if (!compare(j, view_with(VIEW_PATHS), false))
		return false;
	put_causes(j, 1, j->c.n, name);
	return true;
}

static bool put_verdict(struct judge *j, struct gate_result *to)
{
	struct subject x = j->last;
	bool ok = true;

	to->verdict = j->failing.n || !j->subjects ? GATE_FAILS
	              : j->undecided.n             ? GATE_INCONCLUSIVE
	                                           : GATE_HOLDS;
	if (!j->subjects) {
		sb_put(&j->text, S("no node matches"));
	} else if (j->failing.n) {
		ok = put_broken(j, j->failing.v, j->failing.n, &x);
	} else if (j->undecided.n) {
		ok = put_broken(j, j->undecided.v, j->undecided.n, &x);
	} else if (j->subjects == 1) {
		put_subject(j, &x);
	} else {
		sb_fmt(&j->text, "%zu nodes", j->subjects);
		if (j->detects > 0) {
			sb_put(&j->text, S("; in each of them "));
			put_detects(j, j->detects);
		}
	}
	to->text = sb_str(&j->text);
	to->needed = to->verdict == GATE_INCONCLUSIVE ? x.needed : 0;
	if (x.test == SHIFT_NONE || (to->verdict == GATE_HOLDS && j->subjects > 1))
		return ok;
	to->steps[0] = x.n[0];
	to->steps[1] = x.n[1];
	double parts = j->g->percent ? 1 : (double)parts_of(j); /* the result has microseconds */
	to->low = x.low / parts;
	to->high = x.high / parts;
	to->detects = x.detects / parts;
	return ok;
}

bool gate_judge(const struct gate *g, const struct gate_request *request, struct arena *a,
        struct gate_result *to)
{
	struct judge j = { .request = request, .g = g, .a = a, .text = sb_in(a) };
	struct strs pattern = { 0 };
	struct pattern_list *l;

	*to = (struct gate_result){ .rule = g->text };
	strs_add(a, &pattern, g->pattern);
	if (!pattern_compile(&l, a, &pattern, request->e))
		return false;
	bool steps = may_vary(g) && request->steps && !request->texts;
	bool ok = compare(&j, &views[g->view], steps);
	if (ok && j.lack.p) {
		to->verdict = GATE_INCONCLUSIVE;
		to->text = j.lack;
	} else if (ok) {
		j.noise = (struct noise_request){ .c = &j.c,
			.n = request->texts ? 1 : 2,
			.runs = 1,
			.steps = steps,
			.level = request->level };
		noise_open(&j.noise, a);
		judge_all(&j, l);
		ok = !pattern_failed(l, request->e) && put_verdict(&j, to);
	}
	pattern_free(l);
	return ok;
}
