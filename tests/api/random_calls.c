/* SPDX-License-Identifier: Apache-2.0
 *
 * Random sequences of calls of the public interface: valid and invalid inputs, memory limits,
 * patterns that match, are malformed or give up, cancels from callbacks and from a timer. After
 * every call, the code and the error text agree, and the next call works. Sanitizers detect
 * out-of-bounds accesses, use after free and leaks; a library built for tests checks its guards
 * after each call. random_calls SEED ROUNDS FOLDER     FOLDER: inputs, as tests/api/run.py lays
 * them out
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <tfprof/tfprof.h>

#define COUNT(v) (sizeof(v) / sizeof *(v))
#define CALLS    24 /* maximum number of calls of a session */

static uint64_t seed;
static struct tfp_session *volatile now;
static int stop_after; /* number of callbacks until one requests a stop; below 0: none */
static unsigned long codes[TFP_E_MEMORY + 1];

static unsigned pick(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 20) % n;
}
#define ONE_OF(v) ((v)[pick(COUNT(v))])

static void on_alarm(int number)
{
	(void)number;
	tfp_cancel(now);
}

static int stops(void)
{
	return stop_after >= 0 && stop_after-- == 0;
}

static int on_progress(void *user, uint64_t done, uint64_t total)
{
	(void)user;
	(void)done;
	(void)total;
	if (stops())
		tfp_cancel(now);
	return stops();
}

static int take(void *user, const void *p, size_t n)
{
	*(unsigned char *)user ^= n ? ((const unsigned char *)p)[n - 1] : 0;
	return stops();
}

/* ---- calls ---- */

static const char *const files[] = { "graph.pb", "run_meta_0.pb", "profile.pb", "op_log.pb",
	"cut.pb", "noise", "missing", "rec", "rec_pattern", "rec_bad_pattern", "rec_slow",
	"rec_cut", "rec/train.tfspool", "" };
static const char *const hows[] = { "step-nvtx=pytorch", "step-nvtx=(", "step-nvtx=Profiler.*",
	"step-kernel=.*gemm.*", "step-kernel=[", "step-nvtx=(a*)*[bc]", "leaf=op", "keep-warmup",
	"detail-steps=x", "process=5", "nonsense" };
static const char *const lines[] = { "scope", "op -select micros,occurrence -order_by micros",
	"graph -max_depth 3", "code", "advise", "scope -show_name_regexes .*a.*,[b-z]+",
	"scope -show_name_regexes (", "scope -start_name_regexes ([a-z/_0-9]+)+!",
	"op -account_type_regexes .*Mul.*,_kTFGradOp", "scope -rename s/a/b/g",
	"scope -rename s/([a-z]+)*$/x/ -max_depth 5", "scope -rename s/(/x/", "scope -step 1",
	"scope -step 99", "scope -output csv", "graph -output json", "help scope", "nonsense", "",
	"set -max_depth 4", "set -hide_name_regexes .*grad.*", "scope -device_regexes .*gpu.*" };

static int add(void)
{
	static const int kinds[] = { TFP_GRAPH, TFP_STEP, TFP_OP_LOG, TFP_PROFILE, TFP_CHECKPOINT,
		TFP_SPOOL, TFP_SPOOL, TFP_SPOOL, 3 };
	struct tfp_str how[2] = { { ONE_OF(hows), TFP_Z }, { ONE_OF(hows), TFP_Z } };
	struct tfp_input in = { .size = sizeof in,
		.path = ONE_OF(files),
		.path_size = TFP_Z,
		.step = (int64_t)pick(3),
		.how = how,
		.n_how = pick(3) };

	if (pick(12) == 0) {
		in.bytes = "\x0a\x04xx";
		in.bytes_size = pick(5);
	}
	return tfp_add(now, ONE_OF(kinds), &in);
}

