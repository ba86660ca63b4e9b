/* SPDX-License-Identifier: Apache-2.0
 *
 * The public interface: files that are recognised by their content, several paths, recordings.
 */
#include "lib/api_internal.h"
#include "model/sniff.h"

bool api_add_recording(
        struct tfp_session *t, const struct tfp_input *in, const struct input_from *from)
{
	struct flags f = { .spool = from->name };

	if (t->s->model.steps.n)
		return session_fail(t->s, ERR_INVALID_ARGUMENT,
		        "'%.*s': a recording has steps of its own, and there are some already",
		        STR(from->name));
	for (size_t i = 0; i < in->n_how; i++)
		if (!flags_spool_word(t->s, &f, api_str(in->how[i].data, in->how[i].size)))
			return false;
	if (!flags_check_recording(t->s, &f))
		return false;
	return from->memory ? flags_load_spool_bytes(t->s, &f, from->bytes)
	                    : flags_load_spools(t->s, &f);
}

/* Loads files of any kind; how: words about a recording. */
static bool load_files(
        struct session *s, const struct strs *paths, const struct tfp_str *how, size_t n_how)
{
	struct flags f = { .lazy_steps = false };
	struct strs files = { 0 };

	if (s->loaded || s->ckpt)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "files of any kind have to be added before everything else");
	for (size_t i = 0; i < n_how; i++)
		if (!flags_spool_word(s, &f, api_str(how[i].data, how[i].size)))
			return false;
	for (size_t i = 0; i < paths->n; i++) /* options point to them */
		strs_add(&s->model_arena, &files, str_copy(&s->model_arena, paths->v[i]));
	return flags_sort(s, &f, &files) && flags_load(s, &f, sink_memory(&s->query_arena));
}

static bool load_bytes(
        struct tfp_session *t, const struct tfp_input *in, const struct input_from *from)
{
	const struct input_step step = { .from = *from, .step = in->step };
	const struct unsupported_format *foreign;
	struct session *s = t->s;
	unsigned role;

	if (!input_guess_bytes(from, &role, &foreign, &s->work, &s->error))
		return false;
	if (foreign)
		return unsupported_format_refuse(foreign, from->name, &s->error);
	s->bare_files = true;
	switch (role) {
	case ROLE_SPOOL: return api_add_recording(t, in, from);
	case ROLE_STEP: return session_load_steps(s, &step, 1, NULL, NULL);
	case 0: return session_load(s, ROLE_GRAPH, from); /* its error says what is wrong */
	default: return session_load(s, role, from);
	}
}

bool api_add_any(struct tfp_session *t, const struct tfp_input *in, const struct input_from *from)
{
	struct strs one = { 0 };

	if (from->memory)
		return load_bytes(t, in, from);
	strs_add(&t->s->query_arena, &one, from->name);
	return load_files(t->s, &one, in->how, in->n_how);
}

struct adding_paths {
	const struct tfp_str *paths;
	size_t n;
	bool any; /* of any kind; otherwise profiles */
};

static bool add_paths(struct tfp_session *t, void *arg)
{
	const struct adding_paths *x = arg;
	struct strs words = { 0 };
	struct sources src;

	for (size_t i = 0; i < x->n; i++)
		strs_add(&t->s->query_arena, &words, api_str(x->paths[i].data, x->paths[i].size));
	if (x->any)
		return load_files(t->s, &words, NULL, 0);
	return sources_find(t->s, &words, &src) && sources_load(t->s, &src, false);
}

int tfp_add_paths(struct tfp_session *t, const struct tfp_str *paths, size_t n)
{
	struct adding_paths x = { paths, paths ? n : 0, false };

	return api_call(t, add_paths, &x);
}

int tfp_add_files(struct tfp_session *t, const struct tfp_str *paths, size_t n)
{
	struct adding_paths x = { paths, paths ? n : 0, true };

	return api_call(t, add_paths, &x);
}
