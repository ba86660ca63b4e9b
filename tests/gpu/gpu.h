/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA driver as the test program for machines with a GPU uses it: opened at run time, so that
 * the program is built without CUDA.
 */
#ifndef TESTS_GPU_GPU_H
#define TESTS_GPU_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "collect/cupti_abi.h"

#define DRIVER_FUNCTIONS(F)                                                                        \
	F(cuInit, (unsigned))                                                                      \
	F(cuDriverGetVersion, (int *))                                                             \
	F(cuDeviceGet, (int *, int))                                                               \
	F(cuDeviceGetUuid_v2, (uint8_t[16], int))                                                  \
	F(cuDevicePrimaryCtxRetain, (void **, int))                                                \
	F(cuCtxSetCurrent, (void *))                                                               \
	F(cuCtxSynchronize, (void))                                                                \
	F(cuModuleLoadData, (void **, const void *))                                               \
	F(cuModuleGetFunction, (void **, void *, const char *))                                    \
	F(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
	                          unsigned, void *, void **, void **))                             \
	F(cuStreamCreate, (void **, unsigned))                                                     \
	F(cuStreamBeginCapture_v2, (void *, int))                                                  \
	F(cuStreamEndCapture, (void *, void **))                                                   \
	F(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long))                      \
	F(cuGraphLaunch, (void *, void *))                                                         \
	F(cuMemAlloc_v2, (uint64_t *, size_t))                                                     \
	F(cuMemFree_v2, (uint64_t))                                                                \
	F(cuMemcpyHtoD_v2, (uint64_t, const void *, size_t))                                       \
	F(cuMemcpyDtoH_v2, (void *, uint64_t, size_t))                                             \
	F(cuMemsetD8_v2, (uint64_t, unsigned char, size_t))

#define DRIVER_FUNCTION(name, arguments) int(*name) arguments;
extern struct driver {
	DRIVER_FUNCTIONS(DRIVER_FUNCTION)
	int device;
	void *context, *module, *empty, *spin;
} cu;

/* Ends the program with a message if the call failed. */
#define DO(call) gpu_must(call, #call)
void gpu_must(int status, const char *call);

/* Opens the driver; with gpu_begin also makes a context on the first GPU and loads the kernels. */
void gpu_open(void);
void gpu_begin(void);
void gpu_launch(unsigned n, void *stream);
/* One launch with a grid of its own. */
void gpu_launch_grid(unsigned x, unsigned y, unsigned z, unsigned block);
void gpu_spin(uint64_t ns, unsigned n, void *stream);
/* Copies n bytes to the GPU and back, and sets them. */
void gpu_copies(size_t n);
/* An instantiated graph of empty kernels, and the stream to launch it in. */
void *gpu_graph(unsigned nodes, void **stream);
/* Launches by the runtime. False: there is no libcudart that can. */
int gpu_runtime(unsigned n);
uint64_t gpu_now(void); /* CLOCK_REALTIME, ns */

/* The functions of libcupti; NULL if it lacks the function. */
#define CUPTI_POINTER(name, optional, arguments) int(*name) arguments;
extern struct gpu_cupti {
	CUPTI_FUNCTIONS(CUPTI_POINTER)
	uint32_t version;
} cupti;
/* Opens libcupti: TFPROF_CUPTI_PATH. */
void gpu_cupti(void);

/* Raw buffers of CUPTI: see raw.c. */
int raw_capture(const char *folder);
int raw_read(const char *path);
/* API functions that CUPTI refuses to record; offset of CUPTI's clock to CLOCK_REALTIME. */
int cupti_refused(void);
int cupti_clock(unsigned readings);

/* The program as a client of CUPTI beside the collector, or alone: see client.c. */
int client_beside(unsigned launches, int last);
int client_visible(unsigned ms);

#endif
