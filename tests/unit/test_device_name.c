/* SPDX-License-Identifier: Apache-2.0
 *
 * Properties derived from device names.
 */
#include "unit.h"

#include "model/model.h"

static void test_devices(void **state)
{
	(void)state;
	assert_int_equal(device_kind(S("/job:a/replica:0/task:0/device:gpu:12")),
	        DEVICE_CANONICAL | DEVICE_GPU);
	assert_int_equal(device_kind(S("/job:a/cpu:0")), DEVICE_CANONICAL | DEVICE_CPU);
	assert_int_equal(device_kind(S("/gpu:0/stream:all")), DEVICE_ACCELERATOR | DEVICE_GPU);
	assert_int_equal(device_kind(S("/device:xla_gpu:0")), DEVICE_GPU);
	assert_int_equal(device_kind(S("gpu:0")), DEVICE_GPU);
	assert_int_equal(device_kind(S("/gpu:")), DEVICE_GPU);
	assert_int_equal(device_kind(S("")), 0);
	assert_str(device_host(*state, S("/a/gpu:12/gpu:x/gpu:3")), "/a/cpu:0/gpu:x/cpu:0");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_devices),
	};

	return unit_main(tests, argc, argv);
}
