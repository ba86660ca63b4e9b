/* SPDX-License-Identifier: Apache-2.0
 *
 * Spools as a model: which files there are, which processes count, how their GPUs and ranks are
 * told apart; then the readings in order. What each reading does is in spool_*.c.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sort.h"
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
	struct dirent *x;
	uint32_t *by;
	DIR *d = opendir(str_z(a, folder));

	if (!d)
		return err_system(e, "cannot open", folder, errno);
	while ((x = readdir(d)))
		if (str_ends(str_of(x->d_name), S(SPOOL_SUFFIX)))
			strs_add(a, &names, str_copy(a, str_of(x->d_name)));
	closedir(d);
	by = ARENA_ARRAY(a, names.n, uint32_t);
	for (uint32_t i = 0; i < names.n; i++)
		by[i] = i;
	sort_strings(a, by, names.n, names.v);
	for (size_t i = 0; i < names.n; i++)
		add_file(s, a, str_fmt(a, "%.*s/%.*s", STR(folder), STR(names.v[by[i]])));
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

/* ---- processes ---- */

static bool is_wanted(const struct spools_opts *o, const struct process *p)
{
	int64_t pid;

	if (o->process.n && (!num_parse_i64(o->process, &pid) || pid != p->pid))
		return false;
	return !o->job.n || str_eq(o->job, p->job);
}

static bool has_operations(const struct process *p)
{
	return p->totals[SPOOL_KERNEL] || p->totals[SPOOL_COPY] || p->totals[SPOOL_SET] ||
	       p->totals[SPOOL_GRAPH] || p->totals[SPOOL_SUM] || p->totals[SPOOL_MEMORY];
}

/* By job, then rank, then age. */
static int by_rank(const void *ctx, uint32_t a, uint32_t b)
{
	const struct process *v = ctx, *p = &v[a], *q = &v[b];
	int job = str_cmp(p->job, q->job);

	if (job)
		return job;
	if (p->rank != q->rank)
		return p->rank < q->rank ? -1 : 1;
	if (p->started != q->started)
		return p->started < q->started ? -1 : 1;
	return str_cmp(p->name, q->name);
}

static void sort_processes(struct reading_spools *r)
{
	uint32_t *by = ARENA_ARRAY(r->a, r->n, uint32_t);
	struct process *v = ARENA_ARRAY(r->a, r->n, struct process);

	for (uint32_t i = 0; i < r->n; i++)
		by[i] = i;
	sort_stable(r->a, by, r->n, by_rank, r->v);
	for (size_t i = 0; i < r->n; i++)
		v[i] = r->v[by[i]];
	r->v = v;
}

/* Prefixes, where nodes of several processes would be mixed up: "rank3/", with the job before it if
 * there are several, with the process behind it if it is not the only one of that rank. */
static void name_processes(struct reading_spools *r)
{
	size_t working = 0;
	bool jobs = false;

	for (size_t i = 0; i < r->n; i++) {
		working += has_operations(&r->v[i]);
		jobs |= i && !str_eq(r->v[i].job, r->v[i - 1].job);
	}
	for (size_t i = 0; i < r->n && working > 1 && !r->o->sum_ranks; i++) {
		struct process *p = &r->v[i];
		struct sb b = sb_in(r->a);
		bool twin =
		        (i && by_rank(r->v, (uint32_t)i - 1, (uint32_t)i) &&
		                r->v[i - 1].rank == p->rank && str_eq(r->v[i - 1].job, p->job)) ||
		        (i + 1 < r->n && r->v[i + 1].rank == p->rank &&
		                str_eq(r->v[i + 1].job, p->job));
		if (jobs)
			sb_fmt(&b, "job-%.*s/", STR(p->job.n ? p->job : S("none")));
		if (p->rank >= 0)
			sb_fmt(&b, "rank%lld%s", (long long)p->rank, twin ? "-" : "/");
		if (p->rank < 0 || twin)
			sb_fmt(&b, "process%zu/", i);
		p->prefix = sb_str(&b);
	}
}

