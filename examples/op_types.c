/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the ten costliest operation types of recorded training steps.
 *   cc op_types.c -ltfprof -o op_types
 *   ./op_types graph.pb run_meta_0.pb [run_meta_1.pb ...]
 */
#include <stdio.h>

#include <tfprof/tfprof.h>

static int add(struct tfp_session *s, int kind, const char *path, int64_t step)
{
	struct tfp_input in = { sizeof in, path, TFP_Z, NULL, 0, step, NULL, 0 };

	return tfp_add(s, kind, &in);
}

int main(int argc, char **argv)
{
	struct tfp_session *s;
	struct tfp_rows *rows = NULL;
	const struct tfp_cell *row;
	int i, failed, path, micros, runs;

	if (argc < 3)
		return fprintf(stderr, "usage: %s GRAPH RUN_META...\n", argv[0]), 2;
	failed = tfp_open(&s, NULL) || add(s, TFP_GRAPH, argv[1], 0);
	for (i = 2; i < argc && !failed; i++)
		failed = add(s, TFP_STEP, argv[i], i - 2);
	failed = failed || tfp_rows_open(s, "op -order_by micros -select micros,occurrence", TFP_Z,
	                           NULL, &rows);
	if (failed)
		fprintf(stderr, "%s: %s: %s\n", argv[0], tfp_code_name(tfp_error_code(s)),
		        tfp_error(s, NULL));
	path = tfp_rows_find(rows, "path");
	micros = tfp_rows_find(rows, "total_micros");
	runs = tfp_rows_find(rows, "total_occurrence");
	for (i = 0; i < 10 && (row = tfp_rows_next(rows)) != NULL; i++)
		printf("%10.0f us %6.0f runs  %.*s\n", row[micros].real, row[runs].real,
		        (int)row[path].text.size, row[path].text.data);
	tfp_rows_close(rows);
	tfp_close(s);
	return failed;
}
