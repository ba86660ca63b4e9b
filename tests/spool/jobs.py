# SPDX-License-Identifier: Apache-2.0
"""Several jobs in one recording: separate, together, by GPU, and their steps."""
import json
import re
import subprocess

from rig import same, steps_of
from script import Spool


def two_jobs(t):
    """Makes a training job of two ranks on two GPUs, and an inference job on the first GPU, half a step later."""
    for rank in (0, 1):
        s = Spool(pid=10 + rank, host='n', env_SLURM_JOB_ID=7, env_RANK=rank)
        s.add('gpu', id=0, uuid='GPU-' + 'AB'[rank])
        for i in range(4):
            s.push(i * 1000000, 'ProfilerStep#%d' % i).launch(i * 1000000 + 100, 'train', length=400000)
            s.launch(i * 1000000 + 800000, 'last', length=100000).pop(i * 1000000 + 999000)
        t.write(s.end(), folder='jobs')
    s = Spool(pid=20, host='n', env_SLURM_JOB_ID=8).add('gpu', id=1, uuid='GPU-C').add('gpu', id=0, uuid='GPU-A')
    for i in range(10):
        s.push(i * 500000 + 250000, 'ProfilerStep#%d' % i).launch(i * 500000 + 250100, 'infer', length=200000)
        s.pop(i * 500000 + 700000)
    t.write(s.end(), folder='jobs')
    return 'jobs'


def check_jobs_by_number(t):
    """Steps of jobs are matched by number by default; every view shows all jobs, one job, or one GPU."""
    path = two_jobs(t)
    words = ('--step-nvtx=pytorch',)
    same(steps_of(t, path, *words), [5] * 4 + [1] * 6)
    names = {'job-7/rank0/train', 'job-7/rank0/last', 'job-7/rank1/train', 'job-7/rank1/last', 'job-8/infer'}
    for view in ('scope', 'graph'):
        same(set(t.runs(view, path, *words, '-step', '2')), names)
    same(t.runs('op', path, *words, '-step', '2'), {'train': 2, 'last': 2, 'infer': 1})
    same(t.runs('op', path, *words, '-step', '2', '--job=7'), {'train': 2, 'last': 2})
    same(t.runs('op', path, *words, '-step', '9', '--job=8'), {'infer': 1})
    same(t.runs('op', path, *words, '-step', '2', '--process=11'), {'train': 1, 'last': 1})
    same(t.runs('op', path, *words, '-step', '2', '--merge=sum'), {'train': 2, 'last': 2, 'infer': 1})
    for gpu in ('0', 'GPU-4750552d-41'):
        same(set(t.runs('scope', path, *words, '-step', '2', '--gpu=' + gpu)),
             {'job-7/rank0/train', 'job-7/rank0/last', 'job-8/infer'})
    same(t.runs('op', path, *words, '-step', '2', '--gpu=1'), {'train': 1, 'last': 1})
    t.run('op', path, '--gpu=2', status=3)
    found = t.times('code', path, *words, '-step', '2')
    same({k.split(':')[-1]: v[0] for k, v in found.items() if v[0]}, {'train': 800, 'last': 200, 'infer': 200})
    data = json.loads(t.run('gpu', path, '-output', 'json'))
    same([(r['gpu'], r['shared_ns']) for r in data['gpus']], [(0, 10 ** 6), (1, 0)])  # four steps with 150 us of train and 100 us of last each
    same([(r['gpu'], r['pid'], r['kernels'], r['job']) for r in data['processes']], [(0, 10, 8, '7'), (0, 20, 10, '8'), (1, 11, 8, '7')])


def check_jobs_by_time(t):
    """--step-merge=time: work of another job counts in the step of the first job at that time."""
    path = two_jobs(t)
    words = ('--step-nvtx=pytorch', '--step-merge=time')
    same(steps_of(t, path, *words), [6] * 4)
    for step in range(4):
        for view, key in (('scope', 'job-8/infer'), ('graph', 'job-8/infer'), ('op', 'infer')):
            same(t.runs(view, path, *words, '-step', str(step))[key], 2)
    assert '2 operations are in no step' in t.notes, t.notes  # steps after the end of the first job
    same(steps_of(t, path, *words, '--keep-warmup'), [2] + [6] * 4)
    for way in ('0', '3'):
        t.run('convert', path, *words, '-output', 'profile:outfile=p')
        same(t.times('scope', '--profile_path=p', '-step', way), t.times('scope', path, *words, '-step', way))
    t.run('scope', path, '--step-merge=never', status=2)


def check_prompt(t):
    """At the prompt, recordings are jobs with the names of their folders."""
    for name in ('one', 'two'):
        t.write(Spool().launch(0, name).end(), folder='runs/' + name)
    p = subprocess.run([t.args.program, 'runs/one/'], input=b'load runs/two\nop\nlist\nuse one\nop\n', cwd=t.where,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    same((p.returncode, p.stderr), (0, b''))
    same(re.findall(r'^(one|two|[* ] (?:one|two))  ', p.stdout.decode(), re.M), ['two', '  one', '* two', 'one'])


def check_launchers(t):
    """Jobs without a name are distinguished by their launcher if a rank occurs twice."""
    for launcher in (100, 200):
        for rank in (0, 1):
            s = Spool(pid=launcher + 1 + rank, ppid=launcher, host='n', env_RANK=rank, env_TORCHELASTIC_RUN_ID='none')
            t.write(s.launch(0, 'k').end(), folder='f')
            t.write(Spool(pid=launcher + 11 + rank, ppid=launcher + 1 + rank, host='n', env_RANK=rank).end(), folder='f')
    same(t.runs('scope', 'f'), {'job-p%d/rank%d/k' % (j, r): 1 for j in (100, 200) for r in (0, 1)})
    same(t.runs('scope', 'f', '--job=p200'), {'rank%d/k' % r: 1 for r in (0, 1)})
    for job in ('100', '200'):
        for rank in (0, 1):
            t.write(Spool(pid=rank, ppid=int(job), env_RANK=rank, env_SLURM_JOB_ID=7).launch(0, 'k').end(), folder='g')
    same(t.runs('scope', 'g'), {'job-7-p%d/rank%d/k' % (j, r): 1 for j in (100, 200) for r in (0, 1)})
    same(t.runs('scope', 'g', '--job=7'), t.runs('scope', 'g'))
    same(t.runs('scope', 'g', '--job=7-p100'), {'rank0/k': 1, 'rank1/k': 1})
    for name, variables in (('mpi', {'env_OMPI_MCA_ess_base_jobid': '77:1'}), ('torch', {'env_TORCHELASTIC_RUN_ID': '77:1'})):
        for rank in (0, 1):
            t.write(Spool(pid=rank, ppid=5 + rank, env_RANK=rank, **variables).launch(0, 'k').end(), folder=name)
        t.write(Spool(pid=9, env_TFPROF_JOB='b').launch(0, 'k').end(), folder=name)
        same(t.runs('scope', name), {'job-77_1/rank0/k': 1, 'job-77_1/rank1/k': 1, 'job-b/k': 1})
        same(t.runs('scope', name, '--job=77_1'), {'rank0/k': 1, 'rank1/k': 1})
