/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the tests of outputs: a model written as the text of a ProfileProto, options, an
 * answer, and its output files in a separate folder.
 */
#ifndef TFPROF_TESTS_OUT_RIG_H
#define TFPROF_TESTS_OUT_RIG_H

#include "export/out.h"
#include "reader_rig.h"

struct out_rig {
	struct rig g;
	struct opts o;
	struct tree trees[VK_N];
	bool built[VK_N];
	struct query q; /* the last query */
	struct result r;
	struct sink *out; /* standard output of the last query */
	char folder[32];
};

void out_open(struct out_rig *x, const char *profile);
void out_close(struct out_rig *x); /* removes the folder */
void out_set(struct out_rig *x, const char *name, const char *value);
/* -output <kind>:outfile=<folder>/<name> */
void out_to(struct out_rig *x, const char *kind, const char *name);
bool out_view(struct out_rig *x, enum vk kind);           /* the answer, not yet written */
bool out_request(struct out_rig *x, enum vk kind);        /* runs a view and writes its answer */
struct str out_file(struct out_rig *x, const char *name); /* fails the test if it is missing */
int out_files(struct out_rig *x);                         /* number of files in the folder */
struct str out_notes(struct out_rig *x);                  /* notes since the last call */

#define assert_text(s, z)                                                                          \
	do {                                                                                       \
		struct str found_ = (s), want_ = str_of(z);                                        \
		if (!str_eq(found_, want_))                                                        \
			print_message("found: %.*s\nwanted: %.*s\n", STR(found_), STR(want_));     \
		assert_true(str_eq(found_, want_));                                                \
	} while (0)

#endif
