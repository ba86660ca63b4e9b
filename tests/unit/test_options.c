/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of single commands: every row of the table is complete, values are parsed, and other
 * words are kept.
 */
#include "unit.h"

#include "cli/program.h"
#include "lib/diff.h"
#include "cli/recording.h"

static struct session *program_session(void)
{
	struct session *s = session_new(0);

	s->more_commands = program_commands;
	return s;
}

static struct record_options got;
static struct option_words left;

static bool read_now(struct session *s, void *ctx)
{
	struct strs words = str_split(&s->query_arena, str_of(ctx), ' ');

	got = (struct record_options){ 0 };
	options_preset("record", &got);
	left = (struct option_words){ .command = cmd_find(s, S("record")), .into = &got };
	return options_read(s, &words, &left);
}

/* Returns the error for a command line; NULL if it is accepted. */
static const char *said(struct session *s, const char *line)
{
	return session_guard(s, read_now, (void *)(uintptr_t)line)
	               ? NULL
	               : str_z(&s->query_arena, s->error.text);
}

static void values(void **state)
{
	struct session *s = program_session();

	(void)state;
	assert_null(
	        said(s, "--level full --delay=1.25 --max-size=2Ki --mem -o dir prog --mem -- x"));
	assert_int_equal(got.level, 2);
	assert_int_equal(got.delay, 1250 * QUANTITY_MS);
	assert_int_equal(got.max_size, 2048);
	assert_true(got.mem);
	assert_false(got.sync);
	assert_str(got.folder, "dir");
	assert_int_equal(left.rest.n, 4);
	assert_str(left.rest.v[1], "--mem");
	assert_null(said(s, "--delay=7 --env -- --mem"));
	assert_int_equal(got.delay, 7 * (int64_t)QUANTITY_S);
	assert_int_equal(got.env, 0);
	assert_str(left.rest.v[0], "--mem");
	assert_null(said(s, "--env=docker"));
	assert_int_equal(got.env, 1);
	assert_null(said(s, "-odir --mem -o=of -o./a=b prog"));
	assert_str(got.folder, "./a=b");
	assert_true(got.mem);
	assert_int_equal(left.rest.n, 1);
	assert_null(said(s, "--delay=0.0019"));
	assert_int_equal(got.delay, 1900000);
	assert_null(said(s, "--delay=250ms --max-size=1M --step-every=2s"));
	assert_int_equal(got.delay, 250 * QUANTITY_MS);
	assert_int_equal(got.max_size, 1000000);
	assert_int_equal(got.step_every, 2 * (int64_t)QUANTITY_S);
	session_free(s);
}

/* True if the words after the command request help. */
static bool wants_help(struct session *s, const char *command, const char *line)
{
	struct strs words = str_split(&s->query_arena, str_of(line), ' ');

	return options_want_help(cmd_find(s, str_of(command)), &words);
}

static void help(void **state)
{
	struct session *s = program_session();

	(void)state;
	assert_true(wants_help(s, "gpu", "run1 --help"));
	assert_true(wants_help(s, "ctl", "-h"));
	assert_false(wants_help(s, "gpu", "run1 -- --help"));
	assert_true(wants_help(s, "record", "--mem --help"));
	assert_false(wants_help(s, "record", "--mem python --help"));
	assert_true(wants_help(s, "record", "--level full -o dir --help"));
	assert_false(wants_help(s, "record", "-o dir python --help"));
	assert_false(wants_help(s, "record", "-odir python --help"));
	assert_false(wants_help(s, "record", "--env sh --help"));
	assert_false(wants_help(s, "gpu", "help"));
	session_free(s);
}

static struct diff_request diff;

static bool read_diff(struct session *s, void *ctx)
{
	struct strs words = str_split(&s->query_arena, str_of(ctx), ' ');

	return diff_read(s, &words, &diff);
}

/* Returns the error for the arguments of diff; NULL if they are accepted. */
static const char *diff_error(struct session *s, const char *line)
{
	return session_guard(s, read_diff, (void *)(uintptr_t)line)
	               ? NULL
	               : str_z(&s->query_arena, s->error.text);
}

