/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables with fixed columns (table.def), equal for every input: from a trace if one is loaded,
 * otherwise from the steps of the model. Rows are made on demand.
 */
#ifndef TFPROF_EXPORT_FIXED_TABLES_H
#define TFPROF_EXPORT_FIXED_TABLES_H

#include "export/arrow.h"
#include "model/model.h"

#define TABLES_VERSION "1"

struct table_reader;

/* Puts rows until the batch is full; false after the last row. scratch is cleared afterwards.
 */
typedef bool table_fill(struct table_reader *x, struct arrow_build *to, struct arena *scratch);

struct fixed_table {
	const char *name, *doc;
	const struct column *columns;
	const char *const *docs; /* a sentence for each column */
	size_t n;
	table_fill *(*open)(struct table_reader *x);
};
extern const struct fixed_table tables[];
extern const size_t tables_n;
const struct fixed_table *table_named(struct str name); /* NULL: unknown name */

struct table_reader {
	const struct fixed_table *table;
	const struct model *m;
	const struct trace *t;  /* NULL: none, or several workers are loaded */
	struct str run, worker; /* worker: where the model has no names of workers; may be NULL */
	bool recording;         /* the model came from a recording */
	struct arena *a;        /* lives as long as the reader */
	table_fill *fill;
	size_t at[2]; /* where the next row comes from, as the table counts */
	void *state;  /* of the table */
};

/* Begins a table: prepares its data in x->a. */
void table_begin(struct table_reader *x);

#define TABLE(name, doc, open, ...) table_fill *open(struct table_reader *x);
#include "export/table.def"
#undef TABLE

/* ---- for the files of tables ---- */

/* Puts the first two cells. */
void table_put_run(const struct table_reader *x, struct arrow_build *to, uint32_t worker);

/* Puts an integer or, where known is false, null. */
static inline void table_put(struct arrow_build *to, bool known, int64_t v)
{
	if (known)
		arrow_i64(to, v);
	else
		arrow_null(to);
}

/* The stable hash of a name: FNV-1a of 64 bits over its bytes. */
int64_t table_key(struct str name);
/* Puts a name and its hash; both null for a NULL pointer. */
void table_put_named_key(struct arrow_build *to, struct str name);

/* Returns ticks of a step as nanoseconds. */
static inline int64_t table_step_ns(const struct step *s, int64_t ticks)
{
	int64_t unit = s->ticks_per_us;

	return unit > 1000 ? ticks / (unit / 1000) : num_mul(ticks, 1000 / unit);
}

/* The rows of tables of the model's steps (table_model.c). */
table_fill fill_model_steps, fill_model_slices, fill_model_kernels, fill_model_devices,
        fill_model_memory;

/* Times of a worker's steps: first start, last end, number of timed executions. */
struct model_times {
	bool any;
	int64_t start, end;
	uint64_t n;
};
void model_times_add(struct model_times *t, const struct step *s);

/* Sum of a recorded value over all nodes of a step. */
int64_t model_step_sum(const struct step *s, enum value which);

#endif
