/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the files with captures: the file or folder that the user named, otherwise a folder beside
 * the trace to which a server writes them, otherwise the files that execution_details.json beside
 * the trace names. This list, or the name of a file, states the size of a capture:
 *
 *   [{"file": "graph_capture_rank_0.1.pt.trace.json.gz", "batch_size": 8192, "mode": "PIECEWISE"}]
 *   DecodeCudaGraphRunner_bs_8_rank0.json.gz
 */
#include "trace/read/graph/graph_internal.h"

#include "io/json_in.h"
#include "io/paths.h"
#include "trace/read/chrome/execution_trace.h"
#include "trace/read/recording/recordings.h"

#define DETAILS   "execution_details.json"
#define FILES_MAX 4096

/* Folders that vLLM and SGLang write. */
static const char *const folders[] = { "capture_traces", "graph_capture_profile" };

/* A row of the file execution_details.json. */
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

/* Reads the list of a folder, if the folder has one. Reads a damaged list up to the damage. */
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

/* ---- names of files ---- */

/* Returns the number after a word in a name, or -1. */
static int64_t number_after(struct str name, struct str word)
{
	int64_t number;

	for (size_t i = 0; i + word.n < name.n; i++) {
		struct str rest = str_sub(name, i, SIZE_MAX);
		size_t n = word.n;
		if (!str_starts(rest, word))
			continue;
		while (n < rest.n && char_is_digit(rest.p[n]))
			n++;
		if (num_parse_i64(str_sub(rest, word.n, n - word.n), &number))
			return number;
	}
	return -1;
}

/* Returns the rank in a file name that contains "rank0" or "TP-0"; -1: none. */
static int64_t rank_in_name(struct str name)
{
	int64_t tensor = number_after(str_base(name), S("TP-"));

	return tensor >= 0 ? tensor : run_rank_in_path(name);
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

/* Adds the files of a folder. If some files are of this rank, omits the files of other ranks. */
static bool add_folder(
        struct captures *to, struct str folder, int64_t rank, struct arena *a, struct err *e)
{
	struct strs names = { 0 };
	size_t own = 0;

	if (!path_list(a, folder, &names, e))
		return false;
	paths_sort(a, &names);
	for (size_t i = 0; i < names.n; i++)
		own += is_trace_name(names.v[i]) && rank_in_name(names.v[i]) == rank;
	for (size_t i = 0; i < names.n && to->files.n < FILES_MAX; i++)
		if (is_trace_name(names.v[i]) &&
		        (!own || rank < 0 || rank_in_name(names.v[i]) == rank))
			VEC_PUSH(a, &to->files,
			        ((struct capture_file){ .path = str_fmt(a, "%.*s/%.*s", STR(folder),
			                                        STR(names.v[i])) }));
	return true;
}

/* Returns the rank of the process that wrote a trace; -1: unknown. */
static int64_t rank_of(struct str name, const struct trace *t)
{
	int64_t tensor = number_after(str_base(name), S("TP-"));

	if (tensor >= 0)
		return tensor; /* ranks in the names of captures are tensor ranks, too */
	for (size_t i = 0; i < t->processes.n; i++)
		if (t->processes.v[i].rank >= 0)
			return t->processes.v[i].rank;
	return run_rank_in_path(name);
}

/* Returns the folder with captures beside a trace, or an empty text. */
static struct str folder_beside(struct str trace, struct arena *a)
{
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		struct str path = str_fmt(a, "%.*s/%s", STR(folder_of(trace)), folders[i]);
		if (path_is_folder(a, path))
			return path;
	}
	return STR_NONE;
}

/* Adds the files named by a list beside the trace, except the trace itself. */
static void add_listed(struct captures *to, const struct capture_details *list, struct str trace,
        struct str folder, struct arena *a)
{
	for (size_t i = 0; i < list->files.n; i++)
		if (!str_eq(list->files.v[i], str_base(trace)))
			VEC_PUSH(a, &to->files,
			        ((struct capture_file){ .path = str_fmt(a, "%.*s/%.*s", STR(folder),
			                                        STR(list->files.v[i])) }));
	if (to->files.n)
		to->path = folder;
}

/* Sets the size for which the captures of each file were made. */
static void set_sizes(struct captures *to, const struct capture_details *list)
{
	for (size_t i = 0; i < to->files.n; i++) {
		struct capture_file *f = &to->files.v[i];
		int64_t requests = number_after(str_base(f->path), S("bs_"));
		f->batch = batch_of(list, f->path);
		f->requests = !f->batch && requests > 0;
		if (f->requests)
			f->batch = requests;
	}
}

/* True for a GPU recording: a folder, or the file of a process. */
static bool is_recording(struct str path, struct arena *a)
{
	return recording_is_folder(a, path) || str_ends(path, S(SPOOL_SUFFIX));
}

bool graph_find_files(const struct graph_source *from, const struct trace *t, struct captures *out,
        struct arena *a, struct err *e)
{
	struct capture_details details = { .a = a, .text = sb_in(a) };
	struct str named = from->capture, path = named.n ? named : folder_beside(from->name, a);

	*out = (struct captures){ .path = path };
	if (named.n && is_recording(named, a)) {
		VEC_PUSH(
		        a, &out->files, ((struct capture_file){ .path = path, .recording = true }));
		return true;
	}
	if (path.n && !path_is_folder(a, path))
		VEC_PUSH(a, &out->files, ((struct capture_file){ .path = path }));
	else if (path.n && !add_folder(out, path, rank_of(from->name, t), a, e))
		return false;
	struct str folder =
	        path.n && path_is_folder(a, path) ? path : folder_of(path.n ? path : from->name);
	read_details(&details, folder);
	if (!path.n)
		add_listed(out, &details, from->name, folder, a);
	set_sizes(out, &details);
	if (named.n && !out->files.n)
		return err_set(e, ERR_NOT_FOUND,
		        "--graph-capture: '%.*s' has no traces: files *.json or *.json.gz were "
		        "expected",
		        STR(path));
	return true;
}
