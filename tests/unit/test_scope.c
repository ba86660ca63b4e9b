/* SPDX-License-Identifier: Apache-2.0
 *
 * The scope view on small models: structure, accounting, start, depth, show and hide, order.
 */
#include "unit.h"

#include "model/ingest.h"
#include "view/view.h"

struct rig {
	struct model m;
	struct notes notes;
	struct ingest *in;
	struct arena *a;
	struct tree t;
	struct opts o;
};

static struct rig *rig_of(void **state, const char *const *names)
{
	struct rig *r = ARENA_NEW(*state, struct rig);
	struct err e = { .a = *state };

	r->a = *state;
	notes_init(&r->notes, r->a);
	r->m.a = r->a;
	r->in = ingest_open(&r->m, &r->notes, false);
	ingest_begin(r->in, r->a);
	for (size_t i = 0; names[i]; i++) {
		ingest_node(r->in, ingest_string(r->in, str_of(names[i])),
		        ingest_string(r->in, S("Op")));
		uint32_t node = ingest_end_node(r->in);
		ingest_set_float_ops(r->in, node, 1 << i);
	}
	ingest_commit(r->in);
	assert_true(ingest_seal(r->in, &e));
	r->t.kind = VK_SCOPE;
	views[VK_SCOPE].build(&r->m, &r->t, r->a, &r->notes);
	opts_preset(&r->o, r->a);
	return r;
}

static void set(struct rig *r, const char *name, const char *value)
{
	struct err e = { .a = r->a };

	const struct option *row = view_option(str_of(name));

	assert_non_null(row);
	assert_true(opts_set(&r->o, r->a, row, str_of(value), &e));
}

/* Returns the shown lines: indent, name, '=' and total float ops, separated by blanks. */
static struct str shown(struct rig *r)
{
	struct query q = { .m = &r->m, .o = &r->o, .a = r->a, .notes = &r->notes, .tree = &r->t };
	struct err e = { .a = r->a };
	struct sb b = sb_in(r->a);
	struct result x;

	assert_true(view_run(&views[VK_SCOPE], &q, &x, &e));
	for (uint32_t i = 0; i < x.n; i++) {
		if (i)
			sb_char(&b, ' ');
		sb_repeat(&b, '.', x.shown[i].depth);
		sb_put(&b, r->t.name[q.kept.at[x.shown[i].kept]]);
		sb_fmt(&b, "=%lld", (long long)x.shown[i].total->v[V_FLOAT_OPS]);
	}
	return sb_str(&b);
}

static const char *const TREE[] = { "a/x", "a/y/z", "b", "a", "a-b", NULL };

static void test_structure(void **state)
{
	struct rig *r = rig_of(state, TREE);

	assert_str(shown(r), "_TFProfRoot=31 .a=11 ..a/x=1 ..a/y=2 ...a/y/z=2 .a-b=16 .b=4");
}

static void test_pre_order_ends(void **state)
{
	struct rig *r = rig_of(state, TREE);

	assert_int_equal(r->t.n, 7);
	assert_int_equal(r->t.end[0], 7);
	for (uint32_t i = 1; i < r->t.n; i++) {
		assert_true(r->t.parent[i] < i);
		assert_true(r->t.end[i] > i && r->t.end[i] <= r->t.end[r->t.parent[i]]);
	}
}

/* Names that crash the original. */
static void test_odd_names(void **state)
{
	const char *const names[] = { "", "/", "//", "/lead", "_TFProfRoot", "t/", NULL };
	struct rig *r = rig_of(state, names);

	set(r, "order_by", "''");
	assert_str(shown(r),
	        "_TFProfRoot=63 .=15 ../=6 ...//=4 ../lead=8 ._TFProfRoot=16 .t=32 ..t/=32");
}

static void test_depth_and_trim(void **state)
{
	struct rig *r = rig_of(state, TREE);

	set(r, "max_depth", "2");
	assert_str(shown(r), "_TFProfRoot=31 .a=11 .a-b=16 .b=4");
	set(r, "max_depth", "0");
	assert_str(shown(r), "_TFProfRoot=31");
	set(r, "max_depth", "10");
	set(r, "trim_name_regexes", "a");
	assert_str(shown(r), "_TFProfRoot=31 .a=11 .a-b=16 .b=4");
}

static void test_hidden_hand_up(void **state)
{
	struct rig *r = rig_of(state, TREE);

	set(r, "hide_name_regexes", "a,b");
	assert_str(shown(r), "_TFProfRoot=31 .a-b=16 .a/x=1 .a/y=2 ..a/y/z=2");
	set(r, "account_displayed_op_only", "true");
	assert_str(shown(r), "_TFProfRoot=19 .a-b=16 .a/x=1 .a/y=2 ..a/y/z=2");
}

static void test_start(void **state)
{
	struct rig *r = rig_of(state, TREE);

	set(r, "start_name_regexes", "a/.*,b");
	assert_str(shown(r), "_TFProfRoot=31 .a/x=1 .a/y=2 ..a/y/z=2 .b=4");
	set(r, "start_name_regexes", "''");
	assert_str(shown(r), "_TFProfRoot=31");
}

static void test_order(void **state)
{
	struct rig *r = rig_of(state, TREE);

	set(r, "order_by", "float_ops");
	assert_str(shown(r), "_TFProfRoot=31 .a-b=16 .a=11 ..a/y=2 ...a/y/z=2 ..a/x=1 .b=4");
}

static void test_thresholds_test_self(void **state)
{
	struct rig *r = rig_of(state, TREE);

	set(r, "min_float_ops", "2");
	assert_str(shown(r), "_TFProfRoot=31 .a=11 ..a/y/z=2 .a-b=16 .b=4");
}

/* 100,000 levels show that nothing is recursive. */
static void test_deep(void **state)
{
	const size_t levels = 100000;
	char *name = arena_alloc(*state, 2 * levels + 1, 1);
	const char *names[] = { name, NULL };

	for (size_t i = 0; i < levels; i++)
		memcpy(name + 2 * i, i ? "/n" : "nn", 2);
	struct rig *r = rig_of(state, names);
	assert_int_equal(r->t.n, levels + 1);
	set(r, "max_depth", "1");
	assert_str(shown(r), "_TFProfRoot=1");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_structure),
		unit_case(test_pre_order_ends),
		unit_case(test_odd_names),
		unit_case(test_depth_and_trim),
		unit_case(test_hidden_hand_up),
		unit_case(test_start),
		unit_case(test_order),
		unit_case(test_thresholds_test_self),
		unit_case(test_deep),
	};

	return unit_main(tests, argc, argv);
}
