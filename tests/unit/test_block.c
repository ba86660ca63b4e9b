/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings: every encoded record is decoded again; a truncated or changed file gives its intact
 * records, never more, and reports its losses.
 */
#include "unit.h"

#include "recording_rig.h"

#define RECORDS 3000

static bool text_eq(struct spool_text a, struct spool_text b)
{
	return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n));
}

/* Asserts that records are equal in all written members. */
static void assert_record(struct spool_record a, struct spool_record b)
{
	static const struct spool_text none;

	assert_int_equal(a.kind, b.kind);
	if (a.kind == SPOOL_INFO) {
		assert_true(text_eq(a.info.key, b.info.key));
		assert_true(text_eq(a.info.value, b.info.value));
		a.info.key = b.info.key = a.info.value = b.info.value = none;
	} else if (a.kind == SPOOL_STRING) {
		assert_true(text_eq(a.string.text, b.string.text));
		a.string.text = b.string.text = none;
	} else if (a.kind == SPOOL_NOTE) {
		assert_true(text_eq(a.note.text, b.note.text));
		return;
	} else if (a.kind == SPOOL_END) {
		assert_int_equal(a.end.time, b.end.time);
		return;
	}
	assert_memory_equal(&a, &b, sizeof a);
}

static struct block_decoder *open_bytes(struct arena *a, struct str bytes, struct err *e)
{
	struct block_decoder *g = ARENA_NEW(a, struct block_decoder);
	struct src *s;

	*e = (struct err){ .a = a };
	assert_true(src_memory(&s, a, S("spool"), bytes, e));
	block_decode_init(g, s, a, e);
	return g;
}

/* Checks that the records of a file come back in order: those whose block ends at or before the
 * cut, and from byte `skip` on. Returns the number of damaged places. */
static size_t check_all(struct arena *a, const struct spooled *f, struct str bytes)
{
	struct arena_mark mark = arena_mark(a);
	struct spool_record r;
	struct spool_damage d;
	enum spool_event event;
	struct err e;
	struct block_decoder *g = open_bytes(a, bytes, &e);
	size_t i = 0, damages = 0;

	while (memset(&r, 0, sizeof r), (event = block_decode(g, &r, &d)) != SPOOL_EVENT_END) {
		assert_int_not_equal(event, SPOOL_EVENT_FAILED);
		if (event == SPOOL_EVENT_DAMAGE) {
			damages++;
			while (i < f->n && f->block[i] <= d.at + d.skipped)
				i++;
			continue;
		}
		assert_true(i < f->n);
		assert_record(f->records[i++], r);
	}
	assert_true(i == f->n || f->block[i] > bytes.n || damages);
	arena_reset(a, mark);
	return damages;
}

static void records_go_round(void **state)
{
	for (spool_seed = 1; spool_seed < 20; spool_seed++) {
		uint64_t start = spool_seed;
		struct spooled f = spool_make(*state, RECORDS, start % 2 ? UINT32_MAX : 100);
		assert_int_equal(check_all(*state, &f, sb_str(&f.bytes)), 0);
		spool_seed = start;
		arena_clear(*state);
	}
}

/* If a file is truncated anywhere, all whole blocks are read; the rest is one damaged place. */
static void cut_anywhere(void **state)
{
	spool_seed = 5;
	struct spooled f = spool_make(*state, 60, 7);

	for (size_t n = 0; n < f.bytes.n; n++) {
		size_t damages = check_all(*state, &f, str_sub(sb_str(&f.bytes), 0, n));
		bool at_block = n == 0;
		for (size_t i = 0; i < f.n; i++)
			at_block |= f.block[i] == n;
		assert_int_equal(damages, at_block ? 0 : 1);
	}
}

/* A changed bit loses its block and no other block. */
static void flip_anywhere(void **state)
{
	spool_seed = 6;
	struct spooled f = spool_make(*state, 60, 7);

	for (size_t i = 0; i < f.bytes.n * 8; i += 3) {
		f.bytes.p[i / 8] = (char)(f.bytes.p[i / 8] ^ 1 << i % 8);
		assert_in_range(check_all(*state, &f, sb_str(&f.bytes)), 1, 2);
		f.bytes.p[i / 8] = (char)(f.bytes.p[i / 8] ^ 1 << i % 8);
	}
}

/* Strings are found by id, except strings of a lost block. */
static void strings_are_kept(void **state)
{
	struct block_encoder *put = ARENA_NEW((struct arena *)*state, struct block_encoder);
	uint8_t *buffer = ARENA_ARRAY((struct arena *)*state, BUFFER, uint8_t);
	struct spool_record r = { .kind = SPOOL_STRING, .string = { 1, { "gemm", 4 } } };
	struct spool_damage d;
	struct err e;

	block_encode_init(put, 1);
	block_encode_begin(put, buffer, BUFFER, 0);
	assert_int_equal(block_encode_finish(put), 0);
	assert_true(block_encode(put, &r));
	struct block_decoder *g =
	        open_bytes(*state, str_make(buffer, block_encode_finish(put)), &e);
	assert_int_equal(block_decode(g, &r, &d), SPOOL_EVENT_RECORD);
	assert_str(block_decode_string(g, 1), "gemm");
	assert_null(block_decode_string(g, 2).p);
	assert_null(block_decode_string(g, 0).p);
	assert_false(g->ended);
}

/* The end says how many records of each kind there were, in all blocks. */
static void totals_stand_at_the_end(void **state)
{
	struct block_encoder *put = ARENA_NEW((struct arena *)*state, struct block_encoder);
	uint8_t *buffer = ARENA_ARRAY((struct arena *)*state, BUFFER, uint8_t);
	struct sb bytes = sb_in(*state);
	struct spool_record r = { .kind = SPOOL_KERNEL };
	struct spool_damage d;
	struct err e;

	block_encode_init(put, 1);
	for (unsigned i = 0; i < 3; i++) {
		block_encode_begin(put, buffer, BUFFER, 0);
		assert_true(block_encode(put, &(struct spool_record){ .kind = SPOOL_KERNEL }));
		assert_true(i || block_encode(put, &(struct spool_record){ .kind = SPOOL_COPY }));
		assert_true(
		        i < 2 || block_encode(put, &(struct spool_record){ .kind = SPOOL_END }));
		sb_put(&bytes, str_make(buffer, block_encode_finish(put)));
	}
	struct block_decoder *g = open_bytes(*state, sb_str(&bytes), &e);
	while (r.kind != SPOOL_END)
		assert_int_equal(block_decode(g, &r, &d), SPOOL_EVENT_RECORD);
	for (unsigned kind = 0; kind < SPOOL_N; kind++)
		assert_int_equal(r.end.totals[kind], kind == SPOOL_KERNEL ? 3
		                                     : kind == SPOOL_COPY ? 1
		                                                          : 0);
	assert_true(g->ended);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(records_go_round),
		unit_case(cut_anywhere),
		unit_case(flip_anywhere),
		unit_case(strings_are_kept),
		unit_case(totals_stand_at_the_end),
	};

	return unit_main(tests, argc, argv);
}
