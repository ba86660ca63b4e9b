/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads many workers into one model. A wave of workers is read at a time, each by the ordinary
 * readers into a model of its own, which is then merged and released: so memory is needed only for
 * the merged model and one wave.
 */
#include "model/input.h"

#include <pthread.h>

/* State of one running worker. */
struct worker_job {
	struct arena a; /* arena of its model, notes and error */
	struct model m;
	struct ingest *in;
	struct notes notes;
	struct err e;
	bool open, ok, escaped; /* open: true while the arena is in use */
	uint64_t done;          /* number of bytes of its finished files, and of the current file */
	uint64_t before;
	struct crew *crew;
};

/* State of a load of workers. The jobs [from, from + n) are the current wave. */
struct crew {
	const struct input_workers *workers;
	struct ingest *to;
	struct work *work;       /* the caller's struct work */
	struct worker_job *jobs; /* one element per thread */
	size_t from, n;
	pthread_mutex_t lock; /* protects the following fields */
	uint64_t done;
	bool cancelled;
};

/* Progress of one file of one job. */
static bool tick(void *user, uint64_t done, uint64_t total)
{
	struct worker_job *j = user;
	struct crew *c = j->crew;
	const struct input_watch *w = c->workers->watch;
	bool go;

	(void)total;
	pthread_mutex_lock(&c->lock);
	if (j->before + done > j->done) {
		c->done += j->before + done - j->done;
		j->done = j->before + done;
	}
	if (!c->cancelled)
		c->cancelled = !w->progress(w->user, c->done, 0);
	go = !c->cancelled;
	pthread_mutex_unlock(&c->lock);
	return go;
}

static bool load_one(struct worker_job *j, struct ingest *to, unsigned role,
        const struct input_from *from, struct work *work, struct err *e)
{
	const struct input_watch watch = { tick, j };

	j->before = j->done;
	return from->name.n == 0 ||
	       input_load(to, role, from, j->crew->workers->watch ? &watch : NULL, work, e);
}

/* Reads all files of a worker. */
static bool load_files(struct worker_job *j, const struct input_worker *w, struct ingest *to,
        unsigned threads, struct work *work, struct err *e)
{
	const struct input_watch watch = { tick, j };
	const struct input_from profile = { .name = w->profile, .recover = w->recover };
	const struct input_from graph = { .name = w->graph, .recover = w->recover };
	const struct input_from oplog = { .name = w->oplog, .recover = w->recover };
	struct input_steps steps = { .v = w->steps, .n = w->n_steps, .threads = threads };
	size_t folded;

	if (!load_one(j, to, ROLE_PROFILE, &profile, work, e) ||
	        !load_one(j, to, ROLE_GRAPH, &graph, work, e) ||
	        !load_one(j, to, ROLE_OPLOG, &oplog, work, e))
		return false;
	j->before = j->done;
	steps.watch = j->crew->workers->watch ? &watch : NULL;
	return w->n_steps == 0 || input_load_steps(to, &steps, &folded, work, e);
}

static void crew_read(void *ctx, size_t i, struct work *w)
{
	struct crew *c = ctx;
	struct worker_job *j = &c->jobs[i];

	arena_init(&j->a, w);
	j->open = true;
	j->crew = c;
	j->e = (struct err){ .a = &j->a };
	j->m.a = &j->a;
	notes_init(&j->notes, &j->a);
	j->in = ingest_open(&j->m, &j->notes, ingest_keeps_attrs(c->to));
	ingest_base(j->in, ingest_model(c->to));
	ingest_set_options(j->in, ingest_options(c->to));
	j->ok = load_files(j, &c->workers->v[c->from + i], j->in, 1, w, &j->e);
}

static bool crew_read_done(void *ctx, size_t i, bool escaped, struct pool *p)
{
	struct crew *c = ctx;

	(void)p;
	c->jobs[i].escaped = escaped;
	c->jobs[i].a.work = c->work; /* the job's own struct work no longer exists */
	return true;
}

static void crew_drop(void *crew)
{
	struct crew *c = crew;

	for (size_t i = 0; i < c->n; i++)
		if (c->jobs[i].open)
			arena_free(&c->jobs[i].a);
	c->n = 0;
	pthread_mutex_destroy(&c->lock);
}

/* Merges the result of one job. */
static bool merge_job(
        struct crew *c, struct worker_job *j, const struct input_worker *w, struct err *e)
{
	bool ok;

	if (j->escaped)
		work_escape(c->work);
	e->partial = j->e.partial;
	ok = j->ok ? ingest_merge(c->to, j->in, w->worker, w->excluded_from_average, w->name, e)
	           : err_copy(e, &j->e);
	if (ok)
		note_append(ingest_notes(c->to), &j->notes);
	arena_free(&j->a);
	j->open = false;
	return ok;
}

static bool merge_wave(struct crew *c, size_t *merged, struct err *e)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!merge_job(c, &c->jobs[i], &c->workers->v[c->from + i], e))
			return false;
		++*merged;
	}
	return true;
}

/* Loads the first worker of an empty model directly into the model. */
static bool load_first(struct crew *c, size_t *merged, struct err *e)
{
	struct worker_job *j = &c->jobs[0];

	if (ingest_model(c->to)->nodes.n || c->workers->v[0].worker ||
	        c->workers->v[0].excluded_from_average)
		return true;
	j->crew = c;
	if (!load_files(j, &c->workers->v[0], c->to, c->workers->threads, c->work, e))
		return false;
	*merged = c->from = 1;
	return true;
}

bool input_load_workers(struct ingest *to, const struct input_workers *workers, size_t *merged,
        struct work *work, struct err *e)
{
	static const struct par_ops ops = { crew_read, crew_read_done, NULL };
	size_t threads = workers->threads ? workers->threads : 1;
	struct crew c = { .workers = workers, .to = to, .work = work };
	struct scratch own;
	struct guard free_jobs;
	bool ok;

	*merged = 0;
	if (workers->n == 0)
		return true;
	threads = threads < workers->n ? threads : workers->n;
	scratch_open(&own, work);
	c.jobs = ARENA_ARRAY(&own.a, threads, struct worker_job);
	pthread_mutex_init(&c.lock, NULL);
	work_guard(work, &free_jobs, crew_drop, &c);
	ok = load_first(&c, merged, e);
	while (ok && c.from < workers->n) {
		c.n = threads < workers->n - c.from ? threads : workers->n - c.from;
		memset(c.jobs, 0, c.n * sizeof *c.jobs);
		par_run(&ops, &c, c.n, (unsigned)threads, work);
		ok = merge_wave(&c, merged, e);
		c.from += ok ? c.n : 0;
	}
	work_unguard(work, &free_jobs);
	crew_drop(&c);
	scratch_close(&own);
	return ok;
}
