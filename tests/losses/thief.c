/* SPDX-License-Identifier: Apache-2.0
 *
 * The second client of CUPTI.
 */
#define _GNU_SOURCE
#include "thief.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { KERNEL = 10, BUFFER = 16384 };

static const char *kind = "";
static void *handle;

void thief_kind(const char *k)
{
	kind = k;
}

/* A function of the CUPTI that the recorder has loaded; NULL: none is. */
static void *function(const char *name)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12",
		"libcupti.so.11.8" };
	void *library = NULL;

	for (int i = 0; i < 3 && !library; i++)
		library = dlopen(names[i], RTLD_NOLOAD | RTLD_NOW);
	return library ? dlsym(library, name) : NULL;
}

#define CALL(name, types, ...)                                                                     \
	do {                                                                                       \
		int(*f_) types = (int(*) types)function(name);                                     \
		if (f_)                                                                            \
			f_(__VA_ARGS__);                                                           \
	} while (0)

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = aligned_alloc(8, BUFFER);
	*size = BUFFER;
	*most = 0;
}

/* Memory is kept: it may be the recorder's. */
static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context, (void)stream, (void)buffer, (void)size, (void)valid;
}

static void request_more(uint8_t **buffer, size_t *size, size_t *most, const void *info)
{
	(void)info;
	request(buffer, size, most);
}

static void complete_more(uint8_t *buffer, size_t size, size_t valid, const void *info)
{
	(void)size, (void)valid, (void)info;
	free(buffer);
}

static void called(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)user, (void)domain, (void)cbid, (void)data;
}

static void take_records(void)
{
	CALL("cuptiActivityRegisterCallbacks", (void *, void *), (void *)request, (void *)complete);
	CALL("cuptiActivityEnable", (uint32_t), KERNEL);
}

static void take_handle(void)
{
	struct {
		size_t size;
		const char *name;
		char *holder;
		size_t holder_size;
		uint8_t more, pad[7];
	} p = { .size = 40, .name = "thief", .more = 1 };

	CALL("cuptiSubscribe_v2", (void **, void *, void *, void *), &handle, (void *)called, NULL,
	        &p);
	if (!handle)
		return;
	CALL("cuptiActivityRegisterCallbacks_v2", (void *, void *, void *), handle,
	        (void *)request_more, (void *)complete_more);
	CALL("cuptiActivityEnable_v2", (void *, uint32_t, void *), handle, KERNEL, NULL);
}

static int is(const char *name)
{
	return !strcmp(kind, name);
}

void thief_comes(void)
{
	if (is("callbacks") || is("both"))
		CALL("cuptiSubscribe", (void **, void *, void *), &handle, (void *)called, NULL);
	if (is("records") || is("finalize") || is("both"))
		take_records();
	if (is("disable"))
		CALL("cuptiActivityDisable", (uint32_t), KERNEL);
	if (is("flush"))
		CALL("cuptiActivityFlushAll", (uint32_t), 1);
	if (is("handle"))
		take_handle();
}

void thief_goes(void)
{
	if (is("records") || is("both")) {
		CALL("cuptiActivityFlushAll", (uint32_t), 1);
		CALL("cuptiActivityDisable", (uint32_t), KERNEL);
	}
	if (handle)
		CALL("cuptiUnsubscribe", (void *), handle);
	handle = NULL;
	if (is("finalize"))
		CALL("cuptiFinalize", (void));
}
