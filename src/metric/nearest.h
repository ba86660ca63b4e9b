/* SPDX-License-Identifier: Apache-2.0
 *
 * Words that are nearly those that a person typed.
 */
#ifndef TFPROF_METRIC_NEAREST_H
#define TFPROF_METRIC_NEAREST_H

#include "base/err.h"
#include "metric/metric.h"

/* "-<option>: '<word>' is not known; did you mean ...? Known are ..." */
bool unknown_word(struct err *e, const char *option, struct str word, const struct strs *known);

/* With the word that was meant, or none, instead of the nearest. */
bool unknown_word_near(struct err *e, const char *option, struct str word, struct str near,
        const struct strs *known);

/* The word among n candidates that is nearest to word, or none if all are far. */
struct str nearest_word(struct str word, const struct str *candidates, size_t n);
/* The metric of such a use that other programs call so, such as flops; or none. */
struct str nearest_metric(struct str word, unsigned use);

#endif
