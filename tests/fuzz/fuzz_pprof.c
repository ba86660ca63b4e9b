/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof profiles.
 */
#include "rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_bytes(ROLE_PROFILE, data, size);
	return 0;
}
