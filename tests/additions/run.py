#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the worked examples of docs/HACKING.md in a copy of the sources, and runs their commands. The line above a block of
code names the file and the place:

    `PATH`:                        a new file
    `PATH`, before `TEXT`:         before the line that contains TEXT, which only one line does
    `PATH`, instead of `TEXT`:     instead of that line
    `PATH`, at the end:            after the last line

A block "console" has command lines after "$ ", each followed by its output.

Outside of the worked examples, docs/HACKING.md and docs/INTERNALS.md may only have blocks that are checked here, too: "python"
defines the steps of a suite, "sh" has command lines whose files exist (tests/examples looks up targets of make), and a block
without a language is a drawing.

    tests/additions/run.py [--build] [--count]
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'check'))
GUIDE = os.path.join(ROOT, 'docs', 'HACKING.md')
DOCUMENTS = (GUIDE, os.path.join(ROOT, 'docs', 'INTERNALS.md'))
BLOCK = re.compile(r'^(?:`([^`\n]+)`(?:, (before|instead of|at the end)(?: `([^`\n]+)`)?)?:\n\n)?```(\w*)\n(.*?)^```$', re.M | re.S)


class Change:
    """A block of code: its file, its place there, and its lines."""

    def __init__(self, path, where, text, code):
        self.path, self.where, self.text, self.code = path, where, text, code

    def apply(self, top):
        """Changes the file below a folder; raises ValueError if the place is not there."""
        path = os.path.join(top, self.path)
        if not self.where:
            if os.path.exists(path):
                raise ValueError('%s: exists already' % self.path)
            lines = []
        else:
            with open(path, encoding='utf-8') as f:
                lines = f.read().splitlines(True)
        at = len(lines)
        if self.text:
            found = [i for i, line in enumerate(lines) if self.text in line]
            if len(found) != 1:
                raise ValueError('%s: %d lines contain "%s", 1 expected' % (self.path, len(found), self.text))
            at = found[0]
        lines[at:at + (self.where == 'instead of')] = [self.code]
        with open(path, 'w', encoding='utf-8') as f:
            f.writelines(lines)


def examples():
    """Returns {title: (changes, [(command, output)])} of the guide."""
    with open(GUIDE, encoding='utf-8') as f:
        parts = f.read().split('\n### Worked example: ')[1:]
    out = {}
    for part in parts:
        title, body = part.split('\n', 1)
        body = body.split('\n## ')[0]
        changes, commands = [], []
        for path, where, text, kind, code in BLOCK.findall(body):
            if path:
                changes.append(Change(path, where, text, code))
            elif kind == 'console':
                commands += [tuple(c.partition('\n')[::2]) for c in code.split('$ ')[1:]]
        out[title] = (changes, commands)
    return out


def copy(top):
    """Copies the files of the repository, as they are in the working tree."""
    names = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=ROOT, stdout=subprocess.PIPE,
                           check=False).stdout.decode().split('\0')
    if len(names) < 2:  # a source archive
        names = [os.path.relpath(os.path.join(at, n), ROOT) for at, _, files in os.walk(ROOT) for n in files
                 if not os.path.relpath(at, ROOT).startswith(('build', '.git'))]
    for name in filter(None, names):
        if os.path.exists(os.path.join(ROOT, name)):
            os.makedirs(os.path.dirname(os.path.join(top, name)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, name), os.path.join(top, name))


def build(top):
    """Returns the messages of a failed build, otherwise an empty text."""
    env = {k: v for k, v in os.environ.items() if k not in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL')}
    p = subprocess.run(['make', '-j%d' % (os.cpu_count() or 2), 'WERROR=1', 'build/tfprof', 'lib'], cwd=top, env=env,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return p.stdout.decode(errors='replace')[-4000:] if p.returncode else ''


def run(top, command, output):
    """Returns the output of a command if it differs from the guide, otherwise an empty text."""
    env = dict(os.environ, PATH=os.path.join(top, 'build') + os.pathsep + os.environ['PATH'])
    p = subprocess.run(['sh', '-c', command], cwd=top, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    found = p.stdout.decode(errors='replace')
    return '' if p.returncode == 0 and found == output else 'status %d, printed:\n%s%s' % (
        p.returncode, found, p.stderr.decode(errors='replace'))


class Tests:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, name, fault):
        self.passed += not fault
        self.failed += bool(fault)
        if fault:
            print('FAILED %s: %s' % (name, fault))


def suite_fault(code):
    """Runs the text of a suite.py; returns what is wrong with its steps, or nothing."""
    space = {}
    try:
        exec(compile(code, 'suite.py', 'exec'), space)  # pylint: disable=exec-used
    except Exception as e:  # pylint: disable=broad-except
        return '%s: %s' % (type(e).__name__, e)
    missing = [s.command for s in space.get('STEPS', []) if not os.access(os.path.join(ROOT, s.command.split()[0]), os.X_OK)]
    return 'no STEPS' if not space.get('STEPS') else 'not a program: %s' % missing[0] if missing else ''


def files_fault(code):
    """Returns the first file that a block of command lines names and the repository does not have, or nothing."""
    for line in code.splitlines():
        for word in re.findall(r'(?<![\w./-])(?:(?:tests|tools|src|docs|examples)/[\w./*-]+|build/check/(?:unit|fuzz)/[\w*]+)', line.split(' # ')[0]):
            path = re.sub(r'^build/check/(.*)$', r'tests/\1.c', word)
            if not glob.glob(os.path.join(ROOT, path)):
                return '%s does not exist (%s)' % (path, line.strip())
    return ''


def check_blocks(t):
    """Checks the blocks of code outside of the worked examples."""
    for document in DOCUMENTS:
        with open(document, encoding='utf-8') as f:
            text = f.read()
        for example in text.split('\n### Worked example: ')[1:]:
            text = text.replace(example.split('\n## ')[0], '\n')
        for n, (kind, code) in enumerate(re.findall(r'^```(\w*)\n(.*?)^```$', text, re.M | re.S), 1):
            check = {'python': suite_fault, 'sh': files_fault, '': lambda _: ''}.get(kind, lambda _: 'no test runs this language')
            t.check('%s, block %d (%s)' % (os.path.basename(document), n, kind or 'drawing'), check(code))


def check_all(with_build):
    t = Tests()
    check_blocks(t)
    with tempfile.TemporaryDirectory() as top:
        copy(top)
        for title, (changes, _) in examples().items():
            fault = '' if changes else 'no block of code names a file'
            try:
                for change in changes:
                    change.apply(top)
            except ValueError as e:
                fault = str(e)
            t.check(title, fault)
        if with_build and not t.failed:
            t.check('build', build(top))
        if with_build and not t.failed:
            for title, (changes, commands) in examples().items():
                if any(c.path.startswith('web/') for c in changes) and not os.path.exists(os.path.join(top, 'build/gen/web-1.c')):
                    print('skip %s: esbuild or d3 is not installed' % title)
                    t.skipped += len(commands)
                    continue
                for command, output in commands:
                    t.check('%s: %s' % (title, command), run(top, command, output))
    print('%d passed, %d failed, %d skipped' % (t.passed, t.failed, t.skipped))
    return 1 if t.failed else 0


def main():
    args = argparse.ArgumentParser()
    args.add_argument('--build', action='store_true', help='also build the copy and run the commands')
    args.add_argument('--count', action='store_true', help='only print the files that each example touches')
    args = args.parse_args()
    if args.count:
        for title, (changes, _) in examples().items():
            print('    %s: %d' % (title, len({c.path for c in changes})))
        return 0
    return check_all(args.build)


if __name__ == '__main__':
    sys.exit(main())
