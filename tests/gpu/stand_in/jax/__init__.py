# SPDX-License-Identifier: Apache-2.0
"""The part of JAX that tests/gpu/work.py uses: a function is one kernel in a range of XLA."""
import contextlib
import types

import cuda

profiler = types.SimpleNamespace(trace=contextlib.nullcontext)
scopes = []


@contextlib.contextmanager
def named_scope(name):
    scopes.append(name)
    yield


class Array:
    def __matmul__(self, _):
        return self

    def sum(self):
        return self

    def block_until_ready(self):
        return self

    def __float__(self):
        return 1.0


def jit(f):
    def call(x):
        gpu, ranges = cuda.Gpu(), cuda.Ranges()
        y = f(x)
        ranges.push('Thunk:#name=jit(f)/%s/dot_general,hlo_op=fusion#' % scopes[-1], 'TSL')
        gpu.launch(1)
        ranges.pop('TSL')
        return y
    return call
