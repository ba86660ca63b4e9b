# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of data outputs: runs a command on the recorded profiles and returns its rows."""
import csv
import glob
import io
import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VIEWS = ['scope', 'graph', 'op', 'code']
ALL = 'bytes,peak_bytes,residual_bytes,output_bytes,micros,params,float_ops,occurrence'
NO_STACKS = 'No code trace information'


class Count:
    def __init__(self, program):
        self.program = os.path.abspath(program)
        self.passed = self.failed = self.skipped = 0

    def check(self, ok, what):
        self.passed += bool(ok)
        self.failed += not ok
        if not ok:
            print('failed: ' + what)
        return ok

    def some(self, items, n=12):
        """Returns the whole list, or n elements spread over it."""
        return items if self.all or len(items) <= n else [items[i * len(items) // n] for i in range(n)]

    def skip(self, why):
        print('skipped: ' + why)
        self.skipped += 1

    def run(self, words, status=0, stdin=b''):
        """Returns the standard output of one command; None if the profile has no call stacks."""
        p = subprocess.run([self.program] + words, input=stdin, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=600)
        if p.returncode == 1 and NO_STACKS.encode() in p.stderr:
            return None
        if p.returncode != status:
            raise AssertionError('%s: status %d, %s' % (words, p.returncode, p.stderr.decode('utf-8', 'replace')))
        return p.stdout

    def rows(self, words, kind='json'):
        """Returns the rows of a command as dictionaries of numbers, texts and lists."""
        out = self.run(words + ['-output', kind])
        return out if out is None else parse(out, kind)


def words_of(home):
    """Returns the words that load a recorded profile."""
    with open(os.path.join(home, 'load.json')) as f:
        spec = json.load(f)
    words = []
    for name in ('graph', 'run_meta', 'op_log'):
        files = spec.get(name) or []
        files = [files] if isinstance(files, str) else files
        paths = [os.path.join(home, f) for f in files]
        if paths:
            words.append('--%s_path=%s' % (name, ','.join(
                p if os.path.exists(p) else p + '.gz' for p in paths)))
    return words


def recorded():
    """Returns (name, words that load it) for every recorded profile."""
    for home in sorted(glob.glob(os.path.join(ROOT, 'testdata', 'recorded', '*', ''))):
        yield os.path.basename(os.path.dirname(home)), words_of(home)


def number(text, kind):
    """Returns a cell of CSV as a JSON value."""
    if kind == 'boolean':
        return {'true': True, 'false': False}[text]
    if kind == 'array':
        return text.split('|') if text else []
    if kind == 'string' or text == '':
        return text
    return int(text) if kind == 'integer' else float(text)


def parse(out, kind):
    if kind == 'json':
        return json.loads(out.decode('ascii'))['rows']
    if kind == 'ndjson':
        return [json.loads(line) for line in out.decode('ascii').splitlines()]
    return list(csv.DictReader(io.StringIO(out.decode('utf-8'), newline=''), strict=True))


def split_md(line):
    """Returns the unescaped cells of a line of a GitHub table."""
    cells, cell, i = [], '', 0
    assert line.startswith('|') and line.endswith('|'), line
    while i < len(line):
        c = line[i]
        if c == '\\' and i + 1 < len(line):
            i += 1
            cell += line[i]
        elif c == '|':
            cells.append(cell.strip(' '))
            cell = ''
        else:
            cell += c
        i += 1
    return cells[1:]
