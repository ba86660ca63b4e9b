/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds libcupti. Searches in the order of the collector: the given path, the loader's search path,
 * CUDA toolkits, the packages of the Python interpreter that the command would start, then those of
 * the current environment.
 */
#define _GNU_SOURCE 1
#include "cli/program.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/collect.h"

#define PROGRAM_HEAD 256 /* number of bytes read of a script's first line */

/* Folders below the value of a variable; rows without a variable are absolute. */
static const struct cupti_place {
	const char *variable, *folder;
} places[] = { { "CUDA_HOME", "/extras/CUPTI/lib64" }, { "CUDA_HOME", "/lib64" },
	{ "CUDA_HOME", "/lib" }, { "CUDA_PATH", "/extras/CUPTI/lib64" }, { "CUDA_PATH", "/lib64" },
	{ NULL, "/usr/local/cuda/extras/CUPTI/lib64" }, { NULL, "/usr/local/cuda/lib64" },
	{ "VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cu13/lib" },
	{ "VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cuda_cupti/lib" },
	{ "CONDA_PREFIX", "/lib" },
	{ "CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/cu13/lib" },
	{ "CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/cuda_cupti/lib" } };

/* Versions of CUPTI before it adopted CUDA's numbers. */
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

/* True if the file is a libcupti. */
static bool try(struct arena *a, const char *name, struct cupti_found *f)
{
	void *lib = load_library(name);
	uint32_t version = 0;
	Dl_info where;

	if (!lib)
		return false;
	void *at = dlsym(lib, "cuptiGetVersion");
	if (!at)
		/* cppcheck-suppress resourceLeak ; a loaded CUPTI stays */
		return false;
	*f = (struct cupti_found){
		.path = str_copy(
		        a, str_of(dladdr(at, &where) && where.dli_fname ? where.dli_fname : name))
	};
	const struct cupti_bad *bad = cupti_bad_of(lib);
	if (bad) {
		f->bad = bad->versions;
		f->reason = bad->reason;
		f->needs = f->cuda = bad->driver;
	} else if (((int (*)(uint32_t *))at)(&version) == 0) {
		f->cuda = cupti_cuda(version, &f->exact);
	}
	/* cppcheck-suppress resourceLeak */
	return true;
}

/* Finds the newest libcupti below a folder that the driver can use. */
static bool try_folder(struct arena *a, const char *folder, int major, struct cupti_found *f)
{
	for (size_t i = 0; i < CUPTI_SONAMES; i++)
		if (cupti_sonames[i].major <= major &&
		        try(a, str_z(a, str_fmt(a, "%s/%s", folder, cupti_sonames[i].name)), f))
			return true;
	return false;
}

/* Lists the folders that match the pattern below `top`. */
static bool try_below(
        struct arena *a, const char *top, const char *pattern, int major, struct cupti_found *f)
{
	bool found = false;
	glob_t g = { 0 };

	if (glob(str_z(a, str_fmt(a, "%s%s", top, pattern)), GLOB_NOSORT, NULL, &g) == 0)
		for (size_t i = 0; i < g.gl_pathc && !found; i++)
			found = try_folder(a, g.gl_pathv[i], major, f);
	globfree(&g);
	return found;
}

static bool try_place(
        struct arena *a, const struct cupti_place *p, int major, struct cupti_found *f)
{
	const char *top = p->variable ? getenv(p->variable) : "";

	return top && (!p->variable || *top) && try_below(a, top, p->folder, major, f);
}

/* ---- Python ---- */

/* Folders of packages below the root of an interpreter's installation. */
static const char *const packages[] = { "/lib/python3*/site-packages/nvidia/cu13/lib",
	"/lib/python3*/site-packages/nvidia/cuda_cupti/lib",
	"/lib/python3*/dist-packages/nvidia/cu13/lib",
	"/lib/python3*/dist-packages/nvidia/cuda_cupti/lib", "/lib" };

/* Searches PATH for a program. Returns its path; p is NULL if not found. */
static struct str program_path(struct arena *a, struct str name)
{
	const char *from = getenv("PATH");

	if (str_find_char(name, '/') != SIZE_MAX)
		return name;
	struct strs folders = str_split(a, str_of(from ? from : ""), ':');
	for (size_t i = 0; i < folders.n; i++) {
		struct str folder = folders.v[i].n ? folders.v[i] : S(".");
		struct str path = str_fmt(a, "%.*s/%.*s", STR(folder), STR(name));
		if (access(str_z(a, path), X_OK) == 0)
			return path;
	}
	return STR_NONE;
}

/* Returns the interpreter in a script's first line, or the program itself if it is not a script. */
static struct str interpreter_of(struct arena *a, struct str program)
{
	char head[PROGRAM_HEAD] = "";
	FILE *file = fopen(str_z(a, program), "re");

	if (!file)
		return program;
	head[fread(head, 1, sizeof head - 1, file)] = 0;
	fclose(file);
	if (strncmp(head, "#!", 2) != 0)
		return program;
	struct str line = str_of(head + 2);
	struct strs words = str_split(a, str_sub(line, 0, str_find_char(line, '\n')), ' ');
	for (size_t i = 0; i < words.n; i++) {
		struct str word = words.v[i];
		if (word.n && !str_eq(str_base(word), S("env")) && word.p[0] != '-')
			return program_path(a, str_copy(a, word));
	}
	return program;
}

/* Searches below the parent of the interpreter's folder. */
static bool try_installation(
        struct arena *a, struct str interpreter, int major, struct cupti_found *f)
{
	size_t slash = str_rfind_char(interpreter, '/');
	struct str bin = str_sub(interpreter, 0, slash == SIZE_MAX ? 0 : slash);
	size_t above = str_rfind_char(bin, '/');

	if (above == SIZE_MAX)
		return false;
	char *top = str_z(a, str_sub(bin, 0, above));
	for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
		if (try_below(a, top, packages[i], major, f))
			return true;
	return false;
}

/* Searches the packages of an interpreter. A virtual environment comes before the installation from
 * which it was created. */
static bool try_python(struct arena *a, const char *name, int major, struct cupti_found *f)
{
	struct str program = program_path(a, str_of(name));
	const char *home = getenv("HOME");
	char real[PATH_MAX];

	if (!program.p || !(program = interpreter_of(a, program)).p)
		return false;
	if (try_installation(a, program, major, f))
		return true;
	if (home && *home &&
	        (try_below(a, str_z(a, str_fmt(a, "%s/.local", home)), packages[0], major, f) ||
	                try_below(
	                        a, str_z(a, str_fmt(a, "%s/.local", home)), packages[1], major, f)))
		return true;
	return realpath(str_z(a, program), real) && try_installation(a, str_of(real), major, f);
}

bool cupti_find(struct arena *a, int driver, struct cupti_found *f)
{
	const char *named = getenv(COLLECT_ENV_CUPTI);
	int major = driver ? driver / 1000 : INT_MAX;

	if (named && *named && (try(a, named, f) || try_folder(a, named, major, f)))
		return true;
	for (size_t i = 0; i < CUPTI_SONAMES; i++)
		if (cupti_sonames[i].major <= major && try(a, cupti_sonames[i].name, f))
			return true;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (try_place(a, &places[i], major, f))
			return true;
	return try_python(a, "python", major, f) || try_python(a, "python3", major, f);
}
