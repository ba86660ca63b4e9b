#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the program with recorded answers of the original profiler.

A folder is one loaded profile: load.json names its inputs, expected.jsonl its answers, and
load_profile.json, expected_profile.jsonl are the same for the ProfileProto that the original wrote.
testdata/recorded/README.md describes the format. An answer is named PROFILE:LINE (cnn_0:17 is line 17 of
expected.jsonl; cnn_0/profile:17 of expected_profile.jsonl), its kind COMMAND.OUTPUT.

The commands of one profile run in one session, through piped lines; if the output differs, each runs again in a process of its
own. Every tenth command always runs on the command line.

    tests/recorded/run.py                      all
    tests/recorded/run.py scope.file cnn_0     answers with all these words in name or kind
    tests/recorded/run.py cnn_0:17 --keep      one, and its output folder stays
"""
import argparse
import base64
import collections
import concurrent.futures
import difflib
import gzip
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Options in the order of the original's dump, with their defaults.
OPTIONS = [('max_depth', 0), ('min_bytes', 0), ('min_peak_bytes', 0), ('min_residual_bytes', 0),
           ('min_output_bytes', 0), ('min_micros', 0), ('min_accelerator_micros', 0),
           ('min_cpu_micros', 0), ('min_params', 0), ('min_float_ops', 0), ('min_occurrence', 0),
           ('step', 0), ('order_by', ''), ('account_type_regexes', []), ('start_name_regexes', []),
           ('trim_name_regexes', []), ('show_name_regexes', []), ('hide_name_regexes', []),
           ('account_displayed_op_only', False), ('select', []), ('output', '')]

DUMP_BANNER = '\n=========================Options=============================\n'
VIEW_BANNER = '\n==================Model Analysis Report======================\n'
END_BANNER = '\n======================End of Report==========================\n'

SESSION = 24       # answers per session
ONE_SHOT_EACH = 10  # every n-th answer is checked on the command line instead
ENOUGH = 100       # number of failures after which a session is not split into single commands
TIMEOUT = 600

Answer = collections.namedtuple('Answer', 'status stdout stderr')


def as_bytes(x):
    """Returns an expected text or file as bytes, or ('gz', body) for an unpacked body."""
    if isinstance(x, dict):
        if 'gunzipped_base64' in x:
            return ('gz', base64.b64decode(x['gunzipped_base64']))
        return base64.b64decode(x['base64'])
    return x.encode('utf-8', 'surrogateescape')


def open_text(path):
    """Returns the text of path or of path.gz."""
    if os.path.exists(path):
        return open(path, encoding='utf-8')
    return gzip.open(path + '.gz', 'rt', encoding='utf-8')


def exists(path):
    return os.path.exists(path) or os.path.exists(path + '.gz')


class Load:
    """One profile as loaded in one way: input words, output of the start, cases."""

    def __init__(self, folder, name, suffix, realdata):
        spec = json.load(open_text(os.path.join(folder, 'load%s.json' % suffix)))
        self.folder, self.realdata = folder, realdata
        self.name = name + suffix.replace('_', '/')
        self.words = []
        profile = spec.get('profile')
        if profile:
            self.words.append('--profile_path=' + self.path(profile))
        else:
            if spec.get('graph'):
                self.words.append('--graph_path=' + self.path(spec['graph']))
            if spec.get('run_meta'):
                self.words.append('--run_meta_path=' + ','.join(map(self.path, spec['run_meta'])))
            if spec.get('op_log'):
                self.words.append('--op_log_path=' + self.path(spec['op_log']))
        lines = open_text(os.path.join(folder, 'expected%s.jsonl' % suffix)).read().splitlines()
        self.coverage = json.loads(lines[0])['coverage'] or []
        self.start = b'Reading Files...\n'
        if not profile:
            self.start += (b'Try to use a single --profile_path instead of '
                           b'graph_path,op_log_path,run_meta_path\n')
        for c in self.coverage:
            self.start += b'run graph coverage: %.2f\n' % c
        self.cases = []
        for i, line in enumerate(lines[1:], 2):
            self.cases += Case.parts(self, i, json.loads(line))

    def path(self, name):
        """Returns the path of an input, relative to the root if possible; other inputs are in realdata."""
        if '/realdata/' in name:
            return os.path.join(self.realdata, name.split('/realdata/', 1)[1])
        p = os.path.join(self.folder, name)
        p = p if os.path.exists(p) else p + '.gz'
        r = os.path.relpath(p, ROOT)
        return p if r.startswith('..') else r


class Case:
    """A recorded answer to compare."""

    def __init__(self, load, line, kind, entry):
        self.load, self.line, self.kind, self.entry = load, line, kind, entry
        self.label = '%s:%d' % (load.name, line)
        self.crashed = entry.get('crashed')
        self.why_not = self.not_passable()

    @staticmethod
    def parts(load, line, entry):
        """Returns the answer and its option block. Result messages are compared by tests/python/test_recorded.py."""
        output = entry['options'].get('output', '').split(':')[0]
        command = entry['command']
        kind = command if command == 'advise' else '%s.%s' % (command, output)
        parts = [Case(load, line, kind, entry)]
        if output == 'stdout' and not entry.get('crashed') and DUMP_BANNER in entry['stdout']:
            parts.append(Case(load, line, 'options', entry))
        return parts

    def not_passable(self):
        """Returns why a line cannot contain the case's patterns, or None."""
        for name, value in self.entry['options'].items():
            for item in value if isinstance(value, list) else []:
                if item == '' or item.strip('\'"') != item or ',' in item or ' ' in item:
                    return 'a pattern that a line cannot hold'
        return None

    def options(self, out):
        """Returns (name, value as a word) of every option; out is the output path."""
        if self.entry['command'] == 'advise':
            return
        given = self.entry['options']
        for name in given:
            if name not in dict(OPTIONS):
                raise SystemExit('%s: unknown option %s' % (self.label, name))
        for name, preset in OPTIONS:
            v = given.get(name, preset)
            if isinstance(v, bool):
                v = 'true' if v else 'false'
            elif isinstance(v, list):
                v = ','.join(v)
            yield name, str(v).replace('%OUT%', out)

    def line_words(self, out):
        command = 'set' if self.kind == 'options' else self.entry['command']
        words = [command]
        for name, value in self.options(out):
            words += ['-' + name, value if value else "''"]
        return ' '.join(words) + ('\n\n' if self.kind == 'options' else '\n')

    def flag_words(self, out):
        return [self.entry['command']] + ['--%s=%s' % o for o in self.options(out)]

    def expect_stdout(self, out):
        text = self.entry['stdout']
        if self.kind == 'options':
            text = text.split(DUMP_BANNER, 1)[1].split(VIEW_BANNER, 1)[0]
        elif self.kind.endswith('.stdout') and DUMP_BANNER in text:
            text = text.split(VIEW_BANNER, 1)[1]
            text = text[:-len(END_BANNER)] if text.endswith(END_BANNER) else text
        return as_bytes(text.replace('%OUT%', out))

    def expect_stderr(self, out):
        if self.kind == 'options':
            return b''
        return as_bytes(self.entry['stderr'].replace('%OUT%', out))

    def files_differ(self, folder, out):
        """Returns the differences of the files that the command left in folder; empty if all are equal."""
        want = {os.path.basename(n.replace('%OUT%', out)): as_bytes(v)
                for n, v in ({} if self.kind == 'options' else self.entry['files']).items()}
        have = set(os.listdir(folder))
        bad = ['file not written: %s' % n for n in sorted(set(want) - have)]
        bad += ['file should not be there: %s' % n for n in sorted(have - set(want))]
        for n in sorted(have & set(want)):
            got = open(os.path.join(folder, n), 'rb').read()
            exp = want[n]
            if isinstance(exp, tuple):
                exp = exp[1]
                try:
                    got = gzip.decompress(got)
                except (OSError, EOFError, zlib.error) as e:
                    bad.append('%s is not gzip: %s' % (n, e))
                    continue
            else:
                exp = exp.replace(b'%OUT%', out.encode())
            if got != exp:
                bad.append(differ(exp, got, n))
        return bad


