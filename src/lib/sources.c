/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns the words that name inputs into files and workers.
 */
#include "lib/session.h"

#include "io/paths.h"
#include "model/sniff.h"
#include "trace/read/chrome/execution_trace.h"

/* Adds the run metadata of a folder as numbered steps. */
static void put_runs(struct arena *a, const struct folder *f, struct input_worker *w)
{
	struct input_step *v = ARENA_ARRAY(a, f->runs.n, struct input_step);

	for (size_t i = 0; i < f->runs.n; i++) {
		const struct folder_file *x = &f->runs.v[i];
		v[i] = (struct input_step){ .from = { .name = x->path, .recover = w->recover },
			.step = x->step < 0 ? 0 : x->step };
	}
	w->steps = v;
	w->n_steps = f->runs.n;
}

/* Adds a folder: its newest profile and, on demand, its older profiles and separate steps; without
 * a profile, all its files. */
static bool add_folder(struct session *s, struct sources *to, struct input_worker w)
{
	struct arena *a = &s->query_arena;
	struct folder f;

	if (!folder_list(a, w.name, &f, &s->load_notes, &s->error))
		return false;
	if (!f.profiles.n) {
		w.graph = f.graph;
		w.oplog = f.oplog;
		put_runs(a, &f, &w);
		VEC_PUSH(a, &to->now, w);
		return true;
	}
	w.profile = f.profiles.v[f.profiles.n - 1].path;
	VEC_PUSH(a, &to->now, w);
	w.excluded_from_average = true;
	for (size_t i = f.profiles.n - 1; i-- > 0;) {
		w.name = w.profile = f.profiles.v[i].path;
		VEC_PUSH(a, &to->later, w);
	}
	w.profile = STR_NONE;
	put_runs(a, &f, &w);
	if (w.n_steps) {
		w.name = w.steps[0].from.name;
		VEC_PUSH(a, &to->later, w);
	}
	return true;
}

/* Replaces a folder by its traces, and stores the execution traces that join them. */
static void expand_traces(struct session *s, struct strs *paths, struct strs *calls)
{
	struct arena *a = &s->query_arena;
	struct strs all = { 0 };

	for (size_t i = 0; i < paths->n; i++) {
		struct strs traces = { 0 }, joining = { 0 };
		if (path_is_folder(a, paths->v[i])) {
			traces = folder_traces(a, paths->v[i], &joining, &s->load_notes);
			input_choose_files(
			        a, paths->v[i], &traces, &joining, &s->load_notes, &s->work);
		}
		for (size_t k = 0; k < joining.n; k++)
			if (input_flags(joining.v[k], &s->work) & INPUT_JOINS)
				strs_add(a, calls, joining.v[k]);
		for (size_t k = 0; k < traces.n; k++)
			strs_add(a, &all, traces.v[k]);
		if (!traces.n)
			strs_add(a, &all, paths->v[i]);
	}
	*paths = all;
}

bool sources_find(struct session *s, const struct strs *words, struct sources *out)
{
	struct arena *a = &s->query_arena;
	bool folders = false;

	*out = (struct sources){ 0 };
	for (size_t i = 0; i < words->n; i++)
		if (!paths_expand(a, words->v[i], &out->paths, &s->error))
			return false;
	expand_traces(s, &out->paths, &out->calls);
	paths_once(a, &out->paths, &s->load_notes);
	for (size_t i = 0; i < out->paths.n; i++) {
		struct input_worker w = {
			.name = out->paths.v[i], .worker = (uint32_t)i, .recover = s->recover
		};
		bool folder = path_is_folder(a, w.name);
		folders |= folder;
		if (folder && !add_folder(s, out, w))
			return false;
		w.profile = w.name;
		if (!folder)
			VEC_PUSH(a, &out->now, w);
	}
	if (folders || out->paths.n > 1) {
		out->names = paths_names(a, &out->paths);
		folder_host_names(a, &out->names);
	}
	return true;
}

/* True if the execution trace c may belong to the process of the trace t. only: the user gave
 * exactly one of each; then unknown ranks and process ids are accepted. */
static bool is_joinable(const struct run_process *c, const struct run_process *t, bool only)
{
	bool ranks = c->rank >= 0 && t->rank >= 0, pids = c->pid >= 0 && t->pid >= 0;

	if (ranks && c->rank != t->rank)
		return false;
	return only || ((ranks || pids) && (!pids || c->pid == t->pid));
}

