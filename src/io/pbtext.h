/* SPDX-License-Identifier: Apache-2.0
 *
 * protobuf text format -> wire bytes, driven by protobuf-c descriptors, so that text and binary
 * files go through the same reader. Nested at most 100 deep, no recursion.
 */
#ifndef TFPROF_IO_PBTEXT_H
#define TFPROF_IO_PBTEXT_H

#include "base/err.h"
#include "io/pb.h"

/* Translates text to the wire bytes of a message d, in a. Returns false with
 * "<name>:<line>:<column>: <found token, and the expected one>" (ERR_DATA_LOSS). */
bool pbtext_encode(const ProtobufCMessageDescriptor *d, struct str text, struct str name,
        struct arena *a, struct str *out, struct err *e);

/* True if a text beginning with head can be translated. False, with the sentence, if a complete
 * line of head is wrong. */
bool pbtext_begins(const ProtobufCMessageDescriptor *d, struct str head, struct str name,
        struct arena *a, struct err *e);

/* Rates whether these first bytes are text format: 0 certainly not (a NUL, invalid UTF-8, control
 * bytes) ... 100. */
int pbtext_sniff(struct str head);

#endif
