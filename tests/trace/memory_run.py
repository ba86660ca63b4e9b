#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The use of memory in traces, run metadata and heap profiles: the rows add up to the bytes in use, and have the op, module, line and
kind of each allocation. Memory snapshots of PyTorch have a suite of their own, tests/snapshot.

    tests/trace/memory_run.py --bin build/check [NAME...]
"""
import gzip
import json
import os
import random
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'check'), os.path.dirname(os.path.abspath(__file__))]
import cases  # noqa: E402
import hlo  # noqa: E402
import kineto  # noqa: E402
import pprof  # noqa: E402
import trace_case  # noqa: E402
import viewer  # noqa: E402
from trace_case import equal, program, write  # noqa: E402
from xspace import Plane, data, number, space  # noqa: E402

EARLIER = '(before the trace)'


def memory(*words):
    return json.loads(program('memory', *words, '-output', 'json', '--top=0')[0])


def live(doc, *columns, **of):
    """Returns the bytes of the rows, by columns."""
    out = {}
    for r in doc['live']:
        if all(r[k] == v for k, v in of.items()):
            key = tuple(r[c] for c in columns)
            out[key] = out.get(key, 0) + r['bytes']
    return out


def random_stream(seed, before):
    """Returns random allocations and releases: (microsecond, address, size, negative for a release, total afterwards), and the
    live set after each of them."""
    r = random.Random(seed)
    held, earlier, out, states = {}, {900 + i: 10 * i + 10 for i in range(before)}, [], []
    for i in range(r.randrange(20, 200)):
        ts = 1000 + 10 * i
        if earlier and r.random() < .1:
            address = r.choice(sorted(earlier))
            size = -earlier.pop(address)
        elif held and r.random() < .45:
            address = r.choice(sorted(held))
            size = -held.pop(address)[0]
        else:
            address, size = r.randrange(800), r.choice([0, 1, 512, 513, 5000, 1 << 20])
            if address in held:
                continue
            held[address] = size, 'op%d' % r.randrange(4)
        out.append((ts, address, size, sum(v[0] for v in held.values()) + sum(earlier.values()), held.get(address, (0, ''))[1]))
        states.append((dict(held), sum(earlier.values())))
    return out, states


def expected_rows(state):
    held, earlier = state
    rows = {(EARLIER,): earlier} if earlier else {}
    for size, op in held.values():
        rows[op,] = rows.get((op,), 0) + size
    return {k: v for k, v in rows.items() if v}


def rows_add_up():
    """Random streams in an XSpace and in a PyTorch trace give the rows of a model, at the peak, at the end and at a time."""
    for seed in range(16):
        events, states = random_stream(seed, before=seed % 3 * 4)
        totals = [e[3] for e in events]
        first = totals.index(max(totals))
        if seed % 2:
            p = Plane('/host:CPU')
            p.line(1, 'thread', [(p.meta('MemoryDeallocation' if size < 0 else 'MemoryAllocation'), ts * 10 ** 6, 0,
                                  dict({'addr': address, 'allocation_bytes': abs(size), 'bytes_allocated': total, 'bytes_available': 1 << 30,
                                        'allocator_name': 'bfc', 'fragmentation': ts / 1e5}, **({'tf_op': op + ':Op'} if op else {}))) for ts, address, size, total, op in events])
            path = write(space(p), 'a.xplane.pb')
        else:
            made = []
            for ts, address, size, total, op in events:
                e = kineto.memory(ts, address, size)
                e['args']['Total Allocated'], e['args']['Total Reserved'] = total, total + 7
                made += [e] + ([kineto.event('cpu_op', op, ts - 1, 5)] if op else [])
            path = write(kineto.trace(made), 'a.pt.trace.json')
        for at, n in ('peak', first), ('end', len(events) - 1), ('%dus' % (events[9][0] - events[0][0] + 5), 9):
            doc = memory(path, '-at', at)
            row, = doc['memory']
            equal((row['peak_bytes'], row['live_bytes']), (max(totals), totals[n]), (seed, at))
            equal(live(doc, 'op'), expected_rows(states[n]), (seed, at))
            for by in 'line', 'kind', 'size', 'module', 'op':
                equal(sum(live(memory(path, '-at', at, '--by=' + by), by if by != 'size' else 'size_class').values()), totals[n], (seed, at, by))
            use = doc['by_kind'][0]
            equal(max(sum(k['bytes'][i] for k in use['kinds']) for i in range(len(use['ns']))), max(totals), seed)
            over_time, = doc['live_at']
            equal(max(m['bytes'] for m in over_time['moments']), max(totals), seed)
            for m in over_time['moments']:
                i = [e[0] for e in events].index(events[0][0] + (m['ns'] - use['ns'][0]) // 1000)
                rows = {}
                for k, size, _ in m['rows']:
                    key = over_time['owners'][k]['op'],
                    rows[key] = rows.get(key, 0) + size
                equal((m['bytes'], rows), (totals[i], expected_rows(states[i])), (seed, m['ns']))
            state, = doc['pools'] or [None]
            equal(state['unused_bytes'], None if seed % 2 else 7, seed)
            equal(state['fragmentation'], round(events[n][0] / 1000, 2) if seed % 2 else None, seed)


def inconsistent_totals():
    """Bytes without an event are a row, and so are allocations that the totals do not contain."""
    for total, rest in (500, 400), (30, -70):
        events = []
        for ts, address, size, sum_ in (1000, 1, 50, 50), (1010, 2, 50, total):
            e = kineto.memory(ts, address, size)
            e['args']['Total Allocated'] = sum_
            events.append(e)
        doc = memory(write(kineto.trace(events), 'a.pt.trace.json'), '-at', 'end')
        equal(live(doc, 'op'), {('(no op)',): 100, ('(no event in the file)',): rest})
        equal(sum(r['bytes'] for r in doc['live']), doc['memory'][0]['live_bytes'])


def without_addresses():
    """If releases do not name what they release, the whole use is unknown."""
    events = [kineto.memory(1000 + i, 1, size) for i, size in enumerate((100, 50, -100, 20))]
    for e in events:
        del e['args']['Addr']
    doc = memory(write(kineto.trace(events), 'a.pt.trace.json'))
    equal([(r['op'], r['bytes'], r['kind'], r['rule']) for r in doc['live']], [('(releases without addresses)', 150, 'unknown', 'the releases have no addresses')])


def training():
    """Returns a step with modules, lines, a backward op, the optimizer, and memory that an op itself releases."""
    frame = lambda name, ts, dur, tid=1: kineto.event('python_function', name, ts, dur, tid=tid)
    op = lambda name, ts, dur, tid=1, **more: kineto.event('cpu_op', name, ts, dur, tid=tid, **more)

    def at(ts, address, size, tid=1):
        return dict(kineto.memory(ts, address, size), tid=tid)
    return [kineto.event('user_annotation', 'ProfilerStep#7', 1000, 200), kineto.event('user_annotation', 'ProfilerStep#8', 1200, 200),
            frame('train.py(3): main', 1000, 400), frame('torch/nn/modules/module.py(9): _call_impl', 1001, 98),
            frame('nn.Module: Net_0', 1002, 90), frame('model.py(12): forward', 1003, 80), frame('nn.Module: Linear_0', 1004, 40),
            op('aten::linear', 1005, 30, **{'Sequence number': 5}), at(1006, 1, 100), at(1008, 2, 40), at(1010, 2, -40),
            op('autograd::engine::evaluate_function: AddmmBackward0', 1110, 30, tid=2, **{'Sequence number': 5, 'Fwd thread id': 1}), at(1112, 3, 200, tid=2),
            frame('torch/optim/adam.py(70): step', 1250, 50), op('aten::zeros', 1252, 10), at(1253, 4, 1000), at(1390, 4, -1000),
            frame('torch/utils/data/dataloader.py(5): __next__', 1310, 20), op('aten::stack', 1311, 9), at(1312, 5, 10)]


def places():
    """The module of a backward op is that of its forward op; the line is the innermost one outside of PyTorch; each kind has a rule."""
    path = write(kineto.trace(training()), 'a.pt.trace.json')
    doc = memory(path)
    rows = {r['op']: (r['module'], r['line'], r['kind'], r['rule'], r['bytes']) for r in doc['live']}
    equal(rows, {'aten::linear': ('Net_0/Linear_0', 'model.py:12 forward', 'activations', 'a module is called in the stack', 100),
                 'autograd::engine::evaluate_function: AddmmBackward0': ('Net_0/Linear_0', None, 'gradients', 'allocated in backward', 200),
                 'aten::zeros': (None, 'train.py:3 main', 'optimizer state', 'torch/optim is in the stack', 1000),
                 'aten::stack': (None, 'train.py:3 main', 'inputs', 'torch/utils/data is in the stack', 10)})
    equal(live(memory(path, '--by=module'), 'module'), {('Net_0/Linear_0',): 300, ('(no module)',): 1010})
    equal(live(memory(path, '-at', '3us'), 'op', 'kind'), {('aten::linear', 'activations'): 100, ('aten::linear', 'temporaries'): 40})
    kinds = {r['kind']: r['rule'] for r in memory(path, '-at=3us', '--by=kind')['live']}
    equal(kinds['temporaries'], 'released by the op that allocated it')
    state, = doc['pools']
    equal((state['never_freed'], state['never_freed_bytes'], state['double_frees'], state['lost_frees']), (3, 310, 0, 0))


def steps():
    """-step shows the peak within a step, with what was allocated before it."""
    path = write(kineto.trace(training()), 'a.pt.trace.json')
    one, two = memory(path, '-step', '7'), memory(path, '-step', '8')
    equal([(d['memory'][0]['peak_bytes'], d['memory'][0]['allocations'], d['memory'][0]['step']) for d in (one, two)], [(300, 3, 7), (1310, 2, 8)])
    equal(sum(live(one, 'op').values()), 300)
    equal(sum(live(two, 'op').values()), 1310)
    assert 'none of the steps' in program('memory', path, '-step', '9', status=1)[1]
    assert 'cannot be combined' in program('memory', path, '-step', '7', '-at', 'end', status=2)[1]
    assert 'no out-of-memory error' in program('memory', path, '-at', 'oom', status=1)[1]


def two_files():
    """Two traces are compared row by row."""
    paths = [write(kineto.trace(training()[:n]), name) for n, name in ((11, 'a.pt.trace.json'), (99, 'b.pt.trace.json'))]
    doc = memory(*paths, '--by=module', '--diff')
    equal({(r['module'], r['kind']): (r['first_bytes'], r['second_bytes']) for r in doc['changes']},
          {('Net_0/Linear_0', 'activations'): (100, 100), ('Net_0/Linear_0', 'temporaries'): (40, 0), ('Net_0/Linear_0', 'gradients'): (0, 200),
           ('(no module)', 'optimizer state'): (0, 1000), ('(no module)', 'inputs'): (0, 10)})
    equal([(r['worker'], r['peak_bytes']) for r in doc['ranks']], [(paths[1], 1310), (paths[0], 140)])
    assert 'two snapshots, traces or profiles' in program('memory', paths[0], '--diff', status=2)[1]


def reserved_by_programs():
    """Memory that a TPU reserves for programs is in use, and has a row. The peak before the trace has no time."""
    p = Plane('/host:CPU')
    p.line(1, 'thread', [(p.meta('MemoryAllocation'), 10 ** 6 * i, 0, {'addr': i, 'allocation_bytes': 10, 'bytes_allocated': 10 * i + 10, 'bytes_reserved': 700,
                                                                     'bytes_available': 90, 'peak_bytes_in_use': peak, 'region_type': region})
                         for i, (peak, region) in enumerate(((5, 'output'), (9000, 'temp')))])
    doc = memory(write(space(p), 'a.xplane.pb'))
    row, = doc['memory']
    equal((row['peak_bytes'], row['peak_at_ns'], row['live_bytes']), (9000, None, 720))
    equal(live(doc, 'op', 'kind'), {('(reserved for programs)', 'temporaries'): 700, ('(no op)', 'activations'): 10, ('(no op)', 'temporaries'): 10})


def run_metadata():
    """Records of TensorFlow: the scope is the module, the name and the type of a node decide its kind."""
    def node(name, total, *records):
        return ('node_stats { node_name: "%s" all_start_micros: 1 op_end_rel_micros: 9 memory { allocator_name: "GPU_0_bfc" total_bytes: 1 allocator_bytes_in_use: %d %s } }'
                % (name, total, ' '.join('allocation_records { alloc_micros: %d alloc_bytes: %d }' % r for r in records)))
    names = (('net/w', 'VariableV2'), ('net/mm', 'MatMul'), ('gradients/net/mm', 'MatMul'))
    write(''.join('node { name: "%s" op: "%s" }\n' % n for n in names).encode(), 'g.pbtxt')
    write(('step_stats { dev_stats { device: "/job:a/replica:0/task:0/device:GPU:0" %s } }' %
           ' '.join(node(n[0], 60, *r) for n, r in zip(names, ([(3, 10)], [(4, 20)], [(5, 30)])))).encode(), 'r.pbtxt')
    doc = memory('--graph_path=g.pbtxt', '--run_meta_path=r.pbtxt')
    equal(live(doc, 'op', 'module', 'kind'), {('net/w', 'net', 'parameters'): 10, ('net/mm', 'net', 'unknown'): 20, ('gradients/net/mm', 'gradients/net', 'gradients'): 30})
    equal([doc['memory'][0][k] for k in ('live_bytes', 'allocations', 'frees', 'allocated_bytes')], [60, 3, 0, 60])


def other_allocators():
    """RunMetadata has a row for each allocator; the views count the allocations of the GPU's, as before."""
    def used(allocator, total, *records):
        return 'memory { allocator_name: "%s" total_bytes: 1 allocator_bytes_in_use: %d %s }' % (
            allocator, total, ' '.join('allocation_records { alloc_micros: %d alloc_bytes: %d }' % r for r in records))

    def device(name, *nodes):
        return 'dev_stats { device: "/device:%s" %s }' % (name, ' '.join(
            'node_stats { node_name: "%s" all_start_micros: 1 op_end_rel_micros: %d %s }' % (n, end, ' '.join(m)) for n, end, m in nodes))
    write(''.join('node { name: "%s" op: "Op" }\n' % n for n in 'abc').encode(), 'g.pbtxt')
    write(('step_stats { %s %s }' % (
        device('GPU:0', ('a', 5, [used('GPU_0_bfc', 100, (3, 100)), used('gpu_host_bfc', 7, (3, 7))]),
               ('b', 9, [used('GPU_0_bfc', 300, (6, 200)), used('gpu_host_bfc', 9, (6, 2))])),
        device('CPU:0', ('c', 8, [used('cpu', 4000, (4, 1000), (5, -400))])))).encode(), 'r.pbtxt')
    files = '--graph_path=g.pbtxt', '--run_meta_path=r.pbtxt'
    doc = memory(*files)
    equal([(r['allocator'], r['device'], r['peak_bytes'], r['allocations'], r['frees'], r['allocated_bytes']) for r in doc['memory']],
          [('cpu', '/device:cpu:0', 4000, 1, 1, 1000), (None, '/device:gpu:0', 300, 2, 0, 300), ('gpu_host_bfc', '/device:gpu:0', 9, 2, 0, 9)])
    equal(live(doc, 'op', allocator='gpu_host_bfc'), {('a',): 7, ('b',): 2})
    equal(live(doc, 'op', allocator='cpu'), {('(before the trace)',): 3400, ('(releases without addresses)',): 600})
    for row in doc['memory']:
        equal(sum(live(doc, 'op', allocator=row['allocator']).values()), row['live_bytes'], row)
    # A profile written by convert lacks only the names of allocators.
    program('convert', *files, '-output', 'profile:outfile=c.pb')
    equal([r['peak_bytes'] for r in memory('c.pb')['memory']], [300])


