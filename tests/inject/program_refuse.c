/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls of the collector that the program makes fail: its functions precede those of the C
 * library. This works under sanitizers and valgrind, where limits of the system do not.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program.h"

static int maps_left = -1; /* mappings that succeed; -1: all */
static int no_threads, secure;

/* Called before a sanitizer is ready for instrumented code. */
__attribute__((no_sanitize_address, no_sanitize_thread)) void *mmap(
        void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	if (!maps_left) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	if (maps_left > 0)
		maps_left--;
	return (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*work)(void *), void *user)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
	        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
	                RTLD_NEXT, "pthread_create");

	return no_threads ? EAGAIN : real(thread, attr, work, user);
}

char *secure_getenv(const char *name)
{
	return secure ? NULL : getenv(name);
}

static void do_no_memory(void)
{
	maps_left = (int)number(0, 0);
}

static void do_no_threads(void)
{
	no_threads = 1;
}

/* Behaves like a program that runs with the rights of another user. */
static void do_secure(void)
{
	secure = 1;
}

const struct word refuse_words[] = {
	{ "no-memory", do_no_memory },
	{ "no-threads", do_no_threads },
	{ "secure", do_secure },
	{ NULL, NULL },
};
