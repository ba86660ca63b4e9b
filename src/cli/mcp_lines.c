/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of standard input, read by a thread, so that a request can be cancelled while it runs. The
 * thread allocates with malloc: arenas belong to the main thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/mcp.h"

#define READ_SIZE      65536
#define CANCELLED_MOST 256 /* maximum number of stored cancelled ids; more are ignored */

struct str mcp_id(struct arena *a, const struct json_node *id)
{
	if (!id || (id->type != JSON_STRING && id->type != JSON_NUMBER))
		return STR_NONE;
	return str_fmt(a, "%c%.*s", id->type == JSON_STRING ? 's' : 'n', STR(id->text));
}

/* A line that is being received. */
struct partial {
	char *p;
	size_t n, cap;
	bool too_long;
};

/* Appends a line to the queue; blocks while the queue is full. */
static void push(struct mcp_lines *l, struct partial *x)
{
	struct mcp_line *line = malloc(sizeof *line + x->n + 1);

	if (line) {
		*line = (struct mcp_line){ .n = x->n, .too_long = x->too_long };
		memcpy(line->text, x->p ? x->p : "", x->n);
		line->text[x->n] = 0;
	}
	x->n = 0;
	x->too_long = false;
	pthread_mutex_lock(&l->lock);
	while (line && l->n >= MCP_QUEUE_MAX && !l->ended)
		pthread_cond_wait(&l->changed, &l->lock);
	if (!line || l->ended) {
		free(line);
	} else {
		*l->last = line;
		l->last = &line->next;
		l->n++;
	}
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

/* Cancels the request that a message names. Returns false if it is a different message. */
static bool read_cancel(struct mcp_lines *l, struct arena *a, struct str text)
{
	struct err e = { .a = a };
	const struct json_node *x = json_tree(a, text, &e);

	if (!str_eq(json_tree_text(x, "method"), S("notifications/cancelled")))
		return false;
	mcp_lines_cancel(l, mcp_id(a, json_tree_find(json_tree_find(x, "params"), "requestId")));
	return true;
}

/* Processes a notification about a cancelled request immediately; other lines wait in the queue. */
static bool take_cancel(struct mcp_lines *l, struct str text)
{
	struct account account = { .limit = 16 * MCP_LINE_MAX };
	struct work work = { .account = &account };
	volatile bool taken = false;
	struct arena a;

	if (str_find(text, S("notifications/cancelled")) == SIZE_MAX)
		return false;
	arena_init(&a, &work);
	if (!setjmp(work.escape))
		taken = read_cancel(l, &a, text);
	arena_free(&a);
	account_close(&account);
	return taken;
}

static void end_line(struct mcp_lines *l, struct partial *x)
{
	if (x->n && x->p[x->n - 1] == '\r')
		x->n--;
	if (x->too_long || (x->n && !take_cancel(l, str_make(x->p, x->n))))
		push(l, x);
	x->n = 0;
}

/* Adds bytes to the line. Drops the line's bytes if there are too many. */
static void add(struct partial *x, const char *p, size_t n)
{
	if (x->too_long || x->n + n > MCP_LINE_MAX) {
		x->too_long = true;
		x->n = 0;
		return;
	}
	if (x->n + n > x->cap) {
		size_t cap = 2 * (x->n + n);
		char *more = realloc(x->p, cap);
		if (!more) {
			x->too_long = true;
			x->n = 0;
			return;
		}
		x->p = more;
		x->cap = cap;
	}
	memcpy(x->p + x->n, p, n);
	x->n += n;
}

static void take(struct mcp_lines *l, struct partial *x, const char *p, size_t n)
{
	while (n) {
		const char *end = memchr(p, '\n', n);
		size_t part = end ? (size_t)(end - p) : n;
		add(x, p, part);
		if (end)
			end_line(l, x);
		part += end != NULL;
		p += part;
		n -= part;
	}
}

/* Waits for input. Returns false if the server ends. */
static bool wait_input(const struct mcp_lines *l)
{
	struct pollfd p[] = { { .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = l->wake[0], .events = POLLIN } };

	while (poll(p, 2, -1) < 0)
		if (errno != EINTR)
			return false;
	return !p[1].revents;
}

static void *read_lines(void *lines)
{
	struct mcp_lines *l = lines;
	struct partial x = { .n = 0 };
	char *buffer = malloc(READ_SIZE);

	while (buffer && wait_input(l)) {
		ssize_t n = read(STDIN_FILENO, buffer, READ_SIZE);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			break;
		take(l, &x, buffer, (size_t)n);
	}
	if (x.n || x.too_long) /* an incomplete line */
		end_line(l, &x);
	free(buffer);
	free(x.p);
	pthread_mutex_lock(&l->lock);
	l->ended = true;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

bool mcp_lines_begin(struct mcp_lines *l)
{
	*l = (struct mcp_lines){ .last = &l->first };
	if (pipe(l->wake))
		return false;
	fcntl(l->wake[0], F_SETFD, FD_CLOEXEC);
	fcntl(l->wake[1], F_SETFD, FD_CLOEXEC);
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	if (!pthread_create(&l->reader, NULL, read_lines, l))
		return true;
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->lock);
	close(l->wake[0]);
	close(l->wake[1]);
	return false;
}

void mcp_lines_end(struct mcp_lines *l)
{
	pthread_mutex_lock(&l->lock);
	l->ended = true; /* a reader that waits for room in the queue continues */
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	close(l->wake[1]);
	pthread_join(l->reader, NULL);
	close(l->wake[0]);
	for (struct mcp_line *x = l->first, *next; x; x = next) {
		next = x->next;
		free(x);
	}
	for (struct mcp_cancelled *x = l->cancelled, *next; x; x = next) {
		next = x->next;
		free(x);
	}
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->lock);
}

