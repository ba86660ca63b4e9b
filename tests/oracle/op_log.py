#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares op logs of tfprof.tfprof_logger with those of TensorFlow, on graphs that TensorFlow builds or loads.

Float operations, types and call stacks must be equal: from the serialized graph, binary and as text, and from the live graph.
The original must read tfprof's op logs: its profiler then counts equal parameters and float operations.

    TFPROF_ORACLE=venv/bin/python tests/oracle/op_log.py --bin build

TFPROF_ORACLE names a Python that has tensorflow-cpu; otherwise the running Python is tried. Without it the test is skipped.
"""
import argparse
import contextlib
import glob
import io
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def quiet(f, *args, **more):
    with contextlib.redirect_stderr(io.StringIO()):
        return f(*args, **more)


def build(tf):
    """A graph with every kind of operation that has the statistic, and the run metadata of a part of it."""
    v1 = tf.compat.v1

    def variable(name, shape, **more):
        return v1.get_variable(name, shape, use_resource=False, **more)
    x = v1.placeholder(tf.float32, [8, 28, 28, 3])
    conv = tf.nn.bias_add(tf.nn.conv2d(x, variable('w', [3, 3, 3, 8]), [1, 2, 2, 1], 'SAME'), variable('b', [8]))
    pool = tf.nn.avg_pool2d(tf.nn.max_pool2d(tf.nn.relu(conv), 2, 2, 'SAME'), 2, 2, 'SAME')
    deep = tf.nn.depthwise_conv2d(pool, variable('d', [3, 3, 8, 2]), [1, 1, 1, 1], 'SAME')
    flat = tf.reshape(deep, [8, -1])
    logits = tf.matmul(flat, variable('m', [flat.shape[1], 10]))
    norm = v1.nn.fused_batch_norm(deep, tf.ones([16]), tf.zeros([16]))
    loss = v1.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=tf.one_hot([1] * 8, 10), logits=logits))
    for part in (tf.nn.l2_loss(norm[1]), tf.nn.l2_loss(norm[0]), tf.square(tf.split(logits, [3, 7], axis=1)[1]),
                 tf.nn.softmax(logits), tf.matmul(tf.ones([4, 5, 6]), tf.ones([4, 6, 7])),
                 tf.matmul(tf.ones([9, 4]), tf.ones([9, 2]), transpose_a=True),
                 tf.nn.conv3d(tf.ones([1, 4, 4, 4, 2]), tf.ones([2, 2, 2, 2, 3]), [1] * 5, 'SAME'),
                 tf.nn.dilation2d(tf.ones([1, 5, 5, 1]), tf.ones([2, 2, 1]), [1] * 4, 'SAME', 'NHWC', [1] * 4)):
        loss += tf.reduce_sum(part)
    v1.train.MomentumOptimizer(.1, .9).minimize(loss)
    total = variable('total', [3, 4], trainable=False)
    v1.assign_add(total, tf.ones([3, 4]))
    v1.assign_sub(total, tf.ones([3, 4]))
    m = tf.math
    for f in (tf.maximum, tf.minimum, tf.pow, m.greater, m.less, m.equal, m.not_equal, m.greater_equal, m.less_equal,
              m.squared_difference, m.divide):
        f(total * 1, total * 2)
    for f in (m.reciprocal, m.log, m.rsqrt, m.argmin, m.argmax):
        f(total * 1)
    tf.add_n([total * 1, total * 2, total * 3])
    unknown = v1.placeholder(tf.float32, [None, 4])
    late = [tf.matmul(unknown, tf.ones([4, 3])), -unknown]
    run = v1.RunMetadata()
    with v1.Session() as session:
        session.run(late, {unknown: [[1, 2, 3, 4]] * 5}, options=v1.RunOptions(trace_level=3), run_metadata=run)
    return run


def by_name(op_log, traces):
    text = op_log.id_to_string
    return {e.name: (e.float_ops, list(e.types), [(text[t.file_id], t.lineno, text[t.function_id], text[t.line_id],
                                                   t.func_start_line) for t in e.code_def.traces] if traces else 0)
            for e in op_log.log_entries}


def differences(tf, graph, run_meta):
    """Returns the names of the comparisons that differ."""
    from tensorflow.core.profiler import tfprof_log_pb2
    from google.protobuf import text_format
    from tensorflow.python.profiler import tfprof_logger as theirs
    from tfprof import tfprof_logger as ours

    meta = tf.compat.v1.train.export_meta_graph(graph=graph, graph_def=graph.as_graph_def(add_shapes=True))
    if 'trainable_variables' not in meta.collection_def:
        meta.collection_def['trainable_variables'].bytes_list.value.extend([])
    text = text_format.MessageToString(meta).encode()
    if run_meta is not None:
        forms = [('binary', meta, False)]  # the original completes its graph by the shapes of the run
    else:
        forms = [('binary', meta, False), ('text', text, False), ('live', graph, True)]
    bad = []
    for name, source, traces in forms:
        mine = quiet(ours.merge_default_with_oplog, source, None, run_meta, traces).SerializeToString()
        expected = quiet(theirs.merge_default_with_oplog, graph, None, run_meta, traces)
        if by_name(tfprof_log_pb2.OpLogProto.FromString(mine), traces) != by_name(expected, traces):
            bad.append(name)
    return bad


def profiled(graph, op_log):
    """Returns the trained parameters and float operations that the original's profiler counts with an op log."""
    from tensorflow.core.profiler import tfprof_options_pb2, tfprof_output_pb2
    from tensorflow.python.profiler import model_analyzer, option_builder
    from tensorflow.python.util import _pywrap_tfprof as native
    builder = option_builder.ProfileOptionBuilder
    found = []
    for options in (builder.trainable_variables_parameter(), builder.float_operation()):
        made = model_analyzer._build_options(dict(options, output='none'))
        assert isinstance(made, tfprof_options_pb2.OptionsProto)
        result = native.PrintModelAnalysis(graph, b'', op_log, b'scope', made.SerializeToString())
        node = tfprof_output_pb2.GraphNodeProto.FromString(result)
        found.append((node.total_parameters, node.total_float_ops))
    return found


