/* SPDX-License-Identifier: Apache-2.0
 *
 * Views: select nodes of a model, add up their numbers, produce a result. A view writes only in the
 * arena of its query and never prints; lines that the original prints on standard error become
 * notes.
 */
#ifndef TFPROF_VIEW_VIEW_H
#define TFPROF_VIEW_VIEW_H

#include "base/pattern.h"
#include "metric/opts.h"
#include "model/model.h"

/* ---- trees ----
 *
 * Trees as arrays in pre-order: the subtree of entry i is the range from i to end[i] (exclusive).
 * Totals are computed in a loop from the last entry to the first. A walk needs no recursion and
 * skips a subtree by continuing at end[i].
 *
 *   entry   0 root | 1 a | 2 a/b | 3 a/c | 4 d
 *   parent  NONE     0     1       1       0
 *   end     5        4     3       4       5
 */

/* The structure of a view. It depends only on the model, and is built once and cached. */
struct tree {
	enum vk kind;
	uint32_t n; /* number of entries; entry 0 is the root */
	uint32_t *parent, *end;
	struct str *name; /* full node name, op type or trace string; the bytes belong to the model
	                     or to the tree's arena */
	uint32_t *node;   /* scope and graph: node of the model, ID_NONE for a scope without a node;
	                     otherwise NULL */
	/* For op and code, otherwise NULL. Graph nodes of entry i, in name order:
	 * members[member0[i]] .. members[member0[i + 1]]. entry_of, indexed by node: its entry, or
	 * ID_NONE. */
	uint32_t *member0, *members, *entry_of;
	uint32_t *frame; /* code: the entry's first frame in the model, ID_NONE for the root;
	                    otherwise NULL */
	bool *gradient;  /* code: true if " (gradient)" was appended to the name; otherwise NULL */
};

/* A tree under construction: entries in any order, each with its parent. */
struct tree_nodes {
	struct arena *a;      /* arena for scratch data */
	VEC(uint32_t) parent; /* entry 0 is the root; its parent is ID_NONE */
};

/* Computes the pre-order of the entries: order[k] is entry k in pre-order. Fills t->n, t->parent
 * and t->end, in a. siblings: the entries from 1 on, sorted so that the children of each parent are
 * in the desired order; NULL: order of creation. */
uint32_t *tree_order(
        struct tree *t, const struct tree_nodes *from, const uint32_t *siblings, struct arena *a);

/* Builds a tree from child lists: first child and next sibling of each entry, or ID_NONE. */
uint32_t *tree_order_links(struct tree *t, const struct tree_nodes *from, const uint32_t *first,
        const uint32_t *next, struct arena *a);

/* Computes t->member0 and t->members from t->entry_of. */
void tree_members(struct tree *t, const struct model *m, struct arena *a);

#define ROOT_NAME       S("_TFProfRoot")
#define GRADIENT_SUFFIX S(" (gradient)") /* of entries of the view code */

/* Returns the entry of the line that a node comes from, in the tree of the view code: the innermost
 * frame with a source file, otherwise the innermost frame. ID_NONE: the node has no call stack. */
uint32_t view_line_of(const struct model *m, const struct tree *code, uint32_t node);

/* Makes a tree of the kind of code without call paths, in a: one entry for each source line, with
 * the nodes that the line created and their gradients. */
struct tree *view_lines(const struct model *m, const struct tree *code, struct arena *a);

/* The accounted structure: entries that count or lead to entries that count, in pre-order, with
 * their totals. Entry 0 is the root. Lives in the query's arena. */
struct kept {
	uint32_t n;
	uint32_t *at;           /* entry of the tree */
	uint32_t *parent, *end; /* index of a kept entry */
	bool *accounted;
	struct tally *total; /* if requested, totals of shown entries include only shown entries */
	bool *start;         /* tree views: true for an entry at which the answer starts */
	/* For op and code, otherwise NULL. Entry i accounts the members of at[i] for which
	 * view_matches is not 0; see view_members. */
	struct tally *self; /* sums over these members; Quirk 13: a node counts once for each
	                       pattern */
	uint32_t *nodes;    /* number of these members, each counted once */
	uint32_t *list;     /* op, otherwise NULL: entries 1 .. n - 1 in list order */
};

/* One shown line. */
struct entry {
	uint32_t kept;   /* index of the kept entry */
	uint32_t parent; /* index of the shown entry; ID_NONE for the first */
	uint32_t end;    /* index after its last shown descendant */
	uint32_t depth;  /* number of shown ancestors; op: the parent of entry i is i - 1 */
	uint32_t folded; /* number of entries above it that share this line (query.fold) */
	uint32_t first;  /* the first of these: index of the kept entry */
	bool accounted;
	const struct tally *self, *total; /* point into the query */
};

/* A column besides the metrics: a statistic over steps, or a worker. Outputs show these columns
 * after the metrics, in this order. Lives in the query's arena. */
