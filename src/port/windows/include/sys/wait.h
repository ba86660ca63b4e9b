/* SPDX-License-Identifier: Apache-2.0
 *
 * The compiler has included port/windows/windows_posix.h, which declares these functions.
 */
