/* SPDX-License-Identifier: Apache-2.0
 *
 * --version: the version of tfprof and the libraries that it uses.
 */
#ifndef TFPROF_CLI_VERSION_H
#define TFPROF_CLI_VERSION_H

#include "lib/session.h"

/* Writes text, or with the words "-output json" a document. Inside a session_guard. */
bool version_write(struct session *s, const struct strs *words, struct sink *out);

#endif
