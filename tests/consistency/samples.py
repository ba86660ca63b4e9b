# SPDX-License-Identifier: Apache-2.0
"""Writes the run of one small program as every supported profiler would have recorded it.

The run has five steps. Ops differ in how the average over steps can go wrong: `fc` runs in every step with other shapes and
times, `rare` in one step of five, `tiny` in all steps but for less than a microsecond, `late` in the last two. Times are odd
numbers of nanoseconds, and their sums are not divisible by five. `python3 samples.py FOLDER` writes the files.
"""
import collections
import gzip
import json
import os
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'trace')]
import hlo  # noqa: E402
import kineto  # noqa: E402
import nsys  # noqa: E402
import onnx  # noqa: E402
import pftrace as pf  # noqa: E402
import pprof  # noqa: E402
import rocprof as roc  # noqa: E402
from xspace import Plane, space  # noqa: E402

STEPS = 5

# An op on the host: its depth (it is inside the preceding ops of smaller depth), start and length, and the work that it
# launches.
Op = collections.namedtuple('Op', 'step depth name start length work')
# Work on the device: its name, start and length, the bytes of a copy, the shapes of a matrix product.
Work = collections.namedtuple('Work', 'name start length bytes')


def story():
    """Returns [Op] in order of start; times in nanoseconds."""
    ops, at = [], 1_000_000
    for step in range(STEPS):
        begin, free = at, at + 40_000

        def work(name, length, size=0):
            nonlocal free
            made = Work(name, free, length, size)
            free += length + 137
            return made

        def op(depth, name, length, *launched):
            nonlocal at
            ops.append(Op(step, depth, name, at, length, list(launched)))
            at += length

        at += 1_003
        op(0, 'block', 61_019 + 13 * step)
        at -= 60_000
        op(1, 'fc', 20_125 + 37 * step, work('gemm', 5_731 + 1_003 * step))
        at += 211
        for i in range(7 + step):
            op(1, 'tiny', 301 + i)
            at += 97
        for i in range(3):
            op(1, 'rsqrt', 412 + i, work('rsqrt_kernel', 263 + 2 * step + i))
            at += 89
        if step == 2:
            op(1, 'rare', 20_007, work('rare_kernel', 12_345))
        at = begin + 80_011
        if step % 2:
            op(0, 'copy', 2_049, work('copy', 777, 4096))
        if step >= 3:
            op(0, 'late', 3_003, work('late_kernel', 1_501 + step), work('gemm', 901))
        at = begin + 100_000
        assert free < at, (free, at)
    return ops


def window(step):
    """Returns the start and the end of a step."""
    return 1_000_000 + 100_000 * step, 1_000_000 + 100_000 * step + 99_000


def micros(ns):
    """Returns a number that JSON writes with all its digits."""
    return ns / 1000


# ---- one function for each format; times in nanoseconds if the format has them ----

def of_kineto(folder):
    events, correlation = [], 0
    for step in range(STEPS):
        a, b = window(step)
        events.append(kineto.event('user_annotation', 'ProfilerStep#%d' % (step + 10), micros(a), micros(b - a)))
    for op in story():
        more = {}
        if op.name == 'fc':
            more = {'Input Dims': [[32], [8 * (op.step + 1), 16], [16, 32], [], []], 'Input type': ['float', 'float', 'float', 'Scalar', 'Scalar']}
        events.append(kineto.event('cpu_op', {'fc': 'aten::addmm'}.get(op.name, 'aten::' + op.name), micros(op.start), micros(op.length), **more))
        for i, w in enumerate(op.work):
            correlation += 1
            at = op.start + op.length // 4 + 20 * i
            events.append(kineto.event('cuda_runtime', 'cudaLaunchKernel', micros(at), 0.015, correlation=correlation))
            size = {'bytes': w.bytes} if w.bytes else {}
            events.append(kineto.event('gpu_memcpy' if w.bytes else 'kernel', 'Memcpy HtoD (Pinned -> Device)' if w.bytes else w.name,
                                       micros(w.start), micros(w.length), 0, 7, device=0, stream=7, correlation=correlation, **size))
    events.append(kineto.event('kernel', 'orphan', micros(1_450_001), 1.111, 0, 9, device=0, stream=9, correlation=999))
    return {'steps.pt.trace.json': kineto.trace(events)}


