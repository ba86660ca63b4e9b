/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of commands.
 */
#include "lib/command.h"

/* clang-format off */
static const struct command commands[] = {
#define COMMAND(name_, function, ...) { .name = #name_, .run = function, __VA_ARGS__ },
#include "lib/command.def"
#undef COMMAND
	{ .name = NULL }
};
/* clang-format on */

const struct command *cmd_next(const struct session *s, const struct command *c)
{
	const size_t n = sizeof commands / sizeof *commands - 1;

	c = c ? c + 1 : commands;
	if (c == commands + n)
		c = s->more_commands;
	return c && c->name ? c : NULL;
}

const struct command *cmd_find(const struct session *s, struct str name)
{
	const struct command *c = NULL;

	while ((c = cmd_next(s, c)) != NULL)
		if (str_eq(str_of(c->name), name) || (c->also && str_eq(str_of(c->also), name)))
			return c;
	return NULL;
}
