/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the ten kernels of a trace that take the most time.
 *   cc top_kernels.c -ltfprof -o top_kernels
 *   ./top_kernels rank0.pt.trace.json
 */
#include <stdio.h>

#include <tfprof/tfprof.h>

int main(int argc, char **argv)
{
	struct tfp_session *s;
	struct tfp_rows *rows = NULL;
	const struct tfp_cell *row;
	struct tfp_str file;
	int failed, name, ns, count, share;

	if (argc != 2)
		return fprintf(stderr, "usage: %s TRACE\n", argv[0]), 2;
	file.data = argv[1], file.size = TFP_Z;
	failed = tfp_open(&s, NULL) || tfp_add_files(s, &file, 1) ||
	         tfp_rows_open(s, "kernels --top=10", TFP_Z, NULL, &rows);
	if (failed)
		fprintf(stderr, "%s: %s: %s\n", argv[0], tfp_code_name(tfp_error_code(s)),
		        tfp_error(s, NULL));
	name = tfp_rows_find(rows, "name");
	ns = tfp_rows_find(rows, "total_ns");
	count = tfp_rows_find(rows, "count");
	share = tfp_rows_find(rows, "share");
	while ((row = tfp_rows_next(rows)) != NULL)
		printf("%9.3f ms %5.1f%% %7.0f x  %.*s\n", row[ns].real / 1e6, row[share].real,
		        row[count].real, (int)row[name].text.size, row[name].text.data);
	tfp_rows_close(rows);
	tfp_close(s);
	return failed;
}
