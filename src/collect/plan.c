/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses the option string by the rows of the option table.
 */
#define _GNU_SOURCE
#include "collect/plan.h"

#include <string.h>

#include "base/option.h"
#include "collect/collect.h"
#include "collect/pool.h"

#define DELAY_MAX_NS ((uint64_t)365 * 86400 * QUANTITY_S)
#define FLUSH_MIN_NS ((uint64_t)20 * QUANTITY_MS)
#define FLUSH_MAX_NS ((uint64_t)3600 * QUANTITY_S)
#define BUFFER_MAX   ((uint64_t)64 << 20)

#define COLLECTOR(type, field, ...) OPTION_ROW(SCOPE_COLLECTOR, type, plan, field, __VA_ARGS__)
static const struct option rows[] = {
#include "metric/option.def"
	{ .name = NULL }
};

/* True if the text from p to end is the option's name. '-' equals '_'. */
static bool is_name(const char *p, const char *end, const char *name)
{
	for (; p < end && *name; p++, name++)
		if (*p != *name && !(*p == '-' && *name == '_'))
			return false;
	return p == end && !*name;
}

static bool is_period(uint64_t ns)
{
	return ns >= FLUSH_MIN_NS && ns <= FLUSH_MAX_NS;
}

/* True if every number is within the collector's limits. */
static bool is_valid(const struct plan *p)
{
	return p->delay_ns <= DELAY_MAX_NS && p->duration_ns <= DELAY_MAX_NS &&
	       is_period(p->flush_ns) && is_period(p->silence_ns) && p->buffers <= POOL_BUFFERS &&
	       p->buffer_bytes >= POOL_BYTES_SMALL && p->buffer_bytes <= BUFFER_MAX &&
	       p->buffer_bytes % 4096 == 0;
}

/* Sets one option. A name without a value means 1. */
static bool read_word(struct plan *plan, const char *p, const char *end)
{
	const char *equals = memchr(p, '=', (size_t)(end - p));
	const char *stop = equals ? equals : end;
	struct str value = equals ? str_make(equals + 1, (size_t)(end - equals - 1)) : S("1");

	for (const struct option *row = rows; row; row = option_next(row)) {
		struct plan with = *plan;
		if (!is_name(p, stop, row->name))
			continue;
		if ((!equals && row->type != OPT_BOOL) || option_set_plain(row, value, &with) ||
		        !is_valid(&with))
			return false;
		*plan = with;
		return true;
	}
	return false;
}

struct str plan_level_name(enum plan_level level)
{
	return option_choice_at(rows[0].choices, (int)level);
}

bool plan_read(struct plan *plan, const char *options, const char **wrong, size_t *length)
{
	bool ok = true;

	*plan = (struct plan){ .level = LEVEL_LAUNCHES };
	for (const struct option *row = rows; row; row = option_next(row))
		option_set_plain(row, str_of(row->preset), plan);
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
