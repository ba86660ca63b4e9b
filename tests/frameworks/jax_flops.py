#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the float operations of compiled programs with cost_analysis() of JAX, on functions that run on the CPU.

    tests/frameworks/jax_flops.py --bin build/check

XLA differs by convention: it counts the body of a loop once, one operation less for each result of a reduction, selects, and the
comparisons of a sort. KNOWN lists the functions to which this applies.
"""
import glob
import json
import os
import sys

from rig import equal, main, make, program

REDUCES, SELECTS, LOOPS, OTHER = 'reduces', 'selects', 'loops', 'other'
KNOWN = {
    'dot': REDUCES, 'softmax': REDUCES, 'logsumexp': REDUCES, 'layer_norm': REDUCES, 'rms_norm': REDUCES, 'sum': REDUCES, 'sum_axis': REDUCES,
    'max': REDUCES, 'mean': REDUCES, 'cumsum': REDUCES, 'max_pool': REDUCES, 'avg_pool': REDUCES, 'attention': REDUCES,
    'where': SELECTS, 'take': SELECTS, 'scatter_add': SELECTS, 'sort': SELECTS, 'argmax': SELECTS,
    'scan': LOOPS, 'fori': LOOPS, 'while_dynamic': LOOPS, 'fft': OTHER, 'cholesky': OTHER,
}
# Operations of one iteration, and iterations: a product of a matrix with 16 * 16 elements and a vector, and ops on 16 elements.
ITERATIONS = {'scan': (2 * 256 + 16 + 1, 7), 'fori': (2 * 256 + 16 + 1, 5)}


def functions():
    """Returns {name: (function, arguments)}."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def a(*shape):
        return jnp.ones(shape, jnp.float32)

    def conv(stride=1, padding='VALID', **more):
        return lambda x, k: lax.conv_general_dilated(x, k, (stride,) * (x.ndim - 2), padding, **more)

    x, y, v, image, kernel = a(32, 64), a(64, 16), a(64), a(2, 3, 12, 12), a(4, 3, 3, 3)
    q = a(2, 4, 16, 8)
    return {
        'matmul': (lambda p, q: p @ q, (x, y)), 'matvec': (lambda p, q: p @ q, (x, v)), 'dot': (jnp.dot, (v, v)),
        'batched': (lambda p, q: p @ q, (a(4, 8, 16), a(4, 16, 5))),
        'einsum': (lambda q, k: jnp.einsum('bhqd,bhkd->bhqk', q, k), (q, q)),
        'einsum_outer': (lambda p, q: jnp.einsum('i,j->ij', p, q), (a(8), a(9))),
        'einsum_three': (lambda p, q, r: jnp.einsum('ij,jk,kl->il', p, q, r), (a(4, 5), a(5, 6), a(6, 7))),
        'tensordot': (lambda p, q: jnp.tensordot(p, q, axes=([1, 2], [1, 0])), (a(4, 5, 6), a(6, 5, 7))),
        'add': (lambda p, q: p + q, (x, x)), 'multiply_add': (lambda p, q: p * q + p, (x, x)), 'div': (lambda p, q: p / q, (x, x)),
        'exp': (jnp.exp, (x,)), 'log': (jnp.log, (x,)), 'tanh': (jnp.tanh, (x,)), 'sqrt': (jnp.sqrt, (x,)), 'rsqrt': (lax.rsqrt, (x,)),
        'sin': (jnp.sin, (x,)), 'pow': (jnp.power, (x, x)), 'relu': (jax.nn.relu, (x,)), 'sigmoid': (jax.nn.sigmoid, (x,)),
        'gelu': (jax.nn.gelu, (x,)), 'silu': (jax.nn.silu, (x,)), 'softmax': (jax.nn.softmax, (x,)), 'logsumexp': (jax.nn.logsumexp, (x,)),
        'layer_norm': (lambda p: (p - p.mean(-1, keepdims=True)) / jnp.sqrt(p.var(-1, keepdims=True) + 1e-5), (x,)),
        'rms_norm': (lambda p: p * lax.rsqrt((p * p).mean(-1, keepdims=True) + 1e-5), (x,)),
        'sum': (jnp.sum, (x,)), 'sum_axis': (lambda p: p.sum(0), (x,)), 'max': (jnp.max, (x,)), 'mean': (jnp.mean, (x,)),
        'argmax': (lambda p: jnp.argmax(p, -1), (x,)), 'cumsum': (lambda p: jnp.cumsum(p, -1), (x,)), 'transpose': (lambda p: p.T.copy(), (x,)),
        'concat': (lambda p, q: jnp.concatenate([p, q]), (x, x)), 'take': (lambda p, i: p[i], (x, jnp.arange(5))),
        'scatter_add': (lambda p, i, u: p.at[i].add(u), (x, jnp.arange(5), a(5, 64))), 'where': (lambda p, q: jnp.where(p > 0, p, q), (x, x)),
        'sort': (lambda p: jnp.sort(p, -1), (x,)),
        'conv': (conv(), (image, kernel)), 'conv_same': (conv(padding='SAME'), (image, kernel)), 'conv_stride': (conv(stride=2), (image, kernel)),
        'conv_groups': (conv(feature_group_count=2), (a(2, 4, 12, 12), a(8, 2, 3, 3))),
        'conv_dilated': (conv(rhs_dilation=(2, 2)), (image, kernel)), 'conv_1d': (conv(), (a(2, 3, 20), a(4, 3, 5))),
        'max_pool': (lambda p: lax.reduce_window(p, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), 'VALID'), (image,)),
        'avg_pool': (lambda p: lax.reduce_window(p, 0., lax.add, (1, 1, 3, 3), (1, 1, 1, 1), 'VALID') / 9, (image,)),
        'perceptron': (lambda p, w, u: jax.nn.relu(p @ w) @ u, (a(8, 16), a(16, 32), a(32, 4))),
        'gradient': (lambda w, p: jax.grad(lambda w: ((p @ w) ** 2).sum())(w), (a(16, 32), a(8, 16))),
        'conv_gradient': (lambda k, p: jax.grad(lambda k: (lax.conv(p, k, (1, 1), 'VALID') ** 2).sum())(k), (kernel, image)),
        'attention': (lambda q, k, w: jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2) / 2.) @ w, (q, q, q)),
        'scan': (lambda w, s: lax.scan(lambda c, _: (jnp.tanh(w @ c), None), s, None, length=7)[0], (a(16, 16), a(16))),
        'fori': (lambda w, s: lax.fori_loop(0, 5, lambda i, c: w @ c + 1., s), (a(16, 16), a(16))),
        'while_dynamic': (lambda w, s: lax.while_loop(lambda c: c.sum() < 1e6, lambda c: w @ c, s), (a(16, 16), a(16))),
        'fft': (lambda p: jnp.abs(jnp.fft.fft(p)), (a(4, 32),)), 'cholesky': (jnp.linalg.cholesky, (jnp.eye(8) * 2,)),
    }


