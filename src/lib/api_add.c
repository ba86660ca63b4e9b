/* SPDX-License-Identifier: Apache-2.0
 *
 * The public interface: loads files, bytes, steps, checkpoints and recordings.
 */
#include "lib/api_internal.h"
#include "model/sniff.h"

_Static_assert((int)TFP_GRAPH == ROLE_GRAPH && (int)TFP_STEP == ROLE_STEP &&
                       (int)TFP_OP_LOG == ROLE_OPLOG && (int)TFP_PROFILE == ROLE_PROFILE,
        "kinds are roles");

static bool add_recording(
        struct tfp_session *t, const struct tfp_input *in, const struct input_from *from)
{
	struct flags f = { .spool = from->name };

	if (t->s->model.steps.n)
		return session_fail(t->s, ERR_INVALID_ARGUMENT,
		        "'%.*s': a recording has steps of its own, and there are some already",
		        STR(from->name));
	for (size_t i = 0; i < in->n_how; i++)
		if (!flags_recording_word(t->s, &f, api_str(in->how[i].data, in->how[i].size)))
			return false;
	if (!flags_check_recording(t->s, &f))
		return false;
	return from->memory ? flags_load_spool_bytes(t->s, &f, from->bytes)
	                    : flags_load_spools(t->s, &f);
}

/* Loads files of any kind. how: options for a recording. */
static bool load_files(
        struct session *s, const struct strs *paths, const struct tfp_str *how, size_t n_how)
{
	struct flags f = { .lazy_steps = false };
	struct strs files = { 0 };

	if (s->loaded || s->ckpt)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "files of any kind have to be added before everything else");
	for (size_t i = 0; i < n_how; i++)
		if (!flags_recording_word(s, &f, api_str(how[i].data, how[i].size)))
			return false;
	for (size_t i = 0; i < paths->n; i++) /* the options point to the strings */
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
	case ROLE_SPOOL: return add_recording(t, in, from);
	case ROLE_STEP: return session_load_steps(s, &step, 1, NULL, NULL);
	case 0:
		return session_load(
		        s, ROLE_GRAPH, from); /* the error of this reader describes the problem */
	default: return session_load(s, role, from);
	}
}

static bool add_any(
        struct tfp_session *t, const struct tfp_input *in, const struct input_from *from)
{
	struct strs one = { 0 };

	if (from->memory && !from->bytes.n)
		return session_fail(t->s, ERR_DATA_LOSS, "'%.*s' is empty", STR(from->name));
	if (from->memory)
		return load_bytes(t, in, from);
	strs_add(&t->s->query_arena, &one, from->name);
	return load_files(t->s, &one, in->how, in->n_how);
}

struct adding_paths {
	const struct tfp_str *paths;
	size_t n;
	bool any; /* true: files of any kind; false: profiles */
};

static struct input_from from_caller(const struct tfp_session *t, const struct tfp_input *in)
{
	struct input_from from = { .name = api_str(in->path, in->path_size),
		.recover = t->s->recover };

	if (in->bytes) {
		from.memory = true;
		from.bytes = str_make(in->bytes, in->bytes_size);
		if (!from.name.n)
			from.name = S("memory");
	}
	return from;
}

struct adding {
	int kind;
	const struct tfp_input *in;
	size_t n, added;
};

static bool count_step(void *user, size_t i)
{
	struct adding *x = user;

	x->added = i + 1;
	return true;
}

static bool add_steps(struct tfp_session *t, void *arg)
{
	struct adding *x = arg;
	struct session *s = t->s;
	struct input_step *v = ARENA_ARRAY(&s->query_arena, x->n, struct input_step);
	const char *at = (const char *)x->in;

	for (size_t i = 0; i < x->n; i++, at += x->in->size) {
		struct tfp_input in;
		if (!api_take(&in, sizeof in, at))
			return api_fail_size(s, "an input");
		if (in.step < 0)
			return session_fail(s, ERR_INVALID_ARGUMENT,
			        "a step is 0 or more, not %lld", (long long)in.step);
		v[i] = (struct input_step){ from_caller(t, &in), in.step };
	}
	return x->n == 0 || session_load_steps(s, v, x->n, count_step, x);
}

static bool add_one(struct tfp_session *t, void *arg)
{
	struct adding *x = arg;
	struct tfp_input in;

	if (!api_take(&in, sizeof in, x->in) || !x->in)
		return api_fail_size(t->s, "the input");
	struct input_from from = from_caller(t, &in);
	switch (x->kind) {
	case TFP_STEP: return add_steps(t, arg);
	case TFP_GRAPH:
	case TFP_OP_LOG:
	case TFP_PROFILE: return session_load(t->s, (unsigned)x->kind, &from);
	case TFP_CHECKPOINT:
		if (from.memory)
			return session_fail(t->s, ERR_INVALID_ARGUMENT,
			        "a checkpoint is several files: it needs a path");
		return session_checkpoint(t->s, from.name);
	case TFP_RECORDING: return add_recording(t, &in, &from);
	case TFP_ANY: return add_any(t, &in, &from);
	default:
		return session_fail(
		        t->s, ERR_INVALID_ARGUMENT, "input kind %d does not exist", x->kind);
	}
}

int tfp_add(struct tfp_session *t, int kind, const struct tfp_input *in)
{
	struct adding x = { kind, in, 1, 0 };

	return api_call(t, add_one, &x);
}

int tfp_add_steps(struct tfp_session *t, const struct tfp_input *in, size_t n, size_t *added)
{
	struct adding x = { TFP_STEP, in, in ? n : 0, 0 };
	int code = api_call(t, add_steps, &x);

	if (added)
		*added = x.added;
	return code;
}

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
