/* SPDX-License-Identifier: Apache-2.0
 *
 * zlib in both directions. gunzip reads several members one after the other, as gzip does.
 */
#ifndef TFPROF_IO_GZ_H
#define TFPROF_IO_GZ_H

#include "base/err.h"
#include "io/sink.h"

struct gunzip;
bool gz_is(struct str head); /* do these first bytes announce gzip? */
struct gunzip *gunzip_open(struct arena *a);
/* Unpacks from *in to *out, advancing both. Returns 1 made progress, 0 nothing to do (no input or
 * no room: more of either may follow), -1 broken (*why says how, static text). Zeros behind the
 * last member are padding, anything else there is an error. */
int gunzip_run(struct gunzip *g, struct str *in, uint8_t **out, uint8_t *out_end, const char **why);
bool gunzip_at_end(const struct gunzip *g); /* between members: the input may end here */
void gunzip_restart(struct gunzip *g);      /* as newly opened */

/* A sink whose bytes arrive gzip-compressed in `to` (gzip wrapper, default level, no name, time 0).
 * sink_close finishes the stream; it does not close `to`. */
struct sink *gzip_sink(struct arena *a, struct sink *to);

#endif
