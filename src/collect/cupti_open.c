/* SPDX-License-Identifier: Apache-2.0
 *
 * Searches for libcupti. Two copies of CUPTI in one process do not cooperate, so a copy already
 * loaded comes first; then the one named by the user, then the folders beside the program's own
 * CUDA, then the system's.
 */
#define _GNU_SOURCE
#include "collect/cupti_abi.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/collect.h"

#define ANY_MAJOR 99
#define DEVICE    "/dev/nvidiactl"

/* Locations of CUPTI relative to the folder of the program's libcudart. */
static const char *const folders[] = { "", "/../../cuda_cupti/lib", "/../extras/CUPTI/lib64",
	"/../../../extras/CUPTI/lib64" };
/* Locations below the root of a toolkit. */
static const char *const below[] = { "/extras/CUPTI/lib64", "/lib64", "/lib" };

static char found_at[PATH_MAX];

const char *cupti_path(void)
{
	return found_at;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* ---- loaded libraries --------------------------------------------------------------------------
 */
struct loaded {
	const char *prefix;
	char path[PATH_MAX];
};

static int see(struct dl_phdr_info *info, size_t size, void *user)
{
	struct loaded *l = user;

	(void)size;
	if (!info->dlpi_name || !begins(base_of(info->dlpi_name), l->prefix) ||
	        strlen(info->dlpi_name) >= sizeof l->path)
		return 0;
	memcpy(l->path, info->dlpi_name, strlen(info->dlpi_name) + 1);
	return 1;
}

/* Returns the path of a loaded library whose name begins with the given text. */
static bool loaded_path(struct loaded *l, const char *prefix)
{
	l->prefix = prefix;
	return dl_iterate_phdr(see, l) == 1;
}

static void *open_loaded(void)
{
	struct loaded l;

	for (unsigned i = 0; i < CUPTI_SONAMES; i++) {
		void *h = dlopen(cupti_sonames[i].name, RTLD_NOW | RTLD_NOLOAD);

		if (h)
			return h;
	}
	/* Returns a library that was opened by path and has another soname. */
	return loaded_path(&l, "libcupti.so") ? dlopen(l.path, RTLD_NOW | RTLD_NOLOAD) : NULL;
}

/* ---- libraries on disk -------------------------------------------------------------------------
 */
/* Returns the newest library of a folder that is not newer than the driver. */
static void *open_in(const char *folder, const char *more, int major)
{
	char path[PATH_MAX];
	struct stat s;

	for (unsigned i = 0; i < CUPTI_SONAMES; i++) {
		if (cupti_sonames[i].major > major)
			continue;
		int n = snprintf(path, sizeof path, "%s%s/%s", folder, more, cupti_sonames[i].name);

		if (n < 0 || (size_t)n >= sizeof path || stat(path, &s))
			continue;
		void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);

		if (h)
			return h;
	}
	return NULL;
}

static void *open_named(int major)
{
	const char *path = secure_getenv(COLLECT_ENV_CUPTI);
	struct stat s;

	if (!path || !*path || stat(path, &s))
		return NULL;
	return S_ISDIR(s.st_mode) ? open_in(path, "", major) : dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_near(int major)
{
	struct loaded l;
	void *h = NULL;

	if (!loaded_path(&l, "libcudart.so") || !strrchr(l.path, '/'))
		return NULL;
	*strrchr(l.path, '/') = 0;
	for (unsigned i = 0; !h && i < sizeof folders / sizeof *folders; i++)
		h = open_in(l.path, folders[i], major);
	return h;
}

static void *open_soname(int major)
{
	void *h = NULL;

	for (unsigned i = 0; !h && i < CUPTI_SONAMES; i++)
		if (cupti_sonames[i].major <= major)
			h = dlopen(cupti_sonames[i].name, RTLD_NOW | RTLD_LOCAL);
	return h;
}

static void *open_toolkit(int major)
{
	const char *roots[] = { secure_getenv("CUDA_HOME"), secure_getenv("CUDA_PATH"),
		"/usr/local/cuda" };
	void *h = NULL;

	for (unsigned r = 0; r < sizeof roots / sizeof *roots; r++)
		for (unsigned i = 0; !h && roots[r] && i < sizeof below / sizeof *below; i++)
			h = open_in(roots[r], below[i], major);
	return h;
}

/* ---- opening -----------------------------------------------------------------------------------
 */
static int driver_version(void)
{
	void *h = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	int (*get)(int *) = h ? (int (*)(int *))dlsym(h, "cuDriverGetVersion") : NULL;
	int v = 0;

	if (get && get(&v))
		v = 0;
	if (h)
		dlclose(h);
	return v;
}

static void remember_path(void *h)
{
	struct link_map *map = NULL;

	found_at[0] = 0;
	if (!dlinfo(h, RTLD_DI_LINKMAP, &map) && map && map->l_name)
		snprintf(found_at, sizeof found_at, "%s", map->l_name);
}

static bool resolve(struct cupti *c, void *h, char *why, size_t n)
{
/* NOLINTBEGIN(bugprone-macro-parentheses): args are the parentheses of a prototype */
#define CUPTI_RESOLVE(name, optional, args)                                                        \
	c->name = (uint32_t(*) args)dlsym(h, "cupti" #name);                                       \
	if (!c->name && !(optional)) {                                                             \
		snprintf(why, n, "%s has no function cupti" #name, found_at);                      \
		return false;                                                                      \
	}
	CUPTI_FUNCTIONS(CUPTI_RESOLVE)
#undef CUPTI_RESOLVE
	/* NOLINTEND(bugprone-macro-parentheses) */
	return true;
}

/* Returns false for a version that would crash the process because it cannot initialise here. */
static bool may_use(void *h, int driver, char *why, size_t n)
{
	const struct cupti_bad *bad = cupti_bad_of(h);
	int fd;

	if (!bad)
		return true;
	fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && driver >= bad->driver)
		return true;
	snprintf(why, n, "%s is of %s, which %s", found_at, bad->versions, bad->reason);
	return false;
}

bool cupti_open(struct cupti *c, char *why, size_t n)
{
	*c = (struct cupti){ .driver = driver_version() };
	int major = c->driver ? c->driver / 1000 : ANY_MAJOR;
	void *h = open_loaded();

	if (!h)
		h = open_named(major);
	if (!h)
		h = open_near(major);
	if (!h)
		h = open_soname(major);
	if (!h)
		h = open_toolkit(major);
	if (!h) {
		if (c->driver)
			snprintf(why, n,
			        "no libcupti for a driver of CUDA %d.%d was found; set %s to one",
			        major, c->driver % 1000 / 10, COLLECT_ENV_CUPTI);
		else
			snprintf(why, n, "no libcupti was found; set %s to one", COLLECT_ENV_CUPTI);
		return false;
	}
	remember_path(h);
	if (!may_use(h, c->driver, why, n) || !resolve(c, h, why, n))
		return false;
	if (c->GetVersion(&c->version))
		c->version = 0;
	if (c->version && c->version < CUPTI_API_11_0) {
		snprintf(why, n, "%s is older than CUDA 11", found_at);
		return false;
	}
	return true;
}
