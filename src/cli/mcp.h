/* SPDX-License-Identifier: Apache-2.0
 *
 * tfprof mcp: answers requests of the Model Context Protocol. A thread reads lines of standard
 * input (mcp_lines.c); the main thread answers them in order. mcp_message turns a line into the
 * lines of its answer, without standard input and output.
 */
#ifndef TFPROF_CLI_MCP_H
#define TFPROF_CLI_MCP_H

#include <pthread.h>

#include "cli/program.h"
#include "io/json_tree.h"

#define MCP_LINE_MAX     ((size_t)4 << 20)  /* bytes of a message */
#define MCP_FILES_MAX    4                  /* inputs that stay loaded */
#define MCP_MEMORY_MAX   ((size_t)4 << 30)  /* bytes at which all but the newest are unloaded */
#define MCP_ANSWERS_MAX  ((size_t)64 << 20) /* bytes of kept answers of an input */
#define MCP_TOKENS       2000               /* default of max_tokens */
#define MCP_TOKENS_LEAST 200
#define MCP_TOKENS_MOST  50000

/* ---- lines ----
 *
 * Standard input and output as lines of JSON.
 */

struct mcp_line {
	struct mcp_line *next;
	size_t n;
	bool too_long; /* the line has more than MCP_LINE_MAX bytes; none of them are kept */
	char text[];
};

struct mcp_cancelled {
	struct mcp_cancelled *next;
	size_t n;
	char id[];
};

#define MCP_QUEUE_MAX 64 /* lines that wait; further ones are not read */

struct mcp_lines {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t reader;
	int wake[2]; /* a pipe; closing its second end ends the reader */
	struct mcp_line *first, **last;
	size_t n;
	bool ended;              /* no further line will come */
	bool closed;             /* the other end of standard output is closed */
	struct str id;           /* of the request that is being answered (mcp_id); p NULL: none */
	struct session *session; /* that answers it, or NULL */
	bool id_cancelled;       /* it is cancelled */
	struct mcp_cancelled *cancelled; /* ids of requests that were cancelled while they waited */
	size_t n_cancelled;
};

/* Returns the identity of a request's id, in a: type and text. STR_NONE if it is not an id. */
struct str mcp_id(struct arena *a, const struct json_node *id);

/* Starts the reader. False: no thread or pipe can be made. */
bool mcp_lines_begin(struct mcp_lines *l);
void mcp_lines_end(struct mcp_lines *l);
/* Waits for the next line, which the caller frees; NULL at the end of standard input. */
struct mcp_line *mcp_lines_next(struct mcp_lines *l);
/* Writes a line, which ends with a newline, to standard output. False: it cannot be written. */
bool mcp_lines_put(struct mcp_lines *l, struct str line);

/* Begins to answer a request. False: it has been cancelled. */
bool mcp_lines_begin_request(struct mcp_lines *l, struct str id);
/* Sets the session that works for the request, or NULL. */
void mcp_lines_set_session(struct mcp_lines *l, struct session *s);
/* Ends the request. True if it has been cancelled. */
bool mcp_lines_end_request(struct mcp_lines *l);
/* Cancels the request of a message notifications/cancelled, running or waiting. */
void mcp_lines_cancel(struct mcp_lines *l, struct str id);

/* ---- files ----
 *
 * The inputs that requests name: inside the allowed folders, and loaded in sessions of their own.
 */

/* An answer that is kept for the next call. */
struct mcp_kept {
	struct mcp_kept *next;
	size_t words, n, notes; /* bytes of the command line, of the answer and of its notes */
	char bytes[];           /* of all three, in this order */
};

/* A row that an answer contained: its id and its name, for calls that give the id. */
#define MCP_ID_SIZE  16
#define MCP_ROWS_MAX 4096 /* rows that an input remembers; then the oldest ones are forgotten */
struct mcp_row {
	char id[MCP_ID_SIZE];
	char *name;
};

/* The memory of this struct is from malloc, because it outlives the request. */
struct mcp_file {
	struct session *s;
	char *key;     /* the resolved paths, their sizes and times */
	uint64_t used; /* the last request that used it */
	struct mcp_kept *kept;
	size_t kept_bytes;
	struct mcp_row *rows; /* a ring of MCP_ROWS_MAX, or NULL */
	size_t n_rows;        /* rows added so far */
};

struct mcp {
	struct session *s;   /* of the command; errors go to s->error */
	struct strs allowed; /* resolved folders */
	struct mcp_file *files[MCP_FILES_MAX];
	uint64_t clock;          /* counts requests */
	struct mcp_lines *lines; /* NULL: no progress and no cancellation */
	const struct json_node *progress_token;
	double progress_last;   /* time of the last notification, in seconds */
	uint64_t progress_done; /* bytes that it stated */
	bool batches;           /* the negotiated revision has them */
	bool outside;           /* the current call named a path outside of the allowed folders */
};

