/* SPDX-License-Identifier: Apache-2.0
 *
 * The code view as a pprof profile.
 */
#ifndef TFPROF_EXPORT_PPROF_H
#define TFPROF_EXPORT_PPROF_H

#include "export/out.h"

/* The one metric that is selected and fit for pprof, or M_NONE. */
enum metric_id pprof_metric(const struct opts *o);

/* Writes the file of q->o->output and says how to look at it. The view is code, its metric fit. */
bool pprof_write(const struct result *r, struct emit *to, struct err *e);

#endif
