# SPDX-License-Identifier: Apache-2.0
"""record, ctl and gpu together, with a fake driver and a fake CUPTI."""
import json
import os
import re
import shlex
import signal
import subprocess
import sys

from rig import ARGS, LIBRARY, child_of, clean_env, holds, run, same, tfprof


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
    for word, env_more, said in (('', {'FAKE_FAIL': 'EnableCallback:2'}, 'possibly kernels launched but not recorded'),
                                 ('', {'FAKE_MUTE': '1'}, '; 1000 kernels launched but not recorded'),
                                 ('', {'FAKE_HOLDER': 'x'}, 'possibly kernels launched but not recorded')):
        got = tfprof('record', *(['--' + word] if word else []), '-o', 'f2', '--', *fake('launch:1000', 'exit:9'), more=dict(env, **env_more))
        same(got[0], 9, got)
        holds(got[2], said)
        same('nothing lost' in got[2], False, got)
    holds(tfprof('record', '--level=kernels', '-o', 'f3', '--', *fake('launch:1000', 'exit:9'), more=env)[2], 'nothing lost')
    same(kernels('f'), {'at::native::relu(float*)': 250, 'matmul(float*, float*, float*, int)': 250,
                        'sgemm_128x128': 250, 'softmax(float*, int)': 250})
    same(gpu('f')['gpus'][0]['name'], 'Fake GPU')
    holds(tfprof('ctl', 'f', 'status')[1], 'closed')
    # Several processes record into one folder, and one is killed.
    script = ''.join('%s & ' % shlex.join(fake('launch:100')) for _ in range(3)) + 'wait; exec ' + \
        shlex.join(fake('launch:64', 'settle:700', 'raise:9'))
    got = tfprof('record', '-o', 'k', '--', 'sh', '-c', script, more=env)
    same(got[0], -9, got)
    holds(got[2], '4 processes, 364 kernels')
    holds(got[2], '; possibly kernels launched but not recorded, 1 process had not closed its recording, as it was ended by signal 9: ')
    data = gpu('k')
    same([len(data['gpus']), len(data['processes']), data['lost']['processes_not_closed']], [1, 4, 1])
    holds(tfprof('ctl', 'k', 'status')[1], 'cut off')
    holds(tfprof('gpu', 'k')[2], ' has no end: the process was ended by signal 9')


def test_fake_ends():
    """The summary states how a process that did not close its recording ended, and how many launches have no record; record
    ends by the same signal."""
    env = dict(LD_LIBRARY_PATH=ARGS.fakes)
    late = dict(env, FAKE_LATE='1000000')
    for end, status, said in (('_exit:7', 7, 'as it ended by _exit or exec, with status 7'), ('raise:9', -9, 'as it was ended by signal 9'),
                              ('raise:15', -15, 'as it was ended by signal 15'), ('abort', -6, 'as it was ended by signal 6')):
        got = tfprof('record', '-o', 'e' + end, '--', *fake('launch:500', end), more=late)
        same(got[0], status, got)
        holds(got[2], '1 process had not closed its recording, ' + said)
        have, lost = (int(re.search(r'(\d+) kernels%s' % x, got[2])[1]) for x in (',', ' launched but not recorded'))
        same((have + lost, 'at least %d kernels launched' % lost in got[2]), (500, True), got[2])
        lost_of = gpu('e' + end)['lost']
        same((lost_of['kernels_without_record'], lost_of['lower_bounds'], lost_of['processes_not_compared']), (lost, ['kernels_without_record'], 1))
    got = run('sh', '-c', './bin/tfprof record -o s -- "$@"; echo $?', 'sh', *fake('launch:5', 'raise:9'), more=env)
    same(got[1], '137\n', got)
    # The program closes all descriptors, including the descriptor of the recording.
    got = tfprof('record', '-o', 'c', '--', *fake('launch:500', 'close-all', 'launch:500', 'exit:3'), more=env)
    same(got[0], 3, got)
    holds(got[2], '1 process had not closed its recording')
    same('killed' in got[2] + tfprof('gpu', 'c')[2], False, got)


