/* SPDX-License-Identifier: Apache-2.0
 *
 * Confines tfprof mcp to the allowed folders with Landlock, if the kernel has it: a link that is
 * exchanged after its path was checked leads nowhere. The kernel then also refuses to write files
 * and to use TCP. Defines the interface of the kernel itself, because older headers lack it.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/mcp.h"

#define LANDLOCK_CREATE 444 /* numbers of system calls, equal on all processors */
#define LANDLOCK_ADD    445
#define LANDLOCK_APPLY  446

#define ASK_VERSION  1u /* flag of LANDLOCK_CREATE */
#define BENEATH      1  /* kind of rule: everything below a folder */
#define FS_READ_FILE (UINT64_C(1) << 2)
#define FS_READ_DIR  (UINT64_C(1) << 3)
#define FS_VERSION_1 ((UINT64_C(1) << 13) - 1) /* read, write, execute, make and remove */
#define FS_REFER     (UINT64_C(1) << 13)       /* since version 2: link and rename */
#define FS_TRUNCATE  (UINT64_C(1) << 14)       /* since version 3 */
#define NET_TCP      UINT64_C(3)               /* since version 4: bind and connect */

struct ruleset {
	uint64_t fs, net;
};

struct beneath {
	uint64_t access;
	int32_t folder;
} __attribute__((packed));

/* Allows reading below a folder. */
static bool allow(long ruleset, struct str folder, struct arena *a)
{
	struct beneath rule = { .access = FS_READ_FILE | FS_READ_DIR };

	rule.folder = open(str_z(a, folder), O_PATH | O_CLOEXEC);
	if (rule.folder < 0)
		return false;
	bool ok = syscall(LANDLOCK_ADD, ruleset, BENEATH, &rule, 0) == 0;
	close(rule.folder);
	return ok;
}

bool mcp_confine(struct mcp *m)
{
	long version = syscall(LANDLOCK_CREATE, NULL, 0, ASK_VERSION);
	struct ruleset rules = { .fs = FS_VERSION_1 | (version >= 2 ? FS_REFER : 0) |
		                       (version >= 3 ? FS_TRUNCATE : 0),
		.net = version >= 4 ? NET_TCP : 0 };

	if (version < 1)
		return false;
	long ruleset =
	        syscall(LANDLOCK_CREATE, &rules, version >= 4 ? sizeof rules : sizeof rules.fs, 0);
	bool ok = ruleset >= 0;
	for (size_t i = 0; ok && i < m->allowed.n; i++)
		ok = allow(ruleset, m->allowed.v[i], &m->s->query_arena);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	ok = ok && allow(ruleset, S("/proc"), &m->s->query_arena); /* sanitizers read the memory
	                                                              maps */
#endif
	ok = ok && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	     syscall(LANDLOCK_APPLY, ruleset, 0) == 0;
	if (ruleset >= 0)
		close((int)ruleset);
	return ok;
}
