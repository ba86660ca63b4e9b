#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The original's side of differential.py: runs in a Python that has tensorflow-cpu, loaded once.

Takes jobs on standard input, a line of JSON each, and answers with a line each:
    {"dir", "load", "cases", "write"}   loads, then answers each case in a child of its own: a crash
                                        of the original ends that case only. The line is the status.
    {"compare": [[kind, A, B], ...]}    are the result messages in files A and B equal? The line is a
                                        list: null, or both as text.
"""
import json
import os
import signal
import sys

HANG = 10  # seconds; a fork of the original sometimes waits for a lock whose owner does not exist in the child


def slurp(path):
    with open(path, 'rb') as f:
        return f.read()


def redirect(where, prefix=''):
    for fd, name in ((1, 'stdout'), (2, 'stderr')):
        os.dup2(os.open(os.path.join(where, prefix + name), os.O_CREAT | os.O_WRONLY | os.O_TRUNC), fd)


def in_child(f):
    """Runs f in a child process. Returns its status."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            f()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1]


def load_profile(lib, where, load):
    coverage = []
    if 'profile' in load:
        lib.ProfilerFromFile(load['profile'].encode())
    else:
        read = lambda key: slurp(load[key]) if load.get(key) else b''
        if not lib.NewProfiler(read('graph'), read('log')):
            os._exit(2)
        for i, path in enumerate(load['steps']):
            coverage.append(lib.AddStep(i, b'', slurp(path), b''))
    with open(os.path.join(where, 'load.coverage'), 'w') as f:
        json.dump(coverage, f)


def answer_job(lib, options_pb2, job):
    """Answers a case in a child process."""
    where = job['dir']
    redirect(where, 'load.')
    load_profile(lib, where, job['load'])
    if job.get('write'):
        in_child(lambda: lib.WriteProfile(job['write'].encode()))
    for i, case in enumerate(job['cases']):
        status = signal.SIGALRM
        for _ in range(3):
            if status == signal.SIGALRM:
                status = in_child(lambda: answer_case(lib, options_pb2, case, os.path.join(where, str(i))))
        with open(os.path.join(where, str(i), 'status'), 'w') as f:
            f.write(str(status))


def answer_case(lib, options_pb2, case, where):
    signal.alarm(HANG)
    redirect(where)
    if case['command'] == 'advise':
        o = options_pb2.AdvisorOptionsProto()
        for name in ('ExpensiveOperationChecker', 'AcceleratorUtilizationChecker', 'OperationChecker'):
            o.checkers[name].SetInParent()
    else:
        o = options_pb2.OptionsProto()
        for name, value in case['options'].items():
            if isinstance(value, list):
                getattr(o, name).extend(value)
            else:
                setattr(o, name, value.replace('%OUT%', where + '/out') if name == 'output' else value)
    result = lib.Profile(case['command'].encode(), o.SerializeToString())
    with open(os.path.join(where, 'result'), 'wb') as f:
        f.write(result)


def compare(pairs):
    from google.protobuf import message, text_format
    from tensorflow.core.profiler import tfprof_output_pb2 as output_pb2
    answers = []
    for command, a, b in pairs:
        make = (output_pb2.AdviceProto if command == 'advise' else output_pb2.GraphNodeProto
                if command in ('scope', 'graph') else output_pb2.MultiGraphNodeProto)
        x, y = slurp(a), slurp(b)
        try:
            x, y = make.FromString(x), make.FromString(y)
            answers.append(None if x == y else [text_format.MessageToString(m) for m in (x, y)])
        except message.DecodeError:  # a name that was cut inside a character: compares the sorted bytes
            answers.append(None if sorted(x) == sorted(y) else [x.hex(' '), y.hex(' ')])
    return answers


def main():
    os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
    os.environ.setdefault('TF_ENABLE_ONEDNN_OPTS', '0')
    from tensorflow.python.util import _pywrap_tfprof as lib
    from tensorflow.core.profiler import tfprof_options_pb2 as options_pb2
    talk = os.fdopen(os.dup(1), 'w')
    print('"ready"', file=talk, flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        answer = compare(job['compare']) if 'compare' in job else in_child(
            lambda: answer_job(lib, options_pb2, job))
        print(json.dumps(answer), file=talk, flush=True)


if __name__ == '__main__':
    main()
