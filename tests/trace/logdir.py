#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads generated XSpaces in TensorBoard's layout: plugins/profile/RUN/HOST.xplane.pb.

    tests/trace/logdir.py --bin build/check [NAME...]
"""
import gzip
import json
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'check'), os.path.dirname(os.path.abspath(__file__))]
import kineto  # noqa: E402
from xspace import Plane, space  # noqa: E402
import trace_case  # noqa: E402
from trace_case import equal, program  # noqa: E402

PROFILE = 'log/plugins/profile/'


def trace(us):
    """Encodes a trace with one op and one kernel, whose times identify the trace."""
    host, gpu = Plane('/host:CPU'), Plane('/device:GPU:0')
    host.line(1, 'main', [(host.meta('net/dense:MatMul'), 0, us * 10 ** 6)])
    gpu.line(7, 'Stream #7', [(gpu.meta('gemm'), 0, us * 10 ** 6, {'tf_op': 'net/dense:MatMul', 'kernel_details': 'regs:1'})])
    return space(host, gpu)


def put(run, host='host', us=1, ending='.xplane.pb'):
    path = PROFILE + run + '/' + host + ending
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return trace_case.write(gzip.compress(trace(us)) if ending.endswith('.gz') else trace(us), path)


def kernels(*words):
    """Returns ([(worker, microseconds)], standard error) of the command kernels."""
    out, err = program('kernels', *words, '-output', 'json', '--top=0')
    return [(r.get('worker'), r['total_ns'] // 1000) for r in json.loads(out)['kernels']], err


def note(run, runs, more=''):
    return "note: '%s%s' is the newest run%s, of %d runs; to read another one, name its folder\n" % (PROFILE, run, more, runs)


def newest_run():
    """The newest run is read; a note names it and the number of runs, also in documents; a single run needs no note."""
    put('2026_01_02_10_00_00', us=2)
    equal(kernels('log'), ([(None, 2)], ''))
    put('2026_01_10_09_00_00', us=3)
    put('2026_01_09_11_00_00', us=4)
    expected = note('2026_01_10_09_00_00', 3)
    equal(kernels('log'), ([(None, 3)], expected))
    for words in (('log', 'op'), ('scope', 'log'), ('steps', 'log'), ('summary', 'log')):
        equal(program(*words)[1], expected, words)
    out, _ = program('op', 'log', '-output', 'json')
    equal(json.loads(out[out.index('{'):])['warnings'], [expected[:-1]])
    equal(kernels(PROFILE + '2026_01_09_11_00_00'), ([(None, 4)], ''))


def order():
    """Digits in names of runs are compared as numbers. Hidden folders, and files next to the runs, are not runs."""
    put('run_9', us=9)
    put('run_10', us=10)
    put('.unfinished', us=11)
    trace_case.write(trace(12), PROFILE + 'run_99')
    trace_case.write(trace(13), PROFILE + 'zz.xplane.pb')
    equal(kernels('log'), ([(None, 10)], note('run_10', 2)))


def hosts():
    """Each host of the run is a worker, sorted by name. With a single host, the rows have no worker."""
    for i in (10, 2, 1):
        put('run', 'node%d' % i, i)
    found = kernels('log')[0]
    equal(sorted(found), [('node1', 1), ('node10', 10), ('node2', 2)])
    files = [PROFILE + 'run/node%d.xplane.pb' % i for i in (1, 2, 10)]
    equal(program('op', 'log', '-select', 'micros'), program('op', *files, '-select', 'micros'))
    out, _ = program('op', 'log', '-worker_regexes', 'node2', '-select', 'accelerator_micros,occurrence', '-output', 'csv')
    assert 'MatMul' in out, out
    _, err = program('op', 'log', '-worker_regexes', 'x', status=1)
    assert 'the workers are node1, node2, node10' in err, err
    put('run', 'node1', 3, '.xplane.pb')
    os.rename(PROFILE + 'run/node2.xplane.pb', PROFILE + 'run/node1.xplane.pb.gz.xplane.pb')
    equal(len({w for w, _ in kernels('log')[0]}), 3)


def compressed():
    """Compressed files are read. If a host has a compressed and an uncompressed file, one is read and a note says
    so."""
    put('run', 'a', 5, '.xplane.pb.gz')
    equal(kernels('log'), ([(None, 5)], ''))
    put('run', 'a', 6)
    put('run', 'b', 7)
    found, err = kernels('log')
    equal(sorted(found), [('a', 6), ('b', 7)])
    equal(err, "note: '%srun/a.xplane.pb.gz' is ignored: the folder also has the uncompressed file\n" % PROFILE)


def no_trace():
    """Runs without a trace are skipped, and the note says so. If no run has a trace, the error names the expected
    files."""
    put('run_1', us=8)
    os.makedirs(PROFILE + 'run_2')
    os.makedirs(PROFILE + 'run_3')
    trace_case.write(b'x', PROFILE + 'run_3/host.memory_profile.json')
    equal(kernels('log'), ([(None, 8)], note('run_1', 3, ' with a trace')))
    os.unlink(PROFILE + 'run_1/host.xplane.pb')
    for path in ('log', 'log/plugins/profile/'):
        _, err = program(path, 'op', status=3)
        equal(err, "tfprof: the folder '%s' has no trace: expected *.xplane.pb or *.trace.json in a run below plugins/profile\n" % path.rstrip('/'))


def links():
    """Symbolic links to the folder, to runs and to files are followed. Dangling links are not runs."""
    path = put('run_1', us=21)
    os.symlink('log', 'other')
    equal(kernels('other'), ([(None, 21)], ''))
    os.makedirs('elsewhere')
    trace_case.write(trace(22), 'elsewhere/real.xplane.pb')
    os.symlink('../../../elsewhere', PROFILE + 'run_2')
    os.symlink('run_3', PROFILE + 'run_3')
    os.symlink('nowhere', PROFILE + 'run_4')
    equal(kernels('log'), ([(None, 22)], note('run_2', 2)))
    os.makedirs(PROFILE + 'run_5')
    os.symlink('../../../../' + path, PROFILE + 'run_5/host.xplane.pb')
    equal(kernels('log'), ([(None, 21)], note('run_5', 3)))
    os.symlink('missing', PROFILE + 'run_5/lost.xplane.pb')
    _, err = program('log', 'op', status=3)
    assert "'%srun_5/lost.xplane.pb'" % PROFILE in err, err


def which_folder():
    """The log folder, the folders in it and the folder of a run can be given, with and without a trailing slash."""
    put('run_1', us=30)
    put('run_2', us=31)
    for path in ('log', 'log/', './log', 'log/plugins', 'log/plugins/', 'log/plugins/profile', 'log/plugins/profile//'):
        found, err = kernels(path)
        equal((found, err.count("run_2' is the newest run, of 2 runs")), ([(None, 31)], 1), path)
    os.chdir('log')
    equal(kernels('.')[0], [(None, 31)])
    os.chdir('..')
    equal(kernels(PROFILE + 'run_1/'), ([(None, 30)], ''))
    found, _ = kernels(PROFILE + 'run_1', PROFILE + 'run_2')
    equal(sorted(found), [('run_1', 30), ('run_2', 31)])


def files_beside():
    """If a run has XSpaces, other files of JAX and TensorBoard are ignored. Otherwise its JSON trace is
    read."""
    put('run', us=40)
    write = trace_case.write
    write(gzip.compress(kineto.trace(kineto.steps())), PROFILE + 'run/host.trace.json.gz')
    write(gzip.compress(b'{}'), PROFILE + 'run/perfetto_trace.json.gz')
    write(b'x', PROFILE + 'run/host.SSTABLE')
    write(b'x', PROFILE + 'run/jit_step(12).hlo_proto.pb')
    write(b'x', PROFILE + 'run/ALL_HOSTS.op_stats_v2.pb')
    write(b'', 'log/events.out.tfevents.17.host')
    equal(kernels('log'), ([(None, 40)], ''))
    os.unlink(PROFILE + 'run/host.xplane.pb')
    os.unlink(PROFILE + 'run/perfetto_trace.json.gz')
    assert len(kernels('log')[0]) > 1


CASES = [newest_run, order, hosts, compressed, no_trace, links, which_folder, files_beside]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES))
