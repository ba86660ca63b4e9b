/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps by their time: the recorded times of all nodes, added up over the workers.
 */
#ifndef TFPROF_MODEL_STEP_RANK_H
#define TFPROF_MODEL_STEP_RANK_H

#include "model/model.h"

struct step_time {
	int64_t id, micros;
};

/* Returns the steps of the average, fastest first; steps of equal time by their ids. */
struct step_time *steps_by_time(const struct model *m, size_t *n, struct arena *a);

#endif
