/* SPDX-License-Identifier: Apache-2.0
 *
 * The NVTX functions that the collector implements. Each first reads the enable word; if recording
 * is on, it reads a clock, looks up the message and adds an entry to the thread's ring. errno is
 * preserved: only creating a ring and waking the writer make system calls, and they restore it.
 */
#include "collect/nvtx.h"

#include <stdatomic.h>
#include <string.h>

#include "collect/record_enable.h"
#include "collect/system.h"

static struct {
	_Atomic uint64_t ranges; /* number of ranges started so far */
} nvtx;

/* ---- texts ----------------------------------------------------------------------------------- */
/* Returns the name of a message. The thread caches it by address, and checks that the text is
 * unchanged. */
static struct name *name_of(struct ring *r, const char *text)
{
	if (!text)
		return names_add("", 0);
	uint64_t slot = ((uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15u >> 32) & (RING_MEMO - 1);

	if (r->memo[slot].at == text) {
		struct name *e = r->memo[slot].name;

		if (e->length != NAME_NO_TEXT && !strcmp(text, e->text))
			return e;
	}
	struct name *e = names_add_range(text, strlen(text));

	r->memo[slot].at = text;
	r->memo[slot].name = e;
	return e;
}

static char *utf8_put(char *p, uint32_t c)
{
	if (c < 0x80) {
		*p++ = (char)c;
	} else if (c < 0x800) {
		*p++ = (char)(0xc0 | c >> 6);
		*p++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*p++ = (char)(0xe0 | c >> 12);
		*p++ = (char)(0x80 | (c >> 6 & 0x3f));
		*p++ = (char)(0x80 | (c & 0x3f));
	} else {
		*p++ = (char)(0xf0 | c >> 18);
		*p++ = (char)(0x80 | (c >> 12 & 0x3f));
		*p++ = (char)(0x80 | (c >> 6 & 0x3f));
		*p++ = (char)(0x80 | (c & 0x3f));
	}
	return p;
}

static struct name *name_of_wide(const wchar_t *text)
{
	char utf8[NAME_LONGEST + 4], *p = utf8;
	size_t n = 0, i = 0;

