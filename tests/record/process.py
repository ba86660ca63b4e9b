# SPDX-License-Identifier: Apache-2.0
"""A program below record: exit status, arguments, environment, streams, signals, keys."""
import glob
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time

from rig import PATIENCE, VARIABLES, Bad, child_of, clean_env, holds, put, run, same, state, tfprof, until


# ---- statuses, words, streams -------------------------------------------------------------------
def test_status():
    for n in (0, 1, 2, 7, 126, 255):
        same(tfprof('record', '--', 'sh', '-c', 'exit %d' % n)[0], n, 'exit')
    for n in (1, 6, 9, 11, 15):
        same(tfprof('record', '-o', 'r', 'sh', '-c', 'ulimit -c 0; kill -%d $$' % n)[0], -n, 'signal')
    put('plain', 'no program')
    before = sorted(os.listdir('.'))
    for word, status, why in (('./plain', 126, 'Permission denied'), ('.', 126, 'Permission denied'),
                              ('no-such-program', 127, 'No such file'), ('./none/x', 127, 'No such file'),
                              ('./plain/x', 126, 'Not a directory')):
        got = tfprof('record', '--', word)
        same(got[0], status, word)
        same(got[2], "tfprof: cannot run '%s': %s\n" % (word, os.strerror(
            {'Permission denied': 13, 'No such file': 2, 'Not a directory': 20}[why])))
    same(sorted(os.listdir('.')), before, 'a folder stays for a program that never ran')



def test_shut_path():
    """A folder in PATH without search permission is skipped, as in a shell."""
    os.mkdir('shut', 0)
    os.chmod('.', 0o755)
    nobody = {} if os.getuid() else {'user': 65534, 'group': 65534, 'extra_groups': []}
    folder = os.path.abspath('shut')
    os.mkdir('own')
    if nobody:
        os.chown('own', 65534, 65534)
    put('plain', 'no program')
    try:
        for path, word, status in ((folder + ':/bin', 'no-such-program', 127), (folder + ':/bin:/usr/bin', 'true', 0),
                                   (folder + '::/bin', 'plain', 126)):
            got = tfprof('record', '-o', 'own/' + word, '--', word, more={'PATH': path}, **nobody)
            same(got[0], status, got)
    finally:
        os.rmdir('shut')


def test_words():
    words = ['--version', '', 'a b', 'x\ny', "'", '--', '-o', '$HOME', '*', '--color=never']
    code = 'import sys, json; print(json.dumps(sys.argv[1:]))'
    for line in (['record', '--', sys.executable, '-c', code], ['record', sys.executable, '-c', code],
                 ['record', '-o', 'w', '--mem', '--', sys.executable, '-c', code]):
        got = tfprof(*line, *words)
        same(json.loads(got[1]), words, 'words')


def test_wrong_words():
    for words, sentence in (([], 'record needs a program'), (['--levl=full', 'true'], "did you mean '--level'"),
                            (['--zzzzzzzz', 'true'], "record has no option '--zzzzzzzz'; 'help record' lists its options"),
                            (['--level=some', 'true'], "--level: 'some' is not one of kernels, launches, full"),
                            (['--delay=x', 'true'], 'not a time'), (['--delay=1.x', 'true'], 'not a time'),
                            (['--max-size=0', 'true'], "'0' is not above 0"),
                            (['--step-every=-1', 'true'], "'-1' is below 1ms"),
                            (['--step-nvtx=a\nb', 'true'], 'a pattern cannot contain a line break'),
                            (['--step-nvtx=(', 'true'], 'missing closing parenthesis'),
                            (['--mem=1', 'true'], '--mem takes no value'), (['-o'], '-o needs a value'),
                            (['--env', 'true'], 'does not start a program')):
        got = tfprof('record', *words)
        same(got[0], 2, words)
        holds(got[2], sentence)
    same(glob.glob('tfprof-*'), [], 'folders')


LOOK = '''import os, json
status = dict(x.split(':\\t', 1) for x in open('/proc/self/status').read().split('\\n') if ':\\t' in x)
fds = {}
for fd in os.listdir('/proc/self/fd'):
    try: fds[fd] = os.readlink('/proc/self/fd/' + fd)
    except OSError: pass
fds = {k: v for k, v in fds.items() if not v.startswith('/proc/')}
out = [status['SigIgn'], status['SigBlk'], sorted(fds), os.getpgid(0) == PGID, os.getcwd(), os.umask(0)]
open(OUT, 'w').write(json.dumps(out))
'''


