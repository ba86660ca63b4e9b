/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the share of the device time for which float operations are known, as text and as members
 * of documents.
 */
#include "export/table/coverage_out.h"

#include "export/table/table.h"

void coverage_put_share(struct sb *b, const struct flops_coverage *x)
{
	if (x->all_ns)
		sb_fmt(b, "known for %.1f%% of the device time",
		        (double)table_share(x->known_ns, x->all_ns) / 100);
	if (x->known_ns && !x->computes)
		sb_put(b, S(", all of it copies and other work without float operations"));
}

/* Appends a part that is not covered: "aten::_fused_adamw_ 8.7%". */
static void put_uncounted(struct sb *b, const struct flops_coverage *x, size_t i)
{
	sb_put_name(b, x->shown[i].op);
	if (x->all_ns)
		sb_fmt(b, " %.1f%%", (double)table_share(x->shown[i].ns, x->all_ns) / 100);
}

/* Appends the largest parts that are not covered, with the reasons. */
static void put_rest(struct sb *b, const struct flops_coverage *x)
{
	for (size_t i = 0; i < x->uncounted && i < UNCOUNTED_SHOWN; i++) {
		sb_put(b, i ? S(",\n  ") : S(""));
		put_uncounted(b, x, i);
		sb_fmt(b, " (%s)", flops_lacks[x->shown[i].lack]);
	}
	if (x->uncounted > UNCOUNTED_SHOWN)
		sb_fmt(b, " and %zu more", x->uncounted - UNCOUNTED_SHOWN);
}

void coverage_put_window(struct sb *b, struct str op)
{
	sb_put(b, S("An upper bound (~): calls of '"));
	sb_put_name(b, op);
	sb_put(b, S("' with equal shapes take two different times, so some layers probably use a "
	            "window"));
}

void coverage_put_known(struct sb *b, const struct flops_coverage *x)
{
	coverage_put_share(b, x);
	if (x->uncounted) {
		sb_put(b, S("; not counted: "));
		put_uncounted(b, x, 0);
		if (x->uncounted == 1)
			sb_fmt(b, " (%s)", flops_lacks[x->shown[0].lack]);
		else
			sb_fmt(b, " and %zu more (see flops)", x->uncounted - 1);
	}
	if (x->windowed.n) {
		sb_put(b, S("; those of "));
		sb_put_name(b, x->windowed);
		sb_put(b, S(" are an upper bound (~): some layers probably use a window"));
	}
}

void coverage_put(struct sb *b, const struct flops_coverage *x)
{
	if (!x->counts)
		return;
	if (x->all_ns) {
		sb_put(b, S("Float operations are "));
		coverage_put_share(b, x);
		sb_char(b, '\n');
	}
	if (x->uncounted) {
		sb_put(b, S("Not counted: "));
		put_rest(b, x);
		sb_char(b, '\n');
	}
	if (x->windowed.n) {
		coverage_put_window(b, x->windowed);
		sb_char(b, '\n');
	}
}

void coverage_member(struct document *d, const char *key, double v)
{
	document_fraction(d, key, (struct fraction){ num_from_real(1e6 * v + 0.5), 1000000 });
}

void coverage_members(struct document *d, const struct flops_coverage *x)
{
	if (!x->counts)
		return;
	document_i64(d, "device_ns", x->all_ns);
	document_i64(d, "covered_ns", x->known_ns);
	if (x->all_ns)
		coverage_member(d, "coverage", (double)x->known_ns / (double)x->all_ns);
}
