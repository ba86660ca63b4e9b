/* SPDX-License-Identifier: Apache-2.0
 *
 * A consumer of Arrow streams without an Arrow library.
 *
 *   stream print KIND INPUT table|command WHAT ROWS
 *
 * Prints every row, with cells separated by tabs and null as \N. WHAT may be several tables
 * separated by commas: opens all of them and prints the last one.
 *
 *   stream odd KIND INPUT             releases streams in unusual orders, also after the session
 *
 *   stream limit KIND INPUT SOME      reads under memory limits: expects an error or all rows
 *
 *   stream threads KIND INPUT         reads while another thread queries the session
 *
 * KIND: number of a TFP_ input kind. ROWS: maximum rows per batch.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tfprof/tfprof.h"

#define CHECK(what) ((what) ? (void)0 : fail(#what, __LINE__))

static void fail(const char *what, int line)
{
	printf("line %d: not so: %s\n", line, what);
	exit(1);
}

static struct tfp_session *load(const char *kind, const char *path, uint64_t limit)
{
	struct tfp_config config = { .size = sizeof config, .memory_limit = limit };
	struct tfp_input in = { .size = sizeof in, .path = path, .path_size = TFP_Z };
	struct tfp_session *s;

	CHECK(!tfp_open(&s, &config));
	if (tfp_add(s, atoi(kind), &in)) {
		if (!limit)
			puts(tfp_error(s, NULL));
		CHECK(limit && tfp_error_code(s) == TFP_E_MEMORY);
		tfp_close(s);
		return NULL;
	}
	return s;
}

static int open_stream(struct tfp_session *s, const char *kind, const char *what, uint64_t rows,
        struct ArrowArrayStream *out)
{
	struct tfp_str text = { what, TFP_Z }, run = { "run 1", TFP_Z };
	struct tfp_arrow ask = { .size = sizeof ask, .run = run, .rows = rows };

	*(strcmp(kind, "table") ? &ask.command : &ask.table) = text;
	return tfp_arrow_stream(s, &ask, out);
}

/* ---- cells ---- */

static int has(const struct ArrowArray *x, int64_t i)
{
	const uint8_t *bits = x->buffers[0];

	return !bits || bits[i / 8] >> i % 8 & 1;
}

static void print_text(const struct ArrowArray *words, int32_t i)
{
	const int32_t *offsets = words->buffers[1];
	const char *bytes = words->buffers[2];

	CHECK(i >= 0 && i < words->length && offsets[i] <= offsets[i + 1]);
	for (int32_t k = offsets[i]; k < offsets[i + 1]; k++)
		if (bytes[k] == '\n')
			fputs("\\n", stdout);
		else
			putchar(bytes[k]);
}

static void print_list(const struct ArrowArray *x, int64_t i)
{
	const int32_t *offsets = x->buffers[1], *items = x->children[0]->buffers[1];

	CHECK(offsets[i] <= offsets[i + 1] && offsets[i + 1] <= x->children[0]->length);
	for (int32_t k = offsets[i]; k < offsets[i + 1]; k++) {
		if (k > offsets[i])
			putchar('|');
		print_text(x->children[0]->dictionary, items[k]);
	}
}

static void print_cell(const struct ArrowSchema *s, const struct ArrowArray *x, int64_t i)
{
	if (!has(x, i))
		fputs("\\N", stdout);
	else if (!strcmp(s->format, "i"))
		print_text(x->dictionary, ((const int32_t *)x->buffers[1])[i]);
	else if (!strcmp(s->format, "l"))
		printf("%" PRId64, ((const int64_t *)x->buffers[1])[i]);
	else if (!strcmp(s->format, "g"))
		printf("%.17g", ((const double *)x->buffers[1])[i]);
	else if (!strcmp(s->format, "b"))
		fputs(((const uint8_t *)x->buffers[1])[i / 8] >> i % 8 & 1 ? "true" : "false",
		        stdout);
	else if (!strcmp(s->format, "+l"))
		print_list(x, i);
	else
		CHECK(!"a known format");
}

