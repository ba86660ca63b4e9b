/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of Linux that the sources use and that macOS lacks. The compiler includes this file
 * before each source file of a build for macOS, so that the sources are the same on all systems.
 */
#ifndef TFPROF_PORT_MACOS_POSIX_H
#define TFPROF_PORT_MACOS_POSIX_H

#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <xlocale.h>

#define PORT_SYSTEM "macOS" /* in messages */

#define st_mtim st_mtimespec

#include "port/mremap.h"
#define MADV_HUGEPAGE 14 /* refused; large pages are only a request */

typedef int cpu_set_t;
#define sched_getaffinity(pid, n, set) ((void)(set), -1)
#define CPU_COUNT(set)                 (*(set))

#define prctl(...) ((void)0)

/* Declared by the system for other standards only. */
double lgamma_r(double x, int *sign);

void *memrchr(const void *p, int c, size_t n);

#endif
