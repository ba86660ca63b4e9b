# SPDX-License-Identifier: Apache-2.0
"""A ResNet of 32 layers with an input queue, Momentum slots and a checkpoint, as in the tutorials of 2016, with the times,
float operations and parameter counts that they print."""
from wire import Model, spread

CPU = '/job:localhost/replica:0/task:0/cpu:0'
BATCH = 128

# Slow convolutions of the forward and backward pass, microseconds.
FORWARD = {'init/init_conv/Conv2D': 11750, 'unit_1_0/sub2/conv2/Conv2D': 74140,
           'unit_1_3/sub2/conv2/Conv2D': 60750, 'unit_2_4/sub2/conv2/Conv2D': 73580,
           'unit_3_3/sub2/conv2/Conv2D': 10260}
BACKWARD = {'unit_1_0/sub1/conv1': 54960, 'unit_1_0/sub2/conv2': 83630, 'unit_1_1/sub1/conv1': 99250,
            'unit_1_2/sub1/conv1': 95400, 'unit_1_2/sub2/conv2': 99830, 'unit_1_3/sub1/conv1': 95390}
GAMMA = {'unit_1_0/shared_activation/init_bn/gamma':
         [1.80, 2.10, 2.06, 1.91, 2.26, 1.86, 1.81, 1.37, 1.78, 1.85, 1.96, 1.54, 2.04, 2.34, 2.22, 1.99],
         'unit_1_0/sub2/bn2/gamma':
         [1.57, 1.83, 1.30, 1.25, 1.59, 1.14, 1.26, 0.82, 1.19, 1.10, 1.48, 1.01, 0.82, 1.23, 1.21, 1.14]}


class Net:
    def __init__(self):
        self.m, self.tensors, self.trainable, self.convs = Model(), {}, [], []

    def run(self, name, op, inputs=(), micros=None, **more):
        micros = spread(name, 40, 900) if micros is None else micros
        return self.m.add(name, op, inputs, device=CPU, micros=micros, **more)

    def variable(self, name, shape, trainable=True, types=()):
        types = list(types) + (['_trainable_variables'] if trainable else [])
        zeros = self.run(name + '/Initializer/zeros', 'Const', out=shape, micros=0, runs=0)
        self.run(name, 'Variable', shape=shape, micros=spread(name, 1, 9), types=types)
        self.run(name + '/Assign', 'Assign', [name, zeros], micros=0, runs=0)
        read = self.run(name + '/read', 'Identity', [name], micros=spread(name, 1, 4), out=shape)
        size = 1
        for d in shape:
            size *= d
        self.tensors[name] = (shape, GAMMA.get(name, [spread(name, 1, 99) / 100] * size))
        if trainable:
            self.trainable.append((name, shape))
        return read

    def bn(self, scope, x, depth, shape):
        beta, gamma = (self.variable(scope + n, [depth]) for n in ('/beta', '/gamma'))
        for n in ('/moving_mean', '/moving_variance'):
            self.variable(scope + n, [depth], trainable=False)
        return self.run(scope + '/FusedBatchNorm', 'FusedBatchNorm', [x, gamma, beta], out=shape,
                        size=4 * shape[1] * 100)

    def conv(self, scope, x, k, shape, cin):
        side, cout = shape[1], shape[3]
        dw = self.variable(scope + '/DW', [k, k, cin, cout])
        name = scope + '/Conv2D'
        self.convs.append((scope, cin, shape))
        return self.run(name, 'Conv2D', [x, dw], micros=FORWARD.get(name, spread(name, 2000, 9900)),
                        out=shape, size=4 * BATCH * side * side * cout,
                        flops=2 * BATCH * side * side * k * k * cin * cout)

    def unit(self, scope, x, cin, shape, shared):
        first = 'shared_activation' if shared else 'residual_only_activation'
        y = self.bn('%s/%s/init_bn' % (scope, first), x, cin,
                    [BATCH, shape[1] * (1 if cin == shape[3] else 2), 0, cin])
        short = y if shared else x
        y = self.conv(scope + '/sub1/conv1', y, 3, shape, cin)
        y = self.bn(scope + '/sub2/bn2', y, shape[3], shape)
        y = self.conv(scope + '/sub2/conv2', y, 3, shape, shape[3])
        return self.run(scope + '/sub_add/add', 'Add', [y, short], out=shape)


