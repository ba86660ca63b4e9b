/* SPDX-License-Identifier: Apache-2.0
 *
 * A second client of CUPTI in the program, as torch.profiler and other tools are. Its kinds:
 *
 *   records     registers callbacks for buffers and enables kernels; at its end it flushes and
 * disables kernels finalize    like records; at its end it finalises CUPTI callbacks   subscribes;
 * records stay with the recorder both        subscribes, and registers callbacks for buffers
 *   disable     disables kernels
 *   flush       flushes with force
 *   handle      subscribes as one of several, with records of its own
 */
#ifndef LOSSES_THIEF_H
#define LOSSES_THIEF_H

void thief_kind(const char *kind);
void thief_comes(void);
void thief_goes(void);

#endif
