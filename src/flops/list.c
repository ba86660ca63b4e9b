/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of calls, of which compiled ops and ONNX nodes consist.
 */
#include "flops/flops_internal.h"

void flops_put_call(struct sb *to, const struct op_call_text *call)
{
	sb_fmt(to, "%.*s\t%.*s\t%.*s\t%.*s\t%.*s\n", STR(call->name), STR(call->shapes),
	        STR(call->types), STR(call->values), STR(call->output));
}

/* Removes the text up to the separator from *s. Returns the text without the separator. */
static struct str take_until(struct str *s, char separator)
{
	size_t end = str_find_char(*s, separator);
	struct str taken = str_sub(*s, 0, end);

	*s = end == SIZE_MAX ? STR_NONE : str_sub(*s, end + 1, SIZE_MAX);
	return taken;
}

static struct flops count_line(struct str line, struct sb *explain, enum flops_formula *formula)
{
	struct str name = take_until(&line, '\t'), shapes = take_until(&line, '\t'),
	           types = take_until(&line, '\t'), values = take_until(&line, '\t');
	const struct op_row *row = flops_find_op(name);

	*formula = row ? row->formula : FORMULAS;
	if (!row)
		return lacking(LACK_FORMULA, 0);
	struct op_call c = flops_read_call(row, name, shapes, types, values);
	c.output = flops_read_shape(line);
	c.explain = explain;
	return flops_of_call(&c);
}

/* Adds a call to a sum. The sum of several calls has no bytes, because a result that one call
 * passes to the next may never be written to memory. */
static void add_line(struct flops *all, const struct flops *f, bool heavier)
{
	int64_t sum = num_add(all->flops, f->flops),
	        again = num_add(all->recomputed, f->recomputed);

	if (heavier)
		*all = *f;
	all->flops = sum;
	all->recomputed = again;
	all->read = all->written = -1;
}

struct flops flops_of_list(struct str list, struct sb *explain, enum flops_formula *formula)
{
	struct flops all = { .read = -1, .written = -1 };
	unsigned lines = 0;

	*formula = FORMULA_NONE;
	while (list.n) {
		enum flops_formula of;
		if (explain && lines && flops_class_of(*formula) != CLASS_NONE)
			sb_put(explain, S(" + "));
		const struct flops f = count_line(take_until(&list, '\n'), explain, &of);
		if (f.lack) {
			*formula = of;
			return f;
		}
		bool heavier = flops_class_of(of) > flops_class_of(*formula);
		if (!lines++)
			all = f;
		else
			add_line(&all, &f, heavier);
		*formula = heavier ? of : *formula;
	}
	return num_stopped(all.flops) ? lacking(LACK_RANGE, 0) : all;
}
