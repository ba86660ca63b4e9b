#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs that the checks on a GPU record: tests/gpu/work.py NAME [arguments]."""
import ctypes
import json
import os
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cuda


def rounds():
    """Returns the number of times that the collector's thread has gone to sleep (every 100 ms); None if it does not run."""
    for task in os.listdir('/proc/self/task'):
        with open('/proc/self/task/%s/comm' % task) as name, open('/proc/self/task/%s/status' % task) as status:
            if name.read() == 'tfprof\n':
                return int(status.read().rpartition('\nvoluntary_ctxt_switches:')[2].split()[0])


def settle():
    """Waits until the last flush is over."""
    begin = rounds()
    time.sleep(1.2)
    while begin is not None and rounds() < begin + 12:
        time.sleep(0.1)


def launches(n, how='plain'):
    """plain: cuLaunchKernel; ex: cuLaunchKernelEx; runtime: cudaLaunchKernel."""
    if how == 'runtime':
        try:
            cuda.Runtime().launch(int(n))
        except cuda.Error as e:
            return print(json.dumps({'missing': str(e)}))
    else:
        gpu = cuda.Gpu()
        (gpu.launch_ex if how == 'ex' else gpu.launch)(int(n))
        gpu.sync()
    print(json.dumps({'tid': threading.get_native_id()}))


def spins():
    gpu = cuda.Gpu()
    gpu.spin(1000)
    gpu.sync()
    said = []
    for ns in (1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000):
        said.append([ns, gpu.events(lambda n=ns: gpu.spin(n)) * 1e6])
    print(json.dumps(said))


def graphs(nodes, replays, order=''):
    """early: makes the graph, then asks the process at the other end of the pipe to start recording."""
    gpu = cuda.Gpu()
    made = gpu.graph(int(nodes))
    gpu.sync()
    if order == 'early':
        print('made', flush=True)
        sys.stdin.readline()
    before = gpu.memory_left()
    for _ in range(int(replays)):
        gpu.replay(made)
    gpu.sync()
    print(json.dumps({'grown': before - gpu.memory_left()}))


def copies(n):
    gpu = cuda.Gpu()
    for _ in range(int(n)):
        gpu.copies(1 << 20)
    gpu.sync()


def memory(n):
    gpu = cuda.Gpu()
    for _ in range(int(n)):
        gpu.free(gpu.alloc(1 << 20))


def ends(how):
    gpu = cuda.Gpu()
    gpu.launch(1000)
    gpu.sync()
    if how == 'reset':
        gpu('cuDevicePrimaryCtxReset_v2', gpu.device)
    if how == 'atexit':
        import atexit
        atexit.register(lambda: (gpu.launch(10), gpu.sync()))
    if how in ('_exit', 'TERM', 'KILL'):
        settle()
    if how == '_exit':
        os._exit(3)
    if how in ('TERM', 'KILL'):
        os.kill(os.getpid(), getattr(signal, 'SIG' + how))
    if how == 'exception':
        raise ValueError('on purpose')
    if how == 'exit':
        sys.exit(3)


def many(processes, n):
    import subprocess
    children = [subprocess.Popen([sys.executable, __file__, 'launches', n], stdout=subprocess.DEVNULL)
                for _ in range(int(processes))]
    sys.exit(max(c.wait() for c in children))


def forks():
    gpu = cuda.Gpu()
    gpu.launch(100)
    gpu.sync()
    child = os.fork()
    if not child:
        sys.exit(0)  # the worker does not use CUDA
    os.waitpid(child, 0)
    gpu.launch(100)
    gpu.sync()


def worker(n):
    gpu = cuda.Gpu()
    gpu.launch(n)
    gpu.sync()
    settle()  # workers of multiprocessing end by _exit


def workers(how, n):
    """Starts workers of multiprocessing, as data loaders do."""
    import multiprocessing
    context = multiprocessing.get_context(how)
    children = [context.Process(target=worker, args=(int(n),)) for _ in range(2)]
    for c in children:
        c.start()
    for c in children:
        c.join()
    sys.exit(max(c.exitcode for c in children))


