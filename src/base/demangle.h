/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of C++ functions: as the language writes them, and what identifies them to a reader, which
 * is their path without templates, parameters and results.
 */
#ifndef TFPROF_BASE_DEMANGLE_H
#define TFPROF_BASE_DEMANGLE_H

#include "base/str.h"

/* Bytes that demangling may still produce; all names of a work share the budget, so that hostile
 * names end. */
#define DEMANGLE_BUDGET ((size_t)64 << 20)

/* The name as C++ writes it, in a; the mangled name itself where it is none of C++, too long, too
 * involved, or the budget is spent. */
struct str demangle(struct arena *a, struct str mangled, size_t *budget);

/* The components of the function's path, from either form: at, native, copy_kernel. Anonymous
 * namespaces are "anonymous", lambdas "lambda#1". A name that is none of C++ is one component. */
void demangle_path(struct arena *a, struct str mangled, struct str full, struct strs *path);

#endif
