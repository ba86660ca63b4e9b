# SPDX-License-Identifier: Apache-2.0
"""Draws programs for the simulator: training steps of one or more processes, by the rows of parameters.json.

A row gives the range of each number, or the probability of each feature; see `describe` in that file. A seed and a row always give
the same program.
"""
import json
import os
import random

from simulate import Call, Machine, Work

MAIN, BACKWARD, LOADER = 100, 101, 102
COMPUTE, SIDE, COMM = 7, 20, 24         # streams


def rows(path=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'parameters.json')):
    """Returns the rows of a file of parameters, with all members filled in."""
    with open(path) as f:
        found = json.load(f)
    return {k: dict(found['exact'], **row) for k, row in found.items() if k != 'describe'}


class Drawn:
    """Draws numbers of a row."""

    def __init__(self, seed, row):
        self.chance, self.row = random.Random(seed), row

    def of(self, name):
        low, high = self.row[name]
        return self.chance.randint(low, high)

    def yes(self, name):
        return self.chance.random() < self.row[name]


class Builder:
    """Appends instructions to the threads of a process."""

    def __init__(self, drawn, rank, device):
        self.d, self.rank, self.device, self.first = drawn, rank, device, device
        self.devices, self.stacks, self.frames = drawn.row.get('devices', 1), drawn.row.get('stacks', 0), 0
        self.threads = {MAIN: []}
        self.here, self.events, self.tokens = MAIN, 0, 0

    def add(self, *instruction):
        self.threads.setdefault(self.here, []).append(instruction)

    def work(self, name):
        self.add('work', self.d.of(name))

    def call(self, name, **how):
        self.add('call', Call(name, self.d.of('call'), **how))

    def op(self, name, body, category='cpu_op'):
        self.add('begin', category, name)
        self.work('op')
        body()
        self.work('op')
        self.add('end')

    def kernel(self, name, stream=COMPUTE, scale=1, **more):
        return Work('compute', name, self.device, stream, self.d.of('kernel') * scale, self.jitter(), **more)

    def jitter(self):
        return self.d.of('latency_jitter')

    def launch(self, work):
        self.call('cudaLaunchKernel', works=[work])

    def move(self, part, of):
        """Switches to the device that has this part of the model; its stream waits for the previous device."""
        device = self.first + part * self.devices // of
        if device != self.device:
            self.event(COMPUTE, COMPUTE, device)
            self.device = device

    def frame(self, name):
        """Opens a Python function, if the program is recorded with stacks."""
        if self.stacks:
            self.frames += 1
            self.add('begin', 'python_function', name, {'Python id': self.frames})
            self.work('python')

    def unframe(self):
        if self.stacks:
            self.work('python')
            self.add('end')

    def layer(self, i, suffix=''):
        """Adds nested ops, some with more than one kernel."""
        self.frame('model.py(%d): %s' % (30 + i, 'backward' if suffix else 'forward'))
        names = ('aten::linear', 'aten::addmm', 'gemm_%d%s' % (i, suffix)), ('aten::relu', 'aten::clamp_min', 'relu_kernel' + suffix)
        for outer, inner, kernel in names:
            def leaf():
                self.launch(self.kernel(kernel))
                if self.d.yes('second_kernel'):
                    self.work('op')
                    self.launch(self.kernel(kernel + '_split'))
            self.op(outer + suffix, lambda: self.op(inner + suffix, leaf))
            self.work('python')
        self.unframe()

    def event(self, frm, to, device=None):
        """Makes a stream (of this or another device) wait for the present work of a stream of this device."""
        self.events += 1
        name = self.events
        self.call('cudaEventRecord', record=(name, self.device, frm))
        self.work('op')
        self.call('cudaStreamWaitEvent', wait=(name, self.device if device is None else device, to))

    def side_stream(self, i):
        self.event(COMPUTE, SIDE)
        self.op('aten::mul', lambda: self.launch(self.kernel('side_kernel_%d' % i, SIDE)))
        if self.d.yes('side_joined'):
            self.event(SIDE, COMPUTE)

    def graph(self, i):
        works = [self.kernel('graph_kernel_%d' % k) for k in range(self.d.of('graph_kernels'))]
        self.call('cudaGraphLaunch', works=works)

    def item(self):
        """Makes the host read the value of a tensor."""
        def leaf():
            copy = Work('copy', 'Memcpy DtoH (Device -> Pinned)', self.device, COMPUTE, self.d.of('small_copy'), self.jitter(), bytes=4)
            self.call('cudaMemcpyAsync', works=[copy])
            self.call('cudaStreamSynchronize', block='stream', on=(self.device, COMPUTE))
        self.op('aten::item', lambda: self.op('aten::_local_scalar_dense', leaf))

    def input(self, step):
        """Adds the batch of the loader, and its copies to the device."""
        self.add('begin', 'user_annotation', 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__')
        self.work('loader_slow' if self.d.yes('loader_is_slow') else 'loader')
        self.add('end')
        self.work('python')
        blocking = self.d.yes('blocking_copy')
        memory, size = ('Pageable', 1 << 16) if blocking else ('Pinned', 1 << 20)
        copy = Work('copy', 'Memcpy HtoD (%s -> Device)' % memory, self.device, COMPUTE, self.d.of('copy'), self.jitter(), bytes=size)

        def leaf():
            self.call('cudaMemcpyAsync', works=[copy])
            if blocking:
                self.call('cudaStreamSynchronize', block='stream', on=(self.device, COMPUTE))
        self.op('aten::to', lambda: self.op('aten::copy_', leaf))

    def forward(self, layers):
        for i in range(layers):
            self.move(i, layers)
            self.layer(i)
            if self.d.yes('side_stream'):
                self.side_stream(i)
            if self.d.yes('graph'):
                self.graph(i)
            if self.d.yes('item'):
                self.item()

    def backward(self, layers, collective):
        """Makes another thread launch the work of the backward pass while this thread waits."""
        if not self.d.yes('backward_thread'):
            return self.backward_ops(layers, collective)
        self.tokens += 1
        start, done = ('start', self.tokens), ('done', self.tokens)
        self.add('begin', 'user_annotation', 'backward')
        self.work('op')
        self.add('signal', start)
        self.add('await', done, self.d.of('wake'))
        self.work('op')
        self.add('end')
        self.here = BACKWARD
        self.add('await', start, self.d.of('wake'))
        self.backward_ops(layers, collective)
        self.add('signal', done)
        self.here = MAIN

    def backward_ops(self, layers, collective):
        for i in reversed(range(layers)):
            self.move(i, layers)
            self.op('autograd::engine::evaluate_function: AddmmBackward0', lambda: self.layer(i, '_backward'))
            if collective and i % 2 == 0:
                collective(i)
            if i:
                self.work('python')

    def all_reduce(self, group, members):
        """Adds a collective on its own stream, after the present work of the compute stream."""
        self.event(COMPUTE, COMM)
        work = Work('communication', 'ncclDevKernel_AllReduce_Sum_f32_RING_LL', self.device, COMM, 0, self.jitter(), group=group,
                    collective='allreduce')
        work.duration = members
        self.op('nccl:all_reduce', lambda: self.launch(work), 'user_annotation')

    def optimizer(self):
        def leaf():
            for i in range(self.d.of('optimizer_kernels')):
                self.launch(self.kernel('multi_tensor_apply'))
                self.work('op')
        self.op('Optimizer.step#SGD.step', lambda: self.op('aten::_foreach_add_', leaf), 'user_annotation')


def instructions(seed, row):
    """Returns {process: {tid: instructions}} of a seed and a row of parameters."""
    shared = Drawn(seed, row)
    ranks, steps, layers = shared.of('ranks'), shared.of('steps'), shared.of('layers')
    transfer = [[shared.of('transfer') for _ in range(layers)] for _ in range(steps)]
    out = {}
    for rank in range(ranks):
        d = Drawn(seed * 1000 + rank + 1, row)
        b = Builder(d, rank, rank)
        b.work('python')
        for step in range(steps):
            b.add('begin', 'user_annotation', 'ProfilerStep#%d' % (step + 3))
            b.work('python')
            b.frame('train.py(12): train_step')
            b.move(0, layers)
            b.input(step)
            b.work('python')
            b.forward(layers)

            def collective(i):
                b.all_reduce((step, i), transfer[step][i])
            b.backward(layers, collective if ranks > 1 else None)
            b.work('python')
            if ranks > 1:
                b.event(COMM, COMPUTE)
            b.optimizer()
            b.work('python')
            if d.yes('sync_at_end'):
                b.call('cudaDeviceSynchronize', block='device', on=b.device)
                b.work('python')
            b.unframe()
            b.add('end')
            b.work('between')
        out[rank] = b.threads
    return out


def machine(row):
    return Machine(**row.get('machine', {}))
