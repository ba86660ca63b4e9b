#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a ProfileProto of a small residual network that ran ten steps, with names as those of
v/tower_0/cg/resnet_v20/conv0/conv2d/Conv2D. The same bytes every time; the standard library alone.

    tests/models/tower_profile.py FILE [BLOCKS]
"""
import sys

STEPS = 10
DEVICE = '/job:localhost/replica:0/task:0/device:gpu:0'


def varint(v):
    out = bytearray()
    v &= 2**64 - 1
    while v > 0x7f:
        out.append(v & 0x7f | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def number(field, v):
    return varint(field << 3) + varint(v)


def part(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def names(blocks):
    """(name, op) of every node: forward, loss, backward."""
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
    """The same, each name once."""
    seen = set()
    return [n for n in names(blocks) if not (n[0] in seen or seen.add(n[0]))]


def times(i, step):
    """(accelerator, cpu) microseconds of node i."""
    return 20 + 7 * i % 90 + (i * 31 + step * 17) % 5, 5 + (i + step) % 4


def size(i):
    """Bytes that node i asks for: from bytes to megabytes."""
    return [300, 70000, 5000000][i % 3] + 100 * i


def exec_profile(i, step):
    start = 1000000 * (step + 1) + 200 * i
    accelerator, cpu = times(i, step)

    def span(field, device, begin, length):
        pair = part(1, varint(begin) + varint(length))  # Tuple
        return part(field, part(1, device) + part(2, part(1, pair)))
    memory = number(6, size(i)) + number(7, size(i)) + number(9, size(i))
    return (number(1, 1) + number(2, start) + number(3, start + 150)
            + span(4, DEVICE + '/stream:all', start + 20, accelerator) + span(5, DEVICE, start, cpu)
            + part(6, DEVICE) + part(7, memory))


def profile_node(i, name, op):
    out = part(1, name) + part(5, op) + part(5, DEVICE) + part(6, DEVICE) + part(9, op) + number(13, i)
    if i:
        out += part(2, number(1, 0) + number(2, i - 1))
    for step in range(STEPS):
        out += part(12, number(1, step) + part(2, exec_profile(i, step)))
    return out


def profile(blocks=4):
    """The bytes of the ProfileProto."""
    out = b''.join(part(1, number(1, i) + part(2, profile_node(i, name, op)))
                   for i, (name, op) in enumerate(nodes(blocks)))
    return out + part(3, b''.join(map(varint, range(STEPS))))


if __name__ == '__main__':
    with open(sys.argv[1], 'wb') as f:
        f.write(profile(*map(int, sys.argv[2:3])))
