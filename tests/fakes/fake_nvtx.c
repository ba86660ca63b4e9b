/* SPDX-License-Identifier: Apache-2.0
 *
 * Another tool for NVTX ranges: prints each call, and WRONG for a handle that is not its own.
 * FAKE_NVTX=core: without domains; null: without handles; no: it refuses.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

enum { CORE = 1, CORE2 = 5 };
enum { ASCII = 1, WIDE, REGISTERED };

typedef void function(void);

struct callbacks {
	size_t size;
	int (*module)(int, function ****, unsigned *);
};

struct event {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

static char names[100][100]; /* a handle is the place of its name */
static _Atomic unsigned used;

static int is(const char *what)
{
	const char *v = getenv("FAKE_NVTX");

	return v && !strcmp(v, what);
}

static const char *text_of(const void *h, const char *otherwise)
{
	const char *name = h;

	if (h == (void *)16)
		return "a handle that the program made up";
	if (h && (name < names[0] || name >= names[100]))
		return "WRONG: a handle that is not ours";
	return h ? name : otherwise;
}

static void *handle(const char *name)
{
	char *h = is("null") ? NULL : names[used++ % 100];

	if (h)
		snprintf(h, sizeof *names, "%s", name);
	return h;
}

static void said(const char *what, const void *domain, const char *text)
{
	dprintf(STDOUT_FILENO, "%s %s/%s\n", what, text_of(domain, ""), text ? text : "?");
}

static void said_event(const char *what, const void *domain, const struct event *e)
{
	char wide[100] = "";

	if (e && e->message_type == WIDE)
		snprintf(wide, sizeof wide, "%zu wide characters", wcslen(e->message));
	said(what, domain,
	        !e                              ? NULL
	        : e->message_type == ASCII      ? e->message
	        : e->message_type == REGISTERED ? text_of(e->message, "nothing")
	                                        : wide);
}

static int push_a(const char *t)
{
	said("push", NULL, t);
	return 1;
}

static int push_w(const wchar_t *t)
{
	said_event("push", NULL, &(struct event){ .message_type = WIDE, .message = t });
	return 1;
}

static int push_ex(const struct event *e)
{
	said_event("push", NULL, e);
	return 1;
}

static int pop(void)
{
	said("pop", NULL, "");
	return 1;
}

static void mark_a(const char *t)
{
	said("mark", NULL, t);
}

static uint64_t start_a(const char *t)
{
	said("start", NULL, t);
	return 4711;
}

static void end(uint64_t id)
{
	said("end", NULL, id == 4711 ? "" : "WRONG: a range that is not ours");
}

static void name_thread(uint32_t tid, const char *t)
{
	(void)tid;
	said("thread", NULL, t);
}

static int domain_push(void *d, const struct event *e)
{
	said_event("push", d, e);
	return 1;
}

static int domain_pop(void *d)
{
	said("pop", d, "");
	return 1;
}

static void *domain_create(const char *t)
{
	return handle(t);
}

static const void *register_a(void *d, const char *t)
{
	said("register", d, t);
	return handle(t);
}

static const struct {
	int module;
	unsigned place;
	function *f;
} functions[] = {
	{ CORE, 2, (function *)mark_a },
	{ CORE, 5, (function *)start_a },
	{ CORE, 7, (function *)end },
	{ CORE, 8, (function *)push_ex },
	{ CORE, 9, (function *)push_a },
	{ CORE, 10, (function *)push_w },
	{ CORE, 11, (function *)pop },
	{ CORE, 14, (function *)name_thread },
	{ CORE2, 4, (function *)domain_push },
	{ CORE2, 5, (function *)domain_pop },
	{ CORE2, 10, (function *)register_a },
	{ CORE2, 12, (function *)domain_create },
};

int InitializeInjectionNvtx2(const void *(*get)(uint32_t));

int InitializeInjectionNvtx2(const void *(*get)(uint32_t))
{
	const struct callbacks *c = get(1);

	if (is("no"))
		return 0;
	for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++) {
		function ***table = NULL;
		unsigned count = 0;

		if ((functions[i].module == CORE || !is("core")) &&
		        c->module(functions[i].module, &table, &count) &&
		        functions[i].place < count)
			*table[functions[i].place] = functions[i].f;
	}
	return 1;
}