/* Counts nulls again, and checks an array against the specification. */
static void check_array(const struct ArrowSchema *s, const struct ArrowArray *x)
{
	int64_t nulls = 0;

	for (int64_t i = 0; i < x->length; i++)
		nulls += !has(x, i);
	CHECK(nulls == x->null_count && x->offset == 0 && x->release &&
	        s->n_children == x->n_children);
	CHECK(!s->dictionary == !x->dictionary);
	for (int64_t i = 0; i < x->n_children; i++)
		check_array(s->children[i], x->children[i]);
	if (x->dictionary)
		check_array(s->dictionary, x->dictionary);
}

static void print_all(struct ArrowArrayStream *stream)
{
	struct ArrowSchema schema;
	struct ArrowArray batch;
	int64_t batches = 0;

	CHECK(!stream->get_schema(stream, &schema) && !strcmp(schema.format, "+s"));
	for (int64_t c = 0; c < schema.n_children; c++)
		printf("%s%s", c ? "\t" : "", schema.children[c]->name);
	putchar('\n');
	for (; !stream->get_next(stream, &batch) && batch.release; batches++) {
		check_array(&schema, &batch);
		for (int64_t i = 0; i < batch.length; i++)
			for (int64_t c = 0; c < batch.n_children; c++) {
				print_cell(schema.children[c], batch.children[c], i);
				putchar(c + 1 < batch.n_children ? '\t' : '\n');
			}
		batch.release(&batch);
	}
	CHECK(!stream->get_last_error(stream));
	schema.release(&schema);
	stream->release(stream);
	fprintf(stderr, "%" PRId64 " batches\n", batches);
}

static int64_t count_rows(struct ArrowArrayStream *stream, int *status)
{
	struct ArrowArray batch;
	int64_t rows = 0;

	while (!(*status = stream->get_next(stream, &batch)) && batch.release) {
		rows += batch.length;
		batch.release(&batch);
	}
	return rows;
}

/* ---- modes ---- */

static const char *const names[] = { "runs", "steps", "nodes", "slices", "kernels", "devices",
	"memory" };

static void check_error(const struct tfp_session *s, const char *begin)
{
	if (strncmp(tfp_error(s, NULL), begin, strlen(begin)))
		puts(tfp_error(s, NULL));
	CHECK(!strncmp(tfp_error(s, NULL), begin, strlen(begin)));
}

static void refuse(
        struct tfp_session *s, const char *kind, const char *what, uint64_t rows, const char *begin)
{
	struct ArrowArrayStream a;

	CHECK(open_stream(s, kind, what, rows, &a) == TFP_E_INVALID_ARGUMENT && !a.release);
	check_error(s, begin);
}

static void odd(const char *kind, const char *path)
{
	struct tfp_session *s = load(kind, path, 0);
	struct ArrowArrayStream a, b;
	struct ArrowSchema schema, column, words;
	struct ArrowArray first, second, moved, dictionary;
	struct tfp_input empty = { .size = sizeof empty, .bytes = "", .bytes_size = 0, .step = 99 };

	CHECK(!open_stream(s, "table", "nodes", 3, &a) && !open_stream(s, "table", "runs", 0, &b));
	CHECK(tfp_add(s, TFP_STEP, &empty) == TFP_E_FAILED); /* a stream is open */
	check_error(s, "nothing can be added while an Arrow stream of the session is open");
	CHECK(!a.get_next(&a, &first) && !a.get_next(&a, &second) && first.length == 3);
	moved = *first.children[2]; /* the step */
	first.children[2]->release = NULL;
	dictionary = *first.children[3]->dictionary; /* node names */
	first.children[3]->dictionary->release = NULL;
	first.release(&first);
	CHECK(!first.release && moved.length == 3 && dictionary.length > 0);
	CHECK(!a.get_schema(&a, &schema));
	column = *schema.children[3];
	schema.children[3]->release = NULL;
	words = *column.dictionary;
	column.dictionary->release = NULL;
	schema.release(&schema);
	CHECK(!strcmp(column.name, "node") && !strcmp(words.format, "u"));
	tfp_close(s);
	CHECK(second.length == 3);
	int status;
	CHECK(count_rows(&b, &status) == 1 && !status);
	b.release(&b);
	a.release(&a); /* ends the session; the batches stay */
	print_text(&dictionary, 0);
	putchar('\n');
	CHECK(has(&moved, 0) || moved.null_count);
	dictionary.release(&dictionary);
	second.release(&second);
	moved.release(&moved);
	words.release(&words);
	column.release(&column);
	CHECK(tfp_arrow_stream(NULL, NULL, &a) && tfp_arrow_stream(NULL, NULL, NULL));
	s = load(kind, path, 0);
	refuse(s, "table", "nobody", 0, "unknown table 'nobody'");
	refuse(s, "command", "help", 0, "'help' has no rows: views, tables such as");
	refuse(s, "command", "", 0, "'' has no rows: views, tables such as");
	refuse(s, "command", "scope -select nothing", 0, "-select: 'nothing' is unknown");
	refuse(s, "table", "runs", UINT64_C(1) << 40, "a batch has ");
	struct tfp_arrow bad = { .size = 3 };
	CHECK(tfp_arrow_stream(s, &bad, &a) == TFP_E_INVALID_ARGUMENT);
	check_error(s, "struct tfp_arrow has no size");
	bad = (struct tfp_arrow){ .size = sizeof bad };
	CHECK(tfp_arrow_stream(s, &bad, &a) == TFP_E_INVALID_ARGUMENT);
	check_error(s, "an Arrow stream contains a table or the answer of a command");
	CHECK(!open_stream(s, "command", "op", 0, &a)); /* of an answer: the session may grow */
	CHECK(tfp_add(s, TFP_STEP, &empty) != TFP_E_FAILED);
	a.release(&a);
	tfp_close(s);
}

