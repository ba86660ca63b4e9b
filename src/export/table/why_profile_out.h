/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer of `why` about a profile of TensorFlow: run metadata or a ProfileProto. It has times
 * of operations and devices, but does not say what waited for what, so nothing can be replayed: the
 * answer says how busy a device was and which operations take the time.
 */
#ifndef TFPROF_EXPORT_WHY_PROFILE_OUT_H
#define TFPROF_EXPORT_WHY_PROFILE_OUT_H

#include "export/summary_out.h"
#include "export/table/why_out.h"

struct why_profile {
	const struct device_summary *device; /* the busiest accelerator; NULL: there is none */
	int64_t step;                        /* mean length of the steps, ns; 0: unknown */
	const struct table *ops; /* all operation types, in the columns of struct hottest_table */
};

bool why_profile_write(const struct why_profile *p, const struct opts *o, unsigned columns,
        struct emit *to, struct err *e);

#endif
