#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses the full-screen view (tfprof ui) in a terminal (tmux): keys, panels, sizes, signals, hostile names.

    tests/term/ui.py --program build/check/tfprof [NAME...]     quick
    tests/term/ui.py --program build/check/tfprof million       a profile of a million nodes
"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unicodedata

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, 'tests', d) for d in ('check', 'models')]
import cases  # noqa: E402
from built import has  # noqa: E402
import terminal  # noqa: E402
from terminal import Terminal  # noqa: E402
from wire import num, sub  # noqa: E402

TRACE = os.path.join(ROOT, 'testdata/traces/training.pt.trace.json.gz')
PROFILE = os.path.join(ROOT, 'testdata/example/profile_100')
SIZES = ((60, 15), (80, 24), (120, 40))


class View:
    """The program in a terminal of that size."""

    def __init__(self, words, w=80, h=24, before='', mark='1 scope'):
        self.top = os.getcwd()
        os.makedirs('bin', exist_ok=True)
        if not os.path.exists('bin/tfprof'):
            os.symlink(ARGS.program, 'bin/tfprof')
        self.t = Terminal(self.top, w, h)
        self.t.wait('$')
        self.raw = os.path.join(self.top, 'raw-%d' % time.monotonic_ns())
        self.t.tmux('pipe-pane', 'cat >%s' % self.raw)
        try:
            self.type('echo the shell', 'Enter')
            self.until('\nthe shell\n')
            self.modes = self.stty()
            self.type('%s tfprof %s' % (before, words), 'Enter')
            self.until(mark)
        except AssertionError:
            self.t.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.t.close()

    def stty(self):
        return subprocess.run(['stty', '-g', '-F', self.t.tty], stdout=subprocess.PIPE, check=True).stdout

    def type(self, text, *keys):
        self.t.tmux('send-keys', '-l', '--', text)
        self.keys(*keys)

    def keys(self, *keys):
        for key in keys:
            self.t.tmux('send-keys', '--', key)
            self.t.still()

    def until(self, mark):
        assert self.t.wait(mark), 'never seen: %s\n%s' % (mark, self.t.screen())
        return self.t.screen()

    def has(self, *marks):
        self.t.still()
        text = self.t.screen()
        for mark in marks:
            assert mark in text, 'not on the screen: %r\n%s' % (mark, text)
        return text

    def gone(self, mark):
        """Waits until the mark is no longer on the screen: Escape is recognised only after a pause without further bytes."""
        end = time.monotonic() + terminal.PATIENCE
        while mark in self.t.screen():
            assert time.monotonic() < end, 'still on the screen: %s' % mark
            time.sleep(0.04)

    def lines(self):
        self.t.still()
        return self.t.screen().split('\n')

    def process(self):
        """Returns the process id of the program."""
        front = int(terminal.about('/proc/%d' % self.t.shell)[5])
        assert front != self.t.shell
        return front

    def restored(self, *marks):
        """Asserts that the terminal is in the state from before the program began."""
        self.until('\nthe shell\n')
        cases.equal(self.stty(), self.modes, 'the modes of the terminal')
        self.type('echo st""atus $?', 'Enter')
        self.until('\nstatus ')
        for mark in marks:
            self.has(mark)
        raw = self.bytes()
        assert raw.rfind(b'\x1b[?1049l') > raw.rfind(b'\x1b[?1049h') >= 0, 'the full screen is not left'
        assert raw.rfind(b'\x1b[?25h') > raw.rfind(b'\x1b[?25l'), 'the cursor stays hidden'

    def bytes(self):
        time.sleep(0.1)
        with open(self.raw, 'rb') as f:
            return f.read()


