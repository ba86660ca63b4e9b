#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses record, ctl, gpu and doctor as shells, schedulers and people do: what a program sees that runs
below record is compared with what it sees without.

    tests/record.py --program build/tfprof --tools build/release [NAME...]
"""
import argparse
import glob
import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARY = 'libtfprof_cupti.so'
HOST = socket.gethostname()
VARIABLES = ('CUDA_INJECTION64_PATH', 'NVTX_INJECTION64_PATH', 'TFPROF_SESSION', 'TFPROF_OPTS')


class Bad(Exception):
    pass


def same(found, wanted, what=''):
    if found != wanted:
        raise Bad('%s: %r is not %r' % (what, found, wanted))


def holds(text, part):
    if part not in text:
        raise Bad('%r is not in %r' % (part, text))


def clean_env(**more):
    return dict({k: v for k, v in os.environ.items() if k not in VARIABLES}, LC_ALL='C', **more)


def run(*words, **how):
    """(status, stdout, stderr)"""
    env = clean_env(**how.pop('more', {}))
    p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, timeout=60,
                       stdin=how.pop('stdin', subprocess.DEVNULL), **how)
    return p.returncode, p.stdout.decode('utf-8', 'replace'), p.stderr.decode('utf-8', 'replace')


def tfprof(*words, **how):
    return run('./bin/tfprof', *words, **how)


def spool(folder, lines, pid=4711, start=1, number=1):
    path = os.path.join(folder, '%s-%d-%d-%08x.tfspool' % (HOST, pid, start, number))
    subprocess.run([ARGS.spool_write, path, str(pid)], input=lines.encode(), check=True)
    return path


def start_ticks(pid):
    return int(open('/proc/%d/stat' % pid).read().rpartition(')')[2].split()[19])


def put(path, text):
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    with open(path, 'w') as f:
        f.write(text)


# ---- record: statuses, words, streams -----------------------------------------------------------
def test_status():
    for n in (0, 1, 2, 7, 126, 255):
        same(tfprof('record', '--', 'sh', '-c', 'exit %d' % n)[0], n, 'exit')
    for n in (1, 6, 9, 11, 15):
        same(tfprof('record', '-o', 'r', 'sh', '-c', 'ulimit -c 0; kill -%d $$' % n)[0], 128 + n, 'signal')
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


def test_words():
    words = ['--version', '', 'a b', 'x\ny', "'", '--', '-o', '$HOME', '*', '--color=never']
    code = 'import sys, json; print(json.dumps(sys.argv[1:]))'
    for line in (['record', '--', sys.executable, '-c', code], ['record', sys.executable, '-c', code],
                 ['record', '-o', 'w', '--mem', '--', sys.executable, '-c', code]):
        got = tfprof(*line, *words)
        same(json.loads(got[1]), words, 'words')


def test_wrong_words():
    for words, sentence in (([], 'record needs a program'), (['--levl=full', 'true'], "did you mean '--level'"),
                            (['--zzzzzzzz', 'true'], "record has no option '--zzzzzzzz'; it has --level"),
                            (['--level=some', 'true'], "'some' is none of --level=kernels|launches|full"),
                            (['--delay=x', 'true'], 'no number of seconds'), (['--delay=1.x', 'true'], 'seconds'),
                            (['--max-size=0', 'true'], 'no number of bytes'),
                            (['--step-every=-1', 'true'], 'no number above 0'),
                            (['--step-nvtx=a\nb', 'true'], 'a pattern is one line'),
                            (['--mem=1', 'true'], '--mem takes no value'), (['-o'], '-o needs a value'),
                            (['--env', 'true'], 'starts nothing')):
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
    """What a program sees of its surroundings, started by such lines of Python."""
    put('look.py', 'OUT = %r\nimport os, sys\nPGID = int(os.environ["PGID"])\n' % os.path.abspath('seen') + LOOK)
    code = ('import os, signal, sys\nos.setpgid(0, 0)\nos.environ["PGID"] = str(os.getpid())\n'
            'signal.signal(signal.SIGPIPE, signal.SIG_DFL); signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n' + shell +
            '\nos.execv(%r, %r)' % (prefix[0] if prefix else sys.executable, prefix + [sys.executable, 'look.py']))
    subprocess.run([sys.executable, '-c', code], env=clean_env(), timeout=60, stdin=subprocess.DEVNULL,
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


# ---- record: signals ----------------------------------------------------------------------------
COUNTER = '''import signal, sys, time
seen = []
for n in NAMES:
    signal.signal(getattr(signal, 'SIG' + n), lambda s, f: seen.append(signal.Signals(s).name[3:]))
print('ready', flush=True)
end = time.time() + 20
while len(seen) < WANT and time.time() < end:
    time.sleep(0.01)
time.sleep(0.2)
print(' '.join(seen), flush=True)
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
        time.sleep(0.03)
    same(p.stdout.readline().decode().split(), names, 'signals that came')
    same(p.wait(), 3, 'status')


def test_stop_and_go():
    """Stopped and continued by another process: the program stops and goes on, and nothing is lost. (A group whose
    parents are all in it, or in another session, is not stopped by the keyboard's signal: so it has one of its own.)"""
    p = subprocess.Popen(['./bin/tfprof', 'record', '--'] + counter(['USR1'], 1), stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, env=clean_env(), preexec_fn=os.setpgrp)
    same(p.stdout.readline(), b'ready\n')
    child = child_of(p.pid)
    os.kill(p.pid, signal.SIGTSTP)
    state(child, 'T')
    os.kill(p.pid, signal.SIGCONT)
    state(child, 'SR')
    os.kill(p.pid, signal.SIGUSR1)
    same(p.stdout.readline(), b'USR1\n')
    same(p.wait(), 3, 'status')


def child_of(pid):
    for _ in range(500):
        children = open('/proc/%d/task/%d/children' % (pid, pid)).read().split()
        if children:
            return int(children[0])
        time.sleep(0.01)
    raise Bad('no child')


def state(pid, wanted):
    for _ in range(200):
        now = open('/proc/%d/stat' % pid).read().rpartition(')')[2].split()[0]
        if now in wanted:
            return
        time.sleep(0.02)
    raise Bad('process is %s, not %s' % (now, wanted))


class Shell:
    """An interactive shell on a terminal of its own."""

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
        """All that came up to the mark, once it has come."""
        end = time.time() + 20
        while mark not in self.text[self.at:]:
            if not select.select([self.fd], [], [], max(0, end - time.time()))[0]:
                raise Bad('never came: %r; there is %r' % (mark, self.text[self.at:]))
            self.text += os.read(self.fd, 4096).decode('utf-8', 'replace')
        until = self.text.index(mark, self.at) + len(mark)
        text, self.at = self.text[self.at:until], until
        return text

    def close(self):
        os.close(self.fd)
        os.kill(self.pid, signal.SIGHUP)
        os.waitpid(self.pid, 0)


def test_keys():
    """Ctrl-C reaches the program once; Ctrl-Z stops both, fg and bg go on; the shell keeps the terminal."""
    put('c.py', counter(['INT'], 1)[2])
    t = Shell()
    try:
        t.type('./bin/tfprof record -- %s c.py; echo status=$?\n' % sys.executable)
        t.wait('ready')
        t.type('\x03')
        text = t.wait('status=3')
        same(text.count('INT'), 1, 'Ctrl-C')
        t.type('./bin/tfprof record -- %s c.py; echo status=$?\n' % sys.executable)
        t.wait('ready')
        t.type('\x1a')
        t.wait('Stopped')
        t.type('jobs; fg\n')
        t.wait('Stopped')
        t.wait('c.py')
        time.sleep(0.3)
        t.type('\x03')
        t.wait('INT')
        t.type('echo al""ive\n')
        t.wait('alive')
        t.type('./bin/tfprof record -- cat & sleep 0.5; jobs\n')  # stopped for reading the terminal
        t.wait('Stopped')
        t.type('fg\n')
        t.wait('cat')
        time.sleep(0.3)
        t.type('line\n')
        t.wait('line\r\nline')
        t.type('\x04')
        t.wait('tfprof: ')
        t.type('stty -a | grep -cE "(^| )isig"\n')
        t.wait('1')
    finally:
        t.close()


# ---- record: variables and folders --------------------------------------------------------------
def variables(text):
    return dict(x.split('=', 1) for x in text.split('\n') if x.startswith(VARIABLES))


def test_variables():
    library = os.path.realpath('bin/' + LIBRARY)
    session = os.path.join(os.path.realpath('.'), 'v')
    got = variables(tfprof('record', '-o', 'v', '--', 'env')[1])
    same(got, {'CUDA_INJECTION64_PATH': library, 'NVTX_INJECTION64_PATH': library, 'TFPROF_SESSION': session,
               'TFPROF_OPTS': ''}, 'variables')
    got = variables(tfprof('record', '-o', 'v/', '--level=full', '--graphs', 'graph', '--mem', '--sync', '--delay=1.5',
                           '--duration=20', '--start=ctl', '--max-size=2G', '--verbose', '--no-nvtx', 'env')[1])
    same(got, {'CUDA_INJECTION64_PATH': library, 'TFPROF_SESSION': session, 'TFPROF_OPTS':
               'level=full,graphs=graph,start=ctl,mem=1,sync=1,delay=1.500,duration=20.000,max_size=2147483648,'
               'nvtx=0,verbose=1'}, 'variables')
    tfprof('record', '-o', 'v', '--step-nvtx=step.*', '--step-every=20', 'true')
    same(open('v/options').read(), '--step-nvtx=step.*\n--step-every=20\n', 'options')


def test_other_profilers():
    other = dict(CUDA_INJECTION64_PATH='/opt/other.so')
    got = tfprof('record', '--', 'true', more=other)
    same(got[0], 1, 'status')
    holds(got[2], 'CUDA_INJECTION64_PATH=/opt/other.so is set')
    for value in ('', 'none', '/elsewhere/' + LIBRARY):
        same(tfprof('record', '--', 'true', more=dict(CUDA_INJECTION64_PATH=value))[0], 0, value)
    got = tfprof('record', '--force', '--', 'env', more=other)
    holds(got[1], 'CUDA_INJECTION64_PATH=' + os.path.realpath('bin'))
    nvtx = dict(NVTX_INJECTION64_PATH='/opt/nvtx.so')
    holds(tfprof('record', '--', 'true', more=nvtx)[2], 'NVTX_INJECTION64_PATH=/opt/nvtx.so is replaced')
    got = tfprof('record', '--no-nvtx', '--', 'env', more=nvtx)
    holds(got[1], 'NVTX_INJECTION64_PATH=/opt/nvtx.so\n')


def test_env():
    got = tfprof('record', '--env', '-o', "it's a folder", '--level=kernels')
    same(got[0], 0)
    shown = run('sh', '-c', got[1] + 'env')[1]
    there = variables(shown)
    same(there['TFPROF_SESSION'], os.path.join(os.path.realpath('.'), "it's a folder"), 'session')
    same(there['TFPROF_OPTS'], 'level=kernels')
    words = shlex.split(tfprof('record', '--env=docker', '-o', "it's a folder", '--level=kernels')[1])
    same(dict(words[i + 1].split('=', 1) for i in range(0, 8, 2)), there, 'variables for docker')
    same([words[8], words[10]], ['-v', '-v'])
    same(words[9], there['TFPROF_SESSION'] + ':' + there['TFPROF_SESSION'])


def test_folders():
    os.umask(0o22)
    same(tfprof('record', 'true')[0], 0)
    made = glob.glob('tfprof-*')
    same(len(made), 1)
    if not re.fullmatch(r'tfprof-\d{8}-\d{6}-\d+', made[0]):
        raise Bad(made[0])
    same(stat.S_IMODE(os.stat(made[0]).st_mode), 0o700, 'mode')
    os.mkdir('target', 0o700)
    os.symlink('target', 'link')
    os.symlink('nowhere', 'dangling')
    put('foreign/thesis.txt', 'x')
    os.mkdir('open')
    os.chmod('open', 0o777)
    os.mkdir('mine', 0o700)
    spool('mine', 'end\n')
    put('mine/control', '')
    put('mine/17.log', '')
    put('file', '')
    for name, sentence in (('link', 'is a link or no folder'), ('link/', 'is a link or no folder'),
                           ('dangling', 'is a link or no folder'), ('file', 'is a link or no folder'),
                           ('foreign', "'foreign' holds other files ('thesis.txt')"),
                           ('open', "others may write into 'open'"),
                           ('no/such/place', "cannot make the folder 'no/such/place'")):
        got = tfprof('record', '-o', name, '--', 'touch', 'ran')
        holds(got[2], sentence)
        same(got[0] in (1, 3), True, name)
    same(os.path.exists('ran'), False, 'the program ran')
    same(os.listdir('target'), [], 'behind the link')
    for words in (['-o', 'mine'], ['-o', 'foreign', '--force'], ['-o', 'mine/']):
        same(tfprof('record', *words, '--', 'true')[0], 0, words)
    same(sorted(os.listdir('foreign')), ['thesis.txt'], 'foreign files')
    os.remove('bin/' + LIBRARY)
    holds(tfprof('record', '--', 'true')[2], 'is neither beside the program')
    os.makedirs('lib/tfprof')
    put('lib/tfprof/' + LIBRARY, '')
    same(tfprof('record', '--', 'true')[0], 0, '../lib/tfprof')


# ---- record: what was recorded ------------------------------------------------------------------
LATE = '''import os, subprocess, sys, time
def spool(n, lines):
    start = open('/proc/self/stat').read().rpartition(')')[2].split()[19]
    path = '%s/%s-%d-%s-%08x.tfspool' % (os.environ['TFPROF_SESSION'], HOST, os.getpid(), start, n)
    subprocess.run([WRITE, path, str(os.getpid())], input=lines.encode(), check=True)
spool(1, 'many 1000 3\\nlost 0 7\\nend\\n')
if os.fork() == 0:
    os.closerange(0, 3)
    spool(2, 'many 500 3\\n')
    with open('pid', 'w') as f:
        f.write(str(os.getpid()))
    os.rename('pid', 'ready')
    time.sleep(SLEEP)
    open('late', 'w')
    os._exit(0)
while not os.path.exists('ready'):
    time.sleep(0.01)
sys.exit(4)
'''


def late(sleep):
    return [sys.executable, '-c', 'HOST = %r\nWRITE = %r\nSLEEP = %r\n' % (HOST, ARGS.spool_write, sleep) + LATE]


def test_summary():
    """Waits for what the program leaves behind, but not for ever; says what there is."""
    got = tfprof('record', '-o', 'late.d', '--', *late(0.5))
    same(os.path.exists('late'), True, 'waited')
    same(got[0], 4)
    same(re.sub(r'[\d.]+(K|M|)B', 'N', got[2]).split('\n'),
         ['tfprof: 2 processes, 1500 kernels, 0 copies, N in late.d; 7 records dropped by CUPTI',
          'tfprof: next: tfprof gpu late.d, tfprof op --spool=late.d', ''], 'summary')
    os.remove('ready')
    os.remove('late')
    got = tfprof('record', '-o', 'late.d', '--wait=0.1', '--', *late(60))
    same(os.path.exists('late'), False, 'waited too long')
    os.kill(int(open('ready').read()), signal.SIGKILL)
    holds(got[2], '1 of them still runs and records\n')
    holds(got[2], '2 processes, 1500 kernels')
    got = tfprof('record', '--', 'true')
    holds(got[2], 'nothing was recorded: no process has started CUDA')
    got = tfprof('record', '--', 'sh', '-c', 'echo "libcupti is too old" >"$TFPROF_SESSION/7.log"')
    holds(got[2], 'tfprof: libcupti is too old\n')


# ---- record: a driver and a CUPTI without a GPU -------------------------------------------------
def fake(*words):
    return [os.path.join(ARGS.fakes, 'program'), 'init'] + list(words)


def gpu(folder):
    return json.loads(tfprof('gpu', folder, '--output=json')[1])


def kernels(folder):
    return {k['name']: k['count'] for k in gpu(folder)['kernels']}


def test_fake_run():
    env = dict(LD_LIBRARY_PATH=ARGS.fakes)
    got = tfprof('record', '-o', 'f', '--', *fake('launch:1000', 'exit:9'), more=env)
    same(got[0], 9, got)
    holds(got[2], 'tfprof: 1 process, 1000 kernels, 0 copies')
    holds(got[2], 'nothing lost')
    same(kernels('f'), {'at::native::relu(float*)': 250, 'matmul(float*, float*, float*, int)': 250,
                        'sgemm_128x128': 250, 'softmax(float*, int)': 250})
    same(gpu('f')['gpus'][0]['name'], 'Fake GPU')
    holds(tfprof('ctl', 'f', 'status')[1], 'closed')
    # Several at once into one folder, one of them killed.
    script = ''.join('%s & ' % shlex.join(fake('launch:100', 'sleep:100')) for _ in range(3)) + 'wait; exec ' + \
        shlex.join(fake('launch:64', 'sleep:1500', 'raise:9'))
    got = tfprof('record', '-o', 'k', '--', 'sh', '-c', script, more=env)
    same(got[0], 137, got)
    holds(got[2], '4 processes, 364 kernels')
    data = gpu('k')
    same([len(data['gpus']), len(data['gpus'][0]['processes']), data['lost']['processes_not_closed']], [1, 4, 1])
    holds(tfprof('ctl', 'k', 'status')[1], 'cut off')
    holds(tfprof('gpu', 'k')[1], '1 of 4 processes had not closed')


def test_fake_views():
    """The views open the recording, with the steps that record was told."""
    env = dict(LD_LIBRARY_PATH=ARGS.fakes)
    step = ['push:train', 'launch:8', 'pop']
    tfprof('record', '-o', 's', '--step-nvtx=train', '--', *fake(*step, *step, 'sleep:100'), more=env)
    got = tfprof('op', '--spool=s', '-select', 'occurrence', '-step', '1')
    same(got[0], 0, got)
    for name in ('at::native::relu', 'matmul', 'sgemm_128x128', 'softmax'):
        holds(got[1], name)
    same(tfprof('op', '--spool=s', '-step', '7')[0], 1)


def test_fake_ctl():
    """Nothing before ctl start, nothing after ctl stop."""
    env = clean_env(LD_LIBRARY_PATH=ARGS.fakes)
    stop = ['raise:%d' % signal.SIGSTOP, 'sleep:700']
    words = fake('launch:10', *stop, 'launch:20', *stop, 'launch:40')
    p = subprocess.Popen(['./bin/tfprof', 'record', '--start=ctl', '-o', 'c', '--'] + words, env=env,
                         stderr=subprocess.PIPE, start_new_session=True)
    child = child_of(p.pid)
    for order in ('start', 'stop'):
        state(child, 'T')
        tfprof('ctl', 'c', order)
        os.kill(child, signal.SIGCONT)
        state(child, 'SR')
    text = p.communicate()[1].decode()
    same(p.returncode, 0, text)
    same(sum(kernels('c').values()), 20, 'kernels between start and stop')


def test_fake_doctor():
    env = dict(LD_LIBRARY_PATH=ARGS.fakes)
    p = subprocess.Popen(['./bin/tfprof', 'record', '-o', 'd', '--'] + fake('launch:1', 'say:up', 'sleep:20000'),
                         env=clean_env(**env), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    p.stdout.readline()
    got = tfprof('doctor', str(child_of(p.pid)))
    p.send_signal(signal.SIGTERM)
    same(p.wait(), 143)
    same(got[0], 0, got)
    holds(got[1], 'is recorded.')


# ---- ctl ----------------------------------------------------------------------------------------
def test_ctl():
    os.mkdir('c', 0o700)
    before = time.time_ns()
    for words in (['start'], ['step'], ['step', 'epoch 3'], ['flush'], ['stop']):
        same(tfprof('ctl', 'c', *words), (0, '', ''), words)
    lines = [x.split(' ', 1) for x in open('c/control').read().split('\n')[:-1]]
    same([x[1] for x in lines], ['start', 'step', 'step epoch 3', 'flush', 'stop'], 'orders')
    times = [before] + [int(x[0]) for x in lines] + [time.time_ns()]
    same(times, sorted(times), 'times')
    same(stat.S_IMODE(os.stat('c/control').st_mode), 0o600)
    many = [subprocess.Popen(['./bin/tfprof', 'ctl', 'c', 'step', str(i)]) for i in range(30)]
    same([p.wait() for p in many], [0] * 30)
    same(sorted(int(x.split()[2]) for x in open('c/control').read().split('\n')[5:-1]), list(range(30)))
    for words, status, sentence in ((['c'], 2, 'ctl takes a folder and'), (['c', 'stop', 'x'], 2, 'ctl takes a folder'),
                                    (['c', 'stopp'], 2, "'stopp' is no order"),
                                    (['c', 'step', 'a\nb'], 2, 'no control bytes'),
                                    (['c', 'step', 'x' * 201], 2, 'at most 200 bytes'),
                                    (['none', 'stop'], 3, 'cannot open the folder'),
                                    (['bin', 'stop'], 1, "'bin' holds other files")):
        got = tfprof('ctl', *words)
        holds(got[2], sentence)
        same(got[0], status, words)
    os.remove('c/control')
    os.symlink('../elsewhere', 'c/control')
    got = tfprof('ctl', 'c', 'start')
    holds(got[2], "cannot open 'c/control'")
    same(os.path.exists('elsewhere'), False)


def test_status_of_spools():
    os.mkdir('c', 0o700)
    holds(tfprof('ctl', 'c', 'status')[1], 'no process has started CUDA yet')
    spool('c', 'info argv /usr/bin/trainer\nmany 20 2\nnote half a sentence\nend\n', 10, 1)
    spool('c', 'many 30 2\nlost 4 4\n', 20, 1, 2)
    spool('c', 'many 40 2\n', os.getpid(), start_ticks(os.getpid()), 3)
    os.rename(spool('c', 'end\n', 40, 1, 4), 'c/other-host-40-1-00000004.tfspool')
    spool('c', 'end\n', 41, 1, 5)
    with open(glob.glob('c/*-41-1-*')[0], 'r+b') as f:
        f.write(b'junk')
    os.rename(spool('c', 'end\n', 50, 1, 6), 'c/odd.tfspool')
    put('c/9.log', 'one\ntwo\n')
    rows = tfprof('ctl', 'c', 'status')[1].split('\n')
    table = {x.split()[0]: x.split() for x in rows if x}
    same(table['10'][1:2] + table['10'][3:], ['closed', '20', '0', 'trainer'])
    same([table['20'][1] + ' ' + table['20'][2], table['20'][4]], ['cut off', '30'])
    same([table[str(os.getpid())][1], table[str(os.getpid())][3]], ['records', '40'])
    holds('\n'.join(rows), 'half a sentence')
    holds('\n'.join(rows), '4 records not written')
    holds('\n'.join(rows), 'bytes damaged')
    holds('\n'.join(rows), 'c/odd.tfspool: not the name of a spool')
    holds('\n'.join(rows), '9.log: one\n9.log: two')


# ---- gpu ----------------------------------------------------------------------------------------
RUN = '''info pid %d
info argv /usr/bin/python
info env.RANK %d
info env.TFPROF_JOB night
string NVIDIA H200
string _ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_
string sgemm_128
string cudaStreamSynchronize_v3020
string the program's own profiler took over
device %d 18 1
kernel %d 20000 2 %d 7 1
kernel 1030000 25000 3 %d 7 2
kernel 1060000 21000 2 %d 7 3
kernel 0 0 2 %d 7 4
copy 1 1010000 40000 4000000 %d
copy 2 1200000 10000 1000 %d
set 1300000 1000 64 %d
graph 1310000 5000 3 %d
api 4 77 1000000 60000 9
api 4 77 1100000 70000 10
gap 1400000 1500000 5
sum 7 2 %d 10 100000 9000 11000 0
lost 0 12
note the buffers were full once
'''


def two_ranks():
    os.mkdir('g', 0o700)
    for rank in (0, 1):
        spool('g', RUN % ((10 + rank, rank, rank, 1000000 + 5000 * rank) + (rank,) * 9) + ('' if rank else 'end\n'),
              10 + rank)


def test_gpu_text():
    two_ranks()
    got = tfprof('gpu', 'g')
    same(got[0], 0, got[2])
    path = os.path.join(ROOT, 'tests', 'spool', 'gpu.txt')
    if ARGS.accept:
        put(path, got[1])
    same(got[1].split('\n'), open(path).read().split('\n'), 'tests/spool/gpu.txt')


def test_gpu_data():
    two_ranks()
    data = json.loads(tfprof('gpu', 'g', '--output=json')[1])
    gpu = data['gpus'][0]
    same(len(data['gpus']), 1)
    same(gpu['uuid'], 'GPU-' + '12121212-1212-1212-1212-121212121212')
    same([p['rank'] for p in gpu['processes']], ['0', '1'])
    same(gpu['busy_ns'], 76000 + 10000 + 1000 + 5000)  # 1000000-1055000, 1060000-1081000, and what follows
    same(gpu['busy_ns'] + gpu['idle_ns'], gpu['to_ns'] - gpu['from_ns'])
    same(gpu['shared_ns'], gpu['busy_ns'] - 5000)
    same(gpu['copies'][0], {'way': 'HtoD', 'count': 2, 'bytes': 8000000, 'ns': 80000,
                            'bytes_per_second': 100000000000})
    same(sum(k['count'] for k in data['kernels']), 2 * (3 + 10 + 1))
    same(data['waits'][0]['total_ns'], 260000)
    same([data['lost'][k] for k in ('dropped', 'operations_without_times', 'operations_in_sums_only',
                                    'times_not_recorded', 'processes_not_closed')], [24, 2, 20, 2, 1])
    same(len(json.loads(tfprof('gpu', 'g', '--output=json', '--top=1')[1])['kernels']), 1)
    rows = [x.split(',') for x in tfprof('gpu', 'g', '--output', 'csv')[1].split('\n')]
    same(len(set(map(len, (x for x in rows[:10] if len(x) > 1)))), 1, 'cells of the rows')
    same([r[4] for r in rows if len(r) > 4 and r[2] == 'busy'], [str(gpu['busy_ns'])])


def test_gpu_words():
    got = tfprof('gpu')
    same(got[0], 3)
    holds(got[2], 'no folder of a recording (tfprof-DATE-PID) is here')
    for name in ('tfprof-old', 'tfprof-new'):
        os.mkdir(name)
        spool(name, 'string %s\nkernel 5 5 1 0 0 0\nend\n' % name)
    os.utime('tfprof-old', (1, 1))
    holds(tfprof('gpu')[1], 'tfprof-new')
    os.mkdir('empty')
    holds(tfprof('gpu', 'empty')[2], "'empty' holds no recording of a process")
    holds(tfprof('gpu', 'none')[2], "cannot open the folder 'none'")
    same(tfprof('gpu', 'a', 'b')[0], 2)
    put('junk/x.tfspool', 'junk')
    holds(tfprof('gpu', 'junk')[1], '4 bytes damaged')
    holds(tfprof('gpu', '--help')[1], '--top=N')


# ---- doctor -------------------------------------------------------------------------------------
def library(path, code):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    subprocess.run([os.environ.get('CC', 'cc'), '-shared', '-fPIC', '-x', 'c', '-', '-o', path], input=code.encode(),
                   check=True)


def machine(driver=13000, cupti=130001, params='RmProfilingAdminOnly: 0\n'):
    """A machine that is ready, as far as it is looked at. The variables to look at it with."""
    if driver:
        library('lib/libcuda.so.1', 'int cuDriverGetVersion(int *v) { *v = %d; return 0; }' % driver)
        put('root/proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue\nGCC\n')
        put('root/proc/driver/nvidia/params', params)
        for name in ('nvidiactl', 'nvidia0', 'nvidia-uvm'):
            put('root/dev/' + name, '')
    if cupti:
        library('lib/libcupti.so.13', 'int cuptiGetVersion(unsigned *v) { *v = %d; return 0; }' % cupti)
    return dict(TFPROF_ROOT=os.path.abspath('root'), LD_LIBRARY_PATH=os.path.abspath('lib'), CUDA_HOME='', CUDA_PATH='')


def judge(env, status, *parts, words=()):
    got = tfprof('doctor', *words, more=env)
    for part in parts:
        holds(got[1], part)
    same(got[0], status, got)
    same(got[1].split('\n')[-2].startswith('Verdict: '), True, 'the verdict comes last')


def test_doctor():
    env = machine()
    judge(env, 0, '580.95.05, up to CUDA 13.0', '/dev/nvidiactl, /dev/nvidia-uvm, /dev/nvidia0', 'of CUDA 13.0, ',
          'Verdict: ready to record')
    judge(dict(env, CUDA_INJECTION64_PATH='/opt/x.so'), 1, 'CUDA_INJECTION64_PATH=/opt/x.so',
          'Verdict: not ready to record (profilers)')
    judge(dict(env, NVTX_INJECTION64_PATH='/opt/x.so'), 0, 'NVTX_INJECTION64_PATH=/opt/x.so', '--no-nvtx')
    judge(env, 1, "cannot write into 'none'", words=('-o', 'none/such'))
    judge(env, 0, 'recordings can be written', words=('-o', 'bin/none/'))
    put('root/proc/77/comm', 'nsys\n')
    judge(env, 0, 'nsys (process 77)')
    put('root/proc/driver/nvidia/params', 'X: 1\nRmProfilingAdminOnly: 1\n')
    judge(env, 0, 'NVreg_RestrictProfilingToAdminUsers=0', '--cap-add=SYS_ADMIN', 'Verdict: ready')
    shutil.rmtree('root/dev')
    judge(env, 0, 'there is no /dev/nvidia*')
    os.remove('bin/' + LIBRARY)
    judge(env, 1, 'Verdict: not ready to record (collector)')


def test_doctor_without():
    judge(machine(0, 130001), 1, 'libcuda.so.1', 'docker run --gpus all', 'Verdict: not ready to record (driver, and more)')
    judge(machine(13000, 0) if not os.path.exists('lib/libcupti.so.13') or not os.remove('lib/libcupti.so.13') else {}, 1,
          'no libcupti.so is found', 'TFPROF_CUPTI_PATH')
    env = machine(13000, 130200)
    judge(env, 0, 'of CUDA 13.2', 'a little newer than the driver')
    os.rename('lib/libcupti.so.13', 'cupti.so')
    judge(dict(machine(12040, 0), TFPROF_CUPTI_PATH=os.path.abspath('cupti.so')), 1, 'It is newer than the driver')
    library('stub/libcuda.so.1', 'int nothing;')
    judge(dict(env, LD_LIBRARY_PATH=os.path.abspath('stub')), 1, 'does not say its version', 'the stub')


def process(pid, environment, maps):
    put('root/proc/%d/stat' % pid, '%d (a ) b) S' % pid + ' 1' * 18 + ' 12345 0 0\n')
    put('root/proc/%d/environ' % pid, ''.join(x + '\0' for x in environment))
    put('root/proc/%d/maps' % pid, ''.join('7f00-7f01 r-xp 0 fe:01 1   %s\n' % x for x in maps))


def test_doctor_of_process():
    env = dict(TFPROF_ROOT=os.path.abspath('root'))
    os.mkdir('folder')
    ours = ['CUDA_INJECTION64_PATH=/x/' + LIBRARY, 'TFPROF_SESSION=' + os.path.abspath('folder')]
    cuda, collector = '/usr/lib/libcuda.so.1', '/x/' + LIBRARY
    process(1, ours, ['/bin/x', cuda, collector, '/usr/lib/libcupti.so.13'])
    judge(env, 0, 'libcupti.so.13', 'Verdict: process 1 is recorded.', words=['1'])
    process(2, ours, ['/bin/x'])
    judge(env, 0, 'has not loaded libcuda', 'Verdict: process 2 will be recorded', words=['2'])
    process(3, [], ['/bin/x', cuda])
    judge(env, 1, 'CUDA_INJECTION64_PATH is not set', 'Verdict: process 3 is not recorded (variables', words=['3'])
    process(4, ours, ['/bin/x', cuda])
    judge(env, 1, 'has CUDA, but not the collector', words=['4'])
    process(5, ['CUDA_INJECTION64_PATH=/opt/x.so'], ['/bin/x', cuda, '/opt/nsight/libToolsInjection64.so'])
    judge(env, 1, 'Another profiler was given', 'libToolsInjection64.so is in it', words=['5'])
    process(6, [ours[0], 'TFPROF_SESSION=/no/such'], ['/bin/x', cuda, collector])
    judge(env, 1, 'cannot write there', words=['6'])
    for word, status, sentence in (('x', 2, "not 'x'"), ('7', 3, 'there is no process 7')):
        got = tfprof('doctor', word, more=env)
        holds(got[2], sentence)
        same(got[0], status)
    same(tfprof('doctor', '1', '2')[0], 2)


# -------------------------------------------------------------------------------------------------
def do(name, f):
    top = tempfile.mkdtemp(prefix='tfprof-record-')
    back = os.getcwd()
    os.chdir(top)
    os.mkdir('bin')
    shutil.copy(ARGS.program, 'bin/tfprof')
    collector = os.path.join(os.path.dirname(ARGS.program), LIBRARY)
    if os.path.exists(collector):
        shutil.copy(collector, 'bin')
    else:
        put('bin/' + LIBRARY, '')
    try:
        f()
        return True
    except (Bad, OSError, ValueError, KeyError, IndexError, subprocess.SubprocessError) as e:
        print('FAILED %s: %s: %s' % (name, type(e).__name__, e))
        return False
    finally:
        os.chdir(back)
        shutil.rmtree(top)


def main():
    tests = {k[5:]: v for k, v in globals().items() if k.startswith('test_')}
    passed = failed = skipped = 0
    for name, f in tests.items():
        if ARGS.names and name not in ARGS.names:
            continue
        if name == 'keys' and not shutil.which('bash'):
            print('no bash: keys are not tried')
            skipped += 1
            continue
        began = time.time()
        good = do(name, f)
        if ARGS.slow:
            print('%5.1fs %s' % (time.time() - began, name))
        passed += good
        failed += not good
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description='Uses record, ctl, gpu and doctor.')
    p.add_argument('names', nargs='*')
    p.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    p.add_argument('--tools', default=os.path.join(ROOT, 'build', 'release'))
    p.add_argument('--accept', action='store_true')
    p.add_argument('--slow', action='store_true', help='say how long each took')
    ARGS = p.parse_args()
    ARGS.program = os.path.abspath(ARGS.program)
    ARGS.fakes = os.path.abspath(os.path.join(ARGS.tools, 'fakes'))
    ARGS.spool_write = os.path.abspath(os.path.join(ARGS.tools, 'spool_write'))
    sys.exit(main())
