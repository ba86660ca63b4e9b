/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of this folder: system calls with their own names, UTF-16 text, and errors.
 */
#ifndef TFPROF_PORT_WINDOWS_WINDOWS_INTERNAL_H
#define TFPROF_PORT_WINDOWS_WINDOWS_INTERNAL_H

#define WIN32_LEAN_AND_MEAN 1
#include <windows.h>

#define WIDE_MAX 32768 /* units of the longest path and command line */

/* Sets errno for the last error of the system; returns -1. */
int port_fail(void);

/* Returns text as UTF-16, from malloc, or NULL with errno set. */
wchar_t *port_wide(const char *text);

/* Returns a path as UTF-16, from malloc; longer ones than most functions of the system take are
 * made absolute. */
wchar_t *port_wide_path(const char *path);

/* Returns text as UTF-8, from malloc, or NULL with errno set. */
char *port_narrow(const wchar_t *text);

/* Returns the open file of a descriptor; INVALID_HANDLE_VALUE, with errno set, if it is closed. */
HANDLE port_handle(int fd);

/* Sets up the console and the standard streams of the program. */
void port_console_open(void);

#endif
