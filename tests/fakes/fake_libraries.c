/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of libcudart, libcublas and libcudnn used in a rehearsal of tests/gpu, in one library:
 * each is a launch in the fake driver.
 */
#include <stddef.h>
#include <string.h>

#include "fake_cuda.h"

#define EXPORT __attribute__((visibility("default")))

struct dim3 {
	unsigned x, y, z;
};

/* ---- runtime ---- */

EXPORT int cudaLibraryLoadData(void **library, const void *code, void *a, void *b, unsigned n,
        void *c, void *d, unsigned m)
{
	(void)code, (void)a, (void)b, (void)n, (void)c, (void)d, (void)m;
	*library = library;
	return cuInit(0);
}

EXPORT int cudaLibraryGetKernel(char **kernel, void *library, const char *name)
{
	(void)library;
	*kernel = strdup(name);
	return !*kernel;
}

EXPORT int cudaLaunchKernel(const void *f, struct dim3 grid, struct dim3 block, void **args,
        size_t shared, void *stream)
{
	(void)args;
	return fake_run((struct fake_op){ .what = FAKE_LAUNCH,
	        .name = f,
	        .kind = FAKE_BY_RUNTIME,
	        .grid = { grid.x, grid.y, grid.z },
	        .block = { block.x, block.y, block.z },
	        .shared = (uint32_t)shared,
	        .stream = (uint32_t)(uintptr_t)stream });
}

EXPORT int cudaDeviceSynchronize(void)
{
	return cuCtxSynchronize();
}

/* ---- libraries: any handle will do ---- */

static int give(void **handle)
{
	*handle = handle;
	return 0;
}

static int work(const char *kernel)
{
	return cuLaunchKernel(kernel, 1, 1, 1, 128, 1, 1, 0, NULL, NULL, NULL);
}

EXPORT int cublasCreate_v2(void **handle)
{
	return give(handle);
}

EXPORT int cublasSgemm_v2(void *handle)
{
	(void)handle;
	return work("fake_sgemm_128x128");
}

EXPORT int cudnnCreate(void **handle)
{
	return give(handle);
}

EXPORT int cudnnCreateTensorDescriptor(void **handle)
{
	return give(handle);
}

EXPORT int cudnnSetTensor4dDescriptor(void *handle)
{
	return !handle;
}

EXPORT int cudnnCreateActivationDescriptor(void **handle)
{
	return give(handle);
}

EXPORT int cudnnSetActivationDescriptor(void *handle)
{
	return !handle;
}

EXPORT int cudnnActivationForward(void *handle)
{
	(void)handle;
	return work("fake_activation_fw");
}
