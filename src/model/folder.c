/* SPDX-License-Identifier: Apache-2.0
 *
 * Recognises folders by the names of their files:
 *
 *   profile_100   profile_200.gz   run_meta_100   graph.pbtxt   tfprof_log   op_log.pb
 */
#include "model/sniff.h"

#include "base/num.h"
#include "base/sort.h"
#include "io/paths.h"

enum { NOTE_FOLDER_MANY = 0x610, NOTE_FOLDER_OLDER, NOTE_FOLDER_TWICE }; /* ids of notes */

enum kind { KIND_NONE, KIND_PROFILE, KIND_RUN, KIND_GRAPH, KIND_OPLOG };

/* If two words share a prefix, the longer one comes first. */
static const struct {
	const char *word;
	enum kind kind;
} words[] = {
	{ "profile", KIND_PROFILE },
	{ "run_metadata", KIND_RUN },
	{ "run_meta", KIND_RUN },
	{ "graph_def", KIND_GRAPH },
	{ "graph", KIND_GRAPH },
	{ "saved_model", KIND_GRAPH },
	{ "tfprof_log", KIND_OPLOG },
	{ "op_log", KIND_OPLOG },
};
static const char *const endings[] = { ".gz", ".pb", ".pbtxt", ".textproto" };

/* Returns the name without .gz and without the suffix of a format. */
static struct str without_endings(struct str name)
{
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (str_ends(name, str_of(endings[i])))
			name = str_sub(name, 0, name.n - strlen(endings[i]));
	return name;
}

/* Returns the role of a file with this name, and the step in the name. */
static enum kind judge_name(struct str name, int64_t *step)
{
	*step = -1;
	name = without_endings(name);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (!str_starts(name, str_of(words[i].word)))
			continue;
		struct str rest = str_sub(name, strlen(words[i].word), SIZE_MAX);
		if (!rest.n)
			return words[i].kind;
		bool number = rest.n > 1 && (rest.p[0] == '_' || rest.p[0] == '-') &&
		              char_is_digit(rest.p[1]) &&
		              num_parse_i64(str_sub(rest, 1, SIZE_MAX), step);
		return number && words[i].kind <= KIND_RUN ? words[i].kind : KIND_NONE;
	}
	return KIND_NONE;
}

static void take_one(struct str *at, const char *what, struct str path, struct notes *notes)
{
	if (!at->n)
		*at = path;
	else
		note_kind(notes, NOTE_FOLDER_MANY,
		        "two %s in one folder: '%.*s' is used, not '%.*s'", what, STR(*at),
		        STR(path));
}

/* Inserts a file after all files with the same step or a lower step. */
static void put_file(struct arena *a, struct folder_files *to, struct folder_file x)
{
	VEC_PUSH(a, to, x);
	for (size_t k = to->n; k-- > 1 && to->v[k - 1].step > x.step;) {
		to->v[k] = to->v[k - 1];
		to->v[k - 1] = x;
	}
}

/* Returns the folder that contains TensorBoard's runs: plugins/profile below the path, or the path
 * itself if it is such a folder; empty if there is none. */
static struct str runs_folder(struct arena *a, struct str path)
{
	struct str below = str_fmt(a, "%.*s/plugins/profile", STR(path)),
	           last = str_fmt(a, "%.*s/profile", STR(path));

	if (path_is_folder(a, below))
		return below;
	if (str_eq(str_base(path), S("plugins")) && path_is_folder(a, last))
		return last;
	return str_ends(path, S("plugins/profile")) ? path : STR_NONE;
}

static bool nothing_known(struct arena *a, struct str path, const struct strs *names, struct err *e)
{
	if (runs_folder(a, path).n)
		return err_set(e, ERR_NOT_FOUND,
		        "the folder '%.*s' has no trace: expected *.xplane.pb or *.trace.json in a "
		        "run below plugins/profile",
		        STR(path));
	for (size_t i = 0; i < names->n; i++)
		if (str_contains(names->v[i], S(".tfevents")) || str_eq(names->v[i], S("plugins")))
			return err_set(e, ERR_NOT_FOUND,
			        "the folder '%.*s' contains no trace, profile_N, graph or "
			        "run_meta_N, but "
			        "TensorBoard files ('%.*s'), which tfprof does not read",
			        STR(path), STR(names->v[i]));
	for (size_t i = 0; i < names->n; i++)
		if (names->v[i].p[0] != '.' &&
		        path_is_folder(a, str_fmt(a, "%.*s/%.*s", STR(path), STR(names->v[i]))))
			return err_set(e, ERR_NOT_FOUND,
			        "the folder '%.*s' contains no trace, profile_N, graph or "
			        "run_meta_N, "
			        "but "
			        "folders such as '%.*s': --profile_path='%.*s/*' loads each as a "
			        "worker",
			        STR(path), STR(names->v[i]), STR(path));
	return err_set(e, ERR_NOT_FOUND,
	        "the folder '%.*s' contains no trace, profile_N, graph or run_meta_N", STR(path));
}

