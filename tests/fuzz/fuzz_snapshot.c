/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory snapshots of PyTorch: pickles and JSON.
 */
#include "trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_trace(read_snapshot, data, size);
}
