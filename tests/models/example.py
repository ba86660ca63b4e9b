# SPDX-License-Identifier: Apache-2.0
"""The training run of README.md: a small image classifier on one GPU. profile_100 was taken before, and profile_200 after, the
input pipeline was changed to decode images in parallel; in step 2 of each, the host stalls while it reads images."""
from wire import Model, graph_text, op_log, profile, run_meta, spread

CPU = '/job:localhost/replica:0/task:0/device:CPU:0'
GPU = '/job:localhost/replica:0/task:0/device:GPU:0'
BATCH = 64
TRAIN, NET, DATA = 'train.py', 'model.py', 'dataset.py'
MAIN = [(TRAIN, 88, '<module>', 85, 'main()')]
BUILD = MAIN + [(TRAIN, 41, 'main', 36, 'loss = model.build(images, labels)')]
INPUT = MAIN + [(TRAIN, 39, 'main', 36, 'images, labels = dataset.batch(64)')]
STEP = MAIN + [(TRAIN, 44, 'main', 36, 'train_op = optimizer.minimize(loss)')]
STEPS = (0, 1, 2, 3)


class Net:
    def __init__(self):
        self.m, self.trainable = Model(), []

    def host(self, name, op, inputs=(), **more):
        more.setdefault('micros', spread(name, 5, 60))
        return self.m.add(name, op, inputs, device=CPU, **more)

    def kernel(self, name, op, inputs=(), **more):
        more.setdefault('micros', spread(name, 6, 25))
        return self.m.add(name, op, inputs, device=GPU, **more)

    def variable(self, name, shape, trace):
        self.kernel(name, 'VariableV2', shape=shape, types=['_trainable_variables'], trace=trace, gpu=0)
        self.trainable.append((name, shape))
        return self.kernel(name + '/read', 'Identity', [name], out=shape, trace=trace, gpu=0)

    def conv(self, scope, x, side, cin, cout, line):
        trace = BUILD + [(NET, line, 'build', 20, "x = conv_block(x, %d, '%s')" % (cout, scope)),
                         (NET, 9, 'conv_block', 7, 'x = conv2d(x, kernel)')]
        size, work = 4 * BATCH * side * side * cout, 2 * BATCH * side * side * 9 * cin * cout
        kernel = self.variable(scope + '/kernel', [3, 3, cin, cout], trace)
        bias = self.variable(scope + '/bias', [cout], trace)
        shape = [BATCH, side, side, cout]
        x = self.kernel(scope + '/Conv2D', 'Conv2D', [x, kernel], out=shape, size=size, flops=work,
                        gpu=work // 4000000, trace=trace)
        x = self.kernel(scope + '/BiasAdd', 'BiasAdd', [x, bias], out=shape, size=size,
                        flops=size // 4, gpu=size // 200000, trace=trace)
        x = self.kernel(scope + '/Relu', 'Relu', [x], out=shape, size=size, gpu=size // 260000,
                        trace=trace)
        return self.kernel(scope + '/MaxPool', 'MaxPool', [x], out=[BATCH, side // 2, side // 2, cout],
                           size=size // 4, gpu=size // 180000, trace=trace)

    def dense(self, scope, x, cin, cout, line):
        trace = BUILD + [(NET, line, 'build', 20, "x = dense(x, %d, '%s')" % (cout, scope)),
                         (NET, 16, 'dense', 14, 'return matmul(x, w) + b')]
        w = self.variable(scope + '/kernel', [cin, cout], trace)
        b = self.variable(scope + '/bias', [cout], trace)
        x = self.kernel(scope + '/MatMul', 'MatMul', [x, w], out=[BATCH, cout], size=4 * BATCH * cout,
                        flops=2 * BATCH * cin * cout, gpu=max(9, BATCH * cin * cout // 400000), trace=trace)
        return self.kernel(scope + '/BiasAdd', 'BiasAdd', [x, b], out=[BATCH, cout],
                           size=4 * BATCH * cout, flops=BATCH * cout, gpu=4, trace=trace)


def build(decode):
    """decode: microseconds for decoding one batch of images."""
    net = Net()
    m = net.m
    read = INPUT + [(DATA, 12, 'batch', 10, 'files = read_files(paths)')]
    names = net.host('input/ReadFile', 'ReadFile', micros=1900, out=[BATCH], size=3 << 20, trace=read)
    x = net.host('input/DecodeJpeg', 'DecodeJpeg', [names], micros=decode, out=[BATCH, 64, 64, 3],
                 size=BATCH * 64 * 64 * 3, trace=INPUT + [(DATA, 13, 'batch', 10, 'images = decode_jpeg(files)')])
    x = net.host('input/Cast', 'Cast', [x], micros=410, out=[BATCH, 64, 64, 3], size=4 * BATCH * 64 * 64 * 3,
                 trace=INPUT + [(DATA, 14, 'batch', 10, 'images = cast(images)')])
    labels = net.host('input/labels', 'Placeholder', out=[BATCH], micros=3)
    convs = [('conv1', 64, 3, 32, 22), ('conv2', 32, 32, 64, 23), ('conv3', 16, 64, 128, 24)]
    for scope, side, cin, cout, line in convs:
        x = net.conv(scope, x, side, cin, cout, line)
    x = net.kernel('flatten/Reshape', 'Reshape', [x], out=[BATCH, 8192], gpu=0)
    x = net.dense('dense1', x, 8192, 256, 26)
    x = net.kernel('dense1/Relu', 'Relu', [x], out=[BATCH, 256], size=4 * BATCH * 256, gpu=5)
    x = net.dense('logits', x, 256, 10, 27)
    trace = BUILD + [(NET, 29, 'build', 20, 'return mean(softmax_cross_entropy(labels, x))')]
    x = net.kernel('loss/SoftmaxCrossEntropyWithLogits', 'SoftmaxCrossEntropyWithLogits', [x, labels],
                   out=[BATCH], size=4 * BATCH, gpu=12, trace=trace)
    x = net.kernel('loss/Mean', 'Mean', [x], out=[], size=4, gpu=6, trace=trace)
    for scope in ('logits', 'dense1'):
        n = m.by_name[scope + '/MatMul']
        x = net.kernel('gradients/%s/MatMul_grad/MatMul' % scope, 'MatMul', [x, scope + '/kernel/read'],
                       out=n.out, size=n.size, flops=n.flops, gpu=n.gpu * 2, trace=STEP)
    for scope, _, _, _, _ in reversed(convs):
        n = m.by_name[scope + '/Conv2D']
        for kind in ('Input', 'Filter'):
            op = 'Conv2DBackprop' + kind
            x = net.kernel('gradients/%s/Conv2D_grad/%s' % (scope, op), op, [x, scope + '/kernel/read'],
                           out=n.out, size=n.size, flops=n.flops, gpu=n.gpu * 6 // 5, trace=STEP)
    for name, shape in net.trainable:
        net.kernel('train/update_%s/ApplyAdam' % name, 'ApplyAdam', [name, x], gpu=spread(name, 8, 30),
                   trace=STEP)
    return m


def time_of(step, name, micros):
    """Returns the microseconds of a node in a step: a few per cent more or less; reading stalls in step 2."""
    if step == 2 and name == 'input/ReadFile':
        return micros * 9
    return micros * spread('%d %s' % (step, name), 970, 1030) // 1000


def files():
    """Yields (name, bytes) of the files that the run wrote."""
    before, after = build(decode=9400), build(decode=2700)
    yield 'graph.pbtxt', graph_text(before)
    for s in STEPS:
        yield 'run_meta_%d' % s, run_meta(before, 1488000000000000 + 1000000 * s,
                                          lambda name, v, s=s: time_of(s, name, v))
    yield 'tfprof_log', op_log(before)
    yield 'profile_100', profile(before, STEPS, scale=time_of)
    yield 'profile_200', profile(after, STEPS, scale=lambda s, name, v: time_of(s + 7 if s != 2 else 2, name, v))
