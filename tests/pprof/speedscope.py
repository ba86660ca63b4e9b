#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens folded stacks and pprof files in speedscope and compares its table of functions with the files' numbers.

    tests/pprof/speedscope.py --program build/tfprof

Folded stacks are also read as flamegraph.pl reads them: each line is a stack and a number, and the numbers add up to the
total of the view. speedscope (npm) runs in a headless Chromium; SPEEDSCOPE names the folder of its page. Its table
shows self and total of each function. Skips what is not installed.
"""
import argparse
import base64
import collections
import csv
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, 'tests', 'check'), os.path.join(ROOT, 'tests', 'web')]
sys.path.append(os.path.join(ROOT, 'python', 'tfprof'))
from browser import Browser  # noqa: E402
import wire  # noqa: E402

EXAMPLE = os.path.join(ROOT, 'testdata', 'example', 'profile_100')
TRACE = os.path.join(ROOT, 'testdata', 'traces', 'trace.xplane.pb')
ODD = ['a;b/c d 7', 'a;b/x 12', 'é中/(y)', 'plain', 'a;b']
LINE = re.compile(r'^(.*)\s+?(\d+(?:\.\d*)?)$')  # options of flamegraph.pl
UNITS = {'ns': 1, 'µs': 1e3, 'ms': 1e6, 's': 1e9}
UNIT = re.compile(r'^([\d.,]+)(ns|µs|ms|s)?$')


def odd_names(folder):
    """Returns run metadata of nodes whose names contain the separators of frames and numbers."""
    path = os.path.join(folder, 'odd.pbtxt')
    with open(path, 'w') as f:
        f.write('step_stats { dev_stats { device: "/cpu:0"\n')
        for i, name in enumerate(ODD):
            f.write('node_stats { node_name: "%s" all_start_micros: %d op_end_rel_micros: %d }\n' % (name, 10 + i, 100 << i))
        f.write('} }\n')
    return path


def run(*words):
    p = subprocess.run([ARGS.program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    return p.stdout.decode()


def folded(text):
    """Returns {frame: (self, total)}, as flamegraph.pl counts."""
    own, total = collections.Counter(), collections.Counter()
    for line in text.splitlines():
        m = LINE.match(line)
        assert m, 'not a stack and a number: %r' % line
        frames, n = m.group(1).split(';'), int(m.group(2))
        assert all(frames), 'an empty frame: %r' % line
        own[frames[-1]] += n
        for frame in set(frames):
            total[frame] += n
    return own, total


def pprof(path):
    """Returns {function: (self, total)} in nanoseconds, from the bytes of the file."""
    strings, functions, locations, samples, unit = [], {}, {}, [], 0
    with gzip.open(path) as f:
        data = f.read()

    def numbers(message, number):
        for n, kind, value in wire.fields(message):
            if n == number:
                yield from wire._packed('int', value) if kind == 2 else [value]
    for n, _, value in wire.fields(memoryview(data)):
        if n == 1:
            unit = next(numbers(value, 2))  # unit of the last value
        elif n == 2:
            samples.append((list(numbers(value, 1)), list(numbers(value, 2))))
        elif n == 4:
            lines = [v for k, _, v in wire.fields(value) if k == 4]
            locations[next(numbers(value, 1))] = [next(numbers(line, 1)) for line in lines]
        elif n == 5:
            functions[next(numbers(value, 1))] = next(numbers(value, 2))
        elif n == 6:
            strings.append(bytes(value).decode())
    own, total = collections.Counter(), collections.Counter()
    scale = {'nanoseconds': 1, 'microseconds': 1000}[strings[unit]]
    for places, values in samples:
        names = [strings[functions[f]] for place in places for f in locations[place]]
        own[names[0]] += values[-1] * scale
        for name in set(names):
            total[name] += values[-1] * scale
    return own, total


class Speedscope:
    def __init__(self, page, folder):
        self.page, self.script = page, os.path.join(folder, 'profile.js')
        self.browser = Browser(1600, 6000)

    def table(self, path):
        """Returns (total, self, name) of each row."""
        with open(path, 'rb') as f:
            data = base64.b64encode(f.read()).decode()
        with open(self.script, 'w') as f:
            f.write('speedscope.loadFileFromBase64(%s, %s)' % (json.dumps(os.path.basename(path)), json.dumps(data)))
        self.browser.do('POST', '/url', url='about:blank')
        self.browser.do('POST', '/url', url='file://%s#localProfilePath=%s' % (self.page, self.script))
        self.browser.until('return document.title.startsWith(arguments[0])', os.path.basename(path))
        self.browser.key('3')
        return self.browser.until('const r = [...document.querySelectorAll("tr")].map(r => [...r.querySelectorAll("td")].map('
                                  'c => c.innerText)).filter(r => r.length == 3); return r.length ? r : null')


def number(text):
    """Returns a number of the table, such as '9.41ms (41%)', and its largest rounding error."""
    m = UNIT.match(text.split(' ')[0])
    value, unit = float(m.group(1).replace(',', '')), UNITS.get(m.group(2), 1)
    return value * unit, .0051 * unit if m.group(2) else 0


def compare(rows, own, total):
    """Returns the differences."""
    bad = [] if len(rows) >= min(len(total), 150) else ['%d rows of %d' % (len(rows), len(total))]
    for shown_total, shown_own, name in rows:
        for what, shown, expected in (('total', shown_total, total), ('self', shown_own, own)):
            value, off = number(shown)
            if name not in total or abs(value - expected[name]) > off:
                bad.append('%s of %r: %s, not %s' % (what, name, shown, expected.get(name)))
    return bad


def total_of(view, source):
    """Returns the total in the unit of the stacks: nanoseconds of a trace, microseconds of a profile."""
    rows = list(csv.DictReader(run(view, source, '-q', '-select', 'micros', '-output', 'csv').splitlines()))
    scale = 1000 if source == TRACE else 1
    return sum(round(float(r['total_micros']) * scale) for r in rows if view == 'op' or not r['parent'])


def judge(view, source, show, folder):
    """Returns the errors in the outputs of a view."""
    text, file, bad = os.path.join(folder, 'x.folded'), os.path.join(folder, 'x.pb.gz'), []
    run(view, source, '-q', '-select', 'micros', '-output', 'folded:outfile=' + text)
    run(view, source, '-q', '-select', 'micros', '-output', 'pprof:outfile=' + file)
    with open(text, encoding='utf-8') as f:
        stacks = folded(f.read())
    expected = total_of(view, source)
    if view != 'graph' and sum(stacks[0].values()) != expected:  # a node below several others is shown once
        bad.append('the stacks add up to %d, not to %d' % (sum(stacks[0].values()), expected))
    for name, numbers in ((text, stacks), (file, pprof(file))) if show else ():
        bad += ['%s: %s' % (name[-6:], x) for x in compare(show.table(name), *numbers)]
    return bad


def main():
    page = os.environ.get('SPEEDSCOPE') or next(iter(glob.glob(os.path.join(
        ROOT, 'build', 'web', 'node_modules', 'speedscope', 'dist', 'release'))), '')
    page = os.path.join(os.path.abspath(page), 'index.html') if page else ''
    chromium = shutil.which('chromedriver') and (shutil.which('chromium') or shutil.which('google-chrome'))
    scratch = tempfile.mkdtemp(prefix='tfprof-speedscope-')
    cases = [(v, EXAMPLE) for v in ('scope', 'graph', 'op', 'code')] + [(v, TRACE) for v in ('scope', 'op')] + [
        (v, odd_names(scratch)) for v in ('scope', 'op')]
    skipped = 0 if os.path.exists(page) and chromium else len(cases)
    if skipped:
        print('skipped: no speedscope (npm install --prefix build/web speedscope) or no Chromium: stacks are read alone')
    show = None if skipped else Speedscope(page, scratch)
    failed = 0
    for view, source in cases:
        bad = judge(view, source, show, scratch)
        failed += bool(bad)
        if bad:
            print('FAILED %s of %s\n  %s' % (view, os.path.basename(source), '\n  '.join(bad[:10])))
    if show:
        show.browser.close()
    shutil.rmtree(scratch)
    print('%d passed, %d failed, %d skipped' % (len(cases) - failed, failed, skipped))
    return 1 if failed else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    ARGS = p.parse_args()
    ARGS.program = os.path.abspath(ARGS.program)
    sys.exit(main())