/* Options of the command and of the views, some of them repeated, between file names. */
static void mixed(void **state)
{
	struct session *s = program_session();

	(void)state;
	assert_null(diff_error(s,
	        "op / -select bytes --delta 5% /tmp --gate total.bytes<+5% -rename 's/a/b/' --gate "
	        "total.bytes<9MB --names=x,y --match=path --rename=s/c/d/ --level=0.01 --per run"));
	assert_int_equal(diff.given.view, VK_OP);
	assert_true(diff.given.delta == 0.05 && diff.given.level == 0.01);
	assert_int_equal(diff.sides.n, 2);
	assert_int_equal(diff.given.names.n, 2);
	assert_str(diff.given.names.v[1], "y");
	assert_int_equal(diff.gates.n, 2);
	assert_str(diff.o.rename, "s/a/b/;s/c/d/");
	assert_true(diff.given.by_path && diff.given.per_run && diff.select_given);
	assert_true(!diff.order_given && !diff.given.swap);
	assert_int_equal(diff.o.select.metrics, METRIC_BIT(M_BYTES));
	assert_int_equal(diff.o.max_depth, INT32_MAX);
	assert_null(diff_error(
	        s, "--view code --swap -max_depth=3 --min_size 2KB --min_size 3ms -- / / a b"));
	assert_int_equal(diff.given.view, VK_CODE);
	assert_int_equal(diff.min_size, 2000);
	assert_int_equal(diff.min_micros, 3000);
	assert_int_equal(diff.o.max_depth, 3);
	assert_true(diff.given.swap);
	assert_string_equal(diff_error(s, "/ / --selct x"),
	        "diff has no option '--selct'; did you mean '-select'?");
	assert_string_equal(diff_error(s, "/ / --delt x"),
	        "diff has no option '--delt'; did you mean '--delta'?");
	assert_string_equal(diff_error(s, "/ / --names"), "--names needs a value: --names=A,B,...");
	assert_string_equal(diff_error(s, "/ / --delta=-1"),
	        "--delta: '-1' is not a share, such as 0.1 or 10%");
	session_free(s);
}

static void faults(void **state)
{
	static const char *const lines[] = { "--delay=", "--delay=.", "--delay=-1", "--delay=1.5.5",
		"--delay=9999999999", "--step-every=0", "--level=", "--mem=yes", "--env=podman",
		"--nothing-like-it", "--max-size=9999999999G", "-o", "-o=", "-xdir", "--odir",
		"--step-nvtx=" };
	struct session *s = program_session();

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		assert_non_null(said(s, lines[i]));
		assert_int_equal(s->error.code, ERR_INVALID_ARGUMENT);
	}
	session_free(s);
}

static void rows_are_complete(void **state)
{
	struct session *s = program_session();

	(void)state;
	for (const struct command *c = NULL; (c = cmd_next(s, c)) != NULL;) {
		const struct option *first = options_of(c->name);
		for (const struct option *w = first; w; w = option_next(w)) {
			assert_true(w->name[0] && w->name[0] != '-');
			assert_true(w->help && w->help[0] && w->help[strlen(w->help) - 1] != '.');
			assert_int_equal(option_argument(w) == NULL, w->type == OPT_SWITCH);
			assert_ptr_equal(option_in(first, str_of(w->name)), w);
		}
		assert_true(!c->program || (c->synopsis && c->own_words != c->needs_profile));
		assert_ptr_equal(cmd_find(s, str_of(c->name)), c);
	}
	session_free(s);
}

/* Room for the values of any scope. */
static union {
	struct diff_options diff;
	struct devices_options devices;
	struct record_options record;
	struct report_options report;
	uint8_t bytes[4096];
} preset, explicit;

/* A command gets the same values without an option as with the default of the option. */
static void defaults(void **state)
{
	struct session *s = program_session();

	(void)state;
	for (const struct command *c = NULL; (c = cmd_next(s, c)) != NULL;) {
		memset(&preset, 0, sizeof preset);
		memset(&explicit, 0, sizeof explicit);
		options_preset(c->name, &preset);
		options_preset(c->name, &explicit);
		for (const struct option *w = options_of(c->name); w; w = option_next(w)) {
			if (!w->preset)
				continue;
			assert_true(
			        option_set(s, &s->query_arena, w, str_of(w->preset), &explicit));
			assert_memory_equal(&preset, &explicit, sizeof preset);
		}
	}
	session_free(s);
}

static void versions_of_cupti(void **state)
{
	bool exact;

	(void)state;
	assert_int_equal(cupti_cuda(130001, &exact), 13000);
	assert_true(exact);
	assert_int_equal(cupti_cuda(130200, &exact), 13020);
	assert_int_equal(cupti_cuda(24, &exact), 12060);
	assert_true(exact);
	assert_int_equal(cupti_cuda(25, &exact), 12060);
	assert_false(exact);
	assert_int_equal(cupti_cuda(12, &exact), 0);
}

static void variables(void **state)
{
	static const char bytes[] = "AB=1\0A=\0B=x=y\0C";
	struct str e = str_make(bytes, sizeof bytes - 1);

	(void)state;
	assert_str(proc_variable(e, S("AB")), "1");
	assert_str(proc_variable(e, S("A")), "");
	assert_str(proc_variable(e, S("B")), "x=y");
	assert_null(proc_variable(e, S("C")).p);
	assert_null(proc_variable(STR_NONE, S("A")).p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(values),
		unit_case(help),
		unit_case(mixed),
		unit_case(faults),
		unit_case(rows_are_complete),
		unit_case(defaults),
		unit_case(versions_of_cupti),
		unit_case(variables),
	};

	return unit_main(tests, argc, argv);
}
