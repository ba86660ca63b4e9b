# SPDX-License-Identifier: Apache-2.0
"""Checks that commands which print the same word print the same number. Each check takes an Input of run.py."""
import base64
import csv
import gzip
import io
import json
import os
import re
import shutil
import subprocess
from decimal import Decimal
from fractions import Fraction

import cases

QUESTIONS = {'devices': 'devices', 'kernels': 'kernels --top=0', 'steps': 'steps --top=0', 'flops': 'flops --top=0', 'roofline': 'roofline --top=0',
             'phases': 'phases', 'why': 'why', 'whatif': 'what-if host*1', 'critical': 'critical', 'memory': 'memory --top=0', 'idle': 'idle',
             'summary': 'summary', 'top': 'top -n 0', 'op': 'op -max_depth 1000000 -select accelerator_micros,self_micros,occurrence,float_ops,kernels'}
PARTS = ('compute_ns', 'exposed_communication_ns', 'exposed_copy_ns', 'idle_ns')
UNITS = {'ns': 1, 'us': 1000, 'ms': 10**6, 's': 10**9}


def answers(x):
    """Returns {command: document} of an input, for the commands that answer."""
    if not hasattr(x, 'words'):
        x.ask(*['%s -output json:outfile=word_%s.json' % (line, name) for name, line in QUESTIONS.items()])
        x.words = {name: x.answer('word_%s.json' % name) for name in QUESTIONS}
    return x.words


def needs(x, *names):
    """Returns the documents of commands. Ends the check if one of them does not answer."""
    docs = [answers(x)[n] for n in names]
    if not all(docs):
        raise x.Nothing('no answer of ' + names[[not d for d in docs].index(True)])
    return docs if len(docs) > 1 else docs[0]


def off(found, expected, by, what):
    if abs(Fraction(found) - Fraction(expected)) > by:
        raise AssertionError('%s: %s, expected %s' % (what, found, expected))


def means_of_kernels(x):
    """A kernel has the same total, number, mean, shortest and longest run in kernels and in the table of devices, and its mean is
    the total divided by the number."""
    kernels, devices = needs(x, 'kernels', 'devices')
    for r in kernels['kernels']:
        off(r['mean_ns'] * r['count'], r['total_ns'], Fraction(r['count'] + 1, 2), 'mean of ' + r['name'])
        assert r['min_ns'] <= r['mean_ns'] + 1 and r['mean_ns'] <= r['max_ns'] + 1, r
    whole = sum(r['total_ns'] for r in kernels['kernels'])
    for r in kernels['kernels']:
        off(r['share'], 100 * Fraction(r['total_ns'], whole or 1), Fraction(1, 100), 'share of ' + r['name'])
    named = {}
    for r in kernels['kernels']:
        if r['category'] in ('kernel', 'communication', 'op'):
            n, total, least, most = named.get(r['name'], (0, 0, r['min_ns'], r['max_ns']))
            named[r['name']] = (n + r['count'], total + r['total_ns'], min(least, r['min_ns']), max(most, r['max_ns']))
    for r in devices.get('kernels', []):
        if r['name'] in named:
            n, total, least, most = named[r['name']]
            cases.equal((r['count'], r['min_ns'], r['max_ns']), (n, least, most), 'kernel of devices: ' + r['name'])
            off(r['total_ns'], total, 1 + n, 'kernel of devices: ' + r['name'])  # devices adds up whole nanoseconds
            off(r['mean_ns'] * r['count'], r['total_ns'], Fraction(r['count'] + 1, 2), 'mean in devices of ' + r['name'])


