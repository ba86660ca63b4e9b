/* SPDX-License-Identifier: Apache-2.0
 *
 * Life cycle of the collector in a process.
 */
#ifndef TFPROF_COLLECT_INJECT_H
#define TFPROF_COLLECT_INJECT_H

/* Has the recording ended before the handlers of exit that are set so far. Handlers run in reverse
 * order, and CUPTI and the driver have theirs: called again when they have set some. */
void inject_hook_exit(void);

#endif
