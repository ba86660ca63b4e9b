/* SPDX-License-Identifier: Apache-2.0
 *
 * The inputs of requests: only below the allowed folders, loaded once and kept.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/mcp.h"

#define FOLDER_DEPTH   16    /* maximum depth of a folder that is checked for links */
#define FOLDER_ENTRIES 20000 /* maximum number of entries of a folder that are checked */
#define PROGRESS_EVERY 0.1   /* seconds between two notifications */

/* ---- allowed folders ---- */

/* Returns the path without links, in a. Returns false with errno set on failure. */
static bool real_path(struct arena *a, struct str path, struct str *out)
{
	char *z = path.n && !memchr(path.p, 0, path.n) ? realpath(str_z(a, path), NULL) : NULL;

	if (!z)
		return false;
	*out = str_copy(a, str_of(z));
	free(z);
	return true;
}

/* True if the resolved path is an allowed folder, or is below one. */
static bool is_allowed(const struct mcp *m, struct str path)
{
	for (size_t i = 0; i < m->allowed.n; i++) {
		struct str folder = m->allowed.v[i];
		if (str_starts(path, folder) && (path.n == folder.n || path.p[folder.n] == '/' ||
		                                        folder.p[folder.n - 1] == '/'))
			return true;
	}
	return false;
}

bool mcp_allow(struct mcp *m, const struct strs *folders)
{
	struct arena *a = &m->s->query_arena;
	struct strs now = { 0 };
	struct stat st;

	strs_add(a, &now, S("."));
	for (size_t i = 0; i < (folders->n ? folders : &now)->n; i++) {
		struct str given = (folders->n ? folders : &now)->v[i], path;
		if (!real_path(a, given, &path))
			return err_system(&m->s->error, "cannot open", given, errno);
		if (stat(str_z(a, path), &st) || !S_ISDIR(st.st_mode))
			return session_fail(m->s, ERR_INVALID_ARGUMENT,
			        "--allow: '%.*s' is not a folder", STR(given));
		strs_add(a, &m->allowed, path);
	}
	return true;
}

static bool fail_outside(struct mcp *m, struct str path)
{
	m->outside = true;
	return session_fail(m->s, ERR_PERMISSION,
	        "'%.*s' is outside of the allowed folders: %.*s\nhint: tfprof mcp --allow DIR "
	        "allows another folder",
	        STR(path), STR(strs_join(&m->s->query_arena, &m->allowed, S(", "))));
}

/* A folder that is being checked. */
struct folder_check {
	struct mcp *m;
	struct strs folders; /* folders that are not checked yet */
	VEC(unsigned) depth; /* depth of each of these folders */
	size_t entries;
};

/* Checks an entry of a folder. Adds a folder to those that are not checked yet. */
static bool check_entry(struct folder_check *x, struct arena *a, struct str path, unsigned depth)
{
	struct stat st;
	struct str real;

	if (lstat(path.p, &st) || ++x->entries > FOLDER_ENTRIES)
		return true;
	if (S_ISLNK(st.st_mode) && real_path(a, path, &real) && !is_allowed(x->m, real))
		return fail_outside(x->m, path);
	if (S_ISDIR(st.st_mode) && depth < FOLDER_DEPTH) {
		strs_add(a, &x->folders, path);
		VEC_PUSH(a, &x->depth, depth + 1);
	}
	return true;
}

/* Fails if the path is a folder and a link in it leads outside. */
static bool check_folder(struct mcp *m, struct str folder)
{
	struct arena *a = &m->s->query_arena;
	struct folder_check x = { .m = m };
	bool ok = true;

	strs_add(a, &x.folders, str_of(str_z(a, folder)));
	VEC_PUSH(a, &x.depth, 0);
	for (size_t i = 0; ok && i < x.folders.n; i++) {
		struct str in = x.folders.v[i];
		DIR *d = opendir(in.p);
		for (struct dirent *e; ok && d && (e = readdir(d));)
			if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
				ok = check_entry(&x, a,
				        str_of(str_z(a, str_fmt(a, "%.*s/%s", STR(in), e->d_name))),
				        x.depth.v[i]);
		if (d)
			closedir(d);
	}
	return ok;
}