def build():
    net = Net()
    m = net.m
    net.variable('global_step', [], trainable=False)
    net.run('random_shuffle_queue', 'RandomShuffleQueue', micros=12)
    net.run('random_shuffle_queue_EnqueueMany', 'QueueEnqueueMany', ['random_shuffle_queue'], micros=88)
    x = net.run('random_shuffle_queue_DequeueMany', 'QueueDequeueMany', ['random_shuffle_queue'],
                micros=3090000, out=[BATCH, 32, 32, 3], size=4 * BATCH * 32 * 32 * 3)
    x = net.conv('init/init_conv', x, 3, [BATCH, 32, 32, 16], 3)
    cin = 16
    for stage, (side, depth) in enumerate([(32, 16), (16, 32), (8, 64)], 1):
        for i in range(5):
            x = net.unit('unit_%d_%d' % (stage, i), x, cin, [BATCH, side, side, depth],
                         shared=stage == 1 and i == 0)
            cin = depth
    x = net.bn('unit_last/final_bn', x, 64, [BATCH, 8, 8, 64])
    x = net.run('unit_last/Relu', 'Relu', [x], out=[BATCH, 8, 8, 64])
    x = net.run('unit_last/Mean', 'Mean', [x], out=[BATCH, 64])
    dw = net.variable('pool_logit/DW', [64, 10], types=['pool_logit'])
    biases = net.variable('pool_logit/biases', [10], types=['pool_logit'])
    x = net.run('pool_logit/xw_plus_b/MatMul', 'MatMul', [x, dw], out=[BATCH, 10], flops=163840)
    x = net.run('pool_logit/xw_plus_b', 'BiasAdd', [x, biases], out=[BATCH, 10], flops=1280)
    x = net.run('costs/xent', 'SparseSoftmaxCrossEntropyWithLogits', [x], out=[BATCH])
    x = net.run('costs/Mean', 'Mean', [x], out=[])
    net.run('cost', 'Identity', [x], out=[], micros=3)
    backward(net)
    return m, net.tensors


def backward(net):
    for scope, cin, shape in reversed(net.convs):
        for kind, low, high in (('Input', 5000, 15000), ('Filter', 4000, 18000)):
            name = 'gradients/%s/Conv2D_grad/Conv2DBackprop%s' % (scope, kind)
            micros = BACKWARD.get(scope) if kind == 'Filter' else None
            net.run(name, 'Conv2DBackprop' + kind, [scope + '/Conv2D', scope + '/DW/read'],
                    micros=micros or spread(name, low, high), size=4 * shape[1] * shape[2] * shape[3])
    for i in ('MatMul', 'MatMul_1'):
        net.run('gradients/pool_logit/xw_plus_b/MatMul_grad/' + i, 'MatMul', ['pool_logit/xw_plus_b'],
                flops=163840, size=4 * BATCH * 64)
    updates = []
    for name, shape in net.trainable:
        net.variable(name + '/Momentum', shape, trainable=False)
        updates.append('^' + net.run('Momentum/update_%s/ApplyMomentum' % name, 'ApplyMomentum',
                                     [name, name + '/Momentum'], micros=spread(name, 10, 300)))
    net.run('Momentum', 'NoOp', updates, micros=2)
    for i, (name, shape) in enumerate(net.trainable[:3]):
        net.run('IsVariableInitialized' + ('_%d' % i if i else ''), 'IsVariableInitialized', [name],
                micros=0, runs=0)
    net.run('zeros', 'Const', out=[], micros=0, runs=0)
    net.run('save/SaveV2', 'SaveV2', [n for n, _ in net.trainable], micros=0, runs=0)
