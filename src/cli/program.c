/* SPDX-License-Identifier: Apache-2.0
 *
 * See program.h.
 */
#include "cli/program.h"

/* clang-format off */
const struct command program_commands[] = {
#define COMMAND(name_, function, ...) { .name = #name_, .run = function, .program = true, __VA_ARGS__ },
#include "cli/program.def"
#undef COMMAND
	{ .name = NULL }
};
/* clang-format on */