union figure {
	int64_t whole; /* FIGURE_NONE: no value */
	double real;   /* NAN: no value */
};
#define FIGURE_NONE INT64_MIN
struct extra {
	struct str name;           /* "mean", or a worker; data outputs prefix the metric */
	enum metric_id of;         /* M_NONE: the column has no metric */
	enum unit unit;            /* UNIT_COUNT, UNIT_TIME, UNIT_BYTES or UNIT_PERCENT */
	bool whole;                /* true: the member `whole` of the numbers is shown */
	bool total_only;           /* true: text omits own numbers */
	union figure *own, *total; /* indexed by shown entry */
	struct str *words; /* indexed by shown entry; NULL if the column has numbers instead of
	                      texts */
};

/* Reasons for hiding kept entries; the first reason counts. An entry that is skipped with its
 * subtree counts as all entries of the subtree. */
enum hidden_by {
	HIDDEN_START, /* -start_name_regexes */
	HIDDEN_DEPTH, /* -max_depth */
	HIDDEN_TRIM,  /* -trim_name_regexes */
	HIDDEN_MIN,   /* a -min_ option */
	HIDDEN_TOP,   /* -top */
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
	struct tally root; /* op: totals of the (hidden) root; otherwise the totals of shown[0] */
	bool empty;        /* op: true if the answer has no entries */
	struct shown_tensor *tensors; /* indexed by shown entry; NULL: no checkpoint is read */
	struct extra *extra;
	size_t n_extra;
	uint32_t hidden[HIDDEN_N]; /* numbers of kept entries */
	struct tally deep;         /* own numbers of the entries that -max_depth hides */
};

/* One command on a model. */
struct query {
	const struct model *m;
	const struct opts *o;
	struct arena *a;
	struct notes *notes;
	const struct tree *tree;
	const struct trace *recording; /* timelines: the data to draw; NULL: the result itself */
	const struct step *step;       /* NULL: average over steps */
	const struct step **steps;     /* steps selected by -step, ascending */
	size_t n_steps;
	const struct step *only; /* if not NULL, replaces the steps that the options select */
	bool fold;               /* true: an entry without numbers of its own and with one child
	                            shares the child's line */
	bool types_renamed;      /* true: view_rename_types has been called */
	bool one_of_many;        /* true: one of several files, each for a step, is written */
	bool *workers;           /* indexed by worker: true if selected; NULL: all are */
	struct tally *tallies;   /* numbers of every node of the model in the steps; computed if
	                            NULL */
	int64_t over;            /* number by which totals are divided (see model_steps) */
	struct pattern_list *account, *start, *trim, *show, *hide;
	struct pattern_list *devices; /* NULL: any device matches */
	const uint32_t *set_matches;  /* indexed by type set: number of account patterns that match
	                                 it */
	struct kept kept;
};

/* Facts about a view for other modules. */
enum view_trait {
	VIEW_NODES = 1,  /* an entry is a node or leads to one; otherwise it accounts many nodes */
	VIEW_PATHS = 2,  /* names are paths: the parent of a/b is a */
	VIEW_EDGES = 4,  /* entries follow the edges between nodes */
	VIEW_LIST = 8,   /* a list: entries have no children, and a total includes all following
	                    entries */
	VIEW_TRACES = 16 /* lines of call stacks; needs call stacks */
};

struct view_ops {
	const char *name;
	enum vk kind;
	unsigned traits;
	const char *doc;     /* text for the Doc block */
	const char *help;    /* help text of tfprof */
	const char *made_up; /* type of an entry that no node defines; NULL if there is none */
	/* Builds the tree of a model, in a, with its notes. Called once. */
	void (*build)(const struct model *m, struct tree *t, struct arena *a, struct notes *notes);
	/* Fills q->kept: the accounted entries with their sums (op: only own sums, because its
	 * totals depend on the list). For code: only if the model has call stacks. */
	void (*account)(struct query *q);
	/* Keeps, selects and sorts the entries. Returns false if matching a pattern failed. */
	bool (*show)(struct query *q, struct result *r, struct err *e);
};
extern const struct view_ops views[VK_N]; /* indexed by kind: the rows of metric/view.def */

static inline bool view_is(enum vk kind, enum view_trait trait)
{
	return (views[kind].traits & trait) != 0;
}

/* Returns the first view with a trait. */
const struct view_ops *view_with(enum view_trait trait);

#define VIEW(id, name, ...)                                                                        \
	void view_##name##_build(                                                                  \
	        const struct model *m, struct tree *t, struct arena *a, struct notes *notes);      \
	void view_##name##_account(struct query *q);                                               \
	bool view_##name##_show(struct query *q, struct result *r, struct err *e);
#include "metric/view.def"
#undef VIEW

/* Runs one command: finds the step, adds up the numbers, and shows the entries. A missing step is
 * ERR_STEP, with a note in the original's words. Another note reports saturated sums. */
bool view_run(const struct view_ops *v, struct query *q, struct result *r, struct err *e);

/* Limits the number of shown entries to -top: keeps the first entries of a list; in a tree, keeps
 * the entries with the largest totals and the entries above them. */
void view_limit(struct result *r);

/* Adds the note about saturated sums once, for callers that add up accounted numbers. */
void view_note_stopped(struct notes *notes);

