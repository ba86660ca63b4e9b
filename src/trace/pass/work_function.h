/* SPDX-License-Identifier: Apache-2.0
 *
 * Normalises names of device work, so that traces of different formats can be compared. Nsight
 * Systems, PyTorch and the compilers write templates, casts, namespaces and memory kinds
 * differently.
 */
#ifndef TFPROF_TRACE_WORK_FUNCTION_H
#define TFPROF_TRACE_WORK_FUNCTION_H

#include "trace/trace.h"

/* Returns the name of a kernel without result type, namespaces, templates and parameters; for a
 * copy "Memcpy DtoH", for a memset "Memset". The result may point into name, or lives in a.
 * *budget: as in demangle(). */
struct str work_function(
        struct str name, enum trace_category category, struct arena *a, size_t *budget);

#endif
