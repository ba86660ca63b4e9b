/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs that are loaded side by side, and the commands load, use and list. Each job is a session of
 * its own; all share one account of memory. Whoever reads lines asks after each which is current.
 */
#ifndef TFPROF_LIB_JOBS_H
#define TFPROF_LIB_JOBS_H

#include "lib/command.h"
#include "lib/flags.h"

struct job {
	struct str name;
	struct session *s;
};
struct jobs {
	struct arena a; /* the names */
	VEC(struct job) list;
	size_t now;
};

/* The session becomes the first job. f: what is loaded in it, for its name. False: no memory. */
bool jobs_begin(struct jobs *j, struct session *s, const struct flags *f);

/* Frees all jobs but the first, which is the caller's. */
void jobs_end(struct jobs *j);

static inline struct session *jobs_now(const struct jobs *j)
{
	return j->list.v[j->now].s;
}

/* The session of the next line, behind one that another ran: options that were set stay set, as
 * they are the reader's and not the job's. */
struct session *jobs_next(struct jobs *j, struct session *before);

/* The name of the current job if there are several, else none. */
struct str jobs_name(const struct jobs *j);

/* Returns the session of a loaded job, or NULL; also if j is NULL. */
struct session *jobs_find(const struct jobs *j, struct str name);

bool jobs_load(struct session *s, const struct request *r, struct sink *out);
bool jobs_use(struct session *s, const struct request *r, struct sink *out);
bool jobs_list(struct session *s, const struct request *r, struct sink *out);

#endif
