/* SPDX-License-Identifier: Apache-2.0
 *
 * Validates messages that are skipped, as libprotobuf does: depth, groups, wire types, lengths and
 * UTF-8.
 */
#ifndef TFPROF_IO_PB_H
#define TFPROF_IO_PB_H

#include <protobuf-c/protobuf-c.h>

#include "base/str.h"
#include "io/wire.h"

/* True if bytes can be a message d, `depth` levels below the top of its file. Otherwise *at is the
 * offset of the fault. */
bool pb_gate(const ProtobufCMessageDescriptor *d, struct str bytes, unsigned depth, size_t *at);

/* ---- pb: shared by its files ---- */

/* Maps a tag to its field, and a field to the wire types it accepts; everything else is an unknown
 * field. */

#define PB_FRAMES (WIRE_DEPTH_MAX + 1) /* levels of nested messages */

/* By ProtobufCType: the wire type of a single value. */
static const uint8_t pb_wire_of[] = { WIRE_VARINT, WIRE_VARINT, WIRE_FIXED32, WIRE_VARINT,
	WIRE_VARINT, WIRE_FIXED64, WIRE_VARINT, WIRE_FIXED32, WIRE_VARINT, WIRE_FIXED64,
	WIRE_FIXED32, WIRE_FIXED64, WIRE_VARINT, WIRE_VARINT, WIRE_BYTES, WIRE_BYTES, WIRE_BYTES };
_Static_assert(PROTOBUF_C_TYPE_FLOAT == 10 && PROTOBUF_C_TYPE_STRING == 14 &&
                       PROTOBUF_C_TYPE_MESSAGE + 1 == sizeof(pb_wire_of),
        "pb_wire_of follows the order of ProtobufCType");

/* Returns the field with this number, or NULL. */
static inline const ProtobufCFieldDescriptor *pb_find(
        const ProtobufCMessageDescriptor *d, uint32_t id)
{
	const ProtobufCIntRange *r = d->field_ranges;

	for (unsigned i = 0; i < d->n_field_ranges; i++, r++) {
		uint32_t from = (uint32_t)r->start_value;
		if (id < from)
			return NULL;
		if (id - from < r[1].orig_index - r->orig_index)
			return &d->fields[r->orig_index + (id - from)];
	}
	return NULL;
}

/* True if this wire type carries values of the field, one at a time or as a packed list. */
static inline bool pb_takes(const ProtobufCFieldDescriptor *fd, uint32_t type)
{
	return type == pb_wire_of[fd->type] ||
	       (type == WIRE_BYTES && fd->label == PROTOBUF_C_LABEL_REPEATED);
}

#endif
