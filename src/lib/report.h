/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a report.
 */
#ifndef TFPROF_LIB_REPORT_H
#define TFPROF_LIB_REPORT_H

#include "lib/options.h"
#include "trace/pass/ranks.h"

/* ---- report parts ----
 *
 * The parts of a report: command lines whose documents the page shows. The command report writes
 * all of them into a file; the command serve answers them one by one.
 */

struct report_part {
	const char *name;    /* name of the document: "devices", "slices" */
	struct strs command; /* command as a user types it, without "tfprof" */
	struct strs words;   /* words that are run: with all columns, without limits, as JSON */
	bool optional;       /* true: the part fails if the input lacks its data */
};

#define SLICES_SHOWN  100000 /* maximum number of rows in timelines */
#define REPORT_TRACES 16     /* maximum number of worker traces that are shown one by one */

struct report_parts {
	struct strs files; /* flags for inputs, then files, as given; for a comparison, the sides */
	enum files_as as;  /* the meaning of several files */
	bool compares;
	bool one_trace;            /* true: only the parts about the time of a trace */
	size_t slices;             /* maximum number of rows in its timeline; 0: SLICES_SHOWN */
	struct strs without;       /* names of optional parts that the input lacks */
	VEC(struct report_part) v; /* lives in the query arena */
};

/* Reads the arguments of report or serve: stores flags for inputs, such as --graph_path=FILE, in
 * *flags, and all other words in *w. Also fails if this build has no page. */
bool report_words(
        struct session *s, const struct request *r, struct strs *flags, struct option_words *w);

/* The inputs of a report. */
struct report_inputs {
	struct strs flags, files;
	enum files_as as; /* the meaning of several files */
};

/* Loads the inputs, and makes the options of the views sticky. Several files are one input if each
 * is only a part of a profile, or if they are ranks of one job; otherwise they are compared. */
bool report_load(struct session *s, const struct report_inputs *in, const struct opts *o,
        struct report_parts *out);

/* Lists the parts that the loaded input has. Each call makes the list anew. */
void report_list(struct session *s, struct report_parts *p);

/* Runs the optional parts once, to find the parts that the input lacks. Returns false if the call
 * is cancelled. */
bool report_try(struct session *s, struct report_parts *p);

/* Lists the files of the traces of several workers, at most REPORT_TRACES. */
void report_trace_paths(struct session *s, struct strs *paths);
/* Loads one of these files in a session of its own, which the caller must free. Returns NULL on
 * failure. */
struct session *report_trace_open(
        struct session *s, const struct strs *paths, size_t i, struct report_parts *parts);

/* Writes the document of a part. On failure, s->error has the reason. */
bool report_write(struct session *s, const struct strs *words, struct sink *out);

#endif