def steps_of_devices(x):
    """The rows of steps add up to the average step of each device, and the table of devices has the lengths of the same steps."""
    steps, devices = needs(x, 'steps', 'devices')
    rows = steps['steps']
    cases.equal(steps.get('step_time'), devices.get('step_time'), 'step_time of steps and devices')
    if len({r.get('worker') for r in rows}) > 1 or not steps['step_time']:
        raise x.Nothing('several workers')
    for r in rows:
        parts = r['compute_busy_ns'] + r['exposed_communication_ns'] + r['exposed_copy_ns']
        cases.equal(parts, r['busy_ns'], 'busy of step %s' % r['step'])
        off(r['busy_ns'] + r['idle_ns'], r['duration_ns'] * r['devices'], r['devices'], 'parts of step %s' % r['step'])
    counted = [r for r in rows if r['busy_ns']] or rows
    left_out = steps['step_time'][0]['steps_left_out']
    counted = counted if left_out else rows
    for key, name in zip(PARTS, ('compute_busy_ns', *PARTS[1:])):
        found = sum(r[key] * r['steps'] for r in steps['step_time'])
        off(found, sum(r[name] for r in counted), 2 * len(rows) * len(steps['step_time']), 'sum of ' + key)
    marked = {str(r['step']): r['duration_ns'] for r in rows}
    for r in devices.get('steps', []):
        if r['label'] in marked and len({k['label'] for k in devices['steps']}) == len(devices['steps']):
            cases.equal(r['time_ns'], marked[r['label']], 'time of step %s in devices' % r['label'])


def windows_of_steps(x):
    """With -step N, devices and idle have the row of steps; kernels, op and top have one device time; the numbers of the kernels of
    all steps add up to at most those of the file."""
    steps, kernels = needs(x, 'steps', 'kernels')
    rows = steps['steps']
    if not steps.get('step_time') or not x.tables['summary']['step_time'][0]['marked'] or len(x.tables['summary']['step_time']) > 1:
        raise x.Nothing('no marked steps')
    count = 0
    chosen = rows if len(rows) <= 12 else rows[:2] + rows[-2:]
    x.ask(*['%s -step %d -output json:outfile=one_%s_%d.json' % (line, r['step'], name, r['step']) for r in chosen for name, line in (
        ('devices', 'devices'), ('idle', 'idle'), ('kernels', 'kernels --top=0'), ('op', QUESTIONS['op']), ('top', 'top -n 0'), ('steps', 'steps'))])
    for r in chosen:
        devices, idle, work, op, top, one = (x.answer('one_%s_%d.json' % (name, r['step'])) for name in ('devices', 'idle', 'kernels', 'op', 'top', 'steps'))
        cases.equal([{k: s[k] for k in s if k != 'start_ns'} for s in one['steps']], [{k: r[k] for k in r if k != 'start_ns'}], 'steps -step %s' % r['step'])
        if not devices or not devices['devices']:
            continue
        for name, key in (('busy_ns', 'busy_ns'), ('idle_ns', 'idle_ns'), ('compute_busy_ns', 'compute_busy_ns'), ('exposed_copy_ns', 'exposed_copy_ns')):
            off(sum(d[name] for d in devices['devices']), r[key], len(devices['devices']), '%s of step %s in devices' % (name, r['step']))
        if idle:
            cases.equal([(d['window_ns'], d['idle_ns']) for d in idle['devices']], [(d['window_ns'], d['idle_ns']) for d in devices['devices']], 'idle -step')
        total = sum(k['total_ns'] for k in work['kernels']) if work else 0
        off(Fraction(op['total']['accelerator_micros'] or 0) * 1000, total, 2 * len(work['kernels'] if work else []) + 1, 'device time of step %s in op' % r['step'])
        if top and 'total' in top and top['metric'] == 'accelerator_micros':
            off(Fraction(top['total']) * 1000, total, 2 * len(work['kernels']) + 1, 'device time of step %s in top' % r['step'])
        count += sum(k['count'] for k in work['kernels']) if work else 0
    assert count <= sum(k['count'] for k in kernels['kernels']), count


def partition_of_replay(x):
    """An empty change of what-if has the step time of summary; its parts before and after are equal, and add up to the window of
    the path; kinds of the path add up to it."""
    change, why = needs(x, 'whatif', 'why')
    cases.equal(change['before_ns'], change['after_ns'], 'empty change')
    cases.equal((change['step_ns'], change['before_ns']), (why['step_ns'], why['window_ns']), 'window of why')
    by = {}
    for r in change['partition']:
        cases.equal(r['before_ns'], r['after_ns'], 'part %s' % r['part'])
        by[r['device']] = by.get(r['device'], 0) + r['before_ns']
    for device, ns in by.items():
        off(ns, change['before_ns'], 1, 'parts of ' + device)
    off(sum(r['before_ns'] for r in change['path']), change['before_ns'], 1, 'kinds of the path')
    for c in why['causes']:
        assert c['saved_ns'] <= why['window_ns'], c
    off(why['busy'], Fraction(sum(r['before_ns'] for r in change['partition'] if r['part'] != 'idle'), len(by) * change['before_ns'] or 1), Fraction(1, 1000), 'busy of why') if by else None


