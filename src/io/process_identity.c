/* SPDX-License-Identifier: Apache-2.0
 *
 * The process that wrote a recording: rank, job, host, program.
 */
#include "io/recording_in.h"

#include "base/map.h"
#include "base/num.h"
#include "base/sort.h"

#define UUID_SIZE sizeof((struct spool_gpu *)0)->uuid

/* Environment variables with rank, size and job, in order of precedence. */
static const char *const ranks[] = { "env.RANK", "env.OMPI_COMM_WORLD_RANK", "env.PMIX_RANK",
	"env.PMI_RANK", "env.SLURM_PROCID" };
static const char *const jobs[] = { "env.TFPROF_JOB", "env.SLURM_JOB_ID",
	"env.OMPI_MCA_ess_base_jobid", "env.PMIX_NAMESPACE", "env.TORCHELASTIC_RUN_ID" };
#define N(table) (sizeof(table) / sizeof *(table))

void process_identity_init(struct process_identity *w)
{
	*w = (struct process_identity){ .rank = -1 };
}

/* Returns 1 + the row of the key; 0: unknown key. */
static unsigned find(const char *const *table, size_t n, struct str key)
{
	for (unsigned i = 0; i < n; i++)
		if (str_eq(key, str_of(table[i])))
			return i + 1;
	return 0;
}

/* True if row i (counted from 1) takes precedence over the row that is already used. */
static bool is_better(unsigned i, unsigned taken)
{
	return i && (!taken || i < taken);
}

/* Returns the last component of the first word of argv, or of a path. */
static struct str program_of(struct str value)
{
	struct str word = str_sub(value, 0, str_find_char(value, '\0'));
	size_t slash = str_rfind_char(word, '/');

	return slash == SIZE_MAX ? word : str_sub(word, slash + 1, SIZE_MAX);
}

static void take_variable(
        struct process_identity *w, struct arena *a, struct str key, struct str value)
{
	unsigned rank = find(ranks, N(ranks), key), job = find(jobs, N(jobs), key);
	int64_t n;

	if (is_better(rank, w->rank_from) && num_parse_i64(value, &n) && n >= 0) {
		w->rank = n;
		w->rank_from = rank;
	}
	/* torchrun calls an unnamed run "none". */
	if (is_better(job, w->job_from) && value.n && !str_eq(value, S("none"))) {
		w->job = str_copy(a, value);
		w->job_from = job;
	}
}

void process_identity_take(
        struct process_identity *w, struct arena *a, const struct spool_info *fact)
{
	struct str key = str_make(fact->key.p, fact->key.n);
	struct str value = str_make(fact->value.p, fact->value.n);
	int64_t n;

	if (str_starts(key, S("env.")))
		take_variable(w, a, key, value);
	else if (str_eq(key, S("host")))
		w->host = str_copy(a, value);
	else if (str_eq(key, S("argv")) || (str_eq(key, S("exe")) && !w->program.n))
		w->program = str_copy(a, program_of(value));
	else if (str_eq(key, S("pid")))
		num_parse_i64(value, &w->pid);
	else if (str_eq(key, S("ppid")))
		num_parse_i64(value, &w->parent);
	else if (str_eq(key, S("start")) && num_parse_i64(value, &n))
		w->started = (uint64_t)n;
}

/* ---- jobs ---- */

#define HOPS_MAX 64 /* steps from a process up to its launcher */

static uint64_t key_of(struct str host, int64_t pid)
{
	return hash_bytes(host.p, host.n) ^ (uint64_t)pid * 0x9e3779b97f4a7c15u;
}

/* Returns the launcher: the topmost parent of the processes of v. */
static int64_t launcher(struct process_identity *const *v, const struct imap *by_pid,
        const struct process_identity *w)
{
	uint32_t i;

	for (unsigned hops = 0; hops < HOPS_MAX; hops++) {
		if (!imap_get(by_pid, key_of(w->host, w->parent), &i) || v[i] == w)
			break;
		w = v[i];
	}
	return w->parent;
}

/* True if both have the same job name and rank but different launchers. */
static bool are_twins(const struct process_identity *x, const struct process_identity *y,
        int64_t x_top, int64_t y_top)
{
	return x_top && y_top && x_top != y_top && x->rank == y->rank && str_eq(x->job, y->job);
}

void process_identity_jobs(struct process_identity *const *v, size_t n, struct arena *a)
{
	int64_t *top = ARENA_ARRAY(a, n, int64_t);
	bool *apart = ARENA_ARRAY(a, n, bool);
	struct imap by_pid;

	imap_init(&by_pid, a);
	for (size_t i = 0; i < n; i++)
		imap_put(&by_pid, key_of(v[i]->host, v[i]->pid), (uint32_t)i, false);
	for (size_t i = 0; i < n; i++) {
		v[i]->named = v[i]->job;
		top[i] = v[i]->rank < 0 ? 0 : launcher(v, &by_pid, v[i]);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n && !apart[i]; k++)
			apart[i] = are_twins(v[i], v[k], top[i], top[k]);
	/* Assigns their launcher's job to all processes of these launchers. */
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n && top[i] && !apart[i]; k++)
			apart[i] = apart[k] && top[k] == top[i] && str_eq(v[i]->job, v[k]->job);
	for (size_t i = 0; i < n; i++)
		if (apart[i])
			v[i]->job = str_fmt(a, "%.*s%sp%lld", STR(v[i]->job),
			        v[i]->job.n ? "-" : "", (long long)top[i]);
}

/* ---- GPUs ---- */

/* One physical GPU, which several processes may use. */
struct one {
	struct str identity, host;
	uint32_t id;
};

static int by_place(const void *ctx, uint32_t a, uint32_t b)
{
	const struct one *v = ctx;
	int host = str_cmp(v[a].host, v[b].host);

	if (host)
		return host;
	if (v[a].id != v[b].id)
		return v[a].id < v[b].id ? -1 : 1;
	return str_cmp(v[a].identity, v[b].identity);
}

static struct str identity(const struct spool_gpu *g, struct arena *a)
{
	static const uint8_t none[UUID_SIZE];

	if (memcmp(g->uuid, none, sizeof none) != 0)
		return str_make(g->uuid, sizeof g->uuid);
	return str_fmt(a, "%.*s %u", STR(g->host), g->id);
}

void process_identity_gpus(struct spool_gpu *v, size_t n, struct arena *a)
{
	struct one *ones = ARENA_ARRAY(a, n, struct one);
	uint32_t *of = ARENA_ARRAY(a, n, uint32_t), next = 0;
	struct intern known;

	intern_init(&known, a);
	for (size_t i = 0; i < n; i++) {
		struct str id = identity(&v[i], a);
		struct one *x = &ones[of[i] = intern_add(&known, id)];
		if (!x->identity.n || str_cmp(v[i].host, x->host) < 0)
			x->host = v[i].host;
		x->identity = id;
		x->id = v[i].id > x->id ? v[i].id : x->id;
	}
	const uint32_t *order = sort_order(a, known.n, by_place, ones);
	for (size_t i = 0; i < known.n; i++) {
		struct one *x = &ones[order[i]];
		x->id = x->id > next ? x->id : next;
		next = x->id + 1;
	}
	for (size_t i = 0; i < n; i++)
		v[i].number = ones[of[i]].id;
}
