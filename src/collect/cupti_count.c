/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch is counted when the outermost function that launches begins, so a launch during which
 * the process is killed is counted too; a launch that fails is subtracted. A launch that is
 * captured into a graph is not counted: while any capture is active, the driver is asked about the
 * launch's stream.
 */
#define _GNU_SOURCE
#include "collect/cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "collect/decode.h"
#include "collect/launches.h"

#define PROBE "cuDriverGetVersion"

/* Roles of functions. */
enum does {
	DOES_NOTHING,
	DOES_LAUNCH,    /* the position of the stream in the arguments is unknown */
	DOES_LAUNCH_AT, /* arguments as in struct launch_params */
	DOES_LAUNCH_EX, /* arguments as in struct launch_ex_params */
	DOES_GRAPH,
	DOES_BEGIN, /* begins a capture */
	DOES_END,
	DOES_PROBE,           /* is called to check whether callbacks are delivered */
	DOES_PER_THREAD = 16, /* added to a role: a NULL stream means the per-thread default
	                         stream */
};

static struct {
	uint8_t does[2][CBID_MAX]; /* functions of the driver, and of the runtime */
	bool is_filled;
	uint32_t (*is_capturing)(void *stream, uint32_t *status);
	_Atomic int captures;   /* number of active captures */
	_Atomic uint32_t round; /* number of times that counting has begun; a function may have
	                           ended unnoticed before */
	uint32_t (*probe)(int *version);
	_Atomic uint64_t accepted; /* number of callbacks for probes */
	pthread_key_t key;         /* value of each thread: round << INSIDE_BITS | INSIDE_* */
	bool has_key;
} counting;

/* States of a thread: it is in a runtime function that launches; a driver function has begun inside
 * that function; the launch is captured and not counted; or the launch may be captured and is
 * counted as unsure. */
enum {
	INSIDE_RUNTIME = 1,
	INSIDE_DRIVER = 2,
	INSIDE_CAPTURED = 4,
	INSIDE_UNSURE = 8,
	INSIDE_BITS = 4
};

/* ---- which functions ---------------------------------------------------------------------------
 */
static bool ends(const char *name, const char *with)
{
	size_t n = strlen(name), m = strlen(with);

	return n >= m && !strcmp(name + n - m, with);
}

static uint8_t does_of(const char *name, bool driver)
{
	uint8_t per_thread = driver && ends(name, "_ptsz") ? DOES_PER_THREAD : 0;

	if (strstr(name, "BeginCapture"))
		return DOES_BEGIN;
	if (strstr(name, "EndCapture"))
		return DOES_END;
	if (decode_launches(name) == DECODE_GRAPH)
		return DOES_GRAPH;
	if (decode_launches(name) != DECODE_KERNEL)
		return DOES_NOTHING;
	if (!driver || strstr(name, "MultiDevice"))
		return DOES_LAUNCH;
	if (strstr(name, "LaunchKernelEx"))
		return DOES_LAUNCH_EX | per_thread;
	if (strstr(name, "LaunchKernel") || strstr(name, "LaunchCooperativeKernel"))
		return DOES_LAUNCH_AT | per_thread;
	return DOES_LAUNCH;
}

/* Finds the functions. Called once, because callbacks later read the table at the same time. */
static void fill(void)
{
	const struct cupti *f = &cupti_client.f;

	for (uint32_t domain = CB_DRIVER; f->GetCallbackName && domain <= CB_RUNTIME; domain++)
		for (uint32_t i = 1; i < CBID_MAX; i++) {
			const char *name = NULL;

			if (!f->GetCallbackName(domain, i, &name) && name)
				counting.does[domain == CB_RUNTIME][i] =
				        does_of(name, domain == CB_DRIVER);
		}
	counting.does[0][CBID_DRIVER_VERSION] = f->GetCallbackName ? DOES_PROBE : DOES_NOTHING;
	counting.is_filled = true;
}

/* Enables or disables all callbacks. Returns true if this succeeds for each of them. */
static bool set_all(bool on)
{
	const struct cupti *f = &cupti_client.f;
	bool ok = f->EnableCallback, any = false;

	for (uint32_t domain = CB_DRIVER; ok && domain <= CB_RUNTIME; domain++)
		for (uint32_t i = 1; i < CBID_MAX; i++) {
			unsigned does = counting.does[domain == CB_RUNTIME][i];

			if (!does)
				continue;
			any |= does != DOES_PROBE;
			ok &= !f->EnableCallback(on, cupti_client.subscriber, domain, i);
		}
	return ok && any;
}

bool cupti_count_begin(void)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (!counting.is_filled)
		fill();
	if (!counting.has_key)
		counting.has_key = !pthread_key_create(&counting.key, NULL);
	counting.is_capturing =
	        cuda ? (uint32_t(*)(void *, uint32_t *))dlsym(cuda, "cuStreamIsCapturing") : NULL;
	counting.probe = cuda ? (uint32_t(*)(int *))dlsym(cuda, PROBE) : NULL;
	if (cuda)
		dlclose(cuda);
	atomic_store(&counting.captures, 0);
	atomic_fetch_add(&counting.round, 1);
	return counting.has_key && set_all(true);
}

