/* SPDX-License-Identifier: Apache-2.0
 *
 * tfprof doctor. Asks the driver and CUPTI for their versions and initialises neither.
 */
#include "cli/program.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/recording.h"

#define INDENT 18 /* columns before the text of a row */
#define ROOM_NEEDED                                                                                \
	((uint64_t)256 << 20) /* bytes of free disk space below which a remark is printed */
#define NARROW 48             /* columns below which texts are not indented */

enum state { FINE, REMARK, BAD };

struct doctor {
	struct session *s;
	struct sink *out;
	struct arena *a;
	struct doctor_options words;
	int driver; /* CUDA version of the driver, encoded as 13000; 0: no driver */
	unsigned bad;
	bool waits;       /* true: waiting for the process to initialise CUDA */
	struct str first; /* the first fault, for the verdict */
};

/* ---- rows ---- */

static void row(struct doctor *d, enum state state, const char *name, struct str text)
{
	static const char *const states[] = { [FINE] = "ok", [REMARK] = "note", [BAD] = "BAD" };

	sink_fmt(d->out, "%-10s  %-4s  ", name, states[state]);
	if (d->s->columns >= NARROW)
		sink_wrap(d->out, text, d->s->columns, INDENT);
	else
		sink_fmt(d->out, "%.*s\n", STR(text));
	if (state == BAD && !d->bad++)
		d->first = str_of(name);
}

/* Prints the cure below the row. Command lines begin with blanks and are not wrapped. */
static void cure(struct doctor *d, const char *text)
{
	struct strs lines = str_split(d->a, str_of(text), '\n');
	unsigned columns = d->s->columns;
	size_t blanks = columns && columns < NARROW ? 2 : INDENT;

	for (size_t i = 0; i < lines.n; i++) {
		sink_fmt(d->out, "%*s", (int)blanks, "");
		if (str_starts(lines.v[i], S(" ")))
			sink_fmt(d->out, "%.*s\n", STR(lines.v[i]));
		else
			sink_wrap(d->out, lines.v[i], columns, blanks);
	}
}

static struct str cuda_version(struct doctor *d, int version)
{
	return str_fmt(d->a, "CUDA %d.%d", version / 1000, version % 1000 / 10);
}

/* ---- driver and devices ---- */

/* Returns the driver version in "NVRM version: NVIDIA UNIX x86_64 Kernel Module 580.95.05 ...". */
static struct str kernel_module(struct doctor *d)
{
	struct str text = proc_read(d->a, "/proc/driver/nvidia/version");
	struct strs words = str_split(d->a, str_sub(text, 0, str_find_char(text, '\n')), ' ');

	for (size_t i = 0; i < words.n; i++) {
		char c = words.v[i].p[0];
		if (c >= '1' && c <= '9' && str_find_char(words.v[i], '.') != SIZE_MAX)
			return words.v[i];
	}
	return STR_NONE;
}

static void check_driver(struct doctor *d)
{
	struct str module = kernel_module(d);
	void *lib = load_library("libcuda.so.1");
	const char *why = lib ? NULL : dlerror();
	int (*version)(int *) = lib ? (int (*)(int *))dlsym(lib, "cuDriverGetVersion") : NULL;

	if (version && version(&d->driver) == 0 && d->driver > 0) {
		row(d, FINE, "driver",
		        str_fmt(d->a, "%.*s%s%.*s", STR(module), module.n ? ", up to " : "up to ",
		                STR(cuda_version(d, d->driver))));
		/* cppcheck-suppress resourceLeak ; the driver stays loaded */
		return;
	}
	d->driver = 0;
	if (lib) {
		row(d, BAD, "driver", S("libcuda.so.1 does not report its version"));
		cure(d, "It may be CUDA's stub library for linking: remove its folder from "
		        "LD_LIBRARY_PATH.");
		/* cppcheck-suppress resourceLeak ; the driver stays loaded */
		return;
	}
	row(d, BAD, "driver", str_fmt(d->a, "%s", why));
	cure(d, module.n ? "The kernel module is loaded, but its library is missing: install "
	                   "libcuda1 "
	                   "(libnvidia-compute).\nIn a container: start it with the NVIDIA "
	                   "container toolkit, docker run --gpus all."
	                 : "Recording needs an NVIDIA driver. Install one; in a container, use "
	                   "docker run --gpus all.");
}

