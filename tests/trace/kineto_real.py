#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares PyTorch traces, and damaged ones, with expected numbers, exactly.

    tests/trace/kineto_real.py --realdata DIR --modern DIR --bin build/check [FILTER...]

DIR/kineto has the traces; the folder of --modern (default: modern beside DIR) has in golden/ the numbers of each
(kineto.json, kineto_more.json) and damaged files (malformed/) with the expected results.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import idle_rule  # noqa: E402

NAME_CUT = 300  # characters of a kernel's name in the expected numbers
KIND = {'kernel': 'kernel', 'copy': 'gpu_memcpy', 'set': 'gpu_memset'}
# Categories of the reader for each category of the file.
BECOMES = {'cpu_op': ('op',), 'user_annotation': ('annotation', 'step'), 'python_function': ('frame', 'module'),
           'kernel': ('kernel',), 'gpu_memcpy': ('copy',), 'gpu_memset': ('set',), 'cuda_sync': ('sync',)}


def run(words):
    p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
                       env=dict(os.environ, LC_ALL='C'))
    return p.returncode, p.stdout.decode('utf-8', 'replace'), p.stderr.decode('utf-8', 'replace')


class Check:
    def __init__(self):
        self.bad, self.n = [], 0

    def equal(self, what, found, expected):
        self.n += 1
        if found != expected:
            self.bad.append('%s: %s, expected %s' % (what, str(found)[:300], str(expected)[:300]))


def work_table(slices):
    """Returns {(category, name): durations of device work}."""
    out = collections.defaultdict(list)
    for s in slices:
        if s['form'] == 0 and s['category'] in KIND and s['device']:
            out[KIND[s['category']], s['name']].append(s['length'])
    return out


def check_counts(c, slices, golden):
    """Counts events by category. Old files have ProfilerStep# as an Operator."""
    seen = collections.Counter()
    total = collections.Counter()
    for s in slices:
        if s['form'] == 0:
            on = 'gpu ' if s['category'] == 'annotation' and s['device'] else ''
            seen[on + s['category']] += 1
            total[on + s['category']] += s['length']
    c.equal('complete events', sum(seen.values()), golden['x_events'])
    steps_are_ops = 'user_annotation' not in golden['by_cat']
    for name, x in golden['by_cat'].items():
        ours = BECOMES.get(name)
        if steps_are_ops and name == 'cpu_op':
            ours = ('op', 'step')
        if name == 'gpu_user_annotation':
            ours = ('gpu annotation',)
        if ours:
            c.equal(name, [sum(seen[k] for k in ours), sum(total[k] for k in ours)], [x['count'], x['sum_ns']])
    calls = [golden['by_cat'].get(k, {'count': 0, 'sum_ns': 0}) for k in ('cuda_runtime', 'cuda_driver')]
    c.equal('calls', [seen['call'], total['call']], [sum(x['count'] for x in calls), sum(x['sum_ns'] for x in calls)])


def check_devices(c, dump, golden):
    by_index = {d['device'].rpartition(':')[2]: d for d in dump['devices']}
    c.equal('devices', sorted(by_index), sorted(golden['devices']))
    for index, g in golden['devices'].items():
        d = by_index.get(index)
        if not d:
            continue
        found = {'events': d['slices'], 'sum_ns': d['sum'], 'span_ns': d['end'] - d['start'], 'busy_ns': d['busy'],
                 'idle_ns': d['end'] - d['start'] - d['busy'], 'compute_busy_ns': d['compute'],
                 'comm_busy_ns': d['communication'], 'mem_busy_ns': d['copy'],
                 'comm_compute_overlap_ns': d['overlap'], 'memcpy_bytes': d['copy_bytes']}
        for k, v in found.items():
            c.equal('device %s %s' % (index, k), v, g[k])
        streams = {str(t['id']): t for t in dump['tracks'] if t['device'] == d['device']}
        for stream, x in g['streams'].items():
            c.equal('stream %s busy' % stream, streams.get(stream, {}).get('busy'), x['busy_ns'])


