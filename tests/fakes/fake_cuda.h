/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface between the fake driver and the fake CUPTI, and the driver functions for test
 * programs. Functions have the driver's names; a function handle is the name of the kernel, a graph
 * is the number of its nodes.
 */
#ifndef FAKES_FAKE_CUDA_H
#define FAKES_FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

enum fake_what {
	FAKE_LAUNCH,
	FAKE_COPY,
	FAKE_SET,
	FAKE_ALLOC,
	FAKE_FREE,
	FAKE_SYNC,
	FAKE_GRAPH,
	FAKE_DESTROY,
	FAKE_RESET, /* cudaDeviceReset */
	FAKE_UNLOAD,
	FAKE_PROFILER_START,
	FAKE_PROFILER_STOP,
	FAKE_GET_DEVICE, /* a call that is of no interest */
	FAKE_GET_VERSION,
	FAKE_BEGIN_CAPTURE,
	FAKE_END_CAPTURE,
};

struct fake_op {
	enum fake_what what;
	const char *name;
	/* bytes: of a graph the number of nodes, of a kernel its length in ns, 0: 1000; of a
	 * captured kernel its number in the graph, from 1 */
	uint64_t bytes, address;
	uint32_t grid[3], block[3], shared, stream;
	int kind;    /* of a copy; of a kernel FAKE_BY_RUNTIME, FAKE_CAPTURED or 0 */
	int entered; /* 1: the call begins, 0: it has ended and the record is due */
};

/* Set by CUPTI when it is subscribed to. */
extern void (*fake_hook)(const struct fake_op *);

enum { FAKE_BY_RUNTIME = 1, FAKE_CAPTURED = 2 };

/* Does an operation as the driver does. */
int fake_run(struct fake_op op);
/* How long all kernels have spun, ns. */
uint64_t fake_spun(void);

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuLaunchKernel(const char *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
        unsigned bz, unsigned shared, void *stream, void **params, void **extra);
int cuGraphLaunch(void *graph, void *stream);
/* Further work of the stream becomes a graph: the number of its nodes. */
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuStreamIsCapturing(void *stream, int *status);
int cuMemcpyHtoD_v2(uint64_t dst, const void *src, size_t n);
int cuMemcpyDtoH_v2(void *dst, uint64_t src, size_t n);
int cuMemcpyPeer(uint64_t dst, void *to, uint64_t src, void *from, size_t n);
int cuMemsetD8_v2(uint64_t dst, unsigned char value, size_t n);
int cuMemAlloc_v2(uint64_t *p, size_t n);
int cuMemFree_v2(uint64_t p);
int cuCtxSynchronize(void);
int cuCtxGetDevice(int *device);
int cuCtxDestroy_v2(void *context);
int cuModuleUnload(void *module);
int cuProfilerStart(void);
int cuProfilerStop(void);
int cudaDeviceReset(void); /* of the runtime, here for simplicity */

#endif
