/* SPDX-License-Identifier: Apache-2.0
 * Is there the C++ runtime's demangler? Then labels show names of kernels as C++ writes them.
 */
#include <stddef.h>

char *__cxa_demangle(const char *mangled, char *buffer, size_t *size, int *status);

int main(void)
{
	int status;

	return !__cxa_demangle("_Z1fv", NULL, NULL, &status);
}
