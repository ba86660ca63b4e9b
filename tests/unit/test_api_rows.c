/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of answers as typed cells.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "api_rig.h"
#include "lib/api_internal.h"

#define UNUSED void **state __attribute__((unused))

static void assert_text(struct tfp_str found, const char *wanted)
{
	assert_int_equal(found.size, strlen(wanted));
	assert_memory_equal(found.data, wanted, found.size);
}

static void columns(UNUSED)
{
	struct tfp_column c = { .size = sizeof c },
	                  small = { .size = offsetof(struct tfp_column, name) };
	struct tfp_rows *rows;

	assert_int_equal(tfp_rows_open(rig_session, API_VIEW, TFP_Z, NULL, &rows), TFP_OK);
	assert_int_equal(tfp_rows_find(rows, "path"), 0);
	assert_int_equal(tfp_rows_find(rows, "no such"), -1);
	assert_int_equal(tfp_rows_find(rows, NULL), -1);
	assert_int_equal(tfp_rows_column(rows, 0, &c), TFP_OK);
	assert_string_equal(c.name, "path");
	assert_int_equal(c.type, TFP_TEXT);
	assert_null(c.unit);
	assert_int_equal(
	        tfp_rows_column(rows, (size_t)tfp_rows_find(rows, "total_micros"), &c), TFP_OK);
	assert_int_equal(c.type, TFP_INTEGER);
	assert_string_equal(c.unit, "us");
	assert_int_equal(tfp_rows_column(rows, 0, &small), TFP_OK);
	assert_int_equal(small.size, offsetof(struct tfp_column, name));
	assert_int_equal(tfp_rows_column(rows, 1000, &c), TFP_E_NOT_FOUND);
	c.size = 0;
	assert_int_equal(tfp_rows_column(rows, 0, &c), TFP_E_INVALID_ARGUMENT);
	assert_int_equal(tfp_rows_column(NULL, 0, &c), TFP_E_INVALID_ARGUMENT);
	tfp_rows_close(rows);
}

static void cells(UNUSED)
{
	struct tfp_rows *rows;
	const struct tfp_cell *row;

	assert_int_equal(tfp_rows_open(rig_session, API_VIEW, TFP_Z, NULL, &rows), TFP_OK);
	int path = tfp_rows_find(rows, "path"), parent = tfp_rows_find(rows, "parent"),
	    total = tfp_rows_find(rows, "total_micros"), types = tfp_rows_find(rows, "types"),
	    accounted = tfp_rows_find(rows, "accounted");
	for (int again = 0; again < 2; again++) {
		row = tfp_rows_next(rows);
		assert_text(row[path].text, "_TFProfRoot");
		assert_int_equal(row[parent].null, 1);
		assert_int_equal(row[total].integer, 12);
		assert_int_equal(row[accounted].integer, 0);
		row = tfp_rows_next(rows);
		assert_text(row[path].text, "a");
		assert_text(row[parent].text, "_TFProfRoot");
		row = tfp_rows_next(rows);
		assert_text(row[path].text, "a/b");
		assert_int_equal(row[parent].null, 0);
		assert_int_equal(row[total].integer, 7);
		assert_true(row[total].real == 7);
		assert_int_equal(row[accounted].integer, 1);
		assert_true(row[types].n > 0);
		assert_true(tfp_cell_text(&row[types], row[types].n - 1).size > 0);
		assert_null(tfp_cell_text(&row[types], row[types].n).data);
		assert_null(tfp_rows_next(rows));
		assert_null(tfp_rows_next(rows));
		tfp_rows_rewind(rows);
	}
	tfp_rows_close(rows);
}

static void outlive_the_session(UNUSED)
{
	struct tfp_str words[] = { { "-select", TFP_Z }, { "micros", TFP_Z } };
	struct tfp_run run = { .size = sizeof run, .words = words, .n_words = 2 };
	struct tfp_rows *rows;
	int n = 0;

	assert_int_equal(tfp_rows_open(rig_session, "scope", TFP_Z, &run, &rows), TFP_OK);
	tfp_close(rig_session);
	rig_session = NULL;
	while (tfp_rows_next(rows))
		n++;
	assert_int_equal(n, 3);
	tfp_rows_close(rows);
	tfp_rows_close(NULL);
}

