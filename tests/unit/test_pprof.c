/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof files: tables in order of first use, samples of the innermost lines, locations innermost
 * first, refusals.
 */
#include "unit.h"

#include <stdio.h>
#include "io/gz.h"
#include "out_rig.h"
#include "pprof.pb-c.h"

typedef Tensorflow__Tfprof__Pprof__Profile Profile;

#define TRACE(file, function, line, start)                                                         \
	"traces { file_id: " file " function_id: " function " lineno: " line                       \
	" func_start_line: " start " } "
#define NODE(key, name, op, trace, more)                                                           \
	"nodes { key: " key " value { name: '" name "' op: '" op "' op_types: '" op                \
	"' trace { " trace "} " more "} } "
#define TEXT(key, text) "id_to_string { key: " key " value: '" text "' } "
#define TEXTS                                                                                      \
	"has_trace: true " TEXT("1", "/x/net.v2.py") TEXT("2", "main") TEXT("3", "layer")          \
	        TEXT("4", "lib.py")

/* main:1 calls layer:5 (a, b) and, from line 9, layer again (c); d is made in main itself. */
static const char model[] = TEXTS NODE(
        "1", "b", "Op", TRACE("1", "2", "1", "0") TRACE("4", "3", "5", "3"), "shape: 7 ")
        NODE("2", "a", "Op", TRACE("1", "2", "1", "0") TRACE("4", "3", "5", "3"), "shape: 4 ") NODE(
                "3", "c", "Var", TRACE("1", "2", "1", "0") TRACE("4", "3", "9", "3"), "shape: 2 ")
                NODE("4", "d", "Var", TRACE("1", "2", "1", "0"), "shape: 100 ");

/* The message of the file p. */
static Profile *read_file(struct out_rig *x)
{
	struct str zipped = out_file(x, "p");
	struct gunzip *g = gunzip_open(&x->g.a);
	uint8_t *room = ARENA_ARRAY(&x->g.a, 1 << 20, uint8_t), *end = room;
	const char *why = NULL;

	assert_true(gz_is(zipped));
	while (gunzip_run(g, &zipped, &end, room + (1 << 20), &why) > 0)
		;
	assert_null(why);
	assert_true(gunzip_at_end(g));
	Profile *p = tensorflow__tfprof__pprof__profile__unpack(NULL, (size_t)(end - room), room);
	assert_non_null(p);
	return p;
}

static void drop(Profile *p)
{
	tensorflow__tfprof__pprof__profile__free_unpacked(p, NULL);
}

#define assert_string(p, id, text) assert_string_equal((p)->string_table[id], text)

static void lines_become_locations(void **state)
{
	struct out_rig x;
	char said[256];

	(void)state;
	out_open(&x, model);
	out_set(&x, "select", "params");
	out_to(&x, "pprof", "p");
	assert_true(out_request(&x, VK_CODE));
	Profile *p = read_file(&x);
	/* Strings in this order: the first call, the node that used it, ..., and the units last. */
	static const char *const strings[] = { "", "lib:layer", "lib.py", "graph node:", "a", "b",
		"c", "count", "params", "Model parameters." };
	assert_int_equal(p->n_string_table, 10);
	for (size_t i = 0; i < 10; i++)
		assert_string(p, i, strings[i]);
	assert_int_equal(p->n_sample_type, 2);
	assert_string(p, p->sample_type[0]->type, "count");
	assert_string(p, p->sample_type[1]->type, "params");
	assert_string(p, p->sample_type[1]->unit, "count");
	assert_int_equal(p->n_comment, 1);
	assert_string(p, p->comment[0], "Model parameters.");
	/* One function; both calls come from main:1, so they are one location: quirk 24 of d too.
	 */
	assert_int_equal(p->n_function, 1);
	assert_string(p, p->function[0]->name, "lib:layer");
	assert_string(p, p->function[0]->filename, "lib.py");
	assert_int_equal(p->function[0]->start_line, 3);
	assert_int_equal(p->n_location, 1);
	assert_int_equal(p->location[0]->line[0]->line, 1);
	static const struct {
		const char *name;
		int value;
	} samples[] = { { "a", 4 }, { "b", 7 }, { "c", 2 } };
	assert_int_equal(p->n_sample, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string(p, p->sample[i]->label[0]->key, "graph node:");
		assert_string(p, p->sample[i]->label[0]->str, samples[i].name);
		assert_int_equal(p->sample[i]->value[0], 1);
		assert_int_equal(p->sample[i]->value[1], samples[i].value);
		assert_int_equal(p->sample[i]->n_location_id, 1);
	}
	drop(p);
	snprintf(said, sizeof said, "\nRun pprof -png --nodecount=100 --sample_index=1 <%s/p>\n",
	        x.folder);
	assert_text(sink_text(x.out), said);
	out_close(&x);
}

