/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps loaded in parallel: a job reads a file into a batch, in an arena of its own; the batches
 * are folded into the model in order, on the calling thread, while later files are read.
 */
#include "base/par.h"
#include "model/input.h"

struct step_job {
	struct arena a;
	struct load l;
	struct err e;
	bool open, ok; /* open: true while the arena is in use */
};

/* A load of steps: job i is in slot i % room. */
struct steps_load {
	const struct input_steps *steps;
	struct ingest *to;
	struct work *work; /* the caller's struct work */
	struct err *e;
	struct watched all;
	struct step_job *jobs; /* array of `room` elements */
	size_t room;
	size_t *folded;
	bool ok;
};

static void read_step(void *ctx, size_t i, struct work *w)
{
	struct steps_load *v = ctx;
	struct step_job *j = &v->jobs[i % v->room];
	const struct input_step *step = &v->steps->v[i];

	arena_init(&j->a, w);
	j->open = true;
	j->e = (struct err){ .a = &j->a };
	j->l = (struct load){ .role = ROLE_STEP,
		.from = &step->from,
		.a = &j->a,
		.m = ingest_model(v->to),
		.step = step->step,
		.share = { .all = &v->all } };
	j->ok = input_load_file(&j->l, &j->e);
}

/* Folds the result of job i. */
static bool fold_step(void *ctx, size_t i, bool escaped, struct pool *p)
{
	struct steps_load *v = ctx;
	struct step_job *j = &v->jobs[i % v->room];

	j->a.work = v->work; /* the job's own struct work ended with the job */
	if (escaped)
		work_escape(v->work);
	ingest_share_names(v->to, p);
	v->e->partial = j->e.partial;
	input_report(v->to, &j->l);
	v->ok = j->ok ? ingest_fold(v->to, j->l.batch, v->e) : err_copy(v->e, &j->e);
	ingest_share_names(v->to, NULL);
	arena_free(&j->a);
	j->open = false;
	*v->folded += v->ok;
	return v->ok && (!v->steps->folded || v->steps->folded(v->steps->user, i));
}

/* Releases steps that were read but not folded. Runs at the end, and as a guard. */
static void drop_steps(void *ctx)
{
	struct steps_load *v = ctx;

	ingest_share_names(v->to, NULL);
	for (size_t i = 0; i < v->room; i++) {
		v->jobs[i].a.work = v->work;
		if (v->jobs[i].open)
			arena_free(&v->jobs[i].a);
	}
	pthread_mutex_destroy(&v->all.lock);
}

bool input_load_steps(struct ingest *to, const struct input_steps *steps, size_t *folded,
        struct work *work, struct err *e)
{
	static const struct par_ops ops = { read_step, fold_step, NULL };
	size_t threads = steps->threads < steps->n ? steps->threads : steps->n;
	struct steps_load v = { .steps = steps,
		.to = to,
		.work = work,
		.e = e,
		.room = PAR_ROOM(threads),
		.folded = folded,
		.ok = true };
	struct scratch own;
	struct guard free_jobs;

	*folded = 0;
	scratch_open(&own, work);
	v.jobs = ARENA_ARRAY(&own.a, v.room, struct step_job);
	v.all.watch = steps->watch;
	for (size_t i = 0; i < steps->n; i++)
		v.all.total += input_size(&own.a, &steps->v[i].from);
	pthread_mutex_init(&v.all.lock, NULL);
	work_guard(work, &free_jobs, drop_steps, &v);
	par_run(&ops, &v, steps->n, (unsigned)threads, work);
	work_unguard(work, &free_jobs);
	drop_steps(&v);
	scratch_close(&own);
	return v.ok;
}
