/* SPDX-License-Identifier: Apache-2.0
 *
 * The documents of a report, and the command lines that make them.
 */
#include "lib/report.h"

#include "base/reduced_names.h"
#include "export/data/document.h"
#include "export/page/html.h"
#include "io/paths.h"
#include "lib/options.h"
#include "model/sniff.h"
#include "trace/read/chrome/execution_trace.h"

#define ALL_LEVELS  "1000"  /* a limit, because all paths may take the square of the input */
#define MANY        "10000" /* row limit of long tables */
#define STEPS_SHOWN 100
#define NAMES_PART  "names"
#define TOTALS      0 /* index of the view whose totals the overview shows */
#define STR_WORDS(...)                                                                             \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

/* ---- loading ---- */

/* True if the file is a part of a profile: a graph, a step, an op log. */
static bool is_part(struct session *s, struct str path, bool *is)
{
	const struct unsupported_format *unsupported;
	unsigned role = 0;

	*is = false;
	if (!path_exists(&s->query_arena, path) || path_is_folder(&s->query_arena, path))
		return true;
	if (!input_guess_file(path, &role, &unsupported, &s->work, &s->error))
		return false;
	*is = role == ROLE_GRAPH || role == ROLE_STEP || role == ROLE_OPLOG;
	return true;
}

/* Splits the words into flags of the command line and other words. Flags that are commands, such as
 * --help, count as other words.
 */
static void take_flags(
        struct session *s, const struct strs *words, struct strs *flags, struct strs *rest)
{
	static const char *const others[] = { "help", "version" };
	struct arena *a = &s->query_arena;

	for (size_t i = 0; i < words->n; i++) {
		struct str name = STR_NONE, value;
		bool has_value = false,
		     taken = cmd_option_word(words->v[i], &name, &value, &has_value);
		const struct option *flag = taken ? flag_find(name) : NULL;
		for (size_t k = 0; k < sizeof others / sizeof *others; k++)
			taken &= !str_eq(name, str_of(others[k]));
		struct strs *to = flag && taken ? flags : rest;
		strs_add(a, to, words->v[i]);
		if (flag && option_argument(flag) && !has_value && i + 1 < words->n)
			strs_add(a, to, words->v[++i]);
	}
}

bool report_words(
        struct session *s, const struct request *r, struct strs *flags, struct option_words *w)
{
	struct strs rest = { 0 };

	options_preset(r->command->name, w->into);
	take_flags(s, &r->before, flags, &rest);
	rest = (struct strs){ 0 };
	take_flags(s, &r->topics, flags, &rest);
	return options_read(s, &rest, w) && html_available(&s->error);
}

/* Reads the flags; sets the memory limit and the options of readers in the session. */
static bool parse_flags(struct session *s, const struct strs *words, struct flags *f)
{
	char **argv = ARENA_ARRAY(&s->query_arena, words->n + 2, char *);

	for (size_t i = 0; i < words->n; i++)
		argv[i + 1] = str_z(&s->model_arena, words->v[i]);
	return flags_parse(s, (int)words->n + 1, argv, f);
}

/* True if a flag names a file to load. */
static bool has_input(const struct flags *f)
{
	for (size_t i = 0; i < f->given.n; i++) {
		const struct option *flag = flag_find(f->given.v[i]);
		if (flag->type == OPT_FILE || flag->type == OPT_FILES)
			return true;
	}
	return false;
}

/* Loads one input from flags and files. */
static bool load_one(struct session *s, struct flags *f, const struct strs *files)
{
	struct arena *a = &s->query_arena;
	struct strs single = { 0 };

	for (size_t i = 0; i < files->n; i++) {
		struct str word = files->v[i];
		struct strs parts = { &word, 1, 0 };
		if (!path_exists(a, word) && str_find_char(word, ',') != SIZE_MAX)
			parts = str_split(a, word, ',');
		for (size_t k = 0; k < parts.n; k++)
			strs_add(a, &single, parts.v[k]);
	}
	if (!flags_sort(s, f, &single))
		return false;
	if (!flags_check_nodes(s, f, "report", files->n))
		return false;
	if (!flags_inputs(f))
		return session_fail(s, ERR_INVALID_ARGUMENT, "no input: name a file or a folder");
	return flags_load(s, f, sink_memory(a)) && session_seal(s);
}

