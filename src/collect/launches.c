/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread's cache line is chosen by the address of its stack.
 */
#define _GNU_SOURCE
#include "collect/launches.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "collect/record_enable.h"

#define STACK_LOG 16 /* threads have at least 64 KB of stack each */

_Static_assert(sizeof(struct spool_count) == 64 + 64 * SPOOL_COUNT_SHARDS, "one cache line each");

static struct spool_count own; /* used if the file cannot be shared */
static struct spool_count written;
static bool is_shared;
static _Atomic bool is_ended;
static struct spool_count *_Atomic count = &own;

/* True if a mapped page of the file stays valid. On network file systems, the server may remove the
 * page, and a write would end the process. */
static bool is_local(int fd)
{
	static const uint32_t local[] = { 0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x858458f6,
		0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e };
	struct statfs s;

	if (fstatfs(fd, &s))
		return false;
	for (unsigned i = 0; i < sizeof local / sizeof *local; i++)
		if ((uint32_t)s.f_type == local[i])
			return true;
	return false;
}

size_t launches_make(int fd)
{
	void *shared = MAP_FAILED;

	memset(&own, 0, sizeof own);
	memcpy(own.magic, SPOOL_COUNT_MAGIC, SPOOL_MAGIC_SIZE);
	own.version = SPOOL_COUNT_VERSION;
	own.size = sizeof own;
	own.writer = (uint32_t)getpid();
	own.flags = SPOOL_COUNT_LATE;
	written = own;
	atomic_store(&is_ended, false);
	is_shared = true;
	atomic_store(&count, &own);
	if (write(fd, &own, sizeof own) != (ssize_t)sizeof own)
		return ftruncate(fd, 0) ? sizeof own : 0;
	if (is_local(fd))
		shared = mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	is_shared = shared != MAP_FAILED;
	if (is_shared) {
		madvise(shared, sizeof own, MADV_DONTFORK);
		atomic_store(&count, shared);
		__atomic_store_n(&((struct spool_count *)shared)->flags, 0, __ATOMIC_RELAXED);
	}
	return sizeof own;
}

void launches_forget(void)
{
	atomic_store(&count, &own);
}

static struct spool_count_shard *mine(struct spool_count *c)
{
	char here;
	uint64_t place = (uint64_t)(uintptr_t)&here >> STACK_LOG;

	return &c->shard[place * 0x9e3779b97f4a7c15u >> 60];
}
_Static_assert(SPOOL_COUNT_SHARDS == 16, "four bits choose one");

static uint64_t *at(struct spool_count_shard *s, enum launch what)
{
	return what == LAUNCH_KERNEL ? &s->kernels : what == LAUNCH_GRAPH ? &s->graphs : &s->unsure;
}

void launches_add(enum launch what, int n)
{
	if (!record_enable_ours())
		return;
	__atomic_fetch_add(at(mine(atomic_load_explicit(&count, memory_order_relaxed)), what),
	        (uint64_t)(int64_t)n, __ATOMIC_RELAXED);
	if (atomic_load_explicit(&is_ended, memory_order_relaxed))
		launches_flag(SPOOL_COUNT_PART);
}

void launches_end(void)
{
	atomic_store(&is_ended, true);
}

uint64_t launches_total(enum launch what)
{
	struct spool_count *c = atomic_load(&count);
	uint64_t n = 0;

	for (unsigned i = 0; i < SPOOL_COUNT_SHARDS; i++)
		n += __atomic_load_n(at(&c->shard[i], what), __ATOMIC_RELAXED);
	return n;
}

void launches_doubt(uint64_t n)
{
	struct spool_count_shard *s = mine(atomic_load(&count));

	__atomic_fetch_add(&s->unsure, n, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&s->kernels, n, __ATOMIC_RELAXED);
}

void launches_flag(uint32_t flags)
{
	if (record_enable_ours())
		__atomic_fetch_or(&atomic_load(&count)->flags, flags, __ATOMIC_RELAXED);
}

uint32_t launches_flags(void)
{
	return __atomic_load_n(&atomic_load(&count)->flags, __ATOMIC_RELAXED);
}

const struct spool_count *launches_news(void)
{
	struct spool_count now = written;

	if (is_shared)
		return NULL;
	now.flags = launches_flags();
	for (unsigned i = 0; i < SPOOL_COUNT_SHARDS; i++)
		for (enum launch k = LAUNCH_KERNEL; k <= LAUNCH_UNSURE; k++)
			*at(&now.shard[i], k) =
			        __atomic_load_n(at(&own.shard[i], k), __ATOMIC_RELAXED);
	if (!memcmp(&now, &written, sizeof now))
		return NULL;
	written = now;
	return &written;
}
