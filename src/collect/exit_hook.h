/* SPDX-License-Identifier: Apache-2.0
 *
 * Ends the recording at exit, before the exit handlers that CUPTI and the driver have registered.
 */
#ifndef TFPROF_COLLECT_EXIT_HOOK_H
#define TFPROF_COLLECT_EXIT_HOOK_H

/* Registers the function that ends the recording; it may be called several times. */
void exit_hook_set(void (*end)(void));

/* Registers it again: exit handlers run in reverse order, so it runs before all handlers registered
 * so far. */
void exit_hook_renew(void);

#endif