/* True if the files are runs to compare. Files that are not traces have no ranks. */
static bool are_runs(struct session *s, const struct report_inputs *in)
{
	int64_t ranks[2] = { -1, -1 };

	for (size_t i = 0; i < in->files.n && in->as == FILES_AS_AUTO; i++) {
		if (!input_is_trace(in->files.v[i], &s->work))
			return true;
		if (in->files.n == 2)
			ranks[i] = run_rank_in_header(in->files.v[i], &s->work);
	}
	return files_are_runs(in->as, in->files.n, ranks);
}

bool report_load(struct session *s, const struct report_inputs *in, const struct opts *o,
        struct report_parts *out)
{
	const struct strs *flags = &in->flags, *files = &in->files;
	struct flags f;

	if (!parse_flags(s, flags, &f))
		return false;
	bool part = has_input(&f);
	*out = (struct report_parts){ .as = in->as };
	s->arrays = true;
	session_set(s, o);
	for (size_t i = 0; i < files->n && !part; i++)
		if (!is_part(s, files->v[i], &part))
			return false;
	out->compares = files->n > 1 && !part && are_runs(s, in);
	for (size_t i = 0; i < flags->n && !out->compares; i++)
		strs_add(&s->model_arena, &out->files, flags->v[i]);
	for (size_t i = 0; i < files->n; i++)
		strs_add(&s->model_arena, &out->files, files->v[i]);
	return out->compares || load_one(s, &f, files);
}

/* ---- the list ---- */

static struct report_part *add(struct session *s, struct report_parts *p, const char *name)
{
	VEC_PUSH(&s->query_arena, &p->v, (struct report_part){ .name = name });
	return &p->v.v[p->v.n - 1];
}

static void add_words(struct session *s, struct strs *to, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		strs_add(&s->query_arena, to, str_of(words[i]));
}

static void add_files(struct session *s, struct strs *to, const struct strs *files)
{
	for (size_t i = 0; i < files->n; i++)
		strs_add(&s->query_arena, to, files->v[i]);
}

/* Returns the names of the metrics with given uses; for snapshots, only the metrics of memory. */
static const char *columns(struct session *s, unsigned uses)
{
	struct sb names = sb_in(&s->query_arena);

	for (enum metric_id i = 0; i < M_N; i++)
		if ((metrics[i].uses & uses) == uses &&
		        !(metrics[i].uses & USE_MEMORY) == !session_has_snapshots(s))
			sb_fmt(&names, "%s%s", names.n ? "," : "", metrics[i].name);
	return str_z(&s->query_arena, sb_str(&names));
}

/* Returns the names of the metrics that the page of a view shows. For a profile that is not a
 * trace, only the metrics with an option -min_<name>. */
static const char *columns_of(struct session *s)
{
	return columns(s, USE_SELECT | USE_ORDER | (s->model.traces.n ? 0 : USE_MIN));
}

static void add_view(struct session *s, struct report_parts *p, const struct view_ops *v)
{
	struct report_part *x = add(s, p, v->name);

	add_words(s, &x->command, STR_WORDS(v->name));
	add_files(s, &x->command, &p->files);
	add_words(s, &x->words,
	        STR_WORDS(v->name, "-max_depth", ALL_LEVELS, "-select", columns_of(s), "-output",
	                "json"));
}

/* Adds the totals of each step. */
static void add_steps(struct session *s, struct report_parts *p)
{
	const struct model *m = &s->model;

	for (size_t i = 0; i < m->step_ids.n && m->step_ids.n > 1 && i < STEPS_SHOWN; i++) {
		struct report_part *x = add(s, p, "step");
		struct str step = str_fmt(&s->query_arena, "%lld", (long long)m->step_ids.v[i]);
		add_words(s, &x->command, STR_WORDS(views[TOTALS].name));
		add_files(s, &x->command, &p->files);
		add_words(s, &x->command, STR_WORDS("-max_depth", "1", "-step"));
		strs_add(&s->query_arena, &x->command, step);
		add_words(s, &x->words,
		        STR_WORDS(views[TOTALS].name, "-max_depth", "1", "-select", columns_of(s),
		                "-output", "json", "-step"));
		strs_add(&s->query_arena, &x->words, step);
	}
}

static void add_table(struct session *s, struct report_parts *p, const char *name, const char *top)
{
	struct report_part *x = add(s, p, name);

	add_words(s, &x->command, STR_WORDS(name));
	add_files(s, &x->command, &p->files);
	add_words(s, &x->words, STR_WORDS(name));
	if (top)
		add_words(s, &x->words, STR_WORDS("--top", top));
	add_words(s, &x->words, STR_WORDS("-output", "json"));
}

