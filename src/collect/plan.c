/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the option string: a table of words, each with its field and its kind of value.
 */
#define _GNU_SOURCE
#include "collect/plan.h"

#include <string.h>

#include "base/quantity.h"
#include "collect/collect.h"
#include "collect/pool.h"

enum kind { FLAG, TIME, SECONDS, MILLISECONDS, BYTES, BUFFER_BYTES, BUFFERS, LEVEL, GRAPHS, START };

static const struct word {
	const char *name;
	enum kind kind;
	size_t field;
} words[] = {
	{ COLLECT_OPT_LEVEL, LEVEL, 0 },
	{ COLLECT_OPT_GRAPHS, GRAPHS, 0 },
	{ COLLECT_OPT_START, START, 0 },
	{ COLLECT_OPT_MEM, FLAG, offsetof(struct plan, memory) },
	{ COLLECT_OPT_SYNC, FLAG, offsetof(struct plan, sync) },
	{ COLLECT_OPT_OVERHEAD, FLAG, offsetof(struct plan, overhead) },
	{ COLLECT_OPT_NVTX, FLAG, offsetof(struct plan, nvtx) },
	{ COLLECT_OPT_VERBOSE, FLAG, offsetof(struct plan, verbose) },
	{ COLLECT_OPT_STEP_SIGNAL, FLAG, offsetof(struct plan, step_signal) },
	{ COLLECT_OPT_SELF_LIMIT, FLAG, offsetof(struct plan, self_limit) },
	{ COLLECT_OPT_DETACH, FLAG, offsetof(struct plan, detach) },
	{ COLLECT_OPT_DELAY, SECONDS, offsetof(struct plan, delay_ns) },
	{ COLLECT_OPT_DURATION, SECONDS, offsetof(struct plan, duration_ns) },
	{ COLLECT_OPT_SINCE, TIME, offsetof(struct plan, since_ns) },
	{ COLLECT_OPT_FLUSH, MILLISECONDS, offsetof(struct plan, flush_ns) },
	{ COLLECT_OPT_SILENCE, MILLISECONDS, offsetof(struct plan, silence_ns) },
	{ COLLECT_OPT_MAX_SIZE, BYTES, offsetof(struct plan, max_bytes) },
	{ COLLECT_OPT_BUFFERS, BUFFERS, 0 },
	{ COLLECT_OPT_BUFFER_SIZE, BUFFER_BYTES, 0 },
};

#define DELAY_MOST     (365u * 86400u) /* seconds */
#define FLUSH_LEAST_NS 20000000u
#define MAX_SIZE       ((uint64_t)2 << 30) /* bytes of a spool, unless an option says otherwise */

/* Reads a time in nanoseconds; without a unit it counts in `bare`. */
static bool time_of(struct str s, int64_t bare, uint64_t most, uint64_t *out)
{
	int64_t n;

	if (!quantity_parse_time(s, bare, QUANTITY_NS, &n) || n < 0 || (uint64_t)n > most)
		return false;
	*out = (uint64_t)n;
	return true;
}

/* Reads a number that is not negative. */
static bool amount(struct str s, enum quantity q, uint64_t *out)
{
	int64_t n;

	if (!quantity_parse(s, q, &n) || n < 0)
		return false;
	*out = (uint64_t)n;
	return true;
}

/* Whether that is the word; '-' counts as '_'. */
static bool is(const char *p, const char *end, const char *word)
{
	for (; p < end && *word; p++, word++)
		if (*p != *word && !(*p == '-' && *word == '_'))
			return false;
	return p == end && !*word;
}

/* One of two words; false if it is neither. */
static bool choice(const char *p, const char *end, const char *no, const char *yes, bool *out)
{
	*out = is(p, end, yes);
	return *out || is(p, end, no);
}

static bool level(const char *p, const char *end, enum plan_level *out)
{
	static const char *const names[] = { "kernels", "launches", "full" };

	for (unsigned i = 0; i < 3; i++)
		if (is(p, end, names[i])) {
			*out = (enum plan_level)i;
			return true;
		}
	return false;
}

/* Sets one word's value, between p and end; p is NULL where there is no "=". */
static bool set(struct plan *plan, const struct word *w, const char *p, const char *end)
{
	void *field = (char *)plan + w->field;
	struct str value = { p, p ? (size_t)(end - p) : 0 };
	uint64_t n = 0;

	if (!p) {
		if (w->kind == FLAG)
			*(bool *)field = true;
		return w->kind == FLAG;
	}
	switch (w->kind) {
	case FLAG: return choice(p, end, "0", "1", field);
	case LEVEL: return level(p, end, &plan->level);
	case GRAPHS: return choice(p, end, "node", "graph", &plan->graph_level);
	case START: return choice(p, end, "now", "ctl", &plan->wait_for_start);
	case TIME: return time_of(value, QUANTITY_S, INT64_MAX, field);
	case SECONDS: return time_of(value, QUANTITY_S, (uint64_t)DELAY_MOST * QUANTITY_S, field);
	case MILLISECONDS:
		if (!time_of(value, QUANTITY_MS, 3600 * (uint64_t)QUANTITY_S, &n) ||
		        n < FLUSH_LEAST_NS)
			return false;
		*(uint64_t *)field = n;
		return true;
	case BYTES: return amount(value, QUANTITY_BYTES, field);
	case BUFFERS:
		if (!amount(value, QUANTITY_COUNT, &n) || !n || n > POOL_BUFFERS)
			return false;
		plan->buffers = (uint32_t)n;
		return true;
	case BUFFER_BYTES:
		if (!amount(value, QUANTITY_BYTES, &n) || n < POOL_BYTES_LEAST ||
		        n > (uint64_t)64 << 20 || n % 4096)
			return false;
		plan->buffer_bytes = n;
		return true;
	}
	return false;
}

static bool read_word(struct plan *plan, const char *p, const char *end)
{
	const char *equals = memchr(p, '=', (size_t)(end - p));
	const char *stop = equals ? equals : end;

	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		if (is(p, stop, words[i].name))
			return set(plan, &words[i], equals ? equals + 1 : NULL, end);
	return false;
}

bool plan_read(struct plan *plan, const char *options, const char **wrong, size_t *length)
{
	bool ok = true;

	*plan = (struct plan){ .level = LEVEL_LAUNCHES,
		.overhead = true,
		.nvtx = true,
		.flush_ns = 500000000u,
		.silence_ns = 3000000000u,
		.max_bytes = MAX_SIZE,
		.buffers = POOL_BUFFERS,
		.buffer_bytes = POOL_BYTES };
	for (const char *p = options ? options : "", *end; *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, ',');
		if (end == p || read_word(plan, p, end))
			continue;
		if (ok) {
			*wrong = p;
			*length = (size_t)(end - p);
		}
		ok = false;
	}
	if (plan->level == LEVEL_FULL)
		plan->memory = plan->sync = true;
	return ok;
}
