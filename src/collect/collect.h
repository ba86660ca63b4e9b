/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of environment variables and files shared by `tfprof record` and the collector
 * (libtfprof_cupti.so). Names that readers of a session need as well are in io/block_format.h.
 */
#ifndef TFPROF_COLLECT_COLLECT_H
#define TFPROF_COLLECT_COLLECT_H

#include <dlfcn.h>
#include <stddef.h>

#include "io/block_format.h"

#define COLLECT_LIBRARY "libtfprof_cupti.so"

/* Set by `tfprof record`. */
#define COLLECT_ENV_SESSION "TFPROF_SESSION" /* absolute path of the session folder */
#define COLLECT_ENV_OPTS    "TFPROF_OPTS"    /* "name=value,name=value": see COLLECT_OPT_ */
#define COLLECT_ENV_INJECT  "CUDA_INJECTION64_PATH"
#define COLLECT_ENV_NVTX    "NVTX_INJECTION64_PATH"

#define COLLECT_ENV_CHAIN "TFPROF_NVTX_CHAIN" /* a library that receives the ranges as well */

/* May be set by the user. */
#define COLLECT_ENV_CUPTI "TFPROF_CUPTI_PATH" /* the libcupti to open */

/* TFPROF_OPTS is a list of words separated by commas: "name=value", or "name" alone for the value
 * 1. In names, '-' equals '_'; numbers may have units (base/num.h). Among several values for a
 * name, the last counts. An unknown word is reported in the log, and the other words take
 * effect. */
#define COLLECT_OPT_LEVEL    "level"    /* kernels, launches, full */
#define COLLECT_OPT_GRAPHS   "graphs"   /* node, graph */
#define COLLECT_OPT_MEM      "mem"      /* 0, 1 */
#define COLLECT_OPT_SYNC     "sync"     /* 0, 1 */
#define COLLECT_OPT_DELAY    "delay"    /* seconds, with a fraction */
#define COLLECT_OPT_DURATION "duration" /* seconds, with a fraction */
#define COLLECT_OPT_START    "start"    /* ctl: starts idle until `tfprof ctl start` */
#define COLLECT_OPT_SINCE    "since"    /* seconds since 1970: earlier lines of ctl are ignored */
#define COLLECT_OPT_MAX_SIZE                                                                       \
	"max_size"                    /* bytes of one recording; afterwards only sums are written */
#define COLLECT_OPT_NVTX    "nvtx"    /* 0: ranges are not recorded */
#define COLLECT_OPT_VERBOSE "verbose" /* 1: log lines go to standard error too */
#define COLLECT_OPT_OVERHEAD                                                                       \
	"overhead"                  /* 0: CUPTI's reports of its own overhead are not recorded */
#define COLLECT_OPT_DETACH "detach" /* 1: after a stop CUPTI is detached from the process */

/* 1: SIGUSR2 marks a step, unless the program has a handler for it at the start. */
#define COLLECT_OPT_STEP_SIGNAL "step_signal"
/* 1: if recording costs too much, record less: first no calls, then nothing. */
#define COLLECT_OPT_SELF_LIMIT "self_limit"

/* For tests and experiments. */
#define COLLECT_OPT_FLUSH "flush" /* ms between two flushes: 500 */
/* Time in ms without records after which the recorder looks for a reason: 3000. The cost of
 * recording is measured over twice that time. */
#define COLLECT_OPT_SILENCE "silence"
#define COLLECT_OPT_BUFFERS "buffers" /* number of buffers for CUPTI, at most 1024 */
#define COLLECT_OPT_BUFFER_SIZE                                                                    \
	"buffer_size" /* size of the largest buffer in bytes, whole pages: 128Ki */

/* Names of files in the session folder, for snprintf: host (at most COLLECT_HOST_MAX bytes, '/' and
 * control bytes replaced by '_'), pid, start time of the process (clock ticks since boot), random
 * number. */
#define COLLECT_HOST_MAX  64
#define COLLECT_SPOOL_FMT "%s-%ld-%llu-%08x" SPOOL_SUFFIX
#define COLLECT_LOG_FMT   "%ld.log" /* pid */

/* ---- versions of libcupti ---- */

/* File names of libcupti, newest first. Up to version 11, each minor version had a name of its
 * own. */
static const struct cupti_soname {
	int major;
	const char *name;
} cupti_sonames[] = {
	{ 13, "libcupti.so.13" },
	{ 12, "libcupti.so.12" },
	{ 11, "libcupti.so.11.8" },
	{ 11, "libcupti.so.11.7" },
	{ 11, "libcupti.so.11.6" },
	{ 11, "libcupti.so.11.5" },
	{ 11, "libcupti.so.11.4" },
	{ 11, "libcupti.so.11.3" },
	{ 11, "libcupti.so.11.2" },
	{ 11, "libcupti.so.11.1" },
	{ 11, "libcupti.so.11.0" },
	{ 11, "libcupti.so.11" },
};
#define CUPTI_SONAMES (sizeof cupti_sonames / sizeof *cupti_sonames)

/* ---- bad versions of libcupti ----
 *
 * Versions of libcupti that can crash the process that uses them, even in the function that returns
 * the version. The collector therefore recognises them by their exported functions.
 */

struct cupti_bad {
	const char *has, *lacks; /* a function that only these versions export, and a function that
	                            they lack */
	const char *versions;
	const char *reason;
	int driver; /* minimum CUDA version of the driver */
};

/* These versions can initialise only if the driver is new enough and its device file can be opened;
 * otherwise they are not used. */
static const struct cupti_bad cupti_bad[] = {
	{ "cuptiActivityGetStructSize", "cuptiActivityGetNextRecord_v2",
	        "CUDA 13.2 (13.2.23, 13.2.75, 13.2.86)",
	        "calls itself without end where it cannot start", 13020 },
};

/* Returns the row for a loaded libcupti, or NULL if its version is not in the table. */
static inline const struct cupti_bad *cupti_bad_of(void *library)
{
	for (size_t i = 0; i < sizeof cupti_bad / sizeof *cupti_bad; i++)
		if (dlsym(library, cupti_bad[i].has) && !dlsym(library, cupti_bad[i].lacks))
			return &cupti_bad[i];
	return NULL;
}

#endif
