/* SPDX-License-Identifier: Apache-2.0
 *
 * The program as a client of CUPTI. Beside the collector, it does what torch.profiler does: it does
 * not subscribe, and its callbacks replace the existing ones. Alone, it reads its own buffers while
 * a kernel runs.
 */
#include "gpu.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUFFER_SIZE ((size_t)1 << 20)
#define BUFFERS_MAX 64

/* Our buffers. The buffers of another client are also returned to us, and are ignored. */
static struct {
	uint8_t *_Atomic data[BUFFERS_MAX];
	_Atomic unsigned n;
	_Atomic uint64_t kernels; /* in returned buffers */
} buffers;

static void requested(uint8_t **buffer, size_t *size, size_t *most)
{
	unsigned i = buffers.n++;

	*most = 0;
	*size = i < BUFFERS_MAX ? BUFFER_SIZE : 0;
	*buffer = i < BUFFERS_MAX ? aligned_alloc(64, BUFFER_SIZE) : NULL;
	if (!*buffer)
		return;
	memset(*buffer, 0, BUFFER_SIZE);
	buffers.data[i] = *buffer;
}

static int is_ours(const uint8_t *buffer)
{
	for (unsigned i = 0; i < BUFFERS_MAX; i++)
		if (buffer && buffers.data[i] == buffer)
			return 1;
	return 0;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	union rec *r = NULL;

	(void)context, (void)stream, (void)size;
	if (!is_ours(buffer))
		return;
	while (!cupti.ActivityGetNextRecord(buffer, valid, &r))
		buffers.kernels += r->kind == ACT_KERNEL;
}

static void work(unsigned n)
{
	gpu_launch(n, NULL);
	DO(cu.cuCtxSynchronize());
}

/* Waits until the collector has fetched all records. */
static void pause_seconds(time_t s)
{
	nanosleep(&(struct timespec){ s, 0 }, NULL);
}

int client_beside(unsigned launches, int last)
{
	int refused;

	gpu_begin();
	work(launches);
	pause_seconds(2);
	gpu_cupti();
	refused = cupti.ActivityRegisterCallbacks(requested, completed);
	if (!refused)
		refused = cupti.ActivityEnable(ACT_KERNEL);
	work(launches);
	if (!last) {
		cupti.ActivityFlushAll(CUPTI_FLUSH_FORCED);
		if (!refused)
			cupti.ActivityDisable(ACT_KERNEL);
		work(launches);
	}
	printf("{\"launches\": %u, \"refused\": %d, \"theirs\": %" PRIu64 ", \"version\": %u}\n",
	        launches * (last ? 2 : 3), refused, (uint64_t)buffers.kernels, cupti.version);
	return 0;
}

/* ---- when a record appears ---- */

static void no_callback(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)user, (void)domain, (void)cbid, (void)data;
}

/* True if CUPTI has written into our buffers. CUPTI may write meanwhile, so the answer is a
 * snapshot. */
static int any_written(void)
{
	for (unsigned i = 0; i < BUFFERS_MAX; i++) {
		const volatile uint8_t *p = buffers.data[i];
		for (size_t at = 0; p && at < BUFFER_SIZE; at++)
			if (p[at])
				return 1;
	}
	return 0;
}

static _Atomic uint64_t seen_at;
static _Atomic int stop;

static void *watch(void *unused)
{
	(void)unused;
	while (!stop && !seen_at)
		if (any_written())
			seen_at = gpu_now();
	return NULL;
}

static double ms_after(uint64_t begin, uint64_t at)
{
	return at ? (double)(int64_t)(at - begin) / 1e6 : -1;
}

int client_visible(unsigned ms)
{
	pthread_t thread;
	void *handle;

	gpu_open();
	gpu_cupti();
	gpu_must(cupti.Subscribe(&handle, no_callback, NULL), "cuptiSubscribe");
	gpu_must(cupti.ActivityRegisterCallbacks(requested, completed),
	        "cuptiActivityRegisterCallbacks");
	gpu_begin();
	gpu_must(cupti.ActivityEnable(ACT_KERNEL), "cuptiActivityEnable");
	gpu_must(pthread_create(&thread, NULL, watch, NULL), "pthread_create");
	uint64_t begin = gpu_now();
	gpu_spin((uint64_t)ms * 1000000, 1, NULL);
	DO(cu.cuCtxSynchronize());
	uint64_t end = gpu_now();
	pause_seconds(1);
	cupti.ActivityFlushAll(0);
	uint64_t delivered = buffers.kernels;
	cupti.ActivityFlushAll(CUPTI_FLUSH_FORCED);
	stop = 1;
	pthread_join(thread, NULL);
	printf("{\"written_ms\": %.3f, \"ended_ms\": %.3f, \"delivered\": %" PRIu64
	       ", \"records\": %" PRIu64 ", \"version\": %u}\n",
	        ms_after(begin, seen_at), ms_after(begin, end), delivered,
	        (uint64_t)buffers.kernels, cupti.version);
	return 0;
}
