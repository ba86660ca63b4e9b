/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the files with captures: the file or folder that the user named, otherwise the folder
 * capture_traces beside the trace. execution_details.json beside them states the batch size of each
 * capture:
 *
 *   [{"file": "graph_capture_rank_0.1.pt.trace.json.gz", "batch_size": 8192, "mode": "PIECEWISE"}]
 */
#include "trace/read/graph/graph_internal.h"

#include "io/json_in.h"
#include "io/paths.h"
#include "trace/read/chrome/execution_trace.h"

#define FOLDER    "capture_traces"
#define DETAILS   "execution_details.json"
#define FILES_MAX 4096

/* A row of the file. */
struct capture_details {
	struct json_in j;
	struct arena *a;
	struct sb text;
	struct str file;
	int64_t batch;
	struct strs files;
	VEC(int64_t) batches;
};

/* ---- the list ---- */

static bool read_row(void *details)
{
	struct capture_details *x = details;
	struct json_value v;
	struct str key;

	x->file = STR_NONE;
	x->batch = 0;
	if (json_in_peek(&x->j) != '{')
		return json_in_skip(&x->j);
	json_in_enter(&x->j);
	while (json_in_member(&x->j, &key) && json_in_scalar(&x->j, &v)) {
		if (str_eq(key, S("file")) && v.type == JSON_STRING)
			x->file = str_copy(x->a, json_in_text(&x->j, &v, &x->text));
		if (str_eq(key, S("batch_size")) && v.type == JSON_NUMBER)
			json_decimal(v.text, 0, &x->batch);
	}
	return x->j.stop == JSON_STOP_NONE;
}

static void take_row(void *details)
{
	struct capture_details *x = details;

	if (!x->file.n || x->batch <= 0 || x->files.n == FILES_MAX)
		return;
	strs_add(x->a, &x->files, str_base(x->file));
	VEC_PUSH(x->a, &x->batches, x->batch);
}

/* Reads the list of a folder, if it has one. A damaged list ends where it is damaged. */
static void read_details(struct capture_details *x, struct str folder)
{
	struct err ignored = { .a = x->a };
	struct str path = str_fmt(x->a, "%.*s/" DETAILS, STR(folder));
	struct src *s;

	if (!path_exists(x->a, path) || path_is_special(x->a, path) ||
	        !src_open_file(&s, x->a, path, &ignored))
		return;
	if (json_in_open(&x->j, s) && json_in_ahead(&x->j) == '[')
		json_in_each(&x->j, read_row, take_row, x);
	src_close(s);
}

static int64_t batch_of(const struct capture_details *x, struct str path)
{
	for (size_t i = 0; i < x->files.n; i++)
		if (str_eq(x->files.v[i], str_base(path)))
			return x->batches.v[i];
	return 0;
}

/* ---- files ---- */

static struct str folder_of(struct str path)
{
	size_t slash = str_rfind_char(path, '/');

	return slash == SIZE_MAX ? S(".") : slash ? str_sub(path, 0, slash) : S("/");
}

static bool is_trace_name(struct str name)
{
	return (str_ends(name, S(".json")) || str_ends(name, S(".json.gz"))) &&
	       !str_eq(name, S(DETAILS));
}

/* Adds the files of a folder, except those of other ranks if some are of this one. */
static bool add_folder(
        struct captures *to, struct str folder, int64_t rank, struct arena *a, struct err *e)
{
	struct strs names = { 0 };
	size_t own = 0;

	if (!path_list(a, folder, &names, e))
		return false;
	paths_sort(a, &names);
	for (size_t i = 0; i < names.n; i++)
		own += is_trace_name(names.v[i]) && run_rank_in_path(names.v[i]) == rank;
	for (size_t i = 0; i < names.n && to->files.n < FILES_MAX; i++)
		if (is_trace_name(names.v[i]) &&
		        (!own || rank < 0 || run_rank_in_path(names.v[i]) == rank))
			VEC_PUSH(a, &to->files,
			        ((struct capture_file){ .path = str_fmt(a, "%.*s/%.*s", STR(folder),
			                                        STR(names.v[i])) }));
	return true;
}

/* Returns the rank of the process that wrote a trace; -1: unknown. */
static int64_t rank_of(const struct src *s, const struct trace *t)
{
	for (size_t i = 0; i < t->processes.n; i++)
		if (t->processes.v[i].rank >= 0)
			return t->processes.v[i].rank;
	return run_rank_in_path(s->name);
}

bool graph_find_files(
        struct src *s, const struct trace *t, struct captures *out, struct arena *a, struct err *e)
{
	struct capture_details details = { .a = a, .text = sb_in(a) };
	struct str named = s->options->graph_capture,
	           path = named.n ? named : str_fmt(a, "%.*s/" FOLDER, STR(folder_of(s->name)));

	*out = (struct captures){ .files = { .n = 0 } };
	if (!named.n && !path_is_folder(a, path))
		return true;
	out->path = path;
	if (!path_is_folder(a, path))
		VEC_PUSH(a, &out->files, ((struct capture_file){ .path = path }));
	else if (!add_folder(out, path, rank_of(s, t), a, e))
		return false;
	read_details(&details, path_is_folder(a, path) ? path : folder_of(path));
	for (size_t i = 0; i < out->files.n; i++)
		out->files.v[i].batch = batch_of(&details, out->files.v[i].path);
	if (named.n && !out->files.n)
		return err_set(e, ERR_NOT_FOUND,
		        "--graph-capture: '%.*s' has no traces: files *.json or *.json.gz were "
		        "expected",
		        STR(path));
	return true;
}