def heap():
    """A heap profile gives the bytes in use by line and device, without a peak and times."""
    p = pprof.Profile(('allocations', 'count'), ('space', 'bytes'))
    step, call = p.place(('step', '/home/me/train.py', 20)), p.place(('call', '/usr/lib/python3/site-packages/jax/pjit.py', 300))
    p.sample([call, step], 3, 3000, kind='buffer', device='cuda:0')
    p.sample([step], 2, 700, kind='buffer', device='cuda:1')
    p.sample([], 1, 99, kind='executable')
    doc = memory(write(p.bytes(), 'memory.prof'))
    equal([(r['device'], r['peak_bytes'], r['live_bytes'], r['allocations']) for r in doc['memory']], [('cuda:0', None, 3000, 3), ('cuda:1', None, 700, 2), (None, None, 99, 1)])
    equal({(r['op'], r['line'], r['device']): (r['bytes'], r['buffers']) for r in doc['live']},
          {('call', '/home/me/train.py:20 step', 'cuda:0'): (3000, 3), ('step', '/home/me/train.py:20 step', 'cuda:1'): (700, 2), ('(unknown)', None, None): (99, 1)})
    p = pprof.Profile(('alloc_space', 'bytes'), ('inuse_space', 'bytes'))
    p.sample([p.place(('main.read', 'main.go', 20))], 9000, 500)
    equal(live(memory(write(p.bytes(), 'heap.pb')), 'op', 'line'), {('main.read', 'main.go:20 main.read'): 500})
    assert 'no allocations' in program('memory', os.path.join(cases.TESTDATA, 'traces', 'cpu.pb.gz'), status=1)[1]


