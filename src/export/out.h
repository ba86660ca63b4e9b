/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes results in the output formats. Binds the rows of output.def to functions, and declares the
 * functions that the outputs share: text, call stacks, rows, differences, tensors.
 */
#ifndef TFPROF_EXPORT_OUT_H
#define TFPROF_EXPORT_OUT_H

#include "export/data/sheet.h"
#include "io/line.h"
#include "view/advise.h"
#include "compare/difference.h"
#include "compare/gate.h"
#include "checkpoint/ckpt.h"
#include "view/view.h"

struct input_role;

/* The source of an answer, as documents show it. */
struct source {
	const struct input_role *is;
	struct str path; /* path as the user gave it; for data in memory, its name, or empty */
	int64_t step;    /* for run metadata: its step */
};
struct origin {
	const struct source *v;
	size_t n;
	const struct notes *loading;  /* notes that were added while loading */
	unsigned about;               /* NOTE_BIT bits of those that concern the answer */
	const struct notes *building; /* notes that were added while the view's tree was built;
	                                 NULL: none */
	size_t built; /* number of the command's notes that repeat notes of building, because the
	                 command built the tree */
};

/* The destination of an output. */
struct emit {
	bool person;         /* true: the answer goes to a terminal, so names of written files are
	                        printed */
	struct arena *a;     /* scratch arena of the query */
	struct sink *out;    /* standard output: text, and messages about written files */
	struct notes *notes; /* lines for standard error */
	struct origin from;
	bool arrays; /* true: rows of documents are parallel arrays, for the page */
	bool cells;  /* true: tables are written as lines with cells, for a full screen */
};

/* Prints the path of the written output, if the answer goes to a terminal. Returns true. */
struct output;
bool out_tell(const struct output *o, const struct emit *to);

/* ---- results and exports ---- */

/* Kinds of results. */
enum {
	RESULT_VIEW = 1,
	RESULT_ADVICE = 2,
	RESULT_DIFF = 4,
	RESULT_GPU = 8, /* tables of recordings, of traces and of nodes */
	RESULT_CHECKPOINT = 16,
	RESULT_MODEL = 32, /* everything that is loaded: convert */
	RESULT_SUMMARY = 64
};

/* A result in the form that exports use. Its functions write the forms; NULL: the result lacks the
 * form. */
struct exported {
	unsigned kind;    /* a RESULT_ bit */
	const char *name; /* name of the command, used in sentences */
	const void *of;   /* struct result, struct diff_answer, ...; depends on kind */
	const struct output *output;
	bool (*text)(const struct exported *x, struct sink *s, struct emit *to, struct err *e);
	bool (*document)(const struct exported *x, struct sink *s, struct emit *to, struct err *e);
	bool (*rows)(const struct exported *x, enum sheet_form form, struct sink *s,
	        struct emit *to, struct err *e);
	bool (*files)(const struct exported *x, struct emit *to, struct err *e);
};

/* Writes the result in its output, by the row of output.def; fails if the output does not accept
 * such results. */
bool out_export(const struct exported *x, struct emit *to, struct err *e);

/* The functions of each row: the function that writes, and the function that returns the reason for
 * refusing a view (empty: accepted). */
#define ROW(id, name, keys, required, flags, takes, others, accepts, write, help)                  \
	struct str accepts(const struct view_ops *v, const struct query *q);                       \
	bool write(const struct exported *x, struct emit *to, struct err *e);
/* clang-format off */
#include "metric/output.def"
/* clang-format on */
#undef ROW

/* True if the view can feed the output of the options. Otherwise adds a note with the reason in the
 * original's words, and sets *e to ERR_STEP. Must be called before the view runs. Returns true for
 * a missing step or missing traces, because the view itself reports these first. */
bool out_accepts(const struct view_ops *v, const struct query *q, struct err *e);

/* Writes the answer of a view in the output q->o->output, which out_accepts must have accepted. */
bool out_write(const struct result *r, struct emit *to, struct err *e);

/* Writes the graph timelines of an average: one file for each of its steps. */
bool timeline_steps(const struct query *q, struct emit *to, struct err *e);

/* True for rows of numbers: csv, json, md, ndjson. */
bool out_is_data(enum output_kind kind);

/* Write the answer of a view and advice in data forms (data.c). */
bool data_rows(const struct exported *x, enum sheet_form form, struct sink *s, struct emit *to,
        struct err *e);
