# SPDX-License-Identifier: Apache-2.0
"""A step of the tests: its name, its tiers and its command. The suite.py of each suite makes them."""
import contextlib
import fcntl
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COUNT = re.compile(r'^(\d+) passed, (\d+) failed, (\d+) skipped$')
CPUS = os.cpu_count() or 2
MANY = str(max(4, CPUS))
PATIENCE = 6 * 3600  # seconds; a longer step counts as hanging, on any machine
TIERS = ('quick', 'deep', 'real', 'covered', 'web')
OUTSIDE = ('realdata', 'golden')  # folders that are not in the repository


class Result:
    def __init__(self, passed=0, failed=0, skipped=0, text='', note=''):
        self.passed, self.failed, self.skipped = passed, failed, skipped
        self.text, self.note = text, note


class Step:
    """One step of the tests, which is a line of the report.

    tiers    names of TIERS, separated by spaces
    command  words of a shell, from the root of the repository, in which {program}, {bin} and the other keys of
             run.places() are filled in; the command prints its count as the last line. Or a function of those
             places that returns a Result
    seconds  about how long the step takes; the longest steps begin first
    skips    False if another step already reports the tests that this one skips
    """

    def __init__(self, name, tiers, command, seconds=1, skips=True):
        unknown = set(tiers.split()) - set(TIERS)
        if unknown:
            raise ValueError('%s: unknown tier: %s' % (name, ' '.join(sorted(unknown))))
        self.name, self.tiers, self.command, self.seconds, self.skips = name, tiers.split(), command, seconds, skips

    def selects(self):
        """True if the command itself selects tests by the filter."""
        return isinstance(self.command, str) and '{filter}' in self.command

    def run(self, places):
        if callable(self.command):
            return self.command(places)
        for name in OUTSIDE:
            if '{%s}' % name in self.command and not places[name]:
                return Result(skipped=1, note='%s is not set' % name.upper())
        words = []
        for word in shlex.split(self.command):
            if word == '{filter}':
                words += [places['filter']] if places['filter'] not in self.name else []
            else:
                words.append(word.format_map(places))
        return counted(words, skips=self.skips)


def run(words, env=None, timeout=PATIENCE, cwd=ROOT):
    """Runs a command. Returns (status, stdout and stderr together)."""
    try:
        p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=timeout, cwd=cwd,
                           env=dict(os.environ, LC_ALL='C', **(env or {})))
        return p.returncode, p.stdout.decode('utf-8', 'backslashreplace')
    except subprocess.TimeoutExpired as e:
        return -1, (e.stdout or b'').decode('utf-8', 'backslashreplace') + '\nno end in sight\n'


@contextlib.contextmanager
def locked(folder):
    """Locks a folder that several steps use, so that only one step at a time fills it."""
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with open(folder + '.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def scratch_python(name, packages, *options):
    """Makes a scratch environment below build/ with these packages, once. Returns (path of its Python, None), or (None, the
    result that skips the step)."""
    home, wanted = os.path.join('build', name), ' '.join(packages)
    python, done = os.path.join(home, 'bin', 'python'), os.path.join(home, 'packages')
    with locked(home):
        if os.path.exists(done) and open(done).read() == wanted:
            return python, None
        for words in ([sys.executable, '-m', 'venv', '--clear', home],
                      [python, '-m', 'pip', 'install', '--quiet', *options, *packages]):
            status, text = run(words)
            if status:
                return None, Result(skipped=1, note='%s cannot be installed: %s' % (wanted, text.strip().split('\n')[-1]))
        with open(done, 'w') as f:
            f.write(wanted)
    return python, None


def counted(words, env=None, skips=True):
    """Runs a command that prints its own count at the end; libraries may print more when they close. A script is run by its
    interpreter."""
    interpreter = {'.py': [sys.executable, '-B'], '.sh': ['sh']}.get(os.path.splitext(words[0])[1], [])
    status, text = run(interpreter + list(words), env)
    lines = text.rstrip('\n').split('\n')
    counts = [i for i, line in enumerate(lines) if COUNT.match(line)]
    if not counts:
        return Result(failed=1, text=text + '\n(no count, status %d)' % status)
    m = COUNT.match(lines.pop(counts[-1]))
    passed, failed, skipped = map(int, m.groups())
    if status and not failed:
        failed = 1
    return Result(passed, failed, skipped if skips else 0, '\n'.join(lines))


def cmocka(program):
    """Runs a cmocka program and counts its tests."""
    status, text = run([program], {'CMOCKA_MESSAGE_OUTPUT': 'STDOUT'})
    # The summary names failed and skipped tests again.
    n = {k: set(re.findall(r'^\[ *%s *\] ([^\s:]+)$' % k, text, re.M))
         for k in ('OK', 'FAILED', 'SKIPPED')}
    count = Result(len(n['OK']), len(n['FAILED']), len(n['SKIPPED']), text)
    if status and not count.failed:
        count.failed = 1
        count.text += '\n(status %d)' % status
    if not status and not count.passed and not count.skipped:
        count.failed, count.text = 1, text + '\n(it ran no test)'
    return count


def yes(ok, text=''):
    return Result(1, 0, 0, '') if ok else Result(0, 1, 0, text)


def same(made, kept, names, cure):
    """Compares files of two folders by name."""
    bad = []
    for n in names:
        a, b = os.path.join(made, n), os.path.join(kept, n)
        if not os.path.exists(a) or not os.path.exists(b) or open(a, 'rb').read() != open(b, 'rb').read():
            bad.append('%s/%s is stale: %s' % (kept, n, cure))
    return Result(len(names) - len(bad), len(bad), 0, '\n'.join(bad))


def under_valgrind(program):
    """Writes a script that runs a program under valgrind. Returns its path."""
    path = os.path.join(ROOT, 'build', 'valgrind', os.path.basename(program))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write('#!/bin/sh\nexec valgrind -q --error-exitcode=99 %s "$@"\n' % os.path.join(ROOT, program))
    os.chmod(path, 0o755)
    return path
