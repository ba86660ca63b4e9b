#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs random commands in one session, and compares each answer with that of a separate process.

Commands must not influence each other: a session must print and write the same as fresh processes, one after the other. Lines
with `set` are replayed in each of them.

    tests/sessions/run.py                  the usual seeds
    tests/sessions/run.py --seeds 5-200    others
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECORDED = os.path.join(ROOT, 'testdata', 'recorded')
METRICS = ['bytes', 'peak_bytes', 'residual_bytes', 'output_bytes', 'micros', 'accelerator_micros', 'cpu_micros',
           'params', 'float_ops', 'occurrence']
SELECT = METRICS + ['device', 'op_types', 'input_shapes']
NAMES = ['.*', '.*a.*', '[a-m].*', '.*[0-9]', '.*grad.*', 'Conv.*,MatMul', 'n1.*', '.*py:[0-9]*:.*']
# Messages of loading and of building trees: once in a session, once in each fresh process.
ONCE = re.compile(rb'.* has no start time, skipping\n|found \d+ gpu allocator for 1 node\n|'
                  rb'\d+ gradient nodes not accounted\n|note: .*\n')


def options(r):
    """Returns some random options with values."""
    choices = [('max_depth', [0, 1, 2, 3, 5, 100]), ('step', [-1, -1, 0, 1, 9]), ('order_by', ['name'] + METRICS),
               ('select', [','.join(r.sample(SELECT, r.randrange(1, 5)))]), ('min_micros', [0, 1, 100]),
               ('min_params', [0, 1, 10]), ('min_occurrence', [0, 2]), ('account_displayed_op_only', ['true', 'false']),
               ('account_type_regexes', ['.*', 'Const', 'MatMul,Conv2D,Add', '.*pu.*', "''"]),
               ('start_name_regexes', ['.*', r.choice(NAMES)]), ('trim_name_regexes', ["''", r.choice(NAMES[1:])]),
               ('show_name_regexes', ['.*', '.*', r.choice(NAMES)]), ('hide_name_regexes', ["''", r.choice(NAMES[1:])])]
    words = []
    for name, values in r.sample(choices, r.randrange(6)):
        words += ['-' + name, str(r.choice(values))]
    return words


def make_lines(r):
    lines = []
    for _ in range(r.randrange(4, 12)):
        command = r.choice(['scope', 'graph', 'op', 'code', 'op', 'code', 'scope', 'advise', 'set', 'set'])
        words = [command] + options(r)
        if command in ('scope', 'graph', 'op', 'code'):
            words += ['-output', r.choice(['stdout', 'file:outfile=out', 'file:outfile=out', 'none'])]
        lines.append(' '.join(words))
    return lines


def ask(load, lines):
    """Runs a process. Returns (stdout, stderr); written files are in its folder."""
    with tempfile.TemporaryDirectory(prefix='tfprof-session-') as folder:
        numbered = [x.replace('outfile=out', 'outfile=%s' % os.path.join(folder, 'out%d' % i))
                    for i, x in enumerate(lines)]
        p = subprocess.run([ARGS.program] + load, input=''.join(x + '\n' for x in numbered).encode(), cwd=ROOT,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
        if p.returncode < 0:
            raise SystemExit('the program was killed: %s %s' % (load, lines))
        files = {}
        for i in range(len(lines)):
            path = os.path.join(folder, 'out%d' % i)
            files[i] = open(path, 'rb').read() if os.path.exists(path) else None
    # Some errors contain the line number.
    return p.stdout, re.sub(rb'line \d+: ', b'', ONCE.sub(b'', p.stderr)), files


def compare(load, lines):
    """Returns the difference, or None."""
    start = ask(load, ['set'])[0]
    out, err, files = ask(load, lines)
    fresh_out, fresh_err, sets = start, b'', []
    for i, line in enumerate(lines):
        if line.startswith('set'):
            sets.append(line)
            continue
        a, b, alone = ask(load, sets + [line])
        fresh_out += a[len(start):]
        fresh_err += b
        if alone[len(sets)] != files[i]:
            return 'another file from line %d: %s' % (i, line)
    if out != fresh_out:
        return 'other lines on standard output'
    return None if err == fresh_err else 'other lines on standard error'


def main():
    profiles = sorted(n for n in os.listdir(RECORDED) if os.path.exists(os.path.join(RECORDED, n, 'profile.pb'))
                      or os.path.exists(os.path.join(RECORDED, n, 'profile.pb.gz')))
    first, last = (ARGS.seeds.split('-') + [ARGS.seeds])[:2]
    failed = 0
    for seed in range(int(first), int(last) + 1):
        r = random.Random(seed)
        path = os.path.join(RECORDED, r.choice(profiles), 'profile.pb')
        load = ['--profile_path=' + (path if os.path.exists(path) else path + '.gz')]
        lines = make_lines(r)
        why = compare(load, lines)
        while why and failed < 3:  # tries without one line
            for i in range(len(lines)):
                fewer = lines[:i] + lines[i + 1:]
                if fewer and compare(load, fewer):
                    lines = fewer
                    break
            else:
                break
        if why:
            failed += 1
            print('FAILED seed %d: %s\n  %s\n  %s' % (seed, compare(load, lines), load[0], '\n  '.join(lines)))
    print('%d passed, %d failed, 0 skipped' % (int(last) - int(first) + 1 - failed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    P = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    P.add_argument('--seeds', default='1-12')
    P.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    ARGS = P.parse_args()
    ARGS.program = os.path.abspath(ARGS.program)
    sys.exit(main())