WORKERS = '''
import ctypes, multiprocessing, sys

def work(_):
    driver = ctypes.CDLL('libcuda.so.1')
    driver.cuInit(0)
    for _ in range(100):
        driver.cuLaunchKernel(b'kernel', 1, 1, 1, 1, 1, 1, 0, None, None, None)

if __name__ == '__main__':
    workers = [multiprocessing.get_context(sys.argv[1]).Process(target=work, args=(i,)) for i in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    sys.exit(sum(w.exitcode for w in workers))
'''


def python():
    """Returns the words that start Python so that it can load the collector of a build with sanitizers."""
    linked = subprocess.run(['ldd', 'bin/' + LIBRARY], stdout=subprocess.PIPE, check=True).stdout.decode()
    first = re.findall(r'=> (\S*/lib[a-z]+san\.so\S*)', linked)
    return (['env', 'LD_PRELOAD=' + ':'.join(first), 'ASAN_OPTIONS=detect_leaks=0'] if first else []) + [sys.executable]


def test_fake_workers():
    """Workers of multiprocessing, which mostly end by _exit: each launch is recorded or stated as lost."""
    with open('workers.py', 'w') as f:
        f.write(WORKERS)
    for how in ('fork', 'forkserver', 'spawn'):
        got = tfprof('record', '-o', how, '--', *python(), 'workers.py', how, more=dict(LD_LIBRARY_PATH=ARGS.fakes))
        same(got[0], 0, got)
        data = gpu(how)
        recorded = sum(g['kernels'] for g in data['gpus'])
        lost = data['lost']
        same(recorded + lost['kernels_without_record'], 400, got[2])
        # At a sudden end, the collector cannot check whether another client has stopped the count of launches.
        same(lost['lower_bounds'], ['kernels_without_record'] if lost['processes_not_closed'] else [], got[2])
        same(lost['processes_not_closed'] > 0, recorded < 400, got[2])
        same('killed' in got[2], False, got[2])


def test_fake_next():
    """The commands that record suggests at its end work."""
    got = tfprof('record', '-o', "it's a", '--', *fake('launch:1'), more=dict(LD_LIBRARY_PATH=ARGS.fakes))
    holds(got[2], "tfprof: 1 process, 1 kernel, 0 copies, ")
    words = shlex.split(got[2].split('next: tfprof ')[1].split(',')[0])
    same(words, ['gpu', "it's a"])
    holds(tfprof(*words)[1], 'matmul')


def test_fake_views():
    """The views open the recording, with the steps that were given to record."""
    env = dict(LD_LIBRARY_PATH=ARGS.fakes)
    step = ['push:train', 'launch:8', 'pop']
    tfprof('record', '-o', 's', '--step-nvtx=train', '--', *fake(*step, *step), more=env)
    got = tfprof('op', '--spool=s', '-select', 'occurrence', '-step', '1')
    same(got[0], 0, got)
    for name in ('at::native::relu', 'matmul', 'sgemm_128x128', 'softmax'):
        holds(got[1], name)
    same(tfprof('op', '--spool=s', '-step', '7')[0], 1)


def test_fake_ctl():
    """Nothing is recorded before ctl start or after ctl stop."""
    env = clean_env(LD_LIBRARY_PATH=ARGS.fakes)
    words = fake('launch:10', 'say:none', 'await:subscribed 1 kinds 7', 'launch:20', 'say:some', 'await:subscribed 0', 'launch:40')
    p = subprocess.Popen(['./bin/tfprof', 'record', '--start=ctl', '-o', 'c', '--'] + words, env=env,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for said, order in ((b'none\n', 'start'), (b'some\n', 'stop')):
        same(p.stdout.readline(), said)
        tfprof('ctl', 'c', order)
    text = p.communicate()[1].decode()
    same(p.returncode, 0, text)
    same(sum(kernels('c').values()), 20, 'kernels between start and stop')


def test_fake_doctor():
    env = dict(LD_LIBRARY_PATH=ARGS.fakes)
    p = subprocess.Popen(['./bin/tfprof', 'record', '-o', 'd', '--'] + fake('launch:1', 'say:up', 'listen'), stdin=subprocess.PIPE,
                         env=clean_env(**env), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    p.stdout.readline()
    got = tfprof('doctor', str(child_of(p.pid)))
    p.send_signal(signal.SIGTERM)
    same(p.wait(), -signal.SIGTERM)
    same(got[0], 0, got)
    holds(got[1], 'is recorded.')