enum backend_counts cupti_count_works(void)
{
	uint64_t before = atomic_load(&counting.accepted);
	int version;

	if (counting.probe)
		counting.probe(&version);
	if (atomic_load(&counting.accepted) != before)
		return BACKEND_COUNTS;
	return before ? BACKEND_STOPPED : BACKEND_UNSURE;
}

void cupti_count_end(void)
{
	set_all(false);
}

/* ---- one call ----------------------------------------------------------------------------------
 */
static uintptr_t this_round(void)
{
	return (uintptr_t)atomic_load_explicit(&counting.round, memory_order_relaxed)
	       << INSIDE_BITS;
}

static unsigned inside(void)
{
	uintptr_t is = (uintptr_t)pthread_getspecific(counting.key), round = this_round();

	return is >> INSIDE_BITS == round >> INSIDE_BITS ? (unsigned)(is - round) : 0;
}

static void set_inside(unsigned now)
{
	pthread_setspecific(counting.key, (void *)(now ? this_round() | now : 0));
}

/* Returns whether a launch is being captured: 0, INSIDE_CAPTURED or INSIDE_UNSURE. */
static unsigned captured(unsigned does, const struct cb_data *d)
{
	uint32_t status = 0;
	void *stream;

	if (!counting.is_capturing || !d->params)
		return INSIDE_UNSURE;
	switch (does & ~(unsigned)DOES_PER_THREAD) {
	case DOES_LAUNCH_AT: stream = ((const struct launch_params *)d->params)->stream; break;
	case DOES_LAUNCH_EX:
		stream = ((const struct launch_ex_params *)d->params)->config->stream;
		break;
	default: return INSIDE_UNSURE;
	}
	if (!stream && does & DOES_PER_THREAD)
		stream = CUPTI_STREAM_PER_THREAD;
	/* If this call fails, the stream cannot be capturing. */
	return !counting.is_capturing(stream, &status) && status ? INSIDE_CAPTURED : 0;
}

/* Moves a counted launch to the counter of its outcome. */
static void correct(enum launch what, unsigned how)
{
	if (how)
		launches_add(what, -1);
	if (how & INSIDE_UNSURE)
		launches_add(LAUNCH_UNSURE, 1);
}

static void begin(enum launch what, unsigned does, bool runtime, const struct cb_data *d)
{
	unsigned is = inside(), how = 0;

	if (runtime) {
		set_inside(INSIDE_RUNTIME);
		launches_add(what, 1);
		return;
	}
	bool nested = is & INSIDE_RUNTIME && !(is & INSIDE_DRIVER);

	if (!nested)
		launches_add(what, 1);
	if (atomic_load_explicit(&counting.captures, memory_order_relaxed) > 0)
		how = captured(does, d);
	correct(what, how);
	if (nested || how)
		set_inside((is & INSIDE_RUNTIME) | (nested ? INSIDE_DRIVER : 0) | how);
}

static void end(enum launch what, bool runtime, bool failed)
{
	unsigned is = inside(), how = is & (INSIDE_CAPTURED | INSIDE_UNSURE);

	if (is & INSIDE_RUNTIME && !runtime)
		return; /* the launch is judged when the runtime function around it ends */
	if (runtime && !(is & INSIDE_RUNTIME))
		return; /* the function began before callbacks were enabled */
	/* No driver call was seen inside it, so it may have been captured. */
	if (runtime && !(is & INSIDE_DRIVER) && !failed &&
	        atomic_load_explicit(&counting.captures, memory_order_relaxed) > 0) {
		correct(what, INSIDE_UNSURE);
	} else if (failed && how != INSIDE_CAPTURED) {
		launches_add(how ? LAUNCH_UNSURE : what, -1);
	}
	if (is)
		set_inside(0);
}

/* Counts active captures. A capture is active from before its begin until after its end. */
static void capture(bool begins, bool enters, bool failed)
{
	if (begins && (enters || failed))
		atomic_fetch_add(&counting.captures, enters ? 1 : -1);
	if (!begins && !enters && !failed && atomic_load(&counting.captures) > 0)
		atomic_fetch_sub(&counting.captures, 1);
}

void cupti_count(uint32_t domain, uint32_t cbid, const struct cb_data *d)
{
	unsigned does = cbid < CBID_MAX ? counting.does[domain == CB_RUNTIME][cbid] : 0;
	bool enters = d->site == CB_ENTER, failed = !enters && d->result && *d->result;
	enum launch what = does == DOES_GRAPH ? LAUNCH_GRAPH : LAUNCH_KERNEL;

	if (!does)
		return;
	if (does == DOES_PROBE)
		atomic_fetch_add(&counting.accepted, 1);
	else if (does == DOES_BEGIN || does == DOES_END)
		capture(does == DOES_BEGIN, enters, failed);
	else if (enters)
		begin(what, does, domain == CB_RUNTIME, d);
	else
		end(what, domain == CB_RUNTIME, failed);
}
