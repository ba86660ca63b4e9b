/* SPDX-License-Identifier: Apache-2.0
 *
 * Varints, zigzag and byte order. Header only and free of allocation, because the collector uses it
 * too.
 */
#ifndef TFPROF_BASE_BITS_H
#define TFPROF_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VARINT_MAX      10 /* size of the longest varint, bytes */
#define BITS_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline uint32_t le32_get(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return BITS_BIG_ENDIAN ? __builtin_bswap32(v) : v;
}

static inline uint64_t le64_get(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return BITS_BIG_ENDIAN ? __builtin_bswap64(v) : v;
}

static inline void le64_put(void *p, uint64_t v)
{
	v = BITS_BIG_ENDIAN ? __builtin_bswap64(v) : v;
	memcpy(p, &v, sizeof v);
}

/* Returns the value of eight varint bytes in w (low byte first) by joining their low seven bits. */
static inline uint64_t varint_pack(uint64_t w)
{
	w = (w & 0x007f007f007f007f) | (w & 0x7f007f007f007f00) >> 1;
	w = (w & 0x00003fff00003fff) | (w & 0x3fff00003fff0000) >> 2;
	return (w & 0x0fffffff) | (w & 0x0fffffff00000000) >> 4;
}

/* Slow path of varint_get: reads one byte at a time. */
static inline bool varint_get_slow(const uint8_t **p, const uint8_t *end, uint64_t *out)
{
	const uint8_t *q = *p;
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		if (q == end)
			return false;
		uint64_t b = *q++;
		v |= (b & 0x7f) << shift;
		if (b < 0x80) {
			*out = v;
			*p = q;
			return true;
		}
	}
	return false;
}

/* Reads a varint of two bytes or more. Two, three and eight bytes, the most common sizes (lengths,
 * ids, timestamps), have branches of their own; for other sizes up to eight, the end is found from
 * the first byte below 0x80. */
static inline bool varint_get_long(const uint8_t **p, const uint8_t *end, uint64_t *out)
{
	const uint64_t more = 0x8080808080808080;
	const uint8_t *q = *p;
	uint64_t w, stops;

	if (end - q >= 2 && q[1] < 0x80) {
		*out = (*q & 0x7fu) | (uint64_t)q[1] << 7;
		*p = q + 2;
		return true;
	}
	if (end - q >= 3 && q[2] < 0x80) {
		*out = (*q & 0x7fu) | (q[1] & 0x7fu) << 7 | (uint64_t)q[2] << 14;
		*p = q + 3;
		return true;
	}
	if (end - q < 8)
		return varint_get_slow(p, end, out);
	w = le64_get(q);
	if ((w & more) == more >> 8) {
		*out = varint_pack(w);
		*p = q + 8;
		return true;
	}
	stops = ~w & more;
	if (!stops)
		return varint_get_slow(p, end, out);
	*out = varint_pack(w & (stops ^ (stops - 1)));
	*p = q + (__builtin_ctzll(stops) >> 3) + 1;
	return true;
}

/* Reads a varint at *p, before end. Returns false and leaves *p unchanged if the varint is
 * truncated or longer than ten bytes. Bits above the 64th are dropped. */
static inline bool varint_get(const uint8_t **p, const uint8_t *end, uint64_t *out)
{
	const uint8_t *q = *p;

	if (q < end && *q < 0x80) {
		*out = *q;
		*p = q + 1;
		return true;
	}
	return varint_get_long(p, end, out);
}

/* Reads a varint that is known to be complete, and that is mostly short. */
static inline uint64_t varint_take(const uint8_t **p)
{
	const uint8_t *q = *p; /* a copy, because *p could alias one of the bytes for the
	                          compiler */
	uint64_t v = *q & 0x7f;

	for (unsigned shift = 7; *q++ >= 0x80; shift += 7)
		v |= (uint64_t)(*q & 0x7f) << shift;
	*p = q;
	return v;
}

/* Writes v at p (VARINT_MAX bytes must be available). Returns the end. */
static inline uint8_t *varint_put(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static inline size_t varint_size(uint64_t v)
{
	return (size_t)((unsigned)(63 - __builtin_clzll(v | 1)) * 9 + 73) / 64;
}

static inline uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);
}
static inline int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

#endif
