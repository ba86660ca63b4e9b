/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a report: command lines whose documents the page shows. The command report writes
 * all of them into a file; the command serve answers them one by one.
 */
#ifndef TFPROF_CLI_REPORT_PARTS_H
#define TFPROF_CLI_REPORT_PARTS_H

#include "lib/flags.h"

struct report_part {
	const char *name;    /* of the document: "devices", "slices" */
	struct strs command; /* as a person types it, without "tfprof" */
	struct strs words;   /* as it is run: with all columns, without limits, as JSON */
};

struct report_parts {
	struct strs files; /* as given; of a comparison: the sides */
	bool compares;
	VEC(struct report_part) v; /* in the query arena */
};

/* Loads the files and sets the options of the views as sticky ones. Several files are one input if
 * each of them is only a part of a profile, else they are compared. */
bool report_load(struct session *s, const struct strs *files, const struct opts *o,
        struct report_parts *out);

/* Lists the parts that the loaded input has. Each call begins anew. */
void report_list(struct session *s, struct report_parts *p);

/* Writes the document of a part. On failure s->error has the reason. */
bool report_write(struct session *s, const struct strs *words, struct sink *out);

#endif
