/* SPDX-License-Identifier: Apache-2.0
 *
 * Text of advise: the name of each checker, then its reports. A checker that the original lacks is
 * omitted if it has no reports.
 */
#include "export/out.h"

void text_advice(const struct advice *advice, struct sink *to)
{
	for (enum checker_id i = 0; i < CHECK_N; i++) {
		if (!advice->asked[i] || (CHECK_BIT(i) & CHECK_OURS && !advice->reports[i].n))
			continue;
		sink_fmt(to, "\n%s:\n", advise_name(i));
		for (size_t k = 0; k < advice->reports[i].n; k++) {
			sink_put(to, advice->reports[i].v[k]);
			sink_char(to, '\n');
		}
	}
}
