#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares tfprof with the tables of xprof on XSpaces that the installed JAX and TensorFlow write. xprof 2.24 lists no
ops of JAX on the CPU; these are compared with sums over the file, decoded with TensorFlow's protobuf messages.

    tests/frameworks/xprof_made.py --bin build/check [NAME...]      needs a Python with jax, tensorflow-cpu and xprof
"""
import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import compare_printed, dump, equal, host_ops, main, make, program  # noqa: E402

STEPS = 3
BATCH, INPUT, HIDDEN, OUTPUT, SQUARE, LOOP = 16, 64, 128, 32, 32, 5  # JAX: size of the matrices, iterations of the loop


def train_jax(folder):
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(w1, w2, x):
        def loss(w1, w2):
            return jnp.mean((jax.nn.gelu(x @ w1) @ w2) ** 2)
        g1, g2 = jax.grad(loss, argnums=(0, 1))(w1, w2)
        return w1 - .1 * g1, w2 - .1 * g2

    @jax.jit
    def loop(x):
        return jax.lax.scan(lambda c, _: (jnp.tanh(c @ c) * .5, c.sum()), x, None, length=LOOP)

    key = jax.random.PRNGKey(0)
    w1, w2 = jax.random.normal(key, (INPUT, HIDDEN)), jax.random.normal(key, (HIDDEN, OUTPUT))
    x, square = jax.random.normal(key, (BATCH, INPUT)), jax.random.normal(key, (SQUARE, SQUARE))
    jax.block_until_ready((step(w1, w2, x), loop(square)))
    with jax.profiler.trace(folder):
        for i in range(STEPS):
            with jax.profiler.StepTraceAnnotation('train', step_num=i):
                w1, w2 = step(w1, w2, x)
                with jax.profiler.TraceAnnotation('rnn'):
                    last = loop(square)
                jax.block_until_ready((w1, w2, last))


def train_tensorflow(folder):
    import numpy
    import tensorflow as tf
    layers = tf.keras.layers
    net = tf.keras.Sequential([layers.Input((8, 8, 3)), layers.Conv2D(4, 3), layers.ReLU(), layers.Flatten(), layers.Dense(10)])
    net.compile('sgd', loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x, y = numpy.random.rand(64, 8, 8, 3).astype('f'), numpy.random.randint(0, 10, 64)
    net.fit(x, y, verbose=0, batch_size=16)
    weights = tf.Variable(tf.random.normal((16, 16)))

    @tf.function
    def forward(a):
        return tf.reduce_sum(tf.nn.relu(a @ weights))

    profiler = tf.profiler.experimental
    profiler.start(folder, options=profiler.ProfilerOptions(host_tracer_level=3, python_tracer_level=1))
    net.fit(x, y, verbose=0, batch_size=16)
    for i in range(STEPS):
        with profiler.Trace('train', step_num=i, _r=1):
            forward(tf.ones((4, 16)))
            tf.linalg.matmul(weights, weights)
    profiler.stop()


def compile_tensorflow(folder):
    import tensorflow as tf
    weights, a = tf.Variable(tf.random.normal((64, 64))), tf.ones((16, 64))

    @tf.function(jit_compile=True)
    def looped(a):
        for _ in tf.range(3):
            a = tf.nn.relu(a @ weights)
        return tf.reduce_sum(a)

    @tf.function(jit_compile=True)
    def other(a):
        return tf.reduce_max(tf.nn.tanh(a @ weights) @ weights)

    looped(a), other(a)
    profiler = tf.profiler.experimental
    profiler.start(folder)
    for i in range(STEPS):
        with profiler.Trace('train', step_num=i, _r=1):
            looped(a), other(a)
    profiler.stop()


def made(maker):
    """Returns the log folder and the path of its XSpace."""
    folder = make(maker)
    path, = glob.glob(os.path.join(folder, 'plugins/profile/*/*.xplane.pb'))
    return folder, path


# ---- the tables of xprof ----

def table(path, tool):
    from xprof.convert import raw_to_tool_data
    data, _ = raw_to_tool_data.xspace_to_tool_data([path], tool, {})
    return json.loads(data)


def rows(t):
    """Returns the rows of a table as dictionaries."""
    names = [c['id'] for c in t['cols']]
    return [dict(zip(names, [c.get('v') for c in r['c']])) for r in t['rows']]


def framework_ops(path):
    """Returns {name: (type, executions, total, self)} of host ops, in picoseconds."""
    host = [r for r in rows(table(path, 'framework_op_stats')[0]) if r['type'] != 'IDLE']
    equal({r['host_or_device'] for r in host} - {'Host'}, set())
    return {r['operation']: (r['type'], int(r['occurrences']), round(r['total_time'] * 1e6), round(r['total_self_time'] * 1e6)) for r in host}


def check_steps(path):
    """Steps have the same numbers and durations as in xprof."""
    expected = [(r['stepnum'], round(r['stepTimeMs'] * 1e6)) for t in table(path, 'input_pipeline_analyzer') for r in rows(t)
                if 'stepnum' in r]
    found = json.loads(program('steps', path, '-output', 'json')[0])['steps']
    equal([('%s %d' % (r['name'], r['step']), r['duration_ns']) for r in found], expected)
    equal(len(found), STEPS)


# ---- sums over the file ----

def compiled_events(path):
    """Returns ({program: {instruction: (framework op, opcode)}}, {thread: [(start, length, program, module,
    instruction)]}). Times are ps."""
    from tensorflow.compiler.xla.service import hlo_pb2
    from tensorflow.tsl.profiler.protobuf import xplane_pb2
    space = xplane_pb2.XSpace()
    with open(path, 'rb') as f:
        space.ParseFromString(f.read())
    programs, threads = {}, []
    for plane in space.planes:
        for m in plane.event_metadata.values():
            for stat in m.stats:
                if plane.name == '/host:metadata' and stat.bytes_value:
                    hlo = hlo_pb2.HloProto()
                    hlo.ParseFromString(stat.bytes_value)
                    programs[int(m.name.rsplit('(', 1)[1][:-1])] = {i.name: (i.metadata.op_name, i.opcode) for c in hlo.hlo_module.computations for i in c.instructions}
        for line in plane.lines if plane.name == '/host:CPU' else []:
            threads.append([])
            for e in line.events:
                stats = {plane.stat_metadata[s.metadata_id].name: s for s in e.stats}
                if 'hlo_op' in stats:
                    text = lambda name: plane.stat_metadata[stats[name].ref_value].name
                    threads[-1].append((e.offset_ps, e.duration_ps, stats['program_id'].int64_value, text('hlo_module'), text('hlo_op')))
    return programs, threads


def jax_type(name):
    """Returns the type of a framework op: the last level of its path, without trailing digits."""
    return re.sub(r'_\d+$', '', name.rsplit('/', 1)[-1]).split('[')[0]


def sums(path):
    """Adds up the compiled ops of the file: {framework op, or module/instruction: (type, executions, total, self)}, ps.
    If an op has several instructions, its executions are those of the most frequent instruction."""
    programs, threads = compiled_events(path)
    counts, found = {}, {}
    for events in threads:
        stack = []
        for start, length, program_id, module, instruction in sorted(events, key=lambda e: (e[0], -e[1])):
            op, _ = programs[program_id][instruction]
            key = op or module + '/' + instruction
            while stack and stack[-1][0] <= start:
                stack.pop()
            if stack:
                found[stack[-1][1]][3] -= length
            stack.append((start + length, key))
            made_of = counts.setdefault(key, {})
            made_of[program_id, instruction] = made_of.get((program_id, instruction), 0) + 1
            row = found.setdefault(key, [jax_type(op) if op else 'Unknown', 0, 0, 0])
            row[2] += length
            row[3] += length
    return {k: (r[0], max(counts[k].values()), r[2], r[3]) for k, r in found.items()}


# ---- the tests ----

def jax_ops():
    """Types, executions, total and self times of JAX ops equal the sums over the file. xprof 2.24 looks for compiled
    ops on devices only, so it lists no ops of a CPU; if a later version lists them, they are compared, too."""
    _, path = made('train_jax')
    found, listed = host_ops(path), framework_ops(path)
    equal(found, sums(path))
    assert len(found) > 10 and any(n.startswith('jit(step)/') for n in found), found
    if listed:
        equal(found, listed)


def jax_instructions():
    """Executions and times of compiled ops equal xprof's trace viewer, to the nanosecond."""
    _, path = made('train_jax')
    expected = {}
    for e in table(path, 'trace_viewer')['traceEvents']:
        args = e.get('args', {})
        if 'hlo_op' in args:
            row = expected.setdefault(args['hlo_module'] + '/' + args['hlo_op'], [0, 0])
            row[0] += 1
            row[1] += round(e['dur'] * 1000)
    equal({n: [runs, total // 1000] for n, (_, runs, total, _) in host_ops(path, 'op').items()}, expected)
    assert len(expected) > 15, expected


def jax_float_operations():
    """The float operations of matrix products equal the program: two products forward, three backward, and one per iteration of
    the loop. The numbers of all ops have the same total as the numbers of the families."""
    _, path = made('train_jax')
    first, second = 2 * BATCH * INPUT * HIDDEN, 2 * BATCH * HIDDEN * OUTPUT
    d = json.loads(program('flops', path, '-output', 'json')[0])
    families = {f['family']: f['flops'] for f in d['families']}
    equal(families['matrix products'], STEPS * (2 * first + 3 * second + LOOP * 2 * SQUARE ** 3))
    equal(sum(o['flops'] for o in dump(path)['ops']), sum(families.values()))


def jax_steps():
    """The steps of JAX are the StepTraceAnnotations."""
    check_steps(made('train_jax')[1])


def jax_graph():
    """The graph contains the executed instructions, with their operands."""
    _, path = made('train_jax')
    out, _ = program('graph', path, '-max_depth', '100', '-output', 'json')
    paths = {r['path'] for r in json.loads(out[out.index('{'):])['rows']}
    assert set(sums(path)) <= paths, set(sums(path)) - paths


def jax_folder():
    """The log folder of JAX gives the same results as the file in it."""
    folder, path = made('train_jax')
    for words in (('op', '-select', 'self_micros,occurrence'), ('scope', '-max_depth', '9'), ('steps',)):
        equal(program(words[0], folder, *words[1:]), program(words[0], path, *words[1:]), words[0])


def tensorflow_ops():
    """Types, executions, total and self times of TensorFlow's host ops equal framework_op_stats, to the picosecond."""
    _, path = made('train_tensorflow')
    expected = framework_ops(path)
    assert len(expected) > 40 and any(t == 'Dataset' for t, _, _, _ in expected.values()), expected
    equal(host_ops(path), expected)


def tensorflow_printed():
    """The command op prints the same numbers per type, rounded to microseconds per node and step."""
    _, path = made('train_tensorflow')
    kinds = {}
    for kind, runs, _, own in framework_ops(path).values():
        sums_of = kinds.setdefault(kind, [0, 0])
        sums_of[0] += runs
        sums_of[1] += own
    compare_printed(path, kinds, 10 ** 6)


def tensorflow_compiled():
    """Executions and total times of TensorFlow's compiled functions equal framework_op_stats. xprof 2.24 includes
    compiled ops in the self time of the function; tfprof lists them as ops. The self times add up to the same sum."""
    _, path = made('compile_tensorflow')
    expected, compiled, found = framework_ops(path), sums(path), host_ops(path)
    equal({n: found[n][1:] for n in compiled}, {n: r[1:] for n, r in compiled.items()})
    assert {'matmul', 'while/matmul', 'Tanh'} <= set(compiled), compiled
    equal({n: r[:3] for n, r in found.items() if n not in compiled}, {n: r[:3] for n, r in expected.items()})
    equal(sum(r[3] for r in found.values()), sum(r[3] for r in expected.values()))


def tensorflow_steps():
    """The steps of TensorFlow are the annotations with a step number."""
    for maker in ('train_tensorflow', 'compile_tensorflow'):
        check_steps(made(maker)[1])


if __name__ == '__main__':
    sys.exit(main(__doc__, {f.__name__: f for f in (train_jax, train_tensorflow, compile_tensorflow)},
                  [jax_ops, jax_instructions, jax_float_operations, jax_steps, jax_graph, jax_folder, tensorflow_ops, tensorflow_printed,
                   tensorflow_compiled, tensorflow_steps]))
