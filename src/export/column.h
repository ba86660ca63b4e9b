/* SPDX-License-Identifier: Apache-2.0
 *
 * A column of rows that are data: its name, its type and its unit.
 */
#ifndef TFPROF_EXPORT_COLUMN_H
#define TFPROF_EXPORT_COLUMN_H

#include "base/str.h"

enum column_type { COLUMN_TEXT, COLUMN_LIST, COLUMN_INTEGER, COLUMN_REAL, COLUMN_BOOL };

struct column {
	struct str name;
	enum column_type type;
	const char *unit; /* NULL: none; numbers are not scaled by it */
};

#endif
