#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads rocprofv3 results, and Chrome JSON as TensorFlow, JAX and vLLM write it, all generated.

    tests/trace/rocprof_run.py --bin build/check [NAME...]
    tests/trace/rocprof_run.py --write FOLDER     makes testdata/traces again
"""
import gzip
import json
import os
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(TESTS), 'check'), TESTS]
import cases  # noqa: E402
import rocprof as roc  # noqa: E402
import trace_case  # noqa: E402
from trace_case import dump, equal, judge, program, rows, same_times  # noqa: E402


def write(content, name='r_results.json'):
    return trace_case.write(content, name)


def table(name, *words):
    out, _ = program(name, *words, '-output', 'json')
    return json.loads(out)[name]


def listed(path):
    """Returns the slices of a trace, sorted."""
    return sorted((s['name'], s['start'], s['length']) for s in dump(path, '--slices'))


def names(*processes):
    write(roc.text(*processes))
    return listed('r_results.json')


def steps():
    """Kernels are below the ranges that launched them. Devices, sizes and copies are read from the records."""
    write(roc.text(roc.steps()))
    found = rows('r_results.json', 'scope', '-select', 'accelerator_micros,occurrence')
    equal([found[k]['total_accelerator_micros'] for k in ('forward/gemm', 'backward/relu')], [1, 1.5])
    equal([(k['name'], k['count'], k['total_ns'], k['device']) for k in table('kernels', 'r_results.json')],
          [('void relu<float>(float*, int)', 1, 1500, 'gpu:1'), ('void gemm<float>(float*, int)', 1, 1000, 'gpu:1'),
           ('MEMORY_COPY_HOST_TO_DEVICE', 1, 700, 'gpu:1')])
    kernel = [s for s in dump('r_results.json', '--slices') if 'gemm' in s['name']][0]['args']
    equal([kernel[k] for k in ('grid', 'block', 'group_segment_size')], ['3,2,1', '64,2,1', 512])
    out, err = program('r_results.json')
    assert 'rocprofv3 trace' in out and 'records that are not used: memory_allocation (2)' in err, (out, err)
    out, _ = program('devices', 'r_results.json')
    assert 'gpu:1' in out and '4.10KB' in out, out


def processes():
    """Equal correlations of two processes stay apart; streams and queues are tracks."""
    one = roc.process(40, [(5, 'a')], marker_api=[roc.record(roc.MARKER, 1, 0, 90, 5)], hip_api=[roc.record(roc.HIP, 1, 10, 20, 1)],
                      kernel_dispatch=[roc.dispatch(1, 30, 40, 1, stream=1), roc.dispatch(1, 32, 44, 1, stream=2)])
    two = roc.process(41, [(5, 'b')], marker_api=[roc.record(roc.MARKER, 1, 0, 90, 5)], hip_api=[roc.record(roc.HIP, 1, 10, 20, 1)],
                      kernel_dispatch=[roc.dispatch(2, 50, 60, 1, agent=101)])
    write(roc.text(one, two))
    d = dump('r_results.json')
    equal({o['name']: o['device_total'] for o in d['ops'] if o['kernels']}, {'a/gemm': 22, 'b/relu': 10})
    equal(sorted((x['device'], x['busy']) for x in d['devices']), [('gpu:0', 10), ('gpu:1', 14)])


def orders():
    """Sorted members, one process without a list, minified text and gzip give the same trace."""
    plain = names(roc.steps())
    write(roc.text(roc.steps(), sort_keys=True))
    equal(listed('r_results.json'), plain, 'sorted')
    write(json.dumps({'rocprofiler-sdk-tool': roc.steps()}).encode())
    equal(listed('r_results.json'), plain, 'one')
    write(gzip.compress(roc.text(roc.steps(), sort_keys=True)), 'x.gz')
    equal(rows('x.gz', 'op', '-select', 'micros'), rows('r_results.json', 'op', '-select', 'micros'))
    out, _ = program('-', 'kernels', given=roc.text(roc.steps(), sort_keys=True))
    assert 'gemm' in out


def unknown():
    """Kernels, agents, kinds and operations without names keep their numbers; records without times are counted."""
    p = roc.process(kernel_dispatch=[roc.dispatch(9, 5, 6, 1, agent=999), dict(roc.dispatch(1, 5, 6, 2), end_timestamp='x')],
                    hip_api=[roc.record(77, 3, 1, 2), roc.record(roc.HIP, 99, 3, 4)], rccl_api=[roc.record(roc.RCCL, 0, 7, 8)],
                    memory_copy=[roc.record(roc.COPY, 1, 10, 20, 3, src_agent_id=roc.handle(101), dst_agent_id=roc.handle(100))])
    found = names(p)
    equal(sorted(n for n, _, _ in found), ['HIP_RUNTIME_API', 'MEMORY_COPY_HOST_TO_DEVICE', 'kernel 9', 'ncclAllReduce', 'operation 3'])
    _, err = program('r_results.json', 'op')
    assert '1 record has no time: it is left out' in err, err
    equal(sorted(x['device'] for x in dump('r_results.json')['devices']), ['gpu:0', 'gpu:999'])


def secrets():
    """No answer contains the command line or the settings of the recorded program."""
    write(roc.text(roc.steps()))
    program('r_results.json', 'scope', '-output', 'timeline:outfile=t.json')
    program('r_results.json', 'convert', '-output', 'profile:outfile=p.pb')
    for name in ('t.json', 'p.pb'):
        with open(name, 'rb') as f:
            assert b'hidden' not in f.read(), name
    equal(dump('t.json')['devices'], dump('r_results.json')['devices'])
    same_times('p.pb', 'r_results.json')


def damaged():
    """A truncated file gives the records before its end; a file without records is refused; nesting is bounded."""
    whole = roc.text(roc.steps())
    write(whole[:whole.index(b'memory_copy')])
    _, err = program('r_results.json', 'op')
    assert 'ends early (line ' in err, err
    for bad in (b'', b'{"rocprofiler-sdk-tool": 5}', b'{"rocprofiler-sdk-tool": [{}]}', b'{"rocprofiler-sdk-tool": [' + b'[' * 100000):
        _, err = program(write(b'{"rocprofiler-sdk-tool"' + bad[23:] if bad else b'{"rocprofiler-sdk-tool":'), 'op', status=3)
        assert 'no records of kernels or calls' in err, err
    for cut in range(10, len(whole), 97):
        judge('tfprof', write(whole[:cut] + b'}' + whole[cut + 3:]), 'op')


# ---- Chrome JSON of other programs ----

def chrome(events, **more):
    return gzip.compress(json.dumps(dict({'traceEvents': events}, **more)).encode())


def x(name, ts, dur, pid=1, tid=1, **args):
    return {'ph': 'X', 'name': name, 'ts': ts, 'dur': dur, 'pid': pid, 'tid': tid, 'args': args}


def named(what, pid, name, tid=None):
    return dict({'ph': 'M', 'name': what, 'pid': pid, 'args': {'name': name}}, **({'tid': tid} if tid is not None else {}))


def tensorboard():
    """TensorBoard's trace.json.gz of TensorFlow and JAX: work of processes that are devices is device work; ends in {}."""
    events = [named('process_name', 1, '/device:GPU:0'), {'ph': 'M', 'name': 'process_sort_index', 'pid': 1, 'args': {'sort_index': 1}},
              named('thread_name', 1, 'Stream #7', 7), named('process_name', 701, '/host:CPU'), named('thread_name', 701, 'main', 3),
              x('PjitFunction(f)', 10.5, 100, 701, 3), x('fusion.1', 20.25, 30.125, 1, 7, long_name='fusion', hlo_module='jit_f'), {}]
    write(chrome(events, displayTimeUnit='ns', metadata={'highres-ticks': True}), 'host.trace.json.gz')
    equal(listed('host.trace.json.gz'),
          [('PjitFunction(f)', 10500000, 100000000), ('fusion.1', 20250000, 30125000)])
    found = rows('host.trace.json.gz', 'scope', '-select', 'accelerator_micros')
    equal(found['_TFProfRoot']['total_accelerator_micros'], 30.125)
    out, _ = program('host.trace.json.gz')
    assert 'trace viewer JSON' in out, out


