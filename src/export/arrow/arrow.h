/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows as record batches of the Arrow C data interface. Cells come in the order of a sheet; texts
 * become dictionaries of 32-bit indices, one dictionary per column and batch, so that every batch
 * is complete by itself.
 *
 *   arrow_begin(&b, a, columns, n, 0);
 *   arrow_text(&b, name), arrow_i64(&b, bytes);     once a row, until arrow_full
 *   arrow_finish(&b, &out);
 *
 * A finished batch is one block of memory that belongs to the consumer: it outlives the arena.
 */
#ifndef TFPROF_EXPORT_ARROW_H
#define TFPROF_EXPORT_ARROW_H

#include <stdint.h>

#include "export/data/sheet.h"
#include "model/model.h"

/* ---- arrow abi ---- The three structs of the Arrow C data and C stream interfaces, copied from
 * their specification. The public header contains the same text, and a program may include either
 * header first. */

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};
#endif

/* ---- arrow ---- */

#define ARROW_ROWS     65536             /* default number of rows in a batch */
#define ARROW_ROWS_MAX (1 << 24)         /* largest number of rows in a batch */
#define ARROW_TEXT_MAX ((size_t)1 << 30) /* limit for distinct texts of a column, bytes */

/* One column of the batch under construction. */
struct arrow_column {
	enum column_type type;
	/* Indexed by row: integer, bits of a real, 0 or 1, index of a text, or end of a list in
	 * items. */
	VEC(int64_t) numbers;
	VEC(int32_t) items;    /* for lists: indices of texts */
	VEC(uint8_t) nulls;    /* indexed by row; empty if there are no nulls */
	size_t n_nulls, bytes; /* bytes: size of all distinct texts */
	struct intern texts;
	struct str last; /* the last text, and its index */
	int32_t last_index;
};

struct arrow_build {
	struct arena *a;
	struct arrow_column *columns;
	size_t n, at, rows, rows_max; /* at: column of the next cell */
	bool full;                    /* texts have reached half of ARROW_TEXT_MAX */
	bool too_long;                /* true: a single text exceeds the limit, so the batch
	                                 fails */
};

/* Begins a batch in a. rows: maximum number; 0: ARROW_ROWS. */
void arrow_begin(struct arrow_build *b, struct arena *a, const struct column *columns, size_t n,
        size_t rows);

/* The following functions append the next cell, which must have the type of the column. Invalid
 * UTF-8 is escaped as \xNN, as in sheets. A text with a NULL pointer is null. The bytes of a text
 * must remain unchanged until the batch is finished. */
void arrow_text(struct arrow_build *b, struct str s);
void arrow_list(struct arrow_build *b, const struct strs *v);
void arrow_i64(struct arrow_build *b, int64_t v);
void arrow_real(struct arrow_build *b, double v);
void arrow_bool(struct arrow_build *b, bool v);
void arrow_null(struct arrow_build *b);

/* True if the batch should not take more rows. */
static inline bool arrow_full(const struct arrow_build *b)
{
	return b->full || b->rows >= b->rows_max;
}

/* Makes a batch from the rows. Fails if memory is exhausted or a text is too long. */
bool arrow_finish(struct arrow_build *b, struct ArrowArray *out, struct err *e);

/* A key and a value of the schema's metadata. */
struct arrow_pair {
	struct str key, value;
};

/* Describes rows with the given columns. docs: description of each column, or NULL. Returns false
 * if memory is exhausted. */
bool arrow_schema(struct ArrowSchema *out, const struct column *columns, const char *const *docs,
        size_t n, const struct arrow_pair *pairs, size_t n_pairs);

/* ---- blocks, for arrow.c and arrow_schema.c ---- */

/* The position of the next part in a block. A block begins with the number of structs that use it.
 * If base is NULL, the parts are only measured. */
struct arrow_layout {
	uint8_t *base;
	size_t at, users;
};

