/* SPDX-License-Identifier: Apache-2.0
 *
 * Views: choose nodes of a model, add their numbers up, yield a result. A view writes only in the
 * arena of its query and never prints; what the original says on standard error becomes notes.
 */
#ifndef TFPROF_VIEW_VIEW_H
#define TFPROF_VIEW_VIEW_H

#include "base/pattern.h"
#include "metric/opts.h"
#include "view/tree.h"

#define ROOT_NAME S("_TFProfRoot")

/* The accounted structure: entries that count or lead to some that do, in pre-order, with their
 * totals. Entry 0 is the root. In the query's arena. */
struct kept {
	uint32_t n;
	uint32_t *at;           /* entry of the tree */
	uint32_t *parent, *end; /* in kept entries */
	bool *accounted;
	struct tally *total; /* of shown entries: over what is shown, if so asked */
	bool *start;         /* tree views: an entry at which the answer begins */
	/* Op and code, else NULL. What entry i accounts are those of the tree's members of at[i]
	 * for which view_matches is not 0; see view_members. */
	struct tally *self; /* sums over them; quirk 13: a node counts once for each pattern */
	uint32_t *nodes;    /* how many they are, each counted once */
	uint32_t *list;     /* op, else NULL: entries 1 .. n - 1 in the order of the list */
};

/* One shown line. */
struct entry {
	uint32_t kept;   /* entry of struct kept */
	uint32_t parent; /* shown entry, ID_NONE for the first */
	uint32_t end;    /* past its last shown descendant */
	uint32_t depth;  /* number of shown ancestors; op: entry i's parent is i - 1 */
	bool accounted;
	const struct tally *self, *total; /* in the query */
};

/* A column beyond those of the metrics: a statistic over steps, a worker. Outputs show them behind
 * the metrics, in their order. In the query's arena. */
union figure {
	int64_t whole; /* FIGURE_NONE: there is none */
	double real;   /* likewise NAN */
};
#define FIGURE_NONE INT64_MIN
struct extra {
	struct str name;   /* "mean", a worker; data outputs put that of the metric before it */
	enum metric_id of; /* M_NONE: of no metric */
	enum unit unit;    /* UNIT_COUNT, UNIT_TIME, UNIT_BYTES or UNIT_PERCENT */
	bool whole;        /* which member of the numbers counts */
	bool total_only;   /* text leaves its own numbers out */
	union figure *own, *total; /* by shown entry */
	struct str *words;         /* likewise; not NULL: there are words instead of numbers */
};

/* Why kept entries are not shown; the first reason counts. Those of an entry that is skipped with
 * its subtree are as many as the subtree has. */
enum hidden_by {
	HIDDEN_START, /* -start_name_regexes */
	HIDDEN_DEPTH, /* -max_depth */
	HIDDEN_TRIM,  /* -trim_name_regexes */
	HIDDEN_MIN,   /* a -min_ option */
	HIDDEN_NAME,  /* -show_name_regexes, -hide_name_regexes, -device_regexes */
	HIDDEN_N
};

struct query;
struct shown_tensor;

/* The answer: shown entries in printed order. Lives in the query's arena. */
struct result {
	const struct query *q;
	enum vk kind;
	struct entry *shown;
	uint32_t n;
	struct tally root;            /* op: totals of the (unshown) root; else those of shown[0] */
	bool empty;                   /* op: there was no entry at all */
	struct shown_tensor *tensors; /* by shown entry; NULL: no checkpoint was asked */
	struct extra *extra;
	size_t n_extra;
	uint32_t hidden[HIDDEN_N]; /* how many kept entries */
};

/* One command on a model. */
struct query {
	const struct model *m;
	const struct opts *o;
	struct arena *a;
	struct notes *notes;
	const struct tree *tree;
	const struct step *step;   /* NULL: the average over steps */
	const struct step **steps; /* those that -step chooses, ascending */
	size_t n_steps;
	const struct step *only; /* not NULL: this one is chosen, whatever the options say */
	bool one_of_many;        /* a file for each of several steps is written */
	bool *workers;           /* by worker: is it chosen? NULL: all are */
	struct tally *tallies;   /* of every node of the model for the step; made if NULL */
	struct pattern_list *account, *start, *trim, *show, *hide;
	struct pattern_list *devices; /* NULL: every device will do */
	const uint32_t *set_matches;  /* by type set: how many account patterns match it */
	struct kept kept;
};

/* Facts about a view that others ask for. */
enum view_trait {
	VIEW_NODES = 1,  /* an entry is a node or leads to one; else it accounts many nodes */
	VIEW_PATHS = 2,  /* names are paths: the parent of a/b is a */
	VIEW_EDGES = 4,  /* entries follow the edges between nodes */
	VIEW_LIST = 8,   /* a list: an entry has none below it, its total is that of the rest */
	VIEW_TRACES = 16 /* lines of call stacks; needs them */
};

