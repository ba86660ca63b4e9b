/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON schemas of documents (docs/schema), which the build puts into the library.
 */
#ifndef TFPROF_LIB_SCHEMAS_H
#define TFPROF_LIB_SCHEMAS_H

struct schema {
	const char *name; /* name such as "why"; NULL in the last element */
	const char *text;
};
extern const struct schema schemas[];

#endif