/* Takes the next `size` bytes. Returns NULL while parts are only measured. */
void *arrow_take(struct arrow_layout *l, size_t size);
/* Begins a block; arrow_block_end stores the number of its users. */
void arrow_block_begin(struct arrow_layout *l, uint8_t *base);
void arrow_block_end(const struct arrow_layout *l);
/* Ends the use of a block by one struct. The last user frees the block. */
void arrow_block_release(void *block);

/* Releases an array or a schema and its children: the two structs share these members. */
#define ARROW_RELEASE(x)                                                                           \
	do {                                                                                       \
		for (int64_t i = 0; i < (x)->n_children; i++)                                      \
			if ((x)->children[i]->release)                                             \
				(x)->children[i]->release((x)->children[i]);                       \
		if ((x)->dictionary && (x)->dictionary->release)                                   \
			(x)->dictionary->release((x)->dictionary);                                 \
		(x)->release = NULL;                                                               \
		arrow_block_release((x)->private_data);                                            \
	} while (0)

/* ---- cells in ----
 *
 * Reads cells (sheet.h) and puts them into batches.
 */

/* Appends rows until the batch is full or no cells are left. */
void cells_fill(struct cells *c, struct arrow_build *to, struct arena *scratch);

/* ---- tables ----
 *
 * Tables with fixed columns (table.def), the same for every input. Rows come from the trace if one
 * is loaded, otherwise from the steps of the model, and are made on demand.
 */

#define TABLES_VERSION "3"

struct table_reader;

/* Appends rows until the batch is full. Returns false after the last row. The caller clears scratch
 * afterwards. */
typedef bool table_fill(struct table_reader *x, struct arrow_build *to, struct arena *scratch);

struct fixed_table {
	const char *name, *doc;
	const struct column *columns;
	const char *const *docs; /* description of each column */
	size_t n;
	table_fill *(*open)(struct table_reader *x);
};
extern const struct fixed_table tables[];
extern const size_t tables_n;
const struct fixed_table *table_named(struct str name); /* Returns NULL if the name is unknown. */

struct table_reader {
	const struct fixed_table *table;
	const struct model *m;
	const struct trace *t;  /* NULL without a trace, or with several workers */
	struct str run, worker; /* worker: name that is used if the model has no worker names; may
	                           be NULL */
	bool recording;         /* true: the model was read from a recording */
	const struct trace *recorded; /* for the table devices: the recording's work; may be NULL */
	struct arena *a;              /* arena that is freed with the reader */
	table_fill *fill;
	size_t at[2]; /* position of the next row; the table defines the meaning */
	void *state;  /* private to the table */
};

/* Opens a table and prepares its data in x->a. */
void table_begin(struct table_reader *x);

#define FIXED_TABLE(name, doc, open, ...) table_fill *open(struct table_reader *x);
#include "export/arrow/fixed_table.def"
#undef FIXED_TABLE

/* ---- for the implementations of tables ---- */

/* Appends the cells run and worker. */
void table_put_run(const struct table_reader *x, struct arrow_build *to, uint32_t worker);

/* Appends an integer if it is known, otherwise null. */
static inline void table_put(struct arrow_build *to, bool known, int64_t v)
{
	if (known)
		arrow_i64(to, v);
	else
		arrow_null(to);
}

/* Appends a name and its hash, or two nulls if name.p is NULL. */
void table_put_named_key(struct arrow_build *to, struct str name);

/* Tables made from the steps of the model (fixed_model.c). */
table_fill fill_model_steps, fill_model_slices, fill_model_kernels, fill_model_devices,
        fill_model_memory;

/* Times of a worker: first start, last end, number of timed executions. */
struct model_times {
	bool any;
	int64_t start, end;
	uint64_t n;
};
void model_times_add(struct model_times *t, const struct step *s);

/* Returns the sum of a recorded time over all nodes of a step, in microseconds. */
double model_step_us(const struct model *m, const struct step *s, enum value which);

#endif
