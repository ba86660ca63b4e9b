/* SPDX-License-Identifier: Apache-2.0
 *
 * Exports of Nsight Systems.
 */
#include "trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_trace(read_nsys, data, size);
}
