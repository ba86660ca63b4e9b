#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records programs with fake CUPTIs that lose a known number of records, and compares all reported losses with the truth. Each
number is a scenario (scenario.py); README.md lists the rules. The last line counts.

    tests/losses/run.py --bin build/check               the seeds of make check
    tests/losses/run.py --seeds 0-499                   these
    tests/losses/run.py --seeds 17 --show               the scenario, the truth and the answers
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from judge import Judge, Truth  # noqa: E402
from scenario import scenario  # noqa: E402

PATIENCE = 300  # seconds; a scenario that takes longer hangs
OURS = re.compile(r'(CUDA|NVTX)_INJECTION64_PATH$|TFPROF_|LOSSES_|(LOCAL_)?RANK$|WORLD_SIZE$')


class Answers:
    """The answers of record, gpu and JSON."""
    status, summary, notes, json = 0, '', '', {}


def mount():
    """Returns the words that run a command with a small file system mounted at a folder, or None if that is not possible here."""
    for words in (['unshare', '-m'], ['unshare', '-r', '-m']):
        try:
            if not subprocess.run(words + ['sh', '-c', 'mount -t tmpfs none /mnt'], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL).returncode:
                return words
        except OSError:
            pass
    return None


def command(s, folder):
    """Returns the command line of a scenario in a folder."""
    program = os.path.join(ARGS.bin, 'losses', 'program')
    line = s.line
    small = s.disk and ARGS.mount and not s.limit
    if s.disk and not small:
        line = ['limit:%d' % s.disk] + line
    record = [os.path.join(ARGS.bin, 'tfprof'), 'record', '--wait=60', '-o', folder + '/small/r'] + s.options + ['--', program] + line
    if small:
        script = 'mount -t tmpfs -o size=%d none %s; "$@"; status=$?; cp -r %s %s; exit $status' % (
            s.disk, folder + '/small', folder + '/small/r', folder + '/r')
        return ARGS.mount + ['sh', '-c', script, 'sh'] + record
    return record


def run(words, env, folder):
    with open(folder + '/text', 'w+b') as text, open(folder + '/out', 'wb') as out:
        p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=out, stderr=text, env=env, timeout=PATIENCE, cwd=folder)
        text.seek(0)
        return p.returncode, text.read().decode('utf-8', 'replace')


def answers(s, folder):
    env = {k: v for k, v in os.environ.items() if not OURS.match(k)}
    # The fake CUPTIs do not free their memory at the end; it does not count as a leak.
    env.update(s.env, LC_ALL='C', ASAN_OPTIONS='detect_leaks=0:abort_on_error=1', LOSSES_TRUTH=folder + '/truth', LOSSES_TFPROF=ARGS.bin + '/tfprof',
               LD_LIBRARY_PATH='%s/losses/%s:%s/losses' % (ARGS.bin, s.version, ARGS.bin))
    for name in ('truth', 'small'):
        os.mkdir(os.path.join(folder, name))
    a = Answers()
    a.status, a.summary = run(command(s, folder), env, folder)
    small = s.disk and ARGS.mount and not s.limit
    if small and a.status > 128 and s.status < 0:
        a.status = 128 - a.status  # in the form that a shell reports
    recording = folder + ('/r' if small else '/small/r')
    tfprof = os.path.join(ARGS.bin, 'tfprof')
    a.notes = run([tfprof, 'gpu', recording], env, folder)[1]
    with open(folder + '/json', 'wb') as f:
        p = subprocess.run([tfprof, 'gpu', recording, '-output', 'json'], stdout=f, stderr=subprocess.PIPE, env=env, cwd=folder,
                           timeout=PATIENCE)
    if not p.returncode:
        with open(folder + '/json', encoding='utf-8', errors='replace') as f:
            a.json = json.load(f)
    return a


def text_of(s):
    return 'CUPTI %s, %s, depth %d, %s%s%s' % (s.version, s.env['LOSSES_CUPTI'] or 'without habits', s.depth,
                                               'disk %d, ' % s.disk if s.disk else '', ' '.join(s.options + ['--'] if s.options else []),
                                               ' '.join(shlex.quote(w) for w in s.line))


def judge(seed):
    """Returns (seed, faults, kernels that no number counts, text of the scenario)."""
    s = scenario(seed)
    folder = tempfile.mkdtemp(prefix='tfprof-losses-')
    try:
        a = answers(s, folder)
        j = Judge(s, Truth(folder + '/truth'), a).all()
        text = text_of(s)
        if ARGS.show:
            text += '\n  truth: %s\n  summary: %s\n  notes: %s\n  lost: %s' % (j.t, a.summary, a.notes, a.json.get('lost'))
        return seed, j.wrong, j.short, text
    except subprocess.TimeoutExpired as e:
        return seed, ['no end after %d s: %s' % (PATIENCE, e.cmd[:2])], 0, text_of(s)
    finally:
        if ARGS.keep:
            print('%d is in %s' % (seed, folder))
        else:
            shutil.rmtree(folder, ignore_errors=True)


def seeds(text):
    out = []
    for part in text.split(','):
        first, _, last = part.partition('-')
        out += range(int(first), int(last or first) + 1)
    return out


def main():
    passed = failed = short = 0
    with concurrent.futures.ThreadPoolExecutor(ARGS.jobs) as pool:
        for seed, wrong, missing, text in pool.map(judge, seeds(ARGS.seeds)):
            passed += not wrong
            failed += bool(wrong)
            short += missing > 0
            if wrong or ARGS.show:
                print('%s %d: %s' % ('FAILED' if wrong else 'ok', seed, text))
            for w in wrong:
                print('    ' + w.strip().replace('\n', '\n      '))
            sys.stdout.flush()
    if short:
        print('in %d scenarios the number of lost kernels is a bound, and smaller than the truth' % short)
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    p.add_argument('--bin', default='build/check', type=os.path.abspath)
    p.add_argument('--seeds', default='0-14')
    p.add_argument('--jobs', type=int, default=4)
    p.add_argument('--show', action='store_true', help='print scenario, truth and answers')
    p.add_argument('--keep', action='store_true', help='keep the folders')
    ARGS = p.parse_args()
    ARGS.mount = mount()

    sys.exit(main())
