/* SPDX-License-Identifier: Apache-2.0
 *
 * Spools of recorded GPU work. Checksums are put right first: else nothing behind them would be
 * reached.
 */
#include "rig.h"

#include "base/bits.h"
#include "base/crc32c.h"
#include "io/spool.h"

static void put32(uint8_t *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

/* Makes the checksums of the blocks that follow each other what they should be. */
static void mend(uint8_t *p, size_t n)
{
	for (size_t at = 0; n - at >= SPOOL_HEADER;) {
		uint8_t *h = p + at;
		uint32_t payload = le32_get(h + 12);
		if (memcmp(h, SPOOL_MAGIC, SPOOL_MAGIC_SIZE) != 0 ||
		        payload > n - at - SPOOL_HEADER)
			return;
		put32(h + 36, crc32c(h + SPOOL_HEADER, payload));
		put32(h + 40, crc32c(h, 40));
		at += SPOOL_HEADER + payload;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	mend(copy, size);
	fuzz_bytes(ROLE_SPOOL, copy, size);
	free(copy);
	return 0;
}
