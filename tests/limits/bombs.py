#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the memory per byte of input, with small files of every format that nest deeply or have many names. A level adds its
name to the path around it, and a table may have a row per name, so storing all paths would take memory proportional to the
square of the input.

    tests/limits/bombs.py --program build/check/tfprof --shim build/check/faults/shim.so [--size=40000] [NAME ...]
"""
import json
import os
import random
import shutil
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, 'tests', d) for d in ('limits', 'check', 'models', 'trace')]
import cases  # noqa: E402
import run as limits  # noqa: E402
import hlo  # noqa: E402
import nsys  # noqa: E402
import pftrace as pf  # noqa: E402
import pprof  # noqa: E402
import rocprof as roc  # noqa: E402
import xspace  # noqa: E402
from wire import sub  # noqa: E402

FREE = 16 * limits.MB  # constant part: the program, its tables, the beginnings of paths
LINES = 384            # the same for call stacks of pprof in the view code, and
PAGE = 1024            # in a report, both of which docs/SECURITY.md explains
N = 10000              # --size


def bounded(t, path, *commands, note='', worst=limits.WORST):
    """Fails if a command takes more memory than the file allows, or does not print the note, which only concerns commands that show ops."""
    size = os.path.getsize(path)
    base = limits.run(t.program, ['help', 'scope']).peak
    for words in commands:
        r = limits.run(t.program, [path if w == 'FILE' else w for w in words], keep=False)
        used = r.peak - base
        print('%-14s %8d bytes, %3.0f for a byte: %s' % (path, size, used / size, ' '.join(words)))
        assert r.status == 0, (words, r.status, r.err[-500:])
        assert used <= FREE + worst * size, '%s: %d bytes of memory, %.0f for a byte' % (words, used, used / size)
        assert words in TIME or note in r.err, (words, r.err[-500:])


def write(path, content):
    with open(path, 'wb') as f:
        f.write(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


VIEWS = [['scope', 'FILE', '-max_depth', '1'], ['op', 'FILE', '-max_depth', '1'], ['summary', 'FILE']]
TIME = [[command, 'FILE'] for command in ('steps', 'critical', 'idle', 'why')]
CODE = ['code', 'FILE', '-max_depth', '1']
REPORT = ['report', 'FILE', '-o', 'report.html']
WHAT_IF = ['what-if', 'FILE', 'kernel:k*=0']


def kineto_nested(t):
    """Ops inside each other."""
    events = [{'ph': 'X', 'cat': 'cpu_op', 'name': 'a%d' % i, 'pid': 1, 'tid': 1, 'ts': i, 'dur': 10 * N - 2 * i} for i in range(N)]
    bounded(t, write('nested.json', {'traceEvents': events}), *VIEWS, *TIME, ['kernels', 'FILE', '--top=0'], note="shortened: '(deeper)'")
    r = limits.run(t.program, ['op', 'nested.json', '-max_depth', '1', '-output', 'json'])
    total = json.loads(r.out[r.out.index(b'{'):])['total']
    cases.equal((total['self_micros'], total['occurrence']), (10 * N, N), 'no time and no run is lost')


def chrome_open(t):
    """Begin events without an end."""
    events = [{'ph': 'B', 'name': 'a%d' % i, 'pid': 1, 'tid': 1, 'ts': i} for i in range(N)]
    bounded(t, write('open.json', events), *VIEWS, *TIME, note="shortened: '(deeper)'")


def perfetto_open(t):
    """Begin events without an end."""
    packets = [pf.thread(7, 1, 1, 't')] + [pf.event(i, 1, 'a%d' % i, 7) for i in range(N)]
    bounded(t, write('open.pftrace', pf.trace(*packets)), *VIEWS, *TIME, note="shortened: '(deeper)'")


def nsys_nested(t):
    """Ranges inside each other, around a kernel."""
    x = nsys.Export()
    for i in range(N // 2):
        x.range(1, 'r%d' % i, 1000 + i, 9000000 - i)
    x.launch(1, 1, 20000, 30000, 40000)
    bounded(t, x.save('nested.sqlite'), *VIEWS, *TIME, note="shortened: '(deeper)'")


def onnxruntime_nested(t):
    """Nodes with long names inside each other."""
    args = {'op_name': 'A', 'provider': 'CPUExecutionProvider'}
    events = [{'cat': 'Session', 'pid': 1, 'tid': 1, 'dur': 100 * N, 'ts': 0, 'ph': 'X', 'name': 'model_run', 'args': {}}]
    events += [{'cat': 'Node', 'pid': 1, 'tid': 1, 'dur': 10 * N - 2 * i, 'ts': i + 1, 'ph': 'X', 'args': args,
                'name': 'n%d%s_kernel_time' % (i, 'x' * 200)} for i in range(N // 2)]
    bounded(t, write('onnxruntime.json', events), *VIEWS, *TIME)


def chakra_nested(t):
    """Calls with long names inside each other."""
    none = {'values': [], 'shapes': [], 'types': []}
    nodes = [{'id': i + 1, 'name': 'a%d%s' % (i, 'x' * 200), 'ctrl_deps': max(i, 1), 'inputs': none, 'outputs': none,
              'attrs': [{'name': 'rf_id', 'type': 'uint64', 'value': i}]} for i in range(N // 5)]
    path = write('calls.json', {'schema': '1.1.1-chakra.0.0.4', 'pid': 1, 'nodes': nodes})
    bounded(t, path, ['scope', 'FILE', '-max_depth', '1'], ['graph', 'FILE', '-max_depth', '1'], ['op', 'FILE', '-max_depth', '1'])


def rocprof_nested(t):
    """Markers inside each other."""
    markers = [roc.record(roc.MARKER, 1, 1000 + i, 10 ** 9 - i, i + 1) for i in range(N // 4)]
    names = [(i + 1, 'm%d' % i) for i in range(N // 4)]
    content = json.dumps({'rocprofiler-sdk-tool': [roc.process(markers=names, marker_api=markers)]}).encode()
    bounded(t, write('results.json', content), *VIEWS, *TIME)


def xspace_planes(t):
    """Many planes, and many lines with one event."""
    space = xspace.space(*[xspace.Plane('/device:GPU:%d' % i) for i in range(N // 2)])
    plane = xspace.Plane('/host:CPU')
    for i in range(N // 2):
        plane.line(i, 't%d' % i, [(plane.meta('op%d' % i), i, 5)])
    bounded(t, write('planes.xplane.pb', space + xspace.space(plane)), ['scope', 'FILE', '-max_depth', '1'], ['devices', 'FILE'])


def hlo_buffers(t):
    """Programs of many memory spaces, allocations, buffers and events of a few bytes each."""
    number = xspace.number
    memory = ['memory', 'FILE', '--top=0']
    for name, made in (('spaces', b''.join(sub(3, number(1, i) + number(2, 1) + number(8, i)) for i in range(2 * N))),
                       ('allocations', sub(3, number(2, 1)) + sub(3, b'') * (4 * N)),
                       ('buffers', sub(1, b'') * (4 * N) + sub(3, number(2, 1)) + sub(4, sub(1, b'') * (8 * N))),
                       ('heaps', sub(3, number(2, 1)) + sub(4, sub(1, b'')) * (4 * N)),
                       ('programs', None)):
        program = sub(1, sub(1, 'f') + sub(3, sub(2, sub(1, 'a') + number(35, 1)))) + sub(3, made or sub(3, number(2, 1)))
        plane = hlo.metadata_plane({i: program for i in range(1, (N // 10 if made is None else 1) + 1)})
        gpu = xspace.Plane('/device:GPU:0')
        gpu.line(7, 'Stream #7', [(gpu.meta('k'), 0, 5)])
        bounded(t, write(name + '.xplane.pb', xspace.space(gpu, plane)), memory, ['scope', 'FILE'])


def devices(t):
    """Many devices, each with its process."""
    events = [{'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': i, 'tid': 7, 'ts': i, 'dur': 1, 'args': {'device': i, 'stream': 7}}
              for i in range(N // 5)]
    bounded(t, write('devices.json', {'traceEvents': events}), *VIEWS, ['kernels', 'FILE', '--top=0'],
            *[[c, 'FILE'] for c in ('devices', 'idle', 'critical', 'why')], ['what-if', 'FILE', 'host*0.5'])


def kernels(t):
    """Many kernels, all of which are printed."""
    events = [{'ph': 'X', 'cat': 'kernel', 'name': 'k%d' % i, 'pid': 0, 'tid': 7, 'ts': 2 * i, 'dur': 1, 'args': {'device': 0, 'stream': 7}}
              for i in range(N)]
    bounded(t, write('kernels.json', {'traceEvents': events}), *VIEWS, *TIME, WHAT_IF, ['kernels', 'FILE', '--top=0'], ['devices', 'FILE', '--top=0'])


def launches(t):
    """Many launches: all on one stream; each on a stream of its own; each from a thread of its own, or in a step of its own."""
    def slice_(cat, name, tid, ts, dur, **args):
        return {'ph': 'X', 'cat': cat, 'name': name, 'pid': 1, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}

    for what in ('stream', 'streams', 'threads', 'steps'):
        events = []
        for i in range(N // 4):
            tid, stream = 1 + i if what == 'threads' else 1, 7 + i if what == 'streams' else 7
            events += [slice_('cpu_op', 'a', tid, 10 * i, 6), slice_('cuda_runtime', 'cudaLaunchKernel', tid, 10 * i + 1, 2, correlation=i + 1),
                       dict(slice_('kernel', 'k', stream, 10 * i + 4, 9, correlation=i + 1, device=0, stream=stream), pid=0)]
            if what == 'steps':
                events.append(slice_('user_annotation', 'ProfilerStep#%d' % i, 1, 10 * i, 9))
        bounded(t, write('launches_%s.json' % what, {'traceEvents': events}), *VIEWS, *TIME, WHAT_IF)


def pprof_deep(t):
    """One stack of many lines."""
    p = pprof.Profile(('cpu', 'nanoseconds'))
    places = [p.place(('f%d' % i, 'f.py', i)) for i in range(10)]
    p.sample([places[i % 10] for i in range(90 * N)], 5)
    bounded(t, write('deep.pb', p.bytes()), *VIEWS, CODE, note='lines of call stacks are left out')


def pprof_paths(t):
    """Many stacks of long names."""
    p = pprof.Profile(('cpu', 'nanoseconds'))
    places = [p.place(('f%d' % i + 'x' * 250, 'f.py', i)) for i in range(2)]
    for i in range(N // 10):
        p.sample([places[i >> (k % 10) & 1] for k in range(256)], 5)
    bounded(t, write('paths.pb', p.bytes()), *VIEWS)
    bounded(t, 'paths.pb', CODE, worst=LINES)
    bounded(t, 'paths.pb', REPORT, worst=PAGE)


def pprof_stacks(t):
    """Many stacks that share nothing, of which a line takes a byte of the file."""
    chance = random.Random(1)
    p = pprof.Profile(('cpu', 'nanoseconds'))
    places = [p.place(('f%d' % i, 'f.py', i)) for i in range(100)]
    for _ in range(N // 500):
        p.sample([chance.choice(places) for _ in range(5000)], 5)
    bounded(t, write('stacks.pb', p.bytes()), *VIEWS)
    bounded(t, 'stacks.pb', CODE, worst=LINES)
    bounded(t, 'stacks.pb', REPORT, worst=PAGE)


def batches(items):
    """A list in a pickle, as picklers write it."""
    return b']' + b''.join(b'(' + b''.join(items[i:i + 1000]) + b'e' for i in range(0, len(items), 1000))


def snapshot_bombs(t):
    """Pickles of a few bytes for each thing: entries, frames, stacks that share nothing, texts that are used again and again."""
    shared = [b'action', b'addr', b'size', b'alloc', b'frames', b'filename', b'line', b'name', b'f' * 1000, b'x.py']
    memo = b''.join(b'X' + len(x).to_bytes(4, 'little') + x + b'\x94' for x in shared)
    start = b'\x80\x04}((' + memo + b't' + b'N\x8c\x0ddevice_traces]('
    entry = b'}(h\x00h\x03h\x01J%bh\x02K\x01%bu'

    def number(i):
        return i.to_bytes(4, 'little')

    def snapshot(name, entries):
        path = write(name, start + batches(entries) + b'eu.')
        bounded(t, path, ['memory', 'FILE'], ['scope', 'FILE', '-max_depth', '1'], ['code', 'FILE', '-max_depth', '1'])
    snapshot('entries.pickle', [entry % (number(i), b'') for i in range(3 * N)])
    frames = [b'}(h\x05h\x08h\x06J%bh\x07h\x08u' % number(i) for i in range(N)]
    snapshot('frames.pickle', [entry % (number(1), b'h\x04' + batches(frames))])
    chance = random.Random(1)
    for name, file, function in ('stacks', 3, 3), ('lines', 9, 8):
        frames = b''.join(b'}\x94(h\x05h%ch\x06K%ch\x07h%cu' % (file, i, function) for i in range(100))
        first = [entry % (number(1), b'h\x04](' + frames + b'e')]
        stacks = [[b'h%c' % (10 + chance.randrange(100)) for _ in range(900)] for _ in range(N // 100)]
        snapshot(name + '.pickle', first + [entry % (number(2 + i), b'h\x04' + batches(x)) for i, x in enumerate(stacks)])


def flight_bombs(t):
    """Entries of a few bytes, each a group, an operation or a size of its own; a list of one text again and again."""
    fields = [b'process_group', b'collective_seq_id', b'profiling_name', b'input_sizes', b'x' * 1000]
    memo = b''.join(b'X' + len(x).to_bytes(4, 'little') + x + b'\x94' for x in fields)
    start = b'\x80\x04}((' + memo + b't' + b'N\x8c\x09pg_config}\x8c\x07entries'

    def dump(name, entries):
        bounded(t, write(name, start + batches(entries) + b'u.'), ['collectives', 'FILE'], ['scope', 'FILE', '-max_depth', '1'])
    dump('groups_0', [b'}(h\x00(\x8c\x04%04dh\x02th\x01K\x01h\x02h\x00u' % (i % 10000) for i in range(N)])
    dump('calls_0', [b'}(h\x00(h\x02h\x02th\x01J%bh\x02h\x00u' % i.to_bytes(4, 'little') for i in range(2 * N)])
    dump('coalesced_0', [b'}(h\x00(h\x02h\x02th\x01K\x01h\x02h\x00u' for i in range(2 * N)])
    dump('sizes_0', [b'}(h\x00(h\x02h\x02th\x01K\x01h\x02h\x00h\x03](' + b'h\x04' * 40 + b'J%beu' % i.to_bytes(4, 'little') for i in range(N // 4)])


def scope_levels(t):
    """A name of many levels."""
    path = write('levels.pb', sub(1, sub(1, '/'.join('a' * 20 * N)) + sub(2, 'Op')))
    bounded(t, path, ['scope', 'FILE', '-max_depth', '1'], REPORT)


TESTS = [kineto_nested, chrome_open, perfetto_open, nsys_nested, onnxruntime_nested, chakra_nested, rocprof_nested,
         xspace_planes, hlo_buffers, devices, kernels, launches, pprof_deep, pprof_paths, pprof_stacks, snapshot_bombs, flight_bombs,
         scope_levels]


def main():
    global N
    size = [w for w in sys.argv if w.startswith('--size=')]
    sys.argv = [w for w in sys.argv if w not in size]
    N = int(size[-1][7:]) if size else N
    t = cases.arguments(__doc__, shim='faults/shim.so')
    return cases.run([f for f in TESTS if not t.names or f.__name__ in t.names], t, prepare=lambda: shutil.copy(t.shim, 'shim.so'))


if __name__ == '__main__':
    sys.exit(main())
