/* SPDX-License-Identifier: Apache-2.0
 *
 * tfprof serve: serves the page of a report over HTTP, only to this machine. One thread answers the
 * requests one after the other, each in its own session.
 */
#include <stdio.h>

#include "cli/program.h"
#include "cli/serve.h"
#include "export/page/html.h"

#if HAVE_EVENT
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/spawn.h"

#define CLIENT_SECONDS 10  /* a silent client is disconnected after this time */
#define QUERY_SECONDS  120 /* a query is cancelled after this time */
#define HEADERS_MAX    32768
#define TICK_US        200000
#define CHECK_TICKS    5 /* number of ticks between two checks of the clients: a second */

struct server {
	struct session *s; /* session with the exit status of the command */
	struct session *q; /* session with the input, which answers requests */
	const struct report_inputs *from;
	struct served served;
	struct event_base *base;
	struct evhttp *http;
	struct evconnlistener *listener;
	struct serve_clients clients;
	unsigned ticks;
	char token[SERVE_TOKEN + 1];
	struct str page; /* the page, with a mark in place of data */
};

/* ---- signals ---- */

/* Process-wide: signal handlers take no context. */
static struct session *_Atomic answering;
static volatile sig_atomic_t ended;

static void on_signal(int number)
{
	struct session *q = answering;

	ended |= number != SIGALRM;
	if (q)
		atomic_store(&q->cancel, true);
}

static const int signals[] = { SIGINT, SIGTERM, SIGALRM };
#define SIGNALS (sizeof signals / sizeof *signals)

/* Catches the signals that end the server; before: the handlers until then. */
static void catch_signals(struct sigaction before[SIGNALS])
{
	struct sigaction a = { .sa_handler = on_signal };

	ended = 0;
	sigemptyset(&a.sa_mask);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &a, &before[i]);
}

/* Gives the signals back to the prompt. */
static void release_signals(const struct sigaction before[SIGNALS])
{
	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &before[i], NULL);
}

static void on_tick(evutil_socket_t fd, short what, void *server)
{
	struct server *v = server;

	(void)fd;
	(void)what;
	if (ended)
		event_base_loopbreak(v->base);
	evconnlistener_enable(v->listener);
	if (++v->ticks % CHECK_TICKS == 0)
		serve_clients_check(&v->clients);
}

/* Process-wide: libevent hands the callback its own listener's user data. */
static struct serve_clients *clients;

/* Closes idle connections if no file descriptor is left. If there are none, delays new connections
 * for a tick. */
static void on_accept_error(struct evconnlistener *listener, void *http)
{
	(void)http;
	if (!serve_clients_end_idle(clients))
		evconnlistener_disable(listener);
}

/* ---- answers ---- */

struct answer_request {
	struct server *v;
	const struct serve_task *task;
	struct sink *out;
};

static bool run(struct session *q, void *ctx)
{
	const struct answer_request *x = ctx;

	return served_run(q, &x->v->served, &x->task->words, x->out);
}

static bool list(struct session *q, void *ctx)
{
	const struct answer_request *x = ctx;

	return served_list(q, &x->v->served, x->out);
}

/* ---- HTTP ---- */

static struct str header(struct evhttp_request *req, const char *name)
{
	const char *z = evhttp_find_header(evhttp_request_get_input_headers(req), name);

	return z ? str_of(z) : STR_NONE;
}

static bool has_two_hosts(struct evhttp_request *req)
{
	const struct evkeyval *x = evhttp_request_get_input_headers(req)->tqh_first;
	size_t n = 0;

	for (; x; x = x->next.tqe_next)
		n += strcasecmp(x->key, "Host") == 0;
	return n > 1;
}

static void reply(struct evhttp_request *req, int status, const char *type, struct str body)
{
	static const char *const headers[][2] = { { "Cache-Control", "no-store" },
		{ "X-Content-Type-Options", "nosniff" }, { "Referrer-Policy", "no-referrer" },
		{ "X-Frame-Options", "DENY" }, { "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Cross-Origin-Opener-Policy", "same-origin" } };
	struct evkeyvalq *to = evhttp_request_get_output_headers(req);
	struct evbuffer *content = evbuffer_new();
	char length[32];

	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
		evhttp_add_header(to, headers[i][0], headers[i][1]);
	evhttp_add_header(to, "Content-Type", type);
	if (evhttp_request_get_command(req) == EVHTTP_REQ_HEAD) {
		/* libevent would send the body but not its length */
		snprintf(length, sizeof length, "%zu", body.n);
		evhttp_add_header(to, "Content-Length", length);
	} else if (!content || evbuffer_add(content, body.p, body.n)) {
		status = HTTP_INTERNAL;
	}
	evhttp_send_reply(req, status, NULL, content);
	if (content)
		evbuffer_free(content);
}

