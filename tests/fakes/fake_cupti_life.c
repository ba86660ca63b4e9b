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

EXPORT int cuptiSubscribe(void **s, callback *f, void *user)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	void (**hook)(const struct fake_op *) = cuda ? dlsym(cuda, "fake_hook") : NULL;

	FAIL("Subscribe", 0);
	if (getenv("FAKE_HOLDER") || GET(fake.subscribed))
		return MULTIPLE;
	if (!hook)
		return 999;
	SET(fake.correlation, (uint32_t)fake_option("FAKE_CORRELATION"));
	SET(fake.user, user);
	SET(fake.told, f);
	SET(fake.subscribed, 1);
	SET(fake.finalized, 0);
	__atomic_store_n(hook, fake_ran, __ATOMIC_RELEASE);
	*s = &fake;
	if (fake_option_is("FAKE_EXIT", "subscribe"))
		fake_cupti_die_at_exit();
	return OK;
}

#if NEWER
struct params {
	size_t size;
	const char *name;
	char *old;
	size_t old_size;
};

EXPORT int cuptiSubscribe_v2(void **s, callback *f, void *user, struct params *p)
{
	FAIL("Subscribe_v2", 0);
	if (p->size < sizeof *p)
		return INVALID;
	if (getenv("FAKE_HOLDER") && p->old)
		snprintf(p->old, p->old_size, "CUPTI for %s", getenv("FAKE_HOLDER"));
	return cuptiSubscribe(s, f, user);
}
#endif

/* Ends the subscription, and all kinds of records and callbacks that were enabled. */
static void drop_subscriber(void)
{
	SET(fake.subscribed, 0);
	SET(fake.told, NULL);
	for (unsigned i = 0; i < KINDS; i++)
		SET(fake.kinds[i], 0);
	for (unsigned i = 0; i < CBIDS; i++) {
		for (unsigned d = 0; d < 3; d++)
			SET(fake.single[d][i], 0);
		for (unsigned d = 0; d < 7; d++)
			SET(fake.listening[d][i], 0);
	}
}

EXPORT int cuptiUnsubscribe(void *s)
{
	if (s != &fake || !GET(fake.subscribed))
		return INVALID;
	drop_subscriber();
	FAIL("Unsubscribe", 0);
	return OK;
}

static void finalize(void)
{
	fake_abandon();
	drop_subscriber();
	SET(fake.request, NULL);
	SET(fake.complete, NULL);
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
	(void)s;
	*count = 0;
	for (unsigned i = 0; i < KINDS; i++)
		if (GET(fake.kinds[i])) {
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
		SET(fake.complete, their_complete);
		SET(fake.request, their_request);
	} else {
		fake_flush(1, 0);
	}
	for (unsigned i = 0; i < sizeof their_kinds; i++)
		SET(fake.kinds[their_kinds[i]], what == 1);
	if (what == 2)
		finalize();
}

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