/* A summary has as many rows as it is asked for. */
static void summary_rows(UNUSED)
{
	struct tfp_rows *rows;

	for (int top = 1; top <= 2; top++) {
		char line[32];
		int n = 0;
		snprintf(line, sizeof line, "summary --top=%d", top);
		assert_int_equal(tfp_rows_open(rig_session, line, TFP_Z, NULL, &rows), TFP_OK);
		for (const struct tfp_cell *row; (row = tfp_rows_next(rows)) != NULL; n++)
			assert_true(row[tfp_rows_find(rows, "path")].text.size > 0);
		assert_int_equal(n, top);
		tfp_rows_close(rows);
	}
}

static void failures(UNUSED)
{
	struct tfp_rows *rows = (struct tfp_rows *)&rig_session;
	struct tfp_run none = { .size = 1 };

	assert_int_equal(
	        tfp_rows_open(rig_session, "help", TFP_Z, NULL, &rows), TFP_E_INVALID_ARGUMENT);
	assert_null(rows);
	assert_string_equal(tfp_error(rig_session, NULL),
	        "'help' has no rows: views, tables such as devices, diff, checkpoint and advise "
	        "have rows");
	assert_int_equal(
	        tfp_rows_open(rig_session, "scope -step 9", TFP_Z, NULL, &rows), TFP_E_STEP);
	assert_int_equal(
	        tfp_rows_open(rig_session, "scope", TFP_Z, &none, &rows), TFP_E_INVALID_ARGUMENT);
	assert_int_equal(
	        tfp_rows_open(rig_session, "scope", TFP_Z, NULL, NULL), TFP_E_INVALID_ARGUMENT);
	assert_null(tfp_rows_next(NULL));
	tfp_rows_rewind(NULL);
}

/* A line can be any command of the library. */
static void every_command(UNUSED)
{
	static struct got got;
	const char *profile = "testdata/recorded/mlp_0/profile.pb";
	char line[256];

	snprintf(line, sizeof line, "diff %s %s", profile, profile);
	assert_int_equal(rig_line(rig_session, line, &got), TFP_OK);
	assert_non_null(strstr(tfp_notes(rig_session, NULL), "no difference to show"));
	assert_int_equal(tfp_run_line(rig_session, "report -o /no/such/folder/x", TFP_Z, NULL),
	        TFP_E_NOT_FOUND);
	assert_int_equal(tfp_run_line(rig_session, "diff only_one", TFP_Z, NULL), TFP_E_NOT_FOUND);
	assert_int_equal(tfp_run_line(rig_session, "list", TFP_Z, NULL), TFP_E_INVALID_ARGUMENT);
	assert_int_equal(rig_line(rig_session, API_VIEW, &got), TFP_OK);
}

/* Arguments with which a command answers about the trace; other commands need none. */
static const char *arguments_of(const char *name)
{
	static const char *const with[][2] = { { "peek", " --top=1 gemm" },
		{ "what-if", " communication*0.5" }, { "report", " -o /dev/null/x" },
		{ "convert", " -output profile:outfile=/dev/null/x" }, { "set", " -max_depth 3" },
		{ "checkpoint", " no_such_checkpoint" }, { "baseline", " list" },
		{ "diff", " left right --all" } };

	for (size_t i = 0; i < sizeof with / sizeof *with; i++)
		if (strcmp(name, with[i][0]) == 0)
			return with[i][1];
	return "";
}

static bool is_among(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names) != 0)
		names++;
	return *names;
}

/* Each command of the table either runs or fails for a reason of this trace, and has rows or says
 * that it has none. */