def told(*words):
    return subprocess.run([ARGS.program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE).stdout.decode()


def width(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in line)


# ---- keys ----

def tree(_):
    """Entries open and close; the cursor returns to the entry above; the numbers are those of the command."""
    with View('ui ' + PROFILE) as v:
        assert 'dense1' not in v.has('_TFProfRoot', '▸ gradients', 'q quit').replace('▸ dense1', '')
        v.type('/gradients', 'Enter')
        v.keys('Right')
        v.has('  ▾ gradients', '    ▸ dense1')
        v.keys('Down', 'Left')
        v.has('▾ gradients')
        v.keys('Left')
        assert '    ▸ dense1' not in v.has('▸ gradients')
        v.keys('Home', '+')
        v.has('    ▾ conv3', '      ▾ Conv2D_grad')
        printed = told('scope', PROFILE, '-max_depth', '100')
        for line in v.lines()[5:-2]:
            found = re.match(r' *\d+% +(?:[▾▸] )?(\S+) +(\S+)', line)
            assert found, line
            name, number = found.groups()
            if '…' not in name:
                assert re.search(r'[ /\n]%s \(%s,' % (re.escape(name), number), printed), line
        v.keys('-')
        assert 'gradients' not in v.t.screen()
        v.keys('q')
        v.restored('\nstatus 0')


def search(_):
    """/ finds names in closed entries, n and N go on, a missing name is reported."""
    with View('ui ' + PROFILE) as v:
        v.type('/adam', 'Enter')
        first = v.has('/ApplyAdam').split('\n')[-2].split()[3]
        v.keys('n')
        second = v.has('/ApplyAdam').split('\n')[-2].split()[3]
        assert first != second, first
        v.keys('N')
        cases.equal(v.lines()[-2].split()[3], first, 'after n and N')
        v.type('/no such name', 'Enter')
        v.has('not found: no such name')
        v.type('/Decode')
        v.keys('BSpace')
        v.has('/Decod_')
        v.keys('Escape')
        v.gone('Decod_')


def sort(_):
    """s sorts trees and tables by the next column; m adds a metric; open entries stay open."""
    with View('ui ' + PROFILE, 120, 40) as v:
        v.keys('+', 's')
        v.has('sorted by accelerator_micros', '-order_by accelerator_micros', '    ▾ conv2')
        v.keys('m', 'm')
        v.has('sorted by params', '# parameters')
    with View('ui ' + TRACE) as v:
        v.keys('4')
        v.until('tfprof kernels')
        v.keys('s', 's')
        v.has('sorted by count')
        rows = json.loads(told('kernels', TRACE, '--top=0', '-output', 'json'))['rows']
        counts = sorted((r['count'] for r in rows), reverse=True)
        shown = [int(re.split(r'  +', line)[2]) for line in v.lines()[3:3 + len(counts)]]
        cases.equal(shown, counts, 'the counts')
        v.keys('s', 's', 's', 's')
        v.has('sorted by share')


def panels(_):
    """Every panel shows what its command prints; Tab goes through all of them, numbers choose one."""
    for file, names in ((TRACE, 'scope op why kernels steps devices memory summary'),
                        (PROFILE, 'scope op code graph advise memory summary')):
        with View('ui ' + file, 120, 40) as v:
            for i, name in enumerate(names.split()):
                v.until('tfprof %s' % name)
                v.keys('Tab')
            v.until('tfprof scope')
            v.keys('BTab')
            v.until('tfprof summary')
            v.keys('2')
            v.until('tfprof op')
    for file, word in (('memory/snapshot.pickle', 'memory'), ('small/train.tfspool', 'kernels'), ('models/resnet', 'advise')):
        with View('ui ' + os.path.join(ROOT, 'testdata', file)) as v:
            v.has(word)


def cause(_):
    """Enter on a cause shows its places and commands, Enter on a kernel, op or step its details; Esc returns."""
    with View('ui ' + TRACE) as v:
        v.keys('3')
        v.until('Input-bound')
        v.keys('Enter')
        v.until('1. input_pipeline')
        v.has('tfprof why --cause input_pipeline', '1. input_pipeline: saves', 'where', 'enumerate(DataLoad', 'tfprof what-if', 'advice')
        v.keys('Escape')
        v.until('cause ')
        v.keys('4')
        v.until('tfprof kernels')
        v.keys('Enter')
        v.until('called by:')
        v.has('tfprof peek', 'steps:', 'aten::addmm')
        v.keys('BSpace', '5')
        v.until('tfprof steps')
        v.keys('Down', 'Enter')
        v.until('tfprof why -step 11')
        v.keys('Escape', '1')
        v.until('tfprof scope')
        v.type('/aten::linear', 'Enter')
        v.keys('p')
        v.until('tfprof peek aten::linear')
        v.keys('?')
        v.until('Keys of the full-screen view')
        v.keys('Escape')
        v.until('tfprof peek aten::linear')


def options(_):
    """Options of the views apply; -i is the command ui; a wrong option is an error."""
    with View('-i %s -order_by accelerator_micros -start_name_regexes gradients.*' % PROFILE) as v:
        assert 'input' not in v.has('gradients')
    with View('ui %s -step 99; echo do""ne' % PROFILE, mark='-step=99') as v:
        v.has('Options -step=99 not found')
    with View('ui %s -nosuch 1; echo do""ne' % PROFILE, mark='\ndone') as v:
        v.has('nosuch')


def prompt(_):
    """The prompt opens the view of the loaded profile, and continues after it."""
    if not has(ARGS.program, 'libedit'):
        raise cases.Skip('no libedit in this build')
    with View(PROFILE, 80, 60, mark='tfprof>') as v:
        v.type('ui', 'Enter')
        v.until('1 scope')
        v.keys('q')
        v.until('tfprof>')
        v.type('set -step', 'Enter')
        v.has('-step')
        v.keys('C-d')
        v.restored('\nstatus 0')


# ---- sizes and looks ----

def sizes(_):
    """No line is longer than the terminal, omissions are marked, and a resize keeps the position."""
    for file in (TRACE, PROFILE):
        for w, h in SIZES:
            with View('ui ' + file, w, h) as v:
                for key in '12345678':
                    v.keys(key)
                    lines = v.lines()
                    assert len(lines) <= h and all(width(x) <= w for x in lines), '\n'.join(lines)
                    assert 'q quit' in lines[-1], lines[-1]
    with View('ui ' + TRACE, 120, 40) as v:
        v.keys('5')
        v.until('tfprof steps')
        assert '›' not in v.t.screen()
        v.keys('Down', 'Down')
        before = v.lines()[-2].split()[:3]
        for w, h in ((60, 15), (40, 8), (19, 4), (80, 24)):
            v.t.tmux('resize-window', '-x', str(w), '-y', str(h))
            v.t.still()
            if w == 60:
                v.until('›')
                v.keys('>', '>')
                v.has('‹')
                v.keys('<', '<')
        v.until('tfprof steps')
        cases.equal(v.lines()[-2].split()[:3], before, 'the place after resizes')


def colours(_):
    """Shares have colours, except with NO_COLOR or --color=never; the C locale needs only ASCII."""
    red = re.compile(rb'\x1b\[[0-9;]*3[13][;m]')
    with View('ui ' + TRACE) as v:
        v.keys('Down')
        assert red.search(v.bytes())
    for before, more in (('NO_COLOR=1', ''), ('', ' --color=never')):
        with View('ui ' + TRACE + more, before=before) as v:
            v.keys('Down')
            assert not red.search(v.bytes()), before
    with View('ui ' + TRACE, before='env LC_ALL=C LANG=C') as v:
        v.has('- _TFProfRoot', '+ aten::linear', '...')
        assert v.t.screen().isascii()


HOSTILE = ['\x1b]0;pwned\x07title', 'new\nline\ttab\rreturn', '\u202egnp.exe', '\x9b31mC1', '中文字', 'e\u0301a\u0308combining', '\x1b[2J\x1b[31mred']


def hostile(_):
    """Names with control characters reach the terminal only as escapes; wide and combining characters keep the columns."""
    events = [{'ph': 'X', 'cat': 'cpu_op', 'name': n, 'pid': 1, 'tid': 1, 'ts': 1000 * i, 'dur': 900 - i} for i, n in enumerate(HOSTILE)]
    with open('bad.json', 'w') as f:
        json.dump({'schemaVersion': 1, 'traceEvents': events, 'displayTimeUnit': 'ms', 'deviceProperties': []}, f)
    with View('ui bad.json') as v:
        lines = v.has('\\x1b]0;pwned\\x07title', 'C1', '中文字').split('\n')
        places = {width(x[:m.end()]) for x in lines for m in [re.search(r'/8\d\dus', x)] if m}
        assert len(places) == 1, '\n'.join(lines)
        for _ in HOSTILE:
            v.keys('Down')
        v.keys('End', 'Enter')
        raw = v.bytes()
    for bad in (b'\x1b]0;pwned', b'\x1b[2J\x1b[31mred', '\u202e'.encode(), b'\xc2\x9b', b'new\n'):
        assert bad not in raw, bad


# ---- the terminal ----

def stops(_):
    """Ctrl-Z restores the terminal, also while the program computes; fg shows the screen again."""
    with View('ui ' + TRACE) as v:
        for _ in range(2):
            v.keys('C-z')
            v.until('the shell')
            cases.equal(v.stty(), v.modes, 'the modes of the terminal')
            v.type('echo be""tween', 'Enter')
            v.until('\nbetween\n')
            v.type('fg', 'Enter')
            v.until('1 scope')
            v.keys('Down')
            v.has(' of 8')
        os.kill(v.process(), signal.SIGTSTP)
        v.until('the shell')
        cases.equal(v.stty(), v.modes, 'the modes of the terminal')
        v.type('fg', 'Enter')
        v.until('1 scope')
        v.keys('q')
        v.restored('\nstatus 0')


def ends(_):
    """Signals and crashes restore the terminal, and the status has the signal."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGSEGV, signal.SIGABRT, signal.SIGQUIT, signal.SIGBUS):
        with View('ui ' + TRACE, before='ulimit -c 0;') as v:
            os.kill(v.process(), number)
            v.restored('\nstatus %d' % (128 + number))
    with View('ui ' + TRACE) as v:
        v.keys('C-c')
        v.restored('\nstatus 130')


def terminals(_):
    """Terminals with other values of TERM, also one without a second screen, get the same tree, and are restored after a resize, Ctrl-Z, q and SIGTERM."""
    for name in ('xterm', 'screen', 'vt100'):
        for end in ('q', signal.SIGTERM):
            with View('ui ' + TRACE, before='TERM=%s LC_ALL=C.UTF-8' % name) as v:
                v.has('_TFProfRoot', 'aten::linear', 'q quit')
                v.t.tmux('resize-window', '-x', '60', '-y', '20')
                v.keys('Down')
                assert all(width(x) <= 60 for x in v.lines()), v.t.screen()
                v.keys('C-z')
                v.until('Stopped')
                cases.equal(v.stty(), v.modes, 'the modes of the terminal with TERM=%s' % name)
                v.type('fg', 'Enter')
                v.until('1 scope')
                if end == 'q':
                    v.keys('q')
                else:
                    os.kill(v.process(), end)
                v.until('$')
                v.type('echo st""atus $?', 'Enter')
                v.until('\nstatus %d' % (0 if end == 'q' else 128 + end))
                cases.equal(v.stty(), v.modes, 'the modes of the terminal with TERM=%s' % name)


def refuses(_):
    """Without a terminal that can move its cursor, the status is 2 and the message names another command."""
    for words, env, text in ((['ui', TRACE], {}, 'standard output is'), (['-i', TRACE], {}, 'standard output is')):
        p = subprocess.run([ARGS.program, *words], env=dict(os.environ, **env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
        cases.equal((p.returncode, p.stdout), (2, b''), 'without a terminal')
        assert text in p.stderr.decode(), p.stderr
    for term, text in (('dumb', 'TERM is dumb'), ('', 'ui needs a terminal that can move its cursor'),
                       ('no-such-terminal', 'is not in the terminfo database')):
        with View('ui %s; echo st""atus $?' % PROFILE, before='TERM=%s' % term, mark='\nstatus ') as v:
            v.has(text)
            assert 'status 0' not in v.t.screen()
            cases.equal(v.stty(), v.modes, 'the modes of the terminal')


def piped(_):
    """Keys are read from the terminal if standard input is a profile."""
    shutil.copy(os.path.join(ROOT, 'testdata/example/graph.pbtxt'), 'graph.pbtxt')
    with View('ui --graph_path=-', before='cat graph.pbtxt |') as v:
        v.keys('Down')
        v.has('2 of')
        v.keys('q')
        v.restored('\nstatus 0')


def anything(_):
    """Random keys never crash the program, and the terminal is restored."""
    keys = list('hjklgGqsmpnN/?+-<>1234567890 abc') + ['Tab', 'BTab', 'Enter', 'Escape', 'BSpace', 'Up', 'Down', 'Left', 'Right', 'Home',
                                                     'End', 'PageUp', 'PageDown', 'C-l', 'C-u', 'F5', 'DC', 'M-x', 'é', '中']
    keys.remove('q')
    for seed, file in ((1, TRACE), (2, PROFILE), (3, os.path.join(ROOT, 'testdata/memory/snapshot.pickle'))):
        source = random.Random(seed)
        with View('ui ' + file, 70, 20) as v:
            for _ in range(6):
                v.t.tmux('send-keys', '--', *[source.choice(keys) for _ in range(60)])
                v.t.still()
                v.t.tmux('resize-window', '-x', str(source.randint(5, 130)), '-y', str(source.randint(3, 45)))
                v.t.still()
            v.t.tmux('resize-window', '-x', '80', '-y', '24')
            v.keys('Escape', 'Escape', 'q')
            v.restored('\nstatus 0')


# ---- large profiles ----

def model(n):
    """Makes a graph of n nodes, and a step in which each runs."""
    nodes, times = [], []
    for i in range(n):
        name = ('net/block_%d/layer_%d/op_%d' % (i // 10000, i // 100 % 100, i % 100)).encode()
        nodes.append(sub(1, sub(1, name) + sub(2, b'Op%d' % (i % 37))))
        times.append(sub(2, sub(1, name) + num(2, 1000 + i) + num(5, 1 + i % 97)))
    with open('graph.pb', 'wb') as f:
        f.write(b''.join(nodes))
    with open('run_meta', 'wb') as f:
        f.write(sub(1, sub(1, sub(1, b'/job:a/replica:0/task:0/device:CPU:0') + b''.join(times))))


def large(_, n=100000):
    """A large profile opens; all entries can be opened, sorted and searched."""
    model(n)
    marks = []

    def timed(what, *keys):
        begun = time.monotonic()
        for k in keys:
            v.t.tmux('send-keys', '--', k)
        v.until(what)
        marks.append('%s %.2f s' % (keys[-1], time.monotonic() - begun))

    with View('ui --graph_path=graph.pb --run_meta_path=run_meta', 100, 30, mark='▸ block_0') as v:
        timed('▾ block_0', 'Home', '+')
        timed('op_99', 'End')
        timed('sorted by', 's')
        v.t.tmux('send-keys', '-l', '--', '/block_7/layer_3/op_9')
        timed('net/block_7/layer_3/op_9', 'Enter')
        timed('tfprof op', '2')
        v.keys('q')
        v.restored('\nstatus 0')
    if n > 100000:
        print('until the screen is still: %s' % ', '.join(marks))


def million(_):
    """A profile of a million nodes can be used in the same way."""
    large(_, 1000000)


QUICK = [tree, search, sort, panels, cause, options, prompt, sizes, colours, hostile, stops, ends, terminals, refuses, piped, anything, large]


def main():
    if not shutil.which('tmux') or cases.no_terminal():
        print('skipped: no tmux or no pseudo-terminal\n0 passed, 0 failed, 1 skipped')
        return 0
    if not has(ARGS.program, 'ncurses'):
        print('skipped: no ncurses in this build\n0 passed, 0 failed, 1 skipped')
        return 0
    return cases.run([c for c in QUICK + [million] if c.__name__ in (ARGS.names or [x.__name__ for x in QUICK])], None)


if __name__ == '__main__':
    terminal.PATIENCE = 60
    ARGS = cases.arguments(__doc__)
    sys.exit(main())
