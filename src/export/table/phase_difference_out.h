/* SPDX-License-Identifier: Apache-2.0
 *
 * The phases of a server's steps in two runs, side by side (docs/schema/diff-phases.json).
 */
#ifndef TFPROF_EXPORT_PHASE_DIFFERENCE_OUT_H
#define TFPROF_EXPORT_PHASE_DIFFERENCE_OUT_H

#include "export/out.h"
#include "trace/pass/phases.h"

/* Writes the step time, the tokens per second and the busy time of each phase of either run, and
 * the differences: the second run minus the first. columns: width of the terminal; 0: none. */
bool phase_difference_write(const struct phases *left, const struct phases *right,
        const struct opts *o, unsigned columns, struct emit *to, struct err *e);

#endif