def differ(exp, got, name):
    """Returns a unified diff, or the place of the first difference for bytes that are not text."""
    if b'\0' in exp or b'\0' in got:
        at = next((i for i, (a, b) in enumerate(zip(exp, got)) if a != b), min(len(exp), len(got)))
        return '%s: %d bytes expected, %d found, first difference at byte %d' % (
            name, len(exp), len(got), at)
    if exp.startswith(b'{"traceEvents"'):
        exp, got = (x.replace(b'},{', b'},\n{') for x in (exp, got))
    a, b = (x.decode('utf-8', 'backslashreplace').splitlines(True) for x in (exp, got))
    if len(a) * len(b) > 4000000:  # difflib would take minutes
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        a, b = a[max(0, at - 3):at + 20], b[max(0, at - 3):at + 20]
        name += ' (line %d on)' % (at + 1)
    lines = list(difflib.unified_diff(a, b, name + ' expected', name + ' found', n=2))
    text = ''.join(x if x.endswith('\n') else x + '\n\\ no newline at the end\n' for x in lines[:60])
    if len(lines) > 60:
        text += '... %d more lines of difference\n' % (len(lines) - 60)
    return text


# Log lines of libraries below the original are not from the profiler.
LOG_LINE = re.compile(rb'^(\[libprotobuf |\d{4}-\d\d-\d\d \d\d:|[IWEF]\d{4} |WARNING: All log)')