def heap_trace(r, buffers):
    """Returns a random schedule of buffers {id: size}: encoded events, and the live set {id: size} after each of them. Some
    buffers share the memory of an earlier one, which exists until all of them are released."""
    events, states, users, group = b'', [{}], {}, {}
    todo, held = list(buffers), []

    def event(kind, buffer, share=0):
        nonlocal events
        events += data(1, number(1, kind) + number(2, buffer) + number(5, share))
        states.append({b: buffers[b] for b, n in users.items() if n})
    while todo or held:
        if todo and (not held or r.random() < .6):
            b = todo.pop(0)
            alive = [x for x in held if group[x] == x]
            group[b] = r.choice(alive) if alive and r.random() < .2 else b
            users[group[b]] = users.get(group[b], 0) + 1
            held.append(b)
            event(2 if group[b] != b else 0, b, group[b] if group[b] != b else 0)
        else:
            b = held.pop(r.randrange(len(held)))
            users[group[b]] -= 1
            event(1, b)
        if not todo and r.random() < .1:
            break
    return events, states


def kernel():
    """Returns a plane with device work, without which a file has no events."""
    p = Plane('/device:GPU:0')
    return p.line(7, 'Stream #7', [(p.meta('k'), 0, 1000)])


def programs():
    """Memory that the compiler assigned to a program: parameters, constants, outputs, and the temporaries at the peak of the schedule, by
    op. The rows add up to the peak, and the rest of the allocations is unused."""
    for seed in range(12):
        r = random.Random(seed)
        # An instruction defines the buffer with its number plus 100.
        sizes = {i: r.randrange(1, 1 << 20) for i in range(1, r.randrange(6, 40))}
        fixed, temporary = list(sizes)[:4], list(sizes)[4:]
        kinds = dict(zip(fixed, ['parameters', 'parameters', 'constants', 'outputs']))
        flags = [number(5, 1), number(5, 1), number(12, 1), number(7, 1)]
        events, states = heap_trace(r, {100 + i: sizes[i] for i in temporary})
        peak = [b - 100 for b in max(states, key=lambda s: sum(s.values()))]
        total, slack = sum(sizes[i] for i in fixed + peak), r.randrange(1000)
        names = {i: 'jit(f)/layer/op%d' % i if i % 2 else 'op.%d' % i for i in sizes}
        ops = [hlo.instruction(i, 'op.%d' % i, 'add', [1], meta=hlo.metadata(op=names[i], file='f.py', line=i) if i % 2 else b'') for i in sizes]
        made = data(3, number(1, 10) + number(2, 77) + number(8, 5))
        for i, n in sizes.items():
            made += data(1, number(1, 100 + i) + number(2, n) + data(3, data(2, 'op.%d' % i) if seed % 2 else number(4, i)))
        for i, flag in zip(fixed, flags):
            made += data(3, number(1, i) + number(2, sizes[i]) + flag + data(9, number(1, 100 + i) + number(3, sizes[i])))
        heap = b''.join(data(9, number(1, 100 + i) + number(3, sizes[i])) for i in temporary)
        made += data(3, number(1, 9) + number(2, sum(sizes[i] for i in peak) + slack) + heap) + data(4, events + number(3, 9))
        content = hlo.program('jit_f', 7, [(1, 4, ops)], 1) + data(3, made)
        path = write(space(kernel(), hlo.metadata_plane({7: content})), 'a.xplane.pb')
        doc = memory(path)
        equal([(row['allocator'], row['peak_bytes'], row['live_bytes'], row['reserved_bytes'], row['peak_at_ns']) for row in doc['memory']],
              [('program jit_f(7)', total, total, total + slack, None), ('program jit_f(7), memory space 5', 77, 77, 77, None)], seed)
        equal([p['unused_bytes'] for p in doc['pools']], [slack, 0], seed)
        expected = {(names[i], kinds.get(i, 'temporaries')): sizes[i] for i in fixed + peak}
        only = {'allocator': 'program jit_f(7)'}
        equal(live(doc, 'op', 'kind', **only), expected, seed)
        by_kind = {}
        for (_, kind), n in expected.items():
            by_kind[kind,] = by_kind.get((kind,), 0) + n
        equal(live(memory(path, '--by=kind'), 'kind', **only), by_kind, seed)
        equal(live(memory(path, '--by=line'), 'line', **only)['f.py:1',], sizes[1], seed)
        assert 'no allocations' in program('memory', path, '-at', 'end', status=1)[1]


