/* SPDX-License-Identifier: Apache-2.0
 *
 * Types and devices of the graph nodes behind an entry of op or code, each once, in byte order.
 * Independent of the output format.
 */
#ifndef TFPROF_EXPORT_MEMBERS_H
#define TFPROF_EXPORT_MEMBERS_H

#include "view/view.h"

struct members {
	const struct query *q;
	struct arena *a;
	/* by id: 1 + the entry that has it already */
	uint32_t *sets_seen, *types_seen, *devices_seen;
	struct strs words; /* of the last question */
	VEC(uint32_t) order;
};

void members_init(struct members *x, const struct query *q, struct arena *a);

/* To be called before the entries are asked about once more. */
void members_again(struct members *x);

/* The words of the accounted nodes of a kept entry, valid until the next question. A node without a
 * device has the empty word. */
const struct strs *members_types(struct members *x, uint32_t kept);
const struct strs *members_devices(struct members *x, uint32_t kept);

#endif
