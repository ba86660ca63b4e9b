#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Provokes every error sentence of errors.list and compares docs/ERRORS.md with what is made of it.

    tests/errors/run.py            all
    tests/errors/run.py --write    writes docs/ERRORS.md
"""
import argparse
import fnmatch
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PAGE = os.path.join(ROOT, 'docs', 'ERRORS.md')
KEYS = {'$': 'command', '=': 'sentence', '!': 'status', 'c': 'cause', 'h': 'cure', 'x': 'untested'}


def blocks():
    section, block = '', {}
    for line in open(os.path.join(HERE, 'errors.list')).read().split('\n') + ['']:
        if line.startswith('#'):
            continue
        if line.startswith('@ '):
            section = line[2:]
        elif not line and block:
            yield dict(block, section=section)
            block = {}
        elif line.startswith('>'):
            block.setdefault('lines', []).append(line[2:])
        elif line:
            block[KEYS[line[0]]] = line[2:]


def put(path, data):
    with open(path, 'wb') as f:
        f.write(data)


def folder(top):
    model = os.path.join(ROOT, 'testdata', 'models', 'textsum')
    for to, name in (('g', 'graph.pbtxt'), ('r', 'run_meta'), ('o', 'tfprof_log'), ('p', 'profile_100')):
        with gzip.open(os.path.join(model, name + '.gz')) as f:
            put(os.path.join(top, to), f.read())
    with open(os.path.join(top, 'p'), 'rb') as f:
        whole = f.read()
    put(os.path.join(top, 'cut'), whole[:len(whole) // 2])
    put(os.path.join(top, 'cut.gz'), gzip.compress(whole, mtime=0)[:2000])
    put(os.path.join(top, 'bad.pbtxt'), b'node { name: "a" colour: 3 }\n')
    put(os.path.join(top, 'long'), b'node { name: "%s" op: "A" }\n' % (b'a' * 60))
    put(os.path.join(top, 'junk'), b'\xff\xfe\x00junk')
    put(os.path.join(top, 's'), b'cat >/dev/null; kill -15 $$\n')


def provoke(block, top):
    """What is wrong."""
    env = dict(os.environ, LC_ALL='C', TERM='dumb', HOME=top,
               PATH=os.path.join(top, 'bin') + ':' + os.environ['PATH'])
    p = subprocess.run(['sh', '-c', block['command']], cwd=top, env=env, timeout=60,
                       input=''.join(x + '\n' for x in block.get('lines', [])).encode(),
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = [x.removeprefix('tfprof: ') for x in p.stderr.decode().split('\n') if x]
    pattern = re.sub(r'([\[?])', r'[\1]', block['sentence'])
    if not any(fnmatch.fnmatchcase(x, pattern) for x in said):
        return 'expected: %s\nsaid:     %s' % (block['sentence'], '\n          '.join(said) or '(nothing)')
    if block['status'] != '*' and p.returncode != int(block['status']):
        return 'status %d, not %s' % (p.returncode, block['status'])
    return ''


def page(every):
    out = ['# Error sentences', '',
           'Made by `tests/errors/run.py --write` from `tests/errors/errors.list`, whose test provokes each of them. All go '
           'to',
           'standard error behind `tfprof: ` (those in the words of the original without it); in a script the number of '
           'the line', 'stands before. `*` stands for what differs.']
    section = ''
    for b in every:
        if b['section'] != section:
            section = b['section']
            out += ['', '## ' + section]
        out += ['', '**`%s`**' % b['sentence'].removeprefix('line 1: '), '',
                'For example: `%s`%s; status %s.' % (
                    b['command'], ''.join(', line `%s`' % x for x in b.get('lines', []) if x), b['status'])]
        if 'untested' in b:
            out[-1] += ' (Not provoked here: %s.)' % b['untested']
        out += ['Cause: ' + b['cause'], 'Cure: ' + b['cure']]
    return '\n'.join(out) + '\n'


def main():
    every, failed = list(blocks()), 0
    top = tempfile.mkdtemp(prefix='tfprof-errors-')
    os.mkdir(os.path.join(top, 'bin'))
    os.symlink(ARGS.program, os.path.join(top, 'bin', 'tfprof'))
    folder(top)
    tried = [b for b in every if 'untested' not in b]
    for b in tried:
        bad = provoke(b, top)
        if bad:
            failed += 1
            print('FAILED %s\n%s' % (b['command'], bad))
    shutil.rmtree(top)
    text = page(every)
    if ARGS.write:
        put(PAGE, text.encode())
    stale = not os.path.exists(PAGE) or open(PAGE).read() != text
    if stale:
        print('docs/ERRORS.md is stale: tests/errors/run.py --write')
    print('%d passed, %d failed, %d skipped' % (len(tried) - failed + (not stale), failed + stale,
                                                len(every) - len(tried)))
    return 1 if failed or stale else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description='Provokes every error sentence.')
    p.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    p.add_argument('--write', action='store_true')
    ARGS = p.parse_args()
    ARGS.program = os.path.abspath(ARGS.program)
    sys.exit(main())