/* Only accounted nodes count. A shown line includes all lines that it calls. A line without a
 * caller has no location. */
static void samples_are_those_of_the_view(void **state)
{
	struct out_rig x;
	Profile *p;

	(void)state;
	out_open(&x, model);
	out_set(&x, "select", "params");
	out_set(&x, "account_type_regexes", "Var");
	out_to(&x, "pprof", "p");
	assert_true(out_request(&x, VK_CODE));
	p = read_file(&x);
	assert_int_equal(p->n_sample, 1);
	assert_string(p, p->sample[0]->label[0]->str, "c");
	drop(p);
	out_set(&x, "account_type_regexes", ".*");
	out_set(&x, "max_depth", "2");
	assert_true(out_request(&x, VK_CODE));
	p = read_file(&x);
	assert_int_equal(p->n_sample, 3);
	assert_int_equal(p->sample[0]->n_location_id, 0);
	assert_int_equal(p->n_location, 0);
	drop(p);
	out_close(&x);
}

/* Three levels: the innermost location is first, lines at -1 are last, and gradients are separate.
 */
static void locations_stand_innermost_first(void **state)
{
	struct out_rig x;
	Profile *p;

	(void)state;
	out_open(&x, TEXTS NODE("1", "w", "Op",
	                     TRACE("1", "2", "1", "0") TRACE("1", "3", "-1", "-1")
	                             TRACE("4", "2", "6", "2"),
	                     "") NODE("2", "gradients/w_grad/g", "Op", "", ""));
	x.g.m->nodes.v[1].flags |= NODE_STACK;
	x.g.m->nodes.v[1].frame = x.g.m->nodes.v[0].frame;
	out_set(&x, "select", "micros");
	out_to(&x, "pprof", "p");
	assert_true(out_request(&x, VK_CODE));
	p = read_file(&x);
	assert_int_equal(p->n_sample, 2);
	assert_string(p, p->sample[0]->label[0]->str, "gradients/w_grad/g");
	assert_int_equal(p->sample[0]->n_location_id, 2);
	assert_int_equal(p->sample[0]->location_id[0], 4);
	assert_int_equal(p->sample[0]->location_id[1], 3);
	assert_int_equal(p->sample[1]->location_id[0], 2);
	assert_int_equal(p->sample[1]->location_id[1], 1);
	assert_int_equal(p->n_location, 4);
	assert_int_equal(p->location[0]->id, 1); /* of net.v2.py, by callee */
	assert_int_equal(p->location[2]->id, 2);
	assert_int_equal(p->location[2]->line[0]->line, -1);
	assert_string(p, p->function[0]->name, "net.v2:layer");
	assert_string(p, p->function[1]->name, "net.v2:layer (gradient)");
	assert_int_equal(p->function[0]->start_line, -1);
	assert_string(p, p->function[2]->name, "lib:main");
	drop(p);
	out_close(&x);
}

static void refusals(void **state)
{
	static const struct {
		enum vk kind;
		const char *select, *said;
	} cases[] = {
		{ VK_SCOPE, "micros,bytes", "Can only select 1 attribute for pprof output.\n" },
		{ VK_OP, "device", "pprof doesn't support -select=device\n" },
		{ VK_CODE, "micros,bytes", "Can only select 1 attribute for pprof output.\n" },
		{ VK_CODE, "''", "Can only select 1 attribute for pprof output.\n" },
		{ VK_CODE, "occurrence", "pprof doesn't support -select=occurrence\n" },
	};
	struct out_rig x;

	(void)state;
	out_open(&x, model);
	out_to(&x, "pprof", "p");
	out_set(&x, "account_displayed_op_only", "true"); /* its note would be added later */
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		out_set(&x, "select", cases[i].select);
		assert_false(out_request(&x, cases[i].kind));
		assert_text(out_notes(&x), cases[i].said);
	}
	assert_int_equal(out_files(&x), 0);
	out_close(&x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_become_locations),
		cmocka_unit_test(samples_are_those_of_the_view),
		cmocka_unit_test(locations_stand_innermost_first),
		cmocka_unit_test(refusals),
	};

	return unit_main(tests, argc, argv);
}