# Messages of loading; the records contain only messages of the commands.
LOAD_LINE = re.compile(rb'.* has no start time, skipping\n|found \d+ gpu allocator for 1 node\n')


# Printed when the code view is built: in each recorded answer, but only once in a session.
BUILD_LINE = re.compile(rb'\d+ gradient nodes not accounted\n')


def said_once(text):
    first = BUILD_LINE.search(text)
    return BUILD_LINE.sub(b'', text[:first.start()]) + first.group() + \
        BUILD_LINE.sub(b'', text[first.end():]) if first else text


def no_logs(text):
    return b''.join(x for x in text.splitlines(True)
                    if not LOG_LINE.match(x) and not LOAD_LINE.fullmatch(x))


# Messages of building a view: a session builds it once, each recorded answer built it again.
BUILD_LINE = re.compile(rb'^\d+ gradient nodes not accounted$')


def once(text):
    """Returns the text with only the first of each line that building a view prints."""
    seen, lines = set(), []
    for line in text.splitlines(True):
        if not BUILD_LINE.match(line.rstrip(b'\n')) or line not in seen:
            lines.append(line)
        seen.add(line)
    return b''.join(lines)


class Runner:
    def __init__(self, scratch):
        self.scratch = scratch
        self.env = dict(os.environ, LC_ALL='C')
        if ARGS.threads:
            self.env['TFPROF_THREADS'] = str(ARGS.threads)
        self.lock = threading.Lock()
        self.passed, self.failed = collections.Counter(), collections.Counter()
        self.skipped = collections.defaultdict(collections.Counter)
        self.shown = 0
        self.names = []

    def ask(self, words, stdin):
        cmd = ARGS.exec_prefix.split() + [ARGS.program] + words
        try:
            p = subprocess.run(cmd, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=self.env, cwd=ROOT, timeout=TIMEOUT)
        except subprocess.TimeoutExpired as e:
            return Answer('timeout', e.stdout or b'', e.stderr or b'')
        return Answer(p.returncode, p.stdout, p.stderr)

    def folder(self, case):
        d = os.path.join(self.scratch, re.sub(r'[^A-Za-z0-9_.]', '-', case.label + '-' + case.kind))
        shutil.rmtree(d, ignore_errors=True)
        os.makedirs(d)
        return d, os.path.join(d, 'out')

    def count(self, case, bad, command=None):
        with self.lock:
            kind = case.kind
            if case.crashed:
                kind += ' (the original crashed)'
            if not bad:
                self.passed[kind] += 1
                return
            self.failed[kind] += 1
            self.names.append('%s %s' % (case.label, kind))
            if self.shown < ARGS.first:
                self.shown += 1
                print('FAILED %s %s' % (case.label, kind))
                if command:
                    print('  ' + command)
                print('\n'.join(bad).rstrip() + '\n', flush=True)

    def judge(self, load, cases, places, a):
        """Returns what is wrong with the output of one session."""
        bad = []
        crashed = any(c.crashed for c in cases)
        if a.status == 'timeout':
            return ['no answer within %d seconds' % TIMEOUT]
        if a.status < 0 or a.status > 3:
            bad.append('ended with status %s' % a.status)
        if crashed:
            if a.status:
                bad.append('status %s, not 0' % a.status)
            said = a.stdout[len(load.start):] if a.stdout.startswith(load.start) else b''
            written = any(os.path.getsize(os.path.join(d, n)) for d, _ in places
                          for n in os.listdir(d))
            if not said and not written:
                bad.append('no answer: %r' % a.stderr[:300])
            return bad
        exp = load.start + b''.join(c.expect_stdout(o) for c, (_, o) in zip(cases, places))
        if a.stdout != exp:
            if len(cases) == 1 and cases[0].kind == 'advise':
                if checkers(a.stdout) != checkers(exp):
                    bad.append(differ(exp, a.stdout, 'stdout'))
            else:
                bad.append(differ(exp, a.stdout, 'stdout'))
        exp = once(b''.join(c.expect_stderr(o) for c, (_, o) in zip(cases, places)))
        if no_logs(a.stderr) != no_logs(said_once(exp)):
            bad.append(differ(exp, a.stderr, 'stderr'))
        if not exp and a.status:
            bad.append('status %s, but nothing went wrong' % a.status)
        for c, (d, o) in zip(cases, places):
            bad += c.files_differ(d, o)
        return bad

    def one(self, load, case, one_shot, count=True):
        d, out = self.folder(case)
        if one_shot:
            words, stdin = case.flag_words(out)[:1] + load.words + case.flag_words(out)[1:], b''
        else:
            words, stdin = load.words, case.line_words(out).encode('utf-8', 'surrogateescape')
        bad = self.judge(load, [case], [(d, out)], self.ask(words, stdin))
        text = ' '.join(quote(w) for w in [os.path.relpath(ARGS.program, ROOT)] + words)
        if stdin:
            text = "printf %%s\\\\n %s | %s" % (quote(stdin.decode().rstrip('\n')), text)
        if count:
            self.count(case, bad, text)
        if ARGS.keep:
            print('%s: %s' % (case.label, d))
        else:
            shutil.rmtree(d, ignore_errors=True)
        return not bad

    def session(self, load, cases):
        """Compares many answers in one session; if they differ, each by itself."""
        if len(cases) == 1 or ARGS.keep:
            for c in cases:
                self.one(load, c, False)
            return
        places = [self.folder(c) for c in cases]
        lines = ''.join(c.line_words(o) for c, (_, o) in zip(cases, places))
        a = self.ask(load.words, lines.encode('utf-8', 'surrogateescape'))
        bad = self.judge(load, cases, places, a)
        for d, _ in places:
            shutil.rmtree(d, ignore_errors=True)
        if not bad:
            for c in cases:
                self.count(c, [])
            return
        if sum(self.failed.values()) >= ENOUGH:
            for c in cases:
                self.count(c, ['in a session that differs; %d failed before' % ENOUGH])
            return
        alone = [self.one(load, c, False) for c in cases]
        if all(alone):
            self.count(Case(load, cases[0].line, 'session', cases[0].entry), ['the answers are right one by one, but not '
                       'in one session (lines %s)' % ' '.join(str(c.line) for c in cases)] + bad)

    def jobs(self, load, cases):
        """Yields calls that together check all cases of one load."""
        together = []
        for c in cases:
            if c.why_not:
                self.skipped[c.kind][c.why_not] += 1
            elif c.kind == 'advise' or c.crashed:
                yield (self.one, load, c, False)
            elif c.line % ONE_SHOT_EACH == 3 and c.kind != 'options':
                yield (self.one, load, c, True)
            else:
                together.append(c)
        for i in range(0, len(together), SESSION):
            yield (self.session, load, together[i:i + SESSION])


