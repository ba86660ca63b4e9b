/* SPDX-License-Identifier: Apache-2.0
 *
 * The public interface: the life of a session, and facts on its inputs. Every call runs at the
 * session's recovery point and in a C locale, and stores its code, sentence and notes. Prints
 * nothing.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>

#include "lib/api_internal.h"
#include "lib/jobs.h"

#define THREADS_MAX 256u

_Static_assert((int)TFP_E_STEP == (int)ERR_STEP && (int)TFP_E_MEMORY == (int)ERR_N,
        "codes are status words");

#define NOT_OPENED S("the session could not be opened: out of memory")
#define IN_USE     S("the session is in use: a callback may only call tfp_cancel and tfp_close")

/* One call: the function to run and its context. */
struct api_call {
	struct tfp_session *t;
	bool (*f)(struct tfp_session *t, void *arg);
	void *arg;
};

bool api_take(void *to, size_t to_size, const void *from)
{
	size_t n;

	memset(to, 0, to_size);
	if (!from)
		return true;
	memcpy(&n, from, sizeof n);
	if (n < sizeof n || n % sizeof n) /* the struct would end within a field */
		return false;
	memcpy(to, from, n < to_size ? n : to_size);
	return true;
}

bool api_fail_size(struct session *s, const char *what)
{
	return session_fail(s, ERR_INVALID_ARGUMENT, "%s has no size: set it to sizeof", what);
}

static struct str with_nul(struct arena *a, struct str text)
{
	return str_make(str_z(a, text), text.n);
}

/* Collects the notes of loading from a given note on, then the notes of the call. */
static struct str notes_since(struct session *s, size_t from)
{
	struct notes loading = notes_from(&s->load_notes, from);
	struct sb b = sb_in(&s->query_arena);

	sb_put(&b, notes_text(&s->query_arena, &loading));
	sb_put(&b, notes_text(&s->query_arena, &s->notes));
	return sb_str(&b);
}

/* Stores the sentence of the session's error, and the place in the file. */
static void keep_error(struct tfp_session *t)
{
	const struct err *e = &t->s->error;

	t->error = with_nul(&t->s->query_arena, e->text);
	if (e->file.p)
		t->file = with_nul(&t->s->query_arena, e->file);
	if (e->has_at)
		t->offset = num_from_u64(e->at);
}

static bool call_inside(struct session *s, void *ctx)
{
	const struct api_call *c = ctx;
	size_t from = s->load_notes.list.n;
	bool ok = c->f(c->t, c->arg);

	s->account.stop = NULL;
	if (c->t->put_stopped)
		ok = session_fail(
		        s, ERR_CANCELLED, "cancelled: the receiver of the output stopped");
	c->t->notes = with_nul(&s->query_arena, notes_since(s, from));
	if (!ok)
		keep_error(c->t);
	return ok;
}

int api_call(struct tfp_session *t, bool (*f)(struct tfp_session *t, void *arg), void *arg)
{
	struct api_call c = { t, f, arg };

	if (!t)
		return tfp_error_code(t);
	if (atomic_exchange(&t->busy, true)) {
		t->error = IN_USE;
		return t->code = TFP_E_FAILED;
	}
	locale_t before = uselocale(t->c);
	atomic_store(&t->s->cancel, false);
	t->put_stopped = false;
	t->error = t->notes = S("");
	t->file = STR_NONE;
	t->offset = -1;
	if (session_guard(t->s, call_inside, &c)) {
		t->code = TFP_OK;
		t->error = S(""); /* a callback may have tried to use the session */
	} else if (t->s->error.a) {
		t->code = (int)t->s->error.code;
	} else { /* the call was aborted with a prepared message */
		t->code = t->s->error.code == ERR_CANCELLED ? TFP_E_CANCELLED : TFP_E_MEMORY;
		t->error = t->s->error.text;
	}
	uselocale(before);
	int code = t->code;
	atomic_store(&t->busy, false);
	if (t->closing)
		tfp_close(t);
	return code;
}

/* ---- a call with two sessions ---- */

struct call_with {
	struct tfp_session *t, *other;
	bool (*f)(struct tfp_session *t, void *arg);
	void *arg;
};

static bool run_sides(struct session *s, void *arg)
{
	const struct call_with *x = arg;

	(void)s;
	return x->f(x->t, x->arg);
}

static bool run_with(struct tfp_session *t, void *arg)
{
	static const struct str sides[] = { S("left"), S("right") };
	struct call_with *x = arg;

	return jobs_run_sides(t->s, x->other->s, sides, run_sides, x);
}

int api_call_with(struct tfp_session *t, struct tfp_session *other,
        bool (*f)(struct tfp_session *t, void *arg), void *arg)
{
	struct call_with x = { t, other, f, arg };

	if (!t || !other)
		return api_call(t, f, arg);
	if (other == t)
		return api_call(t, run_with, &x);
	if (atomic_exchange(&other->busy, true))
		return TFP_E_FAILED;
	int code = api_call(t, run_with, &x);
	atomic_store(&other->busy, false);
	if (other->closing)
		tfp_close(other);
	return code;
}

struct tfp_session *api_other(const struct tfp_run *run)
{
	struct tfp_run how;

	return api_take(&how, sizeof how, run) ? how.other : NULL;
}

/* ---- a session ---- */

const char *tfp_version(void)
{
	return TFPROF_VERSION;
}

