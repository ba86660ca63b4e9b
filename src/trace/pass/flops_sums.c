/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds up the counted calls of ops by op, family and missing data, and sorts the rows by device
 * time.
 */
#include "trace/pass/flops_sums.h"

#include "base/sort.h"

static enum flops_family family_of(enum flops_formula formula)
{
	return formula == FORMULAS ? FAMILY_NONE : flops_family_of(formula);
}

enum flops_family flops_row_family(const struct flops_row *r)
{
	return family_of(r->formula);
}

static struct flops_row *row_for(
        struct flops_sums *x, struct intern *keys, const struct op_calls *c)
{
	/* texts of a trace are stored once */
	const uintptr_t key[3] = { (uintptr_t)c->name.p, c->lack, c->lack ? c->input : 0 };
	uint32_t id = intern_add(keys, str_make(key, sizeof key));

	if (id >= x->n) {
		x->n = id + 1;
		x->rows[id] = (struct flops_row){
			.name = c->name, .formula = c->formula, .lack = c->lack, .input = c->input
		};
	}
	return &x->rows[id];
}

/* Adds calls to the row of their op, or of their family. An op whose calls have several formulas,
 * such as a product that the compiler divides into a product and a reduction over devices, has the
 * formula with the most float operations. */
static void add_to(struct flops_row *r, const struct op_calls *c)
{
	if (c->flops > r->most) {
		r->most = c->flops;
		r->formula = c->formula;
	}
	r->calls = num_add_u64(r->calls, c->lack ? c->unknown : c->calls);
	r->flops = num_add(r->flops, c->flops);
	r->recomputed = num_add(r->recomputed, c->recomputed);
	r->bytes = num_add(r->bytes, c->bytes);
	r->device = num_add(r->device, c->device);
	r->stated = num_add(r->stated, c->stated);
	r->windowed |= c->windowed;
}

/* Counts the calls that lack data by op and by family, for the rows of the calls that are counted.
 */
static void add_missing(struct flops_sums *x, struct arena *a)
{
	struct imap first; /* key: name of an op; value: its row of counted calls */

	imap_init(&first, a);
	for (size_t i = 0; i < x->n; i++)
		if (!x->rows[i].lack)
			imap_put(&first, (uintptr_t)x->rows[i].name.p, (uint32_t)i, false);
	for (size_t i = 0; i < x->n; i++) {
		const struct flops_row *r = &x->rows[i];
		uint32_t counted;
		if (!r->lack || !r->name.p)
			continue;
		if (imap_get(&first, (uintptr_t)r->name.p, &counted))
			x->rows[counted].missing = num_add_u64(x->rows[counted].missing, r->calls);
		if (r->formula != FORMULAS) {
			struct flops_row *family = &x->families[flops_row_family(r)];
			family->missing = num_add_u64(family->missing, r->calls);
		}
	}
}

void flops_sums_find(struct flops_sums *x, const struct trace_ops *ops, struct arena *a)
{
	struct intern keys;

	*x = (struct flops_sums){ .ops = ops };
	x->rows = ARENA_ARRAY(a, ops->calls.n + 1, struct flops_row);
	intern_init(&keys, a);
	x->known = ops->moved_time;
	x->all = num_add(ops->moved_time, ops->opless_time);
	for (size_t i = 0; i < ops->calls.n; i++) {
		const struct op_calls *c = &ops->calls.v[i];
		struct flops_row *r = row_for(x, &keys, c);
		add_to(r, c);
		x->all = num_add(x->all, c->device);
		if (c->lack)
			continue;
		add_to(&x->families[family_of(c->formula)], c);
		x->known = num_add(x->known, c->device);
		x->flops = num_add(x->flops, c->flops);
		if (c->formula == FORMULA_PAGED)
			x->paged = num_add(x->paged, c->flops);
		if (c->windowed)
			x->windowed = num_add(x->windowed, c->flops);
		x->recomputed = num_add(x->recomputed, c->recomputed);
		x->bytes = num_add(x->bytes, c->bytes);
		x->stated = num_add(x->stated, c->stated);
		x->inferred = num_add_u64(x->inferred, c->inferred);
	}
	add_missing(x, a);
	x->families[FAMILY_NONE].device = num_add(x->families[FAMILY_NONE].device, ops->moved_time);
	if (ops->opless_time)
		x->rows[x->n++] = (struct flops_row){ .name = STR_NONE,
			.formula = FORMULAS,
			.lack = LACK_OP,
			.device = ops->opless_time };
}

static int more_time(const void *v, uint32_t a, uint32_t b)
{
	const struct flops_row *x = (const struct flops_row *)v + a,
	                       *y = (const struct flops_row *)v + b;

	return (x->device < y->device) - (x->device > y->device);
}

const struct flops_row *flops_sums_unknown(const struct flops_sums *x, size_t *n, struct arena *a)
{
	struct flops_row *v = ARENA_ARRAY(a, x->n, struct flops_row);

	*n = 0;
	for (size_t i = 0; i < x->n; i++) {
		const struct flops_row *r = &x->rows[i];
		if (r->lack && (r->device || (!x->all && r->calls)))
			v[(*n)++] = *r;
	}
	sort_array(a, v, *n, sizeof *v, more_time);
	return v;
}

struct flops_coverage *flops_coverage_of(const struct flops_sums *x, struct arena *a)
{
	const struct trace *t = x->ops->t;
	struct flops_coverage *to = ARENA_NEW(a, struct flops_coverage);

	*to = (struct flops_coverage){ .counts = x->ops->calls.n > 0,
		.computes = x->flops > 0,
		.known_ns = trace_ns(t, x->known),
		.all_ns = trace_ns(t, x->all) };
	const struct flops_row *rows = flops_sums_unknown(x, &to->uncounted, a);
	for (size_t i = 0; i < to->uncounted && i < UNCOUNTED_SHOWN; i++)
		to->shown[i] = (struct uncounted){ !rows[i].name.p ? S("(no op)")
			                                           : str_copy(a, rows[i].name),
			rows[i].lack, trace_ns(t, rows[i].device) };
	for (size_t i = 0; i < x->n && !to->windowed.n; i++)
		if (x->rows[i].windowed)
			to->windowed = str_copy(a, x->rows[i].name);
	return to;
}

struct flops_coverage *flops_coverage_copy(const struct flops_coverage *x, struct arena *a)
{
	struct flops_coverage *to = ARENA_NEW(a, struct flops_coverage);

	*to = *x;
	to->windowed = str_copy(a, x->windowed);
	for (size_t i = 0; i < UNCOUNTED_SHOWN; i++)
		to->shown[i].op = str_copy(a, x->shown[i].op);
	return to;
}
