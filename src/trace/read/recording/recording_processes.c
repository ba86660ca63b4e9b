/* SPDX-License-Identifier: Apache-2.0
 *
 * The processes of a recording: their selection, their order, the prefixes of their nodes' names,
 * and their common GPUs.
 */
#include "base/sort.h"
#include "trace/read/recording/recording_internal.h"

/* ---- jobs and GPUs ---- */

struct str recording_job(struct arena *a, const struct recorded_process *p, struct str none)
{
	struct str job = p->facts.who.job;
	struct sb b = sb_in(a);

	for (size_t i = 0; i < job.n; i++) {
		char c = job.p[i];
		bool plain = char_is_digit(c) || char_is_letter(c) || c == '-' || c == '.';
		sb_char(&b, plain ? c : '_');
	}
	return job.n ? sb_str(&b) : none;
}

bool recorded_gpu_known(const struct recorded_gpu *g)
{
	static const uint8_t none[sizeof g->identity];

	return memcmp(g->identity, none, sizeof none) != 0;
}

const struct recorded_gpu *recorded_gpu_find(const struct recorded_process *p, uint32_t id)
{
	for (size_t i = 0; i < p->gpus.n; i++)
		if (p->gpus.v[i].id == id)
			return &p->gpus.v[i];
	return NULL;
}

struct str recorded_gpu_uuid(struct arena *a, const struct recorded_gpu *g)
{
	struct sb b = sb_in(a);

	for (unsigned i = 0; i < sizeof g->identity; i++)
		sb_fmt(&b, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
		        g->identity[i]);
	return sb_str(&b);
}

static void name_jobs(struct recordings *r)
{
	struct process_identity **v = ARENA_ARRAY(r->a, r->n, struct process_identity *);

	for (size_t i = 0; i < r->n; i++)
		v[i] = &r->v[i].facts.who;
	process_identity_jobs(v, r->n, r->a);
}

static void number_gpus(struct recordings *r)
{
	VEC(struct spool_gpu) v = { 0 };
	size_t at = 0;

	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->v[i].gpus.n; k++) {
			const struct recorded_gpu *g = &r->v[i].gpus.v[k];
			struct spool_gpu x = { .host = r->v[i].facts.who.host, .id = g->id };
			memcpy(x.uuid, g->identity, sizeof x.uuid);
			VEC_PUSH(r->a, &v, x);
		}
	process_identity_gpus(v.v, v.n, r->a);
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->v[i].gpus.n; k++)
			r->v[i].gpus.v[k].number = v.v[at++].number;
}

/* ---- which of them count ---- */

/* True if the text is a prefix of the UUID in the form that `tfprof gpu` prints. */
static bool is_uuid(struct arena *a, const struct recorded_gpu *g, struct str text)
{
	struct str uuid = str_fmt(a, "gpu-%.*s", STR(recorded_gpu_uuid(a, g)));

	return str_starts(uuid, str_lower(a, text));
}

/* Marks only the selected GPUs as used. */
static void choose_gpus(struct recordings *r, struct recorded_process *p)
{
	int64_t number = -1;
	bool is_number = num_parse_i64(r->o->gpu, &number);

	for (size_t k = 0; k < p->gpus.n && r->o->gpu.n; k++) {
		struct recorded_gpu *g = &p->gpus.v[k];
		bool asked = is_number ? g->number == number : is_uuid(r->a, g, r->o->gpu);
		p->gpus_used -= g->used && !asked;
		g->used &= asked;
	}
}

static bool is_wanted(struct recordings *r, const struct recorded_process *p)
{
	const struct recording_options *o = r->o;
	int64_t pid;

	if (o->process.n && (!num_parse_i64(o->process, &pid) || pid != p->facts.who.pid))
		return false;
	if (o->gpu.n && !p->gpus_used)
		return false;
	return !o->job.n || str_eq(o->job, p->facts.who.job) ||
	       str_eq(o->job, p->facts.who.named) ||
	       str_eq(o->job, recording_job(r->a, p, STR_NONE));
}

static bool choose(struct recordings *r)
{
	const struct recording_options *o = r->o;
	struct sb b = sb_in(r->a);
	size_t wanted = 0;

	for (size_t i = 0; i < r->n; i++) {
		choose_gpus(r, &r->v[i]);
		if (is_wanted(r, &r->v[i]))
			r->v[wanted++] = r->v[i];
	}
	r->n = wanted;
	if (wanted)
		return true;
	if (o->process.n)
		sb_fmt(&b, " '%.*s'", STR(o->process));
	if (o->job.n)
		sb_fmt(&b, " of job '%.*s'", STR(o->job));
	if (o->gpu.n)
		sb_fmt(&b, " with GPU '%.*s'", STR(o->gpu));
	return err_set(r->e, ERR_NOT_FOUND, "the recording has no process%.*s", STR(sb_str(&b)));
}