def of_kineto_stacks(folder):
    """A trace with Python stacks: a chain of frames with one child each, then two functions, one of which has ops of its own. In
    the last step, no op runs."""
    events = []
    for step in range(STEPS):
        a, b = window(step)
        events.append(kineto.event('user_annotation', 'ProfilerStep#%d' % step, micros(a), micros(b - a)))
        for depth, name in enumerate(('<string>(1): <module>', 'spawn.py(116): spawn_main', 'spawn.py(129): _main', 'train.py(9): main')):
            events.append(kineto.event('python_function', name, micros(a + 10 + depth), micros(b - a - 100 - 2 * depth), Python_id=depth + 1))
        events.append(kineto.event('python_function', 'net.py(7): forward', micros(a + 20_000), 30.0, Python_id=9))
        events.append(kineto.event('cpu_op', 'aten::mul', micros(a + 2_001), 5.003 + step))
        events.append(kineto.event('cpu_op', 'aten::add', micros(a + 21_001), 7.013))
        events += [kineto.event('cpu_op', 'aten::neg', micros(a + 31_001 + 900 * i), 0.313) for i in range(3 + step)]
        events += kineto.launch(micros(a + 3_001), 10 * step + 1, micros(a + 9_001), 1.777 + step, 'mul_kernel')
        events += kineto.launch(micros(a + 22_001), 10 * step + 2, micros(a + 25_001), 0.999, 'add_kernel')
    a, b = window(STEPS)
    events.append(kineto.event('user_annotation', 'ProfilerStep#%d' % STEPS, micros(a), micros(b - a)))
    return {'stacks.pt.trace.json': kineto.trace(events)}


