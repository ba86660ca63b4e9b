/* SPDX-License-Identifier: Apache-2.0
 *
 * The PTX of the kernels is part of the program.
 */
#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct driver cu;

/* clang-format off */
__asm__(".section .rodata\n"
        ".global kernels_ptx\n"
        "kernels_ptx: .incbin \"tests/gpu/kernels.ptx\"\n"
        ".byte 0\n"
        ".previous\n");
/* clang-format on */
extern const char kernels_ptx[];

void gpu_must(int status, const char *call)
{
	if (!status)
		return;
	fprintf(stderr, "%.*s failed: %d\n", (int)strcspn(call, "("), call, status);
	exit(70);
}

void gpu_open(void)
{
	static const char *const names[] = {
#define DRIVER_NAME(name, arguments) #name,
		DRIVER_FUNCTIONS(DRIVER_NAME)
	};
	void *h = dlopen("libcuda.so.1", RTLD_NOW);

	if (!h) {
		fprintf(stderr, "%s\n", dlerror());
		exit(71);
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		void *f = dlsym(h, names[i]);
		if (!f) {
			fprintf(stderr, "the driver has no %s\n", names[i]);
			exit(71);
		}
		memcpy((char *)&cu + i * sizeof f, &f, sizeof f);
	}
}

/* Returns the kernels for one target: its head and the part of the file after the head. */
static char *ptx_for(const char *target, const char *version)
{
	const char *body = strstr(kernels_ptx, ".address_size");
	char *text = malloc(strlen(body) + 64);

	if (text)
		sprintf(text, ".version %s\n.target %s\n%s", version, target, body);
	return text;
}

/* Loads the kernels for the newest target that the driver accepts. */
static int load_kernels(void)
{
	char target[16], version[16];
	int status = 1;

	for (const char *p = kernels_ptx; status && (p = strstr(p, "// sm_")); p++)
		if (sscanf(p, "// %15s %15s", target, version) == 2) {
			char *text = ptx_for(target, version);
			status = cu.cuModuleLoadData(&cu.module, text);
			free(text);
		}
	return status;
}

void gpu_begin(void)
{
	gpu_open();
	DO(cu.cuInit(0));
	DO(cu.cuDeviceGet(&cu.device, 0));
	DO(cu.cuDevicePrimaryCtxRetain(&cu.context, cu.device));
	DO(cu.cuCtxSetCurrent(cu.context));
	gpu_must(load_kernels(), "cuModuleLoadData");
	DO(cu.cuModuleGetFunction(&cu.empty, cu.module, "empty_kernel"));
	DO(cu.cuModuleGetFunction(&cu.spin, cu.module, "spin_kernel"));
}

void gpu_launch(unsigned n, void *stream)
{
	for (unsigned i = 0; i < n; i++)
		DO(cu.cuLaunchKernel(cu.empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
}

void gpu_launch_grid(unsigned x, unsigned y, unsigned z, unsigned block)
{
	DO(cu.cuLaunchKernel(cu.empty, x, y, z, block, 1, 1, 0, NULL, NULL, NULL));
}

void gpu_spin(uint64_t ns, unsigned n, void *stream)
{
	void *parameters[] = { &ns };

	for (unsigned i = 0; i < n; i++)
		DO(cu.cuLaunchKernel(cu.spin, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

void gpu_copies(size_t n)
{
	uint64_t at;
	void *host = calloc(1, n);

	DO(cu.cuMemAlloc_v2(&at, n));
	DO(cu.cuMemcpyHtoD_v2(at, host, n));
	DO(cu.cuMemcpyDtoH_v2(host, at, n));
	DO(cu.cuMemsetD8_v2(at, 1, n));
	DO(cu.cuMemFree_v2(at));
	free(host);
}

void *gpu_graph(unsigned nodes, void **stream)
{
	void *graph, *made;

	DO(cu.cuStreamCreate(stream, 1));
	DO(cu.cuStreamBeginCapture_v2(*stream, 0));
	gpu_launch(nodes, *stream);
	DO(cu.cuStreamEndCapture(*stream, &graph));
	DO(cu.cuGraphInstantiateWithFlags(&made, graph, 0));
	return made;
}

/* ---- the runtime ---- */

struct dim3 {
	unsigned x, y, z;
};

int gpu_runtime(unsigned n)
{
	const char *path = getenv("TFPROF_GPU_CUDART");
	void *h = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*load)(void **, const void *, void *, void *, unsigned, void *, void *, unsigned);
	int (*kernel_of)(void **, void *, const char *);
	int (*launch)(void *, struct dim3, struct dim3, void **, size_t, void *);
	int (*synchronize)(void);
	void *library, *kernel;
	const struct dim3 one = { 1, 1, 1 };

	if (!h)
		return 0;
	*(void **)&load = dlsym(h, "cudaLibraryLoadData");
	*(void **)&kernel_of = dlsym(h, "cudaLibraryGetKernel");
	*(void **)&launch = dlsym(h, "cudaLaunchKernel");
	*(void **)&synchronize = dlsym(h, "cudaDeviceSynchronize");
	if (!load || !kernel_of || !launch || !synchronize)
		return 0;
	/* The runtime does not name a target that it accepts; sm_80 works on every GPU since 2020.
	 */
	char *text = ptx_for("sm_80", "7.0");
	gpu_must(load(&library, text, NULL, NULL, 0, NULL, NULL, 0), "cudaLibraryLoadData");
	gpu_must(kernel_of(&kernel, library, "empty_kernel"), "cudaLibraryGetKernel");
	for (unsigned i = 0; i < n; i++)
		gpu_must(launch(kernel, one, one, NULL, 0, NULL), "cudaLaunchKernel");
	gpu_must(synchronize(), "cudaDeviceSynchronize");
	free(text);
	return 1;
}

uint64_t gpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct gpu_cupti cupti;

void gpu_cupti(void)
{
	const char *path = getenv("TFPROF_CUPTI_PATH");
	void *h = path ? dlopen(path, RTLD_NOW) : NULL;

	if (!h) {
		fprintf(stderr, "libcupti: %s\n",
		        path ? dlerror() : "TFPROF_CUPTI_PATH is not set");
		exit(71);
	}
#define CUPTI_RESOLVE(name, optional, arguments) *(void **)&cupti.name = dlsym(h, "cupti" #name);
	CUPTI_FUNCTIONS(CUPTI_RESOLVE)
	gpu_must(cupti.GetVersion(&cupti.version), "cuptiGetVersion");
}