def vllm():
    """vLLM's torch profiler files: rank and worker in the name, vLLM's annotations are the steps."""
    kernel = dict(x('gemm', 60, 20, 0, 7, device=0, stream=7, correlation=5), cat='kernel')
    events = [dict(x('execute_context_1(128)_generation_4(4)', 0, 100), cat='user_annotation'), dict(x('aten::mm', 10, 50), cat='cpu_op'),
              dict(x('cudaLaunchKernel', 20, 5, correlation=5), cat='cuda_runtime'), kernel]
    content = chrome(events, schemaVersion=1, distributedInfo={'rank': 1, 'world_size': 2, 'backend': 'nccl'}, trace_name='dp0_pp0_tp1')
    write(content, 'rank1.1750000000.pt.trace.json.gz')
    found = rows('rank1.1750000000.pt.trace.json.gz', 'scope', '-select', 'accelerator_micros')
    equal(found['aten::mm']['total_accelerator_micros'], 20)
    steps = json.loads(program('rank1.1750000000.pt.trace.json.gz', 'steps', '-output', 'json')[0])['steps']
    equal([(s['name'], s['duration_ns']) for s in steps], [('execute_context_1(128)_generation_4(4)', 20000)])
    out, _ = program('rank1.1750000000.pt.trace.json.gz')
    assert 'PyTorch trace by Kineto, schema 1' in out, out


def example_is_made():
    """The file in testdata/traces equals the output of this script."""
    with open(os.path.join(cases.TESTDATA, 'traces', 'rocprof_results.json'), 'rb') as f:
        equal(f.read(), roc.text(roc.steps()))


CASES = [steps, processes, orders, unknown, secrets, damaged, tensorboard, vllm, example_is_made]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES, write=lambda folder: write(roc.text(roc.steps()), os.path.join(folder, 'rocprof_results.json'))))
