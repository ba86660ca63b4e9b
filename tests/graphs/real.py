#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares replayed graphs and the steps of servers with the tables that TraceLens made from the same traces.

    tests/graphs/real.py --realdata DIR --bin build/check

DIR/kineto_graphs has the traces; perf_csvs beside each has the tables: times in milliseconds, or microseconds if not said.
"""
import collections
import csv
import glob
import gzip
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, 'check'), os.path.join(ROOT, 'trace')]
import trace_case  # noqa: E402
from trace_case import equal, program, rows  # noqa: E402

SELECT = ['-select', 'accelerator_micros,occurrence,float_ops']


def near(what, found, expected):
    """Asserts that microseconds agree within 0.1 % and 1 us."""
    assert abs(found - expected) <= 1 + abs(expected) / 1000, '%s: %s us, expected %s' % (what, found, expected)


def table(folder, name):
    with open(os.path.join(folder, 'perf_csvs', name + '.csv'), newline='') as f:
        return list(csv.DictReader(f))


def folder_of(name):
    folder = os.path.join(trace_case.REALDATA, 'kineto_graphs', name)
    trace, = glob.glob(os.path.join(folder, '*.json.gz'))
    return folder, trace


def ops_of(trace):
    """Returns {(op, module): (us, runs)} of the innermost ops and modules. Modules have no instance numbers."""
    found = collections.defaultdict(lambda: [0, 0])
    for path, row in rows(trace, 'scope', *SELECT).items():
        levels = re.split(r'/(?=nn\.Module: |## )|(?<=##)/|/', path)
        modules = [v for v in levels if v.startswith('nn.Module: ')]
        op = '/'.join(levels[levels.index(modules[-1]) + 1:] if modules else levels).split('/')[-1] or None
        if row['own_accelerator_micros'] and op:
            module = re.sub(r'_\d+$', '', modules[-1]) if modules else 'NA'
            name = re.sub(r'_\d+$', '', op) if op.startswith('sglang_profiler::') else op
            found[name, module][0] += row['own_accelerator_micros']
            found[name, module][1] += row['own_occurrence']
    return found


def check(name):
    """Compares every row of ops_summary, ops_summary_by_category, gpu_timeline, GEMM and InferenceAttention_fwd."""
    folder, trace = folder_of(name)
    found, seen, kinds = ops_of(trace), set(), collections.defaultdict(float)
    of_kind = collections.Counter()
    for row in table(folder, 'ops_summary'):
        key = row['name'], row['parent_module']
        if key[0].startswith('hip'):  # kernels outside of all ops: here below the function that launches them
            continue
        near(key, found[key][0], float(row['total_direct_kernel_time_sum']))
        equal(found[key][1], int(row['Count']), str(key))
        seen.add(key)
        kind = row['Categories'].strip("[]'"), row['parent_module']
        kinds[kind] += found[key][0]
        of_kind[kind] += found[key][1]
    rest = sum(v[0] for k, v in found.items() if k not in seen)
    assert rest < 15, {k: v for k, v in found.items() if k not in seen}
    for row in table(folder, 'ops_summary_by_category'):
        key = row['op category'], row['parent_module']
        near(key, kinds[key] + (rest if key == ('other', 'NA') else 0), float(row['total_direct_kernel_time_ms']) * 1000)
        if key != ('other', 'NA'):
            equal(of_kind[key], int(row['Count']), str(key))
    timeline = {row['type']: float(row['time ms']) * 1000 for row in table(folder, 'gpu_timeline')}
    device, = json.loads(program(trace, 'devices', '-output', 'json')[0])['devices']
    for theirs, ours in (('computation_time', 'compute_busy_ns'), ('exposed_comm_time', 'exposed_communication_ns'),
                         ('exposed_memcpy_time', 'exposed_copy_ns'), ('busy_time', 'busy_ns'), ('total_comm_time', 'communication_busy_ns'),
                         ('total_memcpy_time', 'copy_busy_ns'), ('total_time', 'span_ns')):
        near(theirs, device[ours] / 1000, timeline[theirs])
    near('idle_time', (device['span_ns'] - device['busy_ns']) / 1000, timeline['idle_time'])
    costs(folder, trace)


def products(folder, trace):
    """Compares every row of GEMM: time, calls and float operations of each shape. There, a product with a bias has M * N more
    operations. The table lists wrappers beside the product inside them: both have the same sizes, calls and time."""
    ours = {(r['type'], r['shapes']): r for r in json.loads(program(trace, 'roofline', '--top=0', '-output', 'json')[0])['roofline']}
    inner, wrappers = {}, []
    for row in table(folder, 'GEMM'):
        m, n, k = (int(float(row['param: ' + v])) for v in 'MNK')
        theirs, bias = float(row['GFLOPS_first']) * 1e9, row['param: bias'] == 'True'
        assert abs(theirs - 2 * m * n * k - bias * m * n) <= 1e-3 * theirs, row['name']
        calls, us = int(row['name_count']), float(row['Kernel Time (\u00b5s)_sum'])
        found = ours.get((row['name'], row['Input Dims_first'].replace(' ', '')))
        if row['name'] not in ('aten::mm', 'aten::addmm'):
            wrappers.append(((m, n, k), calls, us))
            continue
        near(row['name'], found['time_ns'] / 1000, us)
        equal((found['runs'], found['float_ops']), (calls, 2 * m * n * k * calls), row['name'])
        inner[m, n, k] = calls, us
    assert len(inner) >= 4, inner
    for key, calls, us in wrappers:
        equal(inner[key][0], calls, key)
        near(key, inner[key][1], us)


def costs(folder, trace):
    """Compares products by shape, and time, calls, float operations and bytes of attention."""
    products(folder, trace)
    ops = rows(trace, 'op', *SELECT)
    moved = {r['op']: r['bytes'] for r in json.loads(program(trace, 'flops', '--top=0', '-output', 'json')[0])['ops']}
    for row in table(folder, 'InferenceAttention_fwd'):
        if float(row['GFLOPS_first']) > 0:
            op, calls = ops[row['name']], int(row['name_count'])
            near(row['name'], op['own_accelerator_micros'], float(row['Kernel Time (\u00b5s)_sum']))
            equal(op['own_occurrence'], calls)
            assert abs(op['own_float_ops'] / calls / 1e9 - float(row['GFLOPS_first'])) < 1e-6, op
            assert abs(moved[row['name']] / calls / 2 ** 20 - float(row['Data Moved (MB)_first'])) < 1e-3, moved


def is_placed(trace):
    """Asserts that at least 99 % of the device time has an op and a module."""
    for by, none in (('op', '(no op)'), ('module', '(no module)')):
        found = rows(trace, 'op', '-by', by, *SELECT)
        share = found[none]['own_accelerator_micros'] / sum(r['own_accelerator_micros'] for r in found.values()) if none in found else 0
        assert share < 0.01, (by, share)


def vllm():
    """25 graphs in a step of vLLM are paired with their captures, 23 of them by order alone."""
    check('vllm_prefilldecode_piecewise')
    _, trace = folder_of('vllm_prefilldecode_piecewise')
    _, notes = program(trace, 'summary')
    assert '25 launches (361 kernels, 150ms): the kernels and their order are equal' in notes, notes
    assert '23 launches (345 kernels, 144ms): several captures' in notes, notes
    is_placed(trace)
    phase, = json.loads(program(trace, 'phases', '-output', 'json')[0])['phases']
    equal([phase[k] for k in ('phase', 'steps', 'requests', 'tokens', 'step_mean_ns', 'host_mean_ns', 'graph_launches')],
          ['mixed', 1, 46, 8192, 156466417, 26353441, 25])
    near('attention', phase['attention_ns'] / 1000, 5733.278)


def sglang():
    """A step of SGLang without graphs has the known numbers."""
    check('sglang_prefilldecode')
    _, trace = folder_of('sglang_prefilldecode')
    is_placed(trace)
    phase, = json.loads(program(trace, 'phases', '-output', 'json')[0])['phases']
    equal([phase[k] for k in ('phase', 'requests', 'tokens', 'graph_launches')], ['prefill', 15, 15360, 0])


def other_model():
    """The captures of one model are refused for another."""
    folder, trace = folder_of('vllm_prefilldecode_piecewise')
    capture, = glob.glob(os.path.join(folder_of('sglang_prefilldecode')[0], '*.json.gz'))
    _, notes = program(trace, 'op', '--graph-capture=' + capture)
    assert 'no capture is in the file' in notes, notes


def part_of_file(path, keeps, out):
    """Writes the events of a trace for which keeps(event) is true. Returns the path."""
    with gzip.open(path) as f:
        trace = json.load(f)
    trace['traceEvents'] = [e for e in trace['traceEvents'] if keeps(e)]
    with open(out, 'w') as f:
        json.dump(trace, f)
    return os.path.abspath(out)


def other_pieces():
    """A step has 25 graphs. Without the captures of the first and the last one, these two are refused, with what did not match."""
    folder, trace = folder_of('vllm_prefilldecode_piecewise')
    path, = glob.glob(os.path.join(folder, 'capture_traces', '*.json.gz'))
    with gzip.open(path) as f:
        events = json.load(f)['traceEvents']
    begins = sorted(e['ts'] for e in events if e.get('name') == 'hipStreamBeginCapture')
    ends = sorted(e['ts'] + e['dur'] for e in events if e.get('name') == 'hipStreamEndCapture')
    gone = list(zip(begins, ends))[::24]
    equal((len(begins), len(gone)), (25, 2))
    capture = part_of_file(path, lambda e: not any(a <= e.get('ts', -1) <= b for a, b in gone), 'pieces_2_24.json')
    with gzip.open(trace) as f:
        events = json.load(f)['traceEvents']
    launches = sorted((e['ts'], e['args']['correlation']) for e in events if e.get('name') == 'hipGraphLaunch')
    for n, refusal in ((25, 'graph 1 has 12 kernels, the nearest capture 15 calls'), (1, "kernel 1 of graph 1 is 'triton_poi_fused_0', but 'Cijk_")):
        others = {c for i, (_, c) in enumerate(launches) if i + 1 != n}
        alone = part_of_file(trace, lambda e: (e.get('args') or {}).get('correlation') not in others, 'piece_%d.json' % n)
        out, notes = program(alone, 'op', '--graph-capture=' + capture)
        assert '1 launch ' in notes and 'without a matching capture' in notes and refusal in notes, notes
        assert 'graph 1 (' in out and 'vllm::moe_forward' not in out, out
    _, notes = program(trace, 'summary', '--graph-capture=' + capture)
    assert '2 launches (16 kernels' in notes and '345 kernels' in notes and 'are ambiguous' in notes, notes


CASES = [vllm, sglang, other_model, other_pieces]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES, real=True))
