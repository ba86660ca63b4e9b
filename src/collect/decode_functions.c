/* SPDX-License-Identifier: Apache-2.0
 *
 * Runtime and driver functions are recognised by their names, because their
 * numbers differ between versions.
 */
#include "collect/decode.h"

#include <string.h>

bool decode_wants(const char *name)
{
	static const char *const yes[] = { "Launch", "Memcpy", "Memset", "Malloc", "MemAlloc",
		"HostAlloc", "Free", "Synchronize", "Profiler", "GraphInstantiate", "MemPrefetch",
		"BeginCapture" };
	static const char *const no[] = { "Node", "Attribute", "Get", "Params", "Support",
		"Callback" };
	bool wanted = false;

	for (unsigned i = 0; i < sizeof yes / sizeof *yes && !wanted; i++)
		wanted = strstr(name, yes[i]);
	for (unsigned i = 0; i < sizeof no / sizeof *no && wanted; i++)
		wanted = !strstr(name, no[i]);
	return wanted;
}

enum decode_launch decode_launches(const char *name)
{
	if (!decode_wants(name) || !strstr(name, "Launch") || strstr(name, "HostFunc"))
		return DECODE_OTHER;
	return strstr(name, "GraphLaunch") ? DECODE_GRAPH : DECODE_KERNEL;
}

size_t decode_unversioned(const char *name)
{
	size_t n = strlen(name), i = n;

	while (i && name[i - 1] >= '0' && name[i - 1] <= '9')
		i--;
	return n - i >= 4 && i > 2 && name[i - 1] == 'v' && name[i - 2] == '_' ? i - 2 : n;
}
