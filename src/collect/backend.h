/* SPDX-License-Identifier: Apache-2.0
 *
 * The boundary between the recorder and a GPU vendor's profiling interface: everything that writer
 * and watch need from it. The one backend is CUPTI (cupti.c). A backend requests and returns
 * buffers of the pool (pool.h), on any thread, and counts launches (launches.h). All functions are
 * called by the writer thread, except open and enable, for which another thread may be used, never
 * two at a time; and counts, which any thread may call once a session runs.
 */
#ifndef TFPROF_COLLECT_BACKEND_H
#define TFPROF_COLLECT_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/plan.h"
#include "io/block_format.h"

enum backend_state {
	BACKEND_RUNS,
	BACKEND_FAILED, /* after a fatal error */
	BACKEND_GONE,   /* another client has ended the session */
	BACKEND_OFF,    /* kernels are no longer recorded; not every version can report this */
};

/* Whether launches are still counted. */
enum backend_counts {
	BACKEND_COUNTS,
	BACKEND_STOPPED, /* another client has the callbacks */
	BACKEND_UNSURE,  /* not known */
};

/* Errors are the vendor's numbers, 0: none. */
struct backend {
	const char *name;
	/* Finds the library and its functions. False: *why has a sentence. */
	bool (*open)(char *why, size_t n);
	/* Starts a session as the plan says. False: nothing is enabled, and *why has a sentence. */
	bool (*enable)(const struct plan *, char *why, size_t n);
	/* Starts a session again after another client has ended it. */
	bool (*enable_again)(const struct plan *, char *why, size_t n);
	/* Makes the library return finished buffers; forced: unfinished ones too. Returns the
	 * error. */
	uint32_t (*flush)(bool forced);
	/* Stores the records of a buffer. */
	void (*decode)(uint8_t *data, size_t valid);
	/* Disables all records, and has complete buffers returned, if their work ends within a
	 * short time. Returns the launches of kernels until then. */
	uint64_t (*disable)(void);
	/* Ends the session, and requests all buffers. last: the process ends, so launches are still
	 * counted; otherwise the launches after the first `launched` ones become uncertain. Sets
	 * *probed if a probe was made. Returns the error of the last flush. */
	uint32_t (*close)(bool last, uint64_t launched, bool *probed);
	/* Makes the library write a record (decode_counts, devices), which arrives in a buffer of
	 * the pool unless another client receives all records. False: the library cannot do this.
	 */
	bool (*probe)(void);
	/* Call after close, when all buffers have been decoded: releases the library for other
	 * clients; detach: unloads it from the process at the next launch. Do not call after the
	 * last close. */
	void (*release)(void);
	void (*detach)(void);
	/* Ends the recording of calls; all: records whole kinds of calls, if single functions gave
	 * no correlations. */
	void (*fewer_calls)(void);
	void (*all_calls)(void);
	bool (*failed)(void); /* after a fatal error */
	enum backend_state (*state)(void);
	enum backend_counts (*counts)(void);
	/* Writes the text of a fatal error, or of any error. */
	void (*failure)(char *text, size_t n);
	const char *(*error)(uint32_t error);
	/* Returns the number of records dropped since the last call; sets *error if the number is
	 * not known. */
	uint64_t (*dropped)(uint32_t *error);
	/* Reads all clocks together; the vendor's is 0 if unavailable. */
	void (*clock)(struct spool_clock *);
	/* Calls put for each fact about library and driver. */
	void (*facts)(void (*put)(const char *key, const char *value));
	/* Counts the records of a buffer that was not returned. */
	uint64_t (*count)(uint8_t *data, size_t size);
	/* Lists the optional kinds and callbacks that were refused, or "". */
	const char *(*missing)(void);
};

extern const struct backend cupti_backend;

#endif