bool data_document(const struct exported *x, struct sink *s, struct emit *to, struct err *e);
bool data_advice(const struct advice *advice, const struct opts *o, struct emit *to, struct err *e);

/* ---- messages ---- */

/* Returns the result as a serialized GraphNodeProto (scope, graph) or MultiGraphNodeProto (op,
 * code). */
bool result_write(const struct result *r, struct sink *to, struct err *e);

/* Writes the message that replaces a result refused by out_accepts: it contains only the name of
 * the root. */
void result_write_refused(struct sink *to);

/* Returns advice as a serialized AdviceProto. */
void advice_write(const struct advice *advice, struct sink *to, struct arena *scratch);

/* Writes the model as a serialized ProfileProto. Unknown inputs are omitted, with a note. */
bool profile_write(
        const struct model *m, struct sink *to, struct arena *scratch, struct notes *notes);

/* Writes the model as a baseline (model/read/read_baseline.c): a text with names, types and
 * numbers. */
#define BASELINE_COMMAND "# command: "
#define BASELINE_HOST    "# host: "
#define BASELINE_DEVICES "# devices: "
struct baseline_facts { /* comment lines at the beginning; empty: unknown */
	struct str command, host, devices;
};
void baseline_write(const struct model *m, const struct baseline_facts *facts, struct sink *to,
        struct arena *a);

/* Write one step as a serialized RunMetadata, and the nodes as a GraphDef. Fail also if the file
 * would be too large for readers. */
bool run_write(const struct model *m, const struct step *s, struct sink *to, struct arena *scratch,
        struct notes *notes, struct err *e);
bool graph_write(const struct model *m, struct sink *to, struct arena *scratch);

/* ---- parts of text answers ---- */

/* Writes the missing-stream notice, the Doc block and "Profile:". */
void doc_write(struct sink *to, struct arena *a, const struct query *q);

void text_tree(const struct result *r, struct sink *to, struct arena *a); /* scope, graph, code */
void text_op(const struct result *r, struct sink *to, struct arena *a);
void text_advice(const struct advice *advice, struct arena *a, struct sink *to);

/* Shared by the text outputs: each appends one cell. Counts and sizes of inputs that the original
 * cannot read have three digits and the next unit. */
void text_quantity(
        struct sb *b, const struct query *q, enum unit u, struct fraction f, const char *suffix);
void text_shape(struct sb *b, const struct model *m, uint32_t shape); /* "3x3x6"; empty if
                                                                         unknown */
void text_types(struct sb *b, const struct model *m, uint32_t set);   /* "a|b" */
void text_words(struct sb *b, const struct strs *words);              /* "a|b" */
/* Returns the name of a node as text shows it: in traces and recordings, names of C++ functions are
 * reduced, unless -full_names is given. */
struct str text_name(const struct result *r, struct str name, struct arena *a);
void text_inputs(struct sb *b, const struct model *m, uint32_t node,
        const char *between); /* "0:3x3|1:unknown" */

/* Appends one input. i: an index into the model's inputs. */
void text_input(struct sb *b, const struct model *m, uint32_t node, uint32_t i);

/* Returns the total of an entry as a percentage of the root's total, in the metric of -order_by,
 * otherwise of the first column. Also returns it as text, "57.35%". */
double text_share(
        const struct result *r, const struct entry *x, const enum metric_id *columns, size_t n);
void text_percent(struct sb *b, const struct result *r, const struct entry *x,
        const enum metric_id *columns, size_t n);

/* For graph: returns the number of kept nodes between the entry and the nearest shown entry above
 * it, or its start. */
uint32_t text_hidden_above(const struct result *r, const struct entry *x);

/* The columns of a text answer. */
struct text_columns {
	enum metric_id id[M_N];
	size_t n;
	enum metric_id share; /* metric of a line's share; M_NONE: no share */
};
/* Selects the columns. On a terminal, leaves out the columns in which every shown number is 0,
 * unless all columns are 0. Returns the names of the columns that were left out, in the result's
 * arena. */
struct str text_columns_init(struct text_columns *c, const struct result *r, const struct sink *to);
/* Writes the names of the columns that were left out, if any. */
void text_left_out(const struct result *r, struct str zero, struct sink *to);

