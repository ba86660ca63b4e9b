/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON traces.
 */
#include "trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_trace(read_chrome_json, data, size);
}
