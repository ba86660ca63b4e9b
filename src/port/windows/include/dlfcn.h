/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared libraries are not loaded on Windows; collect/collect.h names these functions.
 */
#define dlsym(library, name) ((void)(library), (void)(name), (void *)0)