def judge():
    """Runs all comparisons, in a Python that has TensorFlow."""
    import tensorflow as tf
    tf.compat.v1.disable_eager_execution()
    tf.get_logger().setLevel('ERROR')
    from tensorflow.core.framework import graph_pb2
    from tensorflow.python.profiler import tfprof_logger as theirs
    from tfprof import tfprof_logger as ours

    graphs = [('built', tf.Graph(), None)]
    with graphs[0][1].as_default():
        run_meta = build(tf)
    graphs.append(('built, with a run', graphs[0][1], run_meta))
    for path in sorted(glob.glob(os.path.join(ROOT, 'testdata', 'recorded', '*', 'graph.pb'))):
        definition = graph_pb2.GraphDef()
        with open(path, 'rb') as f:
            definition.ParseFromString(f.read())
        graph = tf.Graph()
        try:
            with graph.as_default():
                tf.import_graph_def(definition, name='')
        except (ValueError, tf.errors.OpError):
            continue  # deliberately unusual
        graphs.append((os.path.basename(os.path.dirname(path)), graph, None))
    passed = failed = 0
    for name, graph, run in graphs:
        bad = differences(tf, graph, run)
        if run is None and name == 'built':
            log = quiet(ours.merge_default_with_oplog, graph).SerializeToString()
            other = quiet(theirs.merge_default_with_oplog, graph).SerializeToString()
            definition = graph.as_graph_def(add_shapes=True).SerializeToString()
            if profiled(definition, log) != profiled(definition, other) or not all(map(any, profiled(definition, log))):
                bad.append('the profiler')
        passed, failed = passed + (not bad), failed + bool(bad)
        if bad:
            print('%s: different: %s' % (name, ', '.join(bad)))
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return 1 if failed or not passed else 0


def main():
    a = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    a.add_argument('--bin', default='build', help='the folder with libtfprof.so')
    a.add_argument('--judge', action='store_true', help=argparse.SUPPRESS)
    a = a.parse_args()
    if a.judge:
        return judge()
    python = os.environ.get('TFPROF_ORACLE') or sys.executable
    env = dict(os.environ, PYTHONPATH=os.path.join(ROOT, 'python'), TF_CPP_MIN_LOG_LEVEL='3', PYTHONDONTWRITEBYTECODE='1',
               TFPROF_LIBRARY=os.path.abspath(os.path.join(a.bin, 'libtfprof.so')))
    if subprocess.run([python, '-c', 'import tensorflow'], env=env, stderr=subprocess.DEVNULL).returncode:
        print('skipped: no original here: tensorflow-cpu, in the Python that TFPROF_ORACLE names')
        print('0 passed, 0 failed, 1 skipped')
        return 0
    return subprocess.run([python, os.path.abspath(__file__), '--judge'], env=env).returncode


if __name__ == '__main__':
    sys.exit(main())
