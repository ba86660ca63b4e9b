/* SPDX-License-Identifier: Apache-2.0
 *
 * A driver with a clockwork GPU, for programs whose launches are counted by somebody else than the
 * recorder. Work ends by the order of launches, not by time: a stream holds back the last
 * LOSSES_DEPTH kernels, and everything behind a kernel whose name begins with "long", until the
 * program synchronises.
 */
#ifndef LOSSES_DRIVER_H
#define LOSSES_DRIVER_H

#include <stddef.h>
#include <stdint.h>

/* Numbers of the real events of a process, in a file that outlives it, one file per process
 * image, in the folder LOSSES_TRUTH. judge.py reads the names of the rows from here. */
enum truth {
	BEGUN,    /* calls that launch a kernel; of those that have ended: */
	LAUNCHED, /* kernels launched one by one, without those that failed or were captured */
	GRAPH_LAUNCHES,  /* launches of graphs */
	GRAPH_KERNELS,   /* the kernels in them */
	CAPTURED,        /* launches into a graph */
	FAILED,          /* launches that the driver refused */
	SUBSCRIBED,      /* subscribers that CUPTI has accepted */
	COUNTED,         /* launches of which a callback was called */
	FLUSHES,         /* flushes that CUPTI was asked for */
	GIVEN,           /* kernel records in buffers given to the first client */
	DROPPED,         /* records of all kinds that CUPTI counts as dropped */
	DROPPED_KERNELS, /* of them: of kernels */
	MUTED,           /* kernels of which CUPTI makes no record, and says nothing */
	STOLEN,          /* kernel records given to another client */
	WRITTEN,         /* records of all kinds in buffers of the first client */
	RETURNED,        /* of them: in buffers that it got back */
	UNREAD,          /* records of all kinds behind an error of cuptiActivityGetNextRecord */
	UNENDED, /* kernel records that were discarded or given without times by a forced flush */
	KERNEL_NAMES, /* different names of kernels */
	RANGE_NAMES,  /* different names of ranges with a kernel inside */
	IN_FLUSH,     /* 1: a flush waits for the program to leave */
	LEAVING,      /* 1: the program leaves */
	STOPPED,      /* 1: the first client has disabled kernels */
	CLIENTS_NOW,  /* subscribers at present */
	UNASKED,      /* launches while kernels were disabled and there was no subscriber */
	DOUBTFUL,     /* launches while kernels were disabled, but the subscriber was still there */
	TRUTHS
};

/* Numbers of this process; never NULL. */
_Atomic uint64_t *losses_truth(void);
#define TRUE_COUNT(which, n) (losses_truth()[which] += (uint64_t)(n))

enum { DRIVER_API = 1, RUNTIME_API = 2 };
enum { ENTER, EXIT };

/* A call of the program, as CUPTI sees it. */
struct call {
	int domain, cbid, site;
	const char *function;
	const void *params;
	uint32_t result, correlation;
	/* Work of a call that has succeeded: kernels, 0: none. */
	uint32_t kernels, graph;
	uint32_t copies;
	const char *kernel;
	void *stream;
};

/* Set by CUPTI. */
extern void (*losses_watch)(struct call *);

/* Numbers a new piece of work of a stream. */
uint64_t losses_work(void *stream);
/* True if a piece of work has ended. */
int losses_ended(void *stream, uint64_t work);

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuLaunchKernel(const char *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
        unsigned bz, unsigned shared, void *stream, void **params, void **extra);
int cudaLaunchKernel(const char *f, void *stream); /* of the runtime, here for simplicity */
int cuGraphLaunch(void *graph, void *stream);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuStreamIsCapturing(void *stream, int *status);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n);
int cuCtxSynchronize(void);

#endif
