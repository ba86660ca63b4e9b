/* SPDX-License-Identifier: Apache-2.0
 *
 * Transfers between memory spaces in compiled programs: a copy-start, whose result is a tuple of
 * the destination, the source and a context, and the copy-done that waits for its end.
 *
 *   Shape   element_type 2  dimensions 3  tuple_shapes 4  layout 5
 *   Layout  memory_space 8
 */
#include "trace/read/xspace/xspace_internal.h"

#define SPACE_HOST 5 /* memory space of pinned host memory */

/* Bytes of an element, by the number of its type (PrimitiveType); 0: unknown. */
static const uint8_t type_bytes[] = { [1] = 1,
	[2] = 1,
	[3] = 2,
	[4] = 4,
	[5] = 8,
	[6] = 1,
	[7] = 2,
	[8] = 4,
	[9] = 8,
	[10] = 2,
	[11] = 4,
	[12] = 8,
	[15] = 8,
	[16] = 2,
	[18] = 16,
	[19] = 1,
	[20] = 1,
	[23] = 1,
	[24] = 1,
	[25] = 1 };

/* A tensor in a memory space. */
struct placed_tensor {
	int64_t space, bytes;
};

static int64_t read_space(struct str layout)
{
	struct leaf l = leaf_of(layout);
	uint64_t space = 0;

	while (leaf_next(&l))
		if (l.tag == LEAF_TAG(8, WIRE_VARINT))
			space = leaf_varint(&l);
		else
			leaf_skip(&l);
	return num_from_u64(space);
}

/* Multiplies the bytes of an element by the lengths of a repeated field. */
static void take_lengths(struct leaf *l, int64_t *elements)
{
	if ((l->tag & 7) == WIRE_VARINT) {
		*elements = num_mul(*elements, num_from_u64(leaf_varint(l)));
		return;
	}
	struct leaf packed = leaf_of(leaf_bytes(l));
	while (packed.p < packed.end && !packed.bad)
		*elements = num_mul(*elements, num_from_u64(leaf_varint(&packed)));
}

static struct placed_tensor read_tensor(struct str shape)
{
	struct leaf l = leaf_of(shape);
	struct placed_tensor out = { 0 };
	int64_t elements = 1;
	uint64_t type = 0;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(2, WIRE_VARINT): type = leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_BYTES):
		case LEAF_TAG(3, WIRE_VARINT): take_lengths(&l, &elements); break;
		case LEAF_TAG(5, WIRE_BYTES): out.space = read_space(leaf_bytes(&l)); break;
		default: leaf_skip(&l);
		}
	}
	out.bytes = num_mul(elements, type < sizeof type_bytes ? type_bytes[type] : 0);
	return out;
}

bool hlo_find_copy(const struct xprogram *p, const struct xinstruction *i, struct hlo_copy *out)
{
	struct placed_tensor places[2] = { 0 }; /* destination and source */
	size_t n = 0;
	uint32_t at;

	if (!str_eq(i->opcode, S("copy-done")) || !i->operands.n ||
	        !imap_get(&p->of_id, (uint64_t)i->operands.v[0], &at))
		return false;
	struct leaf l = leaf_of(p->instructions.v[at].shape);
	while (leaf_next(&l))
		if (l.tag == LEAF_TAG(4, WIRE_BYTES) && n < 2)
			places[n++] = read_tensor(leaf_bytes(&l));
		else
			leaf_skip(&l);
	if (l.bad || n < 2)
		return false;
	bool from_host = places[1].space == SPACE_HOST, to_host = places[0].space == SPACE_HOST;
	*out = (struct hlo_copy){ from_host == to_host ? "DtoD"
		                  : from_host          ? "HtoD"
		                                       : "DtoH",
		places[0].bytes };
	return true;
}
