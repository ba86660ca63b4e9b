#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Groups the slices of traces by modules, ops, annotations, sources, kernels and categories (-by), and compares each group with
an independent computation from the events.

    tests/trace/groups.py --bin build/check [NAME...]
"""
import collections
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'check'), os.path.dirname(os.path.abspath(__file__))]
import cases  # noqa: E402
import kineto  # noqa: E402
from xspace import Plane, space  # noqa: E402
import trace_case  # noqa: E402
from trace_case import dump, equal, program  # noqa: E402

LEVELS = {'module': 'nn.Module: ', 'op': 'cpu_op', 'annotation': 'user_annotation'}


def events():
    """The steps of the other tests, with an annotation around the module."""
    out = kineto.steps()
    for s in range(2):
        out.append(kineto.event('user_annotation', 'forward/all', 1000 + 100 * s + .5, 45))
    return out


def write(content, name='a.json'):
    return trace_case.write(content, name)


def groups(path, by):
    """Returns {name: [self time of the host, of devices, slices of devices]}, ns."""
    return {o['name']: [o['host_self'], o['device_self'], o['kernels']] for o in dump(path, '--by=' + by)['ops']
            if o['host_self'] or o['kernels']}


def is_level(e, by):
    if by == 'module':
        return e['name'].startswith(LEVELS[by])
    return e['cat'] == LEVELS[by] and not e['name'].startswith('ProfilerStep#')


def counted(e):
    return any(is_level(e, by) for by in LEVELS)


def ns(us):
    return round(us * 1000)


def contains(a, b):
    return (a['tid'] == b['tid'] and a is not b and a['ts'] <= b['ts'] and a['ts'] + a['dur'] >= b['ts'] + b['dur'] and
            (a['dur'] > b['dur'] or a['ts'] < b['ts']))


def expected(all_events, by):
    """Computes groups: the self time of a slice counts for the innermost level around it, device work for the level of its launch."""
    out = collections.defaultdict(lambda: [0, 0, 0])
    host = [e for e in all_events if counted(e)]
    calls = {e['args']['correlation']: e for e in all_events if e['cat'] == 'cuda_runtime'}

    def group(e, itself):
        around = sorted((x for x in host if contains(x, e)), key=lambda x: -x['dur']) + ([e] if itself else [])
        return '/'.join(x['name'] for x in around if is_level(x, by)) or '(no %s)' % by
    for e in host:
        inner = [x for x in host if contains(e, x)]
        children = [x for x in inner if not any(contains(y, x) for y in inner)]
        out[group(e, True)][0] += ns(e['dur']) - sum(ns(x['dur']) for x in children)
    for e in all_events:
        if e['cat'] in ('kernel', 'gpu_memcpy'):
            g = out[group(calls[e['args']['correlation']], False)]
            g[1] += ns(e['dur'])
            g[2] += 1
    return {k: v for k, v in out.items() if any(v)}


def levels():
    """Grouping by modules, ops and annotations gives the same time at different levels."""
    path = write(kineto.trace(events()))
    for by in LEVELS:
        equal(groups(path, by), expected(events(), by), by)


def totals():
    """No grouping loses time or work."""
    path = write(kineto.trace(events()))
    all_ = [[sum(v[i] for v in groups(path, by).values()) for i in range(3)]
            for by in ('none', 'module', 'op', 'annotation', 'source', 'kernel', 'hlo_category', 'function', 'module-class', 'provider')]
    equal(all_, [all_[0]] * 10)


def sources():
    """Source lines are the Python frames around the slice, or around the launch."""
    path = write(kineto.trace(events()))
    found = groups(path, 'source')
    equal(sorted(found), ['(no source)', 'train.py(3): step'])
    equal(found['(no source)'], [24000, 2000, 2])
    equal(found['train.py(3): step'][1:], [2 * 2250 + 2 * 3125, 4])
    equal(sorted(r['type'] for r in table(path, 'op', '-by', 'source')), sorted(found))


def kernels():
    """Kernels are below their op in scope, and are types in the op view."""
    path = write(kineto.trace(events()))
    found = groups(path, 'kernel')
    equal([v for k, v in found.items() if k.endswith('aten::addmm/gemm<64>')], [[0, 4500, 2]])
    rows = table(path, 'op', '-by', 'kernel', '-select', 'accelerator_micros,kernels,cpu_micros')
    equal({r['type']: (r['own_accelerator_micros'], r['own_kernels']) for r in rows}, {
        '(host)': (0, 0), 'gemm<64>': (4.5, 2), 'gemm_back': (2, 2), 'Memcpy HtoD (Pageable -> Device)': (6.25, 2)})
    equal([r['own_cpu_micros'] for r in rows if r['type'] == '(host)'], [134.002])


def table(*words):
    """Returns the rows of CSV, with the two steps added up."""
    import csv
    import io
    rows = {}
    for step in ('4', '5'):
        out, _ = program(*words, '-step', step, '-max_depth', '100', '-output', 'csv')
        for r in csv.DictReader(io.StringIO(out[out.index('path,'):])):
            have = rows.setdefault(r['path'], {'type': r['path']})
            for k, v in r.items():
                if k.startswith('own_'):
                    have[k] = have.get(k, 0) + float(v)
    return list(rows.values())


def categories():
    """Compiled ops have categories and programs; other work has its own kind."""
    p = Plane('/device:TPU:0')

    def op(name, tf_op, symbol, **stats):
        return p.meta('%' + name, name, program_id=5, symbol_id=symbol, tf_op=tf_op, **stats)
    mul = op('fusion.1', 'jit(f)/mul:', 1, hlo_category='loop fusion')
    add = op('fusion.2', 'jit(f)/mul:', 2, hlo_category='loop fusion')
    dot = op('dot.3', 'jit(f)/dot:', 3, hlo_category='convolution')
    p.line(2, 'XLA Modules', [(p.meta('jit_f(5)'), 0, 10000)])
    p.line(3, 'XLA Ops', [(mul, 0, 1000), (add, 1000, 500), (dot, 2000, 7000)])
    path = write(space(p), 'a.xplane.pb')
    equal(groups(path, 'hlo_category'), {'loop fusion/jit(f)/mul': [0, 1500, 2], 'convolution/jit(f)/dot': [0, 7000, 1]})
    equal(groups(path, 'op'), {'jit_f/fusion.1': [0, 1000, 1], 'jit_f/fusion.2': [0, 500, 1],
                               'jit_f/dot.3': [0, 7000, 1]})
    equal(groups(path, 'module'), {'jit_f': [0, 8500, 3]})
    out, _ = program(path, 'op', '-by', 'hlo_category', '-select', 'accelerator_micros,kernels', '-output', 'csv')
    assert 'convolution' in out and 'loop fusion' in out, out


def columns():
    """Traces show device time, host self time and calls by default."""
    path = write(kineto.trace(events()))
    assert 'node name | accelerator execution time | host self time | op count' in program(path, 'scope')[0]
    assert 'node name | accelerator execution time | cpu execution time\n' in program(path, 'scope', '-select', 'micros')[0]
    out, _ = program(path, 'scope', '-select', 'self_micros,kernels,bytes_accessed', '-output', 'csv')
    assert 'own_self_micros,total_self_micros' in out and 'own_kernels' in out, out
    profile = os.path.join(cases.TESTDATA, 'example', 'profile_100')
    out, err = program(profile, 'scope', '-select', 'kernels', '-max_depth', '1')
    assert 'note: only traces have numbers for kernels' in err, err


def flops():
    """Float operations of a matrix product are computed from the shapes of its inputs, once for each call."""
    path = write(kineto.trace(kineto.steps()))
    found = {o['name'].split('/')[-1]: (o['flops'], o['host_runs']) for o in dump(path)['ops'] if o['flops']}
    equal(found, {})  # the inputs of the sample do not fit an addmm: it has two
    good = [dict(e, args=dict(e['args'], **{'Input Dims': [[4], [2, 3], [3, 4], [], []]}))
            if e['name'] == 'aten::addmm' else e for e in kineto.steps()]
    path = write(kineto.trace(good))
    equal({o['name'].split('/')[-1]: (o['flops'], o['host_runs']) for o in dump(path)['ops'] if o['flops']},
          {'aten::addmm': (2 * 2 * 2 * 3 * 4, 2)})


def refused():
    """Grouping works only on one trace, in scope and op."""
    path = write(kineto.trace(events()))
    _, err = program(path, 'code', '-by', 'module', status=2)
    assert '-by module works in the views scope and op, not in code' in err, err
    _, err = program(os.path.join(cases.TESTDATA, 'example', 'profile_100'), 'op', '-by', 'kernel', status=1)
    assert '-by kernel needs a trace, but none is loaded' in err, err
    write(kineto.trace(events(), rank=0), 'r0.json')
    write(kineto.trace(events(), rank=1), 'r1.json')
    out, _ = program('op', 'r0.json', 'r1.json', '-by', 'kernel')
    alone, _ = program('op', 'r0.json', '-by', 'kernel')
    equal(out[out.index('Profile'):], alone[alone.index('Profile'):])


CASES = [levels, totals, sources, kernels, categories, columns, flops, refused]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES))