/* Writes the heading: the names of all columns, including extra ones. */
void text_legend(struct line_build *b, const struct result *r, const struct text_columns *c,
        struct sink *to);

/* text_tree_lines and text_op_lines write the lines of n shown entries, for a caller that shows a
 * part of a result at a time. c comes from text_columns_init. */
void text_tree_lines(const struct result *r, const struct text_columns *c, const uint32_t *shown,
        size_t n, struct sink *to, struct arena *a); /* scope, graph, code */
void text_op_lines(const struct result *r, const struct text_columns *c, const uint32_t *shown,
        size_t n, struct sink *to, struct arena *a);

/* Sets share, whole and dim of an entry's line. */
void text_rate(struct line *l, const struct result *r, const struct entry *x,
        const struct text_columns *c);

/* Appends "own/total" of the shown entry i, or "--/total". */
void text_extra(struct sb *b, const struct result *r, const struct extra *x, uint32_t i);

/* Ends the line of an entry: appends the columns that are not metrics, and the share. fields: true
 * if the line already has fields. */
void text_end_row(struct line_build *b, bool fields, const struct result *r, const struct entry *x,
        const struct text_columns *c, struct sink *to);

/* Appends a number of an entry: "?" if no part of it is known, with "≥" before it if some parts are
 * unknown. */
void text_number(struct sb *b, const struct result *r, const struct metric *m,
        const struct tally *t, const char *suffix);
/* Appends "self/total", or "--/total" if the entry is not accounted. */
void text_pair(struct sb *b, const struct result *r, const struct metric *m, const struct entry *x);

/* ---- stacks ----
 *
 * A result as call stacks: one number for each shown entry. The numbers add up to the total of the
 * root.
 */

/* Returns the number of parts into which a microsecond or 1 is divided, because stacks need whole
 * numbers and times of traces are in nanoseconds. */
static inline int64_t stacks_parts(const struct result *r, enum value v)
{
	return value_is_time(v) && model_ticks(r->q->m) > 1 ? 1000 : 1;
}

/* Returns a number for each shown entry: its total minus the totals of the shown entries below it;
 * in the view op its own number. Rounds fractions so that the rounded numbers add up to the rounded
 * total. The array lives in the query's arena. */
int64_t *stacks_values(const struct result *r, enum value v);

/* Returns the name of the unit of the numbers. */
struct str stacks_unit(const struct result *r, enum metric_id m);

/* Returns the selected metric that has a unit for pprof; M_NONE if there is none or several. */
enum metric_id stacks_metric(const struct opts *o);

/* Returns the graph node of a shown entry, or ID_NONE. */
uint32_t stacks_node(const struct result *r, uint32_t shown);

/* True if the shown parent of an entry is the entry's caller in the stack. False for entries
 * directly below the root. */
static inline bool stacks_has_parent(const struct result *r, uint32_t shown)
{
	return !view_is(r->kind, VIEW_LIST) && r->shown[shown].parent != ID_NONE &&
	       r->shown[r->shown[shown].parent].parent != ID_NONE;
}

/* True if the shown entry is a frame. The root of a tree is not. */
static inline bool stacks_is_frame(const struct result *r, uint32_t shown)
{
	return view_is(r->kind, VIEW_LIST) || r->shown[shown].parent != ID_NONE;
}

/* Writes a result as a pprof profile with all its numbers (pprof_tree.c). */
bool pprof_tree_write(const struct result *r, enum metric_id m, struct sink *to);

/* ---- differences ---- */

struct diff_answer {
	const struct diff *d;
	const struct view_ops *view;
	const struct strs *words; /* arguments that name the sides */
	const struct strs *names; /* printed names of the sides */
	int64_t min_size;
	size_t top; /* maximum number of rows in text; 0: all */
	bool per_run;
	bool legacy; /* true: use the older text layout */
	const struct gate_result *gates;
	size_t n_gates;
	bool allow_inconclusive; /* inconclusive gates do not fail the command */
};

/* Writes a difference in the selected output. For a timeline, the metrics must include micros. */
bool diff_write(const struct diff_answer *x, struct emit *to, struct err *e);

bool text_diff(const struct exported *x, struct sink *s, struct emit *to, struct err *e);
bool document_diff(const struct exported *x, struct sink *s, struct emit *to, struct err *e);
bool rows_diff(const struct exported *x, enum sheet_form form, struct sink *s, struct emit *to,
        struct err *e);
