# SPDX-License-Identifier: Apache-2.0
"""A session of record: its variables, its folder, and its summary."""
import glob
import os
import re
import shlex
import signal
import stat
import sys

from rig import ARGS, HOST, LIBRARY, VARIABLES, Bad, holds, put, run, same, spool, tfprof
from script import Spool, launches


# ---- variables and folders ----------------------------------------------------------------------
def variables(text):
    return dict(x.split('=', 1) for x in text.split('\n') if x.startswith(VARIABLES))


def test_variables():
    library = os.path.realpath('bin/' + LIBRARY)
    session = os.path.join(os.path.realpath('.'), 'v')
    got = variables(tfprof('record', '-o', 'v', '--', 'env')[1])
    same(got, {'CUDA_INJECTION64_PATH': library, 'NVTX_INJECTION64_PATH': library, 'TFPROF_SESSION': session,
               'TFPROF_OPTS': ''}, 'variables')
    got = variables(tfprof('record', '-o', 'v/', '--level=full', '--graphs', 'graph', '--mem', '--sync', '--delay=1.5',
                           '--duration=20', '--start=ctl', '--max-size=2G', '--verbose', '--no-nvtx', '--step-signal',
                           '--self-limit', '--detach', 'env')[1])
    same(got, {'CUDA_INJECTION64_PATH': library, 'TFPROF_SESSION': session, 'TFPROF_OPTS':
               'level=full,graphs=graph,start=ctl,mem=1,sync=1,delay=1.500,duration=20.000,max_size=2000000000,'
               'nvtx=0,step_signal=1,self_limit=1,detach=1,verbose=1'}, 'variables')
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
    got = tfprof('record', '--chain', '--', 'env', more=nvtx)
    holds(got[1], 'TFPROF_NVTX_CHAIN=/opt/nvtx.so\n')
    holds(got[1], 'NVTX_INJECTION64_PATH=' + os.path.realpath('bin'))
    same('replaced' in got[2], False, 'a remark')
    got = tfprof('record', '--chain', '--', 'env')
    holds(got[2], '--chain: NVTX_INJECTION64_PATH names no library')
    same('NVTX_CHAIN' in got[1], False, 'a library')


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
    spool('mine', Spool().end())
    put('mine/control', '')
    put('mine/17.log', '')
    put('file', '')
    for name, sentence in (('link', 'is a link, or not a folder'), ('link/', 'is a link, or not a folder'),
                           ('dangling', 'is a link, or not a folder'), ('file', 'is a link, or not a folder'),
                           ('foreign', "'foreign' contains other files ('thesis.txt')"),
                           ('open', "other users can write into 'open'"),
                           ('no/such/place', "cannot create the folder 'no/such/place'")):
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


# ---- what was recorded --------------------------------------------------------------------------
LATE = '''import os, subprocess, sys, time
def spool(n, lines):
    start = open('/proc/self/stat').read().rpartition(')')[2].split()[19]
    path = '%s/%s-%d-%s-%08x.tfspool' % (os.environ['TFPROF_SESSION'], HOST, os.getpid(), start, n)
    subprocess.run([MAKE, path], input=lines.encode(), check=True)
spool(1, FIRST)
if os.fork() == 0:
    os.closerange(0, 3)
    spool(2, SECOND)
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
    first, second = launches(1000).add('lost', why=0, count=7).end(), launches(500)
    put('late.py', ''.join('%s = %r\n' % x for x in (
        ('HOST', HOST), ('MAKE', ARGS.spool_make), ('SLEEP', sleep), ('FIRST', '\n'.join(first.lines)),
        ('SECOND', '\n'.join(second.lines)))) + LATE)
    return [sys.executable, 'late.py']


def test_summary():
    """record waits for background processes of the program for a limited time, and reports what was recorded."""
    got = tfprof('record', '-o', 'late.d', '--wait=300', '--', *late(0.5))
    same(os.path.exists('late'), True, 'waited')
    same(got[0], 4)
    same(re.sub(r'[\d.]+(K|M|)B', 'N', got[2]).split('\n'),
         ['tfprof: 2 processes, 1500 kernels, 0 copies, N in late.d; 7 records dropped by CUPTI, 1 process '
          'had not closed its recording: the last records may be missing',
          'tfprof: next: tfprof gpu late.d, tfprof op late.d', ''], 'summary')
    os.remove('ready')
    os.remove('late')
    got = tfprof('record', '-o', 'late.d', '--wait=0.1', '--', *late(600))
    same(os.path.exists('late'), False, 'waited too long')
    os.kill(int(open('ready').read()), signal.SIGKILL)
    holds(got[2], '1 of them still runs and records\n')
    holds(got[2], '2 processes, 1500 kernels')
    got = tfprof('record', '--', 'true')
    holds(got[2], 'nothing was recorded: no process used CUDA, or it ran with another environment, user or folder')
    got = tfprof('record', '--', 'sh', '-c', 'echo "libcupti is too old" >"$TFPROF_SESSION/7.log"')
    holds(got[2], 'tfprof: libcupti is too old\n')
