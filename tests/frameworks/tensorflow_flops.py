#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares float operations of graphs with TensorFlow's registered statistics, node by node: each operation that has one, with
random shapes; with the shapes that TensorFlow states, and with those that tfprof computes from placeholders, variables and
constants.

    tests/frameworks/tensorflow_flops.py --bin build/check
    tests/frameworks/tensorflow_flops.py --write testdata/models/statistics SEED    writes a graph, and TensorFlow's numbers
"""
import json
import os
import random
import sys

from rig import equal, main, make, program

SEEDS = 6
BATCH = 4


def elementwise(tf, raw, r, shape):
    """Operations on each element, and reductions."""
    x, y = (tf.random.uniform(shape) for _ in range(2))
    for op in (raw.Reciprocal, raw.Square, raw.Rsqrt, raw.Log, raw.Neg, raw.Softplus, raw.Relu):
        op(**{'features' if op in (raw.Softplus, raw.Relu) else 'x': x})
    for op in (raw.Add, raw.AddV2, raw.Sub, raw.Mul, raw.RealDiv, raw.Maximum, raw.Minimum, raw.Pow, raw.GreaterEqual, raw.Greater,
               raw.LessEqual, raw.Less, raw.SquaredDifference):
        op(x=x, y=r.choice((y, y[..., :1], y[:1])))
    raw.Equal(x=x, y=y)
    raw.NotEqual(x=x, y=y)
    raw.RsqrtGrad(y=x, dy=y)
    raw.AddN(inputs=[x, y] + [x] * r.randrange(3))
    raw.L2Loss(t=x)
    raw.Softmax(logits=tf.reshape(x, [-1, shape[-1]]))
    axis = r.randrange(-len(shape), len(shape))
    keep = r.random() < 0.5
    raw.Mean(input=x, axis=[axis], keep_dims=keep)
    raw.Sum(input=x, axis=r.choice(([axis], list(range(len(shape))))), keep_dims=keep)
    raw.ArgMax(input=x, dimension=axis)
    raw.ArgMin(input=x, dimension=axis)


def arrangements(tf, raw, r, shape):
    """Operations without statistics, whose results are the inputs of operations that have one."""
    x = tf.random.uniform(shape)
    order = r.sample(range(len(shape)), len(shape))
    begin = [r.randrange(n) for n in shape]
    part = tf.strided_slice(x, begin, shape, [r.randrange(1, 3) for _ in shape])
    for y in (tf.transpose(x, order), tf.reshape(x, [-1, shape[0]]), tf.concat([x, x, x], r.randrange(len(shape))),
              tf.stack([x, x], r.randrange(len(shape) + 1)), tf.split(tf.concat([x, x], 1), 2, 1)[1], tf.unstack(x, axis=0)[-1],
              tf.expand_dims(x, r.randrange(-len(shape) - 1, len(shape) + 1)), tf.squeeze(x[:1], [0]), part, x[..., 0], x[None, :, ::2], x[::-1],
              tf.slice(x, begin, [1] * (len(shape) - 1) + [-1]), tf.gather(x, [0, 0, 0], axis=r.randrange(len(shape))),
              tf.tile(x, [r.randrange(1, 4) for _ in shape]), tf.pad(x, [[r.randrange(3), r.randrange(3)] for _ in shape]),
              tf.broadcast_to(x, [2] + shape), tf.fill(tf.shape(x)[:2], 1.0), tf.one_hot(tf.zeros(shape, tf.int32), 5), tf.zeros_like(x),
              tf.where(x > 0.5, x, x), tf.cast(tf.range(2, 11, 2), tf.float32), tf.tensordot(x, tf.ones([shape[-1], 3]), 1),
              tf.reshape(x, tf.stack([tf.shape(x)[0], tf.reduce_prod(tf.shape(x)[1:])])), tf.reverse(x, [0]), tf.cumsum(x),
              tf.nn.top_k(x, 1)[0], *tf.split(tf.concat([x, x], 1), [1, -1, shape[1] - 1], 1), *raw.IdentityN(input=[x, tf.ones([5])]),
              tf.einsum('ab,bc->ca', tf.ones([3, 4]), tf.ones([4, 6])), tf.nn.log_softmax(x), tf.clip_by_value(x, 0, 1)):
        raw.Neg(x=y)


def images(tf, raw, r):
    n, size, channels, out = r.randrange(1, 4), r.randrange(7, 15), r.randrange(1, 5), r.randrange(1, 6)
    k, s, padding = r.randrange(1, 4), r.randrange(1, 4), r.choice(('SAME', 'VALID'))
    x = tf.random.uniform([n, size, size + 1, channels])
    kernel = tf.random.uniform([k, k, channels, out])
    y = raw.Conv2D(input=x, filter=kernel, strides=[1, s, s, 1], padding=padding)
    raw.BiasAdd(value=y, bias=tf.ones([out]))
    raw.BiasAddGrad(out_backprop=y)
    raw.Conv2DBackpropInput(input_sizes=tf.shape(x), filter=kernel, out_backprop=y, strides=[1, s, s, 1], padding=padding)
    raw.Conv2DBackpropFilter(input=x, filter_sizes=tf.shape(kernel), out_backprop=y, strides=[1, s, s, 1], padding=padding)
    raw.Conv2D(input=x, filter=kernel, strides=[1, 1, 1, 1], padding='VALID', dilations=[1, 2, 2, 1])
    raw.Conv2D(input=x, filter=kernel, strides=[1, s, s, 1], padding='EXPLICIT', explicit_paddings=[0, 0, 1, 2, 3, 0, 0, 0])
    raw.Conv2D(input=tf.transpose(x, [0, 3, 1, 2]), filter=kernel, strides=[1, 1, s, s], padding=padding, data_format='NCHW')
    raw.DepthwiseConv2dNative(input=x, filter=kernel, strides=[1, s, s, 1], padding=padding)
    raw.Conv3D(input=tf.ones([n, 5, size, size, channels]), filter=tf.ones([2, k, k, channels, out]), strides=[1, 1, s, s, 1], padding=padding)
    raw.Dilation2D(input=x, filter=tf.ones([k, k, channels]), strides=[1, s, s, 1], rates=[1, r.randrange(1, 3), 1, 1], padding='SAME')
    for pool, gradient in ((raw.MaxPool, raw.MaxPoolGrad), (raw.AvgPool, raw.AvgPoolGrad)):
        window = dict(ksize=[1, k, k, 1], strides=[1, s, s, 1], padding=padding)
        if pool is raw.MaxPool:
            z = pool(input=x, **window)
            gradient(orig_input=x, orig_output=z, grad=z, **window)
        else:
            z = pool(value=x, **window)
            gradient(orig_input_shape=tf.shape(x), grad=z, **window)
    a, b, c = tf.raw_ops.FusedBatchNormV3(x=x, scale=tf.ones([channels]), offset=tf.ones([channels]), mean=[], variance=[])[:3]
    for t in (a, b, c, tf.image.resize(x, [3, 5]), tf.nn.space_to_depth(tf.ones([1, 4, 4, 2]), 2), tf.nn.depth_to_space(tf.ones([1, 4, 4, 8]), 2)):
        raw.Neg(x=t)


def products(tf, raw, r):
    m, k, n, batch = (r.randrange(1, 9) for _ in range(4))
    for left in (False, True):
        for right in (False, True):
            raw.MatMul(a=tf.ones([k, m] if left else [m, k]), b=tf.ones([n, k] if right else [k, n]), transpose_a=left, transpose_b=right)
            x, y = tf.ones([batch, 2] + ([k, m] if left else [m, k])), tf.ones([batch, 2] + ([n, k] if right else [k, n]))
            for op in (raw.BatchMatMul, raw.BatchMatMulV2):
                op(x=x, y=y, adj_x=left, adj_y=right)
            raw.BatchMatMulV3(x=x, y=y, Tout=tf.float32, adj_x=left, adj_y=right)
            raw.BatchMatMulV2(x=x, y=y[:1], adj_x=left, adj_y=right)


def containers(tf, raw, r):
    """Operations that read elements of TensorArrays and TensorLists."""
    n, size = r.randrange(2, 5), r.randrange(2, 6)
    x = tf.random.uniform([n, size, 3])
    array = tf.TensorArray(tf.float32, n).unstack(x)
    out = tf.TensorArray(tf.float32, n)
    w = tf.ones([3, 4])
    out = tf.while_loop(lambda i, _: i < n, lambda i, out: (i + 1, out.write(i, tf.matmul(array.read(i), w))), [0, out])[1]
    y = out.stack()
    raw.Neg(x=tf.reshape(y, [n, -1]))
    raw.Neg(x=tf.gradients(y, x)[0])
    handle = raw.TensorListFromTensor(tensor=x, element_shape=[-1, 3])
    raw.Neg(x=raw.TensorListGetItem(input_handle=handle, index=0, element_shape=[size, 3], element_dtype=tf.float32))
    raw.Neg(x=raw.TensorListStack(input_handle=handle, element_shape=[size, 3], element_dtype=tf.float32, num_elements=n))


def training(tf, v1):
    """A model with a batch of unknown size, and its gradients."""
    x = v1.placeholder(tf.float32, [None, 14, 14, 3])
    y = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, v1.get_variable('w', [3, 3, 3, 8], use_resource=False), 2, 'SAME')), 2, 2, 'VALID')
    y = tf.reshape(y, [-1, 3 * 3 * 8])
    y = tf.matmul(y, v1.get_variable('k', [72, 10], use_resource=True)) + v1.get_variable('b', [10], use_resource=True)
    i = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, tf.ones([10, 10])))), [0, y])[1]
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=v1.placeholder(tf.int64, [None]), logits=i + y))
    v1.train.GradientDescentOptimizer(0.1).minimize(loss)


def write_graph(folder, seed):
    """Writes a graph with and without shapes (stated.pb, bare.pb), and TensorFlow's numbers by node (flops.json)."""
    import tensorflow as tf
    from tensorflow.python.framework import ops
    from tensorflow.python.profiler.internal import flops_registry  # noqa: F401
    r, v1, raw = random.Random(int(seed)), tf.compat.v1, tf.raw_ops
    v1.disable_eager_execution()
    v1.disable_control_flow_v2()
    with tf.Graph().as_default() as graph:
        for _ in range(3):
            shape = [r.randrange(2, 7) for _ in range(r.randrange(2, 5))]
            elementwise(tf, raw, r, shape)
            arrangements(tf, raw, r, shape)
            images(tf, raw, r)
            products(tf, raw, r)
            containers(tf, raw, r)
        variable = v1.get_variable('v', [3, 4], use_resource=False)
        raw.AssignAdd(ref=variable._ref(), value=tf.ones([3, 4]))
        raw.AssignSub(ref=variable._ref(), value=tf.ones([3, 4]))
        training(tf, v1)
    full = graph.as_graph_def(add_shapes=True)
    numbers = {}
    for node in full.node:
        try:
            value = ops.get_stats_for_node_def(graph, node, 'flops').value
        except ValueError:
            continue
        if value is not None:
            numbers[node.name] = int(value)
    for name, g in (('stated', full), ('bare', graph.as_graph_def())):
        with open(os.path.join(folder, name + '.pb'), 'wb') as f:
            f.write(g.SerializeToString(deterministic=True))
    with open(os.path.join(folder, 'flops.json'), 'w') as f:
        json.dump({'flops': numbers, 'registered': sorted({n.op for n in full.node if n.name in numbers})}, f, indent=0, sort_keys=True)


