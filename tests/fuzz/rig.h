/* SPDX-License-Identifier: Apache-2.0
 *
 * What the fuzz targets share. Property of all: whatever the bytes, no crash, no leak, no undefined
 * behaviour, memory within the limit; what loads answers every command, and the same command twice
 * gives equal bytes.
 */
#ifndef TFPROF_TESTS_FUZZ_RIG_H
#define TFPROF_TESTS_FUZZ_RIG_H

#include <stdlib.h>

#include "app/cmd.h"

#define FUZZ_LIMIT ((size_t)512 << 20) /* bytes a session may hold */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const FUZZ_COMMANDS[] = {
	"scope -max_depth 40 -select "
	"micros,bytes,params,float_ops,device,op_types,occurrence,input_shapes",
	"graph -step 0 -order_by bytes -select bytes,peak_bytes,residual_bytes,output_bytes "
	"-min_bytes 1",
	"op -order_by occurrence -select "
	"micros,bytes,params,float_ops,device,op_types,occurrence,input_shapes",
	"code -max_depth 40 -order_by micros -select micros,bytes,occurrence",
	"scope -account_type_regexes .*Const.*,.*Op -show_name_regexes .*a.* "
	"-account_displayed_op_only",
	"advise",
};

struct fuzz_ask {
	struct str line;
	struct sink *out;
};

static bool fuzz_line(struct session *s, void *ctx)
{
	const struct fuzz_ask *a = ctx;

	return cmd_line(s, a->line, a->out);
}

/* The bytes that a line prints. */
static inline struct str fuzz_answer(struct session *s, struct arena *a, struct str line)
{
	struct fuzz_ask ask = { line, sink_memory(a) };

	session_guard(s, fuzz_line, &ask);
	return sink_text(ask.out);
}

struct fuzz_load {
	unsigned role;
	struct input_from from;
};

static bool fuzz_load_one(struct session *s, void *ctx)
{
	const struct fuzz_load *l = ctx;
	struct input_step step = { .from = l->from };

	if (l->role == ROLE_STEP)
		return session_load_steps(s, &step, 1, NULL, NULL);
	return session_load(s, l->role, &l->from);
}

/* Loads the bytes in a role and asks everything twice. */
static inline void fuzz_bytes(unsigned role, const uint8_t *data, size_t size)
{
	struct session *s = session_new(FUZZ_LIMIT);
	struct account account = { 0 };
	struct work work = { .account = &account };
	struct arena a;
	struct fuzz_load l = { role,
		{ .name = S("input"), .bytes = str_make(data, size), .memory = true } };

	if (!s || setjmp(work.escape))
		abort();
	arena_init(&a, &work);
	if (session_guard(s, fuzz_load_one, &l)) {
		for (size_t i = 0; i < sizeof FUZZ_COMMANDS / sizeof *FUZZ_COMMANDS; i++) {
			struct str once = fuzz_answer(s, &a, str_of(FUZZ_COMMANDS[i]));
			if (!str_eq(once, fuzz_answer(s, &a, str_of(FUZZ_COMMANDS[i]))))
				abort();
		}
	}
	session_free(s);
	arena_free(&a);
}

#endif
