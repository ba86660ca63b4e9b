/* SPDX-License-Identifier: Apache-2.0
 *
 * CRC-32C (Castagnoli): with the processor's instruction if it has one, otherwise with eight
 * tables. Header only, without allocation or initialisation, because the collector uses it too.
 */
#ifndef TFPROF_BASE_CRC32C_H
#define TFPROF_BASE_CRC32C_H

#include "base/bits.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

/* The checksum is linear: the checksum of a byte is the sum of the checksums of its bits. CRC_BYTEk
 * is the checksum of a byte that k more bytes follow; its rows come from shifting 0x82f63b78. */
/* clang-format off */
#define CRC_BIT(x, i, c) ((x) >> (i) & 1 ? (c) : 0u)
#define CRC_BYTE(x, a, b, c, d, e, f, g, h) \
	(CRC_BIT(x, 0, a) ^ CRC_BIT(x, 1, b) ^ CRC_BIT(x, 2, c) ^ CRC_BIT(x, 3, d) ^ \
		CRC_BIT(x, 4, e) ^ CRC_BIT(x, 5, f) ^ CRC_BIT(x, 6, g) ^ CRC_BIT(x, 7, h))
#define CRC_BYTE0(x) \
	CRC_BYTE(x, 0xf26b8303u, 0xe13b70f7u, 0xc79a971fu, 0x8ad958cfu, \
		0x105ec76fu, 0x20bd8edeu, 0x417b1dbcu, 0x82f63b78u)
#define CRC_BYTE1(x) \
	CRC_BYTE(x, 0x13a29877u, 0x274530eeu, 0x4e8a61dcu, 0x9d14c3b8u, \
		0x3fc5f181u, 0x7f8be302u, 0xff17c604u, 0xfbc3faf9u)
#define CRC_BYTE2(x) \
	CRC_BYTE(x, 0xa541927eu, 0x4f6f520du, 0x9edea41au, 0x38513ec5u, \
		0x70a27d8au, 0xe144fb14u, 0xc76580d9u, 0x8b277743u)
#define CRC_BYTE3(x) \
	CRC_BYTE(x, 0xdd45aab8u, 0xbf672381u, 0x7b2231f3u, 0xf64463e6u, \
		0xe964b13du, 0xd725148bu, 0xaba65fe7u, 0x52a0c93fu)
#define CRC_BYTE4(x) \
	CRC_BYTE(x, 0x38116facu, 0x7022df58u, 0xe045beb0u, 0xc5670b91u, \
		0x8f2261d3u, 0x1ba8b557u, 0x37516aaeu, 0x6ea2d55cu)
#define CRC_BYTE5(x) \
	CRC_BYTE(x, 0xef306b19u, 0xdb8ca0c3u, 0xb2f53777u, 0x6006181fu, \
		0xc00c303eu, 0x85f4168du, 0x0e045bebu, 0x1c08b7d6u)
#define CRC_BYTE6(x) \
	CRC_BYTE(x, 0x68032cc8u, 0xd0065990u, 0xa5e0c5d1u, 0x4e2dfd53u, \
		0x9c5bfaa6u, 0x3d5b83bdu, 0x7ab7077au, 0xf56e0ef4u)
#define CRC_BYTE7(x) \
	CRC_BYTE(x, 0x493c7d27u, 0x9278fa4eu, 0x211d826du, 0x423b04dau, \
		0x847609b4u, 0x0d006599u, 0x1a00cb32u, 0x34019664u)
#define CRC_4(f, x) f(x), f((x) + 1), f((x) + 2), f((x) + 3)
#define CRC_16(f, x) CRC_4(f, x), CRC_4(f, (x) + 4), CRC_4(f, (x) + 8), CRC_4(f, (x) + 12)
#define CRC_64(f, x) CRC_16(f, x), CRC_16(f, (x) + 16), CRC_16(f, (x) + 32), CRC_16(f, (x) + 48)
#ifndef CRC_256 /* static analysis defines a short table, because the full one would take minutes to analyse */
#define CRC_256(f) CRC_64(f, 0), CRC_64(f, 64), CRC_64(f, 128), CRC_64(f, 192)
#endif
/* clang-format on */

/* Portable version: eight bytes per step. */
static inline uint32_t crc32c_by_table(uint32_t crc, const uint8_t *p, size_t n)
{
	/* clang-format off */
	static const uint32_t t[8][256] = {
		{ CRC_256(CRC_BYTE0) },
		{ CRC_256(CRC_BYTE1) },
		{ CRC_256(CRC_BYTE2) },
		{ CRC_256(CRC_BYTE3) },
		{ CRC_256(CRC_BYTE4) },
		{ CRC_256(CRC_BYTE5) },
		{ CRC_256(CRC_BYTE6) },
		{ CRC_256(CRC_BYTE7) },
	};
	/* clang-format on */

	for (; n >= 8; n -= 8, p += 8) {
		uint64_t x = le64_get(p) ^ crc;

		crc = 0;
		for (unsigned i = 0; i < 8; i++)
			crc ^= t[7 - i][x >> (8 * i) & 0xff];
	}
	for (; n; n--)
		crc = crc >> 8 ^ t[0][(crc ^ *p++) & 0xff];
	return crc;
}

#if defined(__x86_64__)
#define CRC32C_HARDWARE 1
#if defined(__clang__) && __clang_major__ >= 14
#define CRC32C_TARGET "sse4.2,crc32" /* newer instruction sets do not imply the second */
#else
#define CRC32C_TARGET "sse4.2"
#endif
static inline bool crc32c_has_hardware(void)
{
	return __builtin_cpu_supports("sse4.2");
}

__attribute__((target(CRC32C_TARGET))) static inline uint32_t crc32c_by_hardware(
        uint32_t crc, const uint8_t *p, size_t n)
{
	uint64_t c = crc;

	for (; n >= 8; n -= 8, p += 8)
		c = __builtin_ia32_crc32di(c, le64_get(p));
	for (; n; n--)
		c = __builtin_ia32_crc32qi((uint32_t)c, *p++);
	return (uint32_t)c;
}
#elif defined(__aarch64__) && defined(__linux__)
#define CRC32C_HARDWARE 1
/* Bit 7 of the hardware capabilities: the processor has the CRC instructions. */
static inline bool crc32c_has_hardware(void)
{
	return getauxval(AT_HWCAP) >> 7 & 1;
}

static inline uint32_t crc32c_by_hardware(uint32_t crc, const uint8_t *p, size_t n)
{
	for (; n >= 8; n -= 8, p += 8)
		__asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1"
		        : "+r"(crc)
		        : "r"(le64_get(p)));
	for (; n; n--)
		__asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1"
		        : "+r"(crc)
		        : "r"((uint32_t)*p++));
	return crc;
}
#endif

/* Extends the checksum crc (0 for no bytes) by n more bytes. */
static inline uint32_t crc32c_more(uint32_t crc, const void *p, size_t n)
{
#ifdef CRC32C_HARDWARE
	if (crc32c_has_hardware())
		return ~crc32c_by_hardware(~crc, p, n);
#endif
	return ~crc32c_by_table(~crc, p, n);
}

static inline uint32_t crc32c(const void *p, size_t n)
{
	return crc32c_more(0, p, n);
}

/* Returns the masked form in which checksums are stored beside their data. */
static inline uint32_t crc32c_mask(uint32_t crc)
{
	return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static inline uint32_t crc32c_unmask(uint32_t masked)
{
	uint32_t r = masked - 0xa282ead8u;

	return r >> 17 | r << 15;
}

#endif