def checkers(text):
    """Splits the output of advise into the reports of the checkers, by name."""
    parts = re.split(rb'\n(\w+Checker):\n', text)
    return parts[0], sorted(zip(parts[1::2], parts[2::2]))


def quote(w):
    return w if re.fullmatch(r'[\w./=:,+-]+', w) else "'" + w.replace("'", "'\\''") + "'"


def wanted(case, filters):
    def hit(f):
        if ':' in f:
            return case.label == f
        return f in case.label.split(':')[0] or f in case.kind
    return all(hit(f) for f in filters)


def find_loads():
    loads = []
    for name in sorted(os.listdir(ARGS.data)):
        folder = os.path.join(ARGS.data, name)
        for suffix in ('', '_profile'):
            if ARGS.profile_only and not suffix or ARGS.inputs_only and suffix:
                continue
            if exists(os.path.join(folder, 'load%s.json' % suffix)):
                loads.append(Load(folder, name, suffix, ARGS.realdata))
    return loads


def report(r):
    kinds = sorted(set(r.passed) | set(r.failed) | set(r.skipped))
    for k in kinds:
        why = '; '.join('%s' % w for w in r.skipped.get(k, {}))
        print('  %-44s %5d passed %5d failed %5d skipped%s' % (
            k, r.passed[k], r.failed[k], sum(r.skipped.get(k, {}).values()), why and ': ' + why))
    if r.failed:
        rest = r.names[ARGS.first:]
        if rest:
            print('failed too: ' + ', '.join(rest[:40]) + (', ...' if len(rest) > 40 else ''))
    print('%d passed, %d failed, %d skipped' % (
        sum(r.passed.values()), sum(r.failed.values()),
        sum(sum(c.values()) for c in r.skipped.values())))


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('filters', nargs='*', help='profile, profile:line, kind, or a part of them')
    p.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    p.add_argument('--data', default=os.path.join(ROOT, 'testdata', 'recorded'))
    p.add_argument('--realdata', default='', help='where inputs outside the repository lie')
    p.add_argument('--threads', type=int, help='TFPROF_THREADS of the program')
    p.add_argument('--jobs', type=int, default=min(os.cpu_count() or 2, 8))
    p.add_argument('--profile-only', action='store_true', help='only as loaded from a ProfileProto')
    p.add_argument('--inputs-only', action='store_true', help='only as loaded from graph and steps')
    p.add_argument('--sample', type=int, help='only so many, drawn from all with a fixed seed')
    p.add_argument('--keep', action='store_true', help='keep what the program wrote; one by one')
    p.add_argument('--first', type=int, default=3, help='differences to show')
    p.add_argument('--exec-prefix', default='', help="run the program under this: 'valgrind -q'")
    a = p.parse_args()
    a.program = os.path.abspath(a.program)
    a.data = os.path.abspath(a.data)
    a.realdata = a.realdata and os.path.abspath(a.realdata)
    return a


def main():
    r = Runner(tempfile.mkdtemp(prefix='tfprof-recorded-'))
    cases = [c for load in find_loads() for c in load.cases if wanted(c, ARGS.filters)]
    if ARGS.sample:
        can = [c for c in cases if not c.why_not and not c.crashed]
        drawn = set(random.Random(1).sample(range(len(can)), min(ARGS.sample, len(can))))
        cases = [c for i, c in enumerate(can) if i in drawn]
    jobs = []
    for load, of_load in itertools.groupby(cases, lambda c: c.load):
        jobs += r.jobs(load, list(of_load))
    if not cases:
        print('no recorded answer has that name')
    elif not os.path.exists(ARGS.program):
        print('there is no program %s' % ARGS.program)
        r.failed['program'] += 1
    else:
        with concurrent.futures.ThreadPoolExecutor(ARGS.jobs) as pool:
            for f in [pool.submit(*j) for j in jobs]:
                f.result()
    if not ARGS.keep:
        shutil.rmtree(r.scratch, ignore_errors=True)
    report(r)
    return 1 if r.failed or not cases else 0


if __name__ == '__main__':
    ARGS = arguments()
    sys.exit(main())