bool timeline_diff(const struct diff_answer *x, struct emit *to, struct err *e);

/* Appends value k of a row: " (left:6220MB right:2840MB) +3380MB x2.2". Several values have names
 * and are separated by commas. */
void text_diff_numbers(struct sb *b, const struct diff_answer *x, uint32_t row, uint32_t k);

/* Appends the name of a row, and the other name if the node was renamed. */
void diff_name(struct sb *b, const struct diff *d, uint32_t row);

/* ---- rows ----
 *
 * A result as rows of a sheet: its columns and cells. Numbers are integers in base units.
 * Independent of the output format.
 *
 *   -by worker: worker | path, parent, depth | code: file, line, function, gradient
 *   | type, types, device, accounted | op, code: nodes
 *   | own_ and total_ (op: also cumulative_) of each metric | columns of -stats and others
 *
 * path is unique in an answer, or with -by worker among the rows of a worker. It is the node name
 * in scope and graph, the type in op, and the lines from the outermost one, joined by '/', in code.
 */

/* ---- members ---- */

/* Types and devices of the graph nodes of an entry of op or code, without duplicates, in byte
 * order. Independent of the output format. */

struct members {
	const struct query *q;
	struct arena *a;
	/* indexed by id: 1 + the last entry that listed the id */
	uint32_t *sets_seen, *types_seen, *devices_seen;
	struct strs words; /* result of the last call */
	VEC(uint32_t) order;
};

void members_init(struct members *x, const struct query *q, struct arena *a);

/* Resets the state. Must be called before the entries are processed again. */
void members_again(struct members *x);

/* Return the types and the devices of the accounted nodes of a kept entry, valid until the next
 * call. A node without a device counts as the empty string. */
const struct strs *members_types(struct members *x, uint32_t kept);
const struct strs *members_devices(struct members *x, uint32_t kept);

struct row_cell;
struct rows {
	const struct result *r;
	struct arena *a;
	struct members members;
	enum metric_id metrics[M_N]; /* selected metrics */
	size_t n_metrics;
	VEC(struct column) columns; /* columns of the sheet */
	VEC(struct row_cell) cells; /* contents of the columns */
	struct arena *row;          /* memory of the current row */
	uint32_t *paths;            /* for each shown entry: the index of its path in the strings of
	                               SHEET_ARRAYS; or NULL */
	bool by_worker;             /* true: each worker has separate rows */
	/* If by_worker: the worker of the current row, its numbers, and their divisor. */
	int64_t over;
	uint32_t worker;
	struct recompute_values numbers;
};

void rows_open(struct rows *x, const struct result *r, struct arena *a);
void rows_write(struct rows *x, struct sheet *to);

/* ---- tensors ----
 *
 * Values of checkpoint tensors: as text after the line of a node, and as protobuf messages in a
 * result.
 */

/* The tensor of a shown entry; empty if the entry has none. Lives in the query's arena. */
struct shown_tensor {
	struct str text;    /* ends in a newline */
	struct str message; /* bytes of a TFProfTensorProto, if requested */
};

/* Looks up every shown entry of scope and graph except the root, and stores the tensors in
 * r->tensors. Adds a note for each missing or unreadable tensor, in the original's order. Returns
 * false only if cancelled. */
void tensors_read(struct result *r, struct ckpt *c, bool messages);

/* Selects the data to read of a tensor. limit: maximum number of values in the text, which states
 * the number of omitted values; negative: no limit. */
struct tensor_want {
	int64_t limit;
	bool message;
};
bool tensor_read(struct ckpt *c, const struct ckpt_tensor *t, const struct tensor_want *want,
        struct arena *a, struct shown_tensor *out, struct err *e);

/* ---- statistics of a tensor, collected piece by piece (tensor_stats.c) ---- */
struct tensor_stats {
	int64_t n, zeros, nans, infinities; /* finite values: n - nans - infinities */
	double min, max, mean, m2;
	size_t shortest, longest; /* lengths of the shortest and the longest string */
};
void tensor_stats_add(struct tensor_stats *s, const struct dtype *d, const struct ckpt_values *v);
/* Appends the statistics as one line. */
void tensor_stats_put(struct sb *b, const struct dtype *d, const struct tensor_stats *s);

#endif
