/* SPDX-License-Identifier: Apache-2.0
 *
 * Suggestions for mistyped words.
 */
#ifndef TFPROF_METRIC_NEAREST_H
#define TFPROF_METRIC_NEAREST_H

#include "base/err.h"
#include "metric/metric.h"

/* "-<option>: '<word>' is not known; did you mean ...? Known are ..." */
bool unknown_word(struct err *e, const char *option, struct str word, const struct strs *known);

/* Fails as unknown_word does, with a given suggestion, or none, in place of the nearest word. */
bool unknown_word_near(struct err *e, const char *option, struct str word, struct str near,
        const struct strs *known);

/* Returns the candidate nearest to word, or none if all are far. */
struct str nearest_word(struct str word, const struct str *candidates, size_t n);
/* Returns the metric that other programs call by this word, such as flops; or none. */
struct str nearest_metric(struct str word, unsigned use);

#endif