def counted_work(x):
    """flops, roofline and kernels have the same device time; families, ops and steps of flops add up; roofline has the float
    operations of flops."""
    flops = needs(x, 'flops')
    if 'families' not in flops:
        raise x.Nothing('several files')
    cases.equal(sum(r['flops'] or 0 for r in flops['families']), flops['flops'], 'families')
    if flops.get('device_ns'):
        families = sum(r['device_ns'] for r in flops['families'])
        off(families, flops['covered_ns'], len(flops['families']) + 1, 'device time of families')
        off(families + sum(r['device_ns'] for r in flops['uncounted']), flops['device_ns'], len(flops['uncounted']) + len(flops['families']) + 1, 'device time')
        off(sum(r['device_ns'] for r in flops['ops']), flops['covered_ns'], len(flops['ops']) + flops['device_ns'], 'device time of ops')
        off(flops['coverage'], Fraction(flops['covered_ns'], flops['device_ns']), Fraction(1, 10**6), 'coverage')
        kernels = answers(x)['kernels']
        if kernels and not x.truncated:
            off(sum(r['total_ns'] for r in kernels['kernels']), flops['device_ns'], 2 * len(kernels['kernels']) + 1, 'device time of kernels')
    for key, whole in (('share', flops['flops']),):
        for r in flops['ops']:
            off(r[key], 100 * Fraction(r['flops'] or 0, whole or 1), Fraction(1, 100), 'share of ' + r['op'])
    covered = answers(x)['summary'].get('float_ops_coverage') if answers(x)['summary'] else None
    if covered:
        cases.equal((covered['device_ns'], covered['covered_ns']), (flops['device_ns'], flops['covered_ns']), 'coverage of summary')
    roofline = answers(x)['roofline']
    if roofline and roofline.get('device_ns') and flops.get('device_ns'):
        cases.equal((roofline['device_ns'], roofline['covered_ns']), (flops['device_ns'], flops['covered_ns']), 'coverage of roofline')
        times = sum(r['time_ns'] or 0 for r in roofline['roofline'])  # without copies and communication
        assert times <= flops['device_ns'] + len(roofline['roofline']), (times, flops['device_ns'])
    if flops['by_step'] and all(r['product_flops'] is not None for r in flops['by_step']):
        products = sum(r['flops'] for r in flops['families'] if r['family'] in ('matrix products', 'convolutions', 'attention', 'mixtures of experts', 'recurrent cells'))
        assert sum(r['product_flops'] for r in flops['by_step']) <= flops['flops'], (products, flops['flops'])
        if flops['by_phase']:
            cases.equal(sum(r['product_flops'] or 0 for r in flops['by_phase']), sum(r['product_flops'] for r in flops['by_step'] if r['phase']), 'products by phase')


def steps_by_phase(x):
    """The phases have all steps of a server: their numbers add up, and so do the times of the steps."""
    phases, steps = needs(x, 'phases', 'steps')
    rows = phases['phases']
    if 'phase' not in rows[0]:
        raise x.Nothing('no phases')
    durations = {r['step']: r['duration_ns'] for r in steps['steps']}
    assert sum(r['steps'] for r in rows) <= len(durations), rows
    if sum(r['steps'] for r in rows) == len(durations):
        off(sum(r['step_mean_ns'] * r['steps'] for r in rows), sum(durations.values()), len(durations), 'times of phases')
        flops = answers(x)['flops']
        if flops and flops['by_phase']:
            found = {r['phase']: (r['steps'], r['duration_ns']) for r in flops['by_phase']}
            for r in rows:
                if r['phase'] in found:
                    cases.equal(found[r['phase']][0], r['steps'], 'steps of ' + r['phase'])
                    off(found[r['phase']][1], r['step_mean_ns'] * r['steps'], r['steps'], 'time of ' + r['phase'])


