/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries used by a build, as --version and tfp_library report them. The program adds its own.
 */
#ifndef TFPROF_LIB_LIBRARIES_H
#define TFPROF_LIB_LIBRARIES_H

#include "export/out.h"
#include "tfprof/tfprof.h"

#define LIBRARIES_MAX 16 /* room for the libraries of the program and of libtfprof */

struct libraries {
	struct tfp_library v[LIBRARIES_MAX];
	size_t n;
};

/* Lists the libraries of libtfprof. */
void libraries_list(struct libraries *l);
/* Adds a library. version may be empty, and is truncated to the available room. */
void libraries_add(struct libraries *l, const char *name, bool available, struct str version,
        const char *feature);

/* libraries_text writes the version of tfprof and the list as lines, libraries_json as a document
 * of docs/schema/version.json. */
void libraries_text(const struct libraries *l, struct sink *out);
void libraries_json(const struct libraries *l, struct sink *out, struct arena *a);

#endif