const char *tfp_code_name(int code)
{
	if (code == TFP_OK)
		return "OK";
	if (code == TFP_E_MEMORY)
		return "MEMORY";
	return code > 0 && code < ERR_N ? status_name((enum status)code) : "UNKNOWN";
}

/* Reports progress to the caller. Called on any thread, but never on two threads at a time. */
static bool watch_progress(void *user, uint64_t done, uint64_t total)
{
	struct tfp_session *t = user;

	if (atomic_load(&t->s->cancel))
		return false;
	return !t->config.progress || t->config.progress(t->config.user, done, total) == 0;
}

int tfp_open(struct tfp_session **out, const struct tfp_config *config)
{
	struct tfp_session *t;

	if (!out)
		return TFP_E_INVALID_ARGUMENT;
	*out = NULL;
	t = calloc(1, sizeof *t);
	if (!t)
		return TFP_E_MEMORY;
	if (!api_take(&t->config, sizeof t->config, config)) {
		free(t);
		return TFP_E_INVALID_ARGUMENT;
	}
	atomic_init(&t->users, 1);
	uint64_t limit = t->config.memory_limit;
	unsigned threads = t->config.threads ? t->config.threads : par_cpus();
	t->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	t->s = t->c ? session_new(limit < SIZE_MAX ? (size_t)limit : SIZE_MAX) : NULL;
	if (!t->s) {
		tfp_close(t);
		return TFP_E_MEMORY;
	}
	if (t->config.flags & TFP_KEEP_ATTRS)
		session_keep_attrs(t->s);
	t->s->threads = threads < THREADS_MAX ? threads : THREADS_MAX;
	t->s->recover = t->config.flags & TFP_RECOVER;
	t->s->watch = (struct input_watch){ watch_progress, t };
	t->error = t->notes = S("");
	*out = t;
	return TFP_OK;
}

void tfp_close(struct tfp_session *t)
{
	if (!t)
		return;
	if (atomic_load(&t->busy)) {
		t->closing = true;
		tfp_cancel(t);
		return;
	}
	api_leave(t);
}

void api_leave(struct tfp_session *t)
{
	if (atomic_fetch_sub(&t->users, 1) > 1)
		return;
	session_free(t->s);
	if (t->c)
		freelocale(t->c);
	free(t);
}

int tfp_error_code(const struct tfp_session *t)
{
	return t ? t->code : TFP_E_MEMORY;
}

const char *tfp_error(const struct tfp_session *t, size_t *length)
{
	struct str text = t ? t->error : NOT_OPENED;

	if (length)
		*length = text.n;
	return text.p;
}

const char *tfp_error_file(const struct tfp_session *t, size_t *length, int64_t *offset)
{
	bool known = t && t->code && t->file.p;

	if (length)
		*length = known ? t->file.n : 0;
	if (offset)
		*offset = known ? t->offset : -1;
	return known ? t->file.p : NULL;
}

const char *tfp_notes(const struct tfp_session *t, size_t *length)
{
	struct str text = t ? t->notes : S("");

	if (length)
		*length = text.n;
	return text.p;
}

void tfp_cancel(struct tfp_session *t)
{
	if (t)
		atomic_store(&t->s->cancel, true);
}

/* ---- loaded ---- */

static bool get_coverage(struct tfp_session *t, void *arg)
{
	const struct model *m = &t->s->model;
	double *coverage = arg;

	if (!session_seal(t->s))
		return false;
	if (!coverage)
		return true;
	if (!m->nodes.n || !m->steps.n)
		*coverage = 0;
	else
		*coverage = session_has_source(t->s, ROLE_STEP) ? model_coverage(m)
		                                                : model_ran(m, &t->s->query_arena);
	return true;
}

int tfp_coverage(struct tfp_session *t, double *coverage)
{
	return api_call(t, get_coverage, coverage);
}

size_t tfp_steps(const struct tfp_session *t, int64_t *steps, size_t cap)
{
	if (!t || t->s->broken || atomic_load(&t->busy))
		return 0;
	const struct model *m = &t->s->model;
	for (size_t i = 0; steps && i < cap && i < m->step_ids.n; i++)
		steps[i] = m->step_ids.v[i];
	return m->step_ids.n;
}

struct asked_name {
	size_t i;
	struct str name;
};

/* Returns name i from get and its length; NULL after the last name. */
static const char *get_name(struct tfp_session *t, bool (*get)(struct tfp_session *t, void *arg),
        size_t i, size_t *length)
{
	struct asked_name x = { i, STR_NONE };

	api_call(t, get, &x);
	if (length)
		*length = x.name.n;
	return x.name.p;
}

static bool get_device(struct tfp_session *t, void *arg)
{
	struct asked_name *x = arg;
	const struct model *m = &t->s->model;

	if (x->i < m->devices.n && !t->s->broken)
		x->name = with_nul(&t->s->query_arena, device_name(m, (uint32_t)x->i));
	return true;
}

const char *tfp_device(struct tfp_session *t, size_t i, size_t *length)
{
	return get_name(t, get_device, i, length);
}

static bool get_worker(struct tfp_session *t, void *arg)
{
	struct asked_name *x = arg;
	const struct model *m = &t->s->model;

	if (x->i < m->workers.n && !t->s->broken)
		x->name = with_nul(&t->s->query_arena, m->workers.v[x->i]);
	return true;
}

const char *tfp_worker(struct tfp_session *t, size_t i, size_t *length)
{
	return get_name(t, get_worker, i, length);
}
