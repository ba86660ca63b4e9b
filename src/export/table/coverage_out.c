/* SPDX-License-Identifier: Apache-2.0
 *
 * See coverage_out.h.
 */
#include "export/table/coverage_out.h"

#include "export/table/table.h"

#define SHOWN 3 /* ops that are not counted */

void coverage_put_share(struct sb *b, const struct flops_sums *x)
{
	if (x->all)
		sb_fmt(b, "known for %.1f%% of the device time",
		        (double)table_share(x->known, x->all) / 100);
}

bool coverage_put_rest(
        struct sb *b, const struct flops_sums *x, const char *between, struct arena *a)
{
	size_t n;
	const struct flops_row *rows = flops_sums_unknown(x, &n, a);

	for (size_t i = 0; i < n && i < SHOWN; i++) {
		struct str op =
		        rows[i].name == ID_NONE ? S("(no op)") : trace_str(x->ops->t, rows[i].name);
		if (i)
			sb_put(b, str_of(between));
		sb_put_name(b, op);
		if (x->all)
			sb_fmt(b, " %.1f%%", (double)table_share(rows[i].device, x->all) / 100);
		sb_fmt(b, " (%s)", flops_lacks[rows[i].lack]);
	}
	if (n > SHOWN)
		sb_fmt(b, " and %zu more", n - SHOWN);
	return n > 0;
}

void coverage_put(struct sb *b, const struct flops_sums *x, struct arena *a)
{
	struct sb rest = sb_in(a);

	if (!x->ops->calls.n)
		return;
	if (x->all) {
		sb_put(b, S("Float operations are "));
		coverage_put_share(b, x);
		sb_char(b, '\n');
	}
	if (coverage_put_rest(&rest, x, ",\n  ", a))
		sb_fmt(b, "Not counted: %.*s\n", STR(sb_str(&rest)));
}

void coverage_member(struct document *d, const char *key, double v)
{
	document_fraction(d, key, (struct fraction){ num_from_real(1e6 * v + 0.5), 1000000 });
}

void coverage_members(struct document *d, const struct flops_sums *x)
{
	const struct trace *t = x->ops->t;

	if (!x->ops->calls.n)
		return;
	document_i64(d, "device_ns", trace_ns(t, x->all));
	document_i64(d, "covered_ns", trace_ns(t, x->known));
	if (x->all)
		coverage_member(d, "coverage", (double)x->known / (double)x->all);
}