def hottest(x):
    """The first rows of summary are those of top and op, with the same calls and means; a mean times the calls is the time."""
    summary, top, op = needs(x, 'summary', 'top', 'op')
    types = {r['path']: r for r in op['rows']}
    nodes = {r['path']: r for r in top['nodes']}
    for r in summary['ops']:
        same = types.get(r['path'])
        if same and r.get('own_accelerator_micros') is not None:
            off(r['own_accelerator_micros'], same['own_accelerator_micros'], Fraction(1, 1000), 'time of ' + r['path'])
            off(r['calls'] or 0, same['own_occurrence'] or 0, Fraction(1, 1000), 'calls of ' + r['path'])
    for r in summary['nodes']:
        if r['path'] in nodes:
            for k in r:
                cases.equal(r[k], nodes[r['path']][k], '%s of %s' % (k, r['path']))
    for r in summary['ops'] + top['nodes']:
        metric = next((k[4:] for k in r if k.startswith('own_')), None)
        if r.get('mean_' + metric) is not None and r['calls']:
            off(r['mean_' + metric] * r['calls'], r['own_' + metric], Fraction(r['calls']) / 100 + Fraction(1, 100), 'mean of ' + r['path'])


def looked_at(x):
    """peek has the time and the runs that the views have for a name; its steps, callers, kernels and lines add up."""
    op = needs(x, 'op')
    if not x.is_trace:
        raise x.Nothing('no trace')
    rows = [r for r in op['rows'] if r['parent'] is not None or r['path'] != '_TFProfRoot']
    rows = sorted(rows, key=lambda r: -(r.get('own_accelerator_micros') or 0))[:4]
    x.ask(*['peek %s --top=0 -output json:outfile=peek_%d.json' % (quoted(r['path']), i) for i, r in enumerate(rows)])
    for i, r in enumerate(rows):
        doc = x.answer('peek_%d.json' % i)
        if not doc or doc.get('name') != r['path'] or len(doc['names']) != 1:
            continue
        time = next((k for k in ('accelerator_micros', 'self_micros', 'cpu_micros') if k in doc['names'][0]), None)
        whole = doc['names'][0][time]
        steps = [s[time] for s in doc['steps']]
        if steps and len(doc['steps']) == len({(s.get('worker'), s['step']) for s in doc['steps']}):
            off(sum(steps) / len(steps), whole, Fraction(1, 500), 'steps of peek ' + r['path'])
        if doc['callers']:
            off(sum(c[time] for c in doc['callers']), whole, Fraction(len(doc['callers']), 500), 'callers of ' + r['path'])
        for k in doc['kernels'] + doc['callees']:
            assert any(k.get(m) for m in ('accelerator_micros', 'self_micros', 'cpu_micros', 'runs')), 'peek %s lists %s without a number' % (r['path'], k['name'])


def quoted(name):
    return "'" + name.replace("'", "'\\''") + "'"


def live_memory(x):
    """The live set of each pool adds up to its bytes, its largest use is at most its peak, and summary has the peak of the largest."""
    memory = needs(x, 'memory')
    if 'memory' not in memory:
        raise x.Nothing('no pools')
    for i, p in enumerate(memory['memory']):
        live = [r for r in memory['live'] if all(r.get(k) == p.get(k) for k in ('worker', 'device', 'allocator'))]
        if p['live_bytes'] is not None and live:
            cases.equal(sum(r['bytes'] for r in live), p['live_bytes'], 'live set of %s' % p['allocator'])
            for r in live:
                off(r['share'], 100 * Fraction(r['bytes'], p['live_bytes'] or 1), Fraction(1, 100), 'share of %s' % r['op'])
        if i < len(memory['use']) and memory['use'][i]['bytes']:
            most = max(memory['use'][i]['bytes'])
            assert most <= p['peak_bytes'], (most, p)
            if p['peak_at_ns'] is not None:
                cases.equal(most, p['peak_bytes'], 'largest use of %s' % p['allocator'])


