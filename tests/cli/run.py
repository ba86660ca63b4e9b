#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the golden cases of the program. A case is tests/cli/SUITE/CASE.sh and files beside it:

    CASE.sh             POSIX shell, run in its own empty folder; $TFPROF and $DATA are set (words without blanks)
    CASE.in             fed to standard input; absent = empty
    CASE.stdout.exact   byte for byte; absent = nothing may be printed; stderr likewise
    CASE.stderr.glob    the same by lines, where "..." alone on a line stands for any lines
    CASE.exit           status; absent = 0
    CASE.files/         files the run must leave behind, byte for byte; absent = none
    NAME.inc            what several cases share: . "${0%/*}/NAME.inc"

The first lines of the .sh are "# what: " and one sentence, and "# from: " and one of
"original <version>" (recorded from the original), "rule of the original" (worked out by hand), "deviation: why".
In the output, $DATA and $PWD replace the paths of the test data and of the case's folder.

    tests/cli/run.py                       all
    tests/cli/run.py scope/min_params      what has one of the words in its path
    tests/cli/run.py --accept scope        writes what was found as expected; original: with --force
"""
import argparse
import concurrent.futures
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FROM = re.compile(r'^# from: (original \S+|rule of the original|deviation: \S.*)')
TIMEOUT = 600
LINKED = ('../tfprof', '../testdata')  # the program and the data, from the folder of a case


class Case:
    def __init__(self, path):
        self.path = path
        self.base = path[:-len('.sh')]
        self.name = os.path.relpath(self.base, HERE)

    def read(self, suffix):
        try:
            with open(self.base + suffix, 'rb') as f:
                return f.read()
        except FileNotFoundError:
            return None

    def head(self):
        """Returns (the origin of the expectation, faults of the first lines)."""
        lines = self.read('.sh').decode('utf-8').splitlines()
        what = [x for x in lines[:6] if re.match(r'^# what: \S', x)]
        origin = [m.group(1) for m in map(FROM.match, lines[:6]) if m]
        if not what:
            return '', 'no line "# what: ..." at its beginning'
        if not origin:
            return '', 'no line "# from: original <version> | rule of the original | deviation: <why>"'
        return origin[0], None

    def run(self, folder):
        """Returns (status, stdout, stderr, files by relative name), with paths replaced."""
        env = dict(os.environ, LC_ALL='C', TZ='UTC', HOME=folder, TERM='dumb')
        # Called through links, because the paths of the checkout may contain blanks.
        env.update(TFPROF=(ARGS.exec_prefix + ' ' if ARGS.exec_prefix else '') + LINKED[0], DATA=LINKED[1], PWD=folder)
        try:
            p = subprocess.run(['sh', self.path], input=self.read('.in') or b'', cwd=folder, env=env,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT)
            status, out, err = p.returncode, p.stdout, p.stderr
        except subprocess.TimeoutExpired as e:
            status, out, err = 'timeout', e.stdout or b'', e.stderr or b''
        files = {}
        for at, _, names in os.walk(folder):
            for n in names:
                p = os.path.join(at, n)
                rel = os.path.relpath(p, folder)
                if os.path.isfile(p):
                    with open(p, 'rb') as f:
                        files[rel] = f.read()
        return status, self.neutral(out, folder), self.neutral(err, folder), files

    @staticmethod
    def neutral(text, folder):
        return text.replace(LINKED[1].encode(), b'$DATA').replace(folder.encode(), b'$PWD')

    def expected_files(self):
        files, top = {}, self.base + '.files'
        for at, _, names in os.walk(top):
            for n in names:
                with open(os.path.join(at, n), 'rb') as f:
                    files[os.path.relpath(os.path.join(at, n), top)] = f.read()
        return files

    def judge(self, status, out, err, files):
        bad = []
        want = int((self.read('.exit') or b'0').strip())
        if status != want:
            bad.append('status %s, not %d' % (status, want))
        for name, got in (('stdout', out), ('stderr', err)):
            glob = self.read('.%s.glob' % name)
            if glob is not None:
                if not glob_matches(glob.decode('utf-8', 'backslashreplace').splitlines(),
                                    got.decode('utf-8', 'backslashreplace').splitlines()):
                    bad.append(differ(glob, got, name))
                continue
            exp = self.read('.%s.exact' % name) or b''
            if exp != got:
                bad.append(differ(exp, got, name))
        want = self.expected_files()
        for n in sorted(set(want) | set(files)):
            if n not in files:
                bad.append('file not written: ' + n)
            elif n not in want:
                bad.append('file should not be there: ' + n)
            elif want[n] != files[n]:
                bad.append(differ(want[n], files[n], n))
        return bad

    def accept(self, status, out, err, files):
        for name, got in (('stdout', out), ('stderr', err)):
            if self.read('.%s.glob' % name) is None:
                put(self.base + '.%s.exact' % name, got)
        put(self.base + '.exit', b'' if status == 0 else b'%d\n' % status)
        shutil.rmtree(self.base + '.files', ignore_errors=True)
        for n, data in files.items():
            p = os.path.join(self.base + '.files', n)
            os.makedirs(os.path.dirname(p), exist_ok=True)
            with open(p, 'wb') as f:
                f.write(data)


def put(path, data):
    """Writes data to a file; removes the file if data is empty."""
    if data:
        with open(path, 'wb') as f:
            f.write(data)
    elif os.path.exists(path):
        os.unlink(path)


def glob_matches(pattern, lines):
    """True if the lines match; '...' in the pattern stands for any number of lines."""
    reach = {0}  # possible numbers of lines that the pattern has consumed so far
    for p in pattern:
        if p == '...':
            reach = set(range(min(reach), len(lines) + 1)) if reach else reach
        else:
            reach = {n + 1 for n in reach if n < len(lines) and lines[n] == p}
    return len(lines) in reach


def differ(exp, got, name):
    a, b = (x.decode('utf-8', 'backslashreplace').splitlines(True) for x in (exp, got))
    lines = list(difflib.unified_diff(a, b, name + ' expected', name + ' found', n=2))
    text = ''.join(x if x.endswith('\n') else x + '\n\\ no newline at the end\n' for x in lines[:60])
    return text + ('... %d more lines of difference\n' % (len(lines) - 60) if len(lines) > 60 else '')


def do(case):
    """Runs a case. Returns (case, faults, a line to print or None)."""
    origin, wrong = case.head()
    if wrong:
        return case, [wrong], None
    top = os.path.realpath(tempfile.mkdtemp(prefix='tfprof-cli-'))
    folder = os.path.join(top, 'case')
    os.mkdir(folder)
    for path, link in zip((ARGS.program, ARGS.data), LINKED):
        os.symlink(path, os.path.join(folder, link))
    try:
        found = case.run(folder)
        bad = case.judge(*found)
        if bad and ARGS.accept and found[0] != 'timeout':
            if origin.startswith('original') and not ARGS.force:
                bad.append('recorded from the original: --accept needs --force')
            else:
                case.accept(*found)
                return case, [], 'accepted ' + case.name
        return case, bad, '%s: %s' % (case.name, folder) if ARGS.keep else None
    finally:
        if not ARGS.keep:
            shutil.rmtree(top, ignore_errors=True)


def strays(cases):
    """Returns the files beside the cases that belong to none of them."""
    bases = {c.base for c in cases}
    shared = {os.path.join(os.path.dirname(c.path), n) for c in cases
              for n in re.findall(r'^\. "\$\{0%/\*\}/(.*)"$', c.read('.sh').decode('utf-8'), re.M)}
    kinds = ('.sh', '.in', '.exit', '.stdout.exact', '.stdout.glob', '.stderr.exact', '.stderr.glob',
             '.files')
    for suite in sorted(os.listdir(HERE)):
        top = os.path.join(HERE, suite)
        for n in sorted(os.listdir(top)) if os.path.isdir(top) and suite != '__pycache__' else []:
            p = os.path.join(top, n)
            if p not in shared and not any(p.endswith(k) and p[:-len(k)] in bases for k in kinds):
                yield os.path.relpath(p, HERE)


def arguments():
    p = argparse.ArgumentParser(description='Runs the golden cases of the program.')
    p.add_argument('filters', nargs='*', help='a part of SUITE/CASE')
    p.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    p.add_argument('--accept', action='store_true', help='write what was found as expected')
    p.add_argument('--force', action='store_true', help='accept also what is from the original')
    p.add_argument('--keep', action='store_true', help="keep the cases' folders")
    p.add_argument('--exec-prefix', default='', help="run the program under this: 'valgrind -q'")
    p.add_argument('--first', type=int, default=5, help='failures to show')
    p.add_argument('--jobs', type=int, default=min(os.cpu_count() or 2, 8))
    a = p.parse_args()
    a.program = os.path.abspath(a.program)
    a.data = os.path.join(ROOT, 'testdata')
    return a


def main():
    every = [Case(os.path.join(at, n)) for at, _, names in sorted(os.walk(HERE))
             for n in sorted(names) if n.endswith('.sh') and '.files' not in at]
    cases = [c for c in every if not ARGS.filters or any(
        f.removeprefix('tests/cli/').removesuffix('.sh') in c.name for f in ARGS.filters)]
    failed = []
    if not ARGS.filters:
        failed = ['%s belongs to no case' % s for s in strays(every)]
        print(''.join(f + '\n' for f in failed), end='')
    with concurrent.futures.ThreadPoolExecutor(ARGS.jobs) as pool:
        for case, bad, line in pool.map(do, cases):
            if line:
                print(line)
            if bad:
                failed.append(case.name)
                if len(failed) <= ARGS.first:
                    print('FAILED %s\n%s' % (case.name, '\n'.join(bad)))
                else:
                    print('FAILED %s' % case.name)
    if not cases and ARGS.filters:
        print('no case has that name')
    print('%d passed, %d failed, 0 skipped' % (
        len(cases) - len([f for f in failed if ' ' not in f]), len(failed)))
    return 1 if failed or not cases and ARGS.filters else 0


if __name__ == '__main__':
    ARGS = arguments()
    sys.exit(main())
