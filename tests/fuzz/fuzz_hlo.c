/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled programs with their buffer assignment (HloProto), in an XSpace that has nothing else,
 * and the use of memory that is computed from them.
 */
#include "memory.h"

#include "export/message/pbput.h"

/* Puts the entry of a map from 1 to a message with id 1. mark: size before the other fields of the
 * message. */
static void close_entry(struct pbput *b, unsigned field, size_t mark)
{
	pbput_number(b, 1, 1);
	pbput_close(b, 2, mark);
	pbput_number(b, 1, 1);
	pbput_close(b, field, mark);
}

/* Returns an XSpace with one program. */
static struct str space_of(struct str program, struct arena *a)
{
	struct pbput b;

	pbput_init(&b, a);
	size_t space = pbput_size(&b), mark = space;
	pbput_item(&b, 2, S("Hlo Proto"));
	close_entry(&b, 5, mark);
	mark = pbput_size(&b);
	pbput_item(&b, 6, program);
	pbput_number(&b, 1, 1);
	pbput_close(&b, 5, mark);
	pbput_item(&b, 2, S("jit_f(1)"));
	close_entry(&b, 4, mark);
	pbput_item(&b, 2, S("/host:metadata"));
	pbput_close(&b, 1, space);
	return pbput_str(&b);
}

static void check(struct arena *a, struct str bytes)
{
	struct str whole = space_of(bytes, a);

	fuzz_trace(read_xspace, (const uint8_t *)whole.p, whole.n);
	fuzz_memory(read_xspace, (const uint8_t *)whole.p, whole.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_within(check, data, size);
}
