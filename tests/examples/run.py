#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every example that people read: those of the tutorials (seeds.list), of the manual pages and
of README.md, on the models of testdata/models, and compares with expected/NAME.txt.

    tests/examples/run.py                   all
    tests/examples/run.py 001 man-scope     what has one of the words in its name
    tests/examples/run.py --accept 001      writes what was found as expected
"""
import argparse
import difflib
import glob
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MODELS = os.path.join(ROOT, 'testdata', 'models')


# These need a recording or a GPU: tests/record/run.py uses them.
RECORDING = re.compile(r'(?:build/)?tfprof (?:record|ctl|gpu|doctor)\b')


class Case:
    def __init__(self, name, model):
        self.name, self.model, self.lines, self.must, self.shell = name, model, [], [], None


def seeds():
    case = None
    for line in open(os.path.join(HERE, 'seeds.list')).read().split('\n'):
        if line.startswith('#'):
            continue
        if line.startswith('@ '):
            case = Case(*line[2:].split())
            yield case
        elif case and line.startswith('~ '):
            case.must.append(line[2:])
        elif case and line.startswith('$ '):
            case.shell = line[2:]
        elif case and (line or not case.lines and case.name.endswith('options')):
            case.lines.append(line)


def manuals():
    for page in sorted(glob.glob(os.path.join(ROOT, 'docs/man/*.1'))):
        part = re.search(r'\.SH EXAMPLES\n(.*?)(?=\n\.SH|\Z)', open(page).read(), re.S)
        for i, line in enumerate(re.findall(r'^(?:tfprof|printf).*', part.group(1), re.M) if part else []):
            if RECORDING.match(line):
                continue
            case = Case('man-%s-%d' % (os.path.basename(page)[:-2], i + 1), 'all')
            case.shell = line.replace('\\-', '-').replace('\\(aq', "'").replace('\\e', '\\')
            yield case


def readme():
    text = open(os.path.join(ROOT, 'README.md')).read()
    part = text[text.index('## Using it'):].replace('\\\n', ' ')
    for i, line in enumerate(filter(lambda x: not RECORDING.match(x), re.findall(
            r'^(?:build/tfprof|printf).*', part, re.M))):
        case = Case('readme-%d' % (i + 1), 'all')
        case.shell = line.replace('build/tfprof', 'tfprof')
        yield case


def unpack(model, to):
    for path in glob.glob(os.path.join(MODELS, model, '*.gz')):
        with gzip.open(path) as f, open(os.path.join(to, os.path.basename(path)[:-3]), 'wb') as g:
            shutil.copyfileobj(f, g)


def folder(case, top):
    """A folder with the files that the case names."""
    here = os.path.join(top, case.name)
    os.mkdir(here)
    if case.model == 'all':
        unpack('resnet', here)
        unpack('textsum', here)
        for i in '01':
            shutil.copy(os.path.join(here, 'run_meta'), os.path.join(here, 'run_meta_' + i))
        for name in ('train_dir', 'job_0', 'job_1'):
            os.mkdir(os.path.join(here, name))
            shutil.copy(os.path.join(here, 'profile_100'), os.path.join(here, name))
    else:
        unpack(case.model, here)
    return here


def run(case, top):
    here = folder(case, top)
    before = set(os.listdir(here))
    env = dict(os.environ, LC_ALL='C', TERM='dumb', HOME=here, PATH=top + ':' + os.environ['PATH'])
    if case.shell:
        p = subprocess.run(['sh', '-c', case.shell], cwd=here, env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    else:
        words = ['tfprof', '--graph_path=graph.pbtxt', '--run_meta_path=run_meta',
                 '--op_log_path=tfprof_log']
        words += ['--checkpoint_path=model.ckpt'] * os.path.exists(here + '/model.ckpt.index')
        p = subprocess.run(words, cwd=here, env=env, input='\n'.join(case.lines + ['']).encode(),
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    out = p.stdout.decode()
    if p.stderr:
        out += '--- standard error\n' + p.stderr.decode()
    if p.returncode:
        out += '--- status %d\n' % p.returncode
    for name in sorted(set(os.listdir(here)) - before):
        if os.path.isdir(os.path.join(here, name)):
            out += '--- folder %s\n' % name
            continue
        with open(os.path.join(here, name), 'rb') as f:
            data = f.read()
        out += '--- file %s\n' % name
        try:
            out += data.decode() if data[:1] != b'{' else ''
        except UnicodeDecodeError:
            pass  # a message or a compressed file
    shutil.rmtree(here)
    return out


def judge(case, out):
    bad, at = [], 0
    for text in case.must:
        found = out.find(text, at)
        if found < 0:
            bad.append('not there, or not in this order: ' + text)
        else:
            at = found
    path = os.path.join(HERE, 'expected', case.name + '.txt')
    if ARGS.accept and not bad:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as f:
            f.write(out)
    expected = open(path).read() if os.path.exists(path) else ''
    if expected != out:
        bad.append(''.join(list(difflib.unified_diff(expected.splitlines(True), out.splitlines(True),
                                                     'expected', 'found', n=1))[:40]))
    return bad


def main():
    cases = list(seeds()) + list(manuals()) + list(readme())
    failed = 0
    chosen = [c for c in cases if not ARGS.filters or any(f in c.name for f in ARGS.filters)]
    top = tempfile.mkdtemp(prefix='tfprof-examples-')
    os.symlink(ARGS.program, os.path.join(top, 'tfprof'))
    for c in chosen:
        bad = judge(c, run(c, top))
        failed += bool(bad)
        if bad:
            print('FAILED %s\n%s' % (c.name, '\n'.join(bad)))
    shutil.rmtree(top)
    names = {c.name + '.txt' for c in cases}
    for stray in sorted(set(os.listdir(os.path.join(HERE, 'expected'))) - names):
        print('expected/%s belongs to no example' % stray)
        failed += 1
    print('%d passed, %d failed, 0 skipped' % (max(0, len(chosen) - failed), failed))
    return 1 if failed else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description='Runs every example of tutorials, manual and README.')
    p.add_argument('filters', nargs='*')
    p.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    p.add_argument('--accept', action='store_true')
    ARGS = p.parse_args()
    ARGS.program = os.path.abspath(ARGS.program)
    sys.exit(main())
