#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs under observation in the checks on a GPU: tests/gpu/work.py NAME [arguments]."""
import ctypes
import json
import os
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cuda


def launches(n):
    gpu = cuda.Gpu()
    gpu.launch(int(n))
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


def graphs(nodes, replays):
    gpu = cuda.Gpu()
    made = gpu.graph(int(nodes))
    for _ in range(int(replays)):
        gpu.replay(made)
    gpu.sync()


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
        time.sleep(1.2)  # the last flush is over
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
        sys.exit(0)  # it has no CUDA, as always
    os.waitpid(child, 0)
    gpu.launch(100)
    gpu.sync()


def taken():
    """Has CUPTI for itself before the driver is initialised."""
    cupti = ctypes.CDLL(os.environ['TFPROF_CUPTI_PATH'], ctypes.RTLD_GLOBAL)
    handle = ctypes.c_void_p()
    keep = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p)(lambda *_: None)
    ctypes.CDLL('libcuda.so.1')
    print(json.dumps({'subscribe': cupti.cuptiSubscribe(ctypes.byref(handle), keep, None)}))
    launches(100)


def busy(seconds, every='0'):
    """Launches until the time is over; tells the memory of the process now and then."""
    gpu = cuda.Gpu()
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
    print(json.dumps({'launches': n, 'resident': said}))


def timed(what, n):
    """Seconds that the work takes, without start and end of the process."""
    gpu = cuda.Gpu()
    n = int(n)
    made = gpu.graph(100) if what == 'graph' else None
    works = {'empty': lambda: gpu.launch(n), 'spin20': lambda: gpu.spin(20000, n),
             'spin200': lambda: gpu.spin(200000, n), 'graph': lambda: gpu.replay(made, n)}
    works[what]()
    gpu.sync()
    begin = time.perf_counter()
    works[what]()
    gpu.sync()
    print(json.dumps(time.perf_counter() - begin))


def buffers(folder):
    """Keeps raw buffers of each kind of record as CUPTI fills them, one file a kind."""
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


def jax_step():
    import jax
    import jax.numpy as jnp

    @jax.jit
    def f(x):
        with jax.named_scope('layer'):
            return jnp.tanh(x @ x).sum()

    print(json.dumps(float(f(jnp.ones((512, 512))))))


def library(name):
    """Work by a library that launches through the driver."""
    if name == 'cupy':
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
