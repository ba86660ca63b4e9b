/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals that end programs. While a command runs, a signal first ends the command, which removes
 * its unfinished output; then the program ends by the same signal.
 */
#ifndef TFPROF_CLI_SIGNALS_H
#define TFPROF_CLI_SIGNALS_H

#include "lib/session.h"

/* Until it is called again with NULL, such a signal cancels the session's call; a second one ends
 * the program at once. */
void signals_catch(struct session *s);

/* True if one has arrived. */
bool signals_came(void);

/* Ends the program by the signal that arrived, if one has. */
void signals_pass(void);

#endif
