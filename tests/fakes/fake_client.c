/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest client of CUPTI, which make bench runs in place of the collector. It enables
 * kernels, and launches too if LAUNCHES is set, and counts the records without keeping them.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { DRIVER_CALLS = 4, RUNTIME_CALLS = 5, KERNELS = 10 };
#define BUFFER_SIZE ((size_t)1 << 20)
#define SPARE_MAX   64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *spare[SPARE_MAX];
static unsigned spares;
static uint64_t records;
static int (*next_record)(uint8_t *, size_t, void **);

static void requested(uint8_t **buffer, size_t *size, size_t *most)
{
	pthread_mutex_lock(&lock);
	*buffer = spares ? spare[--spares] : NULL;
	pthread_mutex_unlock(&lock);
	if (!*buffer)
		*buffer = aligned_alloc(64, BUFFER_SIZE);
	*size = BUFFER_SIZE;
	*most = 0;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	void *record = NULL;

	(void)context, (void)stream, (void)size;
	pthread_mutex_lock(&lock);
	while (!next_record(buffer, valid, &record))
		records++;
	if (spares < SPARE_MAX) {
		spare[spares++] = buffer;
		buffer = NULL;
	}
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void called(void *user, uint32_t domain, uint32_t id, const void *data)
{
	(void)user, (void)domain, (void)id, (void)data;
}

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	void *h = dlopen("libcupti.so.13", RTLD_NOW);
	int (*subscribe)(void **, void *, void *) = NULL, (*callbacks)(void *, void *) = NULL,
	                                       (*enable)(uint32_t) = NULL;
	void *handle;

	if (!h)
		abort();
	*(void **)&subscribe = dlsym(h, "cuptiSubscribe");
	*(void **)&callbacks = dlsym(h, "cuptiActivityRegisterCallbacks");
	*(void **)&next_record = dlsym(h, "cuptiActivityGetNextRecord");
	*(void **)&enable = dlsym(h, "cuptiActivityEnable");
	if (!subscribe || !callbacks || !next_record || !enable ||
	        subscribe(&handle, (void *)called, NULL) ||
	        callbacks((void *)requested, (void *)completed) || enable(KERNELS))
		abort();
	if (getenv("LAUNCHES") && (enable(DRIVER_CALLS) || enable(RUNTIME_CALLS)))
		abort();
	return 1;
}
