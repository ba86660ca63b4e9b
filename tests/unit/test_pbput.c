/* SPDX-License-Identifier: Apache-2.0
 *
 * pbput: fields in order, lengths, omitted zeros, a buffer that grows.
 */
#include "unit.h"

#include "io/wire.h"
#include "export/message/pbput.h"

static void test_fields(void **state)
{
	struct pbput b;

	pbput_init(&b, *state);
	size_t mark = pbput_size(&b);
	pbput_text(&b, 3, S("xy"));
	pbput_i64(&b, 2, -1);
	pbput_i64(&b, 1, 0);
	pbput_close(&b, 16, mark);
	pbput_item(&b, 2, S(""));
	pbput_text(&b, 2, S(""));
	pbput_number(&b, 1, 0);
	static const char want[] =
	        "\010\0\022\0\202\001\017\020\377\377\377\377\377\377\377\377\377\001\032\002xy";
	assert_int_equal(pbput_size(&b), sizeof want - 1);
	assert_memory_equal(pbput_str(&b).p, want, sizeof want - 1);
	pbput_clear(&b);
	assert_int_equal(pbput_size(&b), 0);
}

static void test_grows(void **state)
{
	static char text[3000];
	struct pbput b;
	struct leaf l;

	memset(text, 'x', sizeof text);
	pbput_init(&b, *state);
	for (int i = 100; i-- > 0;) {
		text[0] = (char)i;
		pbput_item(&b, 1, str_make(text, (size_t)i * 30));
	}
	l = leaf_of(pbput_str(&b));
	for (int i = 0; i < 100; i++) {
		assert_true(leaf_next(&l));
		struct str s = leaf_bytes(&l);
		assert_int_equal(s.n, i * 30);
		assert_true(i == 0 || s.p[0] == i);
	}
	assert_false(leaf_next(&l));
	assert_false(l.bad);
}

static void test_sink(void **state)
{
	struct sink *to = sink_memory(*state);

	pbsink_open(to, 6, 300);
	assert_int_equal(sink_text(to).n, 3);
	assert_memory_equal(sink_text(to).p, "\062\254\002", 3);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_fields), unit_case(test_grows),
		unit_case(test_sink) };

	return unit_main(tests, argc, argv);
}
