#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts recorded files after each 1/64 of their length. Without --recover what is cut inside a record
is refused, and a second line names the flag; with it the run succeeds, and its warning has the counts of this script's own
parser: records kept, bytes lost, bytes missing. Then recordings are tested in the same way (spool/recover_spools.py); they may
be truncated, but not damaged.

    tests/recover/run.py --program build/tfprof [--make build/check/spool_make] [--all | --sample N]
"""
import argparse
import concurrent.futures
import glob
import gzip
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'spool'))
import recover_spools  # noqa: E402
PARTS = 64
KINDS = {'graph': ('--graph_path', 'nodes'), 'run_meta': ('--run_meta_path', 'executions'),
         'op_log': ('--op_log_path', 'entries'), 'profile': ('--profile_path', 'nodes')}
KEPT = re.compile(r'^warning: .*; (\d+) (\w+)(?: and (\d+) steps?)? before it (?:is|are) kept; lost (?:is|are) '
                  r'(?:at least (\d+) nodes?, )?(?:(\d+) bytes?|all bytes from (\d+) on)(?:; (\d+) more are missing)?$',
                  re.M)


def fields(data, at, end):
    """Yields (field, type, offset of its tag, offset of its value, end) until data ends."""
    def varint(i):
        n = shift = 0
        while i < len(data):
            n |= (data[i] & 127) << shift
            shift += 7
            i += 1
            if data[i - 1] < 128:
                return n, i
        raise EOFError
    while at < min(end, len(data)):
        try:
            tag, i = varint(at)
            if tag & 7 == 2:
                n, i = varint(i)
                yield tag >> 3, 2, at, i, i + n
                at = i + n
                continue
            j = varint(i)[1] if tag & 7 == 0 else i + {1: 8, 5: 4}[tag & 7]
        except EOFError:
            yield 0, 0, at, len(data), len(data) + 1
            return
        yield tag >> 3, tag & 7, at, i, j
        at = j


def judge(kind, data):
    """Returns (records kept, offset of the first lost one or None, keys of their steps)."""
    kept, steps = 0, set()
    enter = {0: {1}, 1: {1}} if kind == 'run_meta' else {}
    leaf = {'graph': (0, 1), 'op_log': (0, 1), 'profile': (0, 1), 'run_meta': (2, 2)}[kind]

    def walk(depth, at, end):
        nonlocal kept
        last = at
        for field, wire, tag, begin, stop in fields(data, at, end):
            if wire == 2 and field in enter.get(depth, ()):
                cut = walk(depth + 1, begin, stop)
                if cut is not None:
                    return cut
            elif stop > len(data):
                return tag
            elif wire == 2 and (depth, field) == leaf:
                kept += 1
                if kind == 'profile':
                    for f, _, _, b, e in fields(data, begin, stop):
                        if f == 2:
                            for g, w, _, b2, e2 in fields(data, b, e):
                                if (g, w) == (12, 2):
                                    for h, _, _, b3, e3 in fields(data, b2, e2):
                                        if h == 1:
                                            steps.add(data[b3:e3])
            last = stop
        return last if depth and last < end else None
    lost = walk(0, 0, len(data) + 1)
    return kept, lost, steps


def run(program, words):
    p = subprocess.run([program] + words + ['scope', '-max_depth', '0'], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=600)
    return p.returncode, p.stderr.decode('utf-8', 'replace')


def check(program, kind, path, data, graph):
    """Returns a description of the fault, or None."""
    flag, noun = KINDS[kind]
    kept, at, steps = judge(kind, data)
    words = graph + ['%s=%s' % (flag, path)]
    status, text = run(program, words)
    if at is None:
        return None if status == 0 else 'a whole file: status %d: %s' % (status, text)
    if status != 3 or ('tfprof: --recover reads' in text) != (kept > 0):
        return 'without --recover: status %d: %s' % (status, text)
    status, text = run(program, ['--recover'] + words)
    m = KEPT.search(text)
    if not kept:
        return None if status == 3 else 'nothing to keep: status %d: %s' % (status, text)
    if status != 0 or not m:
        return 'status %d, no warning: %s' % (status, text)
    found = (int(m.group(1)), m.group(2), int(m.group(5)))
    expected = kept, re.sub('ies$', 'y', noun).rstrip('s') if kept == 1 else noun, len(data) - at
    if found != expected:
        return 'expected %s, found %s' % (expected, text)
    if kind == 'profile' and int(m.group(3)) != len(steps):
        return 'expected %d steps: %s' % (len(steps), text)
    return None


def inputs(everything):
    for path in sorted(glob.glob(ROOT + '/testdata/recorded/*/*.pb*')):
        kind = next((k for k in KINDS if os.path.basename(path).startswith(k)), None)
        folder = os.path.basename(os.path.dirname(path))
        if not kind or 'pbtxt' in path or not (everything or folder == 'rnn_0'):
            continue
        with open(path, 'rb') as f:
            data = f.read()
        yield kind, path, gzip.decompress(data) if path.endswith('.gz') else data


def check_cut(program, cut, kind, path, data, i):
    part = data[:len(data) * i // PARTS]
    with open(cut, 'wb') as f:
        f.write(part)
    graph = glob.glob(os.path.dirname(path) + '/graph.pb*') if kind == 'op_log' else []
    return check(program, kind, cut, part, ['--graph_path=' + g for g in graph[:1]])


def check_workers(program, folder):
    """Loads a damaged file among workers, in a folder, as a side, a baseline and a job. Returns a description of the fault, or None."""
    with gzip.open(ROOT + '/testdata/recorded/rnn_0/profile.pb.gz') as f:
        data = f.read()
    for name, part in (('whole', data), ('cut', data[:15000])):
        os.mkdir(os.path.join(folder, name))
        with open(os.path.join(folder, name, 'profile_1'), 'wb') as f:
            f.write(part)
    kept = judge('profile', data[:15000])[0]
    view = ['scope', '-max_depth', '0']
    for words, lines in ((['whole/profile_1', 'cut/profile_1'] + view, ''), (['cut', 'whole'] + view, ''),
                         (['cut'] + view, ''), (['diff', 'whole/profile_1', 'cut/profile_1'], ''),
                         (['baseline', 'save', 'kept', 'cut/profile_1'], ''), (['whole'], 'load cut\n')):
        for flags in ([], ['--recover']):
            p = subprocess.run([program] + words[:1] + flags + words[1:], cwd=folder, input=lines.encode(),
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=600)
            err = p.stderr.decode('utf-8', 'replace')
            found = KEPT.search(err)
            if not flags and (p.returncode not in (1, 3) or found or 'tfprof: --recover reads' not in err):
                return 'refused with the flag named? %s: status %d: %s' % (words, p.returncode, err)
            if flags and (p.returncode or not found or int(found.group(1)) != kept):
                return 'kept? %s: status %d: %s' % (words, p.returncode, err)
    return None


def new_folder(folder, k):
    folder = os.path.join(folder, 'spool%d' % k)
    os.mkdir(folder)
    return folder


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--program', default=os.path.join(ROOT, 'build/tfprof'))
    p.add_argument('--make', help='spool_make: spools too')
    p.add_argument('--all', action='store_true')
    p.add_argument('--sample', type=int, help='so many cuts, drawn from all with a fixed seed')
    a = p.parse_args()
    program = os.path.abspath(a.program)
    cuts = [(kind, path, data, i) for kind, path, data in inputs(a.all or a.sample) for i in range(PARTS + 1)]
    if a.sample:
        cuts = random.Random(1).sample(cuts, min(a.sample, len(cuts)))
    jobs = [('workers', lambda folder: check_workers(program, folder))]
    jobs += [('%s cut after %d/%d' % (os.path.relpath(path, ROOT), i, PARTS),
              lambda folder, k=k, cut=(kind, path, data, i): check_cut(program, os.path.join(folder, str(k)), *cut))
             for k, (kind, path, data, i) in enumerate(cuts)]
    if a.make:
        jobs += [(name, lambda folder, f=f, k=k: f(new_folder(folder, k)))
                 for k, (name, f) in enumerate(recover_spools.jobs(program, os.path.abspath(a.make)))]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda job: job[1](folder), jobs))
    bad = ['%s: %s' % (name, wrong) for (name, _), wrong in zip(jobs, found) if wrong]
    print('\n'.join(bad))
    print('%d passed, %d failed, 0 skipped' % (len(jobs) - len(bad), len(bad)))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
