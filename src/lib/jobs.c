/* SPDX-License-Identifier: Apache-2.0
 *
 * The jobs of a session: profiles loaded side by side.
 */
#include "lib/jobs.h"

#include "lib/term.h"
#include "io/paths.h"

#define STEPS_SHOWN 8

/* ---- names ---- */

static struct job *find_job(const struct jobs *j, struct str name)
{
	for (size_t i = 0; i < j->list.n; i++)
		if (str_eq(j->list.v[i].name, name))
			return &j->list.v[i];
	return NULL;
}

struct session *jobs_find(const struct jobs *j, struct str name)
{
	const struct job *x = j ? find_job(j, name) : NULL;

	return x ? x->s : NULL;
}

/* Returns the first input of the flags. */
static struct str first_input(const struct flags *f)
{
	struct str v[] = { f->profiles.n ? f->profiles.v[0] : STR_NONE, f->graph, f->run_meta,
		f->runs.n ? f->runs.v[0] : STR_NONE, f->spool, f->baseline, f->op_log };
	size_t i = 0;

	while (i < sizeof v / sizeof *v - 1 && !v[i].n)
		i++;
	return v[i];
}

/* Returns the last component of the input's path that is not a pattern, or the whole path if
 * another job has that name. */
static struct str derived_name(const struct jobs *j, struct arena *a, const struct flags *f)
{
	struct str path = first_input(f);

	if (!path.n)
		return S("(nothing)");
	struct strs parts = str_split(a, path, '/');

	while (parts.n && path_is_pattern(parts.v[parts.n - 1]))
		parts.n--;
	struct str name = parts.n ? parts.v[parts.n - 1] : path;
	return find_job(j, name) ? path : name;
}

/* True if nothing was loaded into the job, as in the first job of a prompt that was opened without
 * a file. */
static bool is_empty(const struct job *x)
{
	return !x->s->loaded && !x->s->ckpt && !x->s->n_later;
}

struct strs jobs_loaded(const struct jobs *j, struct arena *a)
{
	struct strs names = { 0 };

	for (size_t i = 0; j && i < j->list.n; i++)
		if (i || !is_empty(&j->list.v[0]))
			strs_add(a, &names, j->list.v[i].name);
	return names;
}

struct str jobs_name(const struct jobs *j)
{
	return j->list.n - is_empty(&j->list.v[0]) > 1 ? j->list.v[j->now].name : STR_NONE;
}

/* ---- the list ---- */

struct beginning {
	struct jobs *j;
	const struct flags *f;
};

static bool begin(struct session *s, void *ctx)
{
	const struct beginning *b = ctx;
	struct jobs *j = b->j;
	struct job first = { str_copy(&j->a, derived_name(j, &s->query_arena, b->f)), s };

	VEC_PUSH(&j->a, &j->list, first);
	s->jobs = j;
	return true;
}

bool jobs_begin(struct jobs *j, struct session *s, const struct flags *f)
{
	struct beginning b = { j, f };

	*j = (struct jobs){ 0 };
	arena_init(&j->a, &s->work);
	return session_guard(s, begin, &b);
}

static bool take_options(struct session *s, void *opts)
{
	session_set(s, opts);
	return true;
}

struct session *jobs_next(struct jobs *j, struct session *before)
{
	struct session *s = jobs_now(j);

	if (s != before && !session_guard(s, take_options, &before->sticky))
		return before;
	return s;
}

void jobs_end(struct jobs *j)
{
	for (size_t i = 1; i < j->list.n; i++)
		session_free(j->list.v[i].s);
	if (j->list.n) {
		j->a.work = &j->list.v[0].s->work; /* it may have belonged to another job */
		j->list.v[0].s->jobs = NULL;
	}
	arena_free(&j->a);
}

static bool need_jobs(struct session *s, const struct request *r)
{
	if (s->jobs)
		return true;
	return session_fail(s, ERR_INVALID_ARGUMENT,
	        "'%s' works only in a session: type it at the prompt or put it into a script",
	        r->command->name);
}