/* ---- order and names ---- */

/* Orders processes by job, then rank, then age. */
static int by_rank(const void *ctx, uint32_t a, uint32_t b)
{
	const struct recorded_process *v = ctx, *p = &v[a], *q = &v[b];
	int job = str_cmp(p->facts.who.job, q->facts.who.job);

	if (job)
		return job;
	if (p->facts.who.rank != q->facts.who.rank)
		return p->facts.who.rank < q->facts.who.rank ? -1 : 1;
	if (p->facts.who.started != q->facts.who.started)
		return p->facts.who.started < q->facts.who.started ? -1 : 1;
	return str_cmp(p->name, q->name);
}

static bool has_operations(const struct recorded_process *p)
{
	return p->facts.totals[SPOOL_KERNEL] || p->facts.totals[SPOOL_COPY] ||
	       p->facts.totals[SPOOL_SET] || p->facts.totals[SPOOL_GRAPH] ||
	       p->facts.totals[SPOOL_SUM] || p->facts.totals[SPOOL_MEMORY];
}

/* Counts the processes from..to with this rank (ANY: with any rank) that have work. */
#define ANY (-2)
static size_t count_working(const struct recordings *r, size_t from, size_t to, int64_t rank)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		n += has_operations(&r->v[i]) && (rank == ANY || r->v[i].facts.who.rank == rank);
	return n;
}

/* Returns the prefixes of one job, processes from..to: "rank3/" if several of them have work,
 * followed by a number if several have the same rank. */
static void name_job(struct recordings *r, size_t from, size_t to, bool jobs)
{
	bool alone = count_working(r, from, to, ANY) <= 1;
	size_t number = 0;

	for (size_t i = from; i < to; i++) {
		struct recorded_process *p = &r->v[i];
		struct sb b = sb_in(r->a);
		if (!has_operations(p))
			continue;
		bool twin = count_working(r, from, to, p->facts.who.rank) > 1;
		if (i == from || p->facts.who.rank != r->v[i - 1].facts.who.rank)
			number = 0;
		if (jobs)
			sb_fmt(&b, "job-%.*s/", STR(recording_job(r->a, p, S("none"))));
		if (p->facts.who.rank >= 0 && (!alone || jobs))
			sb_fmt(&b, "rank%lld%s", (long long)p->facts.who.rank, twin ? "-" : "/");
		if (!alone && (p->facts.who.rank < 0 || twin))
			sb_fmt(&b, "process%zu/", number++);
		p->prefix = sb_str(&b);
	}
}

/* Sets prefixes if several processes have work, to keep their nodes apart. */
static void name_processes(struct recordings *r)
{
	bool jobs = false;
	size_t from = 0;

	if (r->o->sum_ranks || count_working(r, 0, r->n, ANY) <= 1)
		return;
	for (size_t i = 1; i < r->n; i++)
		jobs |= !str_eq(r->v[i].facts.who.job, r->v[i - 1].facts.who.job);
	for (size_t i = 1; i <= r->n; i++)
		if (i == r->n || !str_eq(r->v[i].facts.who.job, r->v[from].facts.who.job)) {
			name_job(r, from, i, jobs);
			from = i;
		}
}

/* Counts the processes that used each GPU. */
static void count_sharers(struct recordings *r)
{
	VEC(struct recorded_gpu *) firsts = { 0 };
	struct imap known;
	uint32_t at;

	imap_init(&known, r->a);
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->v[i].gpus.n; k++) {
			struct recorded_gpu *g = &r->v[i].gpus.v[k];
			if (!g->used)
				continue;
			if (!imap_get(&known, g->number, &at)) {
				at = (uint32_t)firsts.n;
				imap_put(&known, g->number, at, false);
				VEC_PUSH(r->a, &firsts, g);
			}
			/* NOLINTNEXTLINE: each of known is there */
			firsts.v[at]->shared++;
		}
}

bool processes_arrange(struct recordings *r)
{
	name_jobs(r);
	number_gpus(r);
	if (!choose(r))
		return false;
	sort_array(r->a, r->v, r->n, sizeof *r->v, by_rank);
	name_processes(r);
	count_sharers(r);
	return true;
}
