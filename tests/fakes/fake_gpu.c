/* SPDX-License-Identifier: Apache-2.0
 *
 * With fake_cuda.c, a driver that has a GPU: enough to rehearse tests/gpu. Kernels take no time,
 * except the spinning one, which reports its duration; captured work becomes a graph.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"

#define EXPORT __attribute__((visibility("default")))

struct event {
	uint64_t at;
};

EXPORT int cuDeviceGetCount(int *n)
{
	*n = 1;
	return 0;
}

EXPORT int cuDeviceGet(int *device, int i)
{
	*device = i;
	return 0;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
	(void)device;
	*context = context;
	return 0;
}

EXPORT int cuDevicePrimaryCtxReset_v2(int device)
{
	(void)device;
	return cuCtxDestroy_v2(NULL);
}

EXPORT int cuCtxSetCurrent(void *context)
{
	(void)context;
	return 0;
}

EXPORT int cuDeviceGetUuid_v2(uint8_t uuid[16], int device)
{
	(void)device;
	for (unsigned i = 0; i < 16; i++)
		uuid[i] = (uint8_t)(0xa0 + i);
	return 0;
}

/* Returns the first version of PTX with a target (PTX ISA manual, release history), times ten; 0:
 * the target is unknown. */
static unsigned version_of_target(unsigned target)
{
	static const struct {
		unsigned target, version;
	} first[] = { { 70, 60 }, { 75, 63 }, { 80, 70 }, { 86, 71 }, { 89, 78 }, { 90, 78 },
		{ 100, 86 } };

	for (unsigned i = 0; i < sizeof first / sizeof *first; i++)
		if (first[i].target == target)
			return first[i].version;
	return 0;
}

/* Accepts PTX for the GPU's generation (FAKE_SM, 90) and older ones, if its version supports its
 * target. */
EXPORT int cuModuleLoadData(void **module, const void *image)
{
	const char *version = strstr(image, ".version "), *target = strstr(image, ".target sm_");
	unsigned major = 0, minor = 0, sm = 0, newest = 90;

	if (getenv("FAKE_SM"))
		newest = (unsigned)atoi(getenv("FAKE_SM"));
	if (!version || sscanf(version, ".version %u.%u", &major, &minor) != 2 || !target ||
	        sscanf(target, ".target sm_%u", &sm) != 1 || !version_of_target(sm) ||
	        major * 10 + minor < version_of_target(sm))
		return 218; /* CUDA_ERROR_INVALID_PTX */
	if (sm > newest)
		return 209; /* CUDA_ERROR_NO_BINARY_FOR_GPU */
	*module = module;
	return 0;
}

/* A function is its name. */
EXPORT int cuModuleGetFunction(char **f, void *module, const char *name)
{
	(void)module;
	*f = strdup(name);
	return !*f;
}

EXPORT int cuStreamCreate(void **stream, unsigned flags)
{
	static uintptr_t next;

	(void)flags;
	*stream = (void *)(13 + next++);
	return 0;
}

EXPORT int cuGraphInstantiateWithFlags(void **made, void *graph, unsigned long long flags)
{
	(void)flags;
	*made = graph;
	return 0;
}

EXPORT int cuMemcpyDtoD_v2(uint64_t dst, uint64_t src, size_t n)
{
	(void)dst, (void)src;
	return cuMemcpyHtoD_v2(dst, NULL, n);
}

EXPORT int cuMemGetInfo_v2(size_t *left, size_t *all)
{
	*left = (size_t)70 << 30;
	*all = (size_t)80 << 30;
	return 0;
}

EXPORT int cuEventCreate(struct event **e, unsigned flags)
{
	(void)flags;
	*e = calloc(1, sizeof **e);
	return !*e;
}

EXPORT int cuEventRecord(struct event *e, void *stream)
{
	(void)stream;
	e->at = fake_spun();
	return 0;
}

EXPORT int cuEventSynchronize(struct event *e)
{
	(void)e;
	return 0;
}

EXPORT int cuEventElapsedTime(float *ms, const struct event *a, const struct event *b)
{
	*ms = (float)((double)(b->at - a->at) / 1e6);
	return 0;
}

struct launch_config {
	unsigned grid[3], block[3], shared;
	void *stream, *attributes;
	unsigned count;
};

EXPORT int cuLaunchKernelEx(
        const struct launch_config *c, const char *f, void **params, void **extra)
{
	return cuLaunchKernel(f, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1],
	        c->block[2], c->shared, c->stream, params, extra);
}
