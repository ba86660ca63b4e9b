/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs loaded side by side, and the commands load, use and list. Each job is a session; all
 * sessions share one memory account. The command loop gets the current job after each line.
 */
#ifndef TFPROF_LIB_JOBS_H
#define TFPROF_LIB_JOBS_H

#include "lib/options.h"

struct job {
	struct str name;
	struct session *s;
};
struct jobs {
	struct arena a; /* arena of the names */
	VEC(struct job) list;
	size_t now;
};

/* Makes the session the first job. f: its inputs, from which its name is derived. Returns false if
 * memory is exhausted. */
bool jobs_begin(struct jobs *j, struct session *s, const struct flags *f);

/* Frees all jobs except the first, which belongs to the caller. */
void jobs_end(struct jobs *j);

static inline struct session *jobs_now(const struct jobs *j)
{
	return j->list.v[j->now].s;
}

/* Returns the session for the next line, after a line that another session ran. Options changed
 * with `set` are kept, because they belong to the command loop, not to the job. */
struct session *jobs_next(struct jobs *j, struct session *before);

/* Returns the name of the current job if there are several jobs, otherwise an empty text. */
struct str jobs_name(const struct jobs *j);

/* Returns the session of a loaded job. Returns NULL if there is none or j is NULL. */
struct session *jobs_find(const struct jobs *j, struct str name);

/* Returns the names of the loaded jobs, in a. Returns an empty list if j is NULL. */
struct strs jobs_loaded(const struct jobs *j, struct arena *a);

/* Runs f on s while s and other, which may be equal, are the jobs with these names. A call that
 * ends s also ends other. Returns the result of f. */
bool jobs_run_sides(struct session *s, struct session *other, const struct str names[2],
        bool (*f)(struct session *s, void *arg), void *arg);

bool jobs_load(struct session *s, const struct request *r, struct sink *out);
bool jobs_use(struct session *s, const struct request *r, struct sink *out);
bool jobs_list(struct session *s, const struct request *r, struct sink *out);

/* True for load, use and list. */
static inline bool jobs_is_command(const struct command *c)
{
	return c->run == jobs_load || c->run == jobs_use || c->run == jobs_list;
}

#endif
