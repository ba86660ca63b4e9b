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

#define MCP_LINE_MAX     ((size_t)4 << 20)  /* maximum size of a message, bytes */
#define MCP_FILES_MAX    4                  /* number of inputs that stay loaded */
#define MCP_MEMORY_MAX   ((size_t)4 << 30)  /* bytes; above it, only the newest stays loaded */
#define MCP_ANSWERS_MAX  ((size_t)64 << 20) /* limit for the stored answers of an input, bytes */
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
	bool too_long; /* true: the line has more than MCP_LINE_MAX bytes, and none of them are
	                  stored */
	char text[];
};

struct mcp_cancelled {
	struct mcp_cancelled *next;
	size_t n;
	char id[];
};

#define MCP_QUEUE_MAX 64 /* maximum number of pending lines; then no more lines are read */

struct mcp_lines {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t reader;
	int wake[2]; /* a pipe; closing its second end ends the reader */
	struct mcp_line *first, **last;
	size_t n;
	bool ended;              /* true: no more lines will arrive */
	bool closed;             /* true: the other end of standard output is closed */
	struct str id;           /* id of the request that is being answered (mcp_id); p is NULL if
	                            there is none */
	struct session *session; /* the session that answers it, or NULL */
	bool id_cancelled;       /* true: the request is cancelled */
	struct mcp_cancelled *cancelled; /* ids of requests that were cancelled while they were
	                                    pending */
	size_t n_cancelled;
};

/* Returns the identity of a request's id, in a: type and text. Returns STR_NONE if the value is not
 * an id. */
struct str mcp_id(struct arena *a, const struct json_node *id);

/* Starts the reader. Returns false if a thread or pipe cannot be created. */
bool mcp_lines_begin(struct mcp_lines *l);
void mcp_lines_end(struct mcp_lines *l);
/* Waits for the next line, which the caller must free. Returns NULL at the end of standard
 * input. */
struct mcp_line *mcp_lines_next(struct mcp_lines *l);
/* Writes a line, which must end with a newline, to standard output. Returns false if it cannot be
 * written. */
bool mcp_lines_put(struct mcp_lines *l, struct str line);

/* Begins to answer a request. Returns false if the request has been cancelled. */
bool mcp_lines_begin_request(struct mcp_lines *l, struct str id);
/* Sets the session that answers the request, or NULL. */
void mcp_lines_set_session(struct mcp_lines *l, struct session *s);
/* Ends the request. Returns true if it has been cancelled. */
bool mcp_lines_end_request(struct mcp_lines *l);
/* Cancels the running or pending request that a message notifications/cancelled names. */
void mcp_lines_cancel(struct mcp_lines *l, struct str id);

/* ---- files ----
 *
 * The inputs that requests name: inside the allowed folders, and loaded in sessions of their own.
 */

/* An answer that is stored for later calls. */
struct mcp_kept {
	struct mcp_kept *next;
	size_t words, n, notes; /* bytes of the command line, of the answer and of its notes */
	char bytes[];           /* the bytes of all three, in this order */
};

/* A row that an answer contained: its id and its name, for later calls that give the id. */
#define MCP_ID_SIZE  16
#define MCP_ROWS_MAX 4096 /* rows that an input remembers; then the oldest are dropped */
struct mcp_row {
	char id[MCP_ID_SIZE];
	char *name;
};

/* A loaded input. Its memory comes from malloc, because it outlives the request. */
struct mcp_file {
	struct session *s;
	char *key;     /* resolved paths, sizes and times of the files */
	uint64_t used; /* number of the last request that used it */
	struct mcp_kept *kept;
	size_t kept_bytes;
	struct mcp_row *rows; /* a ring of MCP_ROWS_MAX elements, or NULL */
	size_t n_rows;        /* number of rows added so far */
};

struct mcp {
	struct session *s;   /* session of the command; errors are stored in s->error */
	struct strs allowed; /* resolved paths of the allowed folders */
	struct mcp_file *files[MCP_FILES_MAX];
	uint64_t clock;          /* number of requests so far */
	struct mcp_lines *lines; /* NULL: no progress and no cancellation */
	const struct json_node *progress_token;
	double progress_last;   /* time of the last notification, in seconds */
	uint64_t progress_done; /* bytes stated in that notification */
	bool batches;           /* true: the negotiated revision supports batches */
	bool outside;           /* true: the current call named a path outside of the allowed
	                           folders */
};

