#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Provokes every error message of errors.list, and compares docs/ERRORS.md with the page generated from it.
Then searches the source: every text that is passed to a failing function must have been printed, or be among the lines "- TEXT
| why" of errors.list; a why that begins with "tests/FILE: " says where it
is tested, and FILE has to hold the beginning of a part of the text.

    tests/errors/run.py            all
    tests/errors/run.py --write    writes docs/ERRORS.md
"""
import argparse
import fnmatch
import glob
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'check')]
import files  # noqa: E402
from built import has  # noqa: E402
PAGE = os.path.join(ROOT, 'docs', 'ERRORS.md')
KEYS = {'$': 'command', '=': 'sentence', '!': 'status', 'c': 'cause', 'h': 'cure', 'x': 'untested'}

FAILING = ('err_set err_system session_fail table_fail pbtext_fail wire_fail wire_fail_short wire_varint wire_pass '
           'fail_here pbtext_fail_here fail_open fail_at lost damaged bad_slices bad_values field_fail FIELD_FAIL reading_refuse '
           'src_fail_gzip place api_fail_size').split()
CALL = re.compile(r'\b(?:%s)\(' % '|'.join(FAILING))
TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|\b(PRI[a-z0-9]+)\b|([()])|(\s+)|.', re.S)
CONVERSION = re.compile(r'%(?:%|[-0-9.*]*[hlz]*[a-zA-Z])')


def texts(source, at):
    """Returns the texts among the arguments that begin at `at`; adjacent literals are one text."""
    out, now, depth = [], None, 1
    for m in TOKEN.finditer(source, at):
        if m.group(1) is not None or m.group(2):
            now = (now or '') + ('d' if m.group(2) else m.group(1))
        elif not m.group(4):
            out += [] if now is None else [now]
            now = None
            depth += {'(': 1, ')': -1}.get(m.group(3), 0)
            if not depth:
                return out


def in_source():
    """Returns (text, place) for all texts that are passed to failing functions."""
    for path in sorted(glob.glob(os.path.join(ROOT, 'src', '**', '*.[ch]'), recursive=True)):
        with open(path) as f:
            source = f.read()
        for m in CALL.finditer(source):
            for text in texts(source, m.end()):
                if re.search('[A-Za-z]{3}', CONVERSION.sub(' ', text)):
                    yield text, '%s:%d' % (os.path.relpath(path, ROOT), source.count('\n', 0, m.start()) + 1)


def in_order(parts, line):
    """True if a line contains the parts one after the other."""
    at = 0
    for part in parts:
        at = line.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


def check_source(said):
    """Returns the texts of the source that were not provoked, and needless exceptions."""
    excused, bad = {}, []
    for line in open(os.path.join(HERE, 'errors.list')):
        if line.startswith('- '):
            text, _, why = line[2:].rpartition(' | ')
            excused[text] = False
            if why.startswith('tests/'):
                with open(os.path.join(ROOT, why.partition(':')[0].strip())) as f:
                    there = f.read()
                if not any(len(x) >= 10 and x.strip(" ':()")[:24] in there for x in CONVERSION.split(text)):
                    bad.append('%s does not hold: %s' % (why.partition(':')[0], text))
    for text, where in in_source():
        plain = text.replace('\\"', '"').replace('\\\\', '\\')
        if plain in excused:
            excused[plain] = True
        elif not any(in_order(CONVERSION.split(plain), line) for line in said):
            bad.append('%s: nothing in errors.list provokes: %s' % (where, plain))
    return bad + ['errors.list excuses what is not in the source: ' + x for x in excused if not excused[x]]


def blocks():
    section, block = '', {}
    for line in open(os.path.join(HERE, 'errors.list')).read().split('\n') + ['']:
        if line.startswith(('#', '- ')):
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


def provoke(block, top, every):
    """Runs a case. Returns its fault, and adds all printed texts to every."""
    env = dict(os.environ, LC_ALL='C', TERM='dumb', HOME=top,
               PATH=os.path.join(top, 'bin') + ':' + os.environ['PATH'])
    p = subprocess.run(['sh', '-c', block['command']], cwd=top, env=env, timeout=600,
                       input=''.join(x + '\n' for x in block.get('lines', [])).encode(),
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = [x.removeprefix('tfprof: ') for x in p.stderr.decode().split('\n') if x]
    every.update(said)
    pattern = re.sub(r'([\[?])', r'[\1]', block['sentence'])
    if not any(fnmatch.fnmatchcase(x, pattern) for x in said):
        return 'expected: %s\nsaid:     %s' % (block['sentence'], '\n          '.join(said) or '(nothing)')
    if block['status'] != '*' and p.returncode != int(block['status']):
        return 'status %d, not %s' % (p.returncode, block['status'])
    return ''


def anchor(title):
    return title.lower().replace(',', '').replace(' ', '-')


def page(every):
    """Returns docs/ERRORS.md: the messages by what the user was doing, in the order of errors.list."""
    sections = {}
    for b in every:
        sections.setdefault(b['section'], []).append(b)
    out = ['# Error messages', '',
           'Search this page for the words of a message; `*` stands for the part that differs. After each message comes a '
           'command that', 'provokes it with its exit status, and below it the cause and what to do.', '',
           'Messages go to standard error after `tfprof: `; those of the original profiler have no such prefix. In a script, '
           '`line N:`', 'comes before the message. Exit status: 0 success, 1 failed, 2 usage error, 3 unreadable input.', '',
           'While you were:', '']
    out += ['- [%s](#%s)' % (t[0].lower() + t[1:], anchor(t)) for t in sections]
    for title, inside in sections.items():
        out += ['', '## ' + title]
        alike = {}
        for b in inside:
            alike.setdefault((b['cause'], b['cure']), []).append(b)
        for (cause, cure), messages in alike.items():
            out += ['']
            for b in messages:
                lines = ''.join(', line `%s`' % x for x in b.get('lines', []) if x)
                untested = '; not provoked by a test: ' + b['untested'] if 'untested' in b else ''
                out += ['- **`%s`**: `%s`%s (status %s%s)' % (b['sentence'].removeprefix('line 1: '), b['command'], lines,
                                                            b['status'], untested)]
            out += ['', '  %s **%s**' % (cause, cure)]
    out += ['', 'This page is made by `tests/errors/run.py --write` from `tests/errors/errors.list`; the test provokes each '
            'message.']
    return '\n'.join(out) + '\n'


def main():
    every, failed, said = list(blocks()), 0, set()
    top = tempfile.mkdtemp(prefix='tfprof-errors-')
    os.mkdir(os.path.join(top, 'bin'))
    os.symlink(ARGS.program, os.path.join(top, 'bin', 'tfprof'))
    folder(top)
    files.write(top)
    packed = [] if has(ARGS.program, 'snappy') else [b for b in every if 'snappy' in b['command']]
    tried = [b for b in every if 'untested' not in b and b not in packed]
    for b in tried:
        bad = provoke(b, top, said)
        if bad:
            failed += 1
            print('FAILED %s\n%s' % (b['command'], bad))
    for b in packed:
        said.add(b['sentence'])
        print('skipped: %s: no snappy in this build' % b['command'])
    shutil.rmtree(top)
    unsaid = check_source(said)
    print('\n'.join(unsaid))
    text = page(every)
    if ARGS.write:
        put(PAGE, text.encode())
    stale = not os.path.exists(PAGE) or open(PAGE).read() != text
    if stale:
        print('docs/ERRORS.md is stale: tests/errors/run.py --write')
    print('%d passed, %d failed, %d skipped' % (len(tried) - failed + (not stale) + (not unsaid),
                                                failed + stale + bool(unsaid),
                                                len(every) - len(tried)))
    return 1 if failed or stale or unsaid else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description='Provokes every error message.')
    p.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    p.add_argument('--write', action='store_true')
    ARGS = p.parse_args()
    ARGS.program = os.path.abspath(ARGS.program)
    sys.exit(main())
