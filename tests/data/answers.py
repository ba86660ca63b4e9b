# SPDX-License-Identifier: Apache-2.0
"""Tests of the answers of summary and top against those of the views."""
import json
import os

from rig import ROOT, recorded
from schemas import validators


def test_top(t):
    """Rows are the nodes of scope by their own number; shares add up; documents match their schemas."""
    judge = validators()
    for name, load in t.some(list(recorded()), 6):
        for metric in ('micros', 'bytes', 'params'):
            doc = json.loads(t.run(load + ['top', '-n', '0', '-by', metric, '-output', 'json']))
            bad = judge['top.json'](doc) if judge else []
            t.check(not bad, '%s top: %s' % (name, bad[:3]))
            own = 'own_' + metric
            rows = [r for r in t.rows(load + ['scope', '-select', metric, '-max_depth', '100000']) if r['type'] is not None]
            want = sorted(((-r[own], r['path']) for r in rows if r[own] > 0))
            t.check(sorted((-r[own], r['path']) for r in doc['nodes']) == want, '%s %s: the nodes' % (name, metric))
            numbers = [r[own] for r in doc['nodes']]
            t.check(numbers == sorted(numbers, reverse=True), '%s %s: the order' % (name, metric))
            total = sum(numbers)
            t.check(doc['total'] == total and doc['row_count'] == len(numbers), '%s %s: the total' % (name, metric))
            t.check(all(abs(r['cumulative_share'] - 100 * sum(numbers[:i + 1]) / total) < .01 and
                        (not r['calls'] or r['mean_' + metric] is None or abs(r['mean_' + metric] - r[own] / r['calls']) < .01)
                        for i, r in enumerate(doc['nodes'])), '%s %s: shares and means' % (name, metric))
            few = json.loads(t.run(load + ['top', '-n', '3', '-by', metric, '-output', 'json']))
            t.check(few['nodes'] == doc['nodes'][:3] and few['row_count'] == doc['row_count'] and few['rows'] == few['nodes'], '%s %s: -n' % (name, metric))


def test_summary(t):
    """Numbers equal those of the views; documents match their schema."""
    judge = validators()
    trace = os.path.join(ROOT, 'testdata', 'traces', 'trace.xplane.pb')
    spool = os.path.join(ROOT, 'testdata', 'small', 'train.tfspool')
    for name, load in t.some(list(recorded()), 6) + [('trace', [trace]), ('recording', [spool])]:
        doc = json.loads(t.run(['summary'] + load + ['-output', 'json']))
        bad = judge['summary.json'](doc) if judge else []
        t.check(not bad, '%s: %s' % (name, bad[:3]))
        root = t.rows(load + ['scope', '-select', 'micros,params,float_ops,bytes', '-max_depth', '1'])[0]
        if name != 'synthetic_0':  # sums of its numbers reach the end of the type
            t.check((doc['parameters'], doc['float_ops']) == (root['total_params'], root['total_float_ops']), name + ': static numbers')
        # Averages over steps are rounded for each node.
        t.check(abs(doc['device_op_micros'] + doc['host_op_micros'] - root['total_micros']) <= doc['node_count'], name + ': times')
        t.check(doc['requested_bytes'] == root['total_bytes'], name + ': bytes')
        t.check(all(d['busy_ns'] + d['idle_ns'] == d['window_ns'] and d['busy_ns'] >= 0 for d in doc['devices']), name + ': devices')
        if root['total_micros']:
            top = json.loads(t.run(load + ['top', '-n', '5', '-output', 'json']))['nodes']
            t.check(doc['nodes'] == top, name + ': the hottest nodes')
        text = t.run(['summary'] + load).decode()
        t.check(text.startswith(('loaded ', 'verdict ')) and '\nnext ' in text, name + ': text')
    doc = json.loads(t.run(['summary', trace, '-output', 'json']))
    devices = json.loads(t.run(['devices', trace, '-output', 'json']))['devices']
    t.check(sorted((d['name'], d['window_ns'], d['busy_ns']) for d in doc['devices']) ==
            sorted((d['device'], d['window_ns'], d['busy_ns']) for d in devices), 'devices of a trace')
