/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles of ONNX Runtime.
 */
#include "trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_trace(read_onnxruntime, data, size);
}
