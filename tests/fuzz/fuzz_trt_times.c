/* SPDX-License-Identifier: Apache-2.0
 *
 * TensorRT timings.
 */
#include "rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_bytes(ROLE_STEP, data, size);
	return 0;
}