def check_kernels(c, slices, golden):
    table = work_table(slices)
    c.equal('names of device work', len(table), golden['distinct_gpu_names'])
    for k in golden['kernels_top20']:  # whose names are truncated
        rows = [[len(v), sum(v), min(v), max(v)] for (cat, name), v in table.items()
                if cat == k['cat'] and name[:NAME_CUT] == k['name']]
        expected = [k['count'], k['sum_ns'], k['min_ns'], k['max_ns']]
        c.equal(k['name'][:60], expected if expected in rows else rows, expected)


def check_ops(c, dump, golden):
    types = collections.defaultdict(collections.Counter)
    for o in dump['ops']:
        name = '(none)' if o['name'].startswith('(unattributed)') else o['type']
        types[name].update({'count': o['host_runs'], 'total_ns': o['host_total'], 'self_ns': o['host_self'],
                            'gpu_ns': o['device_total'], 'gpu_events': o['kernels']})
    for g in golden['ops_top20']:
        for k in ('count', 'total_ns', 'self_ns', 'gpu_ns', 'gpu_events'):
            c.equal('%s %s' % (g['op'], k), types[g['op']][k], g.get(k, 0))
    linked = golden['correlation'].get('op_by_containment')
    if linked is not None and 'python_function' not in golden['by_cat']:
        c.equal('work with an op', sum(x['gpu_events'] for n, x in types.items() if n not in ('annotation', 'module', '(none)')),
                linked)


def check_groups(c, path, dump, golden):
    """No grouping loses time or work; ops without modules and annotations have the golden numbers too."""
    every = ('host_self', 'device_self', 'kernels')
    for by in ('module', 'op', 'annotation', 'source', 'kernel', 'hlo_category', 'function'):
        status, out, _ = run([os.path.join(ARGS.bin, 'trace_dump'), '--by=' + by, path])
        ops = json.loads(out)['ops'] if status == 0 else []
        c.equal('by ' + by, [sum(o[k] for o in ops) for k in every], [sum(o[k] for o in dump['ops']) for k in every])
        if by == 'op':
            for g in golden['ops_top20']:
                found = [o for o in ops if o['type'] == g['op']]
                c.equal('by op: ' + g['op'], [sum(o['host_runs'] for o in found), sum(o['host_total'] for o in found)],
                        [g['count'], g['total_ns']])


def check_rest(c, dump, slices, golden):
    steps = [s for s in slices if s['category'] == 'step']
    c.equal('steps', sorted((s['start'], s['name'], s['length']) for s in steps),
            sorted((g['b_ns'], g['name'], g['dur_ns']) for g in golden['steps']))
    if golden['steps']:
        c.equal('steps found', len(dump['steps']), len(golden['steps']))
    else:
        c.equal('steps by', dump['steps_by'], 'unknown')
    c.equal('partial overlaps', dump['overlaps'], golden['nesting_partial_overlaps'])
    for key, g in golden.get('memory', {}).items():
        moved = [s['args']['bytes'] for s in sorted(slices, key=lambda s: s['start']) if s['category'] == 'allocation' and
                 s['args'].get('bytes') is not None and
                 '%s:%s' % (s['args'].get('memory_kind'), s['args'].get('device')) == key]
        now = peak = 0
        for b in moved:
            now += b
            peak = max(peak, now)
        c.equal('memory ' + key, [len(moved), sum(b for b in moved if b > 0), now, peak],
                [g['events'], g['allocated_bytes'], g['net_bytes'], g['peak_delta_bytes']])
    if 'sequence' in golden:
        have = [s['args'] for s in slices if 'sequence' in s['args']]
        c.equal('sequence numbers', [len({a['sequence'] for a in have}), len(have),
                                     sum(1 for a in have if a.get('forward_thread'))],
                [golden['sequence'][k] for k in ('numbers', 'ops_with_seq', 'with_fwd_tid_nonzero')])
    frames = [s for s in slices if s['category'] in ('frame', 'module')]
    if 'python' in golden:
        c.equal('frames', len(frames), golden['python']['events'])
        for g in golden['python']['top']:
            found = [s['length'] for s in frames if s['name'] == g['name']]
            c.equal('frame ' + g['name'], [len(found), sum(found)], [g['count'], g['total_ns']])


