/* SPDX-License-Identifier: Apache-2.0
 * Is there libedit with its readline interface? Then the prompt has history and completion.
 */
#include <stdio.h>
#include <editline/readline.h>

int main(void)
{
	using_history();
	return rl_completion_matches("", NULL) != NULL;
}
