/* SPDX-License-Identifier: Apache-2.0
 *
 * The function of device work: a name that formats agree on. Nsight Systems, PyTorch and the
 * compilers write templates, casts, namespaces and kinds of memory differently.
 */
#ifndef TFPROF_TRACE_WORK_FUNCTION_H
#define TFPROF_TRACE_WORK_FUNCTION_H

#include "trace/trace.h"

/* Returns the name of a kernel without result type, namespaces, templates and parameters; "Memcpy
 * DtoH" of a copy; "Memset" of a set. The name is valid as long as a and the given one. *budget: as
 * in demangle(). */
struct str work_function(
        struct str name, enum trace_category category, struct arena *a, size_t *budget);

#endif
