/* SPDX-License-Identifier: Apache-2.0
 *
 * TensorRT layers.
 */
#include "rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_bytes(ROLE_GRAPH, data, size);
	return 0;
}
