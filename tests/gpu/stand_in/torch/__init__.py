# SPDX-License-Identifier: Apache-2.0
"""The part of PyTorch that tests/gpu/work.py uses, on the fake driver: each operation is a kernel in a range."""
import contextlib
import os
import types

made = {}
counts = {'launched': 0, 'segments': 0}
uint8 = bfloat16 = None


def once(what):
    import cuda as driver  # tests/gpu/cuda.py
    if what not in made:
        made[what] = getattr(driver, what)()
    return made[what]


def launch(name):
    once('Ranges').push('aten::' + name)
    once('Gpu').launch(1)
    once('Ranges').pop()
    counts['launched'] += 1


class Tensor:
    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)

        def operation(*_, **__):
            if name not in ('to', 'cuda'):
                launch(name)
            return self
        return operation

    def __mul__(self, _):
        return self.mul()

    def __sub__(self, _):
        return self.sub()

    def __iadd__(self, _):
        return self.add()

    def __getitem__(self, _):
        return 0.0

    def __float__(self):
        return 128.0


class Module(Tensor):
    def __init__(self, *_, **__):
        pass

    def __call__(self, x):
        return x.linear()

    def parameters(self):
        return []


class SGD:
    def __init__(self, *_, **__):
        pass

    def zero_grad(self, **_):
        pass

    def step(self):
        launch('step')


class DataLoader:
    """A data loader whose workers are forked, and end by _exit."""

    def __init__(self, items, num_workers):
        self.items, self.workers = items, num_workers

    def __iter__(self):
        children = []
        for _ in range(self.workers):
            children.append(os.fork())
            if not children[-1]:
                os._exit(0)
        for _ in self.items:
            yield Tensor()
        for child in children:
            os.waitpid(child, 0)


def randn(*_, **__):
    return Tensor()


zeros = ones = randn


def empty(n, **_):
    once('Gpu').alloc(n)
    counts['segments'] += 1
    return Tensor()


def manual_seed(_):
    pass


def synchronize():
    once('Gpu').sync()


ns = types.SimpleNamespace
nn = ns(Sequential=Module, Linear=Module, ReLU=Module, TransformerEncoderLayer=Module)
optim = ns(SGD=SGD)
autograd = ns(DeviceType=ns(CUDA='cuda'), profiler=ns(emit_nvtx=contextlib.nullcontext))
utils = ns(data=ns(DataLoader=DataLoader))
cuda = ns(synchronize=synchronize, memory_stats=lambda: {'segment.all.allocated': counts['segments']},
          nvtx=ns(range_push=lambda text: once('Ranges').push(text), range_pop=lambda: once('Ranges').pop()))
