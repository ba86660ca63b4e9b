/* SPDX-License-Identifier: Apache-2.0
 *
 * Keys of slices: name, then start and length of each dimension, encoded so that the bytes compare
 * as the values do.
 *
 *   u64:   number of bytes | that many bytes, high byte first, no leading zeros
 *   bytes: with 00 as 00 ff and ff as ff 00, ended by 00 01
 *   i64:   n bytes (1 ... 10) carry 7 n bits of two's complement, high byte first; the n leading
 *          bits count the bytes: ones, and for a negative number zeros
 */
#include "base/num.h"
#include "checkpoint/ckpt_internal.h"

static void ordered_u64(struct sb *b, uint64_t v)
{
	unsigned n = 0;

	while (n < 8 && v >> (8 * n))
		n++;
	sb_char(b, (char)n);
	while (n--)
		sb_char(b, (char)(v >> (8 * n)));
}

static void ordered_bytes(struct sb *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		sb_char(b, s.p[i]);
		if (s.p[i] == '\0')
			sb_char(b, '\xff');
		else if (s.p[i] == '\xff')
			sb_char(b, '\0');
	}
	sb_put(b, str_make("\0\1", 2));
}

static void ordered_i64(struct sb *b, int64_t v)
{
	uint64_t magnitude = v < 0 ? ~(uint64_t)v : (uint64_t)v;
	uint8_t code[10];
	unsigned n = 1;

	while (n < 10 && magnitude >> (7 * n - 1))
		n++;
	for (unsigned i = 0; i < n; i++) {
		unsigned shift = 8 * (n - 1 - i);
		uint64_t high = v < 0 ? UINT64_MAX : 0;
		code[i] = (uint8_t)(shift < 64 ? (uint64_t)v >> shift : high);
	}
	for (unsigned i = 0; i < n; i++)
		code[i / 8] = (uint8_t)(code[i / 8] ^ 0x80u >> i % 8);
	sb_put(b, str_make(code, n));
}

struct str slice_key(struct arena *a, struct str name, uint32_t rank, const int64_t *start,
        const int64_t *length)
{
	struct sb b = sb_in(a);

	ordered_u64(&b, 0);
	ordered_bytes(&b, name);
	ordered_u64(&b, rank);
	for (uint32_t i = 0; i < rank; i++) {
		ordered_i64(&b, start[i]);
		ordered_i64(&b, length[i]);
	}
	return sb_str(&b);
}

int64_t slice_elements(const struct ckpt_slice *s, uint32_t rank)
{
	int64_t n = 1;

	for (uint32_t d = 0; d < rank; d++)
		n = num_mul(n, s->length[d]);
	return n;
}
