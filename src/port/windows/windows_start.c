/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts the program: arguments as UTF-8.
 */
#include "port/windows/windows_internal.h"

#include <shellapi.h>

#undef main

int main(void)
{
	int argc = 0;
	wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &argc);
	char **argv = wide ? calloc((size_t)argc + 1, sizeof *argv) : NULL;

	for (int i = 0; argv && i < argc; i++)
		if (!(argv[i] = port_narrow(wide[i])))
			argv = NULL;
	if (!argv) {
		fputs("tfprof: out of memory\n", stderr);
		return 1;
	}
	port_console_open();
	return port_main(argc, argv);
}
