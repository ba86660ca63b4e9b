/* SPDX-License-Identifier: Apache-2.0
 *
 * Each function calls our implementation first and then the other library's, whose result it
 * returns. If the other library has no handle for a domain or string, the program gets our handle,
 * which is never passed to the other library.
 */
#define _GNU_SOURCE
#include "collect/nvtx.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/system.h"

#define DOMAINS_LOG 10u /* cached handles, as powers of two */
#define STRINGS_LOG 16u
#define PROBES      64u

/* Handles of the other library and the collector's counterparts. Setting its handle claims a
 * slot. */
struct handle {
	const void *_Atomic theirs;
	const void *_Atomic ours;
};

static struct {
	nvtx_init *init;
	nvtx_function *_Atomic call[NVTX_FUNCTIONS_N];
	struct handle *domains, *strings;
} other;

/* ---- handles -----------------------------------------------------------------------------------
 */
static struct handle *handle_of(struct handle *table, unsigned log, const void *theirs, bool take)
{
	uint64_t h = (uint64_t)(uintptr_t)theirs * 0x9e3779b97f4a7c15u >> (64 - log);

	for (uint32_t i = 0; i < PROBES; i++) {
		struct handle *e = &table[(h + i) & ((1u << log) - 1)];
		const void *is = atomic_load(&e->theirs);

		if (is == theirs)
			return e;
		if (!is && !take)
			return NULL;
		if (!is &&
		        (atomic_compare_exchange_strong(&e->theirs, &is, theirs) || is == theirs))
			return e;
	}
	return NULL;
}

/* Stores a pair. Returns the handle for the program. */
static const void *keep(struct handle *table, unsigned log, const void *theirs, const void *ours)
{
	struct handle *e = theirs ? handle_of(table, log, theirs, true) : NULL;

	if (e)
		atomic_store(&e->ours, ours);
	return theirs ? theirs : ours;
}

static const void *ours_of(struct handle *table, unsigned log, const void *theirs)
{
	struct handle *e = theirs ? handle_of(table, log, theirs, false) : NULL;

	return e ? atomic_load(&e->ours) : NULL;
}

/* Returns the collector's number for a domain, and whether the handle belongs to the other
 * library. */
static uint16_t domain_of(const void *handle, bool *theirs)
{
	*theirs = !nvtx_has_domain(handle);
	return nvtx_domain_number(*theirs ? ours_of(other.domains, DOMAINS_LOG, handle) : handle);
}

/* Returns a copy of an event with another message. */
static const struct nvtx_event *with(
        struct nvtx_event *copy, const struct nvtx_event *e, int type, const void *message)
{
	*copy = *e;
	copy->size = sizeof *copy;
	copy->message_type = type;
	copy->message.registered = message;
	return copy;
}

static bool is_registered(const struct nvtx_event *e)
{
	return e && e->size >= sizeof *e && e->message_type == NVTX_MESSAGE_REGISTERED;
}

/* Returns the event with the collector's handles. */
static const struct nvtx_event *for_us(struct nvtx_event *copy, const struct nvtx_event *e)
{
	if (!is_registered(e) || names_has(e->message.registered))
		return e;
	return with(copy, e, NVTX_MESSAGE_REGISTERED,
	        ours_of(other.strings, STRINGS_LOG, e->message.registered));
}

/* Returns the event with the other library's handles. */
static const struct nvtx_event *for_them(struct nvtx_event *copy, const struct nvtx_event *e)
{
	const struct name *n;

	if (!is_registered(e) || !names_has(e->message.registered))
		return e;
	n = e->message.registered;
	return with(copy, e, NVTX_MESSAGE_ASCII, n->length == NAME_NO_TEXT ? "" : n->text);
}

/* ---- functions ---------------------------------------------------------------------------------
 */
#define THEIRS(name, type) ((type)atomic_load(&other.call[NVTX_I_##name]))
#define EVENT(type, field, text)                                                                   \
	(&(struct nvtx_event){ .size = sizeof(struct nvtx_event),                                  \
	        .message_type = (type),                                                            \
	        .message.field = (text) })
#define ASCII(text) EVENT(NVTX_MESSAGE_ASCII, ascii, text)
#define WIDE(text)  EVENT(NVTX_MESSAGE_WIDE, wide, text)

