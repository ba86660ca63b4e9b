# SPDX-License-Identifier: Apache-2.0
"""An Inception on four towers, and a benchmark's ResNet under v/tower_0."""
from wire import Model

CPU = '/job:localhost/replica:0/task:0/cpu:0'
GPU = '/job:localhost/replica:0/task:0/device:GPU:%d'
FIRST = {3: 126340, 1: 125440, 2: 124850, 0: 124450}


def build():
    m = Model()
    for t in range(4):
        x = m.add('tower_%d/Conv2d_1a_3x3/convolution' % t, 'Conv2D', out=[32, 149, 149, 32],
                  device=GPU % t, micros=300, gpu=60500 + 11 * t, size=90000000,
                  flops=2 * 32 * 149 * 149 * 27 * 32)
        for k in range(20):
            x = m.add('tower_%d/Mixed_%02d/convolution' % (t, k), 'Conv2D', [x], out=[32, 35, 35, 64],
                      device=GPU % t, micros=280, gpu=40000 + 700 * k + t, size=9800000,
                      flops=2 * 32 * 35 * 35 * 9 * 64)
            m.add('tower_%d/gradients/tower_%d/Mixed_%02d/convolution_grad/Conv2DBackpropFilter'
                  % (t, t, k), 'Conv2DBackpropFilter', [x], device=GPU % t, micros=250,
                  gpu=45000 + 500 * k + t, size=147456)
        m.add('tower_%d/gradients/tower_%d/Conv2d_1a_3x3/convolution_grad/Conv2DBackpropFilter' % (t, t),
              'Conv2DBackpropFilter', [x], device=GPU % t, micros=340, gpu=FIRST[t] - 340, size=3456)
    benchmark(m)
    return m


def benchmark(m):
    top = 'v/tower_0/cg/'
    x = m.add('v/tower_0/cg/strided_slice_1', 'StridedSlice', out=[64, 3, 224, 224], device=GPU % 0,
              micros=9, gpu=3, size=38535168)
    for b in range(1, 4):
        for op in ('Conv2D', 'FusedBatchNorm', 'Relu'):
            scope = {'Conv2D': 'conv2d/', 'FusedBatchNorm': 'batchnorm%d/' % b, 'Relu': ''}[op]
            name = '%sresnet_v2%d/conv%d/%s%s' % (top, 0, b, scope, op)
            x = m.add(name, op, [x], out=[64, 64, 56, 56], device=GPU % 0, micros=44 + b, gpu=51 + 3 * b,
                      size=51380224)
            grad = {'Conv2D': ['Conv2DBackpropFilter', 'Conv2DBackpropInput'],
                    'FusedBatchNorm': ['FusedBatchNormGrad'], 'Relu': ['ReluGrad']}[op]
            for g in grad:
                m.add('v/tower_0/gradients/%s_grad/%s' % (name, g), g, [x], device=GPU % 0, micros=20,
                      gpu=12 + b, size=199680)
    x = m.add(top + 'resnet_v20/MaxPool', 'MaxPool', [x], out=[64, 64, 28, 28], device=GPU % 0, micros=30,
              gpu=40, size=12845056)
    x = m.add(top + 'spatial_mean0', 'Mean', [x], out=[64, 64], device=GPU % 0, micros=31, gpu=9,
              size=16384)
    m.add('v/tower_0/xentropy/sparse_softmax_cross_entropy_loss', 'Mean', [x], out=[], device=CPU,
          micros=12, size=4)
