/* SPDX-License-Identifier: Apache-2.0
 *
 * The flags for recordings: given on the command line or through the library, otherwise from the
 * options file that `tfprof record` wrote into the folder.
 */
#include "lib/options.h"

/* Returns the flag with a name if an options file may contain it. */
static const struct option *find_flag(struct str name)
{
	const struct option *row = option_in(flag_options, name);

	return row && (row->flags & OPTION_RECORDED) ? row : NULL;
}

/* Returns the flag name nearest to a mistyped one; empty if there is none. */
static struct str nearest_flag(struct arena *a, struct str name)
{
	struct strs names = { 0 };

	for (const struct option *row = flag_options; row; row = option_next(row))
		if (row->flags & OPTION_RECORDED)
			strs_add(a, &names, str_of(row->name));
	return nearest_word(name, names.v, names.n);
}

static bool is_given(const struct flags *f, const struct option *row)
{
	for (size_t i = 0; i < f->given.n; i++)
		if (str_eq(f->given.v[i], str_of(row->name)))
			return true;
	return false;
}

/* Reads the lines of an options file, such as "--step-nvtx=pytorch", for flags that were not given.
 * Ignores unknown lines, which later versions may write. */
static void take_recorded(struct session *s, struct flags *f, struct str options)
{
	struct strs lines = str_split(&s->query_arena, options, '\n');
	struct str name, value;
	bool has_value;

	for (size_t i = 0; i < lines.n; i++) {
		const struct option *row = NULL;
		if (cmd_option_word(lines.v[i], &name, &value, &has_value))
			row = find_flag(name);
		if (!row || is_given(f, row) || !option_argument(row) == has_value)
			continue;
		struct flags with = *f;
		if (option_set(s, &s->query_arena, row, value, &with))
			*f = with;
		s->error = (struct err){ .a = s->error.a };
	}
}

static void read_options(struct session *s, const struct flags *f, struct recording_options *o)
{
	*o = (struct recording_options){ .step_nvtx = f->step_nvtx,
		.step_kernel = f->step_kernel,
		.step_every = f->step_every,
		.keep_warmup = f->keep_warmup,
		.by_op = f->leaf,
		.sum_ranks = f->merge,
		.steps_by_time = f->step_merge,
		.tf_layout = f->tf_layout,
		.process = f->process,
		.job = f->job,
		.gpu = f->gpu,
		.detail_steps = f->detail_steps,
		.recover = s->recover };
}

bool flags_check_recording(struct session *s, const struct flags *f)
{
	struct recording_options o;

	read_options(s, f, &o);
	return recording_options_check(&o, &s->query_arena, &s->error);
}

bool flags_recording_word(struct session *s, struct flags *f, struct str word)
{
	size_t equals = str_find_char(word, '=');
	struct str name = str_sub(word, 0, equals);
	const struct option *row = find_flag(name);

	if (!row)
		return unknown_option(&s->error, S("a recording"), name,
		        nearest_flag(&s->query_arena, name), S("'tfprof help flags' lists them"));
	bool argument = option_argument(row) != NULL;
	if (argument != (equals != SIZE_MAX))
		return session_fail(s, ERR_INVALID_ARGUMENT, "option '%s' of recordings %s",
		        row->name, argument ? "needs a value" : "has no value");
	strs_add(&s->query_arena, &f->given, str_of(row->name));
	struct str value = argument ? str_sub(word, equals + 1, SIZE_MAX) : STR_NONE;
	return option_set(s, &s->query_arena, row, value, f);
}

/* Opens a recording with the given flags and the options file of its folder. */
static void recording_options(struct session *s, const struct flags *f,
        const struct recording_set *files, struct recording_options *o)
{
	struct flags all = *f;

	take_recorded(s, &all, files->options);
	read_options(s, &all, o);
}

static bool load(struct session *s, const struct flags *f, const struct recording_set *files)
{
	struct recording_options o;

	recording_options(s, f, files, &o);
	return session_load_spools(s, f->spool, files, &o);
}

bool flags_load_spools(struct session *s, const struct flags *f)
{
	struct recording_set files;

	return recording_find(&files, &s->query_arena, f->spool, &s->error) && load(s, f, &files);
}

bool flags_load_spool_bytes(struct session *s, const struct flags *f, struct str bytes)
{
	struct recording_file file = { .path = f->spool };
	struct recording_set files = { .v = &file, .n = 1, .bytes = bytes.n };
	bool ok = src_memory(&file.given, &s->query_arena, f->spool, bytes, &s->error);

	if (!ok)
		return false;
	src_keep(file.given);
	ok = load(s, f, &files);
	src_close(file.given);
	return ok;
}