/* Numbers the GPUs over all processes: the same UUID is the same one, whatever the process calls
 * it; without a UUID it is the host's by that number. */
static void number_gpus(struct reading_spools *r)
{
	static const uint8_t none[16];
	struct intern known;
	VEC(struct gpu_seen *) firsts = { 0 };
	VEC(uint32_t) owners = { 0 };

	intern_init(&known, r->a);
	for (uint32_t i = 0; i < r->n; i++) {
		struct process *p = &r->v[i];
		for (size_t k = 0; k < p->gpus.n; k++) {
			struct gpu_seen *g = &p->gpus.v[k];
			struct str id = str_make(g->identity, sizeof g->identity);
			if (!memcmp(g->identity, none, sizeof none))
				id = str_fmt(r->a, "%.*s %u", STR(p->host), g->id);
			if (!g->used)
				continue;
			g->index = intern_add(&known, id);
			if (g->index == firsts.n) {
				VEC_PUSH(r->a, &firsts, g);
				VEC_PUSH(r->a, &owners, i);
			}
			/* NOLINTNEXTLINE: each of known is there */
			firsts.v[g->index]->shared++;
			g->sharers = firsts.v[g->index] == g ? i + 1 : 0;
		}
	}
}

/* ---- the readings ---- */

static bool survey_all(struct reading_spools *r)
{
	size_t n = r->files->n, wanted = 0;

	r->v = ARENA_ARRAY(r->a, n, struct process);
	for (size_t i = 0; i < n; i++) {
		struct process *p = &r->v[wanted];
		const struct spools_file *f = &r->files->v[i];
		size_t slash = str_rfind_char(f->path, '/');
		*p = (struct process){ .file = f,
			.name = slash == SIZE_MAX ? f->path
			                          : str_sub(f->path, slash + 1, SIZE_MAX) };
		if (!survey_process(r, p))
			return false;
		wanted += is_wanted(r->o, p);
	}
	r->n = wanted;
	if (wanted)
		return true;
	if (r->o->process.n)
		return err_set(r->e, ERR_NOT_FOUND, "no spool is of process '%.*s'%s%.*s%s",
		        STR(r->o->process), r->o->job.n ? " of job '" : "", STR(r->o->job),
		        r->o->job.n ? "'" : "");
	return err_set(r->e, ERR_NOT_FOUND, "no spool is of job '%.*s'", STR(r->o->job));
}

static void find_origin(struct reading_spools *r)
{
	r->origin = UINT64_MAX;
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].first < r->origin)
			r->origin = r->v[i].first;
}

bool spools_read(struct ingest *to, const struct spools *s, const struct spools_opts *o,
        const struct spools_watch *watch, struct arena *a, struct err *e)
{
	struct reading_spools *r = ARENA_NEW(a, struct reading_spools);
	bool ok;

	*r = (struct reading_spools){ .to = to,
		.files = s,
		.o = o,
		.a = a,
		.e = e,
		.watch = watch,
		.total = s->bytes * (o->step_kernel.n ? 3 : 2) };
	if (!names_init(&r->names, a, o, e) || !survey_all(r))
		return false;
	sort_processes(r);
	name_processes(r);
	number_gpus(r);
	find_origin(r);
	ok = place_begin(r);
	for (size_t i = 0; i < r->n && ok; i++) {
		if (o->step_kernel.n)
			ok = place_process(r, &r->v[i], true);
		steps_decide(r, &r->v[i]);
		ok = ok && place_process(r, &r->v[i], false);
		if (ok && o->by_op)
			place_ranges(r, &r->v[i]);
	}
	ok = ok && names_end(&r->names, e);
	if (!ok)
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
	struct spools_opts o = { 0 };
	struct spools_file file = { .path = s->name, .given = s };
	struct spools all = { .v = &file, .n = 1 };

	return spools_read(to, &all, &o, NULL, a, e);
}
