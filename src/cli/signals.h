/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals that end programs. While a command runs they end the command first, which takes away
 * what it has not written to its end; then the program ends as the signal would have ended it.
 */
#ifndef TFPROF_CLI_SIGNALS_H
#define TFPROF_CLI_SIGNALS_H

#include "lib/session.h"

/* Until it is called again with NULL, such a signal cancels what the session does; a second one
 * ends the program at once. */
void signals_catch(struct session *s);

/* Has one come? */
bool signals_came(void);

/* Ends the program by the signal that came, if one has. */
void signals_pass(void);

#endif
