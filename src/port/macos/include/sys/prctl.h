/* SPDX-License-Identifier: Apache-2.0
 *
 * The compiler has included port/macos/macos_posix.h, which has the function of this header.
 */
