/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the table of inputs, the load of one file and the load of many steps.
 */
#ifndef TFPROF_MODEL_INPUT_INTERNAL_H
#define TFPROF_MODEL_INPUT_INTERNAL_H

#include <pthread.h>

#include "model/input.h"

/* True for a file that has a size and can be read twice; *size is 0 for any other. */
bool input_is_regular(struct arena *a, const struct input_from *from, uint64_t *size);

/* Returns the bytes of the input, packed as they are; 0 if not known. */
uint64_t input_size(struct arena *a, const struct input_from *from);

/* Returns the row whose format fits the content best among those that become `role`, at least the
 * first. */
const struct input *input_as(unsigned role, struct str head, struct str path);

/* Bytes done of all files of a load. */
struct watched {
	pthread_mutex_t lock; /* of the fields below */
	const struct input_watch *watch;
	uint64_t done, total;
	bool cancelled;
};

/* One file's share. */
struct share {
	struct watched *all;
	uint64_t done;
};

/* A file on its way into the model, or (to is NULL) into a batch. */
struct load {
	unsigned role;
	const struct input *in; /* set as soon as the first bytes are there */
	const struct input_from *from;
	struct arena *a; /* of the file */
	struct ingest *to;
	const struct model *m;
	int64_t step;
	struct batch *batch;
	struct src *s;
	struct str head;    /* its first bytes */
	struct str warning; /* its losses */
	struct str format;  /* of a trace its source; else empty */
	bool loaded;
	struct share share;
};

/* Reads the file into the model or the batch. False: *e is filled. */
bool input_load_file(struct load *l, struct err *e);

/* Adds the warning of a load to the notes, if there is one, and the facts about its file to the
 * model. */
void input_report(struct ingest *to, const struct load *l);

#endif
