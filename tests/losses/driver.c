/* SPDX-License-Identifier: Apache-2.0
 *
 * LOSSES_DEPTH=100: a stream holds back its last 100 kernels; LOSSES_FAIL=50: each
 * 50th launch fails; LOSSES_DRIVER=12040: the version.
 */
#define _GNU_SOURCE
#include "driver.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define STREAMS  16

EXPORTED void (*losses_watch)(struct call *);

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

/* ---- truth ---- */

static _Atomic uint64_t *page;
static pthread_mutex_t page_lock = PTHREAD_MUTEX_INITIALIZER;

/* A file of this process image; exec and reused ids have files of their own. */
static _Atomic uint64_t *open_page(void)
{
	const char *folder = getenv("LOSSES_TRUTH");
	size_t bytes = TRUTHS * sizeof *page;
	char path[4096];
	void *at;
	int fd = -1;

	for (int i = 0; fd < 0 && i < 1000; i++) {
		snprintf(path, sizeof path, "%s/truth-%d-%d", folder ? folder : ".", getpid(), i);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	}
	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		abort();
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		abort();
	return at;
}

static _Atomic int inited; /* cuInit was called in this process */
static _Atomic int forked; /* after it, a child may not use the driver */

static void in_child(void)
{
	page = NULL;
	forked = inited;
}

__attribute__((constructor)) static void listen_to_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

EXPORTED _Atomic uint64_t *losses_truth(void)
{
	_Atomic uint64_t *at = __atomic_load_n(&page, __ATOMIC_ACQUIRE);

	if (at)
		return at;
	pthread_mutex_lock(&page_lock);
	if (!page)
		__atomic_store_n(&page, open_page(), __ATOMIC_RELEASE);
	pthread_mutex_unlock(&page_lock);
	return page;
}

/* ---- GPU ---- */

static struct stream {
	uint64_t next, done, stop; /* stop: work from here on waits, 0: none does */
	int capturing;
	unsigned captured;
} streams[STREAMS];
static pthread_mutex_t gpu = PTHREAD_MUTEX_INITIALIZER;

static struct stream *stream_of(void *handle)
{
	return &streams[(uintptr_t)handle / 16 % STREAMS];
}

static void advance(struct stream *s, uint64_t to)
{
	if (s->stop && to > s->stop - 1)
		to = s->stop - 1;
	if (s->done < to)
		s->done = to;
}

EXPORTED uint64_t losses_work(void *stream)
{
	struct stream *s = stream_of(stream);
	uint64_t work, depth = setting("LOSSES_DEPTH", 0);

	pthread_mutex_lock(&gpu);
	work = s->next++;
	advance(s, s->next > depth ? s->next - depth : 0);
	pthread_mutex_unlock(&gpu);
	return work;
}

EXPORTED int losses_ended(void *stream, uint64_t work)
{
	int ended;

	pthread_mutex_lock(&gpu);
	ended = work < stream_of(stream)->done;
	pthread_mutex_unlock(&gpu);
	return ended;
}

/* The next work of the stream, and all behind it, ends only when the program synchronises. */
static void hold(void *stream)
{
	struct stream *s = stream_of(stream);

	pthread_mutex_lock(&gpu);
	if (!s->stop)
		s->stop = s->next + 1;
	pthread_mutex_unlock(&gpu);
}

/* ---- calls ---- */

static int told(struct call *c, int site)
{
	void (*watch)(struct call *) = __atomic_load_n(&losses_watch, __ATOMIC_ACQUIRE);

	c->site = site;
	if (watch)
		watch(c);
	return (int)c->result;
}

static _Thread_local struct call *outer; /* a call of the runtime, around one of the driver */

static void number(struct call *c)
{
	static _Atomic uint32_t last;

	c->correlation = outer ? outer->correlation : ++last;
}

static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*begin)(void) = library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;

	inited = 1;
	if (begin)
		begin();
}

EXPORTED int cuInit(unsigned flags)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)flags;
	if (forked)
		return 3; /* CUDA_ERROR_NOT_INITIALIZED */
	losses_truth();
	pthread_once(&once, inject);
	return 0;
}

static void plain(int cbid, const char *function, const void *params);

EXPORTED int cuDriverGetVersion(int *version)
{
	*version = (int)setting("LOSSES_DRIVER", 13000);
	plain(2, "cuDriverGetVersion", NULL);
	return 0;
}

struct launch_params {
	const char *f;
	unsigned size[7];
	void *stream;
	void **params, **extra;
};

static int fails(void)
{
	static _Atomic uint64_t calls;
	uint64_t each = setting("LOSSES_FAIL", 0);

	return each && ++calls % each == 0;
}

