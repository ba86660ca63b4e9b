/* SPDX-License-Identifier: Apache-2.0
 *
 * Validates messages that are skipped, as libprotobuf does: depth, groups, wire types, lengths and
 * UTF-8.
 */
#ifndef TFPROF_IO_PB_H
#define TFPROF_IO_PB_H

#include <protobuf-c/protobuf-c.h>

#include "base/str.h"

/* True if bytes can be a message d, `depth` levels below the top of its file. Otherwise *at is the
 * offset of the fault. */
bool pb_gate(const ProtobufCMessageDescriptor *d, struct str bytes, unsigned depth, size_t *at);

#endif