def text_of(x):
    """The text of summary, steps and kernels has the numbers of their JSON documents, rounded to the shown digits."""
    summary = needs(x, 'summary')
    x.ask('summary -output file:outfile=summary.txt', 'steps --top=0 -output csv:outfile=steps.csv', 'kernels --top=0 -output csv:outfile=kernels.csv',
          'kernels --top=3 -output file:outfile=kernels.txt')
    with open(os.path.join(x.made, 'summary.txt')) as f:
        text = f.read()
    for d in summary['devices']:
        found = re.search(re.escape(d['name']) + r' busy ([\d.]+)(ns|us|ms|s) \(([\d.]+)%\), idle ([\d.]+)(ns|us|ms|s)', text)
        if found and d['window_ns']:
            off(shown(found[1], found[2]), d['busy_ns'], digit(found[1], found[2]), 'busy in text')
            off(shown(found[4], found[5]), d['idle_ns'], digit(found[4], found[5]), 'idle in text')
            off(Fraction(found[3]), 100 * Fraction(d['busy_ns'], d['window_ns']), Fraction(1, 10), 'share of busy')
    wall = summary['step_time'][0] if len(summary['step_time']) == 1 else None
    if wall:
        found = re.search(r'^step time ([\d.]+)(ns|us|ms|s)\b', text, re.M)
        off(shown(found[1], found[2]), wall['mean_ns'], digit(found[1], found[2]), 'step time in text')
    for name in ('steps', 'kernels'):
        path, doc = os.path.join(x.made, name + '.csv'), answers(x)[name]
        if doc and os.path.exists(path):
            with open(path) as f:
                rows = list(csv.DictReader(io.StringIO(f.read())))
            cases.equal(len(rows), len(doc[name]), 'rows of ' + name)
            for a, b in zip(rows, doc[name]):
                cases.equal({k: v for k, v in a.items() if k.endswith('_ns')}, {k: '' if v is None else str(v) for k, v in b.items() if k.endswith('_ns')}, 'csv of ' + name)
    doc, path = answers(x)['kernels'], os.path.join(x.made, 'kernels.txt')
    if doc and len(doc['kernels']) > 3 and os.path.exists(path):
        with open(path) as f:
            last = [line for line in f.read().splitlines() if ' rows' in line]
        assert last and '(3 of %d rows' % len(doc['kernels']) in last[-1], (last, len(doc['kernels']))


def two_workers(x):
    """A trace and a copy of it, as two workers: tables have the rows of both, averages are those of one, flops has a row for each."""
    kernels, devices, steps, op, summary = needs(x, 'kernels', 'devices', 'steps', 'op', 'summary')
    if os.path.getsize(x.path) > 4 << 20 or x.name.endswith('.tfspool') or len(summary['step_time']) != 1 or not devices.get('devices'):
        raise x.Nothing('large, or several workers')
    copies, captures = [], os.path.join(os.path.dirname(x.path), 'capture_traces')
    if os.path.isdir(captures) and not os.path.exists(os.path.join(x.made, 'capture_traces')):
        os.symlink(captures, os.path.join(x.made, 'capture_traces'))
    for name in ('left', 'right'):
        copies.append(os.path.join(x.made, name + '.' + x.name.partition('.')[2]))
        shutil.copy(x.path, copies[-1])
    script = ['%s -output json:outfile=two_%s.json' % (QUESTIONS[name], name) for name in ('kernels', 'devices', 'steps', 'op', 'summary', 'flops')]
    p = subprocess.run([x.program, *copies, '-quiet'], input='\n'.join(script).encode() + b'\n', capture_output=True, cwd=x.made)
    assert p.returncode in (0, 1), p.stderr.decode()[-400:]
    for name, one, fields in (('kernels', kernels, ('total_ns', 'count')), ('devices', devices, ('window_ns', 'busy_ns', 'idle_ns', 'copy_bytes', 'slices')),
                              ('steps', steps, ('duration_ns', 'busy_ns', 'idle_ns'))):
        both = x.answer('two_%s.json' % name)
        for field in fields:
            cases.equal(sum(r[field] or 0 for r in both[name]), 2 * sum(r[field] or 0 for r in one[name]), '%s of two workers in %s' % (field, name))
    both = x.answer('two_op.json')
    for metric, v in op['total'].items():
        if metric != 'uncounted' and v is not None:
            off(both['total'][metric], v, Fraction(1, 500), '%s of two workers' % metric)
    times = [{k: v for k, v in t.items() if k != 'worker'} for t in x.answer('two_summary.json')['step_time']]
    cases.equal(times, summary['step_time'] * 2, 'step time of two workers')
    flops = x.answer('two_flops.json')
    if flops and 'ranks' in flops and answers(x)['flops']:
        cases.equal([r['flops'] or 0 for r in flops['ranks']], [answers(x)['flops']['flops']] * 2, 'float operations of two workers')


