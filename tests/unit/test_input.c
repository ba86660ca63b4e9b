/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading: text and binary, gzip, pipes, the reported error, steps in parallel, guessing.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/stat.h>
#include "model/input.h"
#include "reader_rig.h"

#define DATA   "testdata/recorded/"
#define MEMORY ((struct input_from){ .name = S("memory"), .memory = true })

static bool load(struct rig *g, unsigned role, const char *path)
{
	struct input_from from = { .name = str_of(path) };

	g->e = (struct err){ .a = &g->a };
	return input_load(g->in, role, &from, NULL, &g->work, &g->e);
}

static bool load_bytes(struct rig *g, unsigned role, struct str bytes)
{
	struct input_from from = MEMORY;

	from.bytes = bytes;
	g->e = (struct err){ .a = &g->a };
	return input_load(g->in, role, &from, NULL, &g->work, &g->e);
}

static void forms_are_found(void **state)
{
	struct rig g;

	(void)state;
	rig_open(&g, false);
	assert_true(load(&g, ROLE_GRAPH, DATA "queue_0/graph.pbtxt"));
	assert_true(load(&g, ROLE_OPLOG, DATA "queue_0/op_log.pb"));
	assert_true(g.m->nodes.n > 20 && g.m->has_traces);
	assert_true(load_bytes(&g, ROLE_GRAPH, S("# a comment\n node { name: 'one' }")));
	assert_true(load_bytes(&g, ROLE_GRAPH, S("\x0a\x05\x0a\x03two")));
	assert_true(load_bytes(&g, ROLE_OPLOG, S("log_entries { name: 'two' float_ops: 6 }")));
	assert_true(rig_says(&g, "\none = "));
	assert_true(rig_says(&g, "\ntwo =  on '' host '' flags 0 float_ops 6"));
	rig_close(&g);
	rig_open(&g, false);
	assert_true(load_bytes(&g, ROLE_GRAPH, S("")));
	assert_true(load(&g, ROLE_PROFILE, DATA "cnn_0/profile.pb.gz"));
	assert_true(g.m->nodes.n > 100 && g.m->steps.n == 2);
	rig_close(&g);
}

static void assert_fault(unsigned role, struct str bytes, enum status code, const char *sentence)
{
	struct rig g;

	rig_open(&g, false);
	assert_false(load_bytes(&g, role, bytes));
	assert_int_equal(g.e.code, code);
	if (!str_starts(g.e.text, str_of(sentence)))
		fail_msg("%.*s", STR(g.e.text));
	assert_int_equal(g.m->nodes.n, 0);
	rig_close(&g);
}

static void likelier_form_is_told(void **state)
{
	struct rig g;

	(void)state;
	assert_fault(
	        ROLE_GRAPH, S("node { name: 'a' }\nnode { nam: 'x' }"), ERR_DATA_LOSS, "memory:2:");
	assert_fault(ROLE_OPLOG, S("log_entries {\n name 'x' }"), ERR_DATA_LOSS, "memory:2:");
	assert_fault(ROLE_GRAPH, S("\x0a\x03\x0a\x01n\x0a\x09\x0a\x01x"), ERR_DATA_LOSS,
	        "memory: byte ");
	assert_fault(ROLE_PROFILE, S("\x0a\x03\x08\x01\x12"), ERR_DATA_LOSS, "memory: byte ");
	/* A file of another kind, and an unsupported one. */
	assert_fault(ROLE_GRAPH, S("\x0a\x05\x0a\x03\x0a\x01\xff"), ERR_DATA_LOSS,
	        "memory: byte 4: GraphDef cannot be parsed: text that is not valid UTF-8; it looks "
	        "like a file in the format 'run metadata'");
	assert_fault(ROLE_PROFILE, S("\x89HDF\r\n\x1a\n\0\0\0\0"), ERR_DATA_LOSS,
	        "'memory' is an HDF5 file");
	rig_open(&g, false);
	assert_false(load(&g, ROLE_GRAPH, "/nowhere/graph.pb"));
	assert_int_equal(g.e.code, ERR_NOT_FOUND);
	assert_false(load(&g, ROLE_GRAPH, "/"));
	rig_close(&g);
}

/* A pipe that gives a profile larger than the window cannot seek back. */
static void pipes_are_read_twice(void **state)
{
	char folder[] = "/tmp/tfprof-input-XXXXXX", path[64], command[300];
	struct rig g;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/pipe", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(command, sizeof command,
	        "for i in 1 2 3 4 5 6 7 8; do cat %smlp_0/profile.pb; done >%s &", DATA, path);
	rig_open(&g, false);
	assert_int_equal(system(command), 0);
	assert_true(load(&g, ROLE_PROFILE, path));
	assert_true(g.m->nodes.n > 100);
	unlink(path);
	rmdir(folder);
	rig_close(&g);
}

/* ---- steps ---- */

struct seen {
	size_t n, stop_at;
	uint64_t done, total, cancel_at;
};

static bool on_folded(void *user, size_t i)
{
	struct seen *s = user;

	assert_int_equal(i, s->n);
	return ++s->n != s->stop_at;
}

static bool on_progress(void *user, uint64_t done, uint64_t total)
{
	struct seen *s = user;

	if (done < s->done || (total && done > total))
		abort();
	s->done = done;
	s->total = total;
	return !s->cancel_at || done < s->cancel_at;
}

