/* SPDX-License-Identifier: Apache-2.0
 *
 * The public interface: options, queries, writing profiles. Bytes pass through the caller's
 * functions. Prints nothing.
 */
#define _GNU_SOURCE 1
#include "lib/api_internal.h"
#include "lib/jobs.h"

/* ---- options ---- */

struct setting {
	struct str name;
	const struct tfp_str *values;
	size_t n;
	unsigned flags;
};

static bool set_option(struct tfp_session *t, void *arg)
{
	const struct setting *x = arg;
	struct session *s = t->s;
	struct opts o = opts_copy(&s->sticky, &s->query_arena);
	struct strs items = { 0 };
	const struct option *row = view_option(x->name);

	if (!row)
		return cmd_unknown_option(s, NULL, x->name, x->name, NULL);
	if (x->n != 1 && !option_is_list(row))
		return session_fail(
		        s, ERR_INVALID_ARGUMENT, "-%s takes one value, not %zu", row->name, x->n);
	for (size_t i = 0; i < x->n; i++)
		strs_add(&s->query_arena, &items, api_str(x->values[i].data, x->values[i].size));
	if (!opts_set_list(&o, &s->query_arena, row, &items, !(x->flags & TFP_LENIENT), &s->error))
		return false;
	session_set(s, &o);
	return true;
}

int tfp_set(struct tfp_session *t, const char *name, size_t name_size, const struct tfp_str *values,
        size_t n, unsigned flags)
{
	struct setting x = { api_str(name, name_size), values, values ? n : 0, flags };

	return api_call(t, set_option, &x);
}

static bool reset_options(struct tfp_session *t, void *arg)
{
	struct opts o;

	(void)arg;
	opts_preset(&o, &t->s->query_arena);
	session_set(t->s, &o);
	return true;
}

int tfp_reset(struct tfp_session *t)
{
	return api_call(t, reset_options, NULL);
}

/* ---- queries ---- */

/* A caller's function, used as a sink. */
struct receiver {
	struct tfp_session *t;
	tfp_put put; /* NULL: discarded */
	void *user;
};

static bool receive(void *user, const void *p, size_t n)
{
	const struct receiver *x = user;

	if (x->put && x->put(x->user, p, n))
		x->t->put_stopped = true;
	return !x->t->put_stopped;
}

struct sink *api_receiver(struct tfp_session *t, tfp_put put, void *user)
{
	struct receiver *x = ARENA_NEW(&t->s->query_arena, struct receiver);

	*x = (struct receiver){ t, put, user };
	return sink_call(&t->s->query_arena, receive, x);
}

#define BANNER_OPTIONS "\n=========================Options=============================\n"
#define BANNER_REPORT  "\n==================Model Analysis Report======================\n"
#define BANNER_END     "\n======================End of Report==========================\n"

static bool run_framed(struct session *s, const struct request *r, struct sink *text)
{
	struct sb b = sb_in(&s->query_arena);

	opts_dump(&b, &r->opts);
	sink_put(text, S(BANNER_OPTIONS));
	sink_put(text, sb_str(&b));
	sink_put(text, S(BANNER_REPORT));
	bool ok = request_run(s, r, text);
	sink_put(text, S(BANNER_END));
	return ok;
}

/* Runs the parsed command, and returns all output. */
static bool run_request(struct tfp_session *t, struct request *r, const struct tfp_run *how)
{
	struct session *s = t->s;
	struct sink *text = api_receiver(t, how->text, how->text_user);
	bool framed = how->flags & TFP_BANNERS && r->command && r->command->view &&
	              r->opts.output.kind == OUT_STDOUT && !r->opts.dump_to_file.n;

	if (how->result)
		r->message = api_receiver(t, how->result, how->result_user);
	bool ok = framed ? run_framed(s, r, text) : cmd_run(s, r, text);
	ok &= sink_close(text, &s->error);
	if (r->message)
		ok &= sink_close(r->message, &s->error);
	return ok;
}

static bool choose_checkers(struct session *s, struct request *r, const struct tfp_run *how)
{
	if (!how->checkers)
		return true;
	r->checkers = 0;
	for (size_t i = 0; i < how->n_checkers; i++) {
		struct str name = api_str(how->checkers[i].data, how->checkers[i].size);
		unsigned bit = advise_find(name);
		if (!bit && !str_eq(name, S("JobChecker"))) /* JobChecker has no reports */
			return session_fail(
			        s, ERR_INVALID_ARGUMENT, "unknown checker '%.*s'", STR(name));
		r->checkers |= bit;
	}
	return true;
}

struct asking {
	struct str words;
	const struct tfp_run *run;
};

void api_add_words(struct session *s, struct strs *words, const struct tfp_str *more, size_t n)
{
	for (size_t i = 0; more && i < n; i++)
		strs_add(&s->query_arena, words, api_str(more[i].data, more[i].size));
}

static bool run_command(struct tfp_session *t, void *arg)
{
	const struct asking *x = arg;
	struct session *s = t->s;
	struct strs words = { 0 };
	struct tfp_run how;
	struct request r;

	if (!api_take(&how, sizeof how, x->run))
		return api_fail_size(s, "struct tfp_run");
	strs_add(&s->query_arena, &words, x->words);
	api_add_words(s, &words, how.words, how.n_words);
	if (!cmd_parse(s, &words, NULL, &r) || !choose_checkers(s, &r, &how))
		return false;
	if (!r.command || !(r.command->needs_profile || r.command->run == report_run))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "'%.*s' is not a view; views are scope, graph, op, code, advise",
		        STR(x->words));
	return run_request(t, &r, &how);
}

int tfp_run(
        struct tfp_session *t, const char *command, size_t command_size, const struct tfp_run *run)
{
	struct asking x = { api_str(command, command_size), run };

	return api_call(t, run_command, &x);
}

static bool run_line(struct tfp_session *t, void *arg)
{
	const struct asking *x = arg;
	struct session *s = t->s;
	struct tfp_run how;
	struct request r;

	if (!api_take(&how, sizeof how, x->run))
		return api_fail_size(s, "struct tfp_run");
	struct strs words = str_split(&s->query_arena, x->words, ' ');
	api_add_words(s, &words, how.words, how.n_words);
	if (!cmd_parse_words(s, &words, &r) || !choose_checkers(s, &r, &how))
		return false;
	if (r.command && r.command->ends)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "'%s' is available only in the program", r.command->name);
	if (r.command && jobs_is_command(r.command))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "'%s' is available only in the program: open a session for each input",
		        r.command->name);
	return run_request(t, &r, &how);
}

int tfp_run_line(
        struct tfp_session *t, const char *line, size_t line_size, const struct tfp_run *run)
{
	struct asking x = { api_str(line, line_size), run };

	return api_call_with(t, api_other(run), run_line, &x);
}

struct writing {
	struct str path;
	tfp_put put;
	void *user;
};

static bool write_profile(struct tfp_session *t, void *arg)
{
	const struct writing *x = arg;
	struct session *s = t->s;
	struct sink *to;

	if (x->path.p)
		return session_write_profile(s, x->path);
	if (!session_need_all(s, true) || !session_seal(s) || !session_one_worker(s))
		return false;
	to = api_receiver(t, x->put, x->user);
	profile_write(&s->model, to, &s->query_arena, &s->notes); /* the sink has the error */
	return sink_close(to, &s->error);
}

int tfp_write_profile(
        struct tfp_session *t, const char *path, size_t path_size, tfp_put put, void *user)
{
	struct writing x = { api_str(path, path_size), put, user };

	return api_call(t, write_profile, &x);
}
