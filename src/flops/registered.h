/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings of operations of TensorFlow, in a struct op_call whose name begins with "tensorflow::".
 */
#ifndef TFPROF_FLOPS_REGISTERED_H
#define TFPROF_FLOPS_REGISTERED_H

/* Numbers of the settings. */
enum registered_setting {
	REGISTERED_NHWC,       /* 1: data_format is NHWC */
	REGISTERED_TRANSPOSED, /* 1: transpose_a */
	REGISTERED_WINDOW,     /* product of ksize; 0: none */
	REGISTERED_STRIDE,     /* product of the strides over the image; 0: none */
	REGISTERED_INPUTS      /* number of inputs, without control inputs */
};

#endif