def cut_rows(x):
    """The text of idle has each cause of its document; the shown places of a cause and its line "(N more)" add up to the cause, and
    their number is that of the places."""
    doc = needs(x, 'idle')
    x.ask('idle -output file:outfile=idle.txt')
    with open(os.path.join(x.made, 'idle.txt')) as f:
        lines = f.read().splitlines()
    causes = [c for d in doc['devices'] for c in sorted(d['causes'], key=lambda c: 0)]
    found = []
    for line in lines:
        row = re.match(r' *([\d.]+)(ns|us|ms|s) +([\d.]+)%  (- )?(.*)$', line)
        if not row:
            continue
        time, by = shown(row[1], row[2]), digit(row[1], row[2])
        if not row[4]:
            found.append([row[5], time, 0, 0, 0, by])
            continue
        more = re.match(r'\((\d+) more\)$', row[5])
        found[-1][2] += time
        found[-1][3] += int(more[1]) if more else 1
        found[-1][4] += by
    cases.equal(len(found), len([c for c in causes if c['ns']]), 'causes in the text of idle')
    expected = sorted((c['ns'], len(c['places'])) for c in causes if c['ns'])
    for (text, time, places, count, by, own), (ns, n) in zip(sorted(found, key=lambda r: (r[1], r[3])), expected):
        off(time, ns, own, 'text of ' + text)
        if count:
            off(places, time, by + own, 'places of ' + text)
            cases.equal(count, n, 'number of places of ' + text)


def pages(x):
    """The documents in the report are those of the commands: idle, why, critical, memory, roofline, phases, and the numbers of
    summary. Long lists are cut."""
    p = subprocess.run([x.program, 'report', x.path, '-o', 'words.html'], capture_output=True, cwd=x.made)
    if b'without' in p.stderr and p.returncode == 1:
        raise cases.Skip('built without the page')
    with open(os.path.join(x.made, 'words.html')) as f:
        text = re.search(r'<script id="data"[^>]*>\s*([A-Za-z0-9+/=\s]+)</script>', f.read()).group(1)
    documents = {d['name']: d['document'] for d in json.loads(gzip.decompress(base64.b64decode(text)), parse_float=Decimal)['documents']}
    for name in ('idle', 'why', 'critical', 'memory', 'roofline', 'phases', 'summary'):
        here, there = documents.get(name), answers(x).get(name)
        if not here or not there:
            continue
        for key in set(here) & set(there) - {'sources', 'tool', 'schema', 'warnings', 'rows', 'columns', 'next'}:
            a, b = here[key], there[key]
            if name in ('critical', 'memory', 'why', 'idle') and isinstance(a, list) and isinstance(b, list):
                if key not in ('causes', 'devices'):
                    a, b = a[:min(len(a), len(b))], b[:min(len(a), len(b))]
                if name == 'why' and key == 'causes':
                    a, b = ([{k: c[k] for k in ('id', 'cost_ns', 'saved_ns')} for c in v] for v in (a, b))
            if name != 'summary' or key not in ('ops', 'nodes', 'row_count'):
                cases.equal(a, b, 'page: %s: %s' % (name, key))


def shown(number, unit):
    return Fraction(number) * UNITS[unit]


def digit(number, unit):
    """Returns one unit of the last digit of a printed time."""
    return Fraction(UNITS[unit], 10 ** len(number.partition('.')[2]))


CHECKS = [means_of_kernels, steps_of_devices, windows_of_steps, partition_of_replay, counted_work, steps_by_phase, hottest, looked_at, live_memory, text_of, two_workers, cut_rows, pages]
