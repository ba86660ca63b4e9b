#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a ProfileProto of a small residual network that ran ten steps, with names such as
v/tower_0/cg/resnet_v20/conv0/conv2d/Conv2D. Every run writes the same bytes. Standard library only.

    tests/models/tower_profile.py FILE [BLOCKS]
"""
import sys

from wire import num, sub, varint

STEPS = 10
DEVICE = '/job:localhost/replica:0/task:0/device:gpu:0'


def names(blocks):
    """Yields (name, op) of every node: forward, loss, backward."""
    cg, back = 'v/tower_0/cg/', 'v/tower_0/gradients/v/tower_0/cg/'
    yield cg + 'strided_slice', 'StridedSlice'
    yield cg + 'strided_slice_1', 'StridedSlice'
    for i in range(blocks):
        block = 'resnet_v2%d/' % (i // 2)
        yield cg + block + 'conv%d/conv2d/Conv2D' % i, 'Conv2D'
        yield cg + block + 'conv%d/batchnorm%d/FusedBatchNorm' % (i, i), 'FusedBatchNorm'
        yield cg + block + 'conv%d/Relu' % i, 'Relu'
        yield cg + block + 'add', 'Add' if i % 2 else 'AddV2'
        yield back + block + 'conv%d/conv2d/Conv2D_grad/Conv2DBackpropFilter' % i, 'Conv2DBackpropFilter'
        yield back + block + 'conv%d/conv2d/Conv2D_grad/Conv2DBackpropInput' % i, 'Conv2DBackpropInput'
        yield (back + block + 'conv%d/batchnorm%d/FusedBatchNorm_grad/FusedBatchNormGrad' % (i, i),
               'FusedBatchNormGrad')
        yield back + block + 'conv%d/Relu_grad/ReluGrad' % i, 'ReluGrad'
    yield cg + 'mpool0/MaxPool', 'MaxPool'
    yield cg + 'spatial_mean1', 'Mean'
    yield cg + 'affine0/xw_plus_b/MatMul', 'MatMul'
    yield 'v/tower_0/xentropy/sparse_softmax_cross_entropy_loss', 'SparseSoftmaxCrossEntropyWithLogits'
    yield back + 'mpool0/MaxPool_grad/MaxPoolGrad', 'MaxPoolGrad'
    yield back + 'spatial_mean1_grad', 'Tile'
    yield back + 'affine0/xw_plus_b_grad/BiasAddGrad', 'BiasAddGrad'


def nodes(blocks):
    """Returns the nodes with these names, each name once."""
    seen = set()
    return [n for n in names(blocks) if not (n[0] in seen or seen.add(n[0]))]


def times(i, step):
    """Returns (accelerator, cpu) microseconds of node i."""
    return 20 + 7 * i % 90 + (i * 31 + step * 17) % 5, 5 + (i + step) % 4


def size(i):
    """Returns the bytes that node i requests: from bytes to megabytes."""
    return [300, 70000, 5000000][i % 3] + 100 * i


def exec_profile(i, step):
    start = 1000000 * (step + 1) + 200 * i
    accelerator, cpu = times(i, step)

    def span(field, device, begin, length):
        pair = sub(1, varint(begin) + varint(length))  # a tuple
        return sub(field, sub(1, device) + sub(2, sub(1, pair)))
    memory = num(6, size(i)) + num(7, size(i)) + num(9, size(i))
    return (num(1, 1) + num(2, start) + num(3, start + 150)
            + span(4, DEVICE + '/stream:all', start + 20, accelerator) + span(5, DEVICE, start, cpu)
            + sub(6, DEVICE) + sub(7, memory))


def profile_node(i, name, op, steps):
    out = sub(1, name) + sub(5, op) + sub(5, DEVICE) + sub(6, DEVICE) + sub(9, op) + num(13, i)
    if i:
        out += sub(2, num(1, 0) + num(2, i - 1))
    for step in range(steps):
        out += sub(12, num(1, step) + sub(2, exec_profile(i, step)))
    return out


def profile(blocks=4, steps=STEPS):
    """Returns the bytes of the ProfileProto."""
    out = b''.join(sub(1, num(1, i) + sub(2, profile_node(i, name, op, steps)))
                   for i, (name, op) in enumerate(nodes(blocks)))
    return out + sub(3, b''.join(map(varint, range(steps))))


if __name__ == '__main__':
    with open(sys.argv[1], 'wb') as f:
        f.write(profile(*map(int, sys.argv[2:3])))