void sources_join(struct session *s, const struct sources *src, const struct strs *named)
{
	struct strs calls = src->calls;
	struct arena *a = &s->query_arena;
	size_t n = src->now.n, unused = 0, first = 0;

	for (size_t i = 0; i < named->n; i++)
		strs_add(a, &calls, named->v[i]);
	if (!calls.n)
		return;
	bool only = n == 1 && calls.n == 1;
	struct run_process *t = ARENA_ARRAY(a, n, struct run_process);
	size_t *calls_of = ARENA_ARRAY(a, n, size_t), *traces_of = ARENA_ARRAY(a, calls.n, size_t);
	size_t *trace = ARENA_ARRAY(a, calls.n, size_t);
	struct src_calls *made = ARENA_ARRAY(&s->model_arena, calls.n, struct src_calls);

	for (size_t k = 0; k < n; k++)
		t[k] = run_process_of_trace(src->now.v[k].profile, &s->work);
	for (size_t i = 0; i < calls.n; i++) {
		struct run_process c = run_process_of_calls(calls.v[i], &s->work);
		for (size_t k = 0; k < n; k++)
			if (is_joinable(&c, &t[k], only)) {
				calls_of[k]++;
				traces_of[i]++;
				trace[i] = k;
			}
	}
	for (size_t i = 0; i < calls.n; i++) {
		if (traces_of[i] == 1 && calls_of[trace[i]] == 1)
			made[s->reading.n_calls++] = (struct src_calls){
				str_copy(&s->model_arena, src->now.v[trace[i]].profile), calls.v[i]
			};
		else if (unused++ == 0)
			first = i;
	}
	s->reading.calls = made;
	if (unused)
		note_line(&s->load_notes,
		        "note: %zu of %zu execution traces are not used, such as '%.*s': an "
		        "execution trace is joined to the only trace of the same rank and process "
		        "id\n",
		        unused, calls.n, STR(calls.v[first]));
}

/* True if a worker is a trace with events, such as a memory snapshot, which has no ops. */
static bool has_events(const struct model *m, uint32_t worker)
{
	for (size_t i = 0; i < m->traces.n; i++)
		if (m->traces.v[i].worker == worker && m->traces.v[i].t->n_slices)
			return true;
	return false;
}

/* Adds notes about an empty profile, and about a folder without steps. */
static void note_silent(struct session *s, const struct input_worker *w, bool older)
{
	size_t i;

	model_step_of(&s->model, w->worker, INT64_MIN, &i);
	bool steps = i < s->model.steps.n && s->model.steps.v[i]->worker == w->worker;
	if (steps || !w->profile.n)
		return;
	bool empty = (!s->model.nodes.n && !has_events(&s->model, w->worker)) ||
	             path_is_empty(&s->query_arena, w->profile);
	if (str_eq(w->profile, w->name)) {
		if (empty)
			note_line(&s->load_notes, "note: '%.*s' is empty\n", STR(w->profile));
		return;
	}
	note_line(&s->load_notes, "note: '%.*s', the newest of its folder, %s%s\n", STR(w->profile),
	        empty ? "is empty" : "has no steps",
	        older ? "; -step finds the steps of older profiles" : "");
}

bool sources_load(struct session *s, const struct sources *src, bool lazy)
{
	struct input_worker *first = src->now.v;
	bool one = src->now.n == 1;

	if (one && first->profile.n && !src->names.n)
		return session_load(s, ROLE_PROFILE,
		        &(struct input_from){ .name = first->profile, .recover = first->recover });
	if (src->now.n && s->loaded)
		return session_fail(s, ERR_FAILED,
		        "workers have to be loaded before everything else, '%.*s' among them",
		        STR(first->name));
	if (lazy && one && first->n_steps) {
		session_load_later(s, first->steps, first->n_steps);
		first->n_steps = 0;
	}
	if (!session_load_workers(s, &src->names, src->now.v, src->now.n))
		return false;
	for (size_t i = 0; i < src->now.n; i++)
		note_silent(s, &first[i], one && src->later.n);
	return session_keep_older(s, src->later.v, src->later.n);
}