/* Adds a part that only some inputs have: the table of a command. Returns NULL if the input is
 * known to lack it. */
static struct report_part *add_optional_as(
        struct session *s, struct report_parts *p, const char *name, const char *command)
{
	struct report_part *x;

	for (size_t i = 0; i < p->without.n; i++)
		if (str_eq(p->without.v[i], str_of(name)))
			return NULL;
	add_table(s, p, command, MANY);
	x = &p->v.v[p->v.n - 1];
	x->name = name;
	x->optional = true;
	return x;
}

static void add_optional(struct session *s, struct report_parts *p, const char *name)
{
	add_optional_as(s, p, name, name);
}

static void add_slices(struct session *s, struct report_parts *p)
{
	struct report_part *x = add(s, p, "slices");

	add_words(s, &x->command, STR_WORDS("slices"));
	add_files(s, &x->command, &p->files);
	add_words(s, &x->words, STR_WORDS("slices", "0", "0"));
	strs_add(&s->query_arena, &x->words,
	        str_fmt(&s->query_arena, "%zu", p->slices ? p->slices : SLICES_SHOWN));
}

/* Adds the reduced names of C++ functions, which the page shows like the text of the commands. */
static void add_names(struct session *s, struct report_parts *p)
{
	struct report_part *x = add(s, p, NAMES_PART);

	add_words(s, &x->command, STR_WORDS(NAMES_PART));
	add_files(s, &x->command, &p->files);
	add_words(s, &x->words, STR_WORDS(NAMES_PART));
}

static void add_comparison(struct session *s, struct report_parts *p)
{
	for (int k = 0; k < VK_N; k++) {
		struct report_part *x = add(s, p, "diff");
		add_words(s, &x->command, STR_WORDS("diff", views[k].name));
		add_files(s, &x->command, &p->files);
		x->words = (struct strs){ 0 };
		add_files(s, &x->words, &x->command);
		add_words(s, &x->words,
		        STR_WORDS("--all", "--min_size", "0", "-select",
		                columns(s, USE_SELECT | USE_MIN | USE_PPROF), "-output", "json"));
	}
}

/* True if a snapshot has slices with a length, which a timeline can show: its annotations. */
static bool has_annotations(const struct session *s)
{
	for (size_t i = 0; i < s->model.traces.n; i++) {
		const struct trace *t = s->model.traces.v[i].t;
		for (size_t k = 0; k < t->events.n; k++)
			if (t->events.v[k].category == CATEGORY_STEP ||
			        t->events.v[k].category == CATEGORY_ANNOTATION)
				return true;
	}
	return false;
}

/* Adds the parts of one trace or recording: devices, kernels and so on. */
static void add_trace(struct session *s, struct report_parts *p)
{
	if (session_has_snapshots(s)) {
		if (has_annotations(s))
			add_slices(s, p);
		add_optional(s, p, "memory");
		return;
	}
	if (s->model.traces.n && s->model.traces.v[0].t->source == TRACE_FLIGHT) {
		add_slices(s, p);
		add_optional(s, p, "collectives");
		return;
	}
	add_table(s, p, "devices", "0");
	add_table(s, p, "kernels", MANY);
	add_table(s, p, "steps", "0");
	add_slices(s, p);
	add_optional(s, p, "idle");
	add_optional(s, p, "critical");
	add_optional(s, p, "why");
	add_optional(s, p, "memory");
	add_optional(s, p, "roofline");
	add_optional(s, p, "phases");
}

static bool is_recording(const struct session *s, const struct report_parts *p)
{
	return p->files.n == 1 && s->sources.n == 1 && session_has_source(s, ROLE_SPOOL);
}

/* True if the traces are ranks of one job. */
static bool is_job(const struct session *s, const struct report_parts *p)
{
	const struct model *m = &s->model;
	int64_t ranks[2];

	for (size_t i = 0; i < m->traces.n && i < 2; i++)
		ranks[i] = rank_number(m->traces.v[i].t);
	return m->traces.n > 1 && session_has_path(s) && !files_are_runs(p->as, m->traces.n, ranks);
}

