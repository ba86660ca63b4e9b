/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the public interface: the session as the caller holds it, and the way a
 * call is run.
 */
#ifndef TFPROF_LIB_API_INTERNAL_H
#define TFPROF_LIB_API_INTERNAL_H

#include <locale.h>

#include "lib/cmd.h"
#include "tfprof/tfprof.h"

struct tfp_session {
	struct session *s;
	struct tfp_config config;
	locale_t c;
	int code;
	struct str error, notes; /* of the last call, with a NUL behind; in the query arena */
	bool put_stopped;        /* a callback of the call in progress had enough */
	bool closing;            /* a callback has closed it: it goes when the call ends */
	atomic_bool busy;        /* a call is in progress */
	atomic_uint users;       /* the caller, until tfp_close, and each open stream */
};

/* Runs f at the recovery point and in the C locale; its code. */
int api_call(struct tfp_session *t, bool (*f)(struct tfp_session *t, void *arg), void *arg);

/* Takes a user away; the last one's leaving ends the session. */
void api_leave(struct tfp_session *t);

/* A caller's string. */
static inline struct str api_str(const char *p, size_t n)
{
	return n == TFP_Z ? str_of(p) : str_make(p, p ? n : 0);
}

/* A caller's struct as this version knows it; NULL is one of zeros. False: it has no size. */
bool api_take(void *to, size_t to_size, const void *from);

/* The sentence for that. */
bool api_fail_size(struct session *s, const char *what);

#endif
