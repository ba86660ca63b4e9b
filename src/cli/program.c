/* SPDX-License-Identifier: Apache-2.0
 *
 * State of the whole program, and how its commands run.
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