def loader(n):
    """Runs PyTorch's data loader, whose workers are forked and do not use CUDA."""
    import torch
    a = torch.zeros(8, device='cuda')
    for batch in torch.utils.data.DataLoader(list(range(int(n))), num_workers=2):
        a += batch.to('cuda').sum()
    torch.cuda.synchronize()
    print(json.dumps(float(a[0])))


def rank():
    """Runs as one of two ranks on the same GPU."""
    import torch
    import torch.distributed as dist
    dist.init_process_group('gloo')
    a = torch.ones(1024, device='cuda')
    for _ in range(10):
        a = a * 2 - 1
    dist.barrier()
    torch.cuda.synchronize()


def taken():
    """Uses CUPTI itself before the driver is initialised."""
    cupti = ctypes.CDLL(os.environ['TFPROF_CUPTI_PATH'], ctypes.RTLD_GLOBAL)
    handle = ctypes.c_void_p()
    keep = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p)(lambda *_: None)
    ctypes.CDLL('libcuda.so.1')
    print(json.dumps({'subscribe': cupti.cuptiSubscribe(ctypes.byref(handle), keep, None)}))
    launches(100)


def writer():
    """Returns the processor time of the collector's thread in ns."""
    for t in os.listdir('/proc/self/task'):
        with open('/proc/self/task/%s/comm' % t) as f:
            if f.read() == 'tfprof\n':
                with open('/proc/self/task/%s/schedstat' % t) as s:
                    return int(s.read().split()[0])
    return 0


def idle(seconds):
    gpu = cuda.Gpu()
    gpu.launch(10)
    gpu.sync()
    before = writer()
    time.sleep(float(seconds))
    print(json.dumps({'writer': writer() - before, 'left': gpu.memory_left()}))


def busy(seconds, every='0'):
    """Launches kernels for a time, and prints the memory of the process at intervals."""
    gpu = cuda.Gpu()
    before = writer()
    end, said, n = time.time() + float(seconds), [], 0
    following = time.time()
    while time.time() < end:
        gpu.launch(200)
        gpu.sync()
        n += 200
        if float(every) and time.time() > following:
            following += float(every)
            with open('/proc/self/statm') as f:
                said.append(int(f.read().split()[1]) * 4096)
    print(json.dumps({'launches': n, 'resident': said, 'writer': writer() - before, 'left': gpu.memory_left()}))


def timed(what, n, ranges=''):
    """Returns the seconds that the work takes, without the start and the end of the process."""
    n = int(n)
    if what == 'training':
        return print(json.dumps(timed_training(n)))
    gpu = cuda.Gpu()
    if what == 'matmul':
        return print(json.dumps(timed_matmul(gpu, n)))
    made = gpu.graph(100) if what == 'graph' else None
    works = {'empty': lambda: gpu.launch(n), 'spin20': lambda: gpu.spin(20000, n),
             'spin200': lambda: gpu.spin(200000, n), 'graph': lambda: gpu.replay(made, n)}
    if ranges:
        plain, nvtx = works[what], cuda.Ranges()

        def within():
            nvtx.push('work')
            plain()
            nvtx.pop()
        works[what] = within
    works[what]()
    gpu.sync()
    begin = time.perf_counter()
    works[what]()
    gpu.sync()
    print(json.dumps(time.perf_counter() - begin))


def timed_training(n):
    """Runs steps of a small transformer."""
    import torch
    layer = torch.nn.TransformerEncoderLayer(512, 8, batch_first=True).cuda().to(torch.bfloat16)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
    x = torch.randn(32, 128, 512, device='cuda', dtype=torch.bfloat16)

    def steps(k):
        for _ in range(k):
            optimizer.zero_grad(set_to_none=True)
            layer(x).square().mean().backward()
            optimizer.step()
        torch.cuda.synchronize()

    steps(10)
    begin = time.perf_counter()
    steps(n)
    return time.perf_counter() - begin


def timed_matmul(gpu, n):
    blas = Blas(gpu, 2048)
    blas.multiply(n)
    gpu.sync()
    begin = time.perf_counter()
    blas.multiply(n)
    gpu.sync()
    return time.perf_counter() - begin


