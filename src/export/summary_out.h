/* SPDX-License-Identifier: Apache-2.0
 *
 * The summary of the inputs: one screen of text, Markdown, or a document.
 */
#ifndef TFPROF_EXPORT_SUMMARY_OUT_H
#define TFPROF_EXPORT_SUMMARY_OUT_H

#include "device/memory_use.h"
#include "export/table/table.h"
#include "trace/pass/flops_sums.h"
#include "view/facts.h"

/* ---- hottest out ---- The hottest entries of a view as a table: own number, share, cumulative
 * share, calls, mean. Beside device time the table has the host time, and the reverse, each with
 * its own share. */

#define HOTTEST_COLUMNS 10

struct hottest_table {
	struct table x; /* the caller sets key and schema */
	struct column columns[HOTTEST_COLUMNS];
	const char *titles[HOTTEST_COLUMNS];
	size_t type; /* index of the column "type" */
};

/* Fills the table with the first `top` rows (0: all) of h, for the metric m, whose value is h->of.
 * brief: text has only number, share, calls, mean and name. q names the entries. */
void hottest_fill(struct hottest_table *t, const struct query *q, const struct hottest *h,
        enum metric_id m, size_t top, bool brief);

/* ---- summary out ---- */

#define SUMMARY_ROWS    5 /* number of the hottest operation types, and of nodes */
#define SUMMARY_MISSING 8

/* An input that is not loaded, and instructions for obtaining it. */
struct missing {
	const char *what, *how;
};

/* Data about the loaded checkpoint. */
struct checkpoint_summary {
	struct str path;
	size_t tensors;
	int64_t elements;
	uint64_t bytes;
	bool found; /* true: a checkpoint is loaded */
};

/* The verdict of why. */
struct summary_verdict {
	struct str sentence, cause; /* sentence and id; p NULL: why was not run */
	int64_t step_ns; /* mean step by the device's work; 0: the source marks no steps */
	bool left_out;   /* because it takes long */
};

/* All data that the page shows. */
struct summary_page {
	const struct model *m;
	const struct origin *from;
	struct facts facts;
	struct checkpoint_summary checkpoint;
	struct hottest_table ops, nodes;
	struct summary_verdict verdict;
	/* Of all nodes, of an average step. */
	struct fraction host_us, device_us, float_ops, requested_bytes;
	bool bounded;      /* float_ops is an upper bound */
	int64_t uncounted; /* number of calls in all steps whose float operations are unknown */
	struct flops_coverage coverage;
	const struct memory_pool
	        *pool;  /* of snapshots: the pool with the largest peak; NULL: none */
	size_t waiting; /* number of files that are read when a command needs them */
	struct missing missing[SUMMARY_MISSING];
	size_t n_missing;
	struct strs next; /* suggested commands */
	bool prompt;      /* true: the commands are lines for the prompt, not for a shell */
	unsigned columns; /* width of the terminal; 0: none */
	size_t rows;      /* maximum number of rows in each table; SIZE_MAX: all */
};

/* Writes the page in the selected output. */
bool summary_page_write(
        const struct summary_page *p, const struct output *o, struct emit *to, struct err *e);

/* Returns the format of a source and the program that wrote it, in a. */
struct str summary_format(const struct summary_page *p, const struct source *s, struct arena *a);

/* Writes the page as a document; a function of struct exported. */
bool summary_document(const struct exported *x, struct sink *s, struct emit *to, struct err *e);

/* Writes only the text of the page. */
void summary_page_text(const struct summary_page *p, struct arena *a, struct sink *to);

#endif
