/* SPDX-License-Identifier: Apache-2.0
 *
 * The common head of JSON documents: name and version of the schema, the tool, sources, options,
 * notes. Between document_begin and document_end the caller adds further members.
 */
#ifndef TFPROF_EXPORT_DOCUMENT_H
#define TFPROF_EXPORT_DOCUMENT_H

#include "export/out.h"

struct document {
	struct json j;
	struct arena *a;
	struct sb scratch;
	bool arrays; /* true: document_rows writes rows as parallel arrays */
};

/* Begins a document. schema: "tfprof/view"; its file is docs/schema/<the part after the
 * slash>.json. */
void document_begin(
        struct document *d, struct sink *to, struct arena *a, const char *schema, int64_t version);
void document_end(struct document *d);

void document_key(struct document *d, const char *key); /* key of the next value of d->j */
void document_text(struct document *d, const char *key, struct str value); /* the text may contain
                                                                              any bytes, which are
                                                                              escaped */
void document_word(struct document *d, struct str value); /* appends a text to an array */
void document_i64(struct document *d, const char *key, int64_t value);
void document_fraction(struct document *d, const char *key, struct fraction value);

/* Begins a document with the sources and the warnings of an answer. */
void document_open(struct document *d, struct sink *s, const struct emit *to, const char *schema,
        int64_t version);

/* Writes the members "sources": [...], "options": {...}, "warnings": [...]. */
void document_sources(struct document *d, const struct origin *from);
void document_options(struct document *d, const struct opts *o);
void document_warnings(struct document *d, const struct origin *from, const struct notes *command);

/* Writes name, type and unit of a column as members of the open object. */
void document_column(struct document *d, const struct column *column);

/* Writes "columns": [...] and opens "rows": [ for a sheet. With d->arrays, writes the members of
 * export/data/arrays.c instead of rows. document_rows_end closes it. */
void document_rows(struct document *d, struct sheet *rows, const struct column *columns, size_t n);
void document_rows_end(struct document *d, struct sheet *rows);

#endif
