#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests waits that may never end: pipes without a writer or a reader, stopped peers, holes of terabytes, and patterns. Ctrl-C
ends them at once, on a command line and at the prompt.

    tests/waits/run.py --program build/check/tfprof --make build/check/spool_make
"""
import fcntl
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
import tty

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'check'))
import cases  # noqa: E402

PATIENCE = 600  # seconds after which a test counts as hanging
LOOKS = 4  # signals in a row to a waiting process
QUIET = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE}


def need(truth, what):
    if not truth:
        raise AssertionError(what)


def says(pid):
    """Returns the state of a process, whether it catches SIGINT, and its processor time."""
    with open('/proc/%d/status' % pid) as f:
        status = dict(x.split(':\t', 1) for x in f.read().split('\n') if ':\t' in x)
    with open('/proc/%d/stat' % pid) as f:
        ticks = f.read().rpartition(')')[2].split()[11]
    return status['State'][0], int(status['SigCgt'], 16) & 2, int(ticks) / os.sysconf('SC_CLK_TCK')


def settle(pid, working=False, deaf=False, terminal=None):
    """Waits until the process blocks or has worked for a while, and catches SIGINT if it should; by then it has read its line."""
    end, seen = time.monotonic() + PATIENCE, 0
    while seen < LOOKS:
        need(time.monotonic() < end, 'it does not wait')
        time.sleep(.05)
        state, hears, worked = says(pid)
        unread, = struct.unpack('i', fcntl.ioctl(terminal, termios.FIONREAD, b'0000')) if terminal else (0,)
        fine = (hears or deaf) and not unread and (worked > .3 if working else state == 'S')
        need(state != 'Z', 'it has ended')
        seen = seen + 1 if fine else 0


def interrupt(words, said, working=False, sent=signal.SIGINT, lines=None):
    with open(lines or os.devnull) as stdin:
        p = subprocess.Popen([PROGRAM] + words, **dict(QUIET, stdin=stdin))
    settle(p.pid, working, deaf=not said)
    p.send_signal(sent)
    try:
        err = p.communicate(timeout=PATIENCE)[1].decode()
    except subprocess.TimeoutExpired:
        p.kill()
        p.communicate()
        raise AssertionError('%s: deaf' % words)
    need(p.returncode == -sent and said in err, '%s: %d %s' % (words, p.returncode, err))


def no_other_end():
    """A pipe without another end can be interrupted."""
    interrupt(['--graph_path=pipe', 'scope'], '')
    interrupt(['diff', 'pipe', 'g'], "reading 'pipe' was cancelled")
    interrupt(['--graph_path=g', 'scope', '-output', 'file:outfile=pipe'], "cannot write 'pipe': Operation canceled")


def stops():
    """A writer that stops in the middle and a reader that reads nothing can be interrupted."""
    end = os.open('pipe', os.O_RDWR)
    os.write(end, b'node { name: "a" op: "Op" } node {')
    interrupt(['diff', 'pipe', 'g'], "reading 'pipe' was cancelled")
    interrupt(['--graph_path=big', 'scope', '-output', 'file:outfile=pipe'], "cannot write 'pipe': Operation canceled")
    os.close(end)


def stalled(words, out, number, stdin=subprocess.DEVNULL):
    """The reader of standard output stops reading: the first signal ends the program."""
    p = subprocess.Popen([PROGRAM] + words, stdin=stdin, stdout=out, stderr=subprocess.PIPE)
    settle(p.pid)
    p.send_signal(number)
    try:
        p.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        p.kill()
        p.communicate()
        raise AssertionError('%s: %s is ignored' % (words, signal.Signals(number).name))
    err = p.communicate()[1].decode()
    need(p.returncode == -number and "cannot write '" in err, '%s: %d %s' % (words, p.returncode, err))


def stalled_reader():
    """Pipes, sockets and terminals without a reader can be interrupted by the first signal, whichever it is."""
    view, ends = ['--graph_path=big', 'scope'], []

    def pipe():
        ends.extend(os.pipe())
        return ends[-1]
    stalled(view, pipe(), signal.SIGINT)
    stalled(view, pipe(), signal.SIGHUP)
    stalled(view + ['-output', 'csv'], pipe(), signal.SIGTERM)
    stalled(view + ['-output', 'file:outfile=/dev/stdout'], pipe(), signal.SIGTERM)
    with open('line', 'w+') as line:
        line.write('scope\n')
        line.seek(0)
        stalled(view[:1], pipe(), signal.SIGTERM, stdin=line)
    here, there = socket.socketpair()
    stalled(view, there, signal.SIGTERM)
    ends.extend(pty.openpty())
    tty.setraw(ends[-1])
    stalled(['--no-pager'] + view, ends[-1], signal.SIGTERM)
    for fd in ends:
        os.close(fd)


def slow_patterns():
    """Patterns that exhaust their steps, on many short names and on one long name, can be interrupted in every line."""
    with open('names', 'w') as f:
        f.write(''.join('node { name: "x%04d%s!" op: "Op" }\n' % (i, 'a' * 22) for i in range(9999)))
    with open('long', 'w') as f:
        f.write('node { name: "%s" op: "Op" }' % ('Conv2' * 192000))
    for sent in (signal.SIGINT, signal.SIGTERM):
        for file, pattern in (('names', 'x[0-9]+(a+)+$'), ('long', '[^x]*Conv[^x]*Relu.*')):
            with open('lines', 'w') as f:
                f.write(('scope -show_name_regexes %s\n' % pattern) * 1000)
            interrupt(['--graph_path=' + file], 'the command was cancelled', working=True, sent=sent, lines='lines')


def comes_late():
    """A reader that opens the pipe late gets the whole output."""
    got = []
    reader = threading.Timer(.4, lambda: got.append(open('pipe', 'rb').read()))
    reader.start()
    subprocess.run([PROGRAM, '--graph_path=big', 'scope', '-output', 'file:outfile=pipe'], check=True, **QUIET)
    reader.join()
    writer = threading.Timer(.4, lambda: open('pipe', 'wb').write(open('big', 'rb').read()))
    writer.start()
    subprocess.run([PROGRAM, '--graph_path=pipe', 'scope', '-output', 'file:outfile=out'], check=True, **QUIET)
    writer.join()
    with open('out', 'rb') as f:
        need(got and got[0] == f.read() and len(got[0]) > 1 << 17, 'the answers differ')


def until(fd, mark):
    out, end = b'', time.time() + PATIENCE
    while mark not in out:
        need(time.time() < end, '%s did not come: %s' % (mark, out))
        if select.select([fd], [], [], .1)[0]:
            out += os.read(fd, 65536)
    return out


def prompt():
    """After Ctrl-C at the prompt, the next line is read."""
    cases.need_terminal()
    pid, fd = pty.fork()
    if not pid:
        os.execve(PROGRAM, [PROGRAM, '--graph_path=g'], dict(os.environ, TERM='dumb', HOME=os.getcwd()))
    until(fd, b'tfprof> ')
    terminal = os.open('/proc/%d/fd/0' % pid, os.O_RDWR | os.O_NOCTTY)
    for line in (b'scope > pipe', b'load --graph_path=pipe', b'diff pipe g', b'scope -output file:outfile=pipe'):
        os.write(fd, line + b'\n')
        settle(pid, terminal=terminal)
        os.write(fd, b'\x03')
        until(fd, b'tfprof> ')
    os.write(fd, b'quit\n')
    need(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1, 'its status')
    os.close(terminal)
    os.close(fd)


def holes():
    """Recordings with holes of 4 TB can be interrupted: at the beginning, in the middle, at the end."""
    subprocess.run([MAKE, 'good.tfspool'], input=b'kernel start=1000000 length=1 correlation=1 name=k\nend start=9000000\n', check=True)
    with open('good.tfspool', 'rb') as f:
        good = f.read()
    for name, parts, said in (('nothing', [None], 0), ('end', [good, None], 0), ('middle', [good, None, b'x'], 3),
                              ('before', [b'x', None, good], 3)):
        with open(name, 'wb') as f:
            for x in parts:
                f.write(x) if x else f.seek(1 << 42, os.SEEK_CUR)
            f.truncate()
        r = subprocess.run([PROGRAM, '--spool=' + name, 'op'], timeout=PATIENCE, **QUIET)
        need(r.returncode == said, '%s: %d %s' % (name, r.returncode, r.stderr))
        r = subprocess.run([PROGRAM, '--recover', '--spool=' + name, 'op'], timeout=PATIENCE, **QUIET)
        need(r.returncode == 0, '%s: %d %s' % (name, r.returncode, r.stderr))


def fill():
    os.mkfifo('pipe')
    with open('g', 'w') as f:
        f.write('node { name: "a" op: "Op" }')
    with open('big', 'w') as f:
        f.write(''.join('node { name: "s/%06d" op: "Op" }\n' % i for i in range(20000)))


def main():
    a = cases.arguments(__doc__, make='spool_make')
    global PROGRAM, MAKE
    PROGRAM, MAKE = a.program, a.make
    tests = [no_other_end, stops, stalled_reader, slow_patterns, comes_late, prompt, holes]
    return cases.run([t for t in tests if not a.names or t.__name__ in a.names], prepare=fill)


if __name__ == '__main__':
    sys.exit(main())
