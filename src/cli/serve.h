/* SPDX-License-Identifier: Apache-2.0
 *
 * The command serve: the requests by which a browser gets the parts of a report one by one.
 */
#ifndef TFPROF_CLI_SERVE_H
#define TFPROF_CLI_SERVE_H

#include <sys/types.h>

#include "lib/report.h"

/* ---- answers of serve ---- */

struct served {
	struct report_parts parts;
	/* The traces of several workers. A request for the trace of a worker begins with "@" and
	 * the worker's number.
	 */
	struct session *trace[REPORT_TRACES];
	struct report_parts trace_parts[REPORT_TRACES];
	size_t traces;
};

/* Loads the inputs into q, and the traces of workers into sessions of their own. */
bool served_load(struct session *q, struct served *v, const struct report_inputs *in);
void served_drop(void *served); /* frees these sessions */

/* served_run writes the document of a command line, served_list the list of documents. */
bool served_run(struct session *q, struct served *v, const struct strs *words, struct sink *out);
bool served_list(struct session *q, struct served *v, struct sink *out);

/* ---- serve request ----
 *
 * Parses and checks the requests of the command serve. Uses neither sockets nor sessions.
 *
 *   GET /TOKEN/                    the page
 *   GET /TOKEN/v1/index            the requests the page can make
 *   GET /TOKEN/v1/run?w=op&w=...   the document of a command line
 */

#define SERVE_TOKEN      32    /* number of hexadecimal digits: 128 random bits */
#define SERVE_TARGET_MAX 16384 /* maximum size of a request's target, bytes */
#define SERVE_WORDS_MAX  64

/* The parts of a request. A missing header is STR_NONE. */
struct serve_request {
	bool reads;     /* true: GET or HEAD */
	bool two_hosts; /* true: the request has more than one header Host */
	struct str target, host, origin, fetch_site;
};

/* The meaning of a request. */
enum serve_what { SERVE_PAGE, SERVE_INDEX, SERVE_RUN };
struct serve_task {
	enum serve_what what;
	struct strs words; /* valid for SERVE_RUN */
};

/* Returns the HTTP status, which is 200 if the request can be answered. Words live in a. */
int serve_check(const struct serve_request *r, const char *token, unsigned port, struct arena *a,
        struct serve_task *out);

/* ---- serve clients ---- Ends the connections of clients that are too slow. libevent's time-out
 * restarts with every byte, so a client that sends single bytes would keep its connection for
 * days. */

#define SERVE_FILES_MAX 4096 /* maximum number of open descriptors of the process */

#define SERVE_GRACE_MS 20

/* Limits, in calls of serve_clients_check. The time in which a query runs does not count. */
#define SERVE_REQUEST_CHECKS 10  /* limit for sending a request */
#define SERVE_ANSWER_CHECKS  600 /* limit for receiving an answer */

struct serve_clients {
	unsigned port; /* port of the server; other sockets of the process are not touched */
	struct serve_client {
		ino_t socket; /* inode; 0: none */
		unsigned checks;
		bool answered; /* true: the client receives an answer */
	} v[SERVE_FILES_MAX];
};

/* Counts a check for each connection, and shuts down connections that exceed their limit. */
void serve_clients_check(struct serve_clients *c);
/* Shuts down the connections that wait for a request: nothing was sent on them since the last
 * answer, or only a part that was read, and nothing arrives within SERVE_GRACE_MS. Returns their
 * number. Used when no file descriptor is left. */
unsigned serve_clients_end_idle(struct serve_clients *c);
/* Restarts the time limit of a connection, because its request is complete or its answer is
 * sent. */
void serve_clients_restart(struct serve_clients *c, int fd, bool answered);

#endif
