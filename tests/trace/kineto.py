# SPDX-License-Identifier: Apache-2.0
"""Generates traces as PyTorch writes them, for tests and benchmarks, small or large."""
import json
import sys


def event(cat, name, ts, dur, pid=1, tid=1, **args):
    """Returns a complete event; times in microseconds."""
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur,
            'args': {k.replace('_', ' '): v for k, v in args.items()}}


def launch(ts, correlation, start, dur, name='sgemm', cat='kernel', device=0, stream=7, **more):
    """Returns a call and the device work that it launches."""
    return [event('cuda_runtime', 'cudaLaunchKernel', ts, 1.5, correlation=correlation),
            event(cat, name, start, dur, device, stream, device=device, stream=stream, correlation=correlation, **more)]


def steps(kernel=2.25):
    """Returns two steps, each with a module, a forward and a backward op, a copy, and work of another thread."""
    out = []
    for s in range(2):
        t = 1000 + 100 * s
        out += [event('user_annotation', 'ProfilerStep#%d' % (s + 4), t, 90),
                event('python_function', 'train.py(3): step', t, 89, Python_id=1),
                event('python_function', 'nn.Module: Linear_0', t + 1, 40, Python_id=2, Python_parent_id=1),
                event('cpu_op', 'aten::linear', t + 2, 30, External_id=10 * s + 1),
                event('cpu_op', 'aten::addmm', t + 4, 20, External_id=10 * s + 2, **{'Input Dims': [[2, 3], [3, 4]]}),
                event('cpu_op', 'aten::copy_', t + 50, 10.001, External_id=10 * s + 3),
                event('cpu_op', 'AddmmBackward0', t + 60, 12, tid=2, External_id=10 * s + 4, Fwd_thread_id=1,
                      Sequence_number=5)]
        out += launch(t + 10, 100 + s, t + 20, kernel, 'gemm<%d>' % 64)
        out += launch(t + 52, 200 + s, t + 58.5, 3.125, 'Memcpy HtoD (Pageable -> Device)', 'gpu_memcpy',
                      bytes=4096)
        out += [dict(e, tid=2) if e['cat'] == 'cuda_runtime' else e
                for e in launch(t + 62, 300 + s, t + 70, 1.0, 'gemm_back')]
    return out


def memory(ts, address, size, device=0):
    """Returns the event of an allocation, or of a release if the size is negative. device -1: the host."""
    return {'ph': 'i', 's': 't', 'cat': 'cpu_instant_event', 'name': '[memory]', 'pid': 1, 'tid': 1, 'ts': ts,
            'args': {'Addr': address, 'Bytes': size, 'Device Type': 1 if device >= 0 else 0, 'Device Id': device}}


def steps_with_memory():
    """Returns the steps with a matrix product of known shapes, and with allocations: activations, which the next step frees,
    and a buffer."""
    out = steps() + [memory(1003, 1, 1 << 20, -1)]
    for s in range(2):
        t = 1000 + 100 * s
        out += [event('cpu_op', 'aten::mm', t + 25, 5, External_id=10 * s + 6, **{'Input Dims': [[64, 128], [128, 32]]}),
                memory(t + 5, 10 + s, 1 << 16), memory(t + 6, 20 + s, 3 << 14), memory(t + 51, 30 + s, 5 << 13), memory(t + 55, 20 + s, -(3 << 14))]
        out += launch(t + 26, 400 + s, t + 40, 4.5, 'mm_kernel')
    return out + [memory(1130, 10, -(1 << 16)), memory(1170, 31, -(5 << 13))]


def trace(events, rank=None, **header):
    """Returns the bytes of a trace file."""
    top = {'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'GPU of tests', 'totalGlobalMem': 1 << 30}]}
    if rank is not None:
        top['distributedInfo'] = {'backend': 'nccl', 'rank': rank, 'world_size': 2}
    return json.dumps(dict(top, **header, traceEvents=events)).encode()


def write_large(path, n):
    """Writes about n events, in groups of an op, its launch and its kernel; a step has ten thousand."""
    op = ('"ph": "X", "cat": "cpu_op", "name": "aten::op%d", "pid": 9, "tid": 9,\n    "ts": %d.125, "dur": 8.250,\n'
          '    "args": {\n      "External id": %d, "Record function id": 0, "Concrete Inputs": ["", "", ""],'
          ' "Input type": ["float", "float", "Scalar"], "Input Dims": [[64, 256], [256, 1024], []], "Ev Idx": %d\n'
          '    }\n  },\n  {\n    ')
    call = ('"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9,\n    "ts": %d.500,'
            ' "dur": 4.000,\n    "args": {\n      "External id": %d, "cbid": 211, "correlation": %d\n    }\n  },\n  {\n    ')
    kernel = ('"ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<4, at::native::Op%d'
              '<float>, at::detail::Array<char*, 3> >(int, float, at::detail::Array<char*, 3>)", "pid": 0, "tid": 7,\n'
              '    "ts": %d.001, "dur": 6.016,\n    "args": {\n      "External id": %d, "queued": 0, "device": 0,'
              ' "context": 1, "stream": 7, "correlation": %d, "registers per thread": 32, "shared memory": 0,'
              ' "blocks per SM": 1.5, "warps per SM": 12, "grid": [256, 1, 1], "block": [128, 1, 1],'
              ' "est. achieved occupancy %%": 19\n    }\n  },\n  {\n    ')
    with open(path, 'w') as f:
        f.write('{\n  "schemaVersion": 1,\n  "deviceProperties": [],\n  "traceEvents": [\n  {\n    ')
        for i in range(n // 3):
            t = 1000000 + 10 * i
            if i % 3333 == 0:
                f.write('"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d", "pid": 9, "tid": 9,\n    "ts": %d,'
                        ' "dur": 33330\n  },\n  {\n    ' % (i // 3333, t))
            f.write(op % (i % 97, t, i, i) + call % (t + 1, i, i + 1) +
                    kernel % (i % 61, t + 9, i, i + 1))
        f.write('"ph": "M", "name": "process_name", "pid": 9, "tid": 0, "ts": 0, "args": {"name": "python"}\n  }\n  ]\n}\n')


if __name__ == '__main__':  # kineto.py FILE EVENTS
    write_large(sys.argv[1], int(sys.argv[2]))