def outer_calls(slices):
    """Returns {name: ns} of the calls that are not inside another call of their thread. Calls without a length may count as
    inside or not."""
    out, end = collections.Counter(), {}
    for s in sorted((s for s in slices if s['category'] == 'call' and s['form'] == 0), key=lambda s: (s['start'], -s['length'])):
        if s['start'] + s['length'] > end.get(s['track'], -1):
            end[s['track']] = s['start'] + s['length']
            out[s['name']] += s['length']
    return +out


def check_idle(c, path, doc, slices):
    """The causes of idle time of devices and steps equal those of the rule, and add up to the idle time."""
    calls, of = {}, collections.defaultdict(list)
    for s in sorted((s for s in slices if s['category'] == 'call' and s['correlation']), key=lambda s: (s['start'], -s['length'])):
        calls.setdefault(s['correlation'], (s['start'], s['start'] + s['length']))
    work = [s for s in slices if s['form'] == 0 and s['device'] and s['category'] in KIND]
    for s in work:
        of[s['device']].append(idle_rule.Work(s['start'], s['start'] + s['length'], s['track'], 0, calls.get(s['correlation'])))
    found = {}
    for device, rows in of.items():
        waits = [(s['track'], s['start']) for s in slices if s['device'] == device and s['name'] == 'Stream Wait Event']
        found[device] = idle_rule.pieces(rows, waits)
    begin, stop = min(s['start'] for s in slices), max(s['start'] + s['length'] for s in slices)
    for d in doc['devices']:
        c.equal('window', d['window_ns'], stop - begin)
        c.equal('idle causes', idle_rule.row(d), idle_rule.inside(found[d['device']], begin, stop))
        c.equal('idle', [sum(idle_rule.row(d).values()), d['compute_busy_ns'] + d['exposed_communication_ns'] + d['exposed_copy_ns']],
                [d['idle_ns'], d['busy_ns']])
    c.equal('table of idle causes', sum(x['ns'] for x in doc['idle']), sum(d['idle_ns'] for d in doc['devices']))
    for s in json.loads(run([os.path.join(ARGS.bin, 'tfprof'), 'steps', path, '--top=0', '-output', 'json'])[1])['steps']:
        causes = collections.Counter(dict.fromkeys(idle_rule.CAUSES + idle_rule.OUTSIDE, 0))
        for pieces in found.values():
            causes.update(idle_rule.inside(pieces, s['start_ns'], s['start_ns'] + s['duration_ns']))
        c.equal('idle causes of step %s' % s['step'], idle_rule.row(s), dict(causes))
        c.equal('idle of step %s' % s['step'], [s['devices'], s['idle_ns']],
                [len(found), s['devices'] * s['duration_ns'] - s['busy_ns']])


def check_sections(c, path, dump, slices):
    """The causes of idle time add up to it; calls and latencies are complete; a timeline, when read again, gives the same
    numbers."""
    status, out, _ = run([os.path.join(ARGS.bin, 'tfprof'), 'devices', path, '--top=0', '-output', 'json'])
    c.equal('status of devices', status, 0)
    doc = json.loads(out)
    c.equal('gpu', run([os.path.join(ARGS.bin, 'tfprof'), 'gpu', path, '--top=0', '-output', 'json'])[1], out)
    if 'idle' not in doc:
        c.equal('launches', 0, sum(x['kernels'] for x in dump['ops'] if not x['name'].startswith('(unattributed)')))
        return
    check_idle(c, path, doc, slices)
    c.equal('calls', {x['name']: x['total_ns'] for x in doc['calls'] if x['total_ns']}, dict(outer_calls(slices)))
    starts = {}
    for s in sorted((s for s in slices if s['category'] == 'call' and s['correlation']), key=lambda s: s['start']):
        starts.setdefault(s['correlation'], s['start'])
    late = [s['start'] - starts[s['correlation']] for s in slices if s['device'] and s['category'] in KIND and s['correlation'] in starts]
    c.equal('latency', [sum(x['count'] for x in doc['latency']), max((x['max_ns'] for x in doc['latency']), default=0)],
            [sum(x >= 0 for x in late), max(late, default=0)])
    if doc['steps']:
        c.equal('work of steps', [sum(x[k] for x in doc['steps']) for k in ('operations', 'device_ns')],
                [sum(d[k] for d in doc['devices']) for k in ('slices', 'sum_ns')])
    with tempfile.TemporaryDirectory() as where:
        drawn = os.path.join(where, 't')
        run([os.path.join(ARGS.bin, 'tfprof'), path, 'scope', '-output', 'timeline:outfile=' + drawn])
        again = json.loads(run([os.path.join(ARGS.bin, 'tfprof'), 'devices', drawn + '_-1', '--top=0', '-output', 'json'])[1])
        for k in ('devices', 'idle', 'latency', 'communication', 'calls', 'transfers', 'copies', 'launches', 'steps'):
            c.equal('%s of its timeline' % k, again.get(k), doc.get(k))


