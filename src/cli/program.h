/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands of the program that the library lacks. The program's sessions get them by
 * session.more_commands. Their arguments are request.topics, the terminal's width is
 * session.columns, and they set session.exit_status.
 */
#ifndef TFPROF_CLI_PROGRAM_H
#define TFPROF_CLI_PROGRAM_H

#include <stdbool.h>

#include "lib/options.h"

extern const struct command program_commands[]; /* ends with a row without a name */

/* The functions of the rows. */
#define COMMAND(name, function, ...)                                                               \
	bool function(struct session *s, const struct request *r, struct sink *out);
/* clang-format off */
#include "cli/program.def"
/* clang-format on */
#undef COMMAND

bool ui_check(struct session *s, const struct request *r);

/* ---- version ---- */

/* The answer of --version: the version of tfprof and the libraries that it uses. */

/* Writes text or, for the words "-output json", a document. Must be called inside a
 * session_guard. */
bool version_write(struct session *s, const struct strs *words, struct sink *out);

/* ---- signals ----
 *
 * Signals that end programs. While a command runs, a signal first ends the command, which removes
 * its unfinished output; then the program ends by the same signal.
 */

/* From now on, the first of these signals cancels the session's call, and a second signal ends the
 * program at once. s is NULL to stop this. */
void signals_catch(struct session *s);

/* True if one of these signals has arrived. */
bool signals_came(void);

/* Makes signals_pass end this program by the signal that ended the child program. */
void signals_end_by(int number);

/* Ends the program by the signal that has arrived, if any. */
void signals_pass(void);

/* ---- cupti find ----
 *
 * Finds the libcupti that a program without its own CUPTI would get, and its CUDA version. Starts
 * nothing: CUPTI returns its version without a driver.
 */

struct cupti_found {
	struct str path;
	int cuda;   /* CUDA version in the driver's encoding: 13000 is CUDA 13.0; 0: unknown without
	               a driver */
	bool exact; /* false: it may be a later update of the release */
	/* Name of a known bad version and its effect; otherwise NULL. */
	const char *bad, *reason;
	int needs; /* minimum CUDA version of the driver */
};

/* Finds the library. Returns false if there is none. driver: CUDA version of the driver, 0:
 * unknown; libraries for newer drivers are skipped. */
bool cupti_find(struct arena *a, int driver, struct cupti_found *f);

/* Returns the CUDA version for a CUPTI version; 0: before CUDA 11. */
int cupti_cuda(uint32_t version, bool *exact);

/* ---- load ---- */

/* False in a static program, which cannot load shared libraries. */
extern const bool load_possible;

/* Loads a shared library. Returns NULL on failure; dlerror() has the reason. */
void *load_library(const char *name);

#endif
