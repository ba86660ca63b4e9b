/* SPDX-License-Identifier: Apache-2.0
 *
 * See cupti_find.h. The order is the collector's: what was named, what the loader finds, a toolkit,
 * the packages of the Python environment.
 */
#define _GNU_SOURCE 1
#include "cli/cupti_find.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>

#include "cli/load.h"
#include "collect/collect.h"

static const struct {
	int major;
	const char *name;
} sonames[] = { { 13, "libcupti.so.13" }, { 12, "libcupti.so.12" }, { 11, "libcupti.so.11.8" },
	{ 11, "libcupti.so.11.7" }, { 11, "libcupti.so.11.6" }, { 11, "libcupti.so.11.5" },
	{ 11, "libcupti.so.11.4" }, { 11, "libcupti.so.11.3" }, { 11, "libcupti.so.11.2" },
	{ 11, "libcupti.so.11.1" }, { 11, "libcupti.so.11.0" }, { 11, "libcupti.so.11" } };
#define SONAMES (sizeof sonames / sizeof *sonames)

/* Folders below what a variable names; without one they stand for themselves. */
static const struct place {
	const char *variable, *folder;
} places[] = { { "CUDA_HOME", "/extras/CUPTI/lib64" }, { "CUDA_HOME", "/lib64" },
	{ "CUDA_HOME", "/lib" }, { "CUDA_PATH", "/extras/CUPTI/lib64" }, { "CUDA_PATH", "/lib64" },
	{ NULL, "/usr/local/cuda/extras/CUPTI/lib64" }, { NULL, "/usr/local/cuda/lib64" },
	{ "VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cu13/lib" },
	{ "VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cuda_cupti/lib" },
	{ "CONDA_PREFIX", "/lib" },
	{ "CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/cu13/lib" },
	{ "CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/cuda_cupti/lib" } };

/* Versions of CUPTI before it took over CUDA's numbers. */
static const struct {
	uint32_t version;
	int cuda;
} releases[] = { { 13, 11000 }, { 14, 11010 }, { 15, 11020 }, { 16, 11050 }, { 17, 11060 },
	{ 18, 11080 }, { 19, 12000 }, { 20, 12020 }, { 21, 12030 }, { 22, 12040 }, { 23, 12050 },
	{ 24, 12060 }, { 26, 12080 }, { 27, 12090 }, { 28, 12090 } };

int cupti_cuda(uint32_t version, bool *exact)
{
	int cuda = 0;

	*exact = true;
	if (version >= 100000)
		return (int)(version / 10000 % 1000 * 1000 + version / 100 % 100 * 10);
	*exact = false;
	for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
		if (releases[i].version <= version) {
			cuda = releases[i].cuda;
			*exact = releases[i].version == version;
		}
	}
	return cuda;
}

/* Is this one? */
static bool try(struct arena *a, const char *name, struct cupti_found *f)
{
	void *lib = load_library(name);
	uint32_t version = 0;
	Dl_info where;

	if (!lib)
		return false;
	void *at = dlsym(lib, "cuptiGetVersion");
	if (!at || ((int (*)(uint32_t *))at)(&version) != 0)
		/* cppcheck-suppress resourceLeak ; a CUPTI that was loaded stays */
		return false;
	f->path =
	        str_copy(a, str_of(dladdr(at, &where) && where.dli_fname ? where.dli_fname : name));
	f->cuda = cupti_cuda(version, &f->exact);
	/* cppcheck-suppress resourceLeak */
	return true;
}

/* The newest below a folder that the driver can use. */
static bool try_folder(struct arena *a, const char *folder, int major, struct cupti_found *f)
{
	for (size_t i = 0; i < SONAMES; i++)
		if (sonames[i].major <= major &&
		        try(a, str_z(a, str_fmt(a, "%s/%s", folder, sonames[i].name)), f))
			return true;
	return false;
}

static bool try_place(struct arena *a, const struct place *p, int major, struct cupti_found *f)
{
	const char *top = p->variable ? getenv(p->variable) : "";
	bool found = false;
	glob_t g = { 0 };

	if (!top || (p->variable && !*top))
		return false;
	if (glob(str_z(a, str_fmt(a, "%s%s", top, p->folder)), GLOB_NOSORT, NULL, &g) == 0)
		for (size_t i = 0; i < g.gl_pathc && !found; i++)
			found = try_folder(a, g.gl_pathv[i], major, f);
	globfree(&g);
	return found;
}

bool cupti_find(struct arena *a, int driver, struct cupti_found *f)
{
	const char *named = getenv(COLLECT_ENV_CUPTI);
	int major = driver ? driver / 1000 : INT_MAX;

	if (named && *named && (try(a, named, f) || try_folder(a, named, major, f)))
		return true;
	for (size_t i = 0; i < SONAMES; i++)
		if (sonames[i].major <= major && try(a, sonames[i].name, f))
			return true;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (try_place(a, &places[i], major, f))
			return true;
	return false;
}
