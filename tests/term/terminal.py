# SPDX-License-Identifier: Apache-2.0
"""A terminal (tmux) into which a test types, and which it reads."""
import fcntl
import glob
import itertools
import os
import re
import struct
import subprocess
import termios
import time

PATIENCE = 300  # seconds until a screen must appear, also on a machine under load


class Terminal:
    numbers = itertools.count()

    def __init__(self, top, w, h):
        self.socket = 'tfprof-term-%d-%d' % (os.getpid(), next(Terminal.numbers))
        env = ['env', '-i', 'HOME=' + top, 'TERM=tmux-256color', 'LANG=C.UTF-8', 'LC_ALL=C.UTF-8',
               'PS1=$ ', 'LESSHISTFILE=-', 'PATH=%s/bin:%s' % (top, os.environ['PATH'])]
        self.tmux('-f', '/dev/null', 'new-session', '-d', '-x', str(w), '-y', str(h), '-c', top,
                  ' '.join("'%s'" % x for x in env + ['sh']))
        self.tmux('set-option', '-g', 'escape-time', '0')
        pid, self.tty = self.tmux('display-message', '-p', '#{pane_pid} #{pane_tty}').split()
        self.shell = int(pid)

    def tmux(self, *words):
        return subprocess.run(('tmux', '-L', self.socket) + words, env=dict(os.environ, SHELL='/bin/sh'), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE).stdout.decode('utf-8', 'replace')

    def screen(self, *more):
        return '\n'.join(x.rstrip() for x in self.tmux('capture-pane', '-p', *more).split('\n')).rstrip('\n')

    def idle(self):
        """True if all typed keys were read, and no foreground process works or has a pending signal."""
        front = about('/proc/%d' % self.shell)[5]
        with open(self.tty, 'rb', buffering=0, opener=lambda p, f: os.open(p, f | os.O_NOCTTY | os.O_NONBLOCK)) as tty:
            unread, = struct.unpack('i', fcntl.ioctl(tty, termios.FIONREAD, b'0000'))
        return not unread and not any(busy(p) for p in family(self.shell) if about(p)[2:3] == [front])

    def still(self):
        """Waits until no process works and the screen is complete."""
        end, before = time.monotonic() + PATIENCE, None
        while time.monotonic() < end:
            now = self.screen() if self.idle() else None
            if now is not None and now == before:
                return
            before = now
            time.sleep(0.04)

    def wait(self, marks):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            text = self.screen() + '\n'
            if any(m.rstrip(' ') in text for m in marks.split('|')):
                self.still()
                return True
            time.sleep(0.05)
        return False

    def line(self):
        """Waits for the line of progress. Returns it with N for each number."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = [x for x in self.screen().split('\n') if x.startswith('reading')]
            if found:
                return re.sub(r'\d+', 'N', found[0])
            time.sleep(0.04)
        return ''

    def close(self):
        self.tmux('kill-server')


def family(pid):
    """Returns the folders in /proc of a process and its descendants; of all processes if the kernel does not list children."""
    if not os.path.exists('/proc/self/task/%d/children' % os.getpid()):
        return glob.glob('/proc/[0-9]*')
    found, left = [], [str(pid)]
    while left:
        found.append('/proc/' + left.pop())
        for path in glob.glob(found[-1] + '/task/*/children'):
            try:
                with open(path) as f:
                    left += f.read().split()
            except OSError:
                pass  # the thread has ended
    return found


def about(process):
    """Returns the fields of /proc/PID/stat from the state on; empty if the process is gone."""
    try:
        with open(process + '/stat') as f:
            return f.read().rpartition(')')[2].split()
    except OSError:
        return []


def busy(process):
    """True if one of its threads works or has a pending signal."""
    try:
        for task in glob.glob(process + '/task/*/status'):
            with open(task) as f:
                says = dict(x.split(':\t', 1) for x in f.read().split('\n') if ':\t' in x)
            if says['State'][0] not in 'ST' or any(int(says[k], 16) & ~int(says['SigBlk'], 16) for k in ('SigPnd', 'ShdPnd')):
                return True
    except OSError:
        return True  # the process is ending
    return False
