# SPDX-License-Identifier: Apache-2.0
import jax


def ones(_):
    return jax.Array()


def tanh(x):
    return x
