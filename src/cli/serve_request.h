/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses and checks the requests of the command serve. Uses neither sockets nor sessions.
 *
 *   GET /TOKEN/                    the page
 *   GET /TOKEN/v1/index            the requests the page can make
 *   GET /TOKEN/v1/run?w=op&w=...   the document of a command line
 */
#ifndef TFPROF_CLI_SERVE_REQUEST_H
#define TFPROF_CLI_SERVE_REQUEST_H

#include "base/str.h"

#define SERVE_TOKEN      32    /* hexadecimal digits: 128 random bits */
#define SERVE_TARGET_MAX 16384 /* bytes of a request's target */
#define SERVE_WORDS_MAX  64

/* Parts of a request; a missing header is STR_NONE. */
struct serve_request {
	bool reads; /* GET or HEAD */
	struct str target, host, origin, fetch_site;
};

enum serve_what { SERVE_PAGE, SERVE_INDEX, SERVE_RUN };
struct serve_asked {
	enum serve_what what;
	struct strs words; /* of SERVE_RUN */
};

/* Returns the HTTP status: 200 if the request is to be answered. Words live in a. */
int serve_check(const struct serve_request *r, const char *token, unsigned port, struct arena *a,
        struct serve_asked *out);

#endif
