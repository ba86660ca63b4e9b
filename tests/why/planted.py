# SPDX-License-Identifier: Apache-2.0
"""Draws training programs with one planted cause, by the rows of causes.json, for the simulator of tests/sim.

Each number has its own random sequence, so that changing one member of a row leaves the rest of the program unchanged. The time
that a remedy saves is computed in this way.
"""
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'sim'))
from program import BACKWARD, COMM, COMPUTE, MAIN, Builder  # noqa: E402
from simulate import Call, Work  # noqa: E402

GEMM = 'ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn'
GEMM_FLOAT32 = 'ampere_sgemm_128x128_tn'
ELEMENTWISE = ('void at::native::vectorized_elementwise_kernel<4, at::native::%s, std::array<char*, 3ul> >(int, at::native::%s, '
               'std::array<char*, 3ul>)')
LAYOUT = 'void cudnn::ops::nchwToNhwcKernel<__half, __half, float, false, true, (cudnnKernelDataType_t)0>'
SLOW_KERNEL = 'ampere_bf16_s16816gemm_bf16_64x64_sliced1x2_ldg8_f2f_stages_64x5_nn'
OPTIMIZER = 'void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<4>>'
PREEMPTED = 'preempted'         # category of slices that writers turn into switches of threads
NCCL = 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)'
PAGEABLE, PINNED = 6, 24        # bytes per ns
GPU = {'id': 0, 'name': 'NVIDIA H100 80GB HBM3', 'totalGlobalMem': 85029158912, 'computeMajor': 9, 'computeMinor': 0, 'maxThreadsPerBlock': 1024,
       'maxThreadsPerMultiprocessor': 2048, 'regsPerBlock': 65536, 'warpSize': 32, 'sharedMemPerBlock': 49152, 'numSms': 132,
       'regsPerMultiprocessor': 65536, 'sharedMemPerBlockOptin': 232448, 'sharedMemPerMultiprocessor': 233472}


def rows(path=os.path.join(HERE, 'causes.json')):
    """Returns the rows of a file of causes, with all members filled in."""
    with open(path) as f:
        found = json.load(f)
    return {k: dict(found['healthy'], **row) for k, row in found.items() if k != 'describe'}


OF_A_RANK = ('noise', 'latency_jitter', 'python', 'op', 'call', 'between', 'wake', 'loader')


class Drawn:
    """Draws numbers of a row, each from a sequence of its own. Ranks do the same; only numbers OF_A_RANK differ."""

    def __init__(self, seed, row, rank=0):
        self.seed, self.row, self.rank, self.chances = seed, row, rank, {}

    def chance(self, name):
        key = '%d/%d/%s' % (self.seed, self.rank, name) if name in OF_A_RANK else '%d/%s' % (self.seed, name)
        return self.chances.setdefault(name, random.Random(key))

    def of(self, name):
        low, high = self.row[name]
        return low + int((high - low + 1) * self.chance(name).random())

    def yes(self, name):
        return self.chance(name).random() < self.row[name]


