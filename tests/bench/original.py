#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the original on generated inputs: one JSON object per line. Needs an interpreter that can
import tensorflow; bench.py calls it with that one.

    original.py --folder SCRATCH --steps K FOLDER     FOLDER holds graph.pb, op_log.pb, run_meta_*.pb
"""
import argparse
import json
import os
import resource
import time

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
from tensorflow.core.profiler import tfprof_options_pb2 as messages  # noqa: E402
from tensorflow.python.util import _pywrap_tfprof as tfprof  # noqa: E402

VIEWS = ('scope', 'graph', 'op', 'code')


def options(output, select, step=-1):
    o = messages.OptionsProto(max_depth=10000, step=step, order_by='micros', output=output)
    for patterns in (o.account_type_regexes, o.start_name_regexes, o.show_name_regexes):
        patterns.append('.*')
    o.select.extend(select)
    return o.SerializeToString()


def say(row, start, nbytes=0):
    cpu = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    os.write(OUT, (json.dumps({'row': row, 'cpu': cpu, 'mb': nbytes / 1e6, 'peak': peak}) + '\n')
             .encode())
    return cpu


def read(name):
    with open(os.path.join(ARGS.inputs, name), 'rb') as f:
        return f.read()


def view(row, name, output, select, step=-1):
    path = os.path.join(ARGS.folder, 'original.out')
    where = output if output == 'none' else '%s:outfile=%s' % (output, path)
    start = time.process_time()
    tfprof.Profile(name.encode(), options(where, select, step))
    say(row, start)


def advise():
    o = messages.AdvisorOptionsProto()
    for c in ('ExpensiveOperationChecker', 'AcceleratorUtilizationChecker', 'OperationChecker'):
        o.checkers[c].MergeFrom(messages.AdvisorOptionsProto.CheckerOption())
    start = time.process_time()
    tfprof.Profile(b'advise', o.SerializeToString())
    say('advise', start)


def main():
    graph, log = read('graph.pb'), read('op_log.pb')
    start = time.process_time()
    tfprof.NewProfiler(graph, log)
    say('graph+oplog', start, len(graph) + len(log))
    spent, total = 0, 0
    for k in range(ARGS.steps):
        meta = read('run_meta_%d.pb' % k)
        start = time.process_time()
        tfprof.AddStep(k, b'', meta, b'')
        spent += time.process_time() - start
        total += len(meta)
    say('steps, sealed', time.process_time() - spent, total)
    usual = ('micros', 'bytes', 'params', 'float_ops')
    for name in VIEWS:
        view(name, name, 'none', usual)
        view(name + ' again', name, 'none', usual)
    for name in VIEWS:
        view(name + ', to a file', name, 'file', usual)
    view('scope/timeline', 'scope', 'timeline', usual, 0)
    if len(graph) < 6 << 20:  # its time grows with the square of the model
        view('graph/timeline', 'graph', 'timeline', usual, 0)
    view('code/pprof', 'code', 'pprof', ('micros',))
    advise()
    profile = os.path.join(ARGS.folder, 'original.profile')
    start = time.process_time()
    tfprof.WriteProfile(profile.encode())
    say('write', start, os.path.getsize(profile))
    tfprof.DeleteProfiler()
    start = time.process_time()
    tfprof.ProfilerFromFile(profile.encode())
    say('profile', start, os.path.getsize(profile))


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--folder', default='.')
    p.add_argument('--steps', type=int, default=1)
    p.add_argument('inputs')
    ARGS = p.parse_args()
    OUT = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    main()
