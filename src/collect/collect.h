/* SPDX-License-Identifier: Apache-2.0
 *
 * What `tfprof record` and the collector (libtfprof_cupti.so) agree on: names of environment
 * variables and of files. What the reader of a session must know too is in io/spool.h.
 */
#ifndef TFPROF_COLLECT_COLLECT_H
#define TFPROF_COLLECT_COLLECT_H

#include "io/spool.h"

#define COLLECT_LIBRARY "libtfprof_cupti.so"

/* Set by `tfprof record`. */
#define COLLECT_ENV_SESSION "TFPROF_SESSION" /* absolute path of the session folder */
#define COLLECT_ENV_OPTS    "TFPROF_OPTS"    /* "name=value,name=value": see COLLECT_OPT_ */
#define COLLECT_ENV_INJECT  "CUDA_INJECTION64_PATH"
#define COLLECT_ENV_NVTX    "NVTX_INJECTION64_PATH"

/* May be set by the user. */
#define COLLECT_ENV_JOB   "TFPROF_JOB"        /* name of the job, for merging */
#define COLLECT_ENV_CUPTI "TFPROF_CUPTI_PATH" /* the libcupti to open */

/* Names in TFPROF_OPTS. */
#define COLLECT_OPT_LEVEL    "level"    /* kernels, launches, full */
#define COLLECT_OPT_GRAPHS   "graphs"   /* node, graph */
#define COLLECT_OPT_MEM      "mem"      /* 0, 1 */
#define COLLECT_OPT_SYNC     "sync"     /* 0, 1 */
#define COLLECT_OPT_DELAY    "delay"    /* ms */
#define COLLECT_OPT_DURATION "duration" /* ms */
#define COLLECT_OPT_START    "start"    /* ctl: wait for `tfprof ctl start` */
#define COLLECT_OPT_MAX_SIZE "max_size" /* bytes of one spool, then sums only */
#define COLLECT_OPT_NVTX     "nvtx"     /* 0: no ranges */
#define COLLECT_OPT_VERBOSE  "verbose"  /* 1: sentences on standard error too */

/* Files in the session folder, for snprintf: host (at most COLLECT_HOST_MAX bytes, '/' and control
 * bytes replaced by '_'), pid, start time of the process (clock ticks since boot), random. */
#define COLLECT_HOST_MAX  64
#define COLLECT_SPOOL_FMT "%s-%ld-%llu-%08x" SPOOL_SUFFIX
#define COLLECT_LOG_FMT   "%ld.log" /* pid */

#endif
