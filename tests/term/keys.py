#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Types keys that have crashed libedit, and random ones: valid and invalid characters, every control key, long lines, searches,
pastes, Ctrl-Z, signals, terminals of all sizes that change while a line is typed. The program may end only in normal ways.
Equal seeds give equal keys.

    tests/term/keys.py [--program build/check/tfprof] [--seeds 1-8]
"""
import argparse
import fcntl
import os
import pty
import random
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'check'))
from built import has  # noqa: E402
from cases import no_terminal  # noqa: E402

PATIENCE = 600  # seconds after which a session counts as hanging
LETTERS = ['é', '中', '\U0001f600', 'e\u0301', '\u200b', '\u202e', '\u0300' * 5, '\u00ad', '\x7f']
NO_LETTERS = [b'\xff', b'\xc3', b'\xf0\x9f', b'\xed\xa0\x80', b'\xf4\x90\x80\x80', b'\x80']
WORDS = [b'scope', b' ', b'-', b'select', b'micros', b'help', b'graph', b'load g', b'load g=', b'use ', b'list', b'> out', b'| cat', b'"',
         b"'", b'\\', b'*', b'a', b'scope -show_name_regexes ', b'set -', b'reset', b'scope -start_name_regexes ', b'nonsense']
KEYS = [b'\t', b'\t\t', b'\r', b'\n'] + [bytes([c]) for c in range(1, 32)] + [
    b'\x7f', b'\0', b'\x1b[A', b'\x1b[B', b'\x1b[C', b'\x1b[D', b'\x1b[H', b'\x1b[F', b'\x1b[3~', b'\x1b[200~', b'\x1b[201~', b'\x12a',
    b'\x12sc', b'\x12g\x12\x12', b'\x12\x07', b'\x12\x1b', b'\x12\x08', b'\x00\x01\x17', b'\x1b9\x1b9'] + [
    b'\x1b' + bytes([c]) for c in b'bdfulc<>pnx1wy\x7f\x1b']
SIZES = [(1, 1), (2, 1), (24, 1), (24, 3), (3, 80), (3, 20), (24, 80), (24, 80), (1, 300), (24, 65535), (65535, 65535), (0, 0), (7, 20)]
LOCALES = ['C.UTF-8', 'C.UTF-8', 'C.UTF-8', 'C', 'en_US.ISO-8859-1']
TERMS = ['xterm', 'xterm', 'vt100', 'screen', 'linux', 'ansi', 'nonsense', 'vt52', 'dumb']

# Keys that have crashed libedit, or taken minutes: (name, size, steps).
KNOWN = [
    ('a line longer than the screen', (24, 80), [b'x' * 1850, b'\x01\x05', b'y' * 1000, b'\x01\x05', b'y' * 1000]),
    ('a small screen', (24, 3), [b'x' * 60 + b'\x01\x05' + b'y' * 60 + b'\x01\x05' + b'y' * 90]),
    ('a command of the editor', (24, 80), [b"\x1bxit's\r"]),
    ('the same by another key', (24, 80), [b"\x1b\x1bxit's\r"]),
    ('a line on a screen that becomes small', (24, 80), [b'x' * 300, (3, 20), b'y' * 300, (60, 200), b'z' * 300]),
    ('a screen of 65,535 rows', (65535, 65535), [b'x' * 300]),
    ('a long search', (24, 80), [b'\x12' + b'a' * 1500]),
    ('many searches', (24, 80), [b'\x12' * 3000]),
    ('a word more to search', (24, 80), [b'\x12\x17', b'a b ' * 200 + b'\x12' + b'\x17' * 400]),
    ('a NUL in a line', (24, 80), [b'\x1b9\x1b9\x00a\t']),
    ('200,000 letters', (24, 80), [b'x' * 200000])]


def steps_of(seed):
    """Returns size, locale, terminal and steps of a seed: bytes are typed, a pair is a size, a number a signal."""
    r = random.Random(seed)
    steps = []
    for _ in range(r.choice([5, 20, 60])):
        x = r.random()
        if x < .4:
            steps.append(b''.join(r.choice(WORDS) for _ in range(r.randrange(1, 8))))
        elif x < .7:
            steps.append(b''.join(r.choice(KEYS) for _ in range(r.randrange(1, 8))))
        elif x < .82:
            odd = WORDS + KEYS + NO_LETTERS + [c.encode() for c in LETTERS]
            steps.append(b''.join(r.choice(odd) for _ in range(r.randrange(1, 25))))
        elif x < .85:
            steps.append(r.choice([b'x', '中'.encode(), b'a ']) * r.choice([100, 1023, 1025, 5000]))
        elif x < .93:
            steps.append(r.choice(SIZES + [(r.randrange(60), r.randrange(200))]))
        elif x < .97:
            steps.append(b'\x15load g=' + r.choice([c.encode() for c in LETTERS] + NO_LETTERS) * r.randrange(1, 45) + b'\r')
        else:
            steps.append(int(r.choice([signal.SIGINT, signal.SIGWINCH, signal.SIGCONT, signal.SIGTSTP])))
    return r.choice(SIZES), r.choice(LOCALES), r.choice(TERMS), steps


def stand_by(program, locale, term):
    """Runs the program in a group of its own, as a shell does, and continues it when it stops."""
    env = dict(os.environ, TERM=term, LC_ALL=locale, HOME=os.getcwd(), PAGER='cat', XDG_STATE_HOME=os.getcwd() + '/state',
               ASAN_OPTIONS='detect_leaks=0')  # libedit keeps the names of its bindings
    ours = (signal.SIGTTOU, signal.SIGINT, signal.SIGTSTP, signal.SIGQUIT)
    for s in ours:
        signal.signal(s, signal.SIG_IGN)
    pid = os.fork()
    if not pid:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        for s in ours:
            signal.signal(s, signal.SIG_DFL)
        os.execvpe(program, [program, '--graph_path=g'], env)
    with open('pid', 'w') as f:
        f.write(str(pid))
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            break
        os.tcsetpgrp(0, os.getpgrp())
        os.tcsetpgrp(0, pid)
        os.kill(pid, signal.SIGCONT)
    with open('status', 'w') as f:
        f.write(str(os.waitstatus_to_exitcode(status)))


class Session:
    def __init__(self, program, size, locale, term):
        self.alive, self.out = True, bytearray()
        self.pid, self.fd = pty.fork()
        if not self.pid:
            try:
                stand_by(program, locale, term)
            finally:
                os._exit(0)
        self.resize(size)
        self.read(.15)

    def resize(self, size):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', size[0], size[1], 0, 0))

    def read(self, seconds):
        end = time.time() + seconds
        while self.alive and time.time() <= end:
            if select.select([self.fd], [], [], max(0, end - time.time()))[0]:
                try:
                    got = os.read(self.fd, 65536)
                except OSError:
                    got = b''
                self.alive = bool(got)
                self.out = (self.out + got)[-2000:]

    def type(self, keys, end):
        while keys and self.alive and time.time() < end:
            if select.select([], [self.fd], [], .05)[1]:
                try:
                    keys = keys[os.write(self.fd, keys[:1000]):]
                except OSError:
                    self.alive = False
            self.read(0)

    def send(self, number):
        try:
            with open('pid') as f:
                os.kill(int(f.read()), number)
        except (OSError, ValueError):
            pass


def play(program, size, locale, term, steps):
    """Returns a description of the fault, or None."""
    end = time.time() + PATIENCE
    s = Session(program, size, locale, term)
    for step in steps:
        if isinstance(step, bytes):
            s.type(step.replace(b'\x13', b'\x13\x11'), end)  # continues a stopped program
        elif isinstance(step, int):
            s.send(step)
        else:
            s.resize(step)
        s.read(.02)
    s.resize((24, 80))
    while s.alive and time.time() < end:
        s.type(b'\x07\x07\x11\x03\x15quit\r', end)
        s.read(.3)
        s.type(b'\x03\x15\x04' if s.alive else b'', end)
        s.read(.2)
    hangs = s.alive
    if hangs:
        s.send(signal.SIGKILL)
    os.waitpid(s.pid, 0)
    os.close(s.fd)
    if hangs:
        return 'does not end'
    with open('status') as f:
        status = int(f.read())
    fine = (0, 1, 2, 130, -signal.SIGHUP, -signal.SIGINT, -signal.SIGQUIT)
    return None if status in fine else 'status %d: %s' % (status, bytes(s.out[-600:]))


def ended(program, number):
    """A signal ends the program and the terminal settings are restored, even if output was suspended (Ctrl-S)."""
    s = Session(program, (24, 80), 'C.UTF-8', 'xterm')
    end = time.time() + PATIENCE
    while termios.tcgetattr(s.fd)[3] & termios.ICANON and time.time() < end:
        s.read(.05)
    raw = termios.tcgetattr(s.fd)[3] & termios.ICANON == 0
    s.type(b'scope\x13xx', time.time() + PATIENCE)
    s.read(.2)
    s.send(number)
    s.read(PATIENCE)
    usual = termios.ICANON | termios.ECHO | termios.ISIG
    restored = termios.tcgetattr(s.fd)[3] & usual == usual
    if s.alive:
        s.send(signal.SIGKILL)
    os.waitpid(s.pid, 0)
    os.close(s.fd)
    return None if raw and restored and not s.alive else 'raw: %s, restored: %s, deaf: %s' % (raw, restored, s.alive)


def prepare():
    nodes = [b'a/b', b'a/c', b'a/' + '中'.encode(), b'\\001x', b'long' * 100, b'e\xcc\x81/' + b'q' * 30] + [b'many/n%d' % i for i in range(250)]
    with open('g', 'wb') as f:
        f.write(b''.join(b'node { name: "%s" op: "Op" }\n' % n for n in nodes))
    os.makedirs('state/tfprof')
    with open('state/tfprof/history.txt', 'wb') as f:
        f.write(b'scope\n\xff\xfe bad\n\xf0\x9f\x98\x80 x\nsc\xff\n' + b'x' * 3000 + b'\n' + b'y' * 40000 + b'\n\\x\n')
    os.chmod('state/tfprof/history.txt', 0o600)


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', default=os.path.join(ROOT, 'build/check/tfprof'))
    p.add_argument('--seeds', default='1-8')
    a = p.parse_args()
    program = os.path.abspath(a.program)
    if not has(program, 'libedit'):
        print('skipped: no libedit in this build\n0 passed, 0 failed, 1 skipped')
        return 0
    if no_terminal():
        print('skipped: %s\n0 passed, 0 failed, 1 skipped' % no_terminal())
        return 0
    first, last = map(int, a.seeds.split('-'))
    cases = [(name, play, (size, locale, 'xterm', steps)) for name, size, steps in KNOWN for locale in ('C.UTF-8', 'C')]
    cases += [('seed %d' % i, play, steps_of(i)) for i in range(first, last + 1)]
    cases += [('ended by %s' % n.name, ended, (n,)) for n in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)]
    bad = 0
    for name, test, what in cases:
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        prepare()
        wrong = test(program, *what)
        os.chdir(ROOT)
        shutil.rmtree(folder)
        if wrong:
            bad += 1
            print('%s: %s' % (name, wrong))
    print('%d passed, %d failed, 0 skipped' % (len(cases) - bad, bad))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