def write_model(folder):
    """Writes a model of TensorFlow 2, as a SavedModel, and as graphs whose loops and branches are functions (calls.pb) or nodes
    (flat.pb), and TensorFlow's numbers by node of the last (flops.json)."""
    import tensorflow as tf
    from tensorflow.python.framework import ops
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    from tensorflow.python.profiler.internal import flops_registry  # noqa: F401

    class Model(tf.Module):
        def __init__(self):
            self.w, self.k, self.r = tf.Variable(tf.ones([3, 3, 3, 8])), tf.Variable(tf.ones([72, 10])), tf.Variable(tf.ones([10, 10]))

        @tf.function
        def inner(self, x):
            return tf.matmul(x, self.r) + 1.

        @tf.function(input_signature=[tf.TensorSpec([4, 14, 14, 3], tf.float32)])
        def __call__(self, x):
            y = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, self.w, 2, 'SAME')), 2, 2, 'VALID')
            y = self.inner(self.inner(tf.matmul(tf.reshape(y, [-1, 72]), self.k)))
            y = tf.cond(tf.reduce_sum(y) > 0., lambda: tf.matmul(y, self.r), lambda: y * 2.)
            y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.nn.softmax(tf.matmul(y, self.r))), [0, y])[1]
            rows, out = tf.TensorArray(tf.float32, 4).unstack(y), tf.TensorArray(tf.float32, 4)
            out = tf.while_loop(lambda i, out: i < 4, lambda i, out: (i + 1, out.write(i, rows.read(i) * 3.)), [0, out])[1]
            return (*(-part for part in tf.split(y, [3, 7], 1)), -out.stack())

    model = Model()
    function = model.__call__.get_concrete_function()
    tf.saved_model.save(model, os.path.join(folder, 'saved'), signatures=function)
    numbers = {}
    for name, flat in (('flat', True), ('calls', False)):
        graph = convert_variables_to_constants_v2(function, lower_control_flow=flat).graph
        with open(os.path.join(folder, name + '.pb'), 'wb') as f:
            f.write(graph.as_graph_def().SerializeToString(deterministic=True))
        for node in graph.as_graph_def(add_shapes=True).node if flat else ():
            try:
                numbers[node.name] = int(ops.get_stats_for_node_def(graph, node, 'flops').value or 0)
            except ValueError:
                pass
    with open(os.path.join(folder, 'flops.json'), 'w') as f:
        json.dump(numbers, f)


