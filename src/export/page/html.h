/* SPDX-License-Identifier: Apache-2.0
 *
 * A report: one HTML file with the page (folder web/, bundled at build time) and the JSON documents
 * that it shows, gzip-compressed and in base64.
 *
 *   html_begin(&h, file, arena);
 *   html_document(&h, "op", &words);   repeated; write one JSON value to h.json after each call
 *   html_end(&h, e);
 */
#ifndef TFPROF_EXPORT_HTML_H
#define TFPROF_EXPORT_HTML_H

#include "io/json_out.h"

/* The bundled page: the bytes of a report before and after its data. Both are empty (size 0) if the
 * build has no page. tools/web.sh creates them. */
extern const uint8_t web_head[], web_tail[];
extern const size_t web_head_size, web_tail_size;

struct html {
	struct sink *file, *base64, *json;
	struct arena *a;
	uint8_t left[3]; /* bytes that are not encoded in base64 yet */
	size_t n_left;
	size_t documents;
};

/* Fails with the packages to install if this build has no page. */
bool html_available(struct err *e);

void html_begin(struct html *h, struct sink *file, struct arena *a);

/* Begins a document with the answer of the command line in `words`. name: unique within the
 * report. */
void html_document(struct html *h, const char *name, const struct strs *words);

/* Writes the end of the file; does not close it. */
bool html_end(struct html *h, struct err *e);

#endif