/* Loads the graph and three steps of mlp_0, then those in `more`. */
static bool load_steps(struct rig *g, unsigned threads, struct seen *s, const char *more)
{
	const char *paths[] = { DATA "mlp_0/run_meta_0.pb", DATA "mlp_0/run_meta_1.pb",
		DATA "mlp_0/run_meta_2.pb", more };
	const struct input_watch watch = { on_progress, s };
	struct input_step v[4];
	struct input_steps steps = { .v = v,
		.n = more ? 4 : 3,
		.threads = threads,
		.folded = on_folded,
		.user = s,
		.watch = &watch };
	size_t folded;
	bool ok;

	rig_open(g, false);
	assert_true(load(g, ROLE_GRAPH, DATA "mlp_0/graph.pb"));
	for (size_t i = 0; i < steps.n; i++)
		v[i] = (struct input_step){ { .name = str_of(paths[i]) }, (int64_t)i };
	g->e = (struct err){ .a = &g->a };
	ok = input_load_steps(g->in, &steps, &folded, &g->work, &g->e);
	assert_int_equal(folded, s->n);
	return ok;
}

static void threads_change_nothing(void **state)
{
	struct rig one, many;

	(void)state;
	for (unsigned threads = 2; threads <= 5; threads++) {
		struct seen a = { 0 }, b = { 0 };
		assert_true(load_steps(&one, 1, &a, NULL));
		assert_true(load_steps(&many, threads, &b, NULL));
		assert_int_equal(a.n, 3);
		assert_true(a.total > 40000 && a.done == a.total && b.done == b.total);
		assert_true(str_eq(rig_text(&one), rig_text(&many)));
		assert_int_equal(one.m->steps.n, 3);
		rig_close(&one);
		rig_close(&many);
	}
}

static void steps_end_at_the_first_bad_one(void **state)
{
	struct rig g;

	(void)state;
	for (unsigned threads = 1; threads <= 4; threads++) {
		struct seen s = { 0 };
		assert_false(load_steps(&g, threads, &s, DATA "mlp_0/graph.pb"));
		assert_int_equal(s.n, 3);
		assert_true(str_starts(g.e.text, S(DATA "mlp_0/graph.pb: byte ")));
		assert_int_equal(g.m->steps.n, 3);
		rig_close(&g);
	}
}

static void callbacks_stop_it(void **state)
{
	struct seen s = { .stop_at = 2 }, cancel = { .cancel_at = 1 };
	struct rig g;

	(void)state;
	assert_true(load_steps(&g, 2, &s, NULL));
	assert_int_equal(g.m->steps.n, 2);
	rig_close(&g);
	assert_false(load_steps(&g, 2, &cancel, NULL));
	assert_int_equal(g.e.code, ERR_CANCELLED);
	assert_int_equal(g.m->steps.n, 0);
	rig_close(&g);
}

/* Loads a step; true if that much memory sufficed. */
static bool fits(struct rig *g, size_t room)
{
	struct input_step v = { { .name = S(DATA "mlp_0/run_meta_0.pb") }, 0 };
	struct input_steps steps = { .v = &v, .n = 1, .threads = 1 };
	size_t folded;

	g->account.limit = g->account.used + room;
	if (setjmp(g->work.escape))
		return false;
	g->e = (struct err){ .a = &g->a };
	(void)input_load_steps(g->in, &steps, &folded, &g->work, &g->e);
	return true;
}

/* The limit is met in a job: the work escapes, and all memory of the load is given back. */
static void memory_may_end(void **state)
{
	const size_t room[] = { 1 << 16, 1 << 19, 1 << 20, 5 << 19 };
	struct rig g;

	(void)state;
	for (size_t i = 0; i < sizeof room / sizeof *room; i++) {
		rig_open(&g, false);
		if (fits(&g, room[i]))
			assert_true(room[i] > 1 << 20);
		assert_null(g.work.guards);
		rig_close(&g);
	}
}

static void roles_are_guessed(void **state)
{
	static const struct {
		const char *path;
		unsigned role;
	} files[] = {
		{ DATA "mlp_0/graph.pb", ROLE_GRAPH },
		{ DATA "queue_0/graph.pbtxt", ROLE_GRAPH },
		{ DATA "cnn_0/graph.pb.gz", ROLE_GRAPH },
		{ DATA "mlp_0/run_meta_0.pb", ROLE_STEP },
		{ DATA "mlp_0/op_log.pb", ROLE_OPLOG },
		{ DATA "synthetic_0/op_log.pb", ROLE_OPLOG },
		{ DATA "mlp_0/profile.pb", ROLE_PROFILE },
		{ "Makefile", 0 },
	};
	struct rig g;

	(void)state;
	rig_open(&g, false);
	g.e.a = &g.a;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		const struct unsupported_format *foreign;
		unsigned role;
		assert_true(
		        input_guess_file(str_of(files[i].path), &role, &foreign, &g.work, &g.e));
		assert_null(foreign);
		if (role != files[i].role)
			fail_msg("%s: %u", files[i].path, role);
	}
	assert_int_equal(input_guess(S("# x\nstep_stats {"), S("x"))->becomes, ROLE_STEP);
	assert_int_equal(input_guess(S(""), S("a/graph.pb"))->becomes, ROLE_GRAPH);
	assert_null(input_guess(S("\x08\x01\x12\x04"), S("x.pb")));
	rig_close(&g);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_are_found),
		cmocka_unit_test(likelier_form_is_told),
		cmocka_unit_test(pipes_are_read_twice),
		cmocka_unit_test(threads_change_nothing),
		cmocka_unit_test(steps_end_at_the_first_bad_one),
		cmocka_unit_test(callbacks_stop_it),
		cmocka_unit_test(memory_may_end),
		cmocka_unit_test(roles_are_guessed),
	};

	return unit_main(tests, argc, argv);
}