def parameters_past_use():
    """Parameters whose last use is before the peak, and which no output reuses, could be freed earlier."""
    # p1 and p2 are used by 3, p5 by 4 through a bitcast, and p6 is donated. 4 defines the peak.
    ops = [hlo.instruction(i, 'p%d' % i, 'parameter', [1]) for i in (1, 2, 5, 6)]
    ops += [hlo.instruction(3, 'add', 'add', [1], (1, 2, 6)), hlo.instruction(7, 'view', 'bitcast', [1], (5,)),
            hlo.instruction(4, 'big', 'fusion', [1], (3, 7)), hlo.instruction(8, 'root', 'add', [1], (4,))]
    made = b''.join(data(1, number(1, i) + number(2, 10 * i) + data(3, number(4, i))) for i in range(1, 9))
    for i in 1, 2, 5, 6:
        made += data(3, number(1, i) + number(2, 10 * i) + number(5, 1) + number(7, i == 6) + data(9, number(1, i) + number(3, 10 * i)))
    made += data(3, number(1, 9) + number(2, 70))
    made += data(4, b''.join(data(1, number(1, kind) + number(2, b)) for kind, b in ((0, 3), (0, 4), (1, 3), (1, 4))) + number(3, 9))
    for schedule, past in ((1, 2, 5, 6, 3, 7, 4, 8), 30), ((), None):
        content = hlo.program('jit_f', 7, [(1, 8, ops)], 1, schedule=schedule) + data(3, made)
        doc = memory(write(space(kernel(), hlo.metadata_plane({7: content})), 'a.xplane.pb'))
        equal([(r['live_bytes'], p['past_use_bytes']) for r, p in zip(doc['memory'], doc['pools'])], [(210, past)])
        equal({r['op']: r['bytes'] for r in doc['live'] if 'last used before the peak' in r['rule']}, {'p1': 10, 'p2': 20} if past else {})
        equal(sum(r['bytes'] for r in doc['live']), 210)


