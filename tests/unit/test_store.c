/* SPDX-License-Identifier: Apache-2.0
 *
 * store: the losses that a recording reports if its file may not grow, whatever the limit.
 */
#include "unit.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collect/store.h"
#include "trace/read/recording/recordings.h"

#define BLOCKS 4u
#define EACH   40u /* kernels in a block */

/* Records BLOCKS blocks into a file of at most `most` bytes. */
static void record(const char *folder, rlim_t most)
{
	const struct spool_record kernel = { .kind = SPOOL_KERNEL,
		.kernel = { .start = 1000, .length = 7 } };
	struct rlimit old, limit;

	assert_true(files_open(folder, false));
	assert_true(files_spool_make());
	assert_true(store_open(0));
	getrlimit(RLIMIT_FSIZE, &old);
	limit = (struct rlimit){ most, old.rlim_max };
	setrlimit(RLIMIT_FSIZE, &limit);
	for (unsigned i = 1; i <= BLOCKS * EACH; i++) {
		store_put(&kernel);
		if (i % EACH == 0)
			store_sync();
	}
	store_close();
	setrlimit(RLIMIT_FSIZE, &old);
	files_close();
}

/* Reads the folder's only spool, and clears the folder. */
static struct recording_facts take(struct arena *a, const char *folder)
{
	struct recording_facts look;
	struct err e = { 0 };
	char pattern[64];
	glob_t spools, all;

	snprintf(pattern, sizeof pattern, "%s/*" SPOOL_SUFFIX, folder);
	assert_int_equal(glob(pattern, 0, NULL, &spools), 0);
	assert_int_equal(spools.gl_pathc, 1);
	assert_true(recording_summary(a, str_of(spools.gl_pathv[0]), &look, &e));
	globfree(&spools);
	snprintf(pattern, sizeof pattern, "%s/*", folder);
	assert_int_equal(glob(pattern, 0, NULL, &all), 0);
	for (size_t i = 0; i < all.gl_pathc; i++)
		assert_int_equal(unlink(all.gl_pathv[i]), 0);
	globfree(&all);
	return look;
}

/* For a limit at any byte: stored and lost records add up to all records, and the reason is
 * recorded. */
static void what_has_no_place_is_told(void **state)
{
	char folder[] = "/tmp/tfprof-store-XXXXXX";
	bool whole = false;

	assert_non_null(mkdtemp(folder));
	for (rlim_t most = FILES_LAST + sizeof(struct spool_count); !whole; most += 3) {
		record(folder, most);

		struct recording_facts l = take(*state, folder);

		assert_true(l.size <= most);
		assert_int_equal(l.fault.bytes, 0);
		whole = l.ended;

		uint64_t kernels = l.totals[SPOOL_KERNEL], lost = l.lost.n[SPOOL_LOST_WRITE];
		bool only_end = kernels == BLOCKS * EACH && !whole; /* this is also a record */

		assert_int_equal(kernels + lost, BLOCKS * EACH + only_end);
		assert_int_equal(kernels % EACH, 0);
		assert_int_equal(l.notes.n, !whole);
		if (!whole)
			assert_non_null(strstr(l.notes.v[0].p, "recording stopped after "));
	}
	assert_int_equal(rmdir(folder), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(what_has_no_place_is_told) };

	return unit_main(tests, argc, argv);
}
