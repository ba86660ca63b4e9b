/* SPDX-License-Identifier: Apache-2.0
 *
 * Spools as a model: which files there are, and the readings in order. What each reading does is in
 * spool_*.c.
 */
#include <dirent.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sort.h"
#include "io/paths.h"
#include "model/read.h"
#include "model/spools_internal.h"

#define ASIDE_MAX ((size_t)16 << 20) /* bytes of the control file that are read */

/* ---- files ---- */

bool spools_is_folder(struct arena *a, struct str path)
{
	struct stat st;
	struct dirent *x;
	bool found = false;
	DIR *d;

	if (stat(str_z(a, path), &st) != 0 || !S_ISDIR(st.st_mode))
		return false;
	d = opendir(str_z(a, path));
	while (d && !found && (x = readdir(d)))
		found = str_ends(str_of(x->d_name), S(SPOOL_SUFFIX)) ||
		        str_eq(str_of(x->d_name), S(SPOOL_OPTIONS));
	if (d)
		closedir(d);
	return found;
}

static void add_file(struct spools *s, struct arena *a, struct str path)
{
	struct stat st;

	VEC_ROOM(a, s, 1);
	s->v[s->n++] = (struct spools_file){ .path = path };
	if (stat(str_z(a, path), &st) == 0 && st.st_size > 0)
		s->bytes += (uint64_t)st.st_size;
}

/* All spools of a folder, by name. */
static bool list_folder(struct spools *s, struct arena *a, struct str folder, struct err *e)
{
	struct strs names = { 0 };

	if (!path_list(a, folder, &names, e))
		return false;
	sort_list(a, &names);
	for (size_t i = 0; i < names.n; i++)
		if (str_ends(names.v[i], S(SPOOL_SUFFIX)))
			add_file(s, a, str_fmt(a, "%.*s/%.*s", STR(folder), STR(names.v[i])));
	if (!s->n)
		return err_set(e, ERR_NOT_FOUND,
		        "'%.*s' holds no spool: nothing was recorded in it, or not yet",
		        STR(folder));
	return true;
}

/* The contents of a file of the folder; empty if it has none. */
static bool read_aside(
        struct str *out, struct arena *a, struct str folder, const char *name, struct err *e)
{
	struct str path = str_fmt(a, "%.*s/%s", STR(folder), name);
	struct src *s;
	bool ok;

	*out = S("");
	if (access(str_z(a, path), F_OK) != 0)
		return true;
	if (!src_open_file(&s, a, path, e))
		return false;
	src_need(s, ASIDE_MAX);
	*out = str_copy(a, str_make(s->p, (size_t)(s->end - s->p)));
	ok = !src_failed(s);
	src_close(s);
	return ok;
}

bool spools_find(struct spools *s, struct arena *a, struct str path, struct err *e)
{
	struct stat st;
	struct str folder = path;

	*s = (struct spools){ 0 };
	if (stat(str_z(a, path), &st) == 0 && S_ISDIR(st.st_mode)) {
		while (folder.n > 1 && folder.p[folder.n - 1] == '/')
			folder.n--;
		if (!list_folder(s, a, folder, e))
			return false;
	} else {
		size_t slash = str_rfind_char(path, '/');
		if (str_eq(path, S("-")) ||
		        (stat(str_z(a, path), &st) == 0 && !S_ISREG(st.st_mode)))
			return err_set(e, ERR_INVALID_ARGUMENT,
			        "'%.*s': a spool is read twice, so it must be a file", STR(path));
		folder = slash == SIZE_MAX ? S(".") : str_sub(path, 0, slash ? slash : 1);
		add_file(s, a, path);
	}
	return read_aside(&s->control, a, folder, SPOOL_CONTROL, e) &&
	       read_aside(&s->options, a, folder, SPOOL_OPTIONS, e);
}

/* ---- the readings ---- */

static bool survey_all(struct reading_spools *r)
{
	uint64_t kept = 0;

	r->n = r->files->n;
	r->v = ARENA_ARRAY(r->a, r->n, struct process);
	for (size_t i = 0; i < r->n; i++) {
		const struct spools_file *f = &r->files->v[i];
		size_t slash = str_rfind_char(f->path, '/');
		r->v[i] = (struct process){ .file = f,
			.name = slash == SIZE_MAX ? f->path
			                          : str_sub(f->path, slash + 1, SIZE_MAX) };
		if (!survey_process(r, &r->v[i]))
			return false;
		kept += r->v[i].fault.kept;
	}
	/* Without any record, there is nothing to recover. */
	for (size_t i = 0; i < r->n && !kept; i++)
		if (!spool_fault_judge(&r->v[i].fault, r->v[i].name, false, r->e))
			return false;
	return true;
}

static void find_origin(struct reading_spools *r)
{
	r->origin = UINT64_MAX;
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].first < r->origin)
			r->origin = r->v[i].first;
}

static bool decide_steps(struct reading_spools *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->o->step_kernel.n && !place_process(r, &r->v[i], true))
			return false;
		steps_decide(r, &r->v[i]);
	}
	if (r->o->steps_by_time)
		steps_follow(r);
	return true;
}

/* Where nothing was launched in a step, there would be nothing to see: then all of it is step 0. */
static bool place_all(struct reading_spools *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct process *p = &r->v[i];
		if (!place_process(r, p, false))
			return false;
		if (!p->placed && p->outside && !p->follows) {
			steps_forget(p);
			if (!place_process(r, p, false))
				return false;
		}
		if (r->o->by_op)
			place_ranges(r, p);
	}
	return true;
}

bool spools_read(struct ingest *to, const struct spools *s, const struct spools_opts *o,
        const struct spools_watch *watch, struct arena *a, struct err *e)
{
	struct reading_spools *r = ARENA_NEW(a, struct reading_spools);

	*r = (struct reading_spools){ .to = to,
		.files = s,
		.o = o,
		.a = a,
		.e = e,
		.watch = watch,
		.total = s->bytes * (o->step_kernel.n ? 3 : 2) };
	imap_init(&r->label_of, a);
	if (!names_init(&r->names, a, o, e) || !survey_all(r) || !processes_arrange(r))
		return false;
	find_origin(r);
	if (!place_begin(r) || !decide_steps(r) || !place_all(r) || !names_end(&r->names, e))
		return false;
	emit_model(r);
	notes_say(r);
	return true;
}

bool spools_check(const struct spools_opts *o, struct arena *a, struct err *e)
{
	struct steps_list steps = { 0 };
	struct names n;

	return names_init(&n, a, o, e) && names_end(&n, e) &&
	       place_detail(&steps, a, o->detail_steps, e);
}

/* One spool with the options preset: from memory, by the library. */
bool read_spool(struct src *s, struct ingest *to, struct arena *a, struct err *e)
{
	struct spools_opts o = { .recover = s->damage->recover };
	struct spools_file file = { .path = s->name, .given = s };
	struct spools all = { .v = &file, .n = 1 };

	return spools_read(to, &all, &o, NULL, a, e);
}
