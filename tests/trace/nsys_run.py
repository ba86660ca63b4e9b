#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the tables of generated Nsight Systems exports (devices, idle causes, latencies, calls, kernels, steps) with
independent sums over the rows of the database.

    tests/trace/nsys_run.py --bin build/check [NAME...]
"""
import base64
import collections
import gzip
import json
import os
import random
import re
import sqlite3
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(TESTS), 'check'), TESTS]
import idle_rule  # noqa: E402
import nsys  # noqa: E402
import trace_case  # noqa: E402
from trace_case import check_schema, equal, program  # noqa: E402

KERNEL, COPY, SET = ('CUPTI_ACTIVITY_KIND_' + k for k in ('KERNEL', 'MEMCPY', 'MEMSET'))
COLLECTIVES = ('ncclDevKernel_AllReduce_Sum_f32_RING_LL', 'nvshmemi_put')
SYNC = 'CUPTI_ACTIVITY_KIND_SYNCHRONIZATION'


def call(x, process, name, correlation, start, end):
    x.row('CUPTI_ACTIVITY_KIND_RUNTIME', start=start, end=end, globalTid=nsys.pid(process) | 1, correlationId=correlation,
          nameId=x.string(name + '_v3020'), returnValue=0)


def kernel(x, process, correlation, start, end, name, device, stream):
    x.row(KERNEL, start=start, end=end, deviceId=device, contextId=1, streamId=stream, correlationId=correlation,
          globalPid=nsys.pid(process), demangledName=x.string(name), shortName=x.string(name), registersPerThread=32, gridX=2, gridY=1,
          gridZ=1, blockX=128, blockY=1, blockZ=1, staticSharedMemory=0, dynamicSharedMemory=0)


def export(seed):
    """Writes two processes with equal correlations, each with its own device, three streams with kernels, collectives,
    copies and memsets, and two steps. As in exports of Nsight Systems, work has the device's number on the machine, and
    synchronisation its number in the process."""
    x, r = nsys.Export(), random.Random(seed)
    for table, columns in ((KERNEL, nsys.KERNEL), (COPY, nsys.COPY), (SET, nsys.COPY), (SYNC, nsys.SYNC),
                           ('CUPTI_ACTIVITY_KIND_RUNTIME', nsys.RUNTIME)):
        x.table(table, columns)
    for process in (70, 71):
        device, free, host, correlation = process - 70, {7: 1000, 8: 1000, 9: 1000}, 1000 + 3 * process, 0
        for step in range(2):
            begin = host
            for _ in range(25):
                correlation += 1
                stream, kind = r.choice((7, 8, 9)), r.choice('kkkcmsu')
                start = max(free[stream] + r.choice((0, 0, 10, 4000, 40000)), host + r.choice((5, 500, 20000)))
                end = free[stream] = start + r.randint(1, 30000)
                if r.random() < .3:
                    x.row(SYNC, start=host - 2, end=host - 1, deviceId=0, contextId=1, streamId=stream, correlationId=0,
                          globalPid=nsys.pid(process), syncType=r.choice((2, 2, 3)))
                if kind in 'ku':
                    kernel(x, process, correlation, start, end, r.choice(('gemm', 'relu')), device, stream)
                elif kind == 'c':
                    kernel(x, process, correlation, start, end, r.choice(COLLECTIVES), device, stream)
                else:
                    x.row(COPY if kind == 'm' else SET, start=start, end=end, deviceId=device, contextId=1, streamId=stream,
                          correlationId=correlation, globalPid=nsys.pid(process), bytes=r.randint(1, 10 ** 6), copyKind=r.choice((1, 2, 8)))
                if kind != 'u':  # u: a kernel whose launch is missing
                    name = {'m': 'cudaMemcpyAsync', 's': 'cudaMemsetAsync'}.get(kind, 'cudaLaunchKernel')
                    call(x, process, name, correlation, host, host + 4)
                    x.range(process, 'aten::%s' % r.choice(('mm', 'relu')), host - 1, host + 5)
                host += r.choice((r.randint(10, 9000), r.randint(10, 9000), 90000))  # sometimes the devices become idle
            x.range(process, 'step %d' % (3 + step), begin - 2, host + 2)
            host += 10
    return x.save('a.sqlite')


def union(intervals):
    total, until = 0, None
    for start, end in sorted(intervals):
        if until is None or start > until:
            total, until = total + end - start, end
        elif end > until:
            total, until = total + end - until, end
    return total


def work(path):
    """Returns the rows of device work as dictionaries, with the start of the launch or None."""
    db = sqlite3.connect(path)
    names = dict(db.execute('SELECT id, value FROM StringIds'))
    calls = {(tid & ~0xffffff, c): (start, end) for tid, c, start, end in db.execute(
        'SELECT globalTid, correlationId, start, "end" FROM CUPTI_ACTIVITY_KIND_RUNTIME')}
    out = []
    for table in (KERNEL, COPY, SET):
        text = 'demangledName' if table == KERNEL else 'NULL'
        size = 'bytes' if table != KERNEL else '0'
        for start, end, device, stream, pid, c, name, n in db.execute(
                'SELECT "start", "end", deviceId, streamId, globalPid, correlationId, %s, %s FROM %s' % (text, size, table)):
            kind = 'copy' if table != KERNEL else 'communication' if names[name] in COLLECTIVES else 'compute'
            out.append({'at': (start, end), 'device': device, 'stream': stream, 'kind': kind, 'bytes': n, 'table': table,
                        'name': names.get(name), 'call': calls.get((pid, c)), 'launch': calls.get((pid, c), (None,))[0], 'pid': pid})
    db.close()
    return out


def idle(rows, path):
    """Returns the pieces of idle time of a device."""
    db = sqlite3.connect(path)
    waits = db.execute('SELECT globalPid, streamId, "start" FROM %s WHERE syncType = 2' % SYNC).fetchall()
    db.close()
    return idle_rule.pieces([idle_rule.Work(*w['at'], w['stream'], w['pid'], w['call']) for w in rows],
                            [(stream, at) for pid, stream, at in waits if pid == rows[0]['pid']])


def window(path):
    """Returns the first and the last time of all rows of the file."""
    db, times = sqlite3.connect(path), []
    for table, in db.execute('SELECT name FROM sqlite_master WHERE type = "table"').fetchall():
        columns = [r[1] for r in db.execute('PRAGMA table_info(%s)' % table)]
        if table.startswith(('CUPTI_ACTIVITY', 'NVTX', 'OSRT')) and 'start' in columns:
            times += db.execute('SELECT min("start"), max(coalesce(%s, "start")) FROM %s WHERE "start" IS NOT NULL' % (
                '"end"' if 'end' in columns else '"start"', table)).fetchall()
    db.close()
    return min(t[0] for t in times if t[0] is not None), max(t[1] for t in times if t[1] is not None)


def document(command, path, *words):
    doc = json.loads(program(command, path, '-output', 'json', '--top=0', *words)[0])
    check_schema(command, doc)
    return doc


def synchronised_devices():
    """Synchronisation of a stream without work is on the only device of its process, although it has another number there."""
    x = nsys.Export()
    for table, columns in ((KERNEL, nsys.KERNEL), (SYNC, nsys.SYNC), ('CUPTI_ACTIVITY_KIND_RUNTIME', nsys.RUNTIME)):
        x.table(table, columns)
    for process in (70, 71):
        call(x, process, 'cudaLaunchKernel', 1, 1000, 1004)
        kernel(x, process, 1, 1010, 1100, 'gemm', process - 70, 7)
        for stream in (32, 4294967295):
            x.row(SYNC, start=1100, end=1110, deviceId=0, contextId=1, streamId=stream, correlationId=2, globalPid=nsys.pid(process), syncType=3)
    path = x.save('a.sqlite')
    program('report', path, '-o', 'r.html')
    with open('r.html') as f:
        text = re.search(r'<script id="data"[^>]*>\s*([A-Za-z0-9+/=\s]+)</script>', f.read()).group(1)
    tracks = next(d['document']['tracks'] for d in json.loads(gzip.decompress(base64.b64decode(text)))['documents'] if d['name'] == 'slices')
    found = sorted((t['process'], t['device'], t['name']) for t in tracks if t['device'])
    equal(found, [('process %d' % p, 'gpu:%d' % (p - 70), name) for p in (70, 71) for name in ('all streams', 'stream 32', 'stream 7')])


def devices():
    """Busy, compute, communication, copy, overlap and idle times of each device are unions of its rows."""
    for seed in range(5):
        path = export(seed)
        found = {r['device']: r for r in document('devices', path)['devices']}
        equal(sorted(found), ['gpu:0', 'gpu:1'], seed)
        for device in range(2):
            rows, r = [w for w in work(path) if w['device'] == device], found['gpu:%d' % device]
            at = {k: [w['at'] for w in rows if k in ('all', w['kind'])] for k in ('all', 'compute', 'communication', 'copy')}
            span = max(end for _, end in at['all']) - min(start for start, _ in at['all'])
            both = union(at['compute']) + union(at['communication']) - union(at['compute'] + at['communication'])
            begin, stop = window(path)
            expected = {'kind': 'gpu', 'window_ns': stop - begin, 'span_ns': span, 'busy_ns': union(at['all']),
                        'idle_ns': stop - begin - union(at['all']),
                        'compute_busy_ns': union(at['compute']), 'communication_busy_ns': union(at['communication']),
                        'copy_busy_ns': union(at['copy']), 'communication_compute_overlap_ns': both, 'slices': len(rows),
                        'copy_bytes': sum(w['bytes'] for w in rows if w['table'] == COPY),
                        'sum_ns': sum(end - start for start, end in at['all'])}
            expected['exposed_communication_ns'] = union(at['compute'] + at['communication']) - union(at['compute'])
            expected['exposed_copy_ns'] = union(at['all']) - union(at['compute'] + at['communication'])
            equal({k: r[k] for k in expected}, expected, (seed, device))
            causes = idle_rule.inside(idle(rows, path), begin, stop)
            equal(idle_rule.row(r), causes, (seed, device))
        os.unlink(path)


def sections():
    """Idle causes add up to the idle time. Latencies and calls match the rows. Hidden communication equals the
    overlap."""
    for seed in range(5):
        path = export(seed)
        doc, all_work = document('devices', path), work(path)
        for i, d in enumerate(doc['devices']):
            equal(sum(r['ns'] for r in doc['idle'] if r['gpu'] == i), d['idle_ns'], seed)
            delays = [w['at'][0] - w['launch'] for w in all_work if w['device'] == i and w['launch'] is not None]
            r, = [r for r in doc['latency'] if r['gpu'] == i]
            equal((r['count'], r['max_ns']), (len(delays), max(delays)), seed)
            r, = [r for r in doc['communication'] if r['gpu'] == i]
            equal((r['total_ns'], r['hidden_ns']), (d['communication_busy_ns'], d['communication_compute_overlap_ns']), seed)
        db = sqlite3.connect(path)
        calls = {n.split('_v')[0]: (count, total) for n, count, total in db.execute(
            'SELECT value, COUNT(*), SUM("end" - "start") FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId GROUP BY value')}
        db.close()
        equal({r['name']: (r['count'], r['total_ns']) for r in doc['calls']}, calls, seed)
        os.unlink(path)


def longest_op(path, name, device):
    """Returns the path of a kernel: the range around its launches that has the most time, and the kernel."""
    db = sqlite3.connect(path)
    ranges = db.execute('SELECT globalTid & ~0xffffff, "start", "end", text FROM NVTX_EVENTS WHERE text LIKE "aten::%"').fetchall()
    db.close()
    times = {}
    for w in work(path):
        if (w['name'], 'gpu:%d' % w['device']) == (name, device):
            around = [t for pid, s, e, t in ranges if w['launch'] is not None and pid == w['pid'] and s <= w['launch'] < e]
            op = (around or ['(unattributed)'])[0] + '/' + name
            times[op] = times.get(op, 0) + w['at'][1] - w['at'][0]
    return max(times, key=times.get)


def kernels():
    """Count, total, minimum and maximum of each kernel, copy and memset match the rows, per device. Shares add up."""
    for seed in range(5):
        path = export(seed)
        found = {}
        doc = document('kernels', path)
        for r in doc['kernels']:
            name = r['name'] if r['category'] in ('kernel', 'communication') else r['category']
            row = found.setdefault((name, r['device']), [0, 0, 1 << 62, 0])
            found[name, r['device']] = [row[0] + r['count'], row[1] + r['total_ns'], min(row[2], r['min_ns']), max(row[3], r['max_ns'])]
        expected = {}
        for w in work(path):
            key = (w['name'] or ('copy' if w['table'] == COPY else 'set'), 'gpu:%d' % w['device'])
            n, row = w['at'][1] - w['at'][0], expected.setdefault(key, [0, 0, 1 << 62, 0])
            expected[key] = [row[0] + 1, row[1] + n, min(row[2], n), max(row[3], n)]
        equal(found, expected, seed)
        totals = [r['total_ns'] for r in doc['kernels']]
        equal(totals, sorted(totals, reverse=True), seed)
        assert abs(sum(r['share'] for r in doc['kernels']) - 100) < .005 * len(totals) + 1e-9, seed
        for r in doc['kernels']:
            if r['category'] == 'kernel':
                equal(r['op'], longest_op(path, r['name'], r['device']), seed)
        os.unlink(path)


def steps():
    """A step has the interval of the longest of its ranges. Its times are those of each device in the step, summed; idle
    time and its causes, too."""
    for seed in range(5):
        path = export(seed)
        db = sqlite3.connect(path)
        ranges = {}
        for text, start, end in db.execute('SELECT text, "start", "end" FROM NVTX_EVENTS WHERE text LIKE "step %"'):
            if end - start > ranges.get(text, (0, 0))[1] - ranges.get(text, (0, 0))[0]:
                ranges[text] = (start, end)
        db.close()
        found = document('steps', path)['steps']
        equal([(r['step'], r['duration_ns']) for r in found], [(int(n[5:]), e - s) for n, (s, e) in sorted(ranges.items())], seed)
        for r in found:
            begin, stop = ranges['step %d' % r['step']]
            expected, causes = collections.Counter(devices=2), collections.Counter()
            for device in range(2):
                rows = [w for w in work(path) if w['device'] == device]
                inside = [(max(w['at'][0], begin), min(w['at'][1], stop), w['kind']) for w in rows
                          if w['at'][0] < stop and w['at'][1] > begin]
                times = {k: union([(s, e) for s, e, kind in inside if not k or kind in k])
                         for k in ((), ('compute',), ('communication',), ('copy',), ('compute', 'communication'))}
                expected.update(busy_ns=times[()], idle_ns=stop - begin - times[()], slices=len(inside),
                                exposed_copy_ns=times[()] - times['compute', 'communication'],
                                exposed_communication_ns=times['compute', 'communication'] - times['compute',],
                                communication_compute_overlap_ns=times['compute',] + times['communication',] -
                                times['compute', 'communication'])
                expected.update({k + '_busy_ns': times[k,] for k in ('compute', 'communication', 'copy')})
                causes.update(idle_rule.inside(idle(rows, path), begin, stop))
            equal({k: r[k] for k in expected}, dict(expected), (seed, r['step']))
            equal(idle_rule.row(r), dict(causes), (seed, r['step']))
            equal(sum(causes.values()), r['idle_ns'], (seed, r['step']))
        os.unlink(path)


def ranges():
    """The work, count and host time of each NVTX range match the rows. Steps are not ranges."""
    for seed in range(5):
        path = export(seed)
        expected = {}
        db = sqlite3.connect(path)
        for tid, start, end, name in db.execute('SELECT globalTid, "start", "end", text FROM NVTX_EVENTS WHERE text LIKE "aten::%"'):
            own = [w['at'][1] - w['at'][0] for w in work(path)
                   if w['launch'] is not None and w['pid'] == tid & ~0xffffff and start <= w['launch'] < end]
            row = expected.setdefault(name.replace('::', '.'), [0, 0, 0, 0, 0])
            expected[name.replace('::', '.')] = [a + b for a, b in zip(row, [sum(own), sum(own), len(own), end - start, 1])]
        db.close()
        equal({r['path']: [r[k] for k in ('total_ns', 'own_ns', 'operations', 'host_ns', 'count')]
               for r in document('devices', path)['ranges']}, expected, seed)
        os.unlink(path)


SLEEPS, PREEMPTED = 2, 1        # of ENUM_SAMPLING_THREAD_STATE


def switched(rows, name, columns='start cpu isSchedIn globalTid threadState'):
    """Writes an export of one thread with calls from 1,000 to 1,005 ns and from 9,000 to 9,500 ns, of which the second one waits from
    20,000 to 30,000 ns, and switches of threads (thread, time, gets a CPU, state)."""
    x = nsys.Export()
    x.launch(70, 1, 1000, 1100, 1300)
    x.launch(70, 2, 9000, 9600, 29000)
    call(x, 70, 'cudaDeviceSynchronize', 3, 20000, 30000)
    x.table('SCHED_EVENTS', columns)
    for thread, at, gets, state in rows:
        x.row('SCHED_EVENTS', start=at, cpu=1, isSchedIn=gets, globalTid=nsys.pid(70) | thread, threadState=state)
    return x.save(name)


def switches():
    """A thread that is preempted has no CPU until it gets one, in any order of the rows; a thread that sleeps, a thread without other
    slices, and a time inside a call that waits do not count. Without the states, the table is not used."""
    rows = [(1, 3000, 0, PREEMPTED), (1, 5000, 1, 0), (1, 6000, 0, SLEEPS), (1, 7000, 1, 0), (9, 1000, 0, PREEMPTED), (9, 8000, 1, 0),
            (1, 21000, 0, PREEMPTED), (1, 25000, 1, 0), (1, 40000, 0, PREEMPTED)]
    for name, order in (('forth', rows), ('back', rows[::-1])):
        path = switched(order, name + '.sqlite')
        found = [(s['start_ns'], s['duration_ns'], s['kind']) for s in document('critical', path)['segments'] if s['name'] == '(preempted)']
        equal(found, [(3000, 2000, 'wait')])
        cause, = [c for c in document('why', path)['causes'] if c['id'] == 'host_contention']
        equal((cause['cost_ns'], cause['saved_ns'], cause['where'][0]['name']), (2000, 2000, '(preempted)'))
        equal([(c['cause'], p['ns']) for c in document('idle', path)['devices'][0]['causes'] for p in c['places'] if p['name'] == '(preempted)'],
              [('host_blocked', 2000)])
        assert 'host_contention' not in {g['id'] for g in document('why', path)['not_judged']}
    path = switched(rows, 'bare.sqlite', 'start cpu isSchedIn globalTid')
    assert '--cpuctxsw=process-tree' in program('why', path, '--cause=host_contention')[0]
    assert 'events that are not used: SCHED_EVENTS (9)' in program('why', path)[1]


def text():
    """The text tables show the same numbers."""
    path = export(1)
    out, _ = program('devices', path)
    for title in ('Why GPUs were idle:', 'Time from a call to the start of its work:', 'Communication', 'CUDA API calls:'):
        assert title in out, out
    assert 'cudaLaunchKernel' in out and 'gpu:1' in out, out
    out, _ = program('steps', path)
    assert 'are sums over the 2 devices\n' in out and '\nTime per step:\n' in out and '\ngpu:1 ' in out, out
    x = nsys.Export()  # without steps
    for device in (0, 1):
        x.launch(70, device + 1, 1000 + 10 * device, 1100, 1300 + 50 * device, device=device)
    out, _ = program('steps', x.save('unmarked.sqlite'))
    assert 'are sums over the 2 devices\n' in out and '\nTime per device:\n' in out and '\ngpu:1 ' in out, out
    equal(len(program('kernels', path, '-output', 'csv', '--top=0')[0].splitlines()) - 1, document('kernels', path)['row_count'])


def inputs():
    """The sizes in the ranges of emit_nvtx(record_shapes=True) give float operations; settings and types are not in the file."""
    x = nsys.Export()
    sizes = '[[2, 4, 9, 9], [6, 4, 3, 3], [6], [], [], [], [], [], []]'
    for i, text in enumerate(('aten::addmm, op_id = 1, sizes = [[7], [4, 5], [5, 7], [], []]', 'aten::convolution, op_id = 2, sizes = ' + sizes,
                              'aten::relu_, op_id = 3, sizes = [[2, 6, 7, 7]]', 'aten::mystery, op_id = 4, sizes = [[2]]')):
        x.range(70, text, 1000 * i + 1000, 1000 * i + 1900)
        x.launch(70, i + 1, 1000 * i + 1100, 1000 * i + 2000, 1000 * i + 2100)
    path = x.save('inputs.sqlite')
    d = document('flops', path)
    equal({r['op']: r['flops'] for r in d['ops']}, {'aten::addmm': 2 * 4 * 5 * 7, 'aten::convolution': 2 * (2 * 6 * 7 * 7) * (4 * 3 * 3),
                                                    'aten::relu_': 2 * 6 * 7 * 7})
    equal(([(r['op'], r['reason']) for r in d['uncounted']], d['coverage'], d['inferred_calls']), ([('aten::mystery', 'no formula')], 0.75, 1))
    os.unlink(path)


CASES = [inputs, synchronised_devices, devices, sections, kernels, steps, ranges, switches, text]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES, sqlite=CASES))