bool folder_list(
        struct arena *a, struct str path, struct folder *f, struct notes *notes, struct err *e)
{
	struct strs names = { 0 };

	*f = (struct folder){ 0 };
	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	if (!path_list(a, path, &names, e))
		return false;
	paths_sort(a, &names);
	for (size_t i = 0; i < names.n; i++) {
		struct folder_file x;
		enum kind kind = judge_name(names.v[i], &x.step);
		if (kind == KIND_NONE)
			continue;
		x.path = str_fmt(a, "%.*s/%.*s", STR(path), STR(names.v[i]));
		if (path_is_special(a, x.path))
			continue;
		switch (kind) {
		case KIND_PROFILE: put_file(a, &f->profiles, x); break;
		case KIND_RUN: put_file(a, &f->runs, x); break;
		case KIND_GRAPH: take_one(&f->graph, "graphs", x.path, notes); break;
		case KIND_OPLOG: take_one(&f->oplog, "op logs", x.path, notes); break;
		case KIND_NONE: break;
		}
	}
	if (f->profiles.n || f->runs.n || f->graph.n)
		return true;
	return nothing_known(a, path, &names, e);
}

/* ---- traces ---- */

static struct str without_gz(struct str name)
{
	return str_ends(name, S(".gz")) ? str_sub(name, 0, name.n - 3) : name;
}

static bool is_xspace(struct str name)
{
	return str_ends(without_gz(name), S(".xplane.pb"));
}

static bool is_json_trace(struct str name)
{
	return str_ends(without_gz(name), S(".trace.json"));
}

/* True for names such as "kineto_trace_0.json", which tools for execution traces expect. */
static bool is_kineto(struct str name)
{
	return str_starts(name, S("kineto")) && str_ends(without_gz(name), S(".json"));
}

/* True for names such as "pytorch_et_0.json", "rank3.et.json" and "execution_trace.json". */
static bool is_calls(struct str name)
{
	struct str stem = without_gz(name);

	if (!str_ends(stem, S(".json")))
		return false;
	stem.n -= sizeof ".json" - 1;
	for (size_t i = 0, from = 0; i <= stem.n; i++)
		if (i == stem.n || str_find_char(S("_-."), stem.p[i]) != SIZE_MAX) {
			struct str word = str_sub(stem, from, i - from);
			if (str_eq(word, S("et")) || str_eq(word, S("execution")))
				return true;
			from = i + 1;
		}
	return false;
}

/* Returns "HOST_PID" for "HOST_PID.TIME.pt.trace.json", and an empty text for other names. */
static struct str traced_worker(struct str name)
{
	size_t dot = str_find_char(name, '.'), i = dot + 1;

	if (dot == SIZE_MAX)
		return STR_NONE;
	while (i < name.n && char_is_digit(name.p[i]))
		i++;
	return i > dot + 1 && str_starts(str_sub(name, i, SIZE_MAX), S(".pt.trace.json"))
	               ? str_sub(name, 0, dot)
	               : STR_NONE;
}

static bool any_name(struct str name)
{
	return name.n > 0;
}

