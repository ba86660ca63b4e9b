/* SPDX-License-Identifier: Apache-2.0
 *
 * What loading and guessing share.
 */
#ifndef TFPROF_MODEL_INPUT_INTERNAL_H
#define TFPROF_MODEL_INPUT_INTERNAL_H

#include "model/input.h"

/* True for a file that has a size and can be read twice; *size is 0 for any other. */
bool input_is_regular(struct arena *a, const struct input_from *from, uint64_t *size);

#endif
