/* SPDX-License-Identifier: Apache-2.0
 *
 * Text of advise: the name of each checker, then its reports. A checker that the original lacks is
 * omitted if it has no reports.
 */
#include "export/out.h"

/* Writes each line of a report as a sentence. */
static void put_report(struct str report, struct arena *a, struct sink *to)
{
	size_t end;

	do {
		end = str_find_char(report, '\n');
		sink_sentence(to, a, str_sub(report, 0, end));
		report = end == SIZE_MAX ? STR_NONE : str_sub(report, end + 1, SIZE_MAX);
	} while (end != SIZE_MAX);
}

void text_advice(const struct advice *advice, struct arena *a, struct sink *to)
{
	for (enum checker_id i = 0; i < CHECK_N; i++) {
		if (!advice->asked[i] || (CHECK_BIT(i) & CHECK_OURS && !advice->reports[i].n))
			continue;
		sink_fmt(to, "\n%s:\n", advise_name(i));
		for (size_t k = 0; k < advice->reports[i].n; k++)
			put_report(advice->reports[i].v[k], a, to);
	}
}
