/* SPDX-License-Identifier: Apache-2.0
 *
 * A difference as an exported result: text, document, rows, timeline.
 */
#include "export/out.h"

bool diff_write(const struct diff_answer *x, struct emit *to, struct err *e)
{
	struct exported out = { .kind = RESULT_DIFF,
		.name = "diff",
		.of = x,
		.output = &x->d->request->o->output,
		.text = text_diff,
		.document = document_diff,
		.rows = rows_diff };

	return out_export(&out, to, e);
}
