/* SPDX-License-Identifier: Apache-2.0
 * Is there libsnappy with its C interface? Then compressed checkpoint blocks can be read.
 */
#include <snappy-c.h>

int main(void)
{
	return snappy_max_compressed_length(1) == 0;
}
