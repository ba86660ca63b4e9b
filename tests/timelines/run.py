#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads timelines back and checks the rules of the trace-event format.

    tests/timelines/run.py FILE...                    each file is one timeline
    tests/timelines/run.py --program build/tfprof     timelines of the recorded profiles, of all views
    ... --picture PNG                                  also draws the last one in headless Chromium

Checks: one line of ASCII JSON with one list of events; every event has exactly the keys of its kind, in byte order; a row is
named once, before it is used; boxes of a lane do not overlap (in scope and code timelines: each lies in a box of the row
above); arrows come in pairs of one id that begin at the end of a box and end at the start of one; counters are sorted by time,
two for each moment, and the sum of their parts is at most the bytes in use.
"""
import argparse
import bisect
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'data'))
from rig import recorded

INT = range(-2**63, 2**63)
PLACE = ['pid', 'tid', 'ts']
KEYS = {
    'M': ['args', 'name', 'ph', 'pid'],
    'X': ['args', 'cat', 'dur', 'name', 'ph'] + PLACE,
    's': ['cat', 'id', 'name', 'ph'] + PLACE,
    't': ['cat', 'id', 'name', 'ph'] + PLACE,
    'C': ['args', 'cat', 'name', 'ph'] + PLACE,
}
CATEGORY = {'X': 'Op', 's': 'DataFlow', 't': 'DataFlow', 'C': 'Memory'}
SLOTS = ['Top Allocation %02d' % i for i in range(10)]


class Bad(Exception):
    pass


def need(ok, text, *what):
    if not ok:
        raise Bad(text % what if what else text)


def no_doubles(pairs):
    need(len(dict(pairs)) == len(pairs), 'duplicate key: %s', [k for k, _ in pairs])
    return dict(pairs)


def parse(data):
    """Returns the events of a file's bytes."""
    need(data.endswith(b'\n') and data.count(b'\n') == 1, 'not one line')
    need(all(0x20 <= b < 0x80 for b in data[:-1]), 'a byte that is not escaped')
    top = json.loads(data, object_pairs_hook=no_doubles)
    need(list(top) == ['traceEvents'], 'keys at the top: %s', list(top))
    return top['traceEvents']


def check_keys(e):
    ph = e.get('ph')
    need(ph in KEYS, 'a kind of event that is not written here: %r', ph)
    need(list(e) == KEYS[ph], 'keys of %r: %s', ph, list(e))
    need(list(e.get('args', {})) == sorted(e.get('args', {})), 'order of args: %s', e)
    for k in PLACE + ['dur', 'id']:
        need(k not in e or (type(e[k]) is int and e[k] in INT), '%s is no integer: %s', k, e)
    need(e.get('cat') == CATEGORY.get(ph), 'category of %s', e)


def rows(events):
    """Returns the names of rows by pid; each row must be named once, before its first event."""
    names, last = {}, {}
    for e in events:
        if e['ph'] == 'M':
            need(e['name'] == 'process_name' and list(e['args']) == ['name'], 'row: %s', e)
            need(e['pid'] not in names, 'row %d is named twice', e['pid'])
            need(e['pid'] == len(names), 'row %d comes out of turn', e['pid'])
            names[e['pid']] = e['args']['name']
        else:
            need(e['pid'] in names, 'row %d has no name yet: %s', e['pid'], e)
            key = (e['ph'] in 'stC')
            last[key] = True
            need(e['ph'] != 'X' or True not in last, 'a box behind arrows and counters')
    return names


def check_lanes(events, tree):
    """Returns boxes by (pid, tid), in order; no box may overlap the previous box of its lane."""
    lanes = collections.defaultdict(list)
    for e in events:
        if e['ph'] != 'X':
            continue
        need(e['dur'] >= 0, 'a box of negative length: %s', e)
        need(e['args'].get('name') == e['name'], 'args of a box: %s', e)
        need(list(e['args']) == (['name', 'op'] if tree else ['name']), 'args of a box: %s', e)
        lane = lanes[e['pid'], e['tid']]
        if lane:
            need(e['ts'] >= lane[-1]['ts'] + lane[-1]['dur'], 'boxes overlap: %s and %s', lane[-1], e)
        lane.append(e)
    for pid, tid in lanes:
        need(tid == 0 or (pid, tid - 1) in lanes, 'lane %d of row %d without one before', tid, pid)
    return lanes


def check_first_fit(lanes):
    """Checks that no box fits into an earlier lane."""
    for (pid, tid), lane in lanes.items():
        if tid == 0:
            continue
        above = lanes[pid, tid - 1]
        starts = [e['ts'] for e in above]
        for e in lane:
            i = bisect.bisect_right(starts, e['ts']) - 1
            need(i >= 0 and starts[i] + above[i]['dur'] > e['ts'], 'the lane before was free: %s', e)