def write(folder):
    """Writes an XSpace of one run of each function, and the results of cost_analysis() as costs.json."""
    import jax
    costs = {}
    for name, (function, arguments) in functions().items():
        compiled = jax.jit(function).lower(*arguments).compile()
        cost = compiled.cost_analysis()
        cost = cost[0] if isinstance(cost, (list, tuple)) else cost
        costs[name] = round(cost.get('flops', 0)), round(cost.get('transcendentals', 0))
        jax.block_until_ready(compiled(*arguments))
        with jax.profiler.trace(os.path.join(folder, name)):
            jax.block_until_ready(compiled(*arguments))
    with open(os.path.join(folder, 'costs.json'), 'w') as f:
        json.dump(costs, f)


def costs():
    """The numbers equal those of XLA, or differ only by its conventions."""
    folder, same = make('write'), 0
    with open(os.path.join(folder, 'costs.json')) as f:
        expected = json.load(f)
    for name, (flops, transcendentals) in expected.items():
        path, = glob.glob(os.path.join(folder, name, '**', '*.xplane.pb'), recursive=True)
        d = json.loads(program(path, 'flops', '--top=0', '-output', 'json')[0])
        known, all_ = KNOWN.get(name), flops + transcendentals
        if known is None:
            # XLA counts transcendental functions separately from other operations
            assert d['flops'] in (flops, all_), (name, d['flops'], flops, transcendentals)
            equal(d['uncounted'], [], name)
            same += 1
        elif known == REDUCES:
            assert all_ < d['flops'] <= all_ * 1.34 + 8, (name, d['flops'], all_)
        elif known == SELECTS:
            assert d['flops'] < all_, (name, d['flops'], all_)
        elif name in ITERATIONS:
            once, times = ITERATIONS[name]
            assert abs(all_ - once) <= 1, (name, all_, once)
            equal(d['flops'], once * times, name)
    assert len(expected) >= 50 and same >= 30, (len(expected), same)


if __name__ == '__main__':
    sys.exit(main(__doc__, {'write': write}, [costs]))
