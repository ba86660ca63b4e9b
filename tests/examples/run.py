#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every documented example: those of the tutorials (seeds.list), of the manual pages, of
README.md and docs/, on testdata (example, models, traces, the recording of small), and compares with
expected/NAME.txt. The commands of README must succeed with an answer that is not empty. Targets of make that the texts name are looked up in the Makefile, quirks in the source.

    tests/examples/run.py                   all
    tests/examples/run.py tool man-scope    what has one of the words in its name
    tests/examples/run.py --accept tool     writes what was found as expected
"""
import argparse
import difflib
import fcntl
import glob
import gzip
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, 'tests', 'check'), os.path.join(ROOT, 'tests', 'trace')]
import kineto  # noqa: E402
from built import has  # noqa: E402

MODELS = os.path.join(ROOT, 'testdata', 'models')


# Parts of the output of recording examples that differ between runs and machines.
SCREEN = b'the full screen\n'  # the output of the full-screen view
VARYING = [(re.compile(r'127\.0\.0\.1:\d+/[0-9a-f]{32}/'), '127.0.0.1:PORT/TOKEN/'),
           (re.compile(r'tfprof-\d{8}-\d{6}-\d+'), 'tfprof-DATE-PID'),
           (re.compile(r'^(\w+ +)(?:ok|BAD|note) .*\n(?: {18}.*\n)*', re.M), r'\1...\n'),
           (re.compile(r'^Verdict: .*\n(--- status 1\n)?', re.M), 'Verdict: ...\n')]


class Case:
    def __init__(self, name, model):
        self.name, self.model, self.lines, self.must, self.shell, self.typed, self.lacks = name, model, [], [], None, '', []


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


def command(source, line):
    """A command in a text, with the lines typed at its prompt. Its words make the name of the case."""
    said, *lines = line.split('\ntfprof> ')
    said = re.sub(r' +#.*', '', said.replace('build/tfprof', 'tfprof').lstrip('$ ').replace('\n', ' '))
    words = re.sub(r'[^A-Za-z0-9_.-]+', ' ', said.replace('tfprof ', '', 1)).split()
    case = Case(('%s-%s' % (source, '-'.join(words)))[:120], 'all')
    case.shell, case.typed = said.replace('DIR', 'run2'), '\n'.join(lines)
    return case


def manuals():
    for page in sorted(glob.glob(os.path.join(ROOT, 'docs/man/*.1'))):
        part = re.search(r'\.SH EXAMPLES\n(.*?)(?=\n\.SH|\Z)', open(page).read(), re.S)
        lines = re.findall(r'^(?:tfprof|printf|eval).*', part.group(1), re.M) if part else []
        for line in lines:
            line = line.replace('\\-', '-').replace('\\(aq', "'").replace('\\e', '\\')
            yield command('man', line)


def pages():
    """Yields commands in blocks, dialogues with the prompt, and commands within sentences, except those with an ellipsis."""
    for path in [os.path.join(ROOT, 'README.md')] + sorted(glob.glob(os.path.join(ROOT, 'docs', '*.md'))):
        name = os.path.basename(path)[:-3].lower()
        if name == 'errors':  # tests/errors/run.py has run its examples
            continue
        text = open(path).read()
        text = text[text.find('## Ten things') if name == 'readme' else 0:].replace('\\\n', ' ')
        found = re.findall(r'^((?:build/)?tfprof [^>\n].*|printf .*|\$ (?:build/)?tfprof .*\n(?:tfprof> .*\n)+)', text, re.M)
        found += [x for x in re.findall(r'`(tfprof [^\s`]+ [^`…]*)`', re.sub(r'```.*?```', '', text, flags=re.S))
                  if not re.search(r'\b(FILE|WORD)\b', x)]
        for line in found:
            yield command(name, line)


def quirks():
    """Each quirk of docs/QUIRKS.md is marked in the source, and each mark is in the document."""
    with open(os.path.join(ROOT, 'docs', 'QUIRKS.md')) as f:
        told = set(re.findall(r'^\| (\d+) \|', f.read(), re.M))
    marked = set()
    for path in glob.glob(os.path.join(ROOT, 'src', '**', '*.*'), recursive=True):
        with open(path) as f:
            marked |= set(re.findall(r'[Qq]uirk (\d+)', f.read()))
    for n in sorted(told ^ marked, key=int):
        yield 'quirk %s stands %s' % (n, 'in docs/QUIRKS.md alone' if n in told else 'in the source alone')


def runners():
    """The commands of docs/HACKING.md that run tests can be started, and have the test that is named."""
    with open(os.path.join(ROOT, 'docs', 'HACKING.md')) as f:
        found = re.findall(r'^((?:tests|build/check/unit)/\S+) +([^#\s]+)', f.read(), re.M)
    for path, name in found:
        folder, source = os.path.split(os.path.join(ROOT, path.replace('build/check/', 'tests/')))
        if path.startswith('tests/') and not os.access(os.path.join(folder, source), os.X_OK):
            yield 'docs/HACKING.md: %s cannot be started' % path
        texts = [open(x).read() for x in glob.glob(folder + '/*.py') + glob.glob('%s/%s.c' % (folder, source))]
        if re.match(r'(test_|t\d\d_)', name) and not any(name + '(' in x for x in texts) or \
                folder.endswith('cli') and not os.path.exists('%s/%s.sh' % (folder, name)):
            yield 'docs/HACKING.md: %s has no %s' % (path, name)


def places():
    """The files that the texts name exist, and the tests in brackets after a file, too."""
    for page in [os.path.join(ROOT, 'README.md')] + glob.glob(os.path.join(ROOT, 'docs', '*.md')):
        with open(page) as f:
            text, page = f.read(), os.path.relpath(page, ROOT)
        for path, names in re.findall(r'`((?:examples|include|proto|python|src|testdata|tests|tools)/[a-z0-9_./]+)`(?: \(([a-z0-9_, ]+)\))?', text):
            whole = os.path.join(ROOT, path)
            if not os.path.exists(whole) and '\n`%s`:\n' % path not in text:  # a worked example makes that file
                yield '%s: there is no %s' % (page, path)
            elif path.endswith('.py') and names:
                code = ''.join(open(x).read() for x in {whole, *glob.glob(os.path.dirname(whole) + '/*.py')})
                for name in names.split(', '):
                    if not re.search(r'def (\w+_)?%s\b' % name, code):
                        yield '%s: %s has no %s' % (page, path, name)


def demo():
    """README shows lines of the output of make demo, in order, and make demo runs that command."""
    with open(os.path.join(ROOT, 'README.md')) as f:
        said = re.search(r'`make demo` ends with\n\n```\n\$ (.*?[^\\])\n(.*?)```', f.read(), re.S)
    words = said.group(1).replace('\\\n', ' ').split()
    makes = subprocess.run(['make', '-n', 'demo'], cwd=ROOT, stdout=subprocess.PIPE,
                           env=dict(os.environ, MAKEFLAGS='', MFLAGS='', MAKELEVEL='')).stdout.decode().replace('\\\n', ' ')
    if ' '.join(words) not in ' '.join(makes.split()):
        yield 'README.md: make demo runs something else'
    out = subprocess.run([ARGS.program] + words[1:], cwd=ROOT, stdout=subprocess.PIPE).stdout.decode().split('\n')
    shown = [x for x in said.group(2).rstrip('\n').split('\n') if x != '...']
    if [x for x in out if x in shown] != shown:
        yield 'README.md: make demo does not print what is shown of it'


def targets():
    """The targets that the texts name are in the Makefile."""
    with open(os.path.join(ROOT, 'Makefile')) as f:
        known = set(re.findall(r'^## ([a-z-]+):', f.read(), re.M)) | {'units'}
    for path in [os.path.join(ROOT, 'README.md')] + sorted(glob.glob(os.path.join(ROOT, 'docs', '*.md'))):
        with open(path) as f:
            for line in re.findall(r'^make .*|(?<=`)make [^`]*', f.read(), re.M):
                for word in line.partition('#')[0].split()[1:]:
                    if '=' not in word and word not in known:
                        yield '%s: make has no target %s' % (os.path.relpath(path, ROOT), word)


def unpack(model, to):
    for path in glob.glob(os.path.join(MODELS, model, '*.gz')):
        with gzip.open(path) as f, open(os.path.join(to, os.path.basename(path)[:-3]), 'wb') as g:
            shutil.copyfileobj(f, g)


def recordings(here, line):
    """Makes the programs to record, and the folders of recordings, for the examples of recording."""
    for name in ('bin/python', 'bin/torchrun', 'server'):
        path = os.path.join(here, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as f:
            f.write('#!/bin/sh\necho "${0##*/} ran: $*"\n')
        os.chmod(path, 0o755)
    for name in ('session', 'run1', 'run2', 'tfprof-20260101-000000-1'):
        if ' -o ' + name not in line:
            os.mkdir(os.path.join(here, name), 0o700)
            shutil.copy(os.path.join(ROOT, 'testdata', 'small', 'train.tfspool'),
                        os.path.join(here, name, 'node1-4711-1-00000001.tfspool'))


def folder(case, top):
    """Makes a folder with the files that the case names."""
    here = os.path.join(top, case.name)
    os.mkdir(here)
    os.symlink(os.path.join(ROOT, 'testdata'), os.path.join(here, 'testdata'))
    if case.model == 'all':
        unpack('resnet', here)
        unpack('textsum', here)
        for i in '01':
            shutil.copy(os.path.join(here, 'run_meta'), os.path.join(here, 'run_meta_' + i))
        shutil.copy(os.path.join(here, 'profile_100'), os.path.join(here, 'profile_200'))
        for name in ('train_dir', 'job_0', 'job_1'):
            os.mkdir(os.path.join(here, name))
            shutil.copy(os.path.join(here, 'profile_100'), os.path.join(here, name))
        shutil.copy(os.path.join(ROOT, 'testdata', 'traces', 'trace.xplane.pb'), here)
        shutil.copy(os.path.join(ROOT, 'testdata', 'memory', 'snapshot.pickle'), here)
        shutil.copytree(os.path.join(ROOT, 'testdata', 'flight'), os.path.join(here, 'dumps'))
        shutil.copytree(os.path.join(ROOT, 'testdata', 'graphs'), here, dirs_exist_ok=True)
        with open(os.path.join(here, 'rank0.pt.trace.json'), 'wb') as f:
            f.write(kineto.trace(kineto.steps_with_memory()))
        recordings(here, case.shell)
    else:
        unpack(case.model, here)
    return here


def serve(line, here, env):
    """Runs a server until it has printed its address."""
    p = subprocess.Popen(['sh', '-c', 'exec ' + line], cwd=here, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = p.stdout.readline() + p.stdout.readline()
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=600)
    return subprocess.CompletedProcess(line, p.returncode, first + out, err)


def look(line, here, env):
    """Runs the full-screen view in a pseudo-terminal until its panels appear, then quits."""
    if not has(ARGS.program, 'ncurses'):
        return subprocess.CompletedProcess(line, 0, SCREEN, b'')
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
    p = subprocess.Popen(['sh', '-c', 'exec ' + line], cwd=here, env=dict(env, TERM='xterm'), stdin=theirs, stdout=theirs,
                         stderr=subprocess.PIPE, start_new_session=True)
    os.close(theirs)
    data = b''
    try:
        while part := os.read(ours, 1 << 16):
            if b'1 scope' not in data and b'1 scope' in data + part:
                os.write(ours, b'q')
            data += part
    except OSError:  # the program has closed the terminal
        pass
    os.close(ours)
    err = p.communicate(timeout=600)[1]
    return subprocess.CompletedProcess(line, p.returncode, SCREEN if b'1 scope' in data else data, err)


def numbers(text):
    """Returns the number of lines that have a number."""
    return sum(bool(re.search(r'\d', line)) for line in text.split('\n'))


def lists(value):
    """Returns the length of the longest list of objects in a JSON document."""
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    own = sum(isinstance(x, dict) for x in inside) if isinstance(value, list) else 0
    return max([own, *map(lists, inside)])


def has_answer(path):
    """True if a file that an example wrote has an answer in it, and not only its frame."""
    if os.path.isdir(path):
        return True  # of a program that uses no GPU
    with open(path, 'rb') as f:
        data = f.read()
    if path.endswith('.gz'):
        return len(gzip.decompress(data)) > 1000
    if path.endswith('.json'):
        return lists(json.loads(data)) >= 5
    if path.endswith('.html'):
        return len(data) > 100000
    return numbers(data.decode()) >= 3


def answers(case, text, files):
    """Returns what a command of README lacks: a status other than failure, and an answer that is printed or in a file."""
    if not case.name.startswith('readme-'):
        return []
    bad = ['%s: nothing is in it' % os.path.basename(f) for f in files if not has_answer(f)]
    return bad + (['the answer is empty'] if not files and numbers(text) < 3 and text.encode() != SCREEN else [])


def run(case, top):
    here = folder(case, top)
    before = set(os.listdir(here))
    env = dict(os.environ, LC_ALL='C', TERM='dumb', HOME=here, TFPROF_ROOT=here,
               PATH='%s:%s/bin:%s' % (top, here, os.environ['PATH']))
    if case.shell and case.shell.startswith('tfprof serve'):
        p = serve(case.shell, here, env)
    elif case.shell and case.shell.startswith(('tfprof ui ', 'tfprof -i ')):
        p = look(case.shell, here, env)
    elif case.shell:
        p = subprocess.run(['sh', '-c', case.shell], cwd=here, env=env, input=case.typed.encode(),
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    else:
        words = ['tfprof', '--graph_path=graph.pbtxt', '--run_meta_path=run_meta',
                 '--op_log_path=tfprof_log']
        words += ['--checkpoint_path=model.ckpt'] * os.path.exists(here + '/model.ckpt.index')
        p = subprocess.run(words, cwd=here, env=env, input='\n'.join(case.lines + ['']).encode(),
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    out = p.stdout.decode()
    made = sorted(set(os.listdir(here)) - before)
    case.lacks = answers(case, out, [os.path.join(here, name) for name in made])
    if case.name.startswith('readme-') and p.returncode:
        case.lacks.append('status %d' % p.returncode)
    if p.stderr:
        out += '--- standard error\n' + p.stderr.decode()
    if p.returncode:
        out += '--- status %d\n' % p.returncode
    for name in made:
        if os.path.isdir(os.path.join(here, name)):
            out += '--- folder %s\n' % name
            continue
        with open(os.path.join(here, name), 'rb') as f:
            data = f.read()
        out += '--- file %s\n' % name
        try:
            out += data.decode() if data[:1] not in (b'{', b'<') else ''
        except UnicodeDecodeError:
            pass  # a message or a compressed file
    shutil.rmtree(here)
    return recorded(out.replace(here, 'HERE').replace(os.path.dirname(ARGS.program), 'BIN'))


def recorded(out):
    """Returns the text without parts that differ between runs and machines."""
    for pattern, to in VARYING:
        out = pattern.sub(to, out)
    return out


def failures(cases):
    """Yields documented examples that fail with status 2 or 3, whose expected answer must have been accepted unread."""
    for case in cases:
        if case.shell and not case.must and not case.shell.startswith('tfprof doctor') and re.search(r'^--- status [23]$', expected(case), re.M):
            yield '%s: the example fails' % case.name


def page_of(case):
    return os.path.join(HERE, 'expected', case.name + '.txt')


def expected(case):
    path = page_of(case)
    return open(path).read() if os.path.exists(path) else ''


def judge(case, out):
    bad, at = list(case.lacks), 0
    if case.shell:
        out = '$ %s\n%s' % (case.shell, out)
    for text in case.must:
        found = out.find(text, at)
        if found < 0:
            bad.append('not there, or not in this order: ' + text)
        else:
            at = found
    if ARGS.accept and not bad:
        os.makedirs(os.path.dirname(page_of(case)), exist_ok=True)
        with open(page_of(case), 'w') as f:
            f.write(out)
    if expected(case) != out:
        bad.append(''.join(list(difflib.unified_diff(expected(case).splitlines(True), out.splitlines(True),
                                                     'expected', 'found', n=1))[:40]))
    return bad


def main():
    cases = list({(c.name, c.shell): c for c in [*seeds(), *manuals(), *pages()]}.values())
    failed, names = 0, {c.name for c in cases}
    for twice in sorted(n for n in names if [c.name for c in cases].count(n) > 1):
        print('two examples are called ' + twice)
        failed += 1
    chosen = [c for c in cases if not ARGS.filters or any(f in c.name for f in ARGS.filters)]
    plain = [] if has(ARGS.program, 'demangler') else [c for c in chosen if 'at::native::' in expected(c)]
    for c in plain:
        print('skipped: %s: no demangler in this build' % c.name)
    chosen = [c for c in chosen if c not in plain]
    top = tempfile.mkdtemp(prefix='tfprof-examples-')
    os.symlink(ARGS.program, os.path.join(top, 'tfprof'))
    for c in chosen:
        bad = judge(c, run(c, top))
        failed += bool(bad)
        if bad:
            print('FAILED %s\n%s' % (c.name, '\n'.join(bad)))
    shutil.rmtree(top)
    for text in [*failures(cases), *targets(), *runners(), *places(), *quirks(), *demo()]:
        print(text)
        failed += 1
    for stray in sorted(set(os.listdir(os.path.join(HERE, 'expected'))) - {n + '.txt' for n in names}):
        print('expected/%s belongs to no example' % stray)
        failed += 1
    if not chosen and not plain:
        print('no example has that name')
    print('%d passed, %d failed, %d skipped' % (max(0, len(chosen) - failed), failed, len(plain)))
    return 1 if failed or not chosen and not plain else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description='Runs every example of tutorials, manual and README.')
    p.add_argument('filters', nargs='*')
    p.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    p.add_argument('--accept', action='store_true')
    ARGS = p.parse_args()
    ARGS.program = os.path.abspath(ARGS.program)
    sys.exit(main())
