/* SPDX-License-Identifier: Apache-2.0
 *
 * Judges whole messages that nobody keeps as libprotobuf judges them: depth, groups, wire types,
 * lengths and UTF-8.
 */
#ifndef TFPROF_IO_PB_H
#define TFPROF_IO_PB_H

#include <protobuf-c/protobuf-c.h>

#include "base/str.h"

/* Could bytes be a message d that stands `depth` levels below the top of its file? If not, *at is
 * the offset of the fault. */
bool pb_gate(const ProtobufCMessageDescriptor *d, struct str bytes, unsigned depth, size_t *at);

#endif
