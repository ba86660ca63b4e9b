/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of known formats that tfprof does not read: their names, and suggestions. Opens no file.
 */
#ifndef TFPROF_MODEL_UNSUPPORTED_FORMAT_H
#define TFPROF_MODEL_UNSUPPORTED_FORMAT_H

#include "base/err.h"

/* Parts of a sentence. */
struct unsupported_format {
	const char *what, *cure;
};

/* Returns the format of a file by its first decompressed bytes and its path; NULL if unknown. */
const struct unsupported_format *unsupported_format_find(struct str head, struct str path);

/* Fills *e with format and suggestion; returns false. */
bool unsupported_format_refuse(const struct unsupported_format *f, struct str path, struct err *e);

#endif
