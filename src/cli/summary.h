/* SPDX-License-Identifier: Apache-2.0
 *
 * The page before the prompt: what was loaded, what is missing and where to get it.
 */
#ifndef TFPROF_CLI_SUMMARY_H
#define TFPROF_CLI_SUMMARY_H

#include "lib/flags.h"

/* Inside a session_guard. */
bool summary_write(struct session *s, const struct flags *f, struct sink *out);

#endif
