/* SPDX-License-Identifier: Apache-2.0
 *
 * The page that the command summary prints, and the program before its prompt.
 */
#ifndef TFPROF_LIB_SUMMARY_H
#define TFPROF_LIB_SUMMARY_H

#include "lib/session.h"

/* Prints the page as text. prompt: it suggests commands of the prompt instead of a shell's.
 * Deferred files are not read. Inside a session_guard. */
bool summary_write(struct session *s, bool prompt, struct sink *out);

#endif
