# SPDX-License-Identifier: Apache-2.0
"""The part of the CUDA driver that the checks use, by ctypes, with kernels in PTX: needs no compiler and no toolkit."""
import ctypes
import glob
import os
import re
import sys

def kernels():
    """Returns the PTX of the kernels for each target, newest first."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'kernels.ptx')) as f:
        text = f.read()
    body = text[text.index('.address_size'):]
    return ['.version %s\n.target %s\n%s\0' % (version, target, body)
            for target, version in re.findall(r'^// (sm_\d+) (\d+\.\d+)$', text, re.M)]


def find(name):
    """Returns the newest library with a name in a toolkit or in NVIDIA's packages, otherwise None."""
    roots = os.environ.get('TFPROF_GPU_LIBRARIES', '').split(':') + [os.environ.get('CUDA_HOME', ''), '/usr/local/cuda'] + sys.path
    below = ('', 'lib64', 'extras/CUPTI/lib64', 'nvidia/cu13/lib', 'nvidia/cuda_cupti/lib', 'nvidia/cuda_runtime/lib',
             'nvidia/cublas/lib', 'nvidia/cudnn/lib')
    pattern = name + ('*' if '.so' in name else '.so.*')
    all_ = [p for r in roots if r for b in below for p in sorted(glob.glob(os.path.join(r, b, pattern)), reverse=True)]
    return os.path.abspath(all_[0]) if all_ else None


def cupti_for(driver):
    """Returns the newest libcupti that is not newer than the driver (version: a number such as 13000), otherwise None."""
    return next((p for p in map(find, ('libcupti.so.%d' % n for n in range(driver // 1000, 10, -1))) if p), None)


def newest_cupti():
    """Returns the libcupti in a folder `newest` of TFPROF_GPU_LIBRARIES, otherwise ''."""
    roots = os.environ.get('TFPROF_GPU_LIBRARIES', '').split(':')
    all_ = [p for r in roots if r for p in sorted(glob.glob(r + '/newest/libcupti.so.*'))]
    return os.path.abspath(all_[0]) if all_ else ''


def driver_version():
    """Returns the version of the driver, or 0 without a driver or a GPU."""
    cuda, version = load(), ctypes.c_int()
    return 0 if not cuda or cuda.cuDriverGetVersion(ctypes.byref(version)) else version.value


def load():
    """Returns the driver, or None without a driver or a GPU."""
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


class Config(ctypes.Structure):
    """The argument of cuLaunchKernelEx."""
    _fields_ = [('grid', ctypes.c_uint * 3), ('block', ctypes.c_uint * 3), ('shared', ctypes.c_uint),
                ('stream', ctypes.c_void_p), ('attributes', ctypes.c_void_p), ('count', ctypes.c_uint)]


class Dim3(ctypes.Structure):
    _fields_ = [('x', ctypes.c_uint), ('y', ctypes.c_uint), ('z', ctypes.c_uint)]


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
        for ptx in kernels():
            status = self.lib.cuModuleLoadData(ctypes.byref(self.module), ptx.encode())
            if not status:
                break
        else:
            raise Error('cuModuleLoadData failed: %d' % status)
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

    def launch_ex(self, n=1):
        config = Config((1, 1, 1), (1, 1, 1), 0, None, None, 0)
        for _ in range(n):
            self('cuLaunchKernelEx', ctypes.byref(config), self.empty, None, None)

    def memory_left(self):
        left, all_ = ctypes.c_size_t(), ctypes.c_size_t()
        self('cuMemGetInfo_v2', ctypes.byref(left), ctypes.byref(all_))
        return left.value

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
        """Returns an instantiated graph of that many consecutive empty kernels, and the stream to launch it on."""
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
        """Returns a time measured with CUDA events, milliseconds."""
        a, b, ms = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_float()
        for e in (a, b):
            self('cuEventCreate', ctypes.byref(e), 0)
        self('cuEventRecord', a, None)
        work()
        self('cuEventRecord', b, None)
        self('cuEventSynchronize', b)
        self('cuEventElapsedTime', ctypes.byref(ms), a, b)
        return ms.value


class Runtime:
    """Launches through the runtime, with kernels that it loads from PTX as libraries do; needs CUDA 12.8."""

    def __init__(self):
        path = find('libcudart')
        if not path:
            raise Error('libcudart is missing')
        self.lib = ctypes.CDLL(path)
        if not hasattr(self.lib, 'cudaLibraryLoadData'):
            raise Error('libcudart is older than CUDA 12.8')
        library, self.kernel = ctypes.c_void_p(), ctypes.c_void_p()
        ptx = next(x for x in kernels() if '.target sm_80' in x)  # runs on every GPU since 2020
        status = self.lib.cudaLibraryLoadData(ctypes.byref(library), ptx.encode(), None, None, 0, None, None, 0)
        status = status or self.lib.cudaLibraryGetKernel(ctypes.byref(self.kernel), library, b'empty_kernel')
        if status:
            raise Error('the runtime cannot load a kernel: %d' % status)

    def launch(self, n):
        one = Dim3(1, 1, 1)
        for _ in range(n):
            status = self.lib.cudaLaunchKernel(self.kernel, one, one, None, ctypes.c_size_t(0), None)
            if status:
                raise Error('cudaLaunchKernel failed: %d' % status)
        self.lib.cudaDeviceSynchronize()


class Ranges:
    """NVTX ranges from a module of the tests."""

    def __init__(self):
        self.lib = ctypes.CDLL(os.environ['TFPROF_GPU_RANGES'])

    def push(self, text, domain=None):
        if domain:
            self.lib.ranges_push_in(domain.encode(), text.encode())
        else:
            self.lib.ranges_push(text.encode())

    def pop(self, domain=None):
        if domain:
            self.lib.ranges_pop_in(domain.encode())
        else:
            self.lib.ranges_pop()
