/* SPDX-License-Identifier: Apache-2.0
 *
 * What `tfprof record` and the collector (libtfprof_cupti.so) agree on: names of environment
 * variables and of files. What the reader of a session must know too is in io/spool.h.
 */
#ifndef TFPROF_COLLECT_COLLECT_H
#define TFPROF_COLLECT_COLLECT_H

#include "io/block_format.h"

#define COLLECT_LIBRARY "libtfprof_cupti.so"

/* Set by `tfprof record`. */
#define COLLECT_ENV_SESSION "TFPROF_SESSION" /* absolute path of the session folder */
#define COLLECT_ENV_OPTS    "TFPROF_OPTS"    /* "name=value,name=value": see COLLECT_OPT_ */
#define COLLECT_ENV_INJECT  "CUDA_INJECTION64_PATH"
#define COLLECT_ENV_NVTX    "NVTX_INJECTION64_PATH"

#define COLLECT_ENV_CHAIN "TFPROF_NVTX_CHAIN" /* a library that is told of ranges beside ours */

/* May be set by the user. */
#define COLLECT_ENV_CUPTI "TFPROF_CUPTI_PATH" /* the libcupti to open */

/* TFPROF_OPTS is words between commas, "name=value" or, for what is 0 or 1, "name" alone, which
 * is 1. In names '-' counts as '_'; numbers may have units (base/quantity.h); of a name that comes
 * twice the last one holds. A word that is not understood is told in the log, and the others hold.
 */
#define COLLECT_OPT_LEVEL    "level"    /* kernels, launches, full */
#define COLLECT_OPT_GRAPHS   "graphs"   /* node, graph */
#define COLLECT_OPT_MEM      "mem"      /* 0, 1 */
#define COLLECT_OPT_SYNC     "sync"     /* 0, 1 */
#define COLLECT_OPT_DELAY    "delay"    /* seconds, with a fraction */
#define COLLECT_OPT_DURATION "duration" /* likewise */
#define COLLECT_OPT_START    "start"    /* ctl: wait for `tfprof ctl start` */
#define COLLECT_OPT_SINCE    "since"    /* seconds since 1970: earlier orders of ctl do not count */
#define COLLECT_OPT_MAX_SIZE "max_size" /* bytes of one spool, then sums only */
#define COLLECT_OPT_NVTX     "nvtx"     /* 0: no ranges */
#define COLLECT_OPT_VERBOSE  "verbose"  /* 1: sentences on standard error too */
#define COLLECT_OPT_OVERHEAD "overhead" /* 0: not what CUPTI says of its own cost */
#define COLLECT_OPT_DETACH   "detach"   /* 1: after a stop CUPTI leaves the process */

/* 1: SIGUSR2 marks a step, if the program has no use for it at the start. */
#define COLLECT_OPT_STEP_SIGNAL "step_signal"
/* 1: where recording costs too much it records less: first no calls, then nothing. */
#define COLLECT_OPT_SELF_LIMIT "self_limit"

/* For tests and experiments. */
#define COLLECT_OPT_FLUSH "flush" /* ms between two flushes: 500 */
#define COLLECT_OPT_SILENCE                                                                        \
	"silence" /* ms without records that are looked into: 3000; twice as long is judged what   \
	             recording costs */
#define COLLECT_OPT_BUFFERS     "buffers"     /* that CUPTI may fill: 1024, which is the most */
#define COLLECT_OPT_BUFFER_SIZE "buffer_size" /* of the largest, bytes, whole pages: 128Ki */

/* Files in the session folder, for snprintf: host (at most COLLECT_HOST_MAX bytes, '/' and control
 * bytes replaced by '_'), pid, start time of the process (clock ticks since boot), random. */
#define COLLECT_HOST_MAX  64
#define COLLECT_SPOOL_FMT "%s-%ld-%llu-%08x" SPOOL_SUFFIX
#define COLLECT_LOG_FMT   "%ld.log" /* pid */

#endif
