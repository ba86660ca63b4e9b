/* SPDX-License-Identifier: Apache-2.0
 *
 * Varints, zigzag, byte order; CRC-32C by table and by instruction.
 */
#include "unit.h"

#include "base/crc32c.h"

static void check_varint(uint64_t v, size_t size)
{
	uint8_t bytes[VARINT_MAX + 1];
	const uint8_t *p = bytes;
	uint64_t back = ~v;

	assert_int_equal(varint_put(bytes, v) - bytes, size);
	assert_int_equal(varint_size(v), size);
	assert_true(varint_get(&p, bytes + size, &back));
	assert_int_equal(back, v);
	assert_ptr_equal(p, bytes + size);
	p = bytes;
	assert_int_equal(varint_take(&p), v);
	assert_ptr_equal(p, bytes + size);
	for (size_t cut = 0; cut < size; cut++) {
		p = bytes;
		assert_false(varint_get(&p, bytes + cut, &back));
		assert_ptr_equal(p, bytes);
	}
}

static void varints_go_round(void **state)
{
	(void)state;
	check_varint(0, 1);
	check_varint(300, 2);
	check_varint(UINT64_MAX, 10);
	for (unsigned size = 1; size < 10; size++) {
		check_varint(((uint64_t)1 << (7 * size)) - 1, size);
		check_varint((uint64_t)1 << (7 * size), size + 1);
	}
}

static void long_varints_are_refused(void **state)
{
	uint8_t bytes[12];
	const uint8_t *p = bytes;
	uint64_t v;

	(void)state;
	memset(bytes, 0x80, sizeof bytes);
	bytes[10] = 0;
	assert_false(varint_get(&p, bytes + sizeof bytes, &v));
	bytes[9] = 0; /* ten bytes for zero are allowed */
	assert_true(varint_get(&p, bytes + sizeof bytes, &v));
	assert_int_equal(v, 0);
	assert_ptr_equal(p, bytes + 10);
}

static void zigzag_goes_round(void **state)
{
	static const int64_t values[] = { 0, -1, 1, -2, 2, INT64_MAX, INT64_MIN };
	static const uint64_t coded[] = { 0, 1, 2, 3, 4, UINT64_MAX - 1, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(zigzag(values[i]), coded[i]);
		assert_int_equal(unzigzag(coded[i]), values[i]);
	}
}

static void byte_order(void **state)
{
	static const uint8_t b[] = { 0xff, 1, 2, 3, 0x84, 5, 6, 7, 0xf8 };
	uint8_t put[8];

	(void)state;
	assert_int_equal(le32_get(b + 1), 0x84030201);
	assert_int_equal(le64_get(b + 1), 0xf807060584030201);
	le64_put(put, 0xf807060584030201);
	assert_memory_equal(put, b + 1, 8);
}

/* The examples of RFC 3720, B.4, and the usual check value. */
static void crc_of_known_texts(void **state)
{
	uint8_t bytes[32] = { 0 };

	(void)state;
	assert_int_equal(crc32c("", 0), 0);
	assert_int_equal(crc32c("123456789", 9), 0xe3069283);
	assert_int_equal(crc32c(bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, 32);
	assert_int_equal(crc32c(bytes, 32), 0x62a8ab43);
	for (uint8_t i = 0; i < 32; i++)
		bytes[i] = i;
	assert_int_equal(crc32c(bytes, 32), 0x46dd794e);
}

static void crc_ways_agree(void **state)
{
	uint8_t bytes[700];

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * i >> 3 ^ i);
	for (size_t n = 0; n < 600; n++) {
		const uint8_t *p = bytes + n % 90;
		uint32_t crc = crc32c(p, n);

		assert_int_equal(crc, (uint32_t)~crc32c_by_table(~0u, p, n));
		assert_int_equal(crc, crc32c_more(crc32c(p, n / 3), p + n / 3, n - n / 3));
	}
}

static void crc_is_masked(void **state)
{
	(void)state;
	assert_int_equal(crc32c_mask(0), 0xa282ead8);
	assert_int_equal(crc32c_mask(0x00008001), 0xa284ead9);
	for (uint32_t x = 1; x < 0x40000000; x = x * 3 + 1)
		assert_int_equal(crc32c_unmask(crc32c_mask(x)), x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(varints_go_round),
		cmocka_unit_test(long_varints_are_refused),
		cmocka_unit_test(zigzag_goes_round),
		cmocka_unit_test(byte_order),
		cmocka_unit_test(crc_of_known_texts),
		cmocka_unit_test(crc_ways_agree),
		cmocka_unit_test(crc_is_masked),
	};

	return unit_main(tests, argc, argv);
}
