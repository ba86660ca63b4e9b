/* SPDX-License-Identifier: Apache-2.0
 *
 * The profile in memory, and the recorder of callbacks.
 */
#include "api_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char GRAPH[] = "node { name: 'a' op: 'Const' attr { key: 'v' value { i: 7 } } }\n"
                            "node { name: 'a/b' op: 'MatMul' input: 'a' }\n";

int rig_take(void *user, const void *bytes, size_t n)
{
	struct got *g = user;

	assert_true(n < sizeof g->text - g->n);
	memcpy(g->text + g->n, bytes, n);
	g->n += n;
	g->calls++;
	if (g->cancel)
		tfp_cancel(g->cancel);
	return g->answer;
}

int rig_add(struct tfp_session *s, int kind, const char *text, int64_t step)
{
	struct tfp_input in = {
		.size = sizeof in, .bytes = text, .bytes_size = strlen(text), .step = step
	};

	return tfp_add(s, kind, &in);
}

struct tfp_session *rig_loaded(unsigned flags)
{
	struct tfp_config config = { .size = sizeof config, .flags = flags, .threads = 2 };
	struct tfp_session *s;

	assert_int_equal(tfp_open(&s, &config), TFP_OK);
	assert_int_equal(rig_add(s, TFP_GRAPH, GRAPH, 0), TFP_OK);
	assert_int_equal(rig_add(s, TFP_STEP, API_STEP, 3), TFP_OK);
	return s;
}

struct tfp_session *rig_session;

int rig_session_open(void **state)
{
	(void)state;
	rig_session = rig_loaded(0);
	return 0;
}

int rig_session_close(void **state)
{
	(void)state;
	tfp_close(rig_session);
	return 0;
}

int rig_line(struct tfp_session *s, const char *text, struct got *to)
{
	struct tfp_run run = { .size = sizeof run, .text = rig_take, .text_user = to };

	memset(to, 0, sizeof *to);
	return tfp_run_line(s, text, TFP_Z, &run);
}

/* Returns a graph of many nodes, larger than three windows of the loader. */
char *rig_large_graph(void)
{
	char *p = malloc(8 << 20);
	size_t n = 0;

	for (unsigned i = 0; n < (4u << 20); i++)
		n += (size_t)sprintf(
		        p + n, "node { name: 'n%u/some_longer_name_%u' op: 'Add' }\n", i, i);
	return p;
}
