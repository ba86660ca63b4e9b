/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the tests of the public interface: a small profile in memory, and a recorder of
 * callbacks.
 */
#ifndef TFPROF_TESTS_API_RIG_H
#define TFPROF_TESTS_API_RIG_H

#include "tfprof/tfprof.h"

#define API_STEP                                                                                   \
	"step_stats { dev_stats { device: '/cpu:0'\n"                                              \
	" node_stats { node_name: 'a' all_start_micros: 10 op_end_rel_micros: 5 }\n"               \
	" node_stats { node_name: 'a/b' all_start_micros: 20 op_end_rel_micros: 7 } } }\n"
#define API_VIEW "scope -select micros"
#define API_SHOWN                                                                                  \
	"_TFProfRoot (--/12us, --/0us, --/12us)\n"                                                 \
	"  a (5us/12us, 0us/0us, 5us/12us)\n"                                                      \
	"    a/b (7us/7us, 0us/0us, 7us/7us)\n"

struct got {
	char text[16384];
	size_t n;
	unsigned calls;
	int answer;                 /* return value of the callback */
	struct tfp_session *cancel; /* session to cancel */
};
int rig_take(void *user, const void *bytes, size_t n);

/* Adds a text in memory. */
int rig_add(struct tfp_session *s, int kind, const char *text, int64_t step);

/* Returns a session with a graph of two nodes and step 3. */
struct tfp_session *rig_loaded(unsigned flags);

/* The session of a test in IN_SESSION: loaded before the test, and closed after it. */
extern struct tfp_session *rig_session;
int rig_session_open(void **state);
int rig_session_close(void **state);
#define IN_SESSION(f) cmocka_unit_test_setup_teardown(f, rig_session_open, rig_session_close)

/* Runs a line. Stores its text in *to, which is emptied first. */
int rig_line(struct tfp_session *s, const char *text, struct got *to);

/* Returns a graph of many nodes, larger than three windows of the loader. The caller frees it. */
char *rig_large_graph(void);

#endif
