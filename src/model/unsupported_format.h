/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that people have beside the ones that are read: what they are, and what to do. Opens
 * nothing.
 */
#ifndef TFPROF_MODEL_UNSUPPORTED_FORMAT_H
#define TFPROF_MODEL_UNSUPPORTED_FORMAT_H

#include "base/err.h"

/* Parts of a sentence. */
struct unsupported_format {
	const char *what, *cure;
};

/* Returns the format of a file by its first decompressed bytes and its path; NULL: none that is
 * known. */
const struct unsupported_format *unsupported_format_find(struct str head, struct str path);

/* Says so in *e; returns false. */
bool unsupported_format_refuse(const struct unsupported_format *f, struct str path, struct err *e);

#endif