static int add_several(void)
{
	struct tfp_input in[3];
	struct tfp_str paths[2] = { { ONE_OF(files), TFP_Z }, { ONE_OF(files), TFP_Z } };
	size_t added;

	if (pick(2))
		return tfp_add_paths(now, paths, 1 + pick(2));
	for (size_t i = 0; i < COUNT(in); i++)
		in[i] = (struct tfp_input){ .size = sizeof *in,
			.path = pick(4) ? "run_meta_0.pb" : ONE_OF(files),
			.path_size = TFP_Z,
			.step = (int64_t)i };
	return tfp_add_steps(now, in, COUNT(in), &added);
}

static int ask(void)
{
	unsigned char sum = 0;
	struct tfp_run run = { .size = sizeof run,
		.flags = pick(2),
		.text = pick(8) ? take : NULL,
		.text_user = &sum,
		.result = pick(4) ? NULL : take,
		.result_user = &sum };

	return tfp_run_line(now, ONE_OF(lines), TFP_Z, &run);
}

static int set(void)
{
	static const char *const values[] = { ".*", "(", "[a-m].*", "(a|aa)+[bc]", "3", "micros" };
	static const char *const names[] = { "show_name_regexes", "start_name_regexes", "max_depth",
		"select", "account_type_regexes", "no_such" };
	struct tfp_str v[2] = { { ONE_OF(values), TFP_Z }, { ONE_OF(values), TFP_Z } };

	if (pick(4) == 0)
		return tfp_reset(now);
	return tfp_set(now, ONE_OF(names), TFP_Z, v, 1 + pick(2), 0);
}

static int other(void)
{
	unsigned char sum = 0;
	double covered;
	int64_t steps[4];

	switch (pick(4)) {
	case 0: return tfp_write_profile(now, NULL, 0, take, &sum);
	case 1: return tfp_coverage(now, &covered);
	case 2: tfp_device(now, pick(3), NULL); return tfp_error_code(now);
	default: tfp_steps(now, steps, COUNT(steps)); return tfp_error_code(now);
	}
}

/* Returns nonzero if a session failed. */
static int live(void)
{
	static int (*const calls[])(
	        void) = { add, add, add, add_several, ask, ask, ask, set, other };
	static const uint64_t limits[] = { 0, 0, 0, 2000000, 4000000, 6000000, 12000000, 40000000 };
	struct tfp_config config = { .size = sizeof config,
		.flags = pick(4),
		.threads = 1 + pick(3),
		.memory_limit = ONE_OF(limits),
		.progress = on_progress };
	struct tfp_session *s;
	int code = tfp_open(&s, &config);

	if (code)
		return code != TFP_E_MEMORY;
	now = s;
	for (unsigned n = pick(CALLS); n; n--) {
		size_t said;
		stop_after = pick(6) ? -1 : (int)pick(20);
		code = ONE_OF(calls)();
		tfp_error(s, &said);
		if (code < 0 || code > TFP_E_MEMORY || code != tfp_error_code(s) ||
		        !code != !said) {
			fprintf(stderr, "code %d, error code %d, a sentence of %zu bytes\n", code,
			        tfp_error_code(s), said);
			return 1;
		}
		codes[code]++;
	}
	now = NULL;
	tfp_close(s);
	return 0;
}

int main(int argc, char **argv)
{
	struct itimerval often = { { 0, 3000 }, { 0, 3000 } };
	struct sigaction a = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	unsigned long rounds = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;

	if (!rounds)
		return 2;
	if (chdir(argv[3])) {
		perror(argv[3]);
		return 2;
	}
	seed = strtoul(argv[1], NULL, 10) * 0x9e3779b97f4a7c15 + 88172645463325252;
	sigemptyset(&a.sa_mask);
	sigaction(SIGALRM, &a, NULL);
	for (unsigned long i = 0; i < rounds; i++) {
		if (i == rounds / 2) /* the first half is equal in each round */
			setitimer(ITIMER_REAL, &often, NULL);
		if (live())
			return 1;
	}
	for (int i = 0; i <= TFP_E_MEMORY; i++)
		printf("%s %lu ", tfp_code_name(i), codes[i]);
	return !codes[TFP_OK] || !codes[TFP_E_INVALID_ARGUMENT] || !codes[TFP_E_MEMORY];
}
