# SPDX-License-Identifier: Apache-2.0
"""Tests of the recipes' statistics, of the table causes, and of the page of a fleet."""
import base64
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
from urllib.parse import unquote

from cases import equal
from rig import DATA, MLP, ROOT, built, data, fleet, program


def rank_limits():
    """The number of pairs that the rank test needs equals the number found by enumerating all orders of the steps."""
    from itertools import combinations
    from tfprof.fleet.rank_test import least_pairs
    for n, m in ((1, 3), (2, 8), (3, 6), (4, 4), (5, 7), (6, 6)):
        us = sorted((sum(ranks) - n * (n - 1) // 2 for ranks in combinations(range(n + m), n)), reverse=True)
        limit = [u for u in sorted(set(us)) if sum(x >= u for x in us) / len(us) <= 0.025]
        equal(least_pairs(n, m), limit[0] if limit else None, (n, m))
    equal((least_pairs(0, 5), least_pairs(1, 38), least_pairs(1, 39), least_pairs(1, 5000)), (None, None, 39, 4876))
    assert 33000 < least_pairs(200, 300) < 33200, least_pairs(200, 300)


def gate(before, after):
    """Returns the result of the gate on the step time of two traces."""
    p = subprocess.run([os.path.join(DATA['bin'], 'tfprof'), 'diff', before, after, '--gate', 'step_time<+2%', '-output', 'none'],
                       stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return re.search('step_time<[+]2% (fails|holds|is inconclusive)', p.stderr).group(1)


def regressed_like_gates():
    """The verdict about a run with one worker equals the result of the gate on its step time: slower, equal, noisy, too few
    steps."""
    from tfprof.fleet import run_recipe
    kinds = {'1': [1000, 1010, 1020, 990, 1005, 1001], '2': [1100, 1110, 1120, 1090, 1105, 1101], '3': [1101, 1111, 1119, 1091, 1104, 1102],
             '4': [900, 1700, 1000, 1250, 1106, 1350], '5': [1500, 1600]}
    for run, steps in kinds.items():
        events, at = [], 0
        for i, us in enumerate(steps):
            events += [{'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#%d' % i, 'ts': at, 'dur': us, 'pid': 1, 'tid': 1},
                       {'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::mm', 'ts': at + 1, 'dur': us - 5, 'pid': 1, 'tid': 1}]
            at += us
        os.makedirs('in/' + run)
        with open('in/%s/h.pt.trace.json' % run, 'w') as f:
            json.dump({'schemaVersion': 1, 'traceEvents': events}, f)
        os.utime('in/%s/h.pt.trace.json' % run, (1e9 + int(run), 1e9 + int(run)))
    fleet('build', 'out', 'in')
    columns, rows = run_recipe('out', 'regressed_runs')
    found = {r[0]: dict(zip(columns, r)) for r in rows}
    equal({run: r['verdict'] for run, r in found.items()}, {'2': 'regressed', '3': 'no', '4': 'inconclusive', '5': 'too few steps'})
    words = {'regressed': 'fails', 'no': 'holds', 'inconclusive': 'is inconclusive'}
    for run in '234':
        path = 'in/%s/h.pt.trace.json'
        equal(gate(path % found[run]['before'], path % run), words[found[run]['verdict']], run)
    equal([r[0] for r in run_recipe('out', 'regressed_runs', {'like': '[1-9]'})[1]], [])


def page():
    """The page has the trends, the tables and links to reports that exist. It has no scripts; names are escaped."""
    hostile = '<b>"x'
    folder, bad = data()
    for i, run in enumerate(('run000', hostile)):
        os.makedirs('in/' + run)
        for path in sorted(glob.glob(folder + '/run00%d/*.json' % i))[:8]:
            shutil.copy(path, 'in/' + run)
    fleet('build', 'out', 'in', '--tables', '+causes')
    text = fleet('page', 'out', '-o', 'p.html', '--reports', '2')[0]
    equal(text, 'p.html, 2 reports\n')
    with open('p.html', encoding='utf-8') as f:
        html = f.read()
    assert '<script' not in html and '<b>' not in html and '&lt;b&gt;&quot;x' in html, html[:300]
    style = re.search('<style>(.*?)</style>', html, re.S).group(1)
    assert "'sha256-%s'" % base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() in html
    links = set(re.findall('href="([^"]*)"', html))
    equal(len(links), 2)
    for link in links:
        with open(unquote(link), encoding='utf-8') as f:
            assert '<script' in f.read()
    for name in ('regressed_runs', 'causes_by_day', 'slowest_ranks', 'kernels_by_share'):
        assert '<p class="hint">%s' % name in html, name
    equal(len(re.findall('<circle', html)), 2)
    assert 'no build' in fleet('page', 'none', status=1)[1]


def causes():
    """The table causes has the causes of tfprof why; without it, its recipe says how to build it."""
    from tfprof.fleet import recipes, run_recipe
    folder, _ = data()
    path = sorted(glob.glob(folder + '/run000/*.json'))[0]
    fleet('build', 'out', path, MLP, '--tables', '+causes')
    answer = program('why', path, '-output', 'json')
    rows = recipes.duckdb_connection('out').execute('SELECT number, cause, step_ns, cost_ns, saved_ns, verdict FROM causes ORDER BY number').fetchall()
    profile = program('why', MLP, '-output', 'json')
    expected = [(i, c['id'], answer['step_ns'], c['cost_ns'], c['saved_ns'], answer['verdict']) for i, c in enumerate(answer['causes'], 1)]
    equal(sorted(rows), sorted(expected + [(1, 'unknown', profile['step_ns'], 0, 0, profile['verdict'])]))
    columns, days = run_recipe('out', 'causes_by_day')
    equal(sorted((r[1], r[2]) for r in days), sorted([(c['id'], 1) for c in answer['causes']] + [('unknown', 1)]))
    assert 'build it with --tables +causes' in fleet('ask', built(), 'causes_by_day', status=1)[1]


def peaks():
    """MFU uses the peak of the device in the table; a given peak replaces it; a run with an unknown peak has none."""
    from tfprof.fleet import run_recipe
    for run in ('known', 'mixed'):
        os.makedirs('in/' + run)
        shutil.copy(os.path.join(ROOT, 'testdata', 'traces', 'training.pt.trace.json.gz'), 'in/' + run)
    shutil.copy(os.path.join(ROOT, 'testdata', 'traces', 'calls.pt.trace.json'), 'in/mixed')
    shutil.copy(os.path.join(ROOT, 'testdata', 'traces', 'calls.json'), 'in/mixed')
    fleet('build', 'out', 'in', '--processes', '1')
    columns, rows = run_recipe('out', 'mfu_by_job')
    found = {r[0]: dict(zip(columns, r)) for r in rows}
    equal((found['known']['model'], found['known']['peak_tflops']), ('NVIDIA H100 80GB HBM3', 989.5))
    equal(found['known']['mfu'], found['known']['tflops_per_second'] / 989.5)
    assert 0.1 < found['known']['mfu'] < 0.2, found
    equal((found['mixed']['workers'], found['mixed']['peak_tflops'], found['mixed']['mfu']), (2, None, None))
    columns, rows = run_recipe('out', 'mfu_by_job', {'peak_tflops': '100', 'like': 'known'})
    equal(dict(zip(columns, rows[0]))['mfu'], found['known']['tflops_per_second'] / 100)


RECIPES = [regressed_like_gates, causes, peaks, page]