def check_tree(lanes, names):
    """Checks that each box of a row lies in a box of the previous row."""
    for pid in names:
        need(names[pid] == 'Scope:%d' % pid, 'row %d is called %s', pid, names[pid])
    for (pid, _), lane in lanes.items():
        if pid == 0:
            need(len(lane) == 1 and lane[0]['ts'] == 0, 'the root is not one box from 0 on')
            continue
        above = lanes[pid - 1, 0]
        starts = [e['ts'] for e in above]
        for e in lane:
            i = bisect.bisect_right(starts, e['ts']) - 1
            need(i >= 0 and e['ts'] + e['dur'] <= starts[i] + above[i]['dur'],
                 'a box is not in one of the row before: %s', e)


def check_flows(events, lanes):
    flows = [e for e in events if e['ph'] in 'st']
    ends = {(p, t): {e['ts'] + e['dur'] for e in lane} for (p, t), lane in lanes.items()}
    starts = {(p, t): {e['ts'] for e in lane} for (p, t), lane in lanes.items()}
    need(len(flows) % 2 == 0, 'an arrow has no end')
    for i in range(0, len(flows), 2):
        a, b = flows[i:i + 2]
        need(a['ph'] == 's' and b['ph'] == 't' and a['id'] == b['id'] == i // 2 + 1 and
             a['name'] == b['name'], 'no pair: %s and %s', a, b)
        need(a['pid'] != b['pid'], 'an arrow within a row: %s', a)
        need(a['name'].endswith('_flow'), 'name of an arrow: %s', a)
        need(a['ts'] in ends.get((a['pid'], a['tid']), ()), 'no box ends there: %s', a)
        need(b['ts'] in starts.get((b['pid'], b['tid']), ()), 'no box starts there: %s', b)


def check_counters(events, names):
    last = {}
    counters = [e for e in events if e['ph'] == 'C']
    need(len(counters) % 2 == 0, 'a counter alone')
    for a, b in zip(counters[::2], counters[1::2]):
        need(a['name'] == 'Allocated Bytes' and b['name'] == 'Top Allocations' and
             b['pid'] == a['pid'] + 1 and a['ts'] == b['ts'], 'no pair: %s and %s', a, b)
        need(names[a['pid']].startswith('mem usage on:') and
             names[b['pid']] == names[a['pid']] + ' allocations', 'rows of memory: %s', a)
        need(a['ts'] - last.get(a['pid'], 0) >= 100, 'counters too close: %s', a)
        last[a['pid']] = a['ts']
        need(list(a['args']) == ['Allocator Bytes in Use'], 'args of %s', a)
        slots = list(b['args'])
        need(slots == ['Not Displayed'] + SLOTS[len(SLOTS) + 1 - len(slots):], 'args of %s', b)
        texts = [b['args'][s] for s in slots[1:]]
        sizes = [float(t.split(' MB from ', 1)[0]) for t in texts if t != 'N/A']
        need(sizes == sorted(sizes, reverse=True), 'allocations out of order: %s', b)
        need('N/A' not in texts[:len(sizes)], 'a gap in the slots: %s', b)
        left = float(re.fullmatch(r'(-?[0-9.]+) MB', b['args']['Not Displayed']).group(1))
        total = a['args']['Allocator Bytes in Use'] / 1e6
        need(abs(left + sum(sizes) - total) <= 0.02 + abs(total) * 1e-4, 'sum of %s in %s', b, a)


def check(data):
    """Checks a timeline, and raises Bad. Returns the number of events of each kind."""
    events = parse(data)
    for e in events:
        check_keys(e)
    names = rows(events)
    tree = bool(names) and names[0] == 'Scope:0'
    lanes = check_lanes(events, tree)
    if tree:
        check_tree(lanes, names)
    else:
        check_first_fit(lanes)
    check_flows(events, lanes)
    check_counters(events, names)
    return collections.Counter(e['ph'] for e in events)


# ---- recorded profiles --------------------------------------------------------------------------

def make_all(program, folder):
    """Writes timelines of the recorded profiles. Yields (description, path)."""
    for name, words in recorded():
        lines = ''.join('%s -max_depth 10000 -output timeline:outfile=%s.%s\n' % (v, name, v)
                        for v in ('scope', 'graph', 'code'))
        subprocess.run([program] + words, input=lines.encode(), cwd=folder, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=600, check=False)
    for path in sorted(glob.glob(os.path.join(folder, '*'))):
        yield os.path.basename(path), path


