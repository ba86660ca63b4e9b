/* SPDX-License-Identifier: Apache-2.0
 *
 * The command "baseline". Baselines are the files of one folder, .tfprof/baselines below the
 * current one; links to or in it are not followed.
 */
#include "base/fmt.h"
#include "lib/diff.h"
#include "lib/baseline_list.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sort.h"
#include "io/paths.h"

#define FOLDER     ".tfprof/baselines"
#define NAME_BYTES 100

/* True for letters, digits, . _ - without a leading dot: a valid file name on every system. */
static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (!char_is_digit(c) && !char_is_letter(c) && c != '_' &&
		        !((c == '-' || c == '.') && i > 0))
			return false;
	}
	return s.n > 0 && s.n <= NAME_BYTES;
}

/* Fails if the folder or the file is a link. Sets *there if the file exists. */
static bool check_links(const char *file, bool *there, struct err *e)
{
	const char *const paths[] = { ".tfprof", FOLDER, file };
	struct stat st;

	*there = false;
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		*there = lstat(paths[i], &st) == 0;
		if (*there && S_ISLNK(st.st_mode))
			return err_set(
			        e, ERR_FAILED, "'%s' is a link; links are not followed", paths[i]);
	}
	return true;
}

static bool file_of(struct str name, struct str *path, bool *there, struct arena *a, struct err *e)
{
	if (!is_name(name))
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "'%.*s' is not a valid baseline name: use letters, digits, '.', '_' and "
		        "'-'",
		        STR(name));
	*path = str_fmt(a, FOLDER "/%.*s", STR(name));
	return check_links(str_z(a, *path), there, e);
}

bool baseline_path(struct str *name, struct arena *a, struct err *e)
{
	struct str path = STR_NONE;
	bool there = false;

	if (!file_of(*name, &path, &there, a, e))
		return false;
	if (!there)
		return err_set(e, ERR_NOT_FOUND,
		        "baseline '%.*s' does not exist; 'baseline list' shows the existing ones",
		        STR(*name));
	*name = path;
	return true;
}

/* ---- the folder ---- */

/* The folder .tfprof/baselines while a file in it is written or removed. */
struct baseline_place {
	struct guard guard;
	int fd;
	bool ok; /* true: fd is the folder */
};

static void place_close(void *what)
{
	struct baseline_place *p = what;

	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

/* Opens a folder below p->fd, and replaces p->fd by it. Refuses links, and folders that other users
 * can change. */
static bool place_enter(struct baseline_place *p, const char *name, bool make, struct err *e)
{
	int fd = -1, from = p->fd;
	struct stat st;

	if (!make || mkdirat(from, name, 0777) == 0 || errno == EEXIST)
		fd = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int why = errno;
	place_close(p);
	p->fd = fd;
	if (fd < 0 || fstat(fd, &st) != 0)
		return err_system(e, make ? "cannot create" : "cannot open", S(FOLDER), why);
	if (st.st_uid != geteuid())
		return err_set(e, ERR_PERMISSION,
		        "'%s' belongs to another user: baselines need a folder of your own", name);
	if (st.st_mode & S_IWOTH)
		return err_set(e, ERR_PERMISSION,
		        "everyone may write into '%s': run chmod o-w on it", name);
	return true;
}

/* Opens the folder, and creates it if needed. place_leave must follow, also after a failure. Its
 * guard is in the query arena, so it is dropped after the guard of a sink in the folder. */
static struct baseline_place *place_open(struct session *s, bool make)
{
	struct baseline_place *p = ARENA_NEW(&s->query_arena, struct baseline_place);

	p->fd = AT_FDCWD;
	arena_guard(&s->query_arena, &p->guard, place_close, p);
	p->ok = place_enter(p, ".tfprof", make, &s->error) &&
	        place_enter(p, "baselines", make, &s->error);
	return p;
}

static void place_leave(struct baseline_place *p, struct session *s)
{
	arena_unguard(&s->query_arena, &p->guard);
	place_close(p);
}

/* ---- save ---- */

/* Returns a text such as "181 nodes, 1 step". */
static struct str baseline_size(struct session *s, const struct model *m)
{
	struct arena *a = &s->query_arena;

	return str_fmt(a, "%.*s, %.*s", STR(str_counted(a, m->nodes.n, S("nodes"))),
	        STR(str_counted(a, m->steps.n, S("steps"))));
}

static struct str host_name(struct arena *a)
{
	char name[256] = "";

	return gethostname(name, sizeof name - 1) ? STR_NONE : str_copy(a, str_of(name));
}

/* Returns the names of the model's devices; if there are more than three, only the first three. */
static struct str device_names(struct arena *a, const struct model *m)
{
	struct sb b = sb_in(a);
	size_t n = m->devices.n;

	for (size_t i = 0; i < n && i < 3; i++)
		sb_fmt(&b, "%s%.*s", i ? ", " : "",
		        STR(str_base(model_str(m, m->devices.v[i].name))));
	if (n > 3)
		sb_fmt(&b, " and %zu more", n - 3);
	return b.n ? sb_str(&b) : STR_NONE;
}

static bool write_inside(struct session *s, const struct model *m, const struct baseline_place *p,
        struct str name, struct str path)
{
	struct arena *a = &s->query_arena;
	struct sink *to;

	if (!sink_file_inside(&to, a, p->fd, name, path, &s->error))
		return false;
	struct baseline_facts facts = { str_fmt(a, "baseline save %.*s", STR(s->baseline_words)),
		host_name(a), device_names(a, m) };
	baseline_write(m, &facts, to, a);
	return sink_close(to, &s->error);
}

static bool write_file(struct session *s, const struct model *m, struct str name, struct sink *out)
{
	struct str path = STR_NONE;
	bool there = false;

	if (!file_of(name, &path, &there, &s->query_arena, &s->error))
		return false;
	struct baseline_place *p = place_open(s, true);
	bool ok = p->ok && write_inside(s, m, p, name, path);
	place_leave(p, s);
	if (ok)
		sink_fmt(out, "%s %.*s: %.*s\n", there ? "replaced" : "saved", STR(path),
		        STR(baseline_size(s, m)));
	return ok;
}

static bool load(struct session *own, void *files)
{
	return flags_load_files(own, files);
}

/* Loads the files into a separate session, and calls `done` with its model. */
static bool with_files(struct session *s, struct strs *files, struct str name, struct sink *out,
        bool (*done)(struct session *, const struct model *, struct str, struct sink *))
{
	struct session *own = session_new_part(s);
	struct guard g;

	if (!own)
		work_escape(&s->work);
	own->threads = s->threads;
	own->recover = s->recover;
	own->reading = s->reading;
	own->watch = session_not_cancelled(s);
	own->parent_cancel = &s->cancel;
	work_guard(&s->work, &g, session_drop, own);
	bool ok = session_guard(own, load, files);
	note_append(&s->notes, &own->load_notes);
	s->account.stop = &s->cancel;
	if (ok)
		ok = done(s, &own->model, name, out);
	else
		session_fail_as(s, &own->error);
	work_unguard(&s->work, &g);
	session_free(own);
	return ok;
}

static bool save(struct session *s, struct strs *words, struct sink *out)
{
	struct strs files = { words->v + 1, words->n - 1, 0 };

	s->baseline_words = strs_join(&s->query_arena, words, S(" "));
	if (files.n)
		return with_files(s, &files, words->v[0], out, write_file);
	if (!s->loaded)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "baseline save needs files: baseline save NAME FILE...");
	return session_seal(s) && write_file(s, &s->model, words->v[0], out);
}

