/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of "baseline list".
 */
#ifndef TFPROF_LIB_BASELINE_LIST_H
#define TFPROF_LIB_BASELINE_LIST_H

#include "io/sink.h"

/* Writes a row for each baseline in the folder: its date, steps, host, devices and command, as far
 * as the file states them. columns: width of the terminal, or 0. */
void baseline_list_write(struct arena *a, struct str folder, const struct strs *names,
        unsigned columns, struct sink *out);

#endif