/* Finds the file for a relative path in the first allowed folder that contains it. */
static bool find(struct mcp *m, struct str path, struct str *out)
{
	struct arena *a = &m->s->query_arena;

	if (path.n && path.p[0] == '/')
		return real_path(a, path, out);
	for (size_t i = 0; i < m->allowed.n; i++)
		if (path.n &&
		        real_path(a, str_fmt(a, "%.*s/%.*s", STR(m->allowed.v[i]), STR(path)), out))
			return true;
	return false;
}

bool mcp_resolve(struct mcp *m, struct str path, struct str *out)
{
	struct arena *a = &m->s->query_arena;
	struct stat st;

	if (memchr(path.p ? path.p : "", 0, path.n) || !find(m, path, out)) {
		/* Does not reveal whether files exist elsewhere. */
		if (path.n && path.p[0] == '/' && !is_allowed(m, path))
			return fail_outside(m, path);
		return session_fail(m->s, ERR_NOT_FOUND, "file '%.*s' does not exist", STR(path));
	}
	if (!is_allowed(m, *out))
		return fail_outside(m, path);
	if (stat(str_z(a, *out), &st))
		return err_system(&m->s->error, "cannot open", path, errno);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return session_fail(m->s, ERR_INVALID_ARGUMENT,
		        "'%.*s' is neither a file nor a folder", STR(path));
	return true;
}

/* ---- loaded inputs ---- */

static void close_file(struct mcp *m, size_t i)
{
	struct mcp_file *f = m->files[i];

	m->files[i] = NULL;
	if (!f)
		return;
	session_free(f->s);
	for (struct mcp_kept *x = f->kept, *next; x; x = next) {
		next = x->next;
		free(x);
	}
	for (size_t k = 0; f->rows && k < MCP_ROWS_MAX; k++)
		free(f->rows[k].name);
	free(f->rows);
	free(f->key);
	free(f);
}