static void check_devices(struct doctor *d)
{
	static const char *const names[] = { "nvidiactl", "nvidia-uvm", "nvidia0" };
	struct strs seen = { 0 };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = str_z(d->a, str_fmt(d->a, "%s/dev/%s", proc_root(), names[i]));
		if (access(path, R_OK | W_OK) == 0) {
			strs_add(d->a, &seen, str_fmt(d->a, "/dev/%s", names[i]));
		} else if (errno == EACCES) {
			row(d, BAD, "devices",
			        str_fmt(d->a, "/dev/%s cannot be opened by this user", names[i]));
			cure(d, "Join the group that owns it (ls -l /dev/nvidia*), often video or "
			        "render.");
			return;
		}
	}
	if (seen.n) {
		row(d, FINE, "devices", strs_join(d->a, &seen, S(", ")));
		return;
	}
	row(d, d->driver ? REMARK : BAD, "devices", S("/dev/nvidia* does not exist"));
	cure(d, "Load the kernel module (modprobe nvidia nvidia-uvm); in a container: docker run "
	        "--gpus all.");
}

/* Reports that a static program cannot load the driver and CUPTI to get their versions. */
static void skip_libraries(struct doctor *d)
{
	row(d, REMARK, "driver", S("not checked: this program is static and loads no libraries"));
	row(d, REMARK, "CUPTI", S("not checked, for the same reason as the driver"));
	cure(d, "Run the tfprof of a package or a wheel, which also contains the collector.");
}

/* ---- CUPTI ---- */

static void check_bad_cupti(struct doctor *d, const struct cupti_found *f)
{
	row(d, d->driver >= f->needs ? REMARK : BAD, "CUPTI",
	        str_fmt(d->a, "%.*s is of %s, which %s", STR(f->path), f->bad, f->reason));
	cure(d, str_z(d->a,
	                str_fmt(d->a,
	                        "The collector uses it only with a driver for %.*s or newer and "
	                        "a GPU that can be opened. Install another one: pip install "
	                        "'nvidia-cuda-cupti>=13.3'",
	                        STR(cuda_version(d, f->needs)))));
}

static void check_cupti(struct doctor *d)
{
	struct cupti_found f;

	if (!cupti_find(d->a, d->driver, &f)) {
		row(d, BAD, "CUPTI", S("no libcupti.so was found"));
		cure(d, "It comes with the CUDA toolkit (extras/CUPTI), PyTorch, JAX and "
		        "TensorFlow; a program that has it beside its libcudart can be recorded "
		        "anyway. Otherwise: pip install nvidia-cuda-cupti, and\n"
		        "  export TFPROF_CUPTI_PATH=/path/to/libcupti.so.13");
		return;
	}
	if (f.bad) {
		check_bad_cupti(d, &f);
		return;
	}
	if (!f.cuda) {
		row(d, d->driver ? BAD : REMARK, "CUPTI",
		        str_fmt(d->a, "%.*s does not report its version", STR(f.path)));
		cure(d, "Newer versions report it only if the driver works.");
		return;
	}
	struct str text = str_fmt(d->a, "of %.*s%s, %.*s", STR(cuda_version(d, f.cuda)),
	        f.exact ? "" : " or so", STR(f.path));
	if (d->driver && f.cuda / 1000 > d->driver / 1000) {
		row(d, BAD, "CUPTI", text);
		cure(d, "It is newer than the driver: update the driver, or set TFPROF_CUPTI_PATH "
		        "to an older libcupti.");
	} else if (d->driver && f.cuda > d->driver) {
		row(d, REMARK, "CUPTI", text);
		cure(d, "It is a little newer than the driver and may refuse to start.");
	} else {
		row(d, FINE, "CUPTI", text);
	}
}

static void check_collector(struct doctor *d)
{
	struct str path;

	if (recording_collector(d->a, &path)) {
		row(d, FINE, "collector", path);
		return;
	}
	row(d, BAD, "collector",
	        str_fmt(d->a, "%s is neither beside the program nor in %s", COLLECT_LIBRARY,
	                recording_collector_place));
	cure(d, "In a source tree, make builds it; make install puts it there.");
}

/* ---- permission ---- */

static void check_permission(struct doctor *d)
{
	struct str params = proc_read(d->a, "/proc/driver/nvidia/params");

	if (str_find(params, S("RmProfilingAdminOnly: 1")) == SIZE_MAX) {
		row(d, FINE, "permission", S("tracing needs no special permission"));
		return;
	}
	row(d, REMARK, "permission",
	        S("performance counters are for administrators only (RmProfilingAdminOnly: 1)"));
	cure(d, "tfprof records activities and needs no counters: nothing has to be done. If CUPTI "
	        "refuses nevertheless (CUPTI_ERROR_INSUFFICIENT_PRIVILEGES in the recording's "
	        "log), then "
	        "on the machine itself, as root:\n"
	        "  echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' "
	        ">/etc/modprobe.d/nvidia-profiling.conf\n"
	        "  update-initramfs -u  (Fedora: dracut -f), and reboot\n"
	        "A container takes this from its host; or start it with --cap-add=SYS_ADMIN.");
}

/* ---- other profilers ---- */

