#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the passes on real traces with known numbers, exactly.

    tests/trace/real.py --realdata DIR --modern DIR --bin build/check [NAME...]

DIR/xplane holds the traces; the folder of --modern (default: modern beside DIR) has the numbers in golden/.
"""
import json
import os
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'check'), os.path.dirname(os.path.abspath(__file__))]
import cases  # noqa: E402
import trace_case  # noqa: E402
from trace_case import equal, program  # noqa: E402


def golden(name):
    path = os.path.join(trace_case.MODERN, 'golden', name)
    if not os.path.exists(path):
        raise cases.Skip('there is no %s' % name)
    with open(path) as f:
        return json.load(f)


def dump(path, *words, status=0):
    if not os.path.exists(path):
        raise cases.Skip('there is no %s' % os.path.basename(path))
    p = subprocess.run([os.path.join(trace_case.BIN, 'trace_dump'), *words, path], capture_output=True, text=True)
    assert p.returncode == status, '%s: status %d: %s' % (path, p.returncode, p.stderr)
    return json.loads(p.stdout) if status == 0 else p.stderr


def xplane(name, *words, status=0):
    return dump(os.path.join(trace_case.REALDATA, 'xplane', name + '.xplane.pb'), *words, status=status)


def kind(name):
    """Returns the type of an op; ops without one have the type Unknown."""
    return name or 'Unknown'


def tpu():
    """The ops of four TPUs have the known times, executions, flops, bytes and window. Compiled ops without a framework op
    have their HLO category as their type."""
    g, d = golden('xplane.json')['tpu_inference_2'], xplane('tpu_inference_2')
    category = {r['name']: r['category'] for r in g['hlo_ops'] if not r['tf_op']}
    found = {(o['name'].split('/')[-1] if o['name'].split('/')[-1] in category else o['name'], o['type']): o
             for o in d['ops'] if o['kernels']}
    equal(len(found), len(g['framework_ops']), 'ops')
    for r in g['framework_ops']:
        o = found[r['name'], category[r['name']] if r['type'] == 'Unknown' else r['type']]
        equal([o['runs'], o['device_total'], o['device_self'], o['flops'], o['bytes_accessed']],
              [r['occ'], r['time_ps'], r['self_ps'], r['flops'], r['bytes_accessed']], r['name'])
    equal(sum(o['device_self'] for o in d['ops']), g['device_op_self_ps'])
    equal(sum(t['last'] - t['first'] for t in d['tracks'] if t['device'] and t['name'] in ('XLA Ops', 'Steps')),
          g['device_window_ps'])
    equal(sum(o['host_self'] for o in d['ops']), g['host_op_self_ps'])


def tpu_hlo():
    """The compiled ops of four TPUs and their categories have the known numbers; every grouping contains all the time."""
    g, path = golden('xplane.json')['tpu_inference_2'], 'tpu_inference_2'
    found = {o['name'].split('/')[-1]: o for o in xplane(path, '--by=op')['ops'] if o['kernels']}
    categories = {}
    equal(len(found), len(g['hlo_ops']), 'compiled ops')
    for r in g['hlo_ops']:
        o = found[r['name']]
        equal([o['runs'], o['device_total']], [r['occ'], r['time_ps']], r['name'])
        categories[r['category']] = categories.get(r['category'], 0) + r['time_ps']
    by_category = {}
    for o in xplane(path, '--by=hlo_category')['ops']:
        by_category[o['type']] = by_category.get(o['type'], 0) + o['device_self']
    equal(by_category, categories)
    for by in ('module', 'annotation', 'source', 'kernel'):
        equal(sum(o['device_self'] for o in xplane(path, '--by=' + by)['ops']), g['device_op_self_ps'], by)


def gpu_host():
    """The ops of the threads of a GPU worker have the known numbers, without allocations."""
    g, d = golden('xplane.json')['gpu_bert_worker']['host_without_alloc_events'], xplane('gpu_bert_worker')
    found = {o['name']: o for o in d['ops'] if o['host_runs']}
    equal((len(found), sum(o['host_self'] for o in found.values())), (g['distinct_ops'], g['op_self_ps']))
    for r in g['top']:
        o = found[r['name']]
        equal([o['type'], o['host_runs'], o['host_total'], o['host_self']],
              [r['type'], r['occ'], r['time_ps'], r['self_ps']], r['name'])


def gpu_device():
    """The ops of its GPUs that kernels name have the known numbers; all other work has a place, too."""
    g, d = golden('xplane.json')['gpu_bert_worker'], xplane('gpu_bert_worker')
    found = {o['name']: o for o in d['ops'] if o['kernels']}
    types = {}
    for o in found.values():
        t = types.setdefault(o['type'], [0, 0])
        t[0], t[1] = t[0] + 1, t[1] + o['device_total']
    for r in g['device']['top']:
        o = found[r['name']]
        equal([o['type'], o['runs'], o['kernels'], o['device_total']],
              [kind(r['type']), r['occ'], r['events'], r['time_ps']], r['name'])
    for r in g['device']['by_type']:
        equal(types[kind(r['type'])], [r['ops'], r['time_ps']], r['type'])
    work = [r for k, r in g['lines'].items() if '| Stream' in k and not r['derived']]
    equal(sum(o['device_total'] for o in found.values()), sum(r['sum_dur_ps'] for r in work))


def gpu_lines():
    """Every line of its planes, and the steps, have the known numbers."""
    g, d = golden('xplane.json')['gpu_bert_worker'], xplane('gpu_bert_worker')
    found = {(t['device'] + ' | ' + t['name'], t['id']): t for t in d['tracks'] if t['device']}
    first = min(r['first_ps'] for r in g['lines'].values())
    start = min(t['first'] for t in found.values())
    for name, r in g['lines'].items():
        t = found[name, r['id']]
        equal([t['events'], t['sum'], bool(t['derived']), t['first'] - start, t['last'] - start],
              [r['events'], r['sum_dur_ps'], bool(r['derived']), r['first_ps'] - first, r['last_ps'] - first], name)
    equal([(s['id'], s['end'] - s['start']) for s in d['steps']], [(0, 21310352000)])


def jax_gpu():
    """Compiled ops on GPUs of another vendor have the known numbers."""
    for name, g in golden('xplane_jax_gpu.json').items():
        d = xplane(name, '--by=op')
        found = {o['name']: o for o in d['ops'] if o['kernels']}
        flops = 0
        for r in g['ops']:
            o = found[r['module'] + '/' + r['hlo_op']]
            equal([o['kernels'], o['device_total']], [r['occ'], r['time_ps']], r['hlo_op'])
            if r['xprof_flops_per_event']:  # time of an execution, which may be several kernels
                equal(o['flops'], o['runs'] * r['xprof_flops_per_event'], r['hlo_op'])
                flops += o['flops']
        equal(sum(o['flops'] for o in xplane(name)['ops']), flops)
        for c in golden('flops.json')['cases']:
            if c['op'].startswith('HLO convolution'):
                equal(flops, 5 * c['flops_xla'])
        equal(sum(u['end'] - u['start'] for u in d['devices']), g['window_ps'])


def slices(name):
    p = subprocess.run([os.path.join(trace_case.BIN, 'trace_dump'), '--slices',
                        os.path.join(trace_case.REALDATA, 'xplane', name + '.xplane.pb')], capture_output=True, text=True)
    equal(p.returncode, 0, p.stderr)
    return [json.loads(line) for line in p.stdout.split('\n') if line]


def memory():
    """Peaks of memory by allocator follow allocated and reserved bytes after each event."""
    for name, want in golden('xplane.json').items():
        if 'memory' not in want:
            continue
        peaks, capacity = {}, {}
        for s in slices(name):
            a = s['args']
            if s['category'] != 'allocation' or 'allocated_total' not in a:
                continue
            who = str(a.get('allocator', a.get('device')))
            used = a['allocated_total'] + a.get('reserved_total', 0)
            if used >= peaks.get(who, 0):
                peaks[who] = used
                capacity[who] = used + a.get('available_total', 0)
        equal({k: str(v) for k, v in peaks.items()},
              {k: v['summary']['peakStats']['peakBytesInUse'] for k, v in want['memory'].items()}, name)
        equal({k: str(v) for k, v in capacity.items()},
              {k: v['summary']['memoryCapacity'] for k, v in want['memory'].items()}, name)
        found = json.loads(program('memory', os.path.join(trace_case.REALDATA, 'xplane', name + '.xplane.pb'), '-output', 'json', '--top=0')[0])
        for r in found['memory']:
            if (r['allocator'] or '').startswith('program '):
                continue  # memory assigned by the compiler has no events
            rows = sum(x['bytes'] for x in found['live'] if (x['device'], x['allocator']) == (r['device'], r['allocator']))
            equal((rows, r['live_bytes']), (r['live_bytes'], peaks[(r['allocator'] or r['device'].rsplit(':', 1)[-1])]), (name, r))


def kernel_stats():
    """Kernels by name, grid, block and registers have the known durations in nanoseconds."""
    found = {}
    for s in slices('gpu_bert_worker'):
        a = s['args']
        if s['category'] == 'kernel' and 'grid' in a and s['length'] >= 1000:
            key = s['name'], a['grid'], a['block'], a.get('registers', 0)
            v = found.setdefault(key, [0, 0, 1 << 62, 0])
            n = s['length'] // 1000
            found[key] = [v[0] + 1, v[1] + n, min(v[2], n), max(v[3], n)]
    for r in golden('xplane.json')['gpu_bert_worker']['kernel_stats']:
        key = r['kernel_name'], r['grid_dim'], r['block_dim'], int(r['registers_per_thread'])
        equal([found[key][0]] + [round(v / 1000, 3) for v in found[key][1:]],
              [r['occurrences'], r['total_duration_us'], r['min_duration_us'], r['max_duration_us']], r['kernel_name'])


def corrupt():
    """A file that was copied as text is refused with the place and a hint."""
    said = xplane('corrupt_tpu_inference_2', status=3)
    assert 'byte 1' in said and '28501368332271' in said and 'hint: ' in said, said


# tfprof's numbers where the reference in the file is known to be wrong, and types that are HLO categories there:
# (device ops, host ops).
OURS = {
    '05_missing_event_metadata': ([['(unknown)', 'Unknown', 1, 50, 50, 0, 0],
                                   ['jit(f)/a/mul', 'mul', 1, 100, 100, 100, 64]], []),
    '06_dangling_ref_and_stat': ([['f.2', 'fusion', 1, 100, 100, 0, 0]], []),
    '07_gpu_tf_op_and_level0_and_empty_plane': (
        [['(unattributed)/MemcpyH2D', '(unattributed)', 1, 500, 500, 0, 0],
         ['model/dense/MatMul', 'MatMul', 1, 2000, 2000, 0, 0], ['model/old/MatMul_1', 'MatMul', 1, 1000, 1000, 0, 0]],
        []),
    '08_host_ops_and_allocation': ([], [['Iterator::Batch::Map', 'Dataset', 1, 300, 300],
                                        ['model/dense/MatMul', 'MatMul', 1, 4000, 3700]]),
    '09_partial_overlap': ([], [['a', 'MatMul', 1, 100, 100], ['b', 'Relu', 1, 100, 100]]),
    '11_truncated': ([['add.3', 'fusion', 2, 1400, 1400, 200, 0], ['fusion.2', 'fusion', 2, 5500, 5500, 200, 0],
                      ['while.1', 'while', 1, 9000, 2500, 0, 0]], []),
}


def hand_made():
    """Small files give the expected numbers."""
    folder = os.path.join(trace_case.MODERN, 'golden', 'xplane_cases')
    for name, r in golden(os.path.join('xplane_cases', 'expected.json')).items():
        path = os.path.join(folder, name + '.xplane.pb')
        cut = name == '11_truncated'
        if cut:
            assert 'byte ' in dump(path, status=3)
        d = dump(path, *(['--recover'] if cut else []))
        device = sorted([o['name'], o['type'], o['runs'], o['device_total'], o['device_self'], o['flops'],
                         o['bytes_accessed']] for o in d['ops'] if o['kernels'])
        host = sorted([o['name'], o['type'], o['host_runs'], o['host_total'], o['host_self']] for o in d['ops']
                      if o['host_runs'])
        ref = r['reference']
        equal((device, host), OURS[name] if name in OURS else (sorted(ref['device']), sorted(ref['host'])), name)
        window = {}
        for t in d['tracks']:
            if t['device'] and t['name'] in ('XLA Ops', 'Steps') and t['events']:
                first, last = window.get(t['device'], (t['first'], t['last']))
                window[t['device']] = min(first, t['first']), max(last, t['last'])
        if name not in OURS and not name.startswith('10'):  # whose window is above the range of numbers
            equal(sum(b - a for a, b in window.values()), ref['device_window_ps'], name)
        equal(d['clamped'], 2 if name.startswith('10') else 0, name)


CASES = [tpu, tpu_hlo, gpu_host, gpu_device, gpu_lines, jax_gpu, memory, kernel_stats, corrupt, hand_made]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES, real=True))