/* Appends a text such as "181 nodes, 3 workers, steps 0, 1, 2". */
static void put_size(struct session *s, struct sb *b)
{
	const struct model *m = &s->model;
	size_t n = 0;

	sb_counted(b, m->nodes.n, S("nodes"));
	if (m->workers.n > 1)
		sb_fmt(b, ", %zu workers", m->workers.n);
	if (!m->steps.n && !s->n_later)
		sb_put(b, S(", no steps"));
	for (size_t i = 0; i < m->steps.n && m->steps.v[i]->worker == 0; i++) {
		if (n++ < STEPS_SHOWN)
			sb_fmt(b, "%s%lld", n > 1 ? ", " : ", steps ",
			        (long long)m->steps.v[i]->id);
	}
	if (n > STEPS_SHOWN)
		sb_fmt(b, " and %zu more", n - STEPS_SHOWN);
	sb_char(b, '\n');
}

bool jobs_list(struct session *s, const struct request *r, struct sink *out)
{
	struct sb b = sb_in(&s->query_arena);
	size_t width = 0;

	if (!need_jobs(s, r))
		return false;
	if (r->topics.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "list takes no arguments, but '%.*s' was given", STR(r->topics.v[0]));
	const struct jobs *j = s->jobs;
	size_t first = j->list.n > 1 && is_empty(&j->list.v[0]);
	for (size_t i = first; i < j->list.n; i++)
		width = j->list.v[i].name.n > width ? j->list.v[i].name.n : width;
	for (size_t i = first; i < j->list.n; i++) {
		const struct job *x = &j->list.v[i];
		sb_put(&b, i == j->now ? S("* ") : S("  "));
		sb_put(&b, x->name);
		sb_repeat(&b, ' ', width - x->name.n + 2);
		put_size(x->s, &b);
	}
	sink_put(out, sb_str(&b));
	return true;
}

bool jobs_use(struct session *s, const struct request *r, struct sink *out)
{
	(void)out;
	if (!need_jobs(s, r))
		return false;
	struct jobs *j = s->jobs;
	if (r->topics.n != 1)
		return session_fail(s, ERR_INVALID_ARGUMENT, "use takes one name: use NAME");
	struct job *x = find_job(j, r->topics.v[0]);
	if (x) {
		j->now = (size_t)(x - j->list.v);
		return true;
	}
	struct strs names = jobs_loaded(j, &s->query_arena);
	struct str near = nearest_word(r->topics.v[0], names.v, names.n);
	if (near.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "no job is named '%.*s'; did you mean '%.*s'?", STR(r->topics.v[0]),
		        STR(near));
	return session_fail(s, ERR_INVALID_ARGUMENT,
	        "no job is named '%.*s'; 'list' shows the jobs", STR(r->topics.v[0]));
}

/* ---- two sides of diff ---- */

struct sides {
	struct session *s, *other;
	const atomic_bool *cancel; /* cancel flag of `other`, restored afterwards */
};

static void drop_sides(void *sides)
{
	const struct sides *x = sides;

	x->s->jobs = NULL;
	if (x->other == x->s)
		return;
	x->other->parent_cancel = x->cancel;
	x->other->account.stop = NULL;
}

bool jobs_run_sides(struct session *s, struct session *other, const struct str names[2],
        bool (*f)(struct session *s, void *arg), void *arg)
{
	struct job list[] = { { names[0], s }, { names[1], other } };
	struct jobs jobs = { .list = { .v = list, .n = 2 } };
	struct sides x = { s, other, other->parent_cancel };
	struct guard g;

	s->jobs = &jobs;
	if (other != s)
		other->parent_cancel = &s->cancel;
	work_guard(&s->work, &g, drop_sides, &x);
	bool ok = f(s, arg);
	work_unguard(&s->work, &g);
	drop_sides(&x);
	return ok;
}

/* ---- load ---- */

struct loading {
	struct jobs *j;
	struct session *from; /* the session that runs the command */
	const struct strs *words;
	struct str name; /* name of the job: given, or derived from its first file */
};

/* Removes quotes around the word, or around its value, as a shell does. */
static struct str bare_word(struct arena *a, struct str word)
{
	size_t equals = str_find_char(word, '=');

	if (path_exists(a, word))
		return word;
	if (equals == SIZE_MAX)
		return str_strip_quotes(word);
	return str_fmt(a, "%.*s=%.*s", STR(str_sub(word, 0, equals)),
	        STR(str_strip_quotes(str_sub(word, equals + 1, SIZE_MAX))));
}

/* Removes NAME= from the first word that is neither a flag nor its value. A word that names an
 * existing file stays unchanged. */