	while (text && n < NAME_READ && text[n])
		n++;
	for (; i < n && p <= utf8 + NAME_LONGEST; i++) {
		uint32_t c = (uint32_t)text[i];

		p = utf8_put(p, c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c);
	}
	if (p > utf8 + NAME_LONGEST)
		return names_add_long(utf8, text, n * sizeof *text);
	return names_add_range(utf8, (size_t)(p - utf8));
}

/* Reads the message of an event. Fields beyond the size that the program declared count as
 * missing. */
static uint32_t name_of_event(struct ring *r, const struct nvtx_event *e)
{
	struct name *n = NULL;

	if (!e || e->size < sizeof *e)
		return names_number(names_add("", 0));
	switch (e->message_type) {
	case NVTX_MESSAGE_ASCII: n = name_of(r, e->message.ascii); break;
	case NVTX_MESSAGE_WIDE: n = name_of_wide(e->message.wide); break;
	case NVTX_MESSAGE_REGISTERED:
		if (names_has(e->message.registered))
			memcpy(&n, &e->message.registered, sizeof n); /* a pointer that the
			                                                 collector returned */
		break;
	default: break;
	}
	return names_number(n ? n : names_add("", 0));
}

/* ---- implementation ----------------------------------------------------------------------------
 */
static int push_name(struct ring *r, uint32_t round, uint16_t domain, uint32_t name)
{
	if (ring_enter(r, round, domain))
		ring_put(r, ticks_now(), 0, name, domain, RING_PUSH);
	return NVTX_NO_DEPTH;
}

static int pop(uint16_t domain)
{
	uint32_t round = record_enable_round();
	struct ring *r;

	if (round && (r = ring_mine()) && ring_leave(r, round, domain))
		ring_put(r, ticks_now(), 0, 0, domain, RING_POP);
	return NVTX_NO_DEPTH;
}

/* Starts a range. Creates an id if the given one is 0. */
static uint64_t start_name(struct ring *r, uint16_t domain, uint32_t name, uint64_t id)
{
	if (!id)
		id = atomic_fetch_add_explicit(&nvtx.ranges, 1, memory_order_relaxed) + 1;
	ring_put(r, ticks_now(), id, name, domain, RING_START);
	return id;
}

static void end(uint16_t domain, uint64_t id)
{
	struct ring *r;

	if (id && record_enable_round() && (r = ring_mine()))
		ring_put(r, ticks_now(), id, 0, domain, RING_END);
}

static void mark_name(struct ring *r, uint16_t domain, uint32_t name)
{
	ring_put(r, ticks_now(), 0, name, domain, RING_MARK);
}

/* Returns the ring of the calling thread, if ranges are being recorded. */
static struct ring *ring_now(uint32_t *round)
{
	*round = record_enable_round();
	return *round ? ring_mine() : NULL;
}

/* ---- core --------------------------------------------------------------------------------------
 */
static int push_a(const char *text)
{
	uint32_t round;
	struct ring *r = ring_now(&round);

	if (r && ring_enter(r, round, 0))
		ring_put(r, ticks_now(), 0, names_number(name_of(r, text)), 0, RING_PUSH);
	return NVTX_NO_DEPTH;
}

static int push_w(const wchar_t *text)
{
	uint32_t round;
	struct ring *r = ring_now(&round);

	return r ? push_name(r, round, 0, names_number(name_of_wide(text))) : NVTX_NO_DEPTH;
}

static int push_ex(const struct nvtx_event *e)
{
	uint32_t round;
	struct ring *r = ring_now(&round);

	return r ? push_name(r, round, 0, name_of_event(r, e)) : NVTX_NO_DEPTH;
}

static int pop_core(void)
{
	return pop(0);
}

static uint64_t start_a(const char *text)
{
	uint32_t round;
	struct ring *r = ring_now(&round);

	return r ? start_name(r, 0, names_number(name_of(r, text)), 0) : 0;
}

static uint64_t start_w(const wchar_t *text)
{
	uint32_t round;
	struct ring *r = ring_now(&round);

	return r ? start_name(r, 0, names_number(name_of_wide(text)), 0) : 0;
}

static uint64_t start_ex(const struct nvtx_event *e)
{
	uint32_t round;
	struct ring *r = ring_now(&round);

	return r ? start_name(r, 0, name_of_event(r, e), 0) : 0;
}

static void end_core(uint64_t id)
{
	end(0, id);
}

static void mark_a(const char *text)
{
	uint32_t round;
	struct ring *r = ring_now(&round);

	if (r)
		mark_name(r, 0, names_number(name_of(r, text)));
}

static void mark_w(const wchar_t *text)
{
	uint32_t round;
	struct ring *r = ring_now(&round);

	if (r)
		mark_name(r, 0, names_number(name_of_wide(text)));
}

static void mark_ex(const struct nvtx_event *e)
{
	uint32_t round;
	struct ring *r = ring_now(&round);

	if (r)
		mark_name(r, 0, name_of_event(r, e));
}

static void name_thread_a(uint32_t tid, const char *text)
{
	uint32_t round;
	struct ring *r = ring_now(&round);

	if (r)
		ring_put(r, ticks_now(), tid, names_number(name_of(r, text)), 0, RING_THREAD);
}

static void name_thread_w(uint32_t tid, const wchar_t *text)
{
	uint32_t round;
	struct ring *r = ring_now(&round);

	if (r)
		ring_put(r, ticks_now(), tid, names_number(name_of_wide(text)), 0, RING_THREAD);
}

/* ---- domains -----------------------------------------------------------------------------------
 */
/* Creates a domain, even if recording is disabled, because programs create it once, and test for it
 * before every call. */
static void *domain_create_a(const char *text)
{
	return record_enable_ours() && text ? domains_add(names_add(text, strlen(text))) : NULL;
}

static void *domain_create_w(const wchar_t *text)
{
	return record_enable_ours() && text ? domains_add(name_of_wide(text)) : NULL;
}

static const void *register_a(void *domain, const char *text)
{
	(void)domain;
	return record_enable_ours() && text ? names_add_range(text, strlen(text)) : NULL;
}

static const void *register_w(void *domain, const wchar_t *text)
{
	(void)domain;
	return record_enable_ours() && text ? name_of_wide(text) : NULL;
}

static int domain_push_ex(void *domain, const struct nvtx_event *e)
{
	uint32_t round;
	struct ring *r = ring_now(&round);

	return r ? push_name(r, round, domains_number(domain), name_of_event(r, e)) : NVTX_NO_DEPTH;
}

static int domain_pop(void *domain)
{
	return pop(domains_number(domain));
}

static uint64_t domain_start_ex(void *domain, const struct nvtx_event *e)
{
	uint32_t round;
	struct ring *r = ring_now(&round);

	return r ? start_name(r, domains_number(domain), name_of_event(r, e), 0) : 0;
}

static void domain_end(void *domain, uint64_t id)
{
	end(domains_number(domain), id);
}

static void domain_mark_ex(void *domain, const struct nvtx_event *e)
{
	uint32_t round;
	struct ring *r = ring_now(&round);

	if (r)
		mark_name(r, domains_number(domain), name_of_event(r, e));
}

/* ---- for nvtx_chain -----------------------------------------------------------------------------
 */
bool nvtx_has_domain(const void *p)
{
	return domains_has(p);
}

uint16_t nvtx_domain_number(const void *domain)
{
	return domains_number(domain);
}

const void *nvtx_string(const struct nvtx_event *e)
{
	return e->message_type == NVTX_MESSAGE_WIDE ? register_w(NULL, e->message.wide)
	                                            : register_a(NULL, e->message.ascii);
}

const void *nvtx_domain(const struct nvtx_event *e)
{
	return e->message_type == NVTX_MESSAGE_WIDE ? domain_create_w(e->message.wide)
	                                            : domain_create_a(e->message.ascii);
}

uint64_t nvtx_say(enum ring_kind kind, uint16_t domain, const struct nvtx_event *e, uint64_t value)
{
	uint32_t round;
	struct ring *r = ring_now(&round);

	if (!r)
		return value;
	switch (kind) {
	case RING_PUSH: push_name(r, round, domain, name_of_event(r, e)); break;
	case RING_POP: pop(domain); break;
	case RING_START: return start_name(r, domain, name_of_event(r, e), value);
	case RING_END: end(domain, value); break;
	case RING_MARK: mark_name(r, domain, name_of_event(r, e)); break;
	case RING_THREAD:
		ring_put(r, ticks_now(), value, name_of_event(r, e), 0, RING_THREAD);
		break;
	case RING_NODE:
	case RING_COPY: break; /* not of NVTX */
	}
	return value;
}

/* ---- tables ------------------------------------------------------------------------------------
 */
const struct nvtx_row nvtx_rows[] = {
#define NVTX_ROW(module, place, name) { module, place, (nvtx_function *)(name) },
	NVTX_FUNCTIONS(NVTX_ROW)
#undef NVTX_ROW
};
