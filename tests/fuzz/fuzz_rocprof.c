/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of rocprofv3.
 */
#include "trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_trace(read_rocprof, data, size);
}