static void say_event(
        enum ring_kind kind, uint16_t domain, const struct nvtx_event *e, uint64_t value)
{
	struct nvtx_event copy;

	nvtx_say(kind, domain, for_us(&copy, e), value);
}

/* NOLINTBEGIN(bugprone-macro-parentheses): types */
/* A mark, a push and a start for one type of message. */
#define CHAIN_TEXT(letter, char_type, event)                                                       \
	static void mark_##letter(const char_type *text)                                           \
	{                                                                                          \
		nvtx_say(RING_MARK, 0, event(text), 0);                                            \
		THEIRS(mark_##letter, void (*)(const char_type *))(text);                          \
	}                                                                                          \
	static int push_##letter(const char_type *text)                                            \
	{                                                                                          \
		nvtx_say(RING_PUSH, 0, event(text), 0);                                            \
		return THEIRS(push_##letter, int (*)(const char_type *))(text);                    \
	}                                                                                          \
	static uint64_t start_##letter(const char_type *text)                                      \
	{                                                                                          \
		uint64_t id = THEIRS(start_##letter, uint64_t(*)(const char_type *))(text);        \
                                                                                                   \
		return nvtx_say(RING_START, 0, event(text), id);                                   \
	}                                                                                          \
	static void name_thread_##letter(uint32_t tid, const char_type *text)                      \
	{                                                                                          \
		nvtx_say(RING_THREAD, 0, event(text), tid);                                        \
		THEIRS(name_thread_##letter, void (*)(uint32_t, const char_type *))(tid, text);    \
	}                                                                                          \
	static void *domain_create_##letter(const char_type *text)                                 \
	{                                                                                          \
		void *h = THEIRS(domain_create_##letter, void *(*)(const char_type *))(text);      \
                                                                                                   \
		return (void *)keep(other.domains, DOMAINS_LOG, h, nvtx_domain(event(text)));      \
	}                                                                                          \
	static const void *register_##letter(void *domain, const char_type *text)                  \
	{                                                                                          \
		bool theirs;                                                                       \
		const void *h = NULL;                                                              \
                                                                                                   \
		domain_of(domain, &theirs);                                                        \
		if (theirs)                                                                        \
			h = THEIRS(register_##letter, const void *(*)(void *, const char_type *))( \
			        domain, text);                                                     \
		return keep(other.strings, STRINGS_LOG, h, nvtx_string(event(text)));              \
	}
CHAIN_TEXT(a, char, ASCII)
CHAIN_TEXT(w, wchar_t, WIDE)
/* NOLINTEND(bugprone-macro-parentheses) */

static void mark_ex(const struct nvtx_event *e)
{
	struct nvtx_event copy;

	say_event(RING_MARK, 0, e, 0);
	THEIRS(mark_ex, void (*)(const struct nvtx_event *))(for_them(&copy, e));
}

static int push_ex(const struct nvtx_event *e)
{
	struct nvtx_event copy;

	say_event(RING_PUSH, 0, e, 0);
	return THEIRS(push_ex, int (*)(const struct nvtx_event *))(for_them(&copy, e));
}

static uint64_t start_ex(const struct nvtx_event *e)
{
	struct nvtx_event copy;
	uint64_t id = THEIRS(start_ex, uint64_t(*)(const struct nvtx_event *))(for_them(&copy, e));

	return nvtx_say(RING_START, 0, for_us(&copy, e), id);
}

static void end_core(uint64_t id)
{
	nvtx_say(RING_END, 0, NULL, id);
	THEIRS(end_core, void (*)(uint64_t))(id);
}

static int pop_core(void)
{
	nvtx_say(RING_POP, 0, NULL, 0);
	return THEIRS(pop_core, int (*)(void))();
}

static void domain_mark_ex(void *domain, const struct nvtx_event *e)
{
	struct nvtx_event copy;
	bool theirs;

	say_event(RING_MARK, domain_of(domain, &theirs), e, 0);
	if (theirs)
		THEIRS(domain_mark_ex, void (*)(void *, const struct nvtx_event *))
	(domain, for_them(&copy, e));
}

static int domain_push_ex(void *domain, const struct nvtx_event *e)
{
	struct nvtx_event copy;
	bool theirs;

	say_event(RING_PUSH, domain_of(domain, &theirs), e, 0);
	return theirs ? THEIRS(domain_push_ex, int (*)(void *, const struct nvtx_event *))(
	                        domain, for_them(&copy, e))
	              : NVTX_NO_DEPTH;
}

static int domain_pop(void *domain)
{
	bool theirs;

	nvtx_say(RING_POP, domain_of(domain, &theirs), NULL, 0);
	return theirs ? THEIRS(domain_pop, int (*)(void *))(domain) : NVTX_NO_DEPTH;
}

static uint64_t domain_start_ex(void *domain, const struct nvtx_event *e)
{
	struct nvtx_event copy;
	bool theirs;
	uint16_t number = domain_of(domain, &theirs);
	uint64_t id =
	        theirs ? THEIRS(domain_start_ex, uint64_t(*)(void *, const struct nvtx_event *))(
	                         domain, for_them(&copy, e))
	               : 0;

	return nvtx_say(RING_START, number, for_us(&copy, e), id);
}

static void domain_end(void *domain, uint64_t id)
{
	bool theirs;

	nvtx_say(RING_END, domain_of(domain, &theirs), NULL, id);
	if (theirs)
		THEIRS(domain_end, void (*)(void *, uint64_t))(domain, id);
}

/* ---- the library -------------------------------------------------------------------------------
 */
static void open_other(void)
{
	const char *path = secure_getenv(COLLECT_ENV_CHAIN);
	void *h = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	nvtx_init *init = h ? (nvtx_init *)dlsym(h, "InitializeInjectionNvtx2") : NULL;

	if (!init || init == InitializeInjectionNvtx2)
		return;
	other.domains = memory_map(sizeof *other.domains << DOMAINS_LOG, MEMORY_KEPT_BY_FORK);
	other.strings = memory_map(sizeof *other.strings << STRINGS_LOG, MEMORY_KEPT_BY_FORK);
	if (other.domains && other.strings)
		other.init = init;
}

int nvtx_chain_init(nvtx_get_table *get)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_other);
	return other.init ? other.init(get) : 0;
}

/* Returns the function to install instead of `ours` in a slot that held `before` until
 * nvtx_chain_init and now holds `now`. */
static nvtx_function *chain_over(
        enum nvtx_index i, nvtx_function *before, nvtx_function *now, nvtx_function *ours)
{
#define NVTX_CHAINED(module, place, name) [NVTX_I_##name] = (nvtx_function *)(name),
	static nvtx_function *const chained[NVTX_FUNCTIONS_N] = { NVTX_FUNCTIONS(NVTX_CHAINED) };
#undef NVTX_CHAINED

	if (now == chained[i])
		return now; /* the table was filled earlier */
	if (now == before)
		return ours;
	atomic_store(&other.call[i], now);
	return chained[i];
}

/* ---- tables of a module ----------------------------------------------------------------------
 */
/* Returns the slot of a function in a module's table; NULL if there is none. */
static nvtx_function **slot_of(const struct nvtx_callbacks *c, unsigned i)
{
	nvtx_function ***table = NULL;
	unsigned count = 0;

	if (!c->module(nvtx_rows[i].module, &table, &count) || !table ||
	        nvtx_rows[i].place >= count)
		return NULL;
	return table[nvtx_rows[i].place];
}

bool nvtx_fill(nvtx_get_table *get)
{
	const struct nvtx_callbacks *c = get ? get(NVTX_TABLE_CALLBACKS) : NULL;
	struct {
		nvtx_function **at, *before;
	} slot[NVTX_FUNCTIONS_N];
	bool any = false;

	if (!c || c->size < sizeof *c || !c->module)
		return nvtx_chain_init(get);
	for (unsigned i = 0; i < NVTX_FUNCTIONS_N; i++) {
		slot[i].at = slot_of(c, i);
		slot[i].before = slot[i].at ? *slot[i].at : NULL;
	}
	nvtx_chain_init(get);
	for (unsigned i = 0; i < NVTX_FUNCTIONS_N; i++) {
		nvtx_function **at = slot[i].at;

		if (!at)
			continue;
		*at = chain_over((enum nvtx_index)i, slot[i].before, *at, nvtx_rows[i].function);
		any = true;
	}
	return any;
}
