#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the cost of small pieces of work, in instructions counted by callgrind, between the last commit and its parent, both
built here. Growth of more than 5 % fails, unless the commit message has a
line that begins "Cost: " and says why. Ends in a line "N passed, N failed, N skipped".
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FOLDER = os.path.join(ROOT, 'build', 'guard')
MOST = 1.05

NODES = 2000
FILES = ['--graph_path={d}/graph.pb', '--op_log_path={d}/op_log.pb',
         '--run_meta_path={d}/run_meta_0.pb,{d}/run_meta_1.pb']
DEEP = ['-max_depth', '1000', '-select', 'micros,bytes', '-order_by', 'micros']
WORK = [
    ('load', FILES + ['scope', '-max_depth', '1', '-output', 'none']),
    ('scope', FILES[:1] + ['scope'] + DEEP + ['-output', 'file:outfile={d}/out']),
    ('graph', FILES[:1] + ['graph'] + DEEP + ['-output', 'file:outfile={d}/out']),
    ('op', FILES[:1] + ['op'] + DEEP + ['-output', 'none']),
    ('code', FILES[:2] + ['code'] + DEEP + ['-output', 'file:outfile={d}/out']),
    ('profile', ['--profile_path={r}/testdata/recorded/mlp_0/profile.pb', 'scope', '-output', 'none']),
]


def text(words, **more):
    p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    return p.returncode, p.stdout.decode('utf-8', 'replace')


def git(*words):
    status, said = text(['git', '-C', ROOT] + list(words))
    return None if status else said.strip()


def skip(why):
    print('skipped: %s: costs are not compared' % why)
    print('0 passed, 0 failed, %d skipped' % len(WORK))
    sys.exit(0)


def build(commit):
    """Builds the program of a commit from a checkout of it."""
    folder = os.path.join(FOLDER, commit)
    program = os.path.join(folder, 'build', 'tfprof')
    if os.path.exists(program):
        return program
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    tar = subprocess.Popen(['git', '-C', ROOT, 'archive', commit], stdout=subprocess.PIPE)
    subprocess.run(['tar', 'x', '-C', folder], stdin=tar.stdout, check=True)
    tar.wait()
    env = {k: v for k, v in os.environ.items() if k not in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL')}
    status, said = text(['make', '-C', folder, '--no-print-directory', 'build/tfprof'], env=env)
    if status:
        print(said[-2000:])
        return None
    return program


def count(program, words):
    """Returns the number of instructions, or None if the program does not have the command."""
    env = dict(os.environ, TFPROF_THREADS='1', LC_ALL='C', HOME=FOLDER)
    status, said = text(['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', program]
                        + words, env=env, stdin=subprocess.DEVNULL)
    m = re.search(r'Collected : (\d+)', said)
    return int(m.group(1)) if m and not status else None


def keep_only(commits):
    for name in os.listdir(FOLDER):
        if re.fullmatch('[0-9a-f]{40}', name) and name not in commits:
            shutil.rmtree(os.path.join(FOLDER, name))


def main():
    if not shutil.which('valgrind'):
        skip('valgrind is not there')
    commit, parent = git('rev-parse', 'HEAD'), git('rev-parse', '--verify', '-q', 'HEAD^')
    if not shutil.which('git') or not commit:
        skip('this is no git checkout')
    if not parent:
        skip('the commit has no parent here')
    os.makedirs(FOLDER, exist_ok=True)
    keep_only((commit, parent))
    programs = [build(parent), build(commit)]
    if not programs[1]:
        print('the commit cannot be built\n0 passed, 1 failed, 0 skipped')
        return 1
    if not programs[0]:
        skip('the parent cannot be built')
    subprocess.run([sys.executable, '-B', os.path.join(HERE, 'make_big.py'), '--nodes', str(NODES),
                    '--steps', '2', '--out', FOLDER], check=True, stdout=subprocess.DEVNULL)
    why = re.search(r'^Cost: *(\S.*)$', git('log', '-1', '--format=%B'), re.M)
    passed = failed = skipped = 0
    for name, words in WORK:
        words = [w.format(d=FOLDER, r=ROOT) for w in words]
        before, now = (count(p, words) for p in programs)
        if not before or not now:
            print('%-8s one of the two does not know this' % name)
            skipped += 1
            continue
        over = now > before * MOST
        print('%-8s %12d -> %12d instructions  %+6.1f %%%s' % (
            name, before, now, 100 * (now / before - 1),
            '' if not over else '  ' + why.group(0) if why else
            '  over 5 %: the commit message has no line "Cost: ..." that says why'))
        failed += over and not why
        passed += not (over and not why)
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
