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
	BACKEND_FAILED, /* a fatal error has occurred */
	BACKEND_GONE,   /* another client has ended the session */
	BACKEND_OFF,    /* kernels are no longer recorded; not every version can report this */
};

/* State of the launch counts. */
enum backend_counts {
	BACKEND_COUNTS,
	BACKEND_STOPPED, /* another client has replaced the callbacks */
	BACKEND_UNSURE,  /* unknown */
};

/* Functions of a backend. Errors are the vendor's numbers; 0: no error. */
struct backend {
	const char *name;
	/* Finds the library and its functions. Returns false with a sentence in *why on failure. */
	bool (*open)(char *why, size_t n);
	/* Starts a session that follows the plan. Returns false if nothing is enabled; *why has a
	 * sentence. */
	bool (*enable)(const struct plan *, char *why, size_t n);
	/* Starts a session again after another client has ended it. */
	bool (*enable_again)(const struct plan *, char *why, size_t n);
	/* Makes the library return finished buffers; if forced, also unfinished ones. Returns the
	 * error. */
	uint32_t (*flush)(bool forced);
	/* Stores the records of a buffer. */
	void (*decode)(uint8_t *data, size_t valid);
	/* Disables all records, and makes the library return complete buffers if their work ends
	 * within a short time. Returns the number of kernel launches until then. */
	uint64_t (*disable)(void);
	/* Ends the session, and requests all buffers. last: true if the process ends, so that
	 * launches are still counted; otherwise the launches after the first `launched` ones become
	 * uncertain. Sets *probed if a probe was made. Returns the error of the last flush. */
	uint32_t (*close)(bool last, uint64_t launched, bool *probed);
	/* Makes the library write a record (decode_counts, devices), which arrives in a buffer of
	 * the pool unless another client receives all records. Returns false if the library does
	 * not support this. */
	bool (*probe)(void);
	/* Releases the library for other clients. Must be called after close, when all buffers have
	 * been decoded, and not after the last close. detach: unload it from the process at the
	 * next launch. */
	void (*release)(void);
	void (*detach)(void);
	/* Ends the recording of calls. all: records whole kinds of calls if single functions did
	 * not give correlations. */
	void (*fewer_calls)(void);
	void (*all_calls)(void);
	bool (*failed)(void); /* Returns true after a fatal error. */
	enum backend_state (*state)(void);
	enum backend_counts (*counts)(void);
	/* Writes the text of a fatal error, or of any error. */
	void (*failure)(char *text, size_t n);
	const char *(*error)(uint32_t error);
	/* Returns the number of records dropped since the last call. Sets *error if the number is
	 * unknown. */
	uint64_t (*dropped)(uint32_t *error);
	/* Reads all clocks together. The vendor's clock is 0 if unavailable. */
	void (*clock)(struct spool_clock *);
	/* Calls put for each fact about the library and the driver. */
	void (*facts)(void (*put)(const char *key, const char *value));
	/* Counts the records of a buffer that was not returned. */
	uint64_t (*count)(uint8_t *data, size_t size);
	/* Returns a list of the optional kinds and callbacks that were refused, or "". */
	const char *(*missing)(void);
};

extern const struct backend cupti_backend;

#endif
