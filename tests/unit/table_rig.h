/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables made for tests: entries in blocks, and the files around them.
 */
#ifndef TFPROF_TESTS_TABLE_RIG_H
#define TFPROF_TESTS_TABLE_RIG_H

#include "base/str.h"

struct pair {
	struct str key, value;
};

/* Returns the bytes of a table with `per_block` entries per block, and restarts after every second
 * one. */
struct str table_rig_make(struct arena *a, const struct pair *v, size_t n, size_t per_block);

/* Appends a block: contents, type and checksum. */
void table_rig_block(struct sb *to, struct str contents, char type);

/* Writes a file in a folder of its own, made at the first call; returns its path, in a. */
struct str table_rig_file(struct arena *a, const char *name, struct str bytes);
void table_rig_remove(void);

#endif
