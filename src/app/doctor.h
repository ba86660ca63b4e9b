/* SPDX-License-Identifier: Apache-2.0
 *
 * tfprof doctor: can this machine, or this process, be recorded? Row by row, then one verdict.
 */
#ifndef TFPROF_APP_DOCTOR_H
#define TFPROF_APP_DOCTOR_H

#include "app/program.h"

struct doctor_words {
	struct str folder;
};

bool doctor_run(struct program *p);

#endif
