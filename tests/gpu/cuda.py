# SPDX-License-Identifier: Apache-2.0
"""Just enough of the CUDA driver by ctypes, with kernels in PTX: no compiler and no toolkit needed."""
import ctypes
import ctypes.util
import threading

PTX = b"""
.version 6.4
.target sm_70
.address_size 64
.visible .entry empty_kernel() { ret; }
.visible .entry spin_kernel(.param .u64 ns)
{
	.reg .u64 %begin, %now, %ns;
	.reg .pred %more;
	ld.param.u64 %ns, [ns];
	mov.u64 %begin, %globaltimer;
again:
	mov.u64 %now, %globaltimer;
	sub.u64 %now, %now, %begin;
	setp.lt.u64 %more, %now, %ns;
	@%more bra again;
	ret;
}
\0"""


def load():
    """The driver, or None: there is none, or no GPU."""
    try:
        cuda = ctypes.CDLL('libcuda.so.1')
    except OSError:
        return None
    count = ctypes.c_int()
    if not hasattr(cuda, 'cuDeviceGetCount') or cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)):
        return None
    return cuda if count.value else None


class Error(Exception):
    pass


class Gpu:
    """A context on the first GPU, with the kernels."""

    def __init__(self):
        self.lib = load()
        if not self.lib:
            raise Error('there is no GPU')
        device = ctypes.c_int()
        self.context, self.module = ctypes.c_void_p(), ctypes.c_void_p()
        self('cuDeviceGet', ctypes.byref(device), 0)
        self.device = device.value
        self('cuDevicePrimaryCtxRetain', ctypes.byref(self.context), device)
        self('cuCtxSetCurrent', self.context)
        self('cuModuleLoadData', ctypes.byref(self.module), PTX)
        self.empty, self.spinner = self.function(b'empty_kernel'), self.function(b'spin_kernel')

    def __call__(self, name, *args):
        status = getattr(self.lib, name)(*args)
        if status:
            raise Error('%s failed: %d' % (name, status))

    def function(self, name):
        f = ctypes.c_void_p()
        self('cuModuleGetFunction', ctypes.byref(f), self.module, name)
        return f

    def launch(self, n=1, stream=None):
        go, f, s = self.lib.cuLaunchKernel, self.empty, ctypes.c_void_p(stream)
        for _ in range(n):
            status = go(f, 1, 1, 1, 1, 1, 1, 0, s, None, None)
            if status:
                raise Error('cuLaunchKernel failed: %d' % status)

    def spin(self, ns, n=1, stream=None):
        value = ctypes.c_uint64(int(ns))
        params = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(value), ctypes.c_void_p))
        go, f, s = self.lib.cuLaunchKernel, self.spinner, ctypes.c_void_p(stream)
        for _ in range(n):
            if go(f, 1, 1, 1, 1, 1, 1, 0, s, params, None):
                raise Error('cuLaunchKernel failed')

    def sync(self):
        self('cuCtxSynchronize')

    def alloc(self, n):
        p = ctypes.c_uint64()
        self('cuMemAlloc_v2', ctypes.byref(p), ctypes.c_size_t(n))
        return p

    def free(self, p):
        self('cuMemFree_v2', p)

    def copies(self, n):
        host = (ctypes.c_char * n)()
        p = self.alloc(n)
        self('cuMemcpyHtoD_v2', p, host, ctypes.c_size_t(n))
        self('cuMemcpyDtoH_v2', host, p, ctypes.c_size_t(n))
        self('cuMemcpyDtoD_v2', p, p, ctypes.c_size_t(n // 2))
        self('cuMemsetD8_v2', p, ctypes.c_ubyte(1), ctypes.c_size_t(n))
        self.free(p)

    def graph(self, nodes):
        """An instantiated graph of that many empty kernels one after the other, and the stream to launch it on."""
        stream, graph, made = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self('cuStreamCreate', ctypes.byref(stream), 1)
        self('cuStreamBeginCapture_v2', stream, 0)
        self.launch(nodes, stream.value)
        self('cuStreamEndCapture', stream, ctypes.byref(graph))
        self('cuGraphInstantiateWithFlags', ctypes.byref(made), graph, ctypes.c_ulonglong(0))
        return made, stream

    def replay(self, made, n=1):
        for _ in range(n):
            self('cuGraphLaunch', made[0], made[1])

    def events(self, work):
        """Milliseconds that CUDA's own events measure."""
        a, b, ms = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_float()
        for e in (a, b):
            self('cuEventCreate', ctypes.byref(e), 0)
        self('cuEventRecord', a, None)
        work()
        self('cuEventRecord', b, None)
        self('cuEventSynchronize', b)
        self('cuEventElapsedTime', ctypes.byref(ms), a, b)
        return ms.value


def in_threads(n, work):
    threads = [threading.Thread(target=work) for _ in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