struct view_ops {
	const char *name;
	enum vk kind;
	unsigned traits;
	const char *doc;     /* what the Doc block prints */
	const char *help;    /* ours */
	const char *made_up; /* type of an entry that no node defines; NULL: there is none */
	/* The tree of a model, in a. Notes are those of building (once). */
	void (*build)(const struct model *m, struct tree *t, struct arena *a, struct notes *notes);
	/* Fills q->kept: what is accounted, added up (op: own sums; its totals are those of a
	 * list). Code: only where the model has traces. */
	void (*account)(struct query *q);
	/* Kept, chosen and sorted; false when a pattern gave up. */
	bool (*show)(struct query *q, struct result *r, struct err *e);
};
extern const struct view_ops views[VK_N]; /* by kind: the rows of metric/view.def */

static inline bool view_is(enum vk kind, enum view_trait trait)
{
	return (views[kind].traits & trait) != 0;
}

/* Returns the first view with the trait. */
const struct view_ops *view_with(enum view_trait trait);

#define VIEW(id, name, ...)                                                                        \
	void view_##name##_build(                                                                  \
	        const struct model *m, struct tree *t, struct arena *a, struct notes *notes);      \
	void view_##name##_account(struct query *q);                                               \
	bool view_##name##_show(struct query *q, struct result *r, struct err *e);
#include "metric/view.def"
#undef VIEW

/* Runs one command: finds the step, tallies, shows. A missing step is ERR_STEP, with a note in the
 * original's words (B§2.7). Another note reports saturated sums. */
bool view_run(const struct view_ops *v, struct query *q, struct result *r, struct err *e);

/* Adds the note about saturated sums once, for callers that add up accounted numbers. */
void view_note_stopped(struct notes *notes);

/* From here on the query's model and tree have the names that -rename gives. */
bool view_rename(struct query *q, struct err *e);

/* Does what view_run does before and after the view runs: for callers that need all accounted
 * entries and select for themselves. view_close must follow a successful view_open. */
bool view_open(struct query *q, struct err *e);
void view_close(struct query *q);

/* ---- shared steps, in the order of a query ---- */

/* How many account patterns match some type of the node. */
static inline uint32_t view_matches(const struct query *q, uint32_t node)
{
	return q->set_matches[q->m->nodes.v[node].types];
}

/* Makes q->kept of the root and the tree entries with keep[i]; the parent of each is its nearest
 * kept ancestor. Totals are left to view_sum. */
void view_keep(struct query *q, const bool *keep, const bool *accounted);

/* Op and code (B§4.5): the same of the entries that account some node, or lead to one that does; if
 * every type is accounted, of all. Fills kept.self and kept.nodes too. */
void view_keep_members(struct query *q);

/* Op and code: the own numbers of each kept entry, from q->tallies; in q->a. */
struct tally *view_sum_members(const struct query *q);

/* The n graph nodes that may count for a kept entry of op or code, in name order; those do for
 * which view_matches is not 0. */
static inline const uint32_t *view_members(const struct query *q, uint32_t kept, uint32_t *n)
{
	const struct tree *t = q->tree;
	uint32_t i = q->kept.at[kept];

	*n = t->member0[i + 1] - t->member0[i];
	return t->members + t->member0[i];
}

/* Adds up: an entry's total is its own numbers and its kept children's; the root's is its
 * children's alone. kept.self must be there by now (op, code). */
void view_sum(struct query *q);

/* Op: an entry's total is its own numbers and those of all that follow it in kept.list; the root's
 * is that of the first. */
void view_sum_list(struct query *q);

static inline struct str view_name(const struct query *q, uint32_t kept)
{
	return q->tree->name[q->kept.at[kept]];
}

/* The own numbers of a kept entry. */
const struct tally *view_self(const struct query *q, uint32_t kept);

/* Which of thresholds, depth, -show_name_regexes, -hide_name_regexes and -device_regexes hides the
 * kept entry; HIDDEN_N: none. depth counts levels from 1. The root is always shown. */
enum hidden_by view_hides(struct query *q, uint32_t kept, int64_t depth);

/* The walk of the tree views over q->kept: start, depth, trim, show, hide, re-accounting, order.
 * cut_self: a trimmed or too deep entry goes with its subtree (code); else only its descendants. */
bool view_walk(struct query *q, struct result *r, bool cut_self, struct err *e);

static inline struct str view_made_up_type(enum vk kind)
{
	return str_of(views[kind].made_up);
}

/* Is the entry, or one of the nodes that it accounts, on a device that the options ask for? */
bool view_on_device(struct query *q, uint32_t kept);

/* How many graph nodes a kept entry accounts (op, code); 0 elsewhere. */
static inline int64_t view_nodes(const struct query *q, uint32_t kept)
{
	return q->kept.nodes ? q->kept.nodes[kept] : 0;
}

/* True unless a pattern gave up. */
bool view_patterns_ok(const struct query *q, struct err *e);

/* Negative, zero, positive as kept entry a is printed before, with, after b, by -order_by; tallies
 * are those that are compared, by kept entry. */
int view_order(const struct query *q, const struct tally *tallies, uint32_t a, uint32_t b);

/* ---- the same answer with other numbers ---- */

/* The numbers that the shown entries would have if the tallies of the nodes were these (of another
 * step, another worker): what is kept, what is shown and in which order stays as it is. Own numbers
 * and totals by shown entry, in a. */
struct recompute_values {
	struct tally *own, *total;
};
struct recompute_values view_recompute(
        const struct result *r, struct tally *tallies, struct arena *a);

#endif