/* Applies -rename to the query's model and tree. */
bool view_rename(struct query *q, struct err *e);
/* Groups the nodes of the view op by their renamed types, if there are rules. */
bool view_rename_types(struct query *q, struct err *e);

/* view_open and view_close are the parts of view_run before and after the view runs, for callers
 * that need all accounted entries and select by themselves. view_close must follow a successful
 * view_open. */
bool view_open(struct query *q, struct err *e);
void view_close(struct query *q);

/* ---- shared steps, in the order of a query ---- */

/* Returns the number of account patterns that match a type of the node. */
static inline uint32_t view_matches(const struct query *q, uint32_t node)
{
	return q->set_matches[q->m->nodes.v[node].types];
}

/* Makes q->kept from the root and the tree entries for which keep[i] is true. The parent of each is
 * its nearest kept ancestor. view_sum computes the totals. */
void view_keep(struct query *q, const bool *keep, const bool *accounted);

/* For op and code: keeps the entries that account nodes, or lead to such entries; all entries if
 * every type is accounted. Also fills kept.self and kept.nodes. */
void view_keep_members(struct query *q);

/* Op and code: returns the own numbers of each kept entry, from q->tallies; in q->a. */
struct tally *view_sum_members(const struct query *q);

/* Returns the n graph nodes of a kept entry of op or code, in name order. Nodes for which
 * view_matches is not 0 count. */
static inline const uint32_t *view_members(const struct query *q, uint32_t kept, uint32_t *n)
{
	const struct tree *t = q->tree;
	uint32_t i = q->kept.at[kept];

	*n = t->member0[i + 1] - t->member0[i];
	return t->members + t->member0[i];
}

/* Adds up the totals: an entry's total is the sum of its own numbers and its kept children's
 * totals; the root's total is the sum of its children's totals alone. Requires kept.self (op,
 * code). */
void view_sum(struct query *q);

/* For op: the total of an entry is the sum of its own numbers and the numbers of all following
 * entries of kept.list; the total of the root is the total of the first entry. */
void view_sum_list(struct query *q);

/* Returns a value of an entry or of the root. */
static inline struct fraction view_value(const struct query *q, const struct tally *t, enum value v)
{
	return model_fraction(q->m, q->over, v, t->v[v]);
}

/* True if a value may have a fraction in this answer, as times of traces and averages over their
 * steps do. */
static inline bool view_has_fractions(const struct query *q, enum value v)
{
	return model_fraction(q->m, q->over, v, 0).per > 1;
}

static inline struct str view_name(const struct query *q, uint32_t kept)
{
	return q->tree->name[q->kept.at[kept]];
}

/* Returns the metric that orders by time: micros. If threads and devices run at the same time,
 * returns the device time, or the host time for a file without device work. */
enum metric_id view_time_metric(const struct model *m);

/* Returns the value of the parallel time, which orders entries with equal numbers: host time for
 * device time and the reverse. Returns V_NONE if there is none, or if times are added up. */
enum value view_other_time(const struct model *m, enum value of);

/* Returns the own numbers of a kept entry. */
const struct tally *view_self(const struct query *q, uint32_t kept);

/* Returns the reason that hides the kept entry: thresholds, depth, -show_name_regexes,
 * -hide_name_regexes or -device_regexes; HIDDEN_N: none. depth counts levels from 1. The root is
 * always shown. */
enum hidden_by view_hides(struct query *q, uint32_t kept, int64_t depth);

/* Walks q->kept for the tree views: start, depth, trim, show, hide, re-accounting, order. cut_self:
 * true if a trimmed or too deep entry is dropped with its subtree (code); otherwise only its
 * descendants are dropped. */
bool view_walk(struct query *q, struct result *r, bool cut_self, struct err *e);

static inline struct str view_made_up_type(enum vk kind)
{
	return str_of(views[kind].made_up);
}

/* True if the entry, or one of its accounted nodes, is on a device that the options select. */
bool view_on_device(struct query *q, uint32_t kept);

/* Returns the number of graph nodes that a kept entry accounts (op, code); 0 for other views. */
static inline int64_t view_nodes(const struct query *q, uint32_t kept)
{
	return q->kept.nodes ? q->kept.nodes[kept] : 0;
}

/* True unless matching a pattern failed. */
bool view_patterns_ok(const struct query *q, struct err *e);

/* Compares kept entries a and b by -order_by. Returns a negative number, zero or a positive number
 * if a is printed before, with or after b. tallies: the numbers to compare, indexed by kept
 * entry. */
int view_order(const struct query *q, const struct tally *tallies, uint32_t a, uint32_t b);

/* ---- an answer with other numbers ---- */

/* Computes the numbers of the shown entries from other tallies of the nodes (another step, another
 * worker); selection and order stay the same. Returns own numbers and totals, indexed by shown
 * entry, in a, not divided by the number of steps. */
struct recompute_values {
	struct tally *own, *total;
};
struct recompute_values view_recompute(
        const struct result *r, struct tally *tallies, struct arena *a);

#endif