def check_trace(path, golden):
    c = Check()
    status, out, said = run([os.path.join(ARGS.bin, 'trace_dump'), path])
    c.equal('status of the passes', (status, said), (0, ''))
    dump = json.loads(out) if status == 0 else None
    status, out, said = run([os.path.join(ARGS.bin, 'trace_dump'), '--slices', path])
    c.equal('status', status, 0)
    if dump is None or status:
        return c
    slices = [json.loads(line) for line in out.split('\n') if line]
    check_counts(c, slices, golden)
    check_devices(c, dump, golden)
    check_kernels(c, slices, golden)
    check_ops(c, dump, golden)
    check_groups(c, path, dump, golden)
    check_rest(c, dump, slices, golden)
    check_sections(c, path, dump, slices)
    return c


def check_malformed(path, expected):
    """Damaged files give status 3 with the reason if nothing was read, else the numbers and one note."""
    c = Check()
    kind = (expected['warning'] or '').replace('-', ' ')
    status, out, said = run([os.path.join(ARGS.bin, 'trace_dump'), '--slices', path])
    program, _, told = run([os.path.join(ARGS.bin, 'tfprof'), path, 'op', '-max_depth', '1'])
    nothing = expected['gpu_events'] == 0 or kind == 'unsupported encoding'
    c.equal('status', (status, program), (3, 3) if nothing else (0, 0))
    for text in (said, told):
        text = text.replace(path, '').replace('UTF-8', 'utf8').replace('-', ' ').lower()
        c.equal('notes of the kind', text.count(kind) if kind else 0, 1 if kind else 0)
    if not kind:
        c.equal('notes', said, '')
    if not nothing and expected['kernel_ns'] is not None:
        table = work_table([json.loads(line) for line in out.split('\n') if line])
        sums = collections.Counter()
        for (category, _), v in table.items():
            sums[category] += sum(v)
        c.equal('device work', [sums['kernel'], sums['gpu_memcpy'], sum(len(v) for v in table.values())],
                [expected['kernel_ns'], expected['memcpy_ns'], expected['gpu_events']])
    return c


def cases():
    """Yields (name, function)."""
    for name in ('kineto.json', 'kineto_more.json'):
        path = os.path.join(os.path.join(ARGS.modern, 'golden'), name)
        if os.path.exists(path):
            with open(path) as f:
                for trace, golden in sorted(json.load(f).items()):
                    yield trace, os.path.join(ARGS.realdata, 'kineto', trace), golden, check_trace
    folder = os.path.join(os.path.join(ARGS.modern, 'golden'), 'malformed')
    if os.path.isdir(folder):
        with open(os.path.join(folder, 'expected.json')) as f:
            for name, expected in sorted(json.load(f).items()):
                yield name, os.path.join(folder, name), expected, check_malformed


def main():
    passed = failed = skipped = numbers = 0
    for name, path, golden, check in cases():
        if ARGS.filters and not any(x in name for x in ARGS.filters):
            continue
        if not os.path.exists(path):
            print('skipped: there is no %s' % path)
            skipped += 1
            continue
        c = check(path, golden)
        numbers += c.n
        passed += not c.bad
        failed += bool(c.bad)
        for line in c.bad[:20]:
            print('%s: %s' % (name, line))
    if not passed + failed + skipped:
        print('skipped: GOLDEN has no PyTorch traces')
        skipped = 1
    print('%d numbers' % numbers)
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--bin', default='build/check')
    p.add_argument('--realdata', required=True)
    p.add_argument('--modern')
    p.add_argument('filters', nargs='*')
    ARGS = p.parse_args()
    ARGS.modern = ARGS.modern or os.path.join(os.path.dirname(os.path.abspath(ARGS.realdata)), 'modern')
    sys.exit(main())