/* Keeps the files with such names. Names are sorted, so the newest file of a worker comes last. */
static struct strs choose(struct arena *a, struct str path, const struct strs *names,
        bool (*wanted)(struct str name), struct notes *notes)
{
	struct strs out = { 0 };
	struct str last = STR_NONE;

	for (size_t i = 0; i < names->n; i++) {
		struct str name = names->v[i], worker = traced_worker(name);
		struct str file = str_fmt(a, "%.*s/%.*s", STR(path), STR(name));
		if (!wanted(name) || path_is_special(a, file))
			continue;
		if (out.n && str_eq(file, str_fmt(a, "%.*s.gz", STR(out.v[out.n - 1])))) {
			note_kind(notes, NOTE_FOLDER_TWICE,
			        "'%.*s' is ignored: the folder also has the uncompressed file",
			        STR(file));
			continue;
		}
		if (worker.n && str_eq(worker, last)) {
			note_kind(notes, NOTE_FOLDER_OLDER,
			        "'%.*s' is older than another trace of its process in the folder "
			        "and left out",
			        STR(out.v[out.n - 1]));
			out.n--;
		}
		strs_add(a, &out, file);
		last = worker;
	}
	return out;
}

struct strs folder_workers(
        struct arena *a, struct str path, const struct strs *names, struct notes *notes)
{
	return choose(a, path, names, any_name, notes);
}

bool folder_is_of_tensorflow(const struct strs *names)
{
	int64_t step;

	for (size_t i = 0; i < names->n; i++)
		if (judge_name(names->v[i], &step) != KIND_NONE)
			return true;
	return false;
}

bool folder_is_run(struct arena *a, struct str path)
{
	return runs_folder(a, path).n || str_contains(path, S("plugins/profile"));
}

/* Lists the traces in a folder. Returns an empty list if the folder has other inputs or cannot be
 * read. Sets *calls to files beside JSON traces that have names of execution traces. */
static struct strs traces_in(
        struct arena *a, struct str path, struct strs *calls, struct notes *notes)
{
	struct err e = { .a = a };
	struct strs names = { 0 }, out;

	if (!path_is_folder(a, path) || !path_list(a, path, &names, &e) ||
	        folder_is_of_tensorflow(&names))
		return (struct strs){ 0 };
	paths_sort(a, &names);
	out = choose(a, path, &names, is_xspace, notes);
	if (out.n)
		return out;
	out = choose(a, path, &names, is_json_trace, notes);
	if (!out.n)
		out = choose(a, path, &names, is_kineto, notes);
	if (out.n)
		*calls = choose(a, path, &names, is_calls, notes);
	return out;
}

/* Lists the traces of the newest run that has any. Adds a note if there are several runs. */
static struct strs newest_run(
        struct arena *a, struct str top, struct strs *calls, struct notes *notes)
{
	struct err e = { .a = a };
	struct strs names = { 0 }, runs = { 0 }, out = { 0 };
	size_t i;

	path_list(a, top, &names, &e);
	paths_sort(a, &names);
	for (i = 0; i < names.n; i++) {
		struct str run = str_fmt(a, "%.*s/%.*s", STR(top), STR(names.v[i]));
		if (names.v[i].p[0] != '.' && path_is_folder(a, run))
			strs_add(a, &runs, run);
	}
	for (i = runs.n; i && !out.n;)
		out = traces_in(a, runs.v[--i], calls, notes);
	if (out.n && runs.n > 1)
		note_line(notes,
		        "note: '%.*s' is the newest run%s, of %zu runs; to read another one, name "
		        "its folder\n",
		        STR(runs.v[i]), i + 1 < runs.n ? " with a trace" : "", runs.n);
	return out;
}

struct strs folder_traces(struct arena *a, struct str path, struct strs *calls, struct notes *notes)
{
	struct strs out = { 0 };
	struct str top;

	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	top = runs_folder(a, path);
	if (top.n)
		out = newest_run(a, top, calls, notes);
	return out.n ? out : traces_in(a, path, calls, notes);
}

static int compare_names(const void *v, uint32_t a, uint32_t b)
{
	const struct str *names = v;

	return str_cmp(names[a], names[b]);
}

void folder_host_names(struct arena *a, struct strs *names)
{
	struct strs hosts = { 0 };

	for (size_t i = 0; i < names->n; i++) {
		struct str name = without_gz(names->v[i]);
		if (!is_xspace(name))
			return;
		strs_add(a, &hosts, str_sub(name, 0, name.n - (sizeof ".xplane.pb" - 1)));
	}
	const uint32_t *order = sort_order(a, hosts.n, compare_names, hosts.v);
	for (size_t i = 0; i < hosts.n; i++)
		if (!hosts.v[i].n || (i && str_eq(hosts.v[order[i]], hosts.v[order[i - 1]])))
			return;
	*names = hosts;
}