static bool is_profiler(struct str name)
{
	static const char *const names[] = { "nsys", "nsys-launcher", "ncu", "nv-nsight-cu-cl",
		"nvprof", "compute-sanitiz", "cuda-gdb", "rocprof" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_eq(name, str_of(names[i])))
			return true;
	return false;
}

struct seen {
	struct doctor *d;
	struct strs found;
};

static bool look_at(void *user, int64_t pid)
{
	struct seen *x = user;
	struct str name = proc_read(x->d->a, "/proc/%lld/comm", (long long)pid);

	name = str_sub(name, 0, str_find_char(name, '\n'));
	if (is_profiler(name))
		strs_add(x->d->a, &x->found,
		        str_fmt(x->d->a, "%.*s (process %lld)", STR(name), (long long)pid));
	return x->found.n < 8;
}

/* Prints a row and returns false if the variable makes started programs load another profiler. */
static bool check_variable(struct doctor *d, const char *name, struct str value)
{
	if (!value.n || str_eq(value, S("none")) || recording_is_collector(value))
		return true;
	row(d, BAD, "profilers", str_fmt(d->a, "%s=%.*s", name, STR(value)));
	return false;
}

static void check_profilers(struct doctor *d)
{
	struct seen x = { .d = d };
	bool clean = check_variable(d, COLLECT_ENV_INJECT, str_of(getenv(COLLECT_ENV_INJECT)));

	if (!clean)
		cure(d, "Another profiler would be loaded instead of the collector: unset the "
		        "variable.");
	struct str nvtx = str_of(getenv(COLLECT_ENV_NVTX));
	if (nvtx.n && !recording_is_collector(nvtx)) {
		row(d, REMARK, "profilers", str_fmt(d->a, COLLECT_ENV_NVTX "=%.*s", STR(nvtx)));
		cure(d, "record replaces it with the collector; --no-nvtx keeps it, but then no "
		        "ranges are recorded.");
		clean = false;
	}
	proc_each(d->a, look_at, &x);
	if (x.found.n) {
		row(d, REMARK, "profilers", strs_join(d->a, &x.found, S(", ")));
		cure(d, "While they run, recording is not possible.");
	} else if (clean) {
		row(d, FINE, "profilers", S("no other profiler was found"));
	}
	cure(d, "Recording takes CUPTI's only slot for a profiler. While torch.profiler runs in "
	        "the program, it receives the records, and the recording has a gap. jax.profiler "
	        "records no GPU work during a recording.");
}

static void check_folder(struct doctor *d)
{
	struct str path = d->words.folder.n ? d->words.folder : S(".");
	struct statvfs v;

	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	if (access(str_z(d->a, path), F_OK) != 0) { /* `record` creates it */
		size_t slash = str_rfind_char(path, '/');
		path = slash == SIZE_MAX ? S(".") : str_sub(path, 0, slash ? slash : 1);
	}
	char *z = str_z(d->a, path);

	if (access(z, W_OK | X_OK) != 0 || statvfs(z, &v) != 0) {
		struct err e = { .a = d->a };
		err_system(&e, "cannot write into", path, errno);
		row(d, BAD, "folder", e.text);
		cure(d, "Record into another folder: -o DIR.");
		return;
	}
	uint64_t free = (uint64_t)v.f_bavail * v.f_frsize;
	struct str text = str_fmt(d->a, "recordings can be written; %llu MB are free",
	        (unsigned long long)(free >> 20));
	row(d, free < ROOM_NEEDED ? REMARK : FINE, "folder", text);
	if (free < ROOM_NEEDED)
		cure(d, "A million kernels take about 40 MB; --max-size limits a process.");
}

/* ---- a running process ---- */

/* Returns the path at the end of the first line of maps that contains the name. */
static struct str mapped(struct str maps, struct str name)
{
	size_t at = str_find(maps, name);

	if (at == SIZE_MAX)
		return STR_NONE;
	struct str line = str_sub(maps, 0, at);
	size_t from = str_rfind_char(line, '\n');
	line = str_sub(maps, from == SIZE_MAX ? 0 : from + 1, SIZE_MAX);
	line = str_sub(line, 0, str_find_char(line, '\n'));
	size_t slash = str_find_char(line, '/');
	return slash == SIZE_MAX ? STR_NONE : str_sub(line, slash, SIZE_MAX);
}

/* Checks the libraries in the maps of a process. asked: true if the environment of the process
 * loads the collector. */
