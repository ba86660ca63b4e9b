# SPDX-License-Identifier: Apache-2.0
"""Makes the inputs of the page's tests, or takes them from testdata."""
import os
import pickle
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, 'tests', 'models'), os.path.join(ROOT, 'tests', 'trace'), os.path.join(ROOT, 'tests', 'snapshot')]
import kineto  # noqa: E402
import layout  # noqa: E402
import tower_profile  # noqa: E402
import wire  # noqa: E402
import xspace  # noqa: E402

EXAMPLE = os.path.join(ROOT, 'testdata', 'example')
HOSTILE = ['<script>document.title="owned"</script>', '</script><img src=x onerror=document.title="owned">', 'javascript:document.title="owned"',
           '"><b>bold</b>', "';document.title='owned';'", '\u202eevil\u202c', '{{7*7}}', '../../etc/passwd', '&lt;b&gt;', '<!--', ']]>', '${1+1}']


def write(path, data):
    with open(path, 'wb') as f:
        f.write(data)
    return path


def hostile():
    """Returns a ProfileProto whose names are markup, scripts, control characters, and 1 MB long."""
    names = [n.encode() for n in HOSTILE] + [b'nul\x01\x02\x1b[31m', b'long' + b'x' * 1000000]
    return b''.join(wire.sub(1, wire.num(1, i) + wire.sub(2, b''.join(
        [wire.sub(1, b'top/' + name), wire.sub(5, name[:80] if i < len(HOSTILE) else b'Op'), wire.num(13, i), wire.sub(12, wire.num(1, 0) + wire.sub(2, tower_profile.exec_profile(i, 0)))])))
        for i, name in enumerate(names)) + wire.sub(3, wire.varint(0))


def copied(source, path):
    with open(os.path.join(ROOT, 'testdata', source), 'rb') as f:
        return write(path, f.read())


def tpu():
    """Returns three steps of a compiled program on a device whose peaks are in the file; times are picoseconds."""
    p = xspace.Plane('/device:TPU:0', {'peak_teraflops_per_second': 197.0, 'peak_hbm_bw_gigabytes_per_second': 819.0})
    ops = []
    for i, (name, us, flops, accessed) in enumerate((('convolution.1', 900, 150e9, 40e6), ('convolution.2', 500, 60e9, 90e6), ('fusion.3', 300, 2e9, 200e6), ('fusion.4', 120, 1e8, 80e6),
                                                     ('dot.5', 80, 12e9, 3e6), ('reduce.6', 60, 2e7, 30e6), ('copy.7', 50, 0, 35e6), ('fusion.8', 20, 4e6, 9e6), ('dot.9', 9, 5e8, 1e6))):
        kind = name.split('.')[0]
        ops.append((p.meta('%%%s = f32[8]{0} %s(...)' % (name, kind), name, program_id=5, symbol_id=i + 1, tf_op='jit(train)/layer_%d/%s:' % (i % 3, kind),
                           flops=int(flops), bytes_accessed=int(accessed)), us * 10 ** 6))
    events, steps, at = [], [], 0
    for step in range(3):
        start = at
        for meta, length in ops:
            events.append((meta, at, length))
            at += length + 10 ** 6
        steps.append((p.meta(str(step)), start, at - start, {'group_id': step}))
        at += 2 * 10 ** 8
    return xspace.space(p.line(3, 'XLA Ops', events).line(1, 'Steps', steps))


def rare():
    """Five steps; an op in one of them has 0.2 runs and 0.06 us in a step, another 0.3 us."""
    events = [kineto.event('user_annotation', 'ProfilerStep#%d' % s, 100 * s, 90) for s in range(5)]
    events += [kineto.event('cpu_op', 'aten::%s' % name, 100 * s + at, us) for s in range(5) for name, at, us in (('mm', 10, 20.5), ('relu', 40, 1501 / 500), ('fill_', 60, 0.3))]
    return kineto.trace(events + [kineto.event('cpu_op', 'aten::item', 270, 0.3)])


def truncated():
    """Two steps with a kernel each; a last mark, which ends at once, has none."""
    events = [kineto.event('user_annotation', 'ProfilerStep#%d' % s, 1000 + 100 * s, us) for s, us in enumerate((100, 90, 10))]
    return kineto.trace(events + kineto.launch(1010, 1, 1020, 60) + kineto.launch(1110, 2, 1120, 40))


FUNCTION, REDUCED = 'void at::native::copy_kernel<4, float, int>(int, float*)', 'copy_kernel<4, float, ...>'


def functions():
    """Returns an op and a kernel that no op launched, named after a C++ function."""
    return kineto.trace([kineto.event('cpu_op', 'aten::copy_', 10, 5),
                         *kineto.launch(30, 1, 35, 60, FUNCTION)])


NAMES = ['profile', 'recording', 'xspace', 'pytorch', 'graph', 'hostile', 'large', 'diff', 'tpu', 'workers', 'steps', 'rare', 'snapshot']


def words(name, folder='.'):
    """Returns the words of tfprof report for an input. Makes its files in the folder."""
    at = os.path.join(os.path.abspath(folder), name)
    if name == 'recording':
        return [copied('small/train.tfspool', at + '-4711-1-00000001.tfspool')]
    if name == 'pytorch':
        return [write(at + '.pt.trace.json', as_bytes(kineto.trace(kineto.steps_with_memory())))]
    if name == 'truncated':
        return [write(at + '.pt.trace.json', truncated())]
    if name == 'rare':
        return [write(at + '.pt.trace.json', rare())]
    if name == 'functions':
        return [write(at + '.pt.trace.json', functions())]
    if name == 'graph':
        return [copied('example/graph.pbtxt', at + '.pbtxt')]
    if name == 'hostile':
        return [write(at + '_profile', hostile())]
    if name == 'workers':
        os.makedirs(at, exist_ok=True)
        for rank in range(2):
            write(os.path.join(at, 'rank%d.pt.trace.json' % rank), kineto.trace(kineto.steps(2.25 + rank), rank=rank))
        return [at]
    if name == 'snapshot':
        return [write(at + '.pickle', pickle.dumps(layout.make(1, devices=2, private=True, before=40, steps=200, oom=True)[0]))]
    if name == 'tpu':
        return [write(at + '.xplane.pb', tpu())]
    if name == 'large':
        return [write(at + '_profile', tower_profile.profile(large_blocks(), steps=2))]
    return {'profile': [EXAMPLE + '/profile_100'], 'diff': [EXAMPLE + '/profile_100', EXAMPLE + '/profile_200'],
            'steps': [os.path.join(ROOT, 'testdata', 'recorded', 'cnn_gpu')], 'xspace': [os.path.join(ROOT, 'testdata', 'traces', 'trace.xplane.pb')]}[name]


def as_bytes(data):
    return data if isinstance(data, bytes) else data.encode()


def large_blocks(nodes=100000):
    few, more = len(tower_profile.nodes(1)), len(tower_profile.nodes(2))
    return max(1, (nodes - few) // (more - few) + 1)


def report(program, words, path):
    p = subprocess.run([program, 'report', *words, '-o', path], capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    return path
