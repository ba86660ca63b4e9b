/* SPDX-License-Identifier: Apache-2.0
 *
 * A recording that grows between its two readings, because it is still being written.
 */
#include "unit.h"

#include "io/block_format.h"
#include "trace/read/recording/recording_internal.h"

#define BASE   1700000000000000000u
#define SECOND 1000000000u

/* Makes a recording of clock readings, each followed by a kernel at its time. */
static struct str write_spool(struct arena *a, unsigned n)
{
	struct block_encoder *p = ARENA_NEW(a, struct block_encoder);
	uint8_t *block = ARENA_ARRAY(a, SPOOL_BLOCK_MIN, uint8_t);

	block_encode_init(p, 1);
	block_encode_begin(p, block, SPOOL_BLOCK_MIN, BASE);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t now = BASE + i * SECOND;
		block_encode(p, &(struct spool_record){ .kind = SPOOL_CLOCK,
		                        .clock = { now, i * SECOND, now, 0 } });
		block_encode(p, &(struct spool_record){
		                        .kind = SPOOL_KERNEL, .kernel = { .start = now + 5 } });
	}
	return str_make(block, block_encode_finish(p));
}

/* A recording of n kernels without clock readings, whose clock was set meanwhile. */
struct rig {
	struct err e;
	struct recordings r;
	struct recording_file file;
	struct recorded_process p;
};

static void rig_open(struct rig *x, struct arena *a, unsigned n)
{
	*x = (struct rig){ .e.a = a, .r = { .a = a, .e = &x->e } };
	x->p = (struct recorded_process){ .file = &x->file, .jumped = true };
	assert_true(src_memory(&x->file.given, a, S("spool"), write_spool(a, n), &x->e));
}

/* Readings that the first pass has not read are ignored. */
static void more_readings(void **state)
{
	struct arena *a = *state;
	struct rig g;
	struct spool_damage d;
	struct spool_record x;
	struct recording_feed f;
	unsigned kernels = 0;

	rig_open(&g, a, 9);
	VEC_PUSH(a, &g.p.clocks, ((struct clock_at){ 0, BASE }));
	VEC_PUSH(a, &g.p.clocks, ((struct clock_at){ SECOND, BASE }));
	for (unsigned i = 0; i < 8; i++)
		VEC_PUSH(a, &g.p.clocks, ((struct clock_at){ i * SECOND, 77777 }));
	g.p.clocks.n = 2;
	assert_true(feed_open(&f, &g.r, &g.p));
	while (feed_next(&f, &x, &d) == SPOOL_EVENT_RECORD)
		if (x.kind == SPOOL_KERNEL)
			assert_int_equal(x.kernel.start, BASE + kernels++ * (uint64_t)SECOND + 5);
	assert_int_equal(kernels, 9);
	feed_close(&f);
}

/* Clocks whose offsets differ by more than their type can hold. */
static void far_clocks(void **state)
{
	struct arena *a = *state;
	struct rig g;
	struct spool_damage d;
	struct spool_record x;
	struct recording_feed f;

	rig_open(&g, a, 3);
	VEC_PUSH(a, &g.p.clocks, ((struct clock_at){ 0, INT64_MAX }));
	VEC_PUSH(a, &g.p.clocks, ((struct clock_at){ SECOND, INT64_MIN }));
	assert_true(feed_open(&f, &g.r, &g.p));
	while (feed_next(&f, &x, &d) == SPOOL_EVENT_RECORD)
		;
	feed_close(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(more_readings), unit_case(far_clocks) };

	return unit_main(tests, argc, argv);
}