void mcp_close_all(void *mcp)
{
	for (size_t i = 0; i < MCP_FILES_MAX; i++)
		close_file(mcp, i);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void write_progress(struct mcp *m, struct arena *a, uint64_t done, uint64_t total)
{
	struct sink *to = sink_memory(a);
	struct json j;

	json_init(&j, to);
	json_object(&j);
	json_key(&j, S("jsonrpc"));
	json_string(&j, S("2.0"));
	json_key(&j, S("method"));
	json_string(&j, S("notifications/progress"));
	json_key(&j, S("params"));
	json_object(&j);
	json_key(&j, S("progressToken"));
	if (m->progress_token->type == JSON_STRING)
		json_string(&j, m->progress_token->text);
	else
		json_literal(&j, m->progress_token->text);
	json_key(&j, S("progress"));
	json_i64(&j, (int64_t)done);
	if (total >= done) {
		json_key(&j, S("total"));
		json_i64(&j, (int64_t)total);
	}
	json_key(&j, S("message"));
	json_string(&j, S("bytes read"));
	json_object_end(&j);
	json_object_end(&j);
	sink_char(to, '\n');
	sink_flush(to);
	mcp_lines_put(m->lines, sink_text(to));
}

/* Notifies the client of the bytes read. */
static bool progress(void *user, uint64_t done, uint64_t total)
{
	struct mcp *m = user;
	struct account account = { .limit = MCP_LINE_MAX };
	struct work work = { .account = &account };
	struct arena a;
	double t = now();

	if (t - m->progress_last < PROGRESS_EVERY || done <= m->progress_done)
		return true;
	m->progress_last = t;
	m->progress_done = done;
	arena_init(&a, &work);
	if (!setjmp(work.escape))
		write_progress(m, &a, done, total);
	arena_free(&a);
	account_close(&account);
	return true;
}

struct file_load {
	struct strs paths;
};

static bool load(struct session *q, void *ctx)
{
	const struct file_load *x = ctx;

	return flags_load_files(q, &x->paths);
}

/* Returns the identity of the files' contents: their paths, sizes and times. */
static struct str key_of(struct arena *a, const struct strs *paths)
{
	struct sb b = sb_in(a);
	struct stat st;

	for (size_t i = 0; i < paths->n; i++) {
		if (stat(str_z(a, paths->v[i]), &st))
			memset(&st, 0, sizeof st);
		sb_put(&b, paths->v[i]);
		sb_fmt(&b, "\n%llu %llu %lld.%09ld\n", (unsigned long long)st.st_ino,
		        (unsigned long long)st.st_size, (long long)st.st_mtim.tv_sec,
		        (long)st.st_mtim.tv_nsec);
	}
	return sb_str(&b);
}

/* True if two keys begin with the same path. */
static bool same_paths(struct str key, struct str other)
{
	return str_eq(str_sub(key, 0, str_find_char(key, '\n')),
	        str_sub(other, 0, str_find_char(other, '\n')));
}

/* Returns the index for a new input, after closing the least recently used input. */
static size_t make_room(struct mcp *m)
{
	size_t at = 0;

	for (size_t i = 0; i < MCP_FILES_MAX; i++) {
		if (!m->files[i])
			return i;
		if (m->files[i]->used < m->files[at]->used)
			at = i;
	}
	close_file(m, at);
	return at;
}

/* Closes inputs until they take less than MCP_MEMORY_MAX, except the inputs of this request. */
static void bound_memory(struct mcp *m)
{
	for (size_t i = 0; i < MCP_FILES_MAX; i++) {
		size_t oldest = MCP_FILES_MAX;
		for (size_t k = 0; k < MCP_FILES_MAX; k++)
			if (m->files[k] && m->files[k]->used < m->clock &&
			        (oldest == MCP_FILES_MAX ||
			                m->files[k]->used < m->files[oldest]->used))
				oldest = k;
		if (oldest == MCP_FILES_MAX || m->s->work.account->used < MCP_MEMORY_MAX)
			return;
		close_file(m, oldest);
	}
}

/* Splits a list of paths, unless the whole text is one path, and resolves the paths. */
static bool resolve_all(struct mcp *m, struct str name, struct strs *out)
{
	struct arena *a = &m->s->query_arena;
	struct strs parts = { 0 };
	struct str path;

	if (str_find_char(name, ',') == SIZE_MAX || find(m, name, &path))
		strs_add(a, &parts, name);
	else
		parts = str_split(a, name, ',');
	for (size_t i = 0; i < parts.n; i++) {
		if (!mcp_resolve(m, parts.v[i], &path) || !check_folder(m, path))
			return false;
		strs_add(a, out, path);
	}
	return parts.n || session_fail(m->s, ERR_INVALID_ARGUMENT, "a file is expected");
}

static bool load_file(struct mcp *m, struct mcp_file *f, const struct strs *paths)
{
	struct file_load x = { .paths = *paths };

	if (m->progress_token && m->lines)
		f->s->watch = (struct input_watch){ progress, m };
	m->progress_done = 0;
	m->progress_last = now();
	if (m->lines)
		mcp_lines_set_session(m->lines, f->s);
	bool ok = session_guard(f->s, load, &x);
	if (m->lines)
		mcp_lines_set_session(m->lines, NULL);
	f->s->watch = (struct input_watch){ 0 };
	return ok || session_fail_as(m->s, &f->s->error);
}

static struct mcp_file *new_file(struct mcp *m, struct str key)
{
	struct mcp_file *f = calloc(1, sizeof *f);

	if (f) {
		f->s = session_new_part(m->s);
		f->key = malloc(key.n + 1);
	}
	if (!f || !f->s || !f->key) {
		if (f)
			session_free(f->s);
		free(f ? f->key : NULL);
		free(f);
		session_fail(m->s, ERR_RESOURCE, "out of memory");
		return NULL;
	}
	memcpy(f->key, key.p, key.n);
	f->key[key.n] = 0;
	f->s->threads = m->s->threads;
	return f;
}

struct mcp_file *mcp_open(struct mcp *m, struct str name)
{
	struct strs paths = { 0 };

	if (!resolve_all(m, name, &paths))
		return NULL;
	struct str key = key_of(&m->s->query_arena, &paths);
	for (size_t i = 0; i < MCP_FILES_MAX; i++) {
		struct mcp_file *f = m->files[i];
		if (f && str_eq(str_of(f->key), key)) {
			f->used = m->clock;
			return f;
		}
		if (f && same_paths(str_of(f->key), key) && f->used < m->clock)
			close_file(m, i); /* the file has changed */
	}
	size_t at = make_room(m);
	struct mcp_file *f = m->files[at] = new_file(m, key);
	if (!f)
		return NULL;
	f->used = m->clock;
	if (!load_file(m, f, &paths)) {
		close_file(m, at);
		return NULL;
	}
	bound_memory(m);
	return f;
}
