/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of C++ functions: the demangled name, the path without templates, parameters and result
 * type, by which readers identify a function, and the reduced name that tables show.
 */
#ifndef TFPROF_BASE_DEMANGLE_H
#define TFPROF_BASE_DEMANGLE_H

#include "base/str.h"

/* Remaining number of bytes that demangling may produce. All names of a job share this budget,
 * which limits the time for malicious names. */
#define DEMANGLE_BUDGET ((size_t)64 << 20)

/* Returns the demangled name, in a. Returns the given name if it is not a C++ name, is too long or
 * too complex, or if the budget is used up. */
struct str demangle(struct arena *a, struct str mangled, size_t *budget);

/* Appends the components of the function's path, from either form: at, native, copy_kernel.
 * Anonymous namespaces are "anonymous", lambdas "lambda#1". A name that is not a C++ name is one
 * component. */
void demangle_path(struct arena *a, struct str mangled, struct str full, struct strs *path);

#define REDUCED_ARGUMENTS 2 /* number of template arguments in a reduced name */

/* Returns a demangled name without its result type, namespaces and parameters, in a: copy_kernel<4,
 * float, ...> for void at::native::copy_kernel<4, float, int>(int). Template arguments are reduced
 * in the same way, and "..." replaces the arguments after the first `arguments`. For a name that is
 * still mangled, returns the path of the function, or with arguments SIZE_MAX the whole name. A
 * text that is not the name of a C++ function with template arguments or parameters is returned
 * unchanged. In a path such as linear/addmm/void gemm<float>(float*), only the last part is
 * reduced. */
struct str demangle_reduce(struct arena *a, struct str full, size_t arguments);

#endif