/* ---- list, show, remove ---- */

static bool list(struct session *s, struct sink *out)
{
	struct arena *a = &s->query_arena;
	struct strs names = { 0 }, valid = { 0 };
	bool there;

	if (!check_links(FOLDER, &there, &s->error) ||
	        (there && !path_list(a, S(FOLDER), &names, &s->error)))
		return false;
	sort_list(a, &names);
	for (size_t i = 0; i < names.n; i++)
		if (is_name(names.v[i]))
			strs_add(a, &valid, names.v[i]);
	baseline_list_write(a, S(FOLDER), &valid, s->columns, out);
	return true;
}

static bool put_summary(struct session *s, const struct model *m, struct str name, struct sink *out)
{
	struct arena *a = &s->query_arena;
	struct tally *t = model_tallies(m, NULL, a), sum = { { 0 } };
	int64_t steps = model_steps(m, m->averaged);

	for (uint32_t i = 0; i < m->nodes.n; i++)
		tally_add(&sum, &t[i]);
	if (value_stopped(sum.v, V_N))
		view_note_stopped(&s->notes);
	sink_fmt(out, "%.*s: %.*s", STR(name), STR(baseline_size(s, m)));
	for (enum metric_id i = 0; i < M_N; i++) {
		struct sb b = sb_in(a);
		if (!(metrics[i].uses & USE_MIN) || metrics[i].unit == UNIT_OCCURRENCE)
			continue; /* a text, or not stored in a baseline */
		fmt_fraction_si(&b, metric_quantity(i),
		        model_fraction(m, steps, metrics[i].value, sum.v[metrics[i].value]));
		sink_fmt(out, "\n  %-20s %.*s", metrics[i].name, STR(sb_str(&b)));
	}
	sink_char(out, '\n');
	return true;
}

static bool show(struct session *s, struct str name, struct sink *out)
{
	struct strs files = { 0 };
	struct str path = name;

	if (!baseline_path(&path, &s->query_arena, &s->error))
		return false;
	strs_add(&s->query_arena, &files, path);
	return with_files(s, &files, name, out, put_summary);
}

static bool drop(struct session *s, struct str name)
{
	struct str path = name;

	if (!baseline_path(&path, &s->query_arena, &s->error))
		return false;
	struct baseline_place *p = place_open(s, false);
	bool ok = p->ok;
	if (ok && unlinkat(p->fd, str_z(&s->query_arena, name), 0))
		ok = err_system(&s->error, "cannot remove", path, errno);
	place_leave(p, s);
	return ok;
}

bool baseline_command(struct session *s, const struct request *r, struct sink *out)
{
	struct strs words = r->topics;
	struct str verb = words.n ? words.v[0] : STR_NONE;

	if (words.n)
		words = (struct strs){ words.v + 1, words.n - 1, 0 };
	if (str_eq(verb, S("save")) && words.n)
		return save(s, &words, out);
	if (str_eq(verb, S("list")) && !words.n)
		return list(s, out);
	if (str_eq(verb, S("show")) && words.n == 1)
		return show(s, words.v[0], out);
	if (str_eq(verb, S("remove")) && words.n == 1)
		return drop(s, words.v[0]);
	return session_fail(s, ERR_INVALID_ARGUMENT,
	        "baseline save NAME FILE..., baseline list, baseline show NAME or baseline remove "
	        "NAME");
}
