/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of the fake CUPTI: the variables listed in fake_cupti.c.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake_cupti.h"

unsigned long fake_option(const char *name)
{
	const char *v = getenv(name);

	return v ? strtoul(v, NULL, 10) : 0;
}

int fake_option_is(const char *name, const char *value)
{
	const char *v = getenv(name);

	return v && !strcmp(v, value);
}

uint64_t fake_now(void)
{
	const char *offset = getenv("FAKE_CLOCK_OFFSET"), *drift = getenv("FAKE_CLOCK_DRIFT");
	struct timespec t;
	int64_t ns;

	clock_gettime(CLOCK_REALTIME, &t);
	ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	if (drift)
		ns += ns % 1000000000000 / 1000000 * strtol(drift, NULL, 10);
	return (uint64_t)(ns + (offset ? strtoll(offset, NULL, 10) : 0));
}

int fake_fail(const char *function, unsigned argument)
{
	const char *p = getenv("FAKE_FAIL");
	size_t n = strlen(function);

	while (fake_option_is("FAKE_HANG", function)) {
		__atomic_store_n(&fake.hangs, 1, __ATOMIC_SEQ_CST);
		pause();
	}
	if (GET(fake.dead) && fake_option_is("FAKE_DEAD", "crash"))
		__builtin_trap(); /* a signal that is raised would wait where all are blocked */
	if (GET(fake.dead) && strcmp(function, "ActivityGetNextRecord"))
		return fake_option_is("FAKE_DEAD", "silent") ? OK : NOT_INITIALIZED;

	for (; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		char *end;

		if (strncmp(p, function, n) || p[n] != ':')
			continue;
		int error = (int)strtoul(p + n + 1, &end, 10);

		if (*end != ':' || strtoul(end + 1, NULL, 10) == argument)
			return error;
	}
	return 0;
}