/* Resolves the folders. Without folders, allows the current folder. */
bool mcp_allow(struct mcp *m, const struct strs *folders);

/* Makes the kernel refuse everything except reading below the allowed folders, for this thread and
 * the threads that it starts. Returns false if the kernel does not support this; paths are still
 * checked when requests name them. */
bool mcp_confine(struct mcp *m);

/* Resolves a path of a request. Fails if the path does not exist, or leads outside of the allowed
 * folders. */
bool mcp_resolve(struct mcp *m, struct str path, struct str *out);

/* Returns the loaded input for a path, or for several paths separated by commas. Loads it at first
 * use, or again if a file has changed. Returns NULL on failure; also fails if a link in a folder
 * leads outside. The input stays loaded while the request is answered. */
struct mcp_file *mcp_open(struct mcp *m, struct str name);
void mcp_close_all(void *mcp);

/* ---- answers ---- */

/* Estimates the tokens of a text. The estimate is at least the count of public tokenizers. */
size_t mcp_tokens(struct str text);

/* One call of a tool. */
struct mcp_call {
	struct mcp *m;
	struct arena *a; /* arena of the request */
	const struct mcp_tool *tool;
	const struct json_node *arguments; /* an object, or NULL */
	struct sink *out;                  /* receives the JSON text of the answer */
	size_t budget;                     /* maximum number of tokens */
	bool refused; /* true: the error is a protocol error, because the arguments are invalid */
};

/* Fails with a protocol error and a sentence. */
bool mcp_refuse(struct mcp_call *c, const char *f, ...) __attribute__((format(printf, 2, 3)));

/* mcp_text returns a text argument, mcp_number a number. The schema guarantees that its type is
 * right. */
struct str mcp_text(const struct mcp_call *c, const char *name);
bool mcp_number(const struct mcp_call *c, const char *name, int64_t *out);
/* Returns the strings of an argument that is a list. */
struct strs mcp_texts(const struct mcp_call *c, const char *name);

/* The answer of a command, valid until the next call on its file. */
struct mcp_result {
	struct str bytes, notes;
};

/* Runs a command of the session of f, which makes its document or, if cells is true, its cells
 * (sheet.h). The words are the command and its arguments; the argument "options" of the call is
 * appended. other: the second side of diff, or NULL. */
bool mcp_run(struct mcp_call *c, struct mcp_file *f, struct mcp_file *other,
        const struct strs *words, bool cells, struct mcp_result *out);
/* Runs a command like mcp_run, and reads its document. Returns NULL on failure. */
struct json_node *mcp_document(
        struct mcp_call *c, struct mcp_file *f, struct mcp_file *other, const struct strs *words);

/* Removes the named members, which are separated by blanks, from an object. */
void mcp_drop(struct json_node *object, const char *names);
/* Returns the node after x in the order of the text of root; NULL at the end. */
struct json_node *mcp_next_node(struct json_node *x, const struct json_node *root);
/* Moves the named members of one object to another. */
void mcp_move(struct json_node *to, struct json_node *from, const char *names);

/* Writes an answer: the input and a document with as many elements of its lists as the budget
 * allows, then the names of the cut lists, and the call that returns more. */
bool mcp_write_document(struct mcp_call *c, struct json_node *document);

/* Returns the name of a column or member with its unit, unless the name already contains the
 * unit. */
struct str mcp_name(struct arena *a, struct str name, const char *unit);

/* Computes and keeps the rows of the views whose passes take longest, so that the first calls of
 * table do not wait. */
void mcp_prepare_tables(struct mcp_call *c, struct mcp_file *f);

/* Writes the member "next": the arguments of this call with another value for one number. */
void mcp_write_next(const struct mcp_call *c, struct json *j, const char *number, int64_t value);

/* ---- tools ---- */

struct mcp_tool {
	const char *name, *title, *text;
	const char *schema;   /* JSON text of the members of its properties */
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

/* Checks the arguments against the schema of the tool, and calls the tool. */
bool mcp_call_tool(struct mcp_call *c);

/* Writes the definitions of the tools as an array. */
void mcp_write_tools(struct json *j, struct arena *a);

/* ---- messages ---- */

/* Answers a line. The answer, if any, is a line in a. Returns false if memory is exhausted or the
 * session failed. Must be called inside a session_guard of m->s. */
bool mcp_message(struct mcp *m, struct arena *a, struct str line, struct str *answer);

#endif
