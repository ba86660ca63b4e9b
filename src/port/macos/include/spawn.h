/* SPDX-License-Identifier: Apache-2.0
 *
 * The header of the system, without a macro that has the name of a function of base/err.h.
 */
#include_next <spawn.h>
#undef err_system