static _Thread_local enum truth other_end; /* FAILED or CAPTURED, 0: the kernel is launched */

/* Ends a call; if it is the outermost and has launched nothing, that counts from here on, as CUPTI
 * has called back. */
static int leave(struct call *c)
{
	told(c, EXIT);
	if (!outer && other_end) {
		TRUE_COUNT(other_end, 1);
		other_end = 0;
	}
	return (int)c->result;
}

EXPORTED int cuLaunchKernel(const char *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
        unsigned by, unsigned bz, unsigned shared, void *stream, void **params, void **extra)
{
	struct launch_params p = { f, { gx, gy, gz, bx, by, bz, shared }, stream, params, extra };
	struct call c = { .domain = DRIVER_API,
		.cbid = 307,
		.function = "cuLaunchKernel",
		.params = &p,
		.stream = stream,
		.kernel = f };

	if (forked || !inited)
		return 3;
	number(&c);
	TRUE_COUNT(BEGUN, !outer);
	told(&c, ENTER);
	if (fails()) {
		c.result = 1;
		other_end = FAILED;
	} else if (stream && stream_of(stream)->capturing) {
		stream_of(stream)->captured++;
		other_end = CAPTURED;
	} else {
		if (!strncmp(f, "long", 4))
			hold(stream);
		c.kernels = 1;
		TRUE_COUNT(LAUNCHED, 1);
		if (losses_truth()[STOPPED])
			TRUE_COUNT(losses_truth()[CLIENTS_NOW] ? DOUBTFUL : UNASKED, 1);
	}
	return leave(&c);
}

EXPORTED int cudaLaunchKernel(const char *f, void *stream)
{
	struct call c = { .domain = RUNTIME_API,
		.cbid = 211,
		.function = "cudaLaunchKernel",
		.params = &f,
		.stream = stream };

	if (forked || !inited)
		return 3;
	number(&c);
	TRUE_COUNT(BEGUN, 1);
	told(&c, ENTER);
	outer = &c;
	c.result = (uint32_t)cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
	outer = NULL;
	return leave(&c);
}

EXPORTED int cuGraphLaunch(void *graph, void *stream)
{
	struct {
		void *graph, *stream;
	} p = { graph, stream };
	struct call c = { .domain = DRIVER_API,
		.cbid = 514,
		.function = "cuGraphLaunch",
		.params = &p,
		.stream = stream,
		.kernel = "node",
		.kernels = (uint32_t)(uintptr_t)graph,
		.graph = (uint32_t)(uintptr_t)graph + 1 };

	if (forked || !inited)
		return 3;
	number(&c);
	told(&c, ENTER);
	TRUE_COUNT(GRAPH_LAUNCHES, 1);
	TRUE_COUNT(GRAPH_KERNELS, c.kernels);
	return told(&c, EXIT);
}

/* A call that does nothing on the GPU. */
static void plain(int cbid, const char *function, const void *params)
{
	struct call c = {
		.domain = DRIVER_API, .cbid = cbid, .function = function, .params = params
	};

	number(&c);
	told(&c, ENTER);
	told(&c, EXIT);
}

EXPORTED int cuStreamBeginCapture_v2(void *stream, int mode)
{
	struct {
		void *stream;
		int mode;
	} p = { stream, mode };

	stream_of(stream)->captured = 0;
	stream_of(stream)->capturing = 1;
	plain(539, "cuStreamBeginCapture_v2", &p);
	return 0;
}

EXPORTED int cuStreamEndCapture(void *stream, void **graph)
{
	struct {
		void *stream, **graph;
	} p = { stream, graph };

	stream_of(stream)->capturing = 0;
	*graph = (void *)(uintptr_t)stream_of(stream)->captured;
	plain(497, "cuStreamEndCapture", &p);
	return 0;
}

EXPORTED int cuStreamIsCapturing(void *stream, int *status)
{
	*status = stream && stream_of(stream)->capturing;
	return 0;
}

EXPORTED int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n)
{
	struct {
		uint64_t to;
		const void *from;
		size_t n;
	} p = { to, from, n };
	struct call c = { .domain = DRIVER_API,
		.cbid = 276,
		.function = "cuMemcpyHtoD_v2",
		.params = &p,
		.copies = 1 };

	number(&c);
	told(&c, ENTER);
	return told(&c, EXIT);
}

EXPORTED int cuCtxSynchronize(void)
{
	pthread_mutex_lock(&gpu);
	for (int i = 0; i < STREAMS; i++) {
		streams[i].stop = 0;
		advance(&streams[i], streams[i].next);
	}
	pthread_mutex_unlock(&gpu);
	plain(17, "cuCtxSynchronize", NULL);
	return 0;
}