/* Resolves the folders; without any, the current one. */
bool mcp_allow(struct mcp *m, const struct strs *folders);

/* Lets the kernel refuse everything but reading below the allowed folders, in this thread and those
 * that it starts. False: the kernel cannot; paths are still checked when requests name them. */
bool mcp_confine(struct mcp *m);

/* Resolves a path of a request. Fails if nothing exists there, or if it leads outside of the
 * allowed folders. */
bool mcp_resolve(struct mcp *m, struct str path, struct str *out);

/* Returns the loaded input: a path, or several separated by commas. Loads it at first use, or again
 * if a file has changed. Fails also if a link in a folder leads outside. NULL on failure. It stays
 * loaded while the request is answered. */
struct mcp_file *mcp_open(struct mcp *m, struct str name);
void mcp_close_all(void *mcp);

/* ---- answers ---- */

/* Estimates the tokens of a text: at least as many as public tokenizers count. */
size_t mcp_tokens(struct str text);

/* One call of a tool. */
struct mcp_call {
	struct mcp *m;
	struct arena *a; /* of the request */
	const struct mcp_tool *tool;
	const struct json_node *arguments; /* an object, or NULL */
	struct sink *out;                  /* receives the JSON text of the answer */
	size_t budget;                     /* tokens */
	bool refused; /* the error is a protocol error: the arguments are not valid */
};

/* Fails as an error of the protocol, with a sentence. */
bool mcp_refuse(struct mcp_call *c, const char *f, ...) __attribute__((format(printf, 2, 3)));

/* Return an argument; the caller knows from the schema that its type is right. */
struct str mcp_text(const struct mcp_call *c, const char *name);
bool mcp_number(const struct mcp_call *c, const char *name, int64_t *out);
/* Returns the strings of an argument that is a list. */
struct strs mcp_texts(const struct mcp_call *c, const char *name);

/* The answer of a command, valid until the next call on its file. */
struct mcp_result {
	struct str bytes, notes;
};

/* Runs a command of the session of f: makes its document or, if cells is true, its cells (sheet.h).
 * The words are the command and its arguments; the argument "options" of the call is added. other:
 * the second side of diff, or NULL. */
bool mcp_run(struct mcp_call *c, struct mcp_file *f, struct mcp_file *other,
        const struct strs *words, bool cells, struct mcp_result *out);
/* Runs it and reads its document. NULL on failure. */
struct json_node *mcp_document(
        struct mcp_call *c, struct mcp_file *f, struct mcp_file *other, const struct strs *words);

/* Removes the named members, which are separated by blanks, from an object. */
void mcp_drop(struct json_node *object, const char *names);
/* Returns the node after x in the order of the text of root; NULL at the end. */
struct json_node *mcp_next_node(struct json_node *x, const struct json_node *root);
/* Moves the named members of one object to another. */
void mcp_move(struct json_node *to, struct json_node *from, const char *names);

/* Writes an answer: the input and a document, with as many elements of its lists as the budget
 * allows, then which lists are cut, and the call that returns more. */
bool mcp_write_document(struct mcp_call *c, struct json_node *document);

/* Returns the name of a column or member with its unit, unless it contains it. */
struct str mcp_name(struct arena *a, struct str name, const char *unit);

/* Computes and keeps the rows of the views whose passes take longest, so that the first calls of
 * table do not wait. */
void mcp_prepare_tables(struct mcp_call *c, struct mcp_file *f);

/* Writes the member "next": the arguments of this call with another value of one number. */
void mcp_write_next(const struct mcp_call *c, struct json *j, const char *number, int64_t value);

/* ---- tools ---- */

struct mcp_tool {
	const char *name, *title, *text;
	const char *schema;   /* JSON: the members of its properties */
	const char *required; /* names of properties, separated by blanks */
	bool (*run)(struct mcp_call *c);
};
extern const struct mcp_tool mcp_tools[];
extern const size_t n_mcp_tools;

#define TOOL(name, ...) bool mcp_tool_##name(struct mcp_call *c);
/* clang-format off */
#include "cli/mcp_tool.def"
/* clang-format on */
#undef TOOL

/* Checks the arguments against the schema of the tool and calls it. */
bool mcp_call_tool(struct mcp_call *c);

/* Writes the definitions of the tools as an array. */
void mcp_write_tools(struct json *j, struct arena *a);

/* ---- messages ---- */

/* Answers a line; the answer, if there is one, is a line in a. Returns false if memory or the
 * session failed. Inside a session_guard of m->s. */
bool mcp_message(struct mcp *m, struct arena *a, struct str line, struct str *answer);

#endif
