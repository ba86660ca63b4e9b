# SPDX-License-Identifier: Apache-2.0
"""-output csv:spreadsheet=1 in every command that writes csv: hostile names are read back with Python's csv. Each cell is
that of plain csv, with an apostrophe before a text that a spreadsheet would run as a formula; numbers stay numbers."""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'trace'))
import kineto
import wire

HOSTILE = ['=1+1', '+1', '-5', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '-- "quoted", =2', '=cmd|\' /C calc\'!A0',
           '\uff1d1', '\uff0b1', '\uff0d1', '\uff201', '=HYPERLINK("http://example.invalid","x")']
TAME = ['plain', 'a=1', '5', "'quoted'", ' =1']
DANGER = tuple('=+-@\t\r\n\uff1d\uff0b\uff0d\uff20')
NUMBER = re.compile(r'-?\d+(\.\d+)?(e[-+]?\d+)?')


def table(out):
    return list(csv.reader(io.StringIO(out.decode('utf-8'), newline=''), strict=True))


def number_columns(t, words):
    """Returns which columns hold numbers, by the JSON answer of the same command; None if that is unknown."""
    doc = json.loads(t.run(words + ['-output', 'json']))
    if not isinstance(doc, dict) or 'columns' not in doc:
        return None
    return [c['type'] in ('integer', 'number') for c in doc['columns']]


def compare(t, what, words, want, numbers=None, status=0):
    """Checks a table. want: names of HOSTILE that must be among the cells; numbers: for each column, true if it holds numbers."""
    plain, safe = (table(t.run(words + ['-output', o], status)) for o in ('csv', 'csv:spreadsheet=1'))
    off = table(t.run(words + ['-output', 'csv:spreadsheet=0'], status))
    t.check(plain == off, what + ': spreadsheet=0 is not plain csv')
    t.check([len(r) for r in plain] == [len(r) for r in safe], what + ': rows have other lengths')
    for row, other in zip(plain, safe):
        for i, (cell, found) in enumerate(zip(row, other)):
            is_number = numbers[i] if numbers and row is not plain[0] else NUMBER.fullmatch(cell) and cell not in HOSTILE
            expected = cell if is_number or not cell.startswith(DANGER) else "'" + cell
            t.check(found == expected, '%s: %r became %r' % (what, cell, found))
    cells = {c for row in safe for c in row}
    missing = [n for n in want if "'" + n not in cells]
    t.check(not missing, '%s: not among the cells: %r' % (what, missing))


def write(home, name, data):
    path = os.path.join(home, name)
    with open(path, 'wb') as f:
        f.write(data)
    return path


def of_profiles(t, home, profile):
    """The four views, their statistics, workers whose names become columns, advice and a difference."""
    names = [n for n in HOSTILE if n[0] not in '\r\n']  # such names are not split in graph, and code has no such functions
    one = write(home, '=1.pb', profile([n.encode() for n in HOSTILE + TAME]))
    two = write(home, '@2.pb', profile([n.encode() for n in HOSTILE[3:] + HOSTILE[1:3] + TAME]))
    every = ['-max_depth', '100', '-select', 'micros,bytes']
    for view in ('scope', 'graph', 'op'):
        words = ['--profile_path=' + one, view] + every
        compare(t, view, words, names if view == 'graph' else [], number_columns(t, words))
    compare(t, 'stats', ['--profile_path=' + one, 'scope', '-stats', 'mean,cv,n'] + every, [])
    compare(t, 'workers', ['--profile_path=' + one + ',' + two, 'graph', '-by', 'worker'] + every, ['=1.pb', '@2.pb'])
    compare(t, 'renamed', ['--profile_path=' + one, 'scope', '-rename', 's/^plain/=1/'] + every, ['=1'])
    compare(t, 'advise', ['--profile_path=' + one, 'advise'], [])
    for a, b in ((one, two), (two, one)):
        words = ['diff', 'graph', a, b, '-all', '-max_depth', '100', '-select', 'micros']
        rows = table(t.run(words + ['-output', 'csv:spreadsheet=1']))
        compare(t, 'diff', words, names, [c not in ('path', 'renamed', 'parent', 'state') for c in rows[0]])
        negative = [c for row in rows for c in row if re.fullmatch(r'-\d+', c)]
        t.check(negative, 'diff: no negative number')


def of_traces(t, home):
    events = kineto.steps()
    for i, n in enumerate(HOSTILE):
        events += kineto.launch(1300 + 10 * i, 500 + i, 1301 + 10 * i, 5, n)
    path = write(home, 't.pt.trace.json', kineto.trace(events))
    compare(t, 'kernels', ['kernels', path, '--top=1000'], HOSTILE)
    for command in ('devices', 'steps'):
        compare(t, command, [command, path], [])


def of_recordings(t, home):
    maker = os.path.join(os.path.dirname(t.program), 'spool_make')
    if not os.path.exists(maker):
        return t.skip('no spool_make beside the program: gpu is not compared')
    lines = ['info key=pid value=1', 'gpu id=0 uuid=GPU-aaaa name="=GPU"', 'clock realtime=1000000000 monotonic=1000']
    for i, n in enumerate(x for x in HOSTILE if '"' not in x and x[0] not in '\r\n\t'):
        lines += ['api start=%d length=50 correlation=%d name=cudaLaunchKernel tid=1' % (1000000000 + 1000 * i, i + 1),
                  'kernel start=%d length=500 correlation=%d name="%s" device=0 context=1 stream=7' % (
                      1000000100 + 1000 * i, i + 1, n)]
    text = write(home, 'spool.txt', '\n'.join(lines + ['end start=1000900000', '']).encode())
    path = os.path.join(home, 'x.tfspool')
    with open(text, 'rb') as f:
        subprocess.run([maker, path], stdin=f, check=True)
    for name in ('kernels', 'launches', 'gpus'):
        compare(t, 'gpu ' + name, ['gpu', path, '--table=' + name], ['=1+1', '-5'] if name != 'gpus' else [])


def of_checkpoints(t, home):
    names = [n for n in HOSTILE if n[0] not in '\t\r\n']
    paths = []
    for i, skip in enumerate((0, 1)):
        index, data = wire.checkpoint({n: ([2], [-1.0 - i, 2.0]) for n in names[skip:] + TAME})
        write(home, 'c%d.data-00000-of-00001' % i, data)
        paths.append(write(home, 'c%d.index' % i, index)[:-len('.index')])
    compare(t, 'checkpoint', ['checkpoint', paths[0]], names)
    compare(t, 'checkpoints', ['checkpoint'] + paths, names, status=1)


def check_all(t, profile):
    with tempfile.TemporaryDirectory(prefix='tfprof-data-') as home:
        of_profiles(t, home, profile)
        of_traces(t, home)
        of_recordings(t, home)
        of_checkpoints(t, home)
