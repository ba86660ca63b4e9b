/* SPDX-License-Identifier: Apache-2.0
 *
 * A difference as bytes.
 */
#ifndef TFPROF_EXPORT_DIFF_OUT_H
#define TFPROF_EXPORT_DIFF_OUT_H

#include "export/out.h"
#include "compare/difference.h"
#include "compare/gate.h"

struct diff_answer {
	const struct diff *d;
	const struct view_ops *view;
	const struct strs *words, *names; /* of the sides */
	int64_t min_size;
	bool per_run;
	bool legacy; /* with the words of the script of before 2020 */
	const struct gate_result *gates;
	size_t n_gates;
};

/* Writes it in the options' output; for a timeline the metrics include micros. */
bool diff_write(const struct diff_answer *x, struct emit *to, struct err *e);

/* Its forms. */
bool text_diff(const struct exported *x, struct sink *s, struct emit *to, struct err *e);
bool document_diff(const struct exported *x, struct sink *s, struct emit *to, struct err *e);
bool rows_diff(const struct exported *x, enum sheet_form form, struct sink *s, struct emit *to,
        struct err *e);
bool timeline_diff(const struct diff_answer *x, struct emit *to, struct err *e);

/* Appends " (left:6220MB right:2840MB) +3380MB x2.2": value k of a row. With several values each
 * has its name, separated by commas. */
void text_diff_numbers(struct sb *b, const struct diff_answer *x, uint32_t row, uint32_t k);

/* Returns the name of a row, with its other name if it was renamed. */
void diff_name(struct sb *b, const struct diff *d, uint32_t row);

#endif