def seen(prefix, shell):
    """Returns the environment that a program sees if these lines of Python start it."""
    put('look.py', 'OUT = %r\nimport os, sys\nPGID = int(os.environ["PGID"])\n' % os.path.abspath('seen') + LOOK)
    code = ('import os, signal, sys\nos.setpgid(0, 0)\nos.environ["PGID"] = str(os.getpid())\n'
            'signal.signal(signal.SIGPIPE, signal.SIG_DFL); signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n' + shell +
            '\nos.execv(%r, %r)' % (prefix[0] if prefix else sys.executable, prefix + [sys.executable, 'look.py']))
    subprocess.run([sys.executable, '-c', code], env=clean_env(), timeout=PATIENCE, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return json.load(open('seen'))


def test_surroundings():
    s = 'signal.signal(signal.SIG%s, signal.SIG_IGN)\n'
    for shell in ('', s % 'PIPE' + s % 'CHLD' + s % 'INT' + s % 'HUP' + s % 'XFSZ' + 'os.umask(0o77)\n'
                  'signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM])\n'
                  'os.dup2(1, 9, inheritable=True)', 'os.close(0)', 'os.closerange(0, 3)'):
        plain = seen([], shell)
        recorded = seen(['./bin/tfprof', 'record', '-o', 's', '--'], shell)
        same(recorded, plain, 'surroundings with %r' % shell)


def test_streams():
    p = subprocess.run(['./bin/tfprof', 'record', '--', 'sh', '-c', 'cat; echo err >&2'], input=b'through\0\n',
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_env())
    same(p.stdout, b'through\0\n', 'stdout')
    same(p.stderr.split(b'\n')[0], b'err', 'stderr')
    got = run('bash', '-c', './bin/tfprof record -- yes | head -n 1; echo ${PIPESTATUS[0]}')
    same(got[1], 'y\n141\n', 'a pipe that closes')


# ---- signals ------------------------------------------------------------------------------------
COUNTER = '''import signal, sys, time
seen = []
for n in NAMES:
    signal.signal(getattr(signal, 'SIG' + n), lambda s, f: seen.append(signal.Signals(s).name[3:]))
print('ready', flush=True)
end, said = time.monotonic() + 300, 0
while said < WANT and time.monotonic() < end:
    time.sleep(0.01)
    for said, name in enumerate(seen[said:], said + 1):
        print(name, flush=True)
time.sleep(0.2)
print('all:', *seen, flush=True)
sys.exit(3)
'''


def counter(names, want):
    return [sys.executable, '-c', 'NAMES = %r\nWANT = %d\n' % (names, want) + COUNTER]


def test_signals():
    names = ['HUP', 'INT', 'QUIT', 'USR1', 'USR2', 'ALRM', 'TERM', 'WINCH', 'CONT', 'URG', 'RTMIN']
    p = subprocess.Popen(['./bin/tfprof', 'record', '--'] + counter(names, len(names)), stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, env=clean_env())
    same(p.stdout.readline(), b'ready\n')
    for n in names:
        p.send_signal(getattr(signal, 'SIG' + n))
        same(p.stdout.readline().decode().split(), [n], 'a signal that came')
    same(p.stdout.readline().decode().split(), ['all:'] + names, 'signals that came')
    same(p.wait(), 3, 'status')


def test_stop_and_go():
    """If another process stops and continues record, the program stops and continues, and nothing is lost. (The terminal does
    not stop orphaned process groups, so the test uses a group of its own.)"""
    p = subprocess.Popen(['./bin/tfprof', 'record', '--'] + counter(['USR1'], 1), stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, env=clean_env(), preexec_fn=os.setpgrp)
    same(p.stdout.readline(), b'ready\n')
    child = child_of(p.pid)
    os.kill(p.pid, signal.SIGTSTP)
    for pid in (child, p.pid):
        state(pid, 'T')
    os.kill(p.pid, signal.SIGCONT)
    state(child, 'SR')
    # A SIGCONT that arrives before record has stopped works, too.
    os.kill(p.pid, signal.SIGSTOP)
    state(p.pid, 'T')
    os.kill(child, signal.SIGTSTP)
    state(child, 'T')
    os.kill(p.pid, signal.SIGCONT)
    state(child, 'SR')
    os.kill(p.pid, signal.SIGUSR1)
    same(p.stdout.readline(), b'USR1\n')
    same(p.wait(), 3, 'status')


def test_hangup():
    """If the terminal of record closes, the program gets the hangup once, even if record is the session leader, which is the
    only process that the system notifies."""
    words = [sys.executable, '-c', 'import os\nos.dup2(os.open("said", os.O_WRONLY | os.O_CREAT), 1)\nNAMES = ["HUP"]\nWANT = 1\n' + COUNTER]
    pid, fd = pty.fork()
    if pid == 0:
        os.execve('./bin/tfprof', ['./bin/tfprof', 'record', '-o', 'hung', '--'] + words, clean_env())
    until(lambda: os.path.exists('said') and 'ready' in open('said').read(), 'the program')
    os.close(fd)
    same(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 3, 'status')
    same(open('said').read().split(), ['ready', 'HUP', 'all:', 'HUP'])


class Shell:
    """Starts an interactive shell on a terminal of its own."""

    def __init__(self):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(PS1='$ ', TERM='dumb')
            for v in VARIABLES:
                os.environ.pop(v, None)
            os.execvp('bash', ['bash', '--norc', '--noprofile', '-i'])
        self.text, self.at = '', 0

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def wait(self, mark):
        """Waits for the mark. Returns the output before it."""
        end = time.monotonic() + PATIENCE
        while mark not in self.text[self.at:]:
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise Bad('never came: %r; there is %r' % (mark, self.text[self.at:]))
            self.text += os.read(self.fd, 4096).decode('utf-8', 'replace')
        until = self.text.index(mark, self.at) + len(mark)
        text, self.at = self.text[self.at:until], until
        return text

    def leave(self):
        """Waits until the shell has made its child the foreground group."""
        until(lambda: os.tcgetpgrp(self.fd) != self.pid, 'something in front')

    def close(self):
        os.close(self.fd)
        os.kill(self.pid, signal.SIGHUP)
        os.waitpid(self.pid, 0)


def test_keys():
    """Ctrl-C and Ctrl-\\ reach the program once; Ctrl-Z stops both, fg and bg go on; the shell keeps the terminal."""
    put('c.py', counter(['INT'], 1)[2])
    t = Shell()
    try:
        t.type('./bin/tfprof record -- %s c.py; echo status=$?\n' % sys.executable)
        t.wait('ready')
        t.type('\x03')
        t.wait('INT')
        text = t.wait('status=3')
        same(text.count('INT'), 1, 'Ctrl-C')
        put('both.py', counter(['INT', 'QUIT'], 2)[2])
        t.type('./bin/tfprof record -- %s both.py; echo status=$?\n' % sys.executable)
        t.wait('ready')
        t.type('\x03')
        t.wait('INT')
        t.type('\x1c')
        t.wait('QUIT')
        text = t.wait('status=3')
        same((text.count('INT'), text.count('QUIT')), (1, 1), 'Ctrl-C and Ctrl-\\')
        t.type('./bin/tfprof record -- %s c.py; echo status=$?\n' % sys.executable)
        t.wait('ready')
        t.type('\x1a')
        t.wait('Stopped')
        t.type('jobs; fg\n')
        t.wait('Stopped')
        t.wait('c.py')
        t.leave()
        t.type('\x03')
        t.wait('INT')
        t.type('echo al""ive\n')
        t.wait('alive')
        t.type('./bin/tfprof record -- cat &\n')
        t.type('while jobs | grep -q Running; do sleep 0.1; done; jobs; echo sto""od\n')  # stopped for reading the terminal
        same('Stopped' in t.wait('stood'), True, 'stopped')
        t.type('fg\n')
        t.wait('cat')
        t.leave()
        t.type('line\n')
        t.wait('line\r\nline')
        t.type('\x04')
        t.wait('tfprof: ')
        t.type('stty -a | grep -cE "(^| )isig"\n')
        t.wait('1')
    finally:
        t.close()