def damaged_programs():
    """A damaged assignment is counted and left out; the rest of the file is read."""
    for bad in (b'\x0a\x7f', data(3, number(2, 1 << 63)), data(3, data(9, b'\x08')), data(1, number(2, 1 << 63))):
        content = hlo.program('jit_f', 7, [(1, 4, [hlo.instruction(4, 'add', 'add', [1])])], 1) + data(3, bad)
        path = write(space(kernel(), hlo.metadata_plane({7: content})), 'a.xplane.pb')
        assert '1 message of the XSpace is damaged' in program('memory', path, status=1)[1]


def largest_first():
    """The allocator with the largest peak comes first, whatever the order in the file."""
    events = [kineto.memory(1000 + i, i, size) for i, size in enumerate((5, 900, 70))]
    for i, e in enumerate(events):
        e['args']['Device Id'] = i
    doc = memory(write(kineto.trace(events), 'a.pt.trace.json'))
    equal([r['peak_bytes'] for r in doc['memory']], [900, 70, 5])
    equal([r['bytes'] for r in doc['live']], [900, 70, 5])
    equal([max(u['bytes']) for u in doc['use']], [900, 70, 5])


CATEGORIES = ['parameters', 'optimizer state', 'inputs', 'temporaries', 'activations', 'gradients', 'autograd detail', 'unknown']


