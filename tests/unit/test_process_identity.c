/* SPDX-License-Identifier: Apache-2.0
 *
 * Identity of a recording: precedence of variables, processes of a job, numbers of GPUs.
 */
#include "unit.h"

#include "io/recording_in.h"

static void take(struct process_identity *w, struct arena *a, const char *key, const char *value)
{
	process_identity_take(
	        w, a, &(struct spool_info){ { key, strlen(key) }, { value, strlen(value) } });
}

/* Independent of the order of the variables. */
static void variables_have_an_order(void **state)
{
	static const char *const facts[][2] = { { "env.SLURM_PROCID", "9" }, { "env.RANK", "3" },
		{ "env.PMI_RANK", "x" }, { "env.SLURM_JOB_ID", "77" }, { "env.TFPROF_JOB", "mine" },
		{ "env.TORCHELASTIC_RUN_ID", "none" }, { "exe", "/usr/bin/python3.11" } };
	const unsigned n = sizeof facts / sizeof *facts;

	for (unsigned first = 0; first < n; first++) {
		struct process_identity w;
		process_identity_init(&w);
		for (unsigned i = 0; i < n; i++)
			take(&w, *state, facts[(first + i) % n][0], facts[(first + i) % n][1]);
		assert_int_equal(w.rank, 3);
		assert_str(w.job, "mine");
		assert_str(w.program, "python3.11");
	}
}

static void no_name_is_none(void **state)
{
	struct process_identity w;

	process_identity_init(&w);
	take(&w, *state, "env.TORCHELASTIC_RUN_ID", "none");
	take(&w, *state, "env.RANK", "-4");
	take(&w, *state, "env.TFPROF_JOB", "");
	assert_int_equal(w.job.n, 0);
	assert_int_equal(w.rank, -1);
}

static struct process_identity process(int64_t pid, int64_t parent, int64_t rank)
{
	struct process_identity w;

	process_identity_init(&w);
	w.pid = pid;
	w.parent = parent;
	w.rank = rank;
	return w;
}

/* Two launchers with rank 0 each, a child of the first one, and one without a rank. */
static void launchers_are_told_apart(void **state)
{
	struct process_identity w[] = { process(10, 1, 0), process(11, 10, 1), process(20, 2, 0),
		process(30, 1, -1) };
	struct process_identity *v[] = { &w[0], &w[1], &w[2], &w[3] };

	process_identity_jobs(v, 4, *state);
	assert_str(w[0].job, "p1");
	assert_str(w[1].job, "p1");
	assert_str(w[2].job, "p2");
	assert_str(w[3].job, "");
	assert_int_equal(w[0].named.n, 0);
}

/* The search ends if the parents form a cycle. */
static void circles_end(void **state)
{
	struct process_identity w[] = { process(1, 2, 0), process(2, 1, 0), process(3, 3, 0),
		process(0, 0, 0) };
	struct process_identity *v[] = { &w[0], &w[1], &w[2], &w[3] };

	process_identity_jobs(v, 4, *state);
	assert_str(w[3].job, "");
}

static struct spool_gpu gpu(uint8_t uuid, const char *host, uint32_t id)
{
	return (struct spool_gpu){ .uuid = { uuid }, .host = str_of(host), .id = id };
}

static void numbers_of_gpus(void **state)
{
	struct spool_gpu same[] = { gpu(1, "h", 3), gpu(2, "h", 5) };
	struct spool_gpu hidden[] = { gpu(1, "h", 0), gpu(2, "h", 1), gpu(2, "h", 0) };
	struct spool_gpu hosts[] = { gpu(4, "b", 0), gpu(1, "a", 0), gpu(2, "a", 1), gpu(0, "b", 0),
		gpu(0, "a", 7) };

	process_identity_gpus(same, 2, *state);
	assert_int_equal(same[0].number, 3);
	assert_int_equal(same[1].number, 5);
	process_identity_gpus(hidden, 3, *state);
	assert_int_equal(hidden[0].number, 0);
	assert_int_equal(hidden[1].number, 1);
	assert_int_equal(hidden[2].number, 1);
	process_identity_gpus(hosts, 5, *state);
	assert_int_equal(hosts[1].number, 0);
	assert_int_equal(hosts[2].number, 1);
	assert_int_equal(hosts[4].number, 7);
	assert_int_equal(hosts[0].number + hosts[3].number, 8 + 9);
	process_identity_gpus(NULL, 0, *state);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(variables_have_an_order),
		unit_case(no_name_is_none),
		unit_case(launchers_are_told_apart),
		unit_case(circles_end),
		unit_case(numbers_of_gpus),
	};

	return unit_main(tests, argc, argv);
}
