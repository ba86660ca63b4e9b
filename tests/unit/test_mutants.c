/* SPDX-License-Identifier: Apache-2.0
 *
 * Every recorded input, cut after each 1/64 of its length, and with random one-bit flips. No input
 * may crash the program, all views are run on each input that loads, and a mutant is refused
 * exactly where the gate refuses it; another test compares the gate with libprotobuf. Subtrees that
 * a reader skips without reading are removed before the gate checks the bytes.
 *   TFPROF_MUTANTS=4096 flips of each file (default 24); TFPROF_FILES=colon-separated list of files
 */
#include "unit.h"

#include "reader_rig.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include "io/wire.h"
#include "tf_graph.pb-c.h"
#include "tf_step.pb-c.h"
#include "tfprof_log.pb-c.h"
#include "view/view.h"

/* Fields of one message: those that are entered, and those that are skipped without reading. Ends
 * with field 0. */
struct rule {
	uint32_t field;
	const struct rule *inside; /* NULL: skipped without reading */
};

static const struct rule output_tensor[] = { { 2, NULL }, { 0, NULL } };
static const struct rule output[] = { { 3, output_tensor }, { 0, NULL } };
static const struct rule memory_stats[] = { { 5, NULL }, { 6, NULL }, { 0, NULL } };
static const struct rule exec[] = { { 7, output }, { 11, NULL }, { 12, memory_stats },
	{ 0, NULL } };
static const struct rule device[] = { { 2, exec }, { 3, NULL }, { 0, NULL } };
static const struct rule step[] = { { 1, device }, { 0, NULL } };
static const struct rule run[] = { { 1, step }, { 2, NULL }, { 3, NULL }, { 4, NULL }, { 5, NULL },
	{ 0, NULL } };
static const struct rule graph[] = { { 2, NULL }, { 4, NULL }, { 5, NULL }, { 0, NULL } };
static const struct rule whole[] = { { 0, NULL } };

/* Returns the message without skipped fields; malformed parts stay as they are. At most five levels
 * deep. */
static void prune(struct sb *to, struct str bytes, const struct rule *rules)
{
	struct leaf l = leaf_of(bytes);

	for (const uint8_t *at = l.p; l.p < l.end; at = l.p) {
		const struct rule *r = rules;
		uint8_t head[2 * VARINT_MAX];
		if (!leaf_next(&l))
			break;
		while (r->field && LEAF_TAG(r->field, WIRE_BYTES) != l.tag)
			r++;
		struct leaf before = l;
		leaf_skip(&l);
		if (l.bad) {
			sb_put(to, str_make(at, (size_t)(l.end - at)));
			return;
		}
		if (!r->field) {
			sb_put(to, str_make(at, (size_t)(l.p - at)));
		} else if (r->inside) {
			struct sb in = sb_in(to->a);
			prune(&in, leaf_bytes(&before), r->inside);
			uint8_t *end = varint_put(varint_put(head, l.tag), in.n);
			sb_put(to, str_make(head, (size_t)(end - head)));
			sb_put(to, sb_str(&in));
		}
	}
	if (l.bad)
		sb_put(to, S("\xff"));
}

struct kind {
	const char *pattern;
	reader_fn *read; /* NULL: a step */
	const ProtobufCMessageDescriptor *type;
	const struct rule *rules;
};

static const struct kind kinds[] = {
	{ "graph.pb", read_graph, &tensorflow__graph_def__descriptor, graph },
	{ "run_meta", NULL, &tensorflow__run_metadata__descriptor, run },
	{ "op_log.pb", read_oplog, &tensorflow__tfprof__op_log_proto__descriptor, whole },
	{ "profile.pb", read_profile, &tensorflow__tfprof__profile_proto__descriptor, whole },
};

static bool read_step(struct rig *g, struct str bytes)
{
	struct src *s;

	g->e = (struct err){ .a = &g->a };
	if (!src_memory(&s, &g->a, S("in"), bytes, &g->e))
		return false;
	struct batch *b = batch_new(&g->a, g->m, 0, 1);
	return read_run(s, b, &g->e) && ingest_fold(g->in, b, &g->e);
}