def counted(path, *words):
    """Returns {node: float operations} of the nodes that have some."""
    out, _ = program('scope', path, '-select', 'float_ops', '-output', 'json', '-max_depth', '100', *words)
    return {r['path']: r['own_float_ops'] for r in json.loads(out[out.index('{'):])['rows'] if r['own_float_ops']}


def test_statistics():
    for seed in range(SEEDS):
        folder = make('write_graph', str(seed))
        truth = json.load(open(os.path.join(folder, 'flops.json')))
        expected = {n: v for n, v in truth['flops'].items() if v}
        assert len(truth['registered']) > 35, truth['registered']
        for name in ('stated', 'bare'):
            equal(counted(os.path.join(folder, name + '.pb')), expected, 'seed %d, %s shapes' % (seed, name))


def test_assumed_batch():
    """With a given batch, the same numbers come from stated and from computed shapes."""
    folder = make('write_graph', '0')
    stated = counted(os.path.join(folder, 'stated.pb'), '--assume_batch=%d' % BATCH)
    bare = counted(os.path.join(folder, 'bare.pb'), '--assume_batch=%d' % BATCH)
    assert any(n.startswith('gradients/while/') for n in bare), 'the gradient of a loop reads stacks'
    equal(bare, stated, 'batch %d' % BATCH)

def test_functions():
    """A SavedModel, and a graph with functions, have the float operations of the graph in which TensorFlow has replaced the calls.
    TensorFlow has no shapes of some elements of lists; tfprof computes them."""
    folder = make('write_model')
    truth = {n: v for n, v in json.load(open(os.path.join(folder, 'flops.json'))).items() if v}
    flat = counted(os.path.join(folder, 'flat.pb'))
    assert len(truth) > 10, truth
    equal({n: v for n, v in flat.items() if n in truth}, truth, 'nodes that TensorFlow counts')
    for name in ('calls.pb', 'saved'):
        equal(sum(counted(os.path.join(folder, name)).values()), sum(flat.values()), name)


if __name__ == '__main__':
    if sys.argv[1:2] == ['--write']:
        write_graph(sys.argv[2], sys.argv[3])
    else:
        sys.exit(main(__doc__, {'write_graph': write_graph, 'write_model': write_model}, [test_statistics, test_assumed_batch, test_functions]))
