/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory snapshots of PyTorch: pickles and JSON, and the use of memory that is computed from them.
 */
#include "memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_trace(read_snapshot, data, size);
	return fuzz_memory(read_snapshot, data, size);
}