/* Adds the verdict about all ranks together. */
static void add_job(struct session *s, struct report_parts *p)
{
	struct report_part *x = add_optional_as(s, p, "job", "why");

	if (x && p->as == FILES_AS_RANKS) {
		add_words(s, &x->command, STR_WORDS("--as=ranks"));
		add_words(s, &x->words, STR_WORDS("--as=ranks"));
	}
}

void report_list(struct session *s, struct report_parts *p)
{
	const struct model *m = &s->model;

	memset(&p->v, 0, sizeof p->v);
	if (p->one_trace) {
		add_trace(s, p);
		add_names(s, p);
		return;
	}
	if (p->compares) {
		add_comparison(s, p);
		return;
	}
	for (enum vk k = 0; k < VK_N; k++)
		if ((!view_is(k, VIEW_EDGES) || m->inputs.n) &&
		        (!view_is(k, VIEW_TRACES) || m->has_traces || session_has_snapshots(s)))
			add_view(s, p, &views[k]);
	add_steps(s, p);
	if (m->traces.n || s->recording.n)
		add_table(s, p, "summary", NULL);
	else
		add_table(s, p, "advise", NULL);
	if ((m->traces.n == 1 && m->workers.n < 2) || is_recording(s, p))
		add_trace(s, p);
	else if (is_job(s, p))
		add_job(s, p);
	else if (!m->traces.n)
		add_optional(s, p, "memory");
	if (m->traces.n || s->recording.n)
		add_names(s, p);
}

bool report_try(struct session *s, struct report_parts *p)
{
	struct report_parts all = *p;

	report_list(s, &all);
	for (size_t i = 0; i < all.v.n; i++) {
		struct sink *nowhere = sink_memory(&s->query_arena);
		if (!all.v.v[i].optional || report_write(s, &all.v.v[i].words, nowhere))
			continue;
		if (s->error.code == ERR_CANCELLED || s->error.code == ERR_RESOURCE)
			return false;
		strs_add(&s->model_arena, &p->without, str_of(all.v.v[i].name));
	}
	return true;
}

/* ---- one part ---- */

static bool write_slices(struct session *s, const struct strs *words, struct sink *out)
{
	int64_t v[3];

	for (size_t i = 0; i < 3; i++)
		if (words->n != 4 || !num_parse_i64(words->v[i + 1], &v[i]))
			return session_fail(s, ERR_INVALID_ARGUMENT,
			        "slices takes three numbers: start and end in nanoseconds, and the "
			        "number of rows");
	if (v[2] < 1 || v[2] > SLICES_ROWS_MAX)
		return session_fail(
		        s, ERR_INVALID_ARGUMENT, "slices returns 1 to %d rows", SLICES_ROWS_MAX);
	struct slices_request request = { .from_ns = v[0], .to_ns = v[1], .rows = (size_t)v[2] };
	return session_slices(s, &request, out);
}

/* Writes the names of the loaded traces that text reduces, as docs/schema/names.json describes. */
static bool write_names(struct session *s, struct sink *out)
{
	struct arena *a = &s->query_arena;
	struct emit to = session_emit(s, VK_N, out);
	struct intern names;
	struct document d;
	size_t n;
	const struct model_trace *traces = session_traces(s, &n);

	if (!traces)
		return false;
	intern_init(&names, a);
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < traces[i].t->strings.n; k++)
			intern_add_kept(&names, traces[i].t->strings.strings[k]);
	struct str *reduced = ARENA_ARRAY(a, names.n, struct str);
	reduce_names(a, names.strings, reduced, names.n);
	document_open(&d, out, &to, "tfprof/" NAMES_PART, 1);
	document_key(&d, NAMES_PART);
	json_array(&d.j);
	for (uint32_t k = 0; k < names.n; k++) {
		if (str_eq(names.strings[k], reduced[k]))
			continue;
		json_line(&d.j);
		json_array(&d.j);
		document_word(&d, names.strings[k]);
		document_word(&d, reduced[k]);
		json_array_end(&d.j);
	}
	json_array_end(&d.j);
	document_end(&d);
	return true;
}

bool report_write(struct session *s, const struct strs *words, struct sink *out)
{
	struct request r;

	if (words->n == 1 && str_eq(words->v[0], S(NAMES_PART)))
		return write_names(s, out);
	if (words->n && str_eq(words->v[0], S("slices")))
		return write_slices(s, words, out);
	return cmd_parse(s, words, NULL, &r) && r.command && r.command->run(s, &r, out);
}