static void answer(struct server *v, struct evhttp_request *req, const struct serve_task *task)
{
	struct scratch own;
	struct answer_request x = { .v = v, .task = task };
	struct itimerval limit = { .it_value.tv_sec = QUERY_SECONDS }, none = { 0 };

	scratch_open(&own, &v->s->work);
	x.out = sink_memory(&own.a);
	atomic_store(&v->q->cancel, false);
	answering = v->q;
	setitimer(ITIMER_REAL, &limit, NULL);
	bool ok = session_guard(v->q, task->what == SERVE_INDEX ? list : run, &x);
	setitimer(ITIMER_REAL, &none, NULL);
	answering = NULL;
	if (ok)
		reply(req, HTTP_OK, "application/json", sink_text(x.out));
	else
		reply(req, HTTP_BADREQUEST, "text/plain; charset=utf-8",
		        str_fmt(&own.a, "%.*s\n", STR(v->q->error.text)));
	scratch_close(&own);
}

static int descriptor(struct evhttp_request *req)
{
	struct evhttp_connection *c = evhttp_request_get_connection(req);

	return c ? bufferevent_getfd(evhttp_connection_get_bufferevent(c)) : -1;
}

static void on_sent(struct evhttp_request *req, void *server)
{
	struct server *v = server;

	serve_clients_restart(&v->clients, descriptor(req), false);
}

static void on_request(struct evhttp_request *req, void *server)
{
	struct server *v = server;
	enum evhttp_cmd_type method = evhttp_request_get_command(req);
	struct serve_request r = { .reads = method == EVHTTP_REQ_GET || method == EVHTTP_REQ_HEAD,
		.two_hosts = has_two_hosts(req),
		.target = str_of(evhttp_request_get_uri(req)),
		.host = header(req, "Host"),
		.origin = header(req, "Origin"),
		.fetch_site = header(req, "Sec-Fetch-Site") };
	struct serve_task task;
	struct scratch own;

	serve_clients_restart(&v->clients, descriptor(req), true);
	evhttp_request_set_on_complete_cb(req, on_sent, v);
	scratch_open(&own, &v->s->work);
	int status = serve_check(&r, v->token, v->clients.port, &own.a, &task);
	if (status != HTTP_OK)
		reply(req, status, "text/plain; charset=utf-8",
		        S("Use the address that tfprof serve printed.\n"));
	else if (task.what == SERVE_PAGE)
		reply(req, HTTP_OK, "text/html; charset=utf-8", v->page);
	else
		answer(v, req, &task);
	scratch_close(&own);
}

/* ---- starting ---- */

static bool load(struct session *q, void *ctx)
{
	struct server *v = ctx;

	return served_load(q, &v->served, v->from);
}

/* Returns the page that queries the server instead of reading embedded data, with a policy that
 * allows this. */
static struct str live_page(struct arena *a)
{
	struct str head = str_make(web_head, web_head_size),
	           tail = str_make(web_tail, web_tail_size);
	struct str alone = S("connect-src 'none'");
	struct sb b = sb_in(a);
	size_t at = str_find(head, alone);

	sb_put(&b, str_sub(head, 0, at));
	if (at != SIZE_MAX) {
		sb_put(&b, S("connect-src 'self'"));
		sb_put(&b, str_sub(head, at + alone.n, SIZE_MAX));
	}
	sb_put(&b, S("live"));
	sb_put(&b, tail);
	return sb_str(&b);
}

/* Fills n bytes. The C library's getrandom needs glibc 2.25, and the system call Linux 3.17. */
static bool random_bytes(uint8_t *to, size_t n)
{
	if (syscall(SYS_getrandom, to, n, 0) == (long)n)
		return true;
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	bool complete = fd >= 0 && read(fd, to, n) == (ssize_t)n;
	if (fd >= 0)
		close(fd);
	return complete;
}

static bool make_token(struct server *v)
{
	uint8_t random[SERVE_TOKEN / 2];

	if (!random_bytes(random, sizeof random))
		return session_fail(v->s, ERR_IO, "the system provides no random bytes");
	for (size_t i = 0; i < sizeof random; i++)
		snprintf(v->token + 2 * i, 3, "%02x", random[i]);
	return true;
}

static bool bind_port(struct server *v, int64_t port)
{
	struct sockaddr_in at = { 0 };
	socklen_t n = sizeof at;

	struct evhttp_bound_socket *bound =
	        evhttp_bind_socket_with_handle(v->http, "127.0.0.1", (uint16_t)port);
	if (!bound || getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&at, &n))
		return session_fail(v->s, ERR_FAILED,
		        "--port=%lld: the port cannot be used: another program may have it",
		        (long long)port);
	v->clients.port = ntohs(at.sin_port);
	v->listener = evhttp_bound_socket_get_listener(bound);
	clients = &v->clients;
	evconnlistener_set_error_cb(v->listener, on_accept_error);
	return true;
}

static void limit_files(void)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &most))
		return;
	most.rlim_cur = most.rlim_max < SERVE_FILES_MAX ? most.rlim_max : SERVE_FILES_MAX;
	setrlimit(RLIMIT_NOFILE, &most);
}