/* some: at least one stream has to end early. */
static void limit(const char *kind, const char *path, int some)
{
	int64_t all[7];
	int ended = 0, complete = 0;

	for (uint64_t bytes = 0; bytes < UINT64_C(64) << 20;
	        bytes = bytes ? bytes + bytes / 16 : 1 << 19) {
		struct tfp_session *s = load(kind, path, bytes);
		for (size_t i = 0; s && i < 7; i++) {
			struct ArrowArrayStream a;
			int status;
			if (open_stream(s, "table", names[i], 0, &a)) {
				CHECK(bytes && tfp_error_code(s) == TFP_E_MEMORY);
				ended++;
				continue;
			}
			int64_t rows = count_rows(&a, &status);
			CHECK(!status ? !bytes || rows == all[i] : bytes && status == ENOMEM);
			CHECK(!status == !a.get_last_error(&a));
			ended += status != 0;
			complete += !status && bytes;
			if (!bytes)
				all[i] = rows;
			a.release(&a);
		}
		tfp_close(s);
	}
	CHECK((ended || !some) && complete);
}

/* Streams are opened by the thread that owns the session, and read while it asks. */
static void *read_one(void *stream)
{
	int status;

	CHECK(count_rows(stream, &status) > 0 && !status);
	return NULL;
}

static void threads(const char *kind, const char *path)
{
	struct tfp_session *s = load(kind, path, 0);
	pthread_t t;

	for (int i = 0; i < 20; i++) {
		struct ArrowArrayStream a;
		CHECK(!open_stream(s, "table", i % 2 ? "nodes" : "slices", 2, &a));
		CHECK(!pthread_create(&t, NULL, read_one, &a));
		for (int k = 0; k < 5; k++)
			CHECK(!tfp_run_line(s, "op -select micros -order_by micros", TFP_Z, NULL));
		pthread_join(t, NULL);
		a.release(&a);
	}
	tfp_close(s);
}

int main(int argc, char **argv)
{
	struct ArrowArrayStream a;

	if (argc == 7 && !strcmp(argv[1], "print")) {
		struct tfp_session *s = load(argv[2], argv[3], 0);
		int tables = !strcmp(argv[4], "table");
		for (char *comma; tables && (comma = strchr(argv[5], ',')); argv[5] = comma + 1) {
			*comma = '\0';
			CHECK(!open_stream(s, argv[4], argv[5], 0, &a));
			a.release(&a);
		}
		if (open_stream(s, argv[4], argv[5], strtoull(argv[6], NULL, 10), &a)) {
			puts(tfp_error(s, NULL));
			return 1;
		}
		tfp_close(s);
		print_all(&a);
	} else if (argc == 4 && !strcmp(argv[1], "odd")) {
		odd(argv[2], argv[3]);
	} else if (argc == 5 && !strcmp(argv[1], "limit")) {
		limit(argv[2], argv[3], atoi(argv[4]));
	} else if (argc == 4 && !strcmp(argv[1], "threads")) {
		threads(argv[2], argv[3]);
	} else {
		return 2;
	}
	return 0;
}
