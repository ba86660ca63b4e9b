# SPDX-License-Identifier: Apache-2.0
"""The command doctor, on imitated machines: folders, small libraries, and processes."""
import os
import shutil
import subprocess

from rig import LIBRARY, holds, put, same, tfprof


def library(path, code):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    subprocess.run([os.environ.get('CC', 'cc'), '-shared', '-fPIC', '-x', 'c', '-', '-o', path], input=code.encode(),
                   check=True)


def machine(driver=13000, cupti=130001, params='RmProfilingAdminOnly: 0\n'):
    """Makes a machine that can record. Returns the variables that let doctor examine it."""
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
    judge(env, 0, 'torch.profiler', '580.95.05, up to CUDA 13.0', '/dev/nvidiactl, /dev/nvidia-uvm, /dev/nvidia0', 'of CUDA 13.0, ',
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
    judge(env, 0, '/dev/nvidia* does not exist')
    os.remove('bin/' + LIBRARY)
    judge(env, 1, 'Verdict: not ready to record (collector)')


def test_doctor_without():
    judge(machine(0, 130001), 1, 'libcuda.so.1', 'in a container, use docker run', 'Verdict: not ready to record (driver, and more)')
    judge(machine(13000, 0) if not os.path.exists('lib/libcupti.so.13') or not os.remove('lib/libcupti.so.13') else {}, 1,
          'no libcupti.so was found', 'TFPROF_CUPTI_PATH')
    env = machine(13000, 130200)
    judge(env, 0, 'of CUDA 13.2', 'a little newer than the driver')
    os.rename('lib/libcupti.so.13', 'cupti.so')
    judge(dict(machine(12040, 0), TFPROF_CUPTI_PATH=os.path.abspath('cupti.so')), 1, 'It is newer than the driver')
    library('stub/libcuda.so.1', 'int nothing;')
    judge(dict(env, LD_LIBRARY_PATH=os.path.abspath('stub')), 1, 'does not report its version', 'stub library')


def test_doctor_python():
    """CUPTI is found beside the interpreter that a command starts; a virtual environment comes before its base installation."""
    env = dict(machine(13000, 0), VIRTUAL_ENV='', CONDA_PREFIX='', HOME='/none')
    code = 'int cuptiGetVersion(unsigned *v) { *v = %d; return 0; }'
    library('base/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13', code % 130000)
    put('base/bin/tfpython', '')
    os.chmod('base/bin/tfpython', 0o755)
    os.makedirs('venv/bin')
    os.symlink(os.path.abspath('base/bin/tfpython'), 'venv/bin/python')
    env['PATH'] = os.path.abspath('venv/bin') + ':' + os.environ['PATH']
    judge(env, 0, 'of CUDA 13.0, ' + os.path.abspath('base/lib/python3.12'))
    library('venv/lib/python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12', code % 28)
    judge(env, 0, os.path.abspath('venv/lib/python3.12'))
    os.remove('venv/bin/python')
    put('venv/bin/python', '#!/usr/bin/env tfpython\n')
    os.chmod('venv/bin/python', 0o755)
    judge(dict(env, PATH=env['PATH'] + ':' + os.path.abspath('base/bin')), 0, os.path.abspath('base/lib/python3.12'))


def test_doctor_bad_cupti():
    """A CUPTI version that ends its process is reported, and none of its functions is called."""
    env = machine(12080, 0)
    bad = ''.join('int %s(void) { __builtin_trap(); }' % x for x in ('cuptiGetVersion', 'cuptiActivityGetStructSize'))
    library('lib/libcupti.so.12', bad)
    judge(env, 1, 'CUDA 13.2 (13.2.23, 13.2.75, 13.2.86), which calls itself without end', "pip install 'nvidia-cuda-cupti>=13.3'")
    same(tfprof('--version', more=env)[0], 0)
    library('lib/libcupti.so.12', 'int cuptiGetVersion(unsigned *v) { *v = 0; return 999; }')
    judge(env, 1, 'does not report its version')


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
    judge(env, 1, 'has loaded CUDA, but not the collector', words=['4'])
    process(5, ['CUDA_INJECTION64_PATH=/opt/x.so'], ['/bin/x', cuda, '/opt/nsight/libToolsInjection64.so'])
    judge(env, 1, 'was started with another profiler', 'libToolsInjection64.so is loaded in the process', words=['5'])
    process(6, [ours[0], 'TFPROF_SESSION=/no/such'], ['/bin/x', cuda, collector])
    judge(env, 1, 'cannot write there', words=['6'])
    process(8, [], ['/bin/x'])
    judge(env, 1, 'will not be loaded with the driver', words=['8'])
    process(9, [], [])
    holds(tfprof('doctor', '9', more=env)[2], 'no permission to read process 9')
    process(10, [], [])
    put('root/proc/10/stat', open('root/proc/10/stat').read().replace(') S', ') Z'))
    for word, status, sentence in (('10', 3, 'process 10 does not exist or has ended'), ('x', 2, "not 'x'"), ('7', 3, 'process 7 does not exist')):
        got = tfprof('doctor', word, more=env)
        holds(got[2], sentence)
        same(got[0], status)
    same(tfprof('doctor', '1', '2')[0], 2)
