/* SPDX-License-Identifier: Apache-2.0
 *
 * Clients of the fake CUPTI: subscription, replacement of buffer callbacks, and its end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cupti.h"

struct fake_client *fake_client_of(void *handle)
{
	for (struct fake_client *c = fake.client; c < fake.client + CLIENTS; c++)
		if (handle == c && GET(c->subscribed))
			return c;
	return NULL;
}

static int subscribe(struct fake_client *c, void **s, callback *f, void *user)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	void (**hook)(const struct fake_op *) = cuda ? dlsym(cuda, "fake_hook") : NULL;

	if (!hook)
		return 999;
	if (!GET(fake.several))
		SET(fake.correlation, (uint32_t)fake_option("FAKE_CORRELATION"));
	SET(c->user, user);
	SET(c->told, f);
	SET(c->subscribed, 1);
	SET(fake.finalized, 0);
	__atomic_store_n(hook, fake_ran, __ATOMIC_RELEASE);
	*s = c;
	if (fake_option_is("FAKE_EXIT", "subscribe"))
		fake_cupti_die_at_exit();
	return OK;
}

EXPORT int cuptiSubscribe(void **s, callback *f, void *user)
{
	FAIL("Subscribe", 0);
	if (getenv("FAKE_HOLDER") || GET(fake.client->subscribed) || GET(fake.client[1].subscribed))
		return MULTIPLE;
	SET(fake.several, 0);
	return subscribe(fake.client, s, f, user);
}

#if NEWER
struct params {
	size_t size;
	const char *name;
	char *old;
	size_t old_size;
	uint8_t allow_more;
};

/* A client that lets others in. */
static int subscribe_one(struct fake_client *c, void **s, callback *f, void *user)
{
	int others = GET(fake.client->subscribed) || GET(fake.client[1].subscribed);

	if (getenv("FAKE_HOLDER") || GET(c->subscribed) || (others && !GET(fake.several)))
		return MULTIPLE;
	SET(fake.several, 1);
	return subscribe(c, s, f, user);
}

EXPORT int cuptiSubscribe_v2(void **s, callback *f, void *user, struct params *p)
{
	FAIL("Subscribe_v2", 0);
	if (p->size < offsetof(struct params, allow_more))
		return INVALID;
	if (getenv("FAKE_HOLDER") && p->old)
		snprintf(p->old, p->old_size, "CUPTI for %s", getenv("FAKE_HOLDER"));
	if (MANY && p->size > offsetof(struct params, allow_more) && p->allow_more)
		return subscribe_one(fake.client, s, f, user);
	return cuptiSubscribe(s, f, user);
}
#endif

/* Ends a subscription, and all kinds of records and callbacks that were enabled. */
static void drop_subscriber(struct fake_client *c)
{
	SET(c->subscribed, 0);
	SET(c->told, NULL);
	for (unsigned i = 0; i < KINDS; i++)
		SET(c->kinds[i], 0);
	for (unsigned i = 0; i < CBIDS; i++) {
		for (unsigned d = 0; d < 3; d++)
			SET(c->single[d][i], 0);
		for (unsigned d = 0; d < 7; d++)
			SET(c->listening[d][i], 0);
	}
}

EXPORT int cuptiUnsubscribe(void *s)
{
	if (!fake_client_of(s))
		return INVALID;
	drop_subscriber(s);
	FAIL("Unsubscribe", 0);
	return OK;
}

static void finalize(void)
{
	fake_abandon();
	for (struct fake_client *c = fake.client; c < fake.client + CLIENTS; c++) {
		drop_subscriber(c);
		SET(c->request, NULL);
		SET(c->complete, NULL);
		SET(c->request_v2, NULL);
		SET(c->complete_v2, NULL);
	}
}

#ifndef FAKE_BARE
EXPORT int cuptiFinalize(void)
{
	FAIL("Finalize", 0);
	finalize();
	return OK;
}
#endif

#if NEWEST
EXPORT int cuptiActivityGetEnabledKinds(void *s, unsigned *kinds, unsigned *size, unsigned *count)
{
	unsigned room = kinds ? *size / (unsigned)sizeof *kinds : 0;

	FAIL("ActivityGetEnabledKinds", 0);
	*count = 0;
	for (unsigned i = 0; i < KINDS; i++)
		if ((s != &fake.client[1] && GET(fake.client->kinds[i])) ||
		        (s != fake.client && GET(fake.client[1].kinds[i]))) {
			if (*count < room)
				kinds[*count] = i;
			++*count;
		}
	return OK;
}
#endif

/* ---- a second client ---- */

/* As a profiler inside the program does: it does not subscribe, its callbacks take the place of the
 * others, and at its end it switches off the kinds that it switched on. */
static const unsigned char their_kinds[] = { 1, 2, 4, 5, 10, 17, 22 };
#define THEIR_SIZE 65544 /* no buffer of the collector has it */

static void their_request(uint8_t **buffer, size_t *size, size_t *most)
{
	*most = 0;
	*size = THEIR_SIZE;
	*buffer = memset(fake_alloc(NULL, *size), 0, *size);
}

/* Leaves settings of other clients unchanged. */
static void their_complete(
        void *context, unsigned stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context, (void)stream, (void)valid;
	if (size == THEIR_SIZE)
		free(buffer);
}

/* 1: it begins; 0: it ends; 2: it ends and takes CUPTI out of the process. */
EXPORT void fake_cupti_steal(unsigned long what)
{
	if (what == 1) {
		SET(fake.client->complete, their_complete);
		SET(fake.client->request, their_request);
	} else {
		fake_flush(1, 0);
	}
	for (unsigned i = 0; i < sizeof their_kinds; i++)
		SET(fake.client->kinds[their_kinds[i]], what == 1);
	if (what == 2)
		finalize();
}

#if MANY
static _Atomic uint64_t their_records;

static void their_request_v2(uint8_t **buffer, size_t *size, size_t *most, void *info)
{
	(void)info;
	their_request(buffer, size, most);
}

static void their_complete_v2(uint8_t *buffer, size_t size, size_t valid, void *info)
{
	uint8_t *r = NULL;

	(void)info;
	while (!fake_next_record(buffer, valid, &r))
		their_records += *(uint32_t *)(void *)r == 10;
	their_complete(NULL, 0, buffer, size, valid);
}

/* As a client that uses the functions with a client does. 1: it begins, 2: it begins and wants
 * whole graphs, 0: it ends. Returns the kernels that it has; -1: it is refused. */
EXPORT long fake_cupti_share(unsigned long what)
{
	struct fake_client *c = &fake.client[1];
	void *s;

	if (what && subscribe_one(c, &s, NULL, NULL))
		return -1;
	SET(c->request_v2, their_request_v2);
	SET(c->complete_v2, their_complete_v2);
	if (what == 2)
		SET(fake.whole_graphs, 1);
	SET(c->kinds[10], what != 0);
	fake_flush(1, 0);
	if (!what)
		drop_subscriber(c);
	return (long)their_records;
}
#endif

/* ---- the end of the process ---- */

static void die(void)
{
	SET(fake.dead, 1);
}

EXPORT void fake_cupti_die_at_exit(void)
{
	atexit(die);
}

__attribute__((constructor)) static void opened(void)
{
	if (fake_option_is("FAKE_EXIT", "open"))
		fake_cupti_die_at_exit();
}