/* Starts the desktop's program for addresses. If it is missing, the address is only printed. */
static void open_browser(struct server *v, struct str url)
{
	struct strs words = { 0 };
	struct err e = { .a = &v->s->query_arena };
	struct child c;

	strs_add(&v->s->query_arena, &words, S("xdg-open"));
	strs_add(&v->s->query_arena, &words, url);
	if (!spawn_start(&c, &words, NULL, &e))
		note_line(&v->s->notes, "--open: %.*s\n", STR(e.text));
	else
		spawn_leave(&c);
}

/* Serves requests until a signal is received. */
static bool serve(struct server *v, const struct serve_options *o)
{
	struct arena *a = &v->s->query_arena;
	struct timeval tick = { 0, TICK_US };
	struct sigaction before[SIGNALS];
	struct sink *out = sink_fd(a, STDOUT_FILENO, S("standard output"));

	evhttp_set_max_headers_size(v->http, HEADERS_MAX);
	evhttp_set_max_body_size(v->http, 0);
	evhttp_set_timeout(v->http, CLIENT_SECONDS);
	evhttp_set_allowed_methods(v->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
	evhttp_set_gencb(v->http, on_request, v);
	if (!make_token(v) || !bind_port(v, o->port))
		return false;
	struct str url = str_fmt(a, "http://127.0.0.1:%u/%s/", v->clients.port, v->token);
	struct event *timer = event_new(v->base, -1, EV_PERSIST, on_tick, v);
	if (!timer || event_add(timer, &tick))
		return session_fail(v->s, ERR_RESOURCE, "not enough memory for the server");
	catch_signals(before);
	sink_fmt(out, "%.*s\nCtrl-C ends the server.\n", STR(url));
	sink_flush(out);
	if (o->open)
		open_browser(v, url);
	limit_files();
	event_base_dispatch(v->base);
	release_signals(before);
	event_free(timer);
	return true;
}

static void no_log(int severity, const char *text)
{
	(void)severity;
	(void)text;
}

static bool start(struct server *v, const struct serve_options *o)
{
	event_set_log_callback(no_log);
	v->base = event_base_new();
	v->http = v->base ? evhttp_new(v->base) : NULL;
	bool ok = v->http ? serve(v, o)
	                  : session_fail(v->s, ERR_RESOURCE, "not enough memory for the server");
	if (v->http)
		evhttp_free(v->http);
	if (v->base)
		event_base_free(v->base);
	return ok;
}

static bool run_server(struct session *s, const struct serve_options *o,
        const struct report_inputs *from, const struct opts *view)
{
	struct server v = { .s = s, .from = from };
	struct guard guard, traces;

	if (o->port > UINT16_MAX)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--port: %lld is not a port (example: 8080)", (long long)o->port);
	v.page = live_page(&s->query_arena);
	v.q = session_new_part(s);
	if (!v.q)
		work_escape(&s->work);
	work_guard(&s->work, &guard, session_drop, v.q);
	work_guard(&s->work, &traces, served_drop, &v.served);
	v.q->threads = s->threads;
	v.q->more_commands = s->more_commands;
	session_set(v.q, view);
	bool ok = session_guard(v.q, load, &v);
	if (!ok)
		session_fail_as(s, &v.q->error);
	ok = ok && start(&v, o);
	work_unguard(&s->work, &traces);
	served_drop(&v.served);
	work_unguard(&s->work, &guard);
	session_free(v.q);
	return ok;
}
#else
static bool run_server(struct session *s, const struct serve_options *o,
        const struct report_inputs *from, const struct opts *view)
{
	(void)o;
	(void)from;
	(void)view;
	return session_fail(s, ERR_UNIMPLEMENTED,
	        "serve is not in this build: it needs libevent (Debian: libevent-dev)");
}
#endif

/* Returns the files of the loaded job as one list. */
static struct str loaded_files(struct session *s)
{
	struct strs files = { 0 };

	for (size_t i = 0; i < s->sources.n; i++)
		strs_add(&s->query_arena, &files, s->sources.v[i].path);
	return strs_join(&s->query_arena, &files, S(","));
}

bool serve_run(struct session *s, const struct request *r, struct sink *out)
{
	struct serve_options words = { 0 };
	struct opts o = opts_copy(&s->sticky, &s->query_arena);
	struct option_words w = { .command = r->command, .into = &words, .opts = &o };
	struct report_inputs from = { 0 };

	(void)out;
	if (!report_words(s, r, &from.flags, &w))
		return false;
	from.files = w.rest;
	from.as = (enum files_as)words.as;
	if (r->prompt && !from.files.n && !from.flags.n && s->sources.n)
		strs_add(&s->query_arena, &from.files, loaded_files(s));
	bool ok = run_server(s, &words, &from, &o);
	if (r->prompt)
		putchar('\n'); /* after the "^C" of the terminal */
	return ok;
}