static void check_libraries(struct doctor *d, struct str maps, bool asked)
{
	static const char *const others[] = { "libToolsInjection", "libcuinj64", "libnvprof",
		"libsanitizer-collection", "libpcsamplingutil" };
	struct str cuda = mapped(maps, S("/libcuda.so")), cupti = mapped(maps, S("/libcupti.so"));

	d->waits = !cuda.n;
	row(d, cuda.n ? FINE : REMARK, "driver",
	        cuda.n ? cuda : S("the process has not loaded libcuda.so.1 (yet)"));
	if (cupti.n)
		row(d, FINE, "CUPTI", cupti);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		struct str path = mapped(maps, str_of(others[i]));
		if (path.n)
			row(d, BAD, "profilers",
			        str_fmt(d->a, "%.*s is loaded in the process", STR(path)));
	}
	struct str collector = mapped(maps, S("/" COLLECT_LIBRARY));
	if (collector.n)
		row(d, FINE, "collector", collector);
	else if (cuda.n)
		row(d, BAD, "collector", S("the process has loaded CUDA, but not the collector"));
	else
		row(d, REMARK, "collector",
		        asked ? S("will be loaded with the driver")
		              : S("will not be loaded with the driver"));
}

/* True if an environment of a process loads the collector. */
static bool check_environment(struct doctor *d, struct str environment)
{
	struct str cuda = proc_variable(environment, S(COLLECT_ENV_INJECT)),
	           nvtx = proc_variable(environment, S(COLLECT_ENV_NVTX)),
	           folder = proc_variable(environment, S(COLLECT_ENV_SESSION));

	if (!check_variable(d, COLLECT_ENV_INJECT, cuda)) {
		cure(d, "This process was started with another profiler.");
	} else if (!recording_is_collector(cuda)) {
		row(d, BAD, "variables", S(COLLECT_ENV_INJECT " is not set in the process"));
		cure(d, "It was not started by tfprof record, or something cleared its "
		        "environment (sudo, env -i, ssh).");
	} else {
		row(d, FINE, "variables",
		        nvtx.n ? S("set as by tfprof record")
		               : S("set as by tfprof record, without NVTX ranges"));
	}
	if (!folder.n)
		return recording_is_collector(cuda);
	bool there = access(str_z(d->a, folder), W_OK | X_OK) == 0;
	row(d, there ? FINE : BAD, "folder", folder);
	if (!there)
		cure(d, "The process cannot write there, or has another file system (a "
		        "container).");
	return recording_is_collector(cuda);
}

static bool check_process(struct doctor *d, struct str word)
{
	struct session *s = d->s;
	int64_t pid;

	if (!num_parse_i64(word, &pid) || pid <= 0)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "doctor takes the number of a process, not '%.*s'", STR(word));
	if (!proc_start(d->a, pid))
		return session_fail(s, ERR_NOT_FOUND, "process %lld does not exist or has ended",
		        (long long)pid);
	struct str environment = proc_read(d->a, "/proc/%lld/environ", (long long)pid);
	struct str maps = proc_read(d->a, "/proc/%lld/maps", (long long)pid);
	if (!maps.n && geteuid() == 0)
		return session_fail(s, ERR_PERMISSION,
		        "no permission to read process %lld: it belongs to the kernel, or is "
		        "protected",
		        (long long)pid);
	if (!maps.n)
		return session_fail(s, ERR_PERMISSION,
		        "no permission to read process %lld of another user: run doctor as that "
		        "user or as root",
		        (long long)pid);
	check_libraries(d, maps, check_environment(d, environment));
	if (d->bad)
		sink_fmt(d->out, "Verdict: process %lld is not recorded (%.*s).\n", (long long)pid,
		        STR(d->first));
	else
		sink_fmt(d->out,
		        d->waits ? "Verdict: process %lld will be recorded when it starts CUDA.\n"
		                 : "Verdict: process %lld is recorded.\n",
		        (long long)pid);
	return true;
}

static void check_machine(struct doctor *d)
{
	if (load_possible)
		check_driver(d);
	else
		skip_libraries(d);
	check_devices(d);
	if (load_possible)
		check_cupti(d);
	check_collector(d);
	check_permission(d);
	check_profilers(d);
	check_folder(d);
	if (d->bad)
		sink_fmt(d->out, "Verdict: not ready to record (%.*s%s).\n", STR(d->first),
		        d->bad > 1 ? ", and more" : "");
	else
		sink_put(d->out, S("Verdict: ready to record. Type: tfprof record -- PROGRAM\n"));
}

bool doctor_run(struct session *s, const struct request *r, struct sink *out)
{
	struct doctor d = { .s = s, .out = out, .a = &s->query_arena };
	struct option_words w = { .command = r->command, .into = &d.words };

	if (!options_read(s, &r->topics, &w))
		return false;
	if (w.rest.n > 1)
		return session_fail(s, ERR_INVALID_ARGUMENT, "doctor takes at most one process");
	if (w.rest.n && !check_process(&d, w.rest.v[0]))
		return false;
	if (!w.rest.n)
		check_machine(&d);
	s->exit_status = d.bad > 0;
	return true;
}