class Blas:
    """Multiplies square matrices with cuBLAS."""

    def __init__(self, gpu, n):
        self.lib, self.n, self.handle = ctypes.CDLL(cuda.find('libcublas')), n, ctypes.c_void_p()
        self.matrices = [gpu.alloc(4 * n * n) for _ in range(3)]
        if self.lib.cublasCreate_v2(ctypes.byref(self.handle)):
            raise cuda.Error('cublasCreate failed')

    def multiply(self, times=1):
        one, n = ctypes.c_float(1), self.n
        a, b, c = self.matrices
        for _ in range(times):
            status = self.lib.cublasSgemm_v2(self.handle, 0, 0, n, n, n, ctypes.byref(one), a, n, b, n, ctypes.byref(one), c, n)
            if status:
                raise cuda.Error('cublasSgemm failed: %d' % status)


def activate(gpu):
    """Runs one activation with cuDNN."""
    lib = ctypes.CDLL(cuda.find('libcudnn'))
    handle, tensor, how, one = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_float(1)
    x, y = gpu.alloc(4096), gpu.alloc(4096)
    for name, *args in (('cudnnCreate', ctypes.byref(handle)), ('cudnnCreateTensorDescriptor', ctypes.byref(tensor)),
                        ('cudnnSetTensor4dDescriptor', tensor, 0, 0, 1, 1, 32, 32),
                        ('cudnnCreateActivationDescriptor', ctypes.byref(how)),
                        ('cudnnSetActivationDescriptor', how, 1, 0, ctypes.c_double(0)),
                        ('cudnnActivationForward', handle, how, ctypes.byref(one), tensor, x, ctypes.byref(ctypes.c_float(0)),
                         tensor, y)):
        status = getattr(lib, name)(*args)
        if status:
            raise cuda.Error('%s failed: %d' % (name, status))


def buffers(folder):
    """Writes the raw buffers that CUPTI fills, one file for each kind of record."""
    cupti = ctypes.CDLL(os.environ['TFPROF_CUPTI_PATH'])
    cuda.load()
    size, kept, got = 1 << 16, [], []
    request_type = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t),
                                    ctypes.POINTER(ctypes.c_size_t))
    complete_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p, ctypes.c_size_t,
                                     ctypes.c_size_t)

    def request(buffer, n, records):
        b = (ctypes.c_uint64 * (size // 8))()
        kept.append(b)
        buffer[0], n[0], records[0] = ctypes.addressof(b), size, 0

    def complete(_context, _stream, buffer, _size, valid):
        got.append(ctypes.string_at(buffer, valid))

    calls = request_type(request), complete_type(complete)
    version, handle = ctypes.c_uint(), ctypes.c_void_p()
    cupti.cuptiGetVersion(ctypes.byref(version))
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p)(lambda *_: None)
    told = {'subscribe': cupti.cuptiSubscribe(ctypes.byref(handle), callback, None), 'version': version.value}
    told['register'] = cupti.cuptiActivityRegisterCallbacks(*calls)
    gpu = cuda.Gpu()
    made = gpu.graph(5)
    for name, kind, work in (('kernel', 10, lambda: gpu.launch(5)), ('memcpy', 1, lambda: gpu.copies(4096)),
                             ('memset', 2, lambda: gpu.copies(4096)), ('runtime', 5, lambda: gpu.launch(5)),
                             ('driver', 4, lambda: gpu.launch(5)), ('memory2', 49, lambda: gpu.copies(4096)),
                             ('synchronization', 38, gpu.sync), ('overhead', 17, lambda: gpu.launch(5)),
                             ('graph_nodes', 10, lambda: gpu.replay(made)), ('graph_trace', 51, lambda: gpu.replay(made)),
                             ('device', 8, gpu.sync), ('context', 9, gpu.sync)):
        del got[:]
        enable = cupti.cuptiActivityEnableAndDump if kind in (8, 9) else cupti.cuptiActivityEnable
        told[name] = [enable(kind)]
        work()
        gpu.sync()
        cupti.cuptiActivityFlushAll(1)
        cupti.cuptiActivityDisable(kind)
        cupti.cuptiActivityFlushAll(1)
        data = b''.join(got)
        told[name].append(len(data))
        with open(os.path.join(folder, '%s-%d.bin' % (name, version.value)), 'wb') as f:
            f.write(data)
    print(json.dumps(told))


def torch_step(steps, profiled):
    import torch
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 1024)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(256, 1024, device='cuda')

    def step():
        optimizer.zero_grad(set_to_none=True)
        model(x).square().mean().backward()
        optimizer.step()

    step()
    torch.cuda.synchronize()
    names = {}
    if int(profiled):
        from torch.profiler import ProfilerActivity, profile
        with profile(activities=[ProfilerActivity.CUDA]) as p:
            for _ in range(int(steps)):
                step()
            torch.cuda.synchronize()
        for e in p.events():
            if e.device_type == torch.autograd.DeviceType.CUDA and not e.name.startswith('Mem'):
                names[e.name] = names.get(e.name, 0) + 1
    else:
        with torch.autograd.profiler.emit_nvtx():
            torch.cuda.nvtx.range_push('measured')
            for _ in range(int(steps)):
                step()
            torch.cuda.synchronize()
            torch.cuda.nvtx.range_pop()
    print(json.dumps(names))


