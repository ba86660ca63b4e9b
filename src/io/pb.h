/* SPDX-License-Identifier: Apache-2.0
 *
 * The only way to protobuf-c's decoder. Bytes pass the gate first, so that depth, groups, wrong
 * wire types, repeated submessages and UTF-8 are judged as libprotobuf judges them.
 */
#ifndef TFPROF_IO_PB_H
#define TFPROF_IO_PB_H

#include <protobuf-c/protobuf-c.h>

#include "base/err.h"
#include "io/sink.h"

enum pb_verdict {
	PB_GOOD, /* protobuf-c reads it as libprotobuf does */
	PB_ODD,  /* legal, but protobuf-c would misread it: clean first */
	PB_BAD   /* refused, as libprotobuf refuses */
};

/* Judges bytes as a message d that stands `depth` levels below the top of its file. *at is the
 * offset of the fault when BAD. Scratch is given back. */
enum pb_verdict pb_gate(const ProtobufCMessageDescriptor *d, struct str bytes, unsigned depth,
        struct arena *scratch, size_t *at);

/* Rewrites ODD bytes into a: unknown and wrongly typed fields and groups dropped, repeated copies
 * of a singular submessage joined into one. Deviation: a string stays cut at a NUL. */
struct str pb_clean(const ProtobufCMessageDescriptor *d, struct str bytes, struct arena *a);

/* Gate, clean if needed, unpack into a. NULL when refused: "<what>: byte <base + offset>: ...". */
ProtobufCMessage *pb_unpack(const ProtobufCMessageDescriptor *d, struct str bytes, unsigned depth,
        struct str name, const char *what, uint64_t base, struct arena *a, struct err *e);

/* Packs m to a sink through a buffer in scratch. */
void pb_pack(const ProtobufCMessage *m, struct arena *scratch, struct sink *to);

#endif
