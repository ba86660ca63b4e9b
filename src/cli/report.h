/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports: the parts of a report, and the requests by which a browser gets them one by one.
 */
#ifndef TFPROF_CLI_REPORT_H
#define TFPROF_CLI_REPORT_H

#include <sys/types.h>

#include "lib/options.h"

/* ---- report parts ----
 *
 * The parts of a report: command lines whose documents the page shows. The command report writes
 * all of them into a file; the command serve answers them one by one.
 */

struct report_part {
	const char *name;    /* of the document: "devices", "slices" */
	struct strs command; /* as a person types it, without "tfprof" */
	struct strs
	        words; /* the command line that is run: with all columns, without limits, as JSON */
	bool optional; /* fails where the input has no such data */
};

#define SLICES_SHOWN  100000 /* rows of timelines */
#define REPORT_TRACES 16     /* traces of workers that are shown one by one */

struct report_parts {
	struct strs files; /* flags of inputs, then files, as given; for a comparison, the sides */
	bool compares;
	bool one_trace;            /* only the parts about the time of a trace */
	size_t slices;             /* rows of its timeline; 0: SLICES_SHOWN */
	struct strs without;       /* names of optional parts that the input lacks */
	VEC(struct report_part) v; /* in the query arena */
};

/* Reads the arguments of report or serve: flags of inputs, such as --graph_path=FILE, into *flags,
 * everything else into *w. Fails also if this build has no page. */
bool report_words(
        struct session *s, const struct request *r, struct strs *flags, struct option_words *w);

/* Loads the flags and files and sets the options of the views as sticky ones. Several files are one
 * input if each of them is only a part of a profile, else they are compared. */
bool report_load(struct session *s, const struct strs *flags, const struct strs *files,
        const struct opts *o, struct report_parts *out);

/* Lists the parts that the loaded input has. Each call begins anew. */
void report_list(struct session *s, struct report_parts *p);

/* Runs the optional parts once, to find the parts that the input lacks. Returns false if the call
 * is cancelled. */
bool report_try(struct session *s, struct report_parts *p);

/* Lists the files of the traces that several workers have, at most REPORT_TRACES. */
void report_trace_paths(struct session *s, struct strs *paths);
/* Loads one of them in a session of its own, which the caller frees; NULL on failure. */
struct session *report_trace_open(
        struct session *s, const struct strs *paths, size_t i, struct report_parts *parts);

/* Writes the document of a part. On failure s->error has the reason. */
bool report_write(struct session *s, const struct strs *words, struct sink *out);

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
bool served_load(
        struct session *q, struct served *v, const struct strs *flags, const struct strs *files);
void served_drop(void *served); /* frees these sessions */

/* Write the document of a command line, and the list of documents. */
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

#define SERVE_TOKEN      32    /* hexadecimal digits: 128 random bits */
#define SERVE_TARGET_MAX 16384 /* bytes of a request's target */
#define SERVE_WORDS_MAX  64

/* Parts of a request; a missing header is STR_NONE. */
struct serve_request {
	bool reads;     /* GET or HEAD */
	bool two_hosts; /* it has more than one header Host */
	struct str target, host, origin, fetch_site;
};

/* The meaning of a request. */
enum serve_what { SERVE_PAGE, SERVE_INDEX, SERVE_RUN };
struct serve_task {
	enum serve_what what;
	struct strs words; /* of SERVE_RUN */
};

/* Returns the HTTP status: 200 if the request is to be answered. Words live in a. */
int serve_check(const struct serve_request *r, const char *token, unsigned port, struct arena *a,
        struct serve_task *out);

/* ---- serve clients ----
 *
 * Ends connections of clients that are too slow. libevent's time-out starts again with every byte,
 * so a client that sends single bytes would keep its connection for days.
 */

#define SERVE_FILES_MAX 4096 /* descriptors open at a time: connections and our own */

#define SERVE_GRACE_MS 20

/* Limits, in calls of serve_clients_check. Time in which a query runs does not count. */
#define SERVE_REQUEST_CHECKS 10  /* to send a request */
#define SERVE_ANSWER_CHECKS  600 /* to receive an answer */

struct serve_clients {
	unsigned port; /* of the server; other sockets of the process are not touched */
	struct serve_client {
		ino_t socket; /* 0: none */
		unsigned checks;
		bool answered; /* receives an answer */
	} v[SERVE_FILES_MAX];
};

/* Counts a check for each connection, and shuts down connections that exceed their limit. */
void serve_clients_check(struct serve_clients *c);
/* Shuts down the connections that wait for a request: nothing was sent on them since the last
 * answer, or only a part that was read, and nothing arrives within SERVE_GRACE_MS. Returns their
 * number. For use when no file descriptor is left. */
unsigned serve_clients_end_idle(struct serve_clients *c);
/* Restarts the time limit of a connection: its request is complete, or its answer is sent. */
void serve_clients_restart(struct serve_clients *c, int fd, bool answered);

#endif