def squares(steps):
    """Returns a function that launches `steps` kernels of torch and waits for them, after a first call."""
    import torch
    x = torch.randn(256, 256, device='cuda')

    def work():
        for _ in range(int(steps)):
            x.square()
        torch.cuda.synchronize()

    work()
    return work


def gpu_events(p):
    """Returns the number of GPU events that torch.profiler has."""
    import torch
    return sum(e.device_type == torch.autograd.DeviceType.CUDA for e in p.events())


def torch_profiled(steps):
    """Runs torch.profiler in a program that is already recorded."""
    from torch.profiler import ProfilerActivity, profile
    work = squares(steps)
    time.sleep(1.5)
    with profile(activities=[ProfilerActivity.CUDA]):
        end = time.time() + 8
        while time.time() < end:
            work()
            time.sleep(0.1)
    work()


def torch_beside(steps):
    """Runs torch.profiler for a while in a recorded program; counts its events."""
    from torch.profiler import ProfilerActivity, profile
    work = squares(steps)
    settle()
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        for _ in range(20):
            work()
    theirs = gpu_events(p)
    work()
    settle()
    print(json.dumps({'theirs': theirs, 'before': int(steps), 'inside': 20 * int(steps), 'after': int(steps)}))


def torch_last(steps):
    """Runs torch.profiler until the program ends."""
    from torch.profiler import ProfilerActivity, profile
    work = squares(steps)
    settle()
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        work()
    theirs = gpu_events(p)
    print(json.dumps({'theirs': theirs, 'before': int(steps), 'inside': int(steps)}))


def torch_memory(n):
    """Allocates segments of the caching allocator, which calls the driver only for them."""
    import torch
    kept = [torch.empty(64 << 20, dtype=torch.uint8, device='cuda') for _ in range(int(n))]
    print(json.dumps({'segments': torch.cuda.memory_stats()['segment.all.allocated'], 'kept': len(kept)}))


def jax_step(profiled='0'):
    import jax
    import jax.numpy as jnp

    @jax.jit
    def f(x):
        with jax.named_scope('layer'):
            return jnp.tanh(x @ x).sum()

    if int(profiled):
        import tempfile
        with tempfile.TemporaryDirectory() as d, jax.profiler.trace(d):
            f(jnp.ones((512, 512))).block_until_ready()
    print(json.dumps(float(f(jnp.ones((512, 512))))))


def library(name):
    """Runs work of a library that launches through the driver."""
    if name in ('libcublas', 'libcudnn'):
        gpu = cuda.Gpu()
        Blas(gpu, 256).multiply() if name == 'libcublas' else activate(gpu)
        gpu.sync()
    elif name == 'cupy':
        import cupy
        print(float((cupy.ones((64, 64)) @ cupy.ones((64, 64))).sum()))
    else:
        import torch
        import triton
        import triton.language as tl

        @triton.jit
        def add(x, y, n: tl.constexpr):
            i = tl.arange(0, n)
            tl.store(y + i, tl.load(x + i) + 1)

        a = torch.zeros(128, device='cuda')
        add[(1,)](a, a, 128)
        print(float(a.sum()))


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