/* Runs all views of the loaded model, with every column and open thresholds. */
static void ask_all(struct rig *g)
{
	struct opts o;
	struct result r;

	assert_true(ingest_seal(g->in, &g->e));
	opts_preset(&o, &g->a);
	o.max_depth = 10000;
	for (enum vk v = 0; v < VK_N; v++) {
		struct tree t = { .kind = v };
		struct query q = { .m = g->m, .o = &o, .a = &g->a, .notes = &g->notes, .tree = &t };
		views[v].build(g->m, &t, &g->a, &g->notes);
		g->e = (struct err){ .a = &g->a };
		if (!view_run(&views[v], &q, &r, &g->e) && (v != VK_CODE || g->m->has_traces))
			fail_msg("%s: %.*s", views[v].name, STR(g->e.text));
	}
}

/* Loads one mutant. Returns false if the reader and the gate disagree, and describes that in *why.
 */
static bool try_one(const struct kind *k, struct str bytes, char *why, size_t size)
{
	struct rig g;
	size_t at = 0;

	rig_open(&g, false);
	struct sb pruned = sb_in(&g.a);
	prune(&pruned, bytes, k->rules);
	bool good = pb_gate(k->type, sb_str(&pruned), 0, &at);
	bool taken = k->read ? rig_read(&g, k->read, bytes) : read_step(&g, bytes);
	if (taken)
		ask_all(&g);
	else
		assert_true(g.e.text.n > 0);
	snprintf(why, size, "%s, the gate %s (byte %zu)", taken ? "taken" : "refused",
	        good ? "takes it" : "refuses it", at);
	rig_close(&g);
	return taken == good;
}

static size_t flips(void)
{
	const char *z = getenv("TFPROF_MUTANTS");

	return z ? (size_t)strtoul(z, NULL, 10) : 24;
}

static void try_file(const struct kind *k, const char *path, size_t *tried)
{
	struct rig g;
	struct src *s;
	struct str file;
	char why[200];
	uint64_t seed = 1;

	rig_open(&g, false);
	g.e = (struct err){ .a = &g.a };
	assert_true(src_open(&s, &g.a, str_of(path), &g.e) && src_all(s, &file));
	char *copy = arena_copy(&g.a, file.p, file.n);
	src_close(s);
	for (size_t i = 0; i <= 64; i++, ++*tried)
		if (!try_one(k, str_make(copy, file.n * i / 64), why, sizeof why))
			fail_msg("%s cut to %zu bytes: %s", path, file.n * i / 64, why);
	for (size_t i = 0; i < flips() && file.n; i++, ++*tried) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		size_t bit = (size_t)((seed >> 16) % (file.n * 8));
		copy[bit / 8] ^= (char)(1 << bit % 8);
		if (!try_one(k, str_make(copy, file.n), why, sizeof why))
			fail_msg("%s with bit %zu of byte %zu flipped: %s", path, bit % 8, bit / 8,
			        why);
		copy[bit / 8] ^= (char)(1 << bit % 8);
	}
	rig_close(&g);
}

static void try_path(const char *path, size_t *tried)
{
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (str_starts(str_of(slash ? slash + 1 : path), str_of(kinds[i].pattern)) &&
		        !strstr(path, ".pbtxt"))
			try_file(&kinds[i], path, tried);
}

static void test_mutants(void **state)
{
	const char *given = getenv("TFPROF_FILES");
	size_t tried = 0;
	glob_t g;

	(void)state;
	if (given) {
		char *list = strdup(given), *more = NULL;
		for (char *p = strtok_r(list, ":", &more); p; p = strtok_r(NULL, ":", &more))
			try_path(p, &tried);
		free(list);
	} else {
		assert_int_equal(glob("testdata/recorded/*/*.pb*", 0, NULL, &g), 0);
		for (size_t i = 0; i < g.gl_pathc; i++)
			if (flips() > 24 || strstr(g.gl_pathv[i], "synthetic") || i % 4 == 0)
				try_path(g.gl_pathv[i], &tried);
		globfree(&g);
	}
	print_message("%zu mutants\n", tried);
	assert_true(tried > 64);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_mutants) };

	return unit_main(tests, argc, argv);
}
