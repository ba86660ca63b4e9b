/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the public interface: the caller's session, and the way a call is run.
 */
#ifndef TFPROF_LIB_API_INTERNAL_H
#define TFPROF_LIB_API_INTERNAL_H

#include <locale.h>

#include "lib/options.h"
#include "tfprof/tfprof.h"

struct tfp_session {
	struct session *s;
	struct tfp_config config;
	locale_t c;
	int code;
	struct str error, notes; /* texts of the last call, NUL-terminated; live in the query
	                            arena */
	struct str file;         /* file that the error is about, likewise; p is NULL if unknown */
	int64_t offset;          /* offset of the error in the file; -1: unknown */
	bool put_stopped;        /* true: a callback of the current call returned an error */
	bool closing;            /* true: a callback has closed the session, which is freed when the
	                            call ends */
	atomic_bool busy;        /* true: a call is in progress */
	atomic_uint users;       /* number of users: the caller, until tfp_close, and each open
	                            stream */
};

/* Runs f at the recovery point and in the C locale. Returns its code. */
int api_call(struct tfp_session *t, bool (*f)(struct tfp_session *t, void *arg), void *arg);

/* Runs f like api_call, while other threads cannot use a second session, which may be NULL or t.
 * Then the sides of diff are the jobs left and right of t. */
int api_call_with(struct tfp_session *t, struct tfp_session *other,
        bool (*f)(struct tfp_session *t, void *arg), void *arg);

/* Returns the second session of a caller's struct, or NULL. */
struct tfp_session *api_other(const struct tfp_run *run);

/* Returns a sink that passes bytes to the caller's function. If put is NULL, the sink discards
 * them. */
struct sink *api_receiver(struct tfp_session *t, tfp_put put, void *user);

/* Removes a user. If it was the last, frees the session. */
void api_leave(struct tfp_session *t);

/* Returns a caller's string as a slice. */
static inline struct str api_str(const char *p, size_t n)
{
	return n == TFP_Z ? str_of(p) : str_make(p, p ? n : 0);
}

/* Appends a caller's words to the words of a command. */
void api_add_words(struct session *s, struct strs *words, const struct tfp_str *more, size_t n);

/* Runs a command given by words, and returns the cells of its rows (export/data/sheet.h), in the
 * query arena. If the answer is complete but a gate or a check fails, the call fails with
 * ERR_FAILED and returns the cells. After any other failure, the cells are empty. */
bool api_run_cells(struct session *s, struct strs *words, struct str *bytes);

/* Copies a caller's struct to the struct of this version. NULL counts as all zeros. Returns false
 * if its size is not set. */
bool api_take(void *to, size_t to_size, const void *from);

/* Sets the error for a struct that api_take refuses. */
bool api_fail_size(struct session *s, const char *what);

#endif