class Planted(Builder):
    """A rank's program. speed: percent of the usual length of its kernels."""

    def __init__(self, drawn, rank, speed):
        super().__init__(drawn, rank, rank)
        self.speed = speed

    def scaled(self, ns):
        return ns * self.speed * self.d.of('noise') // 10000

    def gpu_work(self, kind, name, ns, stream=COMPUTE, blocks=2048, **more):
        if kind == 'compute':
            more = dict({'grid': [blocks, 1, 1], 'block': [256, 1, 1], 'registers per thread': 64, 'shared memory': 0}, **more)
        return Work(kind, name, self.device, stream, ns, self.jitter(), **more)

    def leaf(self, outer, inner, works, more=None):
        """Adds an op within an op, which launches works."""
        self.add('begin', 'cpu_op', outer)
        self.work('op')
        self.add('begin', 'cpu_op', inner, more or {})
        self.work('op')
        for w in works:
            self.launch(w)
            self.work('op')
        self.add('end')
        self.work('op')
        self.add('end')
        self.work('python')

    def layer(self, i, suffix=''):
        """Adds a matrix product, as large as its time allows, and the ops that follow it."""
        row, kind = self.d.row, 'float' if self.d.row['float32'] else 'c10::BFloat16'
        ns = self.scaled(self.d.of('tiny_kernel' if row['tiny'] else 'gemm'))
        m, n, k = (64,) * 3 if row['tiny'] else (512, 768, 16384) if row['narrow'] else (2048,) * 3 if row['float32'] else (4096,) * 3
        dims = {'Input Dims': [[n], [m, k], [k, n], [], []], 'Input type': [kind, kind, kind, 'Scalar', 'Scalar']}
        blocks = 24 if row['narrow'] else 4 if row['tiny'] else 1024
        self.leaf('aten::linear', 'aten::addmm', [self.gpu_work('compute', GEMM_FLOAT32 if row['float32'] else GEMM, ns, blocks=blocks)], dims)
        self.elementwise('aten::relu', 'aten::clamp_min', 'clamp_min_scalar_kernel_impl', 'tiny_kernel' if row['tiny'] else 'small')
        self.chain()
        for _ in range(self.d.of('layouts')):
            self.leaf('aten::contiguous', 'aten::cudnn_convolution', [self.gpu_work('compute', LAYOUT, self.scaled(self.d.of('layout')))])

    def elementwise(self, outer, inner, functor, length):
        dims = {'Input Dims': [[4096, 4096]], 'Input type': ['c10::BFloat16']}
        self.leaf(outer, inner, [self.gpu_work('compute', ELEMENTWISE % (functor, functor), self.scaled(self.d.of(length)), blocks=8192)], dims)

    def chain(self):
        """Adds consecutive elementwise kernels. fused: adds one kernel, as long as the longest."""
        lengths = [self.scaled(self.d.of('chain_kernel')) for _ in range(self.d.of('chain'))]
        dims = {'Input Dims': [[4096, 4096], [4096, 4096]], 'Input type': ['c10::BFloat16', 'c10::BFloat16']}
        for i, ns in enumerate([max(lengths)] if lengths and self.d.row['fused'] else lengths):
            functor = ('CUDAFunctor_add<c10::BFloat16>', 'BinaryFunctor<MulFunctor>', 'GeluCUDAKernelImpl', 'sigmoid_kernel_cuda')[i % 4]
            op = ('aten::add', 'aten::mul', 'aten::gelu', 'aten::sigmoid')[i % 4]
            self.leaf(op, op + '_', [self.gpu_work('compute', ELEMENTWISE % (functor, functor), ns, blocks=8192)], dims)

    def input(self, step):
        d = self.d
        self.add('begin', 'user_annotation', 'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__')
        self.work('loader')
        self.add('end')
        self.work('python')
        size, pageable = d.of('input_bytes'), d.yes('pageable')
        ns = size // (PAGEABLE if pageable else PINNED) + 900
        name = 'Memcpy HtoD (%s -> Device)' % ('Pageable' if pageable else 'Pinned')
        self.add('begin', 'cpu_op', 'aten::to')
        self.add('begin', 'cpu_op', 'aten::copy_')
        self.work('op')
        self.call('cudaMemcpyAsync', works=[self.gpu_work('copy', name, ns, bytes=size)], block='work' if pageable else None)
        if pageable:
            self.call('cudaStreamSynchronize', block='stream', on=(self.device, COMPUTE))
        self.add('end')
        self.add('end')
        self.work('python')

    def read_value(self):
        """Makes the host read a value and then compute with it."""
        self.add('begin', 'cpu_op', 'aten::item')
        self.add('begin', 'cpu_op', 'aten::_local_scalar_dense')
        self.work('op')
        self.call('cudaMemcpyAsync', works=[self.gpu_work('copy', 'Memcpy DtoH (Device -> Pinned)', 1300, bytes=4)])
        self.call('cudaStreamSynchronize', block='stream', on=(self.device, COMPUTE))
        self.add('end')
        self.add('end')
        self.add('work', self.d.of('item_gap'))

    def trouble(self, layers):
        """Distributes the planted troubles over the layers: {layer: [function]}."""
        d, out = self.d, {}
        for name, does in (('items', self.read_value), ('allocations', self.allocate), ('collections', self.collect),
                           ('overheads', self.overhead), ('preemptions', self.preempted)):
            n = d.of(name)
            for k in range(n):
                out.setdefault(k * layers // n, []).append(does)
        return out

    def allocate(self):
        for name in ('cudaMalloc', 'cudaFree'):
            self.add('call', Call(name, self.d.of('malloc'), block='device' if name == 'cudaFree' else None, on=self.device))

    def collect(self):
        self.add('begin', 'user_annotation', 'Python GC')
        self.work('collection')
        self.add('end')

    def overhead(self):
        """Makes the profiler request a buffer within a call, which takes longer therefore."""
        self.add('begin', 'overhead', 'Activity Buffer Request')
        self.work('overhead')
        self.add('end')

    def preempted(self):
        """Makes the thread lose its CPU to another thread."""
        self.add('begin', PREEMPTED, '(preempted)')
        self.work('preemption')
        self.add('end')

    def collective(self, group, ns):
        self.event(COMPUTE, COMM)
        work = self.gpu_work('communication', NCCL, ns, COMM, group=group, **{'Collective name': 'allreduce', 'In msg nelems': ns * 20,
                                                                              'dtype': 'BFloat16', 'Group size': 4})
        self.add('begin', 'user_annotation', 'nccl:all_reduce')
        self.launch(work)
        self.add('end')
        if not self.d.row['overlap']:
            self.event(COMM, COMPUTE)


def graph_step(b, layers):
    """Adds the rest of a step whose work is one launch of a graph."""
    b.call('cudaGraphLaunch', works=[b.gpu_work('compute', GEMM, b.scaled(b.d.of('gemm'))) for _ in range(2 * layers)])
    b.work('python')
    b.call('cudaStreamSynchronize', block='stream', on=(b.device, COMPUTE))
    b.work('python')
    b.add('end')
    b.work('between')


BATCH = 16      # numbers of tokens for which the graphs of a server were captured


def served_step(b, step, layers):
    """Adds a step of a server: graphs, or single kernels, which take longer because they are not fused; then the host reads the
    tokens."""
    d, row = b.d, b.d.row
    used = BATCH * row['used'] // 100
    b.add('begin', 'user_annotation', 'step[DECODE bs=%d/%d toks=%d n=%d]' % (used, BATCH, used, step))
    b.work('python')
    eager = row['eager'] and step % 4 == 2
    for _ in range(d.of('graphs')):
        works = [b.gpu_work('compute', GEMM, b.scaled(d.of('gemm')) * (row['eager_time'] if eager else row['used'] if row['fitting'] else 100) // 100)
                 for _ in range(layers)]
        works[0].jitter += d.of('graph_delay')
        if eager:
            for w in works:
                b.leaf('aten::linear', 'aten::addmm', [w])
        else:
            b.call('cudaGraphLaunch', works=works)
    b.call('cudaStreamSynchronize', block='stream', on=(b.device, COMPUTE))
    b.work('python')
    b.add('end')
    b.work('between')


def drawn_step(b, step, layers, transfers):
    d = b.d
    if d.row['serving']:
        return served_step(b, step, layers)
    b.add('begin', 'user_annotation', 'ProfilerStep#%d' % (step + 10))
    b.work('python')
    if step < d.row['first_steps']:
        b.add('begin', 'user_annotation', 'CompiledFxGraph compile')
        b.work('warmup')
        b.add('end')
    b.input(step)
    trouble = b.trouble(layers)
    if d.row['graph']:
        return graph_step(b, layers)
    for i in range(layers):
        b.layer(i)
        for does in trouble.get(i, ()):
            does()
    b.tokens += 1
    b.add('begin', 'user_annotation', 'backward')
    b.work('op')
    b.add('signal', ('start', b.tokens))
    b.add('await', ('done', b.tokens), d.of('wake'))
    b.add('end')
    b.here = BACKWARD
    b.add('await', ('start', b.tokens), d.of('wake'))
    for i in reversed(range(layers)):
        b.op('autograd::engine::evaluate_function: AddmmBackward0', lambda: b.layer(i, '_backward'))
        if d.row['collectives'] and i % 2 == 0:
            b.collective((step, i), transfers[step][i])
    b.add('signal', ('done', b.tokens))
    b.here = MAIN
    b.work('python')
    if d.row['collectives']:
        b.event(COMM, COMPUTE)
    length = 'tiny_kernel' if d.row['tiny'] else 'optimizer'
    b.leaf('Optimizer.step#AdamW.step', 'aten::_fused_adamw_', [b.gpu_work('compute', OPTIMIZER, b.scaled(d.of(length)), blocks=640)
                                                                for _ in range(d.of('optimizer_kernels'))])
    for _ in range(d.of('extra')):
        b.leaf('aten::matmul', 'aten::mm', [b.gpu_work('compute', SLOW_KERNEL, b.scaled(d.of('extra_kernel')))],
               {'Input Dims': [[1024, 1024], [1024, 1024]], 'Input type': ['c10::BFloat16', 'c10::BFloat16']})
    if d.row['metrics'][1]:
        b.add('begin', 'user_annotation', 'compute_metrics')
        b.work('metrics')
        b.add('end')
    b.add('end')
    b.work('between')


def speeds(row, ranks):
    """Returns the length of kernels by rank, percent of the usual length. spread: difference of the last rank to the first; -1:
    the mean of the ranks with a spread of 45."""
    if row['spread'] < 0:
        return [100 + 45 // 2] * ranks
    return [(row['slow'] if rank == 1 else 100) + row['spread'] * rank // max(1, ranks - 1) for rank in range(ranks)]


def instructions(seed, row):
    """Returns {process: {tid: instructions}} of a seed and a row."""
    shared = Drawn(seed, row)
    ranks, steps, layers = shared.of('ranks'), shared.of('steps'), shared.of('layers')
    transfers = [[shared.of('transfer') for _ in range(layers)] for _ in range(steps)]
    out = {}
    for rank, speed in enumerate(speeds(row, ranks)):
        b = Planted(Drawn(seed, row, rank), rank, speed)
        for step in range(steps):
            drawn_step(b, step, layers, transfers)
        out[rank] = b.threads
    return out
