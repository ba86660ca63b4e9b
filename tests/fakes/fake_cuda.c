/* SPDX-License-Identifier: Apache-2.0
 *
 * A driver without a GPU: libcuda.so.1 for tests. cuInit loads the library that
 * CUDA_INJECTION64_PATH names, as the real one does; work takes no time, and is reported to the
 * fake CUPTI if there is one. FAKE_DRIVER=12040   the version (13000) FAKE_INJECT=2       how often
 * InitializeInjection is called FAKE_STUCK=1        cuCtxSynchronize does not return
 */
#define _GNU_SOURCE
#include "fake_cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void (*fake_hook)(const struct fake_op *);

static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH"), *times = getenv("FAKE_INJECT");
	void *h = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*begin)(void) = h ? (int (*)(void))dlsym(h, "InitializeInjection") : NULL;

	for (int i = times ? atoi(times) : 1; begin && i > 0; i--)
		if (begin() != 1)
			abort(); /* the real one would go on; here it is a failed test */
}

EXPORT int cuInit(unsigned flags)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)flags;
	pthread_once(&once, inject);
	return 0;
}

EXPORT int cuDriverGetVersion(int *version)
{
	const char *v = getenv("FAKE_DRIVER");

	*version = v ? atoi(v) : 13000;
	return fake_run((struct fake_op){ .what = FAKE_GET_VERSION });
}

EXPORT int fake_run(struct fake_op op)
{
	void (*hook)(const struct fake_op *) = __atomic_load_n(&fake_hook, __ATOMIC_ACQUIRE);

	if (!hook)
		return 0;
	op.entered = 1;
	hook(&op);
	op.entered = 0;
	hook(&op);
	return 0;
}

/* State of stream capture: the stream, and the number of captured launches. */
static void *_Atomic capturing;
static _Atomic unsigned captured;
static _Atomic uint64_t spun;

EXPORT int cuStreamBeginCapture_v2(void *stream, int mode)
{
	(void)mode;
	captured = 0;
	capturing = stream;
	return fake_run((struct fake_op){ .what = FAKE_BEGIN_CAPTURE });
}

EXPORT int cuStreamEndCapture(void *stream, void **graph)
{
	(void)stream;
	*graph = (void *)(uintptr_t)captured;
	capturing = NULL;
	return fake_run((struct fake_op){ .what = FAKE_END_CAPTURE });
}

EXPORT int cuStreamIsCapturing(void *stream, int *status)
{
	*status = stream && stream == capturing;
	return 0;
}

EXPORT uint64_t fake_spun(void)
{
	return spun;
}

EXPORT int cuLaunchKernel(const char *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
        unsigned by, unsigned bz, unsigned shared, void *stream, void **params, void **extra)
{
	uint64_t ns = params && f && !strcmp(f, "spin_kernel") ? *(uint64_t *)params[0] : 0;

	(void)extra;
	if (stream && stream == capturing) {
		captured++;
		return fake_run((struct fake_op){ .what = FAKE_LAUNCH,
		        .name = f,
		        .kind = FAKE_CAPTURED,
		        .bytes = captured,
		        .stream = (uint32_t)(uintptr_t)stream });
	}
	spun += ns;
	return fake_run((struct fake_op){ .what = FAKE_LAUNCH,
	        .name = f,
	        .bytes = ns,
	        .grid = { gx, gy, gz },
	        .block = { bx, by, bz },
	        .shared = shared,
	        .stream = (uint32_t)(uintptr_t)stream });
}

EXPORT int cuGraphLaunch(void *graph, void *stream)
{
	return fake_run((struct fake_op){ .what = FAKE_GRAPH,
	        .bytes = (uintptr_t)graph,
	        .stream = (uint32_t)(uintptr_t)stream });
}

EXPORT int cuMemcpyHtoD_v2(uint64_t dst, const void *src, size_t n)
{
	(void)dst, (void)src;
	return fake_run((struct fake_op){ .what = FAKE_COPY, .bytes = n, .kind = 1 });
}

EXPORT int cuMemcpyDtoH_v2(void *dst, uint64_t src, size_t n)
{
	(void)dst, (void)src;
	return fake_run((struct fake_op){ .what = FAKE_COPY, .bytes = n, .kind = 2 });
}

EXPORT int cuMemcpyPeer(uint64_t dst, void *to, uint64_t src, void *from, size_t n)
{
	(void)dst, (void)to, (void)src, (void)from;
	return fake_run((struct fake_op){ .what = FAKE_COPY, .bytes = n, .kind = 10 });
}

EXPORT int cuMemsetD8_v2(uint64_t dst, unsigned char value, size_t n)
{
	(void)dst, (void)value;
	return fake_run((struct fake_op){ .what = FAKE_SET, .bytes = n });
}

EXPORT int cuMemAlloc_v2(uint64_t *p, size_t n)
{
	static uint64_t next = 0x7f0000000000;

	*p = __atomic_fetch_add(&next, (n + 511) & ~(size_t)511, __ATOMIC_RELAXED);
	return fake_run((struct fake_op){ .what = FAKE_ALLOC, .bytes = n, .address = *p });
}

EXPORT int cuMemFree_v2(uint64_t p)
{
	return fake_run((struct fake_op){ .what = FAKE_FREE, .address = p });
}

EXPORT int cuCtxSynchronize(void)
{
	while (getenv("FAKE_STUCK"))
		pause();
	return fake_run((struct fake_op){ .what = FAKE_SYNC });
}

EXPORT int cuCtxGetDevice(int *device)
{
	*device = 0;
	return fake_run((struct fake_op){ .what = FAKE_GET_DEVICE });
}

EXPORT int cuCtxDestroy_v2(void *context)
{
	(void)context;
	return fake_run((struct fake_op){ .what = FAKE_DESTROY });
}

EXPORT int cuModuleUnload(void *module)
{
	(void)module;
	return fake_run((struct fake_op){ .what = FAKE_UNLOAD });
}

EXPORT int cuProfilerStart(void)
{
	return fake_run((struct fake_op){ .what = FAKE_PROFILER_START });
}

EXPORT int cuProfilerStop(void)
{
	return fake_run((struct fake_op){ .what = FAKE_PROFILER_STOP });
}

EXPORT int cudaDeviceReset(void)
{
	return fake_run((struct fake_op){ .what = FAKE_RESET });
}
