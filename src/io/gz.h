/* SPDX-License-Identifier: Apache-2.0
 *
 * zlib in both directions. Several gzip members in a row are read as one stream, as gzip does.
 */
#ifndef TFPROF_IO_GZ_H
#define TFPROF_IO_GZ_H

#include "io/sink.h"

struct gunzip;
bool gz_is(struct str head); /* true if the first bytes are a gzip header */
struct gunzip *gunzip_open(struct arena *a);
/* Decompresses from *in to *out and advances both. Returns 1 for progress, 0 if it needs more input
 * or more room, -1 for a malformed stream (*why explains, static text). Zeros after the last member
 * are padding; any other trailing byte is an error. */
int gunzip_run(struct gunzip *g, struct str *in, uint8_t **out, uint8_t *out_end, const char **why);
/* Opens a decompressor for a zlib stream; gunzip_restart begins the next stream. */
struct gunzip *gunzip_open_zlib(struct arena *a);
bool gunzip_at_end(const struct gunzip *g); /* true between members: the input may end here */
void gunzip_restart(struct gunzip *g);      /* returns to the state after opening */

/* Opens a sink that writes its bytes gzip-compressed to `to` (gzip wrapper, default level, no name,
 * time 0). sink_close finishes the stream and leaves `to` open. */
struct sink *gzip_sink(struct arena *a, struct sink *to);

#endif
