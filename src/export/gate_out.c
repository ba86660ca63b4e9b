/* SPDX-License-Identifier: Apache-2.0
 *
 * Gates of a difference as annotations of a GitHub workflow, and as a JUnit report.
 */
#include "export/out.h"

#define DIFFERENCES_MAX 10 /* largest number of annotated differences without gates */

/* ---- GitHub ---- */

/* Writes characters that end or split a workflow command as %XX; in a property, also ':' and
 * ','. */
static void put_command_text(struct sink *to, struct str s, bool property)
{
	for (size_t i = 0; i < s.n; i++) {
		uint8_t c = (uint8_t)s.p[i];
		if (c == '%' || c < 0x20 || c == 0x7f || (property && (c == ':' || c == ',')))
			sink_fmt(to, "%%%02X", c);
		else
			sink_char(to, (char)c);
	}
}

static void put_annotation(struct sink *to, const char *kind, struct str title, struct str text)
{
	sink_fmt(to, "::%s title=", kind);
	put_command_text(to, title, true);
	sink_put(to, S("::"));
	put_command_text(to, text, false);
	sink_char(to, '\n');
}

/* Annotates the largest differences if there are no gates: rows without children. */
static void put_differences(const struct diff_answer *x, struct sink *to, struct arena *a)
{
	const struct diff *d = x->d;
	struct sb b = sb_in(a);

	for (uint32_t row = 0, told = 0; row < d->n && told < DIFFERENCES_MAX; row++) {
		if (!d->row[row].enough || d->row[row].end != row + 1)
			continue;
		b.n = 0;
		diff_name(&b, d, row);
		for (uint32_t k = 0; k < d->request->columns; k++)
			text_diff_numbers(&b, x, row, k);
		put_annotation(to, "notice", S("tfprof diff"), sb_str(&b));
		told++;
	}
}

static bool github_text(
        const struct exported *out, struct sink *to, struct emit *emit, struct err *e)
{
	const struct diff_answer *x = out->of;

	(void)e;
	for (size_t i = 0; i < x->n_gates; i++) {
		const struct gate_result *g = &x->gates[i];
		bool allowed = g->verdict == GATE_INCONCLUSIVE && x->allow_inconclusive;
		put_annotation(to,
		        g->verdict == GATE_HOLDS ? "notice"
		        : allowed                ? "warning"
		                                 : "error",
		        str_fmt(emit->a, "tfprof gate %.*s", STR(g->rule)), g->text);
	}
	if (!x->n_gates)
		put_differences(x, to, emit->a);
	return true;
}

bool github_write(const struct exported *x, struct emit *to, struct err *e)
{
	struct exported as = *x;

	as.text = github_text;
	return out_text(&as, to, e);
}

/* ---- JUnit ---- */

/* Writes text of XML 1.0: markup as entities, invalid characters as \xNN. */
static void put_xml(struct sink *to, struct sb *b, struct str s)
{
	b->n = 0;
	sb_put_utf8(b, s);
	for (size_t i = 0; i < b->n; i++) {
		uint8_t c = (uint8_t)b->p[i];
		if (c == '&')
			sink_put(to, S("&amp;"));
		else if (c == '<')
			sink_put(to, S("&lt;"));
		else if (c == '>')
			sink_put(to, S("&gt;"));
		else if (c == '"')
			sink_put(to, S("&quot;"));
		else if (c < 0x20 || c == 0x7f)
			sink_fmt(to, "\\x%02x", c);
		else if (c == 0xef && i + 2 < b->n && (uint8_t)b->p[i + 1] == 0xbf &&
		         (uint8_t)b->p[i + 2] >= 0xbe) /* U+FFFE, U+FFFF */
			sink_fmt(to, "\\xef\\xbf\\x%02x", (uint8_t)b->p[i += 2]);
		else
			sink_char(to, (char)c);
	}
}

/* Names of a gate's results in JUnit. */
enum junit_kind { JUNIT_PASSED, JUNIT_FAILURE, JUNIT_ERROR, JUNIT_SKIPPED, JUNIT_N };

static enum junit_kind junit_kind(const struct diff_answer *x, const struct gate_result *g)
{
	switch (g->verdict) {
	case GATE_HOLDS: return JUNIT_PASSED;
	case GATE_FAILS: return JUNIT_FAILURE;
	default: return x->allow_inconclusive ? JUNIT_SKIPPED : JUNIT_ERROR;
	}
}

static void put_case(
        struct sink *to, struct sb *b, const struct gate_result *g, enum junit_kind kind)
{
	static const char *const names[] = {
		[JUNIT_FAILURE] = "failure", [JUNIT_ERROR] = "error", [JUNIT_SKIPPED] = "skipped"
	};

	sink_put(to, S("    <testcase classname=\"tfprof.gate\" name=\""));
	put_xml(to, b, g->rule);
	if (kind == JUNIT_PASSED) {
		sink_put(to, S("\">\n      <system-out>"));
		put_xml(to, b, g->text);
		sink_put(to, S("</system-out>\n    </testcase>\n"));
		return;
	}
	sink_fmt(to, "\">\n      <%s message=\"", names[kind]);
	if (kind != JUNIT_FAILURE)
		sink_put(to, S("inconclusive: "));
	put_xml(to, b, g->text);
	sink_put(to, S("\"/>\n    </testcase>\n"));
}

static bool junit_text(
        const struct exported *out, struct sink *to, struct emit *emit, struct err *e)
{
	const struct diff_answer *x = out->of;
	struct sb b = sb_in(emit->a);
	size_t count[JUNIT_N] = { 0 };

	(void)e;
	for (size_t i = 0; i < x->n_gates; i++)
		count[junit_kind(x, &x->gates[i])]++;
	sink_put(to, S("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
	sink_fmt(to, "<testsuites tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n", x->n_gates,
	        count[JUNIT_FAILURE], count[JUNIT_ERROR]);
	sink_fmt(to,
	        "  <testsuite name=\"tfprof diff\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
	        "skipped=\"%zu\">\n",
	        x->n_gates, count[JUNIT_FAILURE], count[JUNIT_ERROR], count[JUNIT_SKIPPED]);
	for (size_t i = 0; i < x->n_gates; i++)
		put_case(to, &b, &x->gates[i], junit_kind(x, &x->gates[i]));
	sink_put(to, S("  </testsuite>\n</testsuites>\n"));
	return true;
}

bool junit_write(const struct exported *x, struct emit *to, struct err *e)
{
	struct exported as = *x;

	as.text = junit_text;
	return out_text(&as, to, e);
}