def of_xspace(folder):
    device, host = Plane('/device:GPU:0'), Plane('/host:CPU')
    kernels, ops, calls, correlation = [], [], [], 0
    for op in story():
        ops.append((host.meta('net/%s:%s' % (op.name, op.name.title())), op.start * 1000 + 7, op.length * 1000 + 3, {'group_id': op.step + 3}))
        for i, w in enumerate(op.work):
            correlation += 1
            calls.append((host.meta('cuLaunchKernel'), (op.start + op.length // 4 + 20 * i) * 1000, 15000, {'correlation_id': correlation}))
            details = {'memcpy_details': 'size:%d dest:0 async:1' % w.bytes} if w.bytes else {'kernel_details': ('ref', 'regs:32 grid:2,1,1 block:64,1,1')}
            kernels.append((device.meta('MemcpyH2D' if w.bytes else w.name), w.start * 1000 + 11, w.length * 1000 + 501,
                            dict(details, correlation_id=correlation, tf_op=('ref', 'net/%s:%s' % (op.name, op.name.title())))))
    steps = [(device.meta('%d' % s), window(s)[0] * 1000, (window(s)[1] - window(s)[0]) * 1000, {'group_id': s + 3}) for s in range(STEPS)]
    device.line(7, 'Stream #7(Compute)', kernels).line(-559038737, 'Steps', steps)
    host.line(1, 'main', sorted(ops + calls, key=lambda e: (e[1], -e[2])))
    return {'steps.xplane.pb': space(device, host)}


def of_jax(folder):
    """A TPU: compiled ops that carry float operations and bytes, whose framework ops are shared."""
    p = Plane('/device:TPU:0', {'device_type_string': 'TPU v9'})

    def meta(name, tf_op, symbol, **more):
        return p.meta('%%%s = f32[2]{0} %s(...)' % (name, name), name, program_id=5, symbol_id=symbol, tf_op=tf_op, **more)

    fc = meta('convolution.1', 'jit(f)/fc:', 1, flops=4096, bytes_accessed=512)
    same = meta('fusion.2', 'jit(f)/fc:', 2, flops=100, bytes_accessed=8)
    tiny, rare = meta('add.3', 'jit(f)/tiny:', 3, flops=3), meta('sort.4', 'jit(f)/rare:', 4, bytes_accessed=1000)
    events = []
    for s in range(STEPS):
        at = window(s)[0] * 1000
        events += [(fc, at + 1001, 20_000_125 + 37_001 * s), (same, at + 30_000_000, 700_003 + s)]
        events += [(tiny, at + 40_000_000 + 1_000_000 * i, 300_017 + i) for i in range(7 + s)]
        if s == 2:
            events.append((rare, at + 60_000_000, 12_345_678))
    p.line(1, 'Steps', [(p.meta('%d' % s), window(s)[0] * 1000, 99_000_000, {'group_id': s}) for s in range(STEPS)])
    p.line(3, 'XLA Ops', events)
    return {'tpu.xplane.pb': space(p)}


def of_programs(folder):
    """Compiled ops of a GPU with their program: a convolution, its get-tuple-element and a fusion share framework ops so that the
    merged graph has a cycle, which no root reaches. The convolution consists of two kernels."""
    def of(name):
        return hlo.metadata('jit(f)/' + name, 'net.py', 12)
    main = [hlo.instruction(1, 'x', 'parameter', [4, 5]), hlo.instruction(2, 'w', 'parameter', [5, 6]),
            hlo.instruction(3, 'conv.1', 'dot', [4, 6], [1, 2], of('conv'), more=hlo.data(30, hlo.packed(1, [1]))),
            hlo.instruction(4, 'fusion.1', 'add', [4, 6], [3], of('act')),
            hlo.instruction(5, 'conv.2', 'multiply', [4, 6], [4, 4], of('conv')),
            hlo.instruction(6, 'alone.1', 'add', [4, 6], [1, 1], of('alone'))]
    program = hlo.program('jit_f', 7, [(1, 5, main)], 1)
    events, plane = [], Plane('/device:GPU:0')
    for step in range(STEPS):
        at = window(step)[0] * 1000
        rows = [('k_conv', 'conv.1', 20_000_501), ('k_conv_sum', 'conv.1', 1_507), ('k_act', 'fusion.1', 731_017), ('k_mul', 'conv.2', 1_000_003 * (step + 1))]
        for kernel, op, length in rows + ([('k_alone', 'alone.1', 333_333)] if step == 1 else []):
            events.append((plane.meta(kernel), at, length, {'hlo_op': op, 'hlo_module': 'jit_f', 'program_id': 7, 'tf_op': 'XlaModule:',
                                                            'kernel_details': 'regs:1 grid:1,1,1 block:1,1,1'}))
            at += length + 1000
    plane.line(7, 'Stream #7', events)
    plane.line(-559038737, 'Steps', [(plane.meta('%d' % s), window(s)[0] * 1000, 99_000_000, {'group_id': s}) for s in range(STEPS)])
    return {'programs.xplane.pb': space(hlo.metadata_plane({7: program}), plane)}


def of_nsys(folder):
    x, correlation = nsys.Export(), 0
    for step in range(STEPS):
        x.range(70, 'step %d' % step, *window(step))
    for op in story():
        x.range(70, op.name, op.start, op.start + op.length)
        for i, w in enumerate(op.work):
            correlation += 1
            at = op.start + op.length // 4 + 20 * i
            if w.bytes:
                x.copy(70, correlation, w.start, w.start + w.length, size=w.bytes)
                x.row('CUPTI_ACTIVITY_KIND_RUNTIME', start=at, end=at + 15, globalTid=nsys.pid(70) | 1, correlationId=correlation,
                      nameId=x.string('cudaMemcpyAsync_v3020'), returnValue=0)
            else:
                x.launch(70, correlation, at, w.start, w.start + w.length, w.name)
    path = os.path.join(folder, 'steps.sqlite')
    if os.path.exists(path):
        os.unlink(path)
    x.save(path)
    with open(path, 'rb') as f:
        return {'steps.sqlite': f.read()}


def of_rocprof(folder):
    calls, kernels, copies, markers, names = [], [], [], [], []
    kinds = {'gemm': 1, 'rsqrt_kernel': 2, 'rare_kernel': 3, 'late_kernel': 4}
    for n, op in enumerate(story()):
        names.append((1000 + n, op.name))
        markers.append(roc.record(roc.MARKER, 1, op.start, op.start + op.length, 1000 + n))
        for i, w in enumerate(op.work):
            at, correlation = op.start + op.length // 4 + 20 * i, 5000 + 10 * n + i
            calls.append(roc.record(roc.HIP, 2 if w.bytes else 1, at, at + 15, correlation))
            if w.bytes:
                copies.append(roc.copy(w.start, w.start + w.length, correlation, bytes=w.bytes, stream_id=roc.handle(0)))
            else:
                kernels.append(roc.dispatch(kinds[w.name], w.start, w.start + w.length, correlation, stream=3))
    process = roc.process(markers=names, kernel_dispatch=kernels, hip_api=calls, marker_api=markers, memory_copy=copies)
    process['kernel_symbols'] = [roc.symbol(i, k) for k, i in kinds.items()]
    return {'run_results.json': roc.text(process)}


def of_onnx(folder):
    """ONNX Runtime writes whole microseconds."""
    events = onnx.load()
    for step in range(STEPS):
        t, inside = 10_000 + 1_000 * step, []
        inside.append(onnx.node('net/fc', 'Gemm', t + 5, 201 + 7 * step, output_size=4096 * (step + 1), parameter_size=64,
                                activation_size=1024, input_type_shape=[{'float': [8 * (step + 1), 16]}]))
        inside += [onnx.node('net/tiny%d' % i, 'Cast', t + 300 + 5 * i, 1) for i in range(7 + step)]
        if step == 2:
            inside.append(onnx.node('net/rare', 'Sort', t + 400, 333))
        if step >= 3:
            inside.append(onnx.node('net/late', 'Add', t + 400, 33, provider='CUDAExecutionProvider'))
        events += inside + [onnx.execute(t + 3, 900 + step), onnx.event('Session', 'model_run', t, 910 + step)]
    return {'steps.onnxruntime.json': onnx.text(events)}


def of_perfetto(folder):
    gpu = 'COMPUTE AGENT [1] STREAM [0] (GPU)'
    out = [pf.clocks((pf.BOOTTIME, 1000), (pf.REALTIME, 1750000000000001000)), pf.process(1, 40, 'train'), pf.thread(2, 40, 41, 'main'),
           pf.track(3, gpu, 1)]
    correlation = 0
    for op in story():
        edges = [(op.start, pf.BEGIN, op.name, []), (op.start + op.length, pf.END, None, [])]
        out += [pf.event(t, kind, name, 2, more=more) for t, kind, name, more in edges]
        for i, w in enumerate(op.work):
            correlation += 1
            of, at = [pf.annotation('corr_id', correlation)], op.start + op.length // 4 + 20 * i
            kind = 'memory_copy' if w.bytes else 'kernel_dispatch'
            out += [pf.event(at, pf.BEGIN, 'hipLaunchKernel', 2, more=[(22, 'hip_api')] + of), pf.event(at + 15, pf.END, track=2),
                    pf.event(w.start, pf.BEGIN, w.name, 3, more=[(22, kind)] + of), pf.event(w.start + w.length, pf.END, track=3)]
    return {'steps.pftrace': pf.trace(*out)}


def of_pprof(folder):
    p = pprof.Profile(('samples', 'count'), ('cpu', 'nanoseconds'))
    main = p.place(('main', 'main.go', 3))
    for i, op in enumerate(story()):
        at = p.place((op.name, op.name + '.go', 10 + op.step))
        p.sample([at, main], 1, op.length)
    p.sample([main], 3, 777)  # an inner frame with time of its own
    return {'steps.pb.gz': gzip.compress(p.bytes(), mtime=0)}


def of_tensorrt(folder):
    rows = [{'count': 100}]
    rows += [{'name': 'layer%d' % i, 'timeMs': round(0.0314 * (i + 1), 4), 'averageMs': round(0.000314 * (i + 1), 6), 'medianMs': 0.0003,
              'percentage': 1.0} for i in range(9)]
    rows.append({'name': 'large', 'timeMs': 47.0417, 'averageMs': 0.470417, 'medianMs': 0.47, 'percentage': 91.0})
    return {'times.json': json.dumps(rows, indent=1).encode()}


def of_chrome(folder):
    events = [{'ph': 'M', 'name': 'process_name', 'pid': 1, 'args': {'name': 'program'}}]
    for op in story():
        events.append({'ph': 'X', 'name': op.name, 'pid': 1, 'tid': 1, 'ts': micros(op.start), 'dur': micros(op.length), 'args': {}})
    return {'plain.json': json.dumps({'traceEvents': events, 'displayTimeUnit': 'ns'}).encode()}


def spool_script():
    """Returns the script from which spool_make makes a recording."""
    base, lines, correlation = 1_700_000_000_000_000_000, [], 0
    out = ['info key=pid value=4711', 'gpu id=0 uuid=GPU-aaaa name="NVIDIA H200" memory=1000', 'clock realtime=%d monotonic=1000000000' % base]
    for step in range(STEPS):
        a, b = window(step)
        lines += [(a, 1, 'mark start=%d tid=11 name="tfprof.step"' % (base + a)), (a, 2, 'push start=%d tid=11 name="train"' % (base + a)),
                  (b, 0, 'pop start=%d tid=11' % (base + b))]
    for op in story():
        lines += [(op.start, 3, 'push start=%d tid=11 name="%s"' % (base + op.start, op.name)),
                  (op.start + op.length, 0, 'pop start=%d tid=11' % (base + op.start + op.length))]
        for i, w in enumerate(op.work):
            correlation += 1
            at = op.start + op.length // 4 + 20 * i
            call = 'cudaMemcpyAsync' if w.bytes else 'cudaLaunchKernel'
            lines.append((at, 4, 'api start=%d length=15 correlation=%d name=%s tid=11' % (base + at, correlation, call)))
            kind = 'copy start=%d length=%d correlation=%d kind=1 bytes=%d stream=7' if w.bytes else 'kernel start=%d length=%d correlation=%d name=%s device=0 context=1 stream=7'
            lines.append((at, 4, kind % (base + w.start, w.length, correlation, w.bytes or w.name)))
    return '\n'.join(out + [text for _, _, text in sorted(lines, key=lambda x: x[:2])] + ['end start=%d' % (base + 2_000_000)]) + '\n'


def of_recording(folder, make=''):
    path, script = os.path.join(folder, 'steps.tfspool'), spool_script().encode()
    subprocess.run([make, path], input=script, check=True)
    with open(path, 'rb') as f:
        return {'steps.tfspool': f.read(), 'steps.tfspool.txt': script}


FORMATS = [of_kineto, of_kineto_stacks, of_xspace, of_jax, of_programs, of_nsys, of_rocprof, of_onnx, of_perfetto, of_pprof, of_tensorrt, of_chrome]


def write_all(folder, make=''):
    """Writes every sample into the folder, recordings if make is the program spool_make. Returns the names."""
    files = {}
    for of in FORMATS:
        files.update(of(folder))
    if make:
        files.update(of_recording(folder, make))
    for name, content in files.items():
        with open(os.path.join(folder, name), 'wb') as f:
            f.write(content)
    return sorted(files)


if __name__ == '__main__':
    os.makedirs(sys.argv[1], exist_ok=True)
    print('\n'.join(write_all(sys.argv[1], *sys.argv[2:])))
