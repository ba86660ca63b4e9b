#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts recordings to a ProfileProto, and to RunMetadata with a GraphDef, and loads these in a live original. It must read
both and answer as the program does: text of all views, timelines, advice.

Without a Python that has tensorflow-cpu (TFPROF_ORACLE, else this one) the test is skipped.

    tests/oracle/spool.py --program build/tfprof --make build/check/spool_make
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'spool'))
import differential  # noqa: E402
import rig  # noqa: E402
from script import T0, Spool  # noqa: E402

ALL = {'max_depth': 100, 'step': -1, 'order_by': 'name', 'account_type_regexes': ['.*'], 'start_name_regexes': ['.*'],
       'show_name_regexes': ['.*'], 'select': ['micros', 'occurrence', 'device'], 'output': 'stdout'}


def cases():
    for command in ('scope', 'graph', 'op', 'code'):
        for step in (-1, 0, 3):
            yield {'command': command, 'options': dict(ALL, step=step)}
    for command, step in (('graph', 0), ('graph', 3), ('scope', 0)):
        yield {'command': command, 'options': dict(ALL, step=step, output='timeline:outfile=%OUT%')}
    yield {'command': 'scope', 'options': dict(ALL, select=['bytes', 'peak_bytes', 'residual_bytes'])}
    yield {'command': 'op', 'options': dict(ALL, select=['micros', 'op_types'], order_by='micros')}


def recordings():
    """Yields (name, recording, words)."""
    yield 'training', rig.sample(), ['--step-nvtx=pytorch']
    yield 'ops', rig.sample(), ['--step-nvtx=pytorch', '--leaf=op']
    yield 'copies', rig.sample(), ['--tf-layout']
    s = Spool(env_RANK=3)
    for gpu in (0, 1):
        s.add('gpu', id=gpu, uuid='GPU-%d' % gpu)
        s.push(gpu * 10 ** 6, 'model/dense/MatMul:MatMul').launch(gpu * 10 ** 6 + 10, '_ZN2at6native4gemmIfEEvPT_', device=gpu)
        s.launch(gpu * 10 ** 6 + 20000, 'MEMCPY').launch(gpu * 10 ** 6 + 40000, 'größe').pop(gpu * 10 ** 6 + 900000)
    s.add('api', start=T0 + 3000000, length=9000, correlation=77, name='cudaGraphLaunch', tid=1)
    for i in range(20):
        s.add('kernel', start=T0 + 3100000 + i * 300, length=200, correlation=77, name='tiny', stream=7, graph=1, node=i)
    yield 'two gpus', s.end(), []
    jobs = []
    for job, first, every in ((7, 0, 1000000), (8, 300000, 400000)):
        jobs.append(Spool(pid=job, host='n', env_SLURM_JOB_ID=job).add('gpu', id=0, uuid='GPU-A'))
        for i in range(4):
            at = first + i * every
            jobs[-1].push(at, 'ProfilerStep#%d' % i).launch(at + 10, 'k%d' % job, length=123456).pop(at + 200000)
    yield 'two jobs', [s.end() for s in jobs], ['--step-nvtx=pytorch', '--step-merge=time']


TRACE = r"""
import json, sys
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import timeline
found = []
for path in sys.argv[1:]:
    m = config_pb2.RunMetadata()
    m.ParseFromString(open(path, 'rb').read())
    found.append([[d.device, n.node_name, n.timeline_label, n.thread_id, n.all_start_micros, n.op_end_rel_micros]
                  for d in m.step_stats.dev_stats for n in d.node_stats])
    trace = json.loads(timeline.Timeline(m.step_stats).generate_chrome_trace_format())
    assert sum(e['ph'] == 'X' for e in trace['traceEvents']) == len(found[-1]), path
print(json.dumps(found))
"""


def check_labels(t, base, steps):
    """Compares TensorFlow's reading of run metadata and its own timeline of it. Returns problems."""
    def read(files):
        p = subprocess.run([os.environ.get('TFPROF_ORACLE') or sys.executable, '-c', TRACE] + files, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
        assert p.returncode == 0, p.stderr.decode()[-2000:]
        return json.loads(p.stdout.decode().splitlines()[-1])
    t.run('convert', '--graph_path=%s_graph.pb' % base, '--run_meta_path=' + ','.join(steps), '-output', 'run_meta:outfile=again')
    first, again = read(steps), read([t.path('again_%d' % i) for i in range(len(steps))])
    problems = []
    for a, b in zip(first, again):
        for device, node, label, thread, _, _ in a:
            if node.endswith('/conv') and (thread != 1 or label != 'void net::conv<float>(float*) regs:0 shm:0 grid:1,1,1 '
                                           'block:128,1,1@@' + node):
                problems.append('%s %s %r %d' % (device, node, label, thread))
        kept = [x[:5] + [max(1, x[5])] for x in a if re.search(r'gpu:\d+(/stream:all)?$', x[0])]  # those with times
        if sorted(kept) != sorted(b):
            problems.append('read and written again: %s' % [x for x in kept if x not in b][:3])
    return problems


def compare(original, load, where):
    """Returns problems, and the number of compared answers."""
    asked = list(cases())
    os.makedirs(where + '/o')
    status = original.answer(where + '/o', load, asked)
    if status:
        return ['the original could not load it: status %d' % status], 0
    with open(where + '/o/load.coverage') as f:
        start = differential.start_lines(load, json.load(f))
    loading = differential.run(['scope', '--output=none'] + differential.load_flags(load))
    problems = []
    for i, case in enumerate(asked):
        a = differential.theirs('%s/o/%d' % (where, i))
        b = differential.ours(load, case, '%s/p%d' % (where, i), start, loading.stderr)
        if differential.verdict(case, a, b) not in ('same',):
            problems.append('%s\n%s%s' % (json.dumps(case), differential.show(a['stdout'], b['stdout']),
                                          differential.show(a['stderr'], b['stderr'])))
    return problems, len(asked)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--program', required=True)
    p.add_argument('--make', required=True)
    args = p.parse_args()
    args.program, args.make = os.path.abspath(args.program), os.path.abspath(args.make)
    differential.ARGS = args
    original = differential.Original()
    if not original.there:
        print('skipped: no TensorFlow: TFPROF_ORACLE names no Python that has it\n0 passed, 0 failed, 1 skipped')
        return 0
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix='tfprof-oracle-') as folder:
        t = rig.Bench(args, folder)
        for i, (name, script, words) in enumerate(recordings()):
            folder = 'f%d' % i
            paths = [t.write(s, folder=folder) for s in (script if isinstance(script, list) else [script])]
            path, base = folder if len(paths) > 1 else paths[0], t.path('r%d' % i)
            t.run('convert', path, *words, '-output', 'profile:outfile=%s.profile' % base)
            t.run('convert', path, *words, '-output', 'run_meta:outfile=' + base)
            steps = [base + '_%d' % k for k in range(100) if os.path.exists(base + '_%d' % k)]
            for route, load in (('profile', {'profile': base + '.profile'}),
                                ('run metadata', {'graph': base + '_graph.pb', 'steps': steps})):
                problems, n = compare(original, load, t.path('%s-%d' % (route.split()[0], i)))
                passed, failed = passed + n - len(problems), failed + len(problems)
                if problems:
                    print('%s, %s:\n%s' % (name, route, problems[0]))
            problems = check_labels(t, base, steps)
            passed, failed = passed + (not problems), failed + bool(problems)
            print('\n'.join('%s, labels: %s' % (name, x) for x in problems), end='\n' if problems else '')
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
