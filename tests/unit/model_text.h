/* SPDX-License-Identifier: Apache-2.0
 *
 * A sealed model as text, so that tests can compare two of them. Names, not ids: the order in which
 * strings were met does not show.
 */
#ifndef TFPROF_TESTS_MODEL_TEXT_H
#define TFPROF_TESTS_MODEL_TEXT_H

#include "model/model.h"

struct str model_text(struct arena *a, const struct model *m);

#endif