def self_test(data):
    """Damages a good timeline in several ways. Returns the changes that the checks did not find."""
    text = data.decode('ascii')
    changes = [('comma', '},{', '}, {\n'), ('row', '"pid":0', '"pid":77'), ('length', '"dur":', '"dur":-'),
               ('start', '"ts":1', '"ts":2'), ('arrow', '"ph":"t"', '"ph":"s"'), ('id', '"id":1,', '"id":2,'),
               ('key', '"tid":0,"ts"', '"ts":0,"tid"'), ('sum', '"Not Displayed":"', '"Not Displayed":"9'),
               ('category', '"cat":"Memory"', '"cat":"Op"'), ('end', ']}', ']')]
    missed = []
    for what, old, new in changes:
        if old not in text:
            continue
        try:
            check(text.replace(old, new, 1).encode())
            missed.append(what)
        except (Bad, ValueError):
            pass
    return missed


# ---- a browser ----------------------------------------------------------------------------------

PAGE = """<!doctype html><meta charset=utf-8><style>body{margin:0;font:11px sans-serif}</style>
<canvas id=c width=1200 height=800></canvas><pre id=t></pre><script>
const trace = %s, events = trace.traceEvents, c = document.getElementById('c').getContext('2d');
const boxes = events.filter(e => e.ph == 'X'), names = {};
for (const e of events) if (e.ph == 'M') names[e.pid] = e.args.name;
const from = Math.min(...boxes.map(e => e.ts)), to = Math.max(...boxes.map(e => e.ts + e.dur));
const keys = [...new Set(boxes.map(e => e.pid + ',' + e.tid))];
const x = t => 200 + 990 * (t - from) / (to - from || 1);
keys.forEach((k, i) => c.fillText(names[k.split(',')[0]].slice(-34) + ' ' + k.split(',')[1], 2, 14 * i + 24, 190));
for (const e of boxes) {
  const y = 14 * keys.indexOf(e.pid + ',' + e.tid) + 14;
  let h = 0; for (const ch of e.name) h = (h * 31 + ch.charCodeAt(0)) %% 360;
  c.fillStyle = 'hsl(' + h + ' 60%% 70%%)';
  c.fillRect(x(e.ts), y, Math.max(1, x(e.ts + e.dur) - x(e.ts)), 12);
}
document.title = 'boxes ' + boxes.length;
document.getElementById('t').textContent = document.title;
</script>"""


def draw(path, png):
    """Lets a browser read and draw the trace. Returns False without a browser."""
    browser = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser',
                                                   'google-chrome'))), None)
    if not browser:
        print('no Chromium here: no picture')
        return False
    text = open(path, encoding='ascii').read().strip()
    with tempfile.TemporaryDirectory() as d:
        page = os.path.join(d, 'page.html')
        with open(page, 'w', encoding='utf-8') as h:
            h.write(PAGE % text.replace('</', '<\\/'))
        base = [browser, '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--user-data-dir=' + d]
        dom = subprocess.run(base + ['--dump-dom', 'file://' + page], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, timeout=600).stdout.decode()
        n = sum(e['ph'] == 'X' for e in json.loads(text)['traceEvents'])
        need('boxes %d' % n in dom, 'the browser did not find %d boxes', n)
        if png:
            subprocess.run(base + ['--window-size=1200,800', '--screenshot=' + os.path.abspath(png),
                                   'file://' + page], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=600)
            need(os.path.exists(png), 'the browser took no picture')
    print('Chromium read %d boxes of %s' % (n, os.path.basename(path)))
    return True


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('files', nargs='*')
    p.add_argument('--program', help='make the timelines of the recorded profiles with it')
    p.add_argument('--picture', metavar='PNG', help='draw the last one')
    a = p.parse_args()
    with tempfile.TemporaryDirectory(prefix='tfprof-timelines-') as d:
        todo = [(f, f) for f in a.files]
        if a.program:
            todo += make_all(os.path.abspath(a.program), d)
        failed, total = 0, collections.Counter()
        for what, path in todo:
            try:
                total += check(open(path, 'rb').read())
            except (Bad, ValueError) as e:
                failed += 1
                print('%s: %s' % (what, e))
        print('%d timelines: %s; %d failed' % (len(todo), ', '.join(
            '%d %s' % (total[k], k) for k in 'MXstC'), failed))
        missed = self_test(open(max((f for _, f in todo if os.path.getsize(f) < 1 << 20),
                                    key=os.path.getsize), 'rb').read()) if a.program else []
        if missed:
            failed += 1
            print('this checker did not find a changed %s' % ', '.join(missed))
        if todo and (a.picture or a.program):
            graphs = [path for what, path in todo if '.graph_' in what] or [todo[-1][1]]
            try:
                draw(max(graphs, key=os.path.getsize) if a.program else todo[-1][1], a.picture)
            except Bad as e:
                failed += 1
                print(e)
        print('%d passed, %d failed, 0 skipped' % (len(todo) - min(failed, len(todo)), failed))
        return 1 if failed or not todo else 0


if __name__ == '__main__':
    sys.exit(main())
