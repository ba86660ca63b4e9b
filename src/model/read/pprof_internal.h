/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the pprof reader: the tables that samples refer to, and the metric of each
 * sample type.
 */
#ifndef TFPROF_MODEL_PPROF_INTERNAL_H
#define TFPROF_MODEL_PPROF_INTERNAL_H

#include "io/wire.h"
#include "model/read/read.h"

#define TYPES_MAX 64

/* Metrics for the values of a sample type. */
enum meaning {
	MEANS_COUNT,
	MEANS_CPU,
	MEANS_ACCELERATOR,
	MEANS_BYTES,
	MEANS_PEAK,
	MEANS_RESIDUAL,
	MEANS_OUTPUT,
	MEANS_N
};

struct sample_type {
	uint64_t name, unit; /* indexes of texts */
};
struct pprof_function {
	uint64_t name, file;
};
struct pprof_line {
	uint64_t function;
	int64_t line;
};
struct pprof_location {
	uint64_t address;
	uint32_t line0, n_lines; /* lines, innermost first */
};

struct pprof_in {
	struct wire w;
	struct ingest *to;
	struct arena *a;
	VEC(struct str) texts;
	VEC(struct sample_type) types;
	struct imap function_of, location_of; /* key: id; value: index */
	VEC(struct pprof_function) functions;
	VEC(struct pprof_line) lines;
	VEC(struct pprof_location) locations;
	uint64_t preferred; /* index of the text with the default sample type; 0: none */
	int type_of[MEANS_N];
	int64_t scale[MEANS_N];
	struct intern stacks;  /* key: number of locations, their ids, and bytes of labels */
	VEC(int64_t) values;   /* indexed by stack, then by type */
	VEC(uint64_t) ids;     /* locations of the current sample */
	VEC(int64_t) amounts;  /* values of the current sample */
	struct sb labels, key; /* labels and key of the current sample */
	uint64_t samples, negative, short_samples;
	uint64_t missing_texts,
	        missing_places;     /* number of references to entries that the file lacks */
	uint64_t deeper;            /* number of lines of call stacks above the limit */
	size_t path_bytes;          /* bytes of all paths */
	struct imap names;          /* key: string id of a node's name; value: number of nodes with
	                               it */
	uint32_t cpu, gpu, streams; /* devices of the model */
};

static inline struct str pprof_text(const struct pprof_in *p, uint64_t i)
{
	return i < p->texts.n ? p->texts.v[i] : S("");
}

/* Selects a sample type for each metric: the type with the given name, otherwise the default type,
 * otherwise the first. A note lists the other types. Returns false and fills *e if no type has the
 * given name. An empty name means any type. */
bool pprof_choose_types(struct pprof_in *p, struct str name, struct err *e);

/* Counts the values of the unused sample types. */
void pprof_count_unused(const struct pprof_in *p);

#endif