struct mcp_line *mcp_lines_next(struct mcp_lines *l)
{
	pthread_mutex_lock(&l->lock);
	while (!l->first && !l->ended)
		pthread_cond_wait(&l->changed, &l->lock);
	struct mcp_line *x = l->first;
	if (x) {
		l->first = x->next;
		l->last = l->first ? l->last : &l->first;
		l->n--;
		pthread_cond_broadcast(&l->changed);
	}
	pthread_mutex_unlock(&l->lock);
	return x;
}

bool mcp_lines_put(struct mcp_lines *l, struct str line)
{
	pthread_mutex_lock(&l->lock);
	while (line.n && !l->closed) {
		ssize_t n = write(STDOUT_FILENO, line.p, line.n);
		if (n > 0)
			line = str_sub(line, (size_t)n, SIZE_MAX);
		else if (errno == EAGAIN)
			poll(&(struct pollfd){ .fd = STDOUT_FILENO, .events = POLLOUT }, 1, -1);
		else
			l->closed = errno != EINTR;
	}
	bool ok = !l->closed;
	pthread_mutex_unlock(&l->lock);
	return ok;
}

/* ---- cancellation ---- */

/* Removes an id from the list. Returns false if the list does not contain it. */
static bool take_id(struct mcp_lines *l, struct str id)
{
	for (struct mcp_cancelled **at = &l->cancelled; *at; at = &(*at)->next) {
		struct mcp_cancelled *x = *at;
		if (!str_eq(str_make(x->id, x->n), id))
			continue;
		*at = x->next;
		free(x);
		l->n_cancelled--;
		return true;
	}
	return false;
}

bool mcp_lines_begin_request(struct mcp_lines *l, struct str id)
{
	pthread_mutex_lock(&l->lock);
	bool cancelled = take_id(l, id);
	l->id = cancelled ? STR_NONE : id;
	l->id_cancelled = false;
	pthread_mutex_unlock(&l->lock);
	return !cancelled;
}

void mcp_lines_set_session(struct mcp_lines *l, struct session *s)
{
	pthread_mutex_lock(&l->lock);
	l->session = s;
	if (s)
		atomic_store(&s->cancel, l->id_cancelled);
	pthread_mutex_unlock(&l->lock);
}

bool mcp_lines_end_request(struct mcp_lines *l)
{
	pthread_mutex_lock(&l->lock);
	bool cancelled = l->id_cancelled;
	l->id = STR_NONE;
	l->id_cancelled = false;
	pthread_mutex_unlock(&l->lock);
	return cancelled;
}

void mcp_lines_cancel(struct mcp_lines *l, struct str id)
{
	struct mcp_cancelled *x = id.p ? malloc(sizeof *x + id.n) : NULL;

	if (!x)
		return;
	x->n = id.n;
	memcpy(x->id, id.p, id.n);
	pthread_mutex_lock(&l->lock);
	if (l->id.p && str_eq(l->id, id)) {
		l->id_cancelled = true;
		if (l->session)
			atomic_store(&l->session->cancel, true);
		free(x);
	} else if (l->n && l->n_cancelled < CANCELLED_MOST) {
		x->next = l->cancelled;
		l->cancelled = x;
		l->n_cancelled++;
	} else {
		free(x); /* the request has been answered */
	}
	pthread_mutex_unlock(&l->lock);
}
