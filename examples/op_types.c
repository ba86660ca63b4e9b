/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the ten costliest operation types of recorded training steps.
 *   cc op_types.c -ltfprof -o op_types
 *   ./op_types graph.pb run_meta_0.pb [run_meta_1.pb ...]
 */
#include <stdio.h>
#include <string.h>

#include <tfprof/tfprof.h>

/* The first part of a text; the rest is not needed. */
struct text {
	char part[8192];
	size_t used;
};

static int keep(void *user, const void *bytes, size_t n)
{
	struct text *t = (struct text *)user;
	size_t room = sizeof t->part - 1 - t->used;

	memcpy(t->part + t->used, bytes, n < room ? n : room);
	t->used += n < room ? n : room;
	return 0;
}

static int add(struct tfp_session *s, int kind, const char *path, int64_t step)
{
	struct tfp_input in = { sizeof in, path, TFP_Z, NULL, 0, step, NULL, 0 };

	return tfp_add(s, kind, &in);
}

int main(int argc, char **argv)
{
	static struct text text;
	static struct tfp_run run;
	struct tfp_session *s;
	const char *p;
	int i, failed;

	if (argc < 3)
		return fprintf(stderr, "usage: %s GRAPH RUN_META...\n", argv[0]), 2;
	run.size = sizeof run, run.text = keep, run.text_user = &text;
	failed = tfp_open(&s, NULL) || add(s, TFP_GRAPH, argv[1], 0);
	for (i = 2; i < argc && !failed; i++)
		failed = add(s, TFP_STEP, argv[i], i - 2);
	failed = failed ||
	         tfp_run_line(s, "op -max_depth 9 -order_by micros -select micros,occurrence",
	                 TFP_Z, &run);
	if (failed)
		fprintf(stderr, "%s: %s\n", argv[0], tfp_error(s, NULL));
	p = strstr(text.part, "node name"); /* the heading of the table */
	fputs(p ? p : "", stdout);
	tfp_close(s);
	return failed;
}
