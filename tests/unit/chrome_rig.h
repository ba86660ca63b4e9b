/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON traces for unit tests: prints the trace as text.
 */
#ifndef TFPROF_TESTS_CHROME_RIG_H
#define TFPROF_TESTS_CHROME_RIG_H

#include "trace/trace_build.h"

extern struct trace *chrome_trace;
extern struct notes chrome_notes;
extern struct err chrome_err;

/* Reads a text into chrome_trace, allocated in a. */
bool chrome_read(struct str text, uint64_t wants, struct arena *a);
void chrome_drop(void); /* arena of the reader */

/* Returns the slices as text, a line each, in the order of tracks. */
struct str chrome_dumped(struct arena *a);

#define holds(text, expected)                                                                      \
	do {                                                                                       \
		assert_true(chrome_read(S(text), ARG_BITS_ALL, &unit_arena));                      \
		assert_str(chrome_dumped(&unit_arena), expected);                                  \
	} while (0)

#define noted(part) assert_true(str_contains(notes_text(&unit_arena, &chrome_notes), S(part)))
#define silent()    assert_int_equal(chrome_notes.list.n, 0)

#define OP    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":2}"
#define OP_IS "1.2 op a 1000+2000\n"
#define OP2                                                                                        \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":5,\"dur\":1}"
#define OP2_IS "1.2 op b 5000+1000\n"

/* Expands to an event of device work. */
#define GPU(cat, args)                                                                             \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1.5,\"dur\":" \
	"0.25,\"args\":{" args "}}"

#endif