static void table_of_commands(UNUSED)
{
	static const char *const unavailable[] = { "load", "use", "list", "quit", "exit", NULL },
	                         *const no_rows[] = { "help", "set", "reset", "report", "convert",
		                         "baseline", NULL },
	                         *const no_data[] = { "graph", "code", "phases", "memory",
		                         "collectives", "checkpoint", NULL },
	                         *const no_file[] = { "report", "convert", NULL };
	struct tfp_str file = { "testdata/traces/training.pt.trace.json.gz", TFP_Z };
	struct tfp_session *t;
	struct tfp_run run = { .size = sizeof run };
	struct tfp_rows *rows;
	char line[256];

	assert_int_equal(tfp_open(&t, NULL), TFP_OK);
	assert_int_equal(tfp_add_files(t, &file, 1), TFP_OK);
	run.other = t;
	for (const struct command *c = NULL; (c = cmd_next(rig_session->s, c)) != NULL;) {
		bool off = is_among(c->name, unavailable), lacks = is_among(c->name, no_data);
		snprintf(line, sizeof line, "%s%s", c->name, arguments_of(c->name));
		int code = tfp_run_line(t, line, TFP_Z, &run);
		if (off)
			assert_non_null(
			        strstr(tfp_error(t, NULL), "is available only in the program"));
		else if (lacks || is_among(c->name, no_file))
			assert_int_not_equal(code, TFP_E_INVALID_ARGUMENT);
		else
			assert_string_equal(tfp_error(t, NULL), "");
		code = tfp_rows_open(t, line, TFP_Z, &run, &rows);
		assert_int_equal(!rows, code != 0);
		if (off || is_among(c->name, no_rows))
			assert_int_not_equal(code, 0);
		else if (!lacks && strcmp(c->name, "diff") != 0)
			assert_non_null(tfp_rows_next(rows));
		tfp_rows_close(rows);
	}
	tfp_close(t);
}

/* The rows of diff of two sessions, also if a gate fails. */
static void differences(UNUSED)
{
	struct tfp_session *other = rig_loaded(0);
	struct tfp_run run = { .size = sizeof run, .other = other };
	struct tfp_rows *rows;
	const struct tfp_cell *row;

	rig_add(other, TFP_STEP, API_STEP, 4);
	rig_add(other, TFP_STEP, API_STEP, 4); /* twice the time */
	assert_int_equal(
	        tfp_rows_open(rig_session, "diff left right@4 --all", TFP_Z, &run, &rows), TFP_OK);
	int left = tfp_rows_find(rows, "total_micros_left"),
	    right = tfp_rows_find(rows, "total_micros_right"),
	    difference = tfp_rows_find(rows, "difference_micros");
	size_t n = 0;
	for (; (row = tfp_rows_next(rows)) != NULL; n++) {
		assert_int_equal(row[right].integer, 2 * row[left].integer);
		assert_int_equal(row[difference].integer, row[left].integer);
	}
	assert_int_equal(n, 3);
	tfp_rows_close(rows);
	assert_int_equal(
	        tfp_rows_open(rig_session, "diff left right@4 --all --gate total.micros<1us", TFP_Z,
	                &run, &rows),
	        TFP_E_FAILED);
	assert_string_equal(tfp_error(rig_session, NULL), "1 of 1 gate fails");
	assert_non_null(tfp_rows_next(rows));
	tfp_rows_close(rows);
	assert_int_equal(tfp_rows_open(rig_session, "diff left right --gate x", TFP_Z, &run, &rows),
	        TFP_E_INVALID_ARGUMENT);
	assert_null(rows);
	assert_int_equal(
	        tfp_rows_open(rig_session, "diff left right", TFP_Z, NULL, &rows), TFP_E_NOT_FOUND);
	assert_int_equal(tfp_run_line(rig_session, "diff left right", TFP_Z, &run), TFP_OK);
	tfp_close(other);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { IN_SESSION(columns), IN_SESSION(cells),
		IN_SESSION(outlive_the_session), IN_SESSION(summary_rows), IN_SESSION(failures),
		IN_SESSION(every_command), IN_SESSION(table_of_commands), IN_SESSION(differences) };

	return unit_main(tests, argc, argv);
}