static void take_name(struct session *s, struct loading *l, char **argv, size_t n)
{
	struct str name, value;
	bool has_value;
	size_t i = 0;

	while (i < n && cmd_option_word(str_of(argv[i]), &name, &value, &has_value)) {
		const struct option *flag = flag_find(name);
		i += flag && option_argument(flag) && !has_value ? 2 : 1;
	}
	size_t equals = i < n ? str_find_char(str_of(argv[i]), '=') : SIZE_MAX;
	if (equals == SIZE_MAX || equals == 0 || path_exists(&s->query_arena, str_of(argv[i])))
		return;
	l->name = str_make(argv[i], equals);
	argv[i] += equals + 1;
}

/* Parses the arguments of load as a command line. */
static bool read_flags(struct session *s, struct loading *l, struct flags *f)
{
	struct arena *a = &s->query_arena;
	size_t n = l->words->n;
	char **argv = ARENA_ARRAY(a, n + 2, char *);
	struct strs files = { 0 };
	struct str name, value;
	bool has_value;

	for (size_t i = 0; i < n; i++)
		argv[i + 1] = str_z(&s->model_arena, bare_word(a, l->words->v[i]));
	take_name(s, l, argv + 1, n);
	argv[0] = argv[n + 1] = NULL;
	if (!flags_parse(s, (int)n + 1, argv, f))
		return false;
	for (size_t i = 0; i < f->words.n; i++) {
		struct str word = f->words.v[i];
		if (cmd_option_word(word, &name, &value, &has_value))
			return session_fail(s, ERR_INVALID_ARGUMENT,
			        "load takes files and flags such as --graph_path=FILE, not '%.*s'",
			        STR(word));
		if (word.n && !path_exists(a, word) && !path_is_pattern(word))
			return session_fail(
			        s, ERR_NOT_FOUND, "file '%.*s' does not exist", STR(word));
		if (word.n)
			strs_add(a, &files, word);
	}
	if (!flags_sort(s, f, &files))
		return false;
	if (!flags_inputs(f))
		return session_fail(
		        s, ERR_INVALID_ARGUMENT, "load needs a file: load NAME=FILE, or FILE...");
	return !flags_use_stdin(s, f) ||
	       session_fail(s, ERR_INVALID_ARGUMENT, "standard input is already read for commands");
}

static bool load_job(struct session *s, void *ctx)
{
	struct loading *l = ctx;
	struct progress p;
	struct flags f;

	if (!read_flags(s, l, &f))
		return false;
	if (!l->name.n)
		l->name = str_copy(&s->model_arena, derived_name(l->j, &s->query_arena, &f));
	if (find_job(l->j, l->name))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "'%.*s' is already loaded; choose another name: load NAME=FILE",
		        STR(l->name));
	s->work.account->stop = &l->from->cancel; /* the incomplete model is not used then */
	progress_begin(&p, &s->watch);
	bool ok = flags_load(s, &f, sink_memory(&s->query_arena)) && session_seal(s);
	progress_end(&p);
	s->watch = (struct input_watch){ 0 };
	return ok;
}

bool jobs_load(struct session *s, const struct request *r, struct sink *out)
{
	struct sb b = sb_in(&s->query_arena);
	struct guard g;

	if (!need_jobs(s, r))
		return false;
	struct jobs *j = s->jobs;
	struct loading l = { .j = j, .from = s, .words = &r->topics };
	struct session *next = session_new_sharing(j->list.v[0].s);
	if (!next)
		return session_fail(s, ERR_RESOURCE, "out of memory");
	next->recover = j->list.v[0].s->recover;
	next->reading = j->list.v[0].s->reading;
	work_guard(&s->work, &g, session_drop, next);
	next->parent_cancel = &s->cancel;
	bool ok = session_guard(next, load_job, &l);
	next->parent_cancel = NULL;
	s->work.account->stop = NULL;
	if (!ok) {
		session_fail_as(s, &next->error);
		work_unguard(&s->work, &g);
		session_free(next);
		return false;
	}
	struct notes said = notes_take(&next->load_notes, NOTES_ALL, &s->query_arena);
	note_append(&s->notes, &said);
	next->jobs = j;
	j->a.work = &s->work;
	VEC_PUSH(&j->a, &j->list, ((struct job){ str_copy(&j->a, l.name), next }));
	work_unguard(&s->work, &g);
	j->now = j->list.n - 1;
	sb_put(&b, j->list.v[j->now].name);
	sb_put(&b, S(": "));
	put_size(next, &b);
	sink_put(out, sb_str(&b));
	return true;
}
