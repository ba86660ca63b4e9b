/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole messages by protobuf-c, for the reference readers. protobuf-c misreads some valid bytes, so
 * they are cleaned first; then it decodes them as libprotobuf does.
 */
#ifndef TESTS_UNIT_PB_TWIN_H
#define TESTS_UNIT_PB_TWIN_H

#include "base/err.h"
#include "io/pb.h"

/* Rewrites bytes that passed the gate into a: unknown and wrongly typed fields and groups dropped,
 * repeated copies of a singular submessage joined into one. A string stays cut at a NUL. */
struct str pb_clean(const ProtobufCMessageDescriptor *d, struct str bytes, struct arena *a);

/* Checks, cleans and unpacks a message into a. Returns NULL and the offset if it is refused. */
ProtobufCMessage *pb_unpack(const ProtobufCMessageDescriptor *d, struct str bytes, struct str name,
        struct arena *a, struct err *e);

struct str pb_pack(const ProtobufCMessage *m, struct arena *a);

#endif
