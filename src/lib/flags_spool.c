/* SPDX-License-Identifier: Apache-2.0
 *
 * The flags about spools: what was given on the command line or to the library, else what `tfprof
 * record` wrote into the session's folder when the recording was made.
 */
#include "lib/cmd.h"
#include "lib/flags.h"

/* The flag of that name that may stand in an options file. */
static const struct flag *find_flag(struct str name)
{
	for (size_t i = 0; i < n_flag_rows; i++)
		if (flag_rows[i].of_spools && str_eq(str_of(flag_rows[i].name), name))
			return &flag_rows[i];
	return NULL;
}

/* Takes the lines of an options file, such as "--step-nvtx=pytorch", for what is not given. */
static void take_recorded(struct session *s, struct flags *f, struct str options)
{
	struct strs lines = str_split(&s->query_arena, options, '\n');
	struct str name, value;
	bool has_value;

	for (size_t i = 0; i < lines.n; i++) {
		const struct flag *row = NULL;
		if (cmd_option_word(lines.v[i], &name, &value, &has_value))
			row = find_flag(name);
		if (!row)
			continue;
		void *at = (char *)f + row->at;
		if (!row->value)
			*(bool *)at = true;
		else if (has_value && !((struct str *)at)->n)
			*(struct str *)at = value;
	}
}

/* Sets *second if the word is the second of the two. */
static bool choose(struct session *s, const char *flag, struct str word, const char *first,
        const char *other, bool *second)
{
	*second = str_eq(word, str_of(other));
	if (!word.n || *second || str_eq(word, str_of(first)))
		return true;
	return session_fail(s, ERR_INVALID_ARGUMENT, "--%s is %s or %s, not '%.*s'", flag, first,
	        other, STR(word));
}

static bool read_options(struct session *s, const struct flags *f, struct spools_opts *o)
{
	*o = (struct spools_opts){ .step_nvtx = f->step_nvtx,
		.step_kernel = f->step_kernel,
		.keep_warmup = f->keep_warmup,
		.tf_layout = f->tf_layout,
		.process = f->process,
		.job = f->job,
		.gpu = f->gpu,
		.detail_steps = f->detail_steps,
		.recover = s->recover };
	if (f->step_every.n &&
	        (!quantity_parse_time(f->step_every, QUANTITY_MS, QUANTITY_MS, &o->step_every) ||
	                o->step_every <= 0))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--step-every: '%.*s' is not a time of at least 1ms, such as 20ms",
		        STR(f->step_every));
	return choose(s, "leaf", f->leaf, "kernel", "op", &o->by_op) &&
	       choose(s, "merge", f->merge, "by-rank", "sum", &o->sum_ranks) &&
	       choose(s, "step-merge", f->step_merge, "number", "time", &o->steps_by_time);
}

bool flags_check_spools(struct session *s, const struct flags *f)
{
	struct spools_opts o;

	return read_options(s, f, &o) && spools_check(&o, &s->query_arena, &s->error);
}

bool flags_spool_word(struct session *s, struct flags *f, struct str word)
{
	size_t equals = str_find_char(word, '=');
	struct str name = str_sub(word, 0, equals);
	const struct flag *row = find_flag(name);

	if (!row)
		return session_fail(
		        s, ERR_INVALID_ARGUMENT, "spools have no option '%.*s'", STR(name));
	if (!row->value != (equals == SIZE_MAX))
		return session_fail(s, ERR_INVALID_ARGUMENT, "option '%s' of spools %s", row->name,
		        row->value ? "needs a value" : "has no value");
	void *at = (char *)f + row->at;
	if (row->value)
		*(struct str *)at = str_sub(word, equals + 1, SIZE_MAX);
	else
		*(bool *)at = true;
	return true;
}

static bool load(struct session *s, const struct flags *f, const struct spools *files)
{
	struct flags all = *f;
	struct spools_opts o;

	take_recorded(s, &all, files->options);
	return read_options(s, &all, &o) && session_load_spools(s, f->spool, files, &o);
}

bool flags_load_spools(struct session *s, const struct flags *f)
{
	struct spools files;

	return spools_find(&files, &s->query_arena, f->spool, &s->error) && load(s, f, &files);
}

bool flags_load_spool_bytes(struct session *s, const struct flags *f, struct str bytes)
{
	struct spools_file file = { .path = f->spool };
	struct spools files = { .v = &file, .n = 1, .bytes = bytes.n };
	bool ok = src_memory(&file.given, &s->query_arena, f->spool, bytes, &s->error);

	if (!ok)
		return false;
	src_keep(file.given);
	ok = load(s, f, &files);
	src_close(file.given);
	return ok;
}
