#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares real profiles of other programs with expected numbers, exactly.

    tests/trace/sources_real.py --realdata DIR --modern DIR --bin build/check [NAME...]

DIR/onnxruntime and DIR/nsys have the files; the folder of --modern (default: modern beside DIR) has the numbers in golden/.
"""
import collections
import json
import os
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'check'), os.path.dirname(os.path.abspath(__file__))]
import cases  # noqa: E402
import trace_case  # noqa: E402
from trace_case import equal  # noqa: E402


def golden(*name):
    path = os.path.join(trace_case.MODERN, 'golden', *name)
    if not os.path.exists(path):
        raise cases.Skip('there is no %s' % os.path.basename(path))
    return path


def load(name):
    with open(golden(name)) as f:
        return json.load(f)


def dump(path, *words):
    if not os.path.exists(path):
        raise cases.Skip('there is no %s' % os.path.basename(path))
    return trace_case.dump(path, *words)


# ---- ONNX Runtime ----

def onnx_group(nodes, key):
    """Returns {key: [count, micros, output bytes, parameter bytes, activation bytes]}."""
    out = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
    for s in nodes:
        a, row = s['args'], out[key(s)]
        for i, v in enumerate((1, s['length'] // 1000, a['output_bytes'], a['parameter_bytes'],
                               a['bytes_accessed'] - a['output_bytes'])):
            row[i] += v
    return out


def onnx_old():
    """A profile of 2019 has the known nodes, types, providers, sizes, fences, and times of the executor."""
    g = load('onnxruntime.json')
    path = os.path.join(trace_case.REALDATA, 'onnxruntime', 'resnet_inference.json')
    d, slices = dump(path), dump(path, '--slices')
    nodes = [s for s in slices if s['category'] == 'op' and 'provider' in s['args']]
    equal(len(nodes), g['node_kernel_events'])
    for key, rows in ((lambda s: s['args']['op_type'], g['by_op']), (lambda s: s['args']['provider'], g['by_provider']),
                      (lambda s: s['name'], g['top_nodes'])):
        found = onnx_group(nodes, key)
        for r in rows:
            equal(found[r['key']], [r[k] for k in ('count', 'sum_us', 'output_bytes', 'parameter_bytes', 'activation_bytes')],
                  r['key'])
    of = {o['name']: o for o in d['ops']}
    equal([of['model_run']['host_total'], of['SequentialExecutor::Execute']['host_total'],
           of['SequentialExecutor::Execute']['host_self'], of['(fences)']['host_total'], sum(s['length'] for s in nodes)],
          [1000 * g[k] for k in ('model_run_us', 'executor_us', 'executor_overhead_us', 'fence_sum_us', 'kernel_sum_us')])
    equal(sum(o['host_self'] + o['device_self'] for o in d['ops']), 1000 * g['model_run_us'], 'all of a run')
    equal(sum(s['args']['parameter_bytes'] for s in nodes), g['total_parameter_bytes'])
    for name in ('model_loading_uri', 'session_initialization'):
        equal([(s['start'], s['length']) for s in slices if s['name'] == name],
              [(1000 * g['sessions'][name]['ts'], 1000 * g['sessions'][name]['dur'])], name)


def onnx_new():
    """Profiles of version 1.31 have the known numbers, with and without the optimiser, with control flow, with three runs."""
    for name, g in load('onnxruntime_new.json').items():
        path = golden('ort_new', 'ort_%s.json' % name)
        d, slices = dump(path), dump(path, '--slices')
        of = {o['name']: o for o in d['ops'] if o['host_runs']}
        for n in g['nodes']:
            o = of[n['path'].replace('>', '/')]
            equal([o['type'], o['host_runs'], o['host_total'] // 1000, o['host_self'] // 1000],
                  [n['op'], n['count'], n['total_us'], n['self_us']], n['path'])
            runs = [s['args'] for s in slices if s['name'] == n['path'].replace('>', '/')]
            equal(dict(collections.Counter(str(a['group']) for a in runs)), n['runs'], n['path'])
            equal([max(a[k] for a in runs) for k in ('output_bytes', 'parameter_bytes', 'peak_total')],
                  [n['output_size'], n['parameter_size'], n['mem_in_use_peak']], n['path'])
        equal([(s['end'] - s['start']) // 1000 for s in d['steps']], g['runs'])
        equal(d['overlaps'], g['partial_overlaps'])
        equal(sum(o['host_self'] for o in of.values()), 1000 * sum(g['runs']), 'all of the runs')


# ---- Nsight Systems ----

COPIES = {'Device-to-Device': 'Memcpy DtoD', 'Host-to-Device': 'Memcpy HtoD', 'Device-to-Host': 'Memcpy DtoH'}


def table(slices, key):
    """Returns {key: [count, sum, min, max]}."""
    out = {}
    for s in slices:
        row = out.setdefault(key(s), [0, 0, s['length'], s['length']])
        row[:] = [row[0] + 1, row[1] + s['length'], min(row[2], s['length']), max(row[3], s['length'])]
    return out


def union(slices):
    """Returns the time in which at least one of them runs."""
    total, until = 0, 0
    for s in sorted(slices, key=lambda s: s['start']):
        end = s['start'] + s['length']
        total += max(0, end - max(until, s['start']))
        until = max(until, end)
    return total


def check_nsys_work(g, slices, kernels):
    equal([len(kernels), sum(s['length'] for s in kernels)], [g['kernel_rows'], g['kernel_sum_ns']])
    for key, name in (('kernels_by_shortName', lambda s: s['args']['short_name']), ('kernels_by_demangledName', lambda s: s['name'])):
        found = table(kernels, name)
        for r in g[key]:
            equal(found[r['name']], [r['count'], r['sum_ns'], r['min_ns'], r['max_ns']], r['name'])
    for name, r in g['memcpy'].items():
        copies = [s for s in slices if s['category'] == 'copy' and s['name'] == COPIES[name]]
        equal([len(copies), sum(s['length'] for s in copies), sum(s['args']['bytes'] for s in copies)],
              [r['count'], r['sum_ns'], r['bytes']], name)
    sets = [s for s in slices if s['category'] == 'set']
    equal([len(sets), sum(s['length'] for s in sets), sum(s['args']['bytes'] for s in sets)],
          [g['memset'][k] for k in ('count', 'sum_ns', 'bytes')])


def check_nsys_devices(g, d, slices, kernels):
    for index, r in g['devices'].items():
        u = [u for u in d['devices'] if u['device'] == 'gpu:' + index][0]
        mine = [s for s in kernels if s['device'] == 'gpu:' + index]
        equal([len(mine), sum(s['length'] for s in mine), union(mine), u['busy'], u['end'] - u['start'], u['communication'],
               u['compute'], u['overlap'], sorted({s['id'] for s in mine})],
              [r['kernels'], r['kernel_sum_ns'], r['kernel_busy_ns'], r['all_busy_ns'], r['span_ns'], r['nccl_busy_ns'],
               r['compute_busy_ns'], r['overlap_ns'], sorted(r['streams'])], index)
    calls = table([s for s in slices if s['category'] == 'call'], lambda s: s['name'])
    for r in g['runtime_api']:
        equal(calls[r['name'].rpartition('_v')[0] or r['name']][:2], [r['count'], r['sum_ns']], r['name'])


def check_nsys_join(g, d, kernels):
    """Returns kernels by the ranges around their launches, which are ranges of the same process."""
    leaves = {s['args']['short_name'] for s in kernels}
    linked = [o for o in d['ops'] if o['kernels'] and o['name'].rpartition('/')[2] in leaves]
    none = [o for o in linked if '/' not in o['name'] or o['name'].startswith('(unattributed)/')]
    equal(sum(o['kernels'] for o in none), g['nvtx']['kernels_without_range'])
    equal(sum(o['kernels'] for o in linked if not o['name'].startswith('(unattributed)/')), g['join']['matched_pid_corr'])
    for r in g['nvtx']['paths']:
        if r['path'] != '(none)':
            equal(sum(o['device_total'] for o in linked if o['name'].rpartition('/')[0] == r['path']), r['gpu_ns'], r['path'])
    equal(d['overlaps'], g['nvtx']['partial_overlaps'])


def nsys():
    """Exports of two GPUs and two processes have the known kernels, copies, devices, calls and ranges; the files are not changed."""
    for name, g in load('nsys_sqlite.json').items():
        path = os.path.join(trace_case.REALDATA, 'nsys', name + '.sqlite')
        if not os.path.exists(path):
            continue
        with open(path, 'rb') as f:
            before = f.read()
        d, slices = dump(path), dump(path, '--slices')
        kernels = [s for s in slices if s['category'] == 'kernel']
        check_nsys_work(g, slices, kernels)
        check_nsys_devices(g, d, slices, kernels)
        check_nsys_join(g, d, kernels)
        summed = dump(path, '--sums')
        for key in ('ops', 'kernels', 'devices', 'steps'):
            equal(summed[key], d[key], key)
        equal(len([s for s in slices if s['category'] == 'op']), g['nvtx']['push_pop'])
        with open(path, 'rb') as f:
            equal(f.read() == before, True, 'bytes of the file')


def onnx_graph():
    """The model of a profile contains all nodes of a run without the optimiser, with the types that ran."""
    model = golden('ort_new', 'tiny.onnx')
    p = subprocess.run([os.path.join(trace_case.BIN, 'tfprof'), model, 'scope', '-max_depth', '100', '-output', 'json'],
                       capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    found = {r['path']: r for r in json.loads(p.stdout[p.stdout.index('{'):])['rows']}
    for n in load('onnxruntime_new.json')['noopt']['nodes']:
        equal(n['op'] in found[n['path'].replace('>', '/')]['types'], True, n['path'])


CASES = [onnx_old, onnx_new, onnx_graph, nsys]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES, real=True))
