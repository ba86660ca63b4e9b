/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that people have beside the ones that are read: what they are, and what to do. Opens
 * nothing.
 */
#ifndef TFPROF_MODEL_FOREIGN_H
#define TFPROF_MODEL_FOREIGN_H

#include "base/err.h"

/* Parts of a sentence. */
struct foreign {
	const char *what, *cure;
};

/* What a file is by its first unpacked bytes and its path; NULL: none that is known. */
const struct foreign *foreign_find(struct str head, struct str path);

/* Says so in *e; returns false. */
bool foreign_refuse(const struct foreign *f, struct str path, struct err *e);

#endif