def timelines():
    """The memory timelines of torch.profiler, as changes and as sums by category: the peak and its kinds are those of a model."""
    for seed in range(12):
        r = random.Random(seed)
        sums, raw, times, moments, peak = [0] * 8, [], [], [], (-1, None)
        for i in range(r.randrange(1, 60)):
            ns = -1 if i < 3 else 5000 * i
            c, size = r.randrange(8), r.randrange(1, 1 << 20)
            if sums[c] and r.random() < .4:
                size = -r.randrange(1, sums[c] + 1)
            sums[c] += size
            raw.append([ns, 2 if size > 0 else 4, size, c])
            if ns < 0 and times:
                moments[-1] = [0] + sums
            else:
                times.append(15 if ns < 0 else ns // 1000)
                moments.append([0] + sums)
        for m in moments:
            peak = max(peak, (sum(m), m[1:]), key=lambda x: x[0])
        for name, content in (('m.json', [times, moments]), ('m.raw.json', raw)):
            if name == 'm.raw.json' and len(raw) < 4:
                continue
            doc = memory(write(json.dumps(content).encode(), name))
            row, = doc['memory']
            if name == 'm.json' or max(sum(v[2] for v in raw[:n]) for n in (1, 2, 3)) <= peak[0]:
                equal((row['peak_bytes'], row['live_bytes'], row['allocations']), (peak[0], peak[0], None), (seed, name))
                equal(live(doc, 'kind', 'rule'), {(k, 'category in the file'): v for k, v in zip(CATEGORIES, peak[1]) if v}, (seed, name))
            equal(sum(live(memory(name, '-at', 'end'), 'kind').values()), sum(sums), (seed, name))
    assert 'buffers' not in program('memory', 'm.json')[0]  # the file does not count them
    for command in 'why', 'critical', 'idle':
        assert 'the file has no ops, calls or device work' in ' '.join(program(command, 'm.json', status=1)[1].split()), command


def damaged_timelines():
    """Prefixes and other lists are refused, or read up to the damage with --recover; a small value is never a crash."""
    whole = json.dumps([[7, 2, 512, 4], [8, 2, 100, 9], [9, 4, -512, 4], [9, 4, -1]])
    out, err = program('memory', write(whole.encode(), 'm.json'), '-output', 'csv')
    assert '1 list has neither 4 nor 9 numbers' in err, err
    for n in range(2, len(whole)):
        trace_case.judge('tfprof', 'memory', write(whole[:n].encode(), 'm.json'), allowed=(1, 3))
        trace_case.judge('tfprof', '--recover', 'memory', 'm.json', allowed=(0, 1, 3))
    for bad in '[[1,2,3],[[0,1]]]', '[[1,2],[]]', '[[]]', '[[1e999,2,3,4],[1,2,3,4]]', '[[9223372036854775807,2,9223372036854775807,4],[1,2,9223372036854775807,4]]':
        trace_case.judge('tfprof', 'memory', write(bad.encode(), 'm.json'), allowed=(0, 1, 3))


def pprof_total(path):
    """Returns the sum of the values of a profile's samples, each a packed number."""
    with gzip.open(path) as f:
        samples = [v for field, v in viewer.fields(f.read()) if field == 2]
    values = [v for sample in samples for field, v in viewer.fields(sample) if field == 2]
    return sum((byte & 127) << 7 * i for v in values for i, byte in enumerate(v))


def same_in_views(files, *how, positive=True):
    """Checks that scope, code, op, folded stacks and pprof profiles have the live set of memory, to the byte, and its allocations. Returns
    the rows of scope."""
    metrics = 'live_bytes', 'allocated_bytes', 'allocations'
    doc = memory(*files, *how)
    whole = dict(zip(metrics, [sum(r['bytes'] for r in doc['live'])] + [sum(r[c] or 0 for r in doc['memory']) for c in ('allocated_bytes', 'allocations')]))
    for name in 'op', 'code', 'scope':
        found = json.loads(program(name, *files, *how, '-select', ','.join(metrics), '-output', 'json')[0])
        equal({m: sum(r['own_' + m] for r in found['rows']) for m in metrics}, whole, (files, how, name))
        if positive:
            program(name, *files, *how, '-select', 'live_bytes', '-output', 'pprof:outfile=p.pb')
            equal(pprof_total('p.pb'), whole['live_bytes'], (files, how, name))
    for m in metrics if positive else ():
        lines = program('code', *files, *how, '-select', m, '-output', 'folded')[0].splitlines()
        equal(sum(int(line.rsplit(' ', 1)[1]) for line in lines if line), whole[m], (files, how, m))
    return {r['path']: r['own_live_bytes'] for r in found['rows'] if r['own_live_bytes']}


def views():
    """scope, code and op show the live set of every source with the bytes of memory, at the peak, at the end, at a time and in a step."""
    for seed in range(6):
        events, states = random_stream(seed, before=seed % 3 * 4)
        made = []
        for n, (ts, address, size, total, op) in enumerate(events):
            e = kineto.memory(ts, address, size)
            e['args']['Total Allocated'], e['args']['Device Id'] = total, 0
            made += [e] + ([kineto.event('cpu_op', op, ts - 1, 5)] if op else [])
        path = write(kineto.trace(made), 'a.pt.trace.json')
        totals = [e[3] for e in events]
        for at, n in ('peak', totals.index(max(totals))), ('end', len(events) - 1), ('%dus' % (events[9][0] - events[0][0] + 5), 9):
            equal(same_in_views([path], '-at', at), {k: v for (k,), v in expected_rows(states[n]).items()}, (seed, at))
    other_allocators()
    rows = same_in_views(['--graph_path=g.pbtxt', '--run_meta_path=r.pbtxt'])
    equal(rows['device:gpu:0/gpu_host_bfc/a'], 7)
    heap()
    same_in_views(['memory.prof'])
    same_in_views(['heap.pb'])
    programs()
    same_in_views(['a.xplane.pb'])
    parameters_past_use()
    same_in_views(['a.xplane.pb'])
    timelines()
    equal(set(same_in_views(['m.json'], '-at', 'end')) <= set(CATEGORIES), True)
    inconsistent_totals()
    same_in_views(['a.pt.trace.json'], positive=False)
    places()
    equal(same_in_views(['a.pt.trace.json']), {'Net_0/Linear_0/aten::linear': 100, 'aten::zeros': 1000, 'aten::stack': 10,
                                               'Net_0/Linear_0/autograd::engine::evaluate_function: AddmmBackward0': 200})
    for step, sums in ('7', 300), ('8', 1310):
        equal(sum(same_in_views(['a.pt.trace.json'], '-step', step).values()), sums)
    lines = program('code', 'a.pt.trace.json', '-select', 'live_bytes', '-output', 'folded')[0].splitlines()
    assert 'train.py:3:main;module.py:9:_call_impl;model.py:12:forward 100' in lines, lines
    two_files()
    program('scope', 'a.pt.trace.json', 'b.pt.trace.json', '-select', 'live_bytes', '-by', 'worker')
    assert 'Available steps: 7 8' in program('scope', 'a.pt.trace.json', '-step', '9', '-select', 'live_bytes', status=1)[1]


CASES = [rows_add_up, inconsistent_totals, without_addresses, places, steps, two_files, reserved_by_programs, run_metadata, other_allocators, heap, programs, parameters_past_use, damaged_programs, largest_first, timelines, damaged_timelines, views]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES))
