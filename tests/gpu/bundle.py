#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one tar file for a machine that has only a GPU, its driver and Python 3: program, collector, test programs,
libgcc_s, and NVIDIA's libcupti and libcudart (from PyPI, or of --cuda). The programs are those that packaging/portable.sh builds.

    tests/gpu/bundle.py --bin build/wheel/x86_64/out --obj build/wheel/x86_64/obj --out build/tfprof-gpu.tar.gz
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# For drivers of CUDA 12 and of CUDA 13; the first whose CUDA is not newer than the driver is used.
PACKAGES = ('nvidia-cuda-cupti==13.0.85', 'nvidia-cuda-runtime==13.0.96', 'nvidia-cuda-cupti-cu12==12.9.79',
            'nvidia-cuda-runtime-cu12==12.9.79')
# The first version with hardware tracing by CUPTI_ENABLE_HW_TRACE; several clients can use it.
NEWEST = ('nvidia-cuda-cupti==13.5.25',)
# The C library is the machine's own, as for the recorded programs.
SYSTEM = re.compile(r'(ld-linux|libc|libm|libdl|libpthread|librt|libutil)\b')
GLIBC = (2, 17)  # the newest glibc version that a program may need
PROGRAMS = ('{bin}/tfprof', '{bin}/libtfprof_cupti.so', '{obj}/fakes/dump', '{obj}/fakes/ranges.so', '{obj}/gpu/program')
README = """tfprof for a machine with an NVIDIA GPU
=======================================

Needs: Linux on x86-64 with glibc %s or newer, the NVIDIA driver, Python 3.8 or newer (its standard library alone).

    ./quick                    sixteen checks, about ten minutes; the results are tfprof-gpu-results.tar.gz
    ./quick --out FOLDER 01 03 some of them, results in FOLDER and FOLDER.tar.gz
    bin/tfprof record -- PROGRAM

Checks with PyTorch and JAX run where these are installed, and are reported as not run elsewhere.
"""
QUICK = """#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit
TFPROF_GPU_LIBRARIES=${TFPROF_GPU_LIBRARIES:-$here/cuda}
export TFPROF_GPU_LIBRARIES
# libcupti needs it, and a small system may have none.
"${PYTHON:-python3}" -c 'import ctypes; ctypes.CDLL("libgcc_s.so.1")' 2>/dev/null ||
	export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "${PYTHON:-python3}" -B "$here/tests/gpu/run.py" --quick --bin "$here/bin" --dump "$here/bin/dump" \\
	--gpu-program "$here/bin/program" "$@"
"""


def glibc_of(path):
    """Returns the newest version of glibc that a file needs. Ends the program if it needs another library than those of glibc."""
    said = subprocess.run(['readelf', '-dVW', path], stdout=subprocess.PIPE, check=True).stdout.decode()
    other = [n for n in re.findall(r'NEEDED.*\[(.*)\]', said) if not SYSTEM.match(n)]
    newest = max(tuple(map(int, v.split('.'))) for v in re.findall(r'Name: GLIBC_(\d+\.\d+)', said))
    if not ARGS.native and (other or newest > GLIBC):
        sys.exit('%s needs glibc %d.%d %s: build it with packaging/portable.sh' % (path, newest[0], newest[1], ' '.join(other)))
    return newest


def install(to, *packages):
    p = subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', '--no-deps', '--only-binary=:all:', '--no-compile',
                        '--disable-pip-version-check', '--root-user-action=ignore', '--target', to] + list(packages),
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if p.returncode:
        sys.exit('pip cannot install %s:\n%s' % (' '.join(packages), p.stderr.decode()))


def cuda_libraries(to, *packages):
    """Copies libcupti and libcudart of NVIDIA's packages, with their licences."""
    with tempfile.TemporaryDirectory() as d:
        install(d, *packages)
        copy(to, *(x for n in ('libcupti.so.*', 'libcudart.so.*') for x in glob.glob(d + '/nvidia/**/' + n, recursive=True)))
        for path in glob.glob(d + '/*.dist-info/**/License*', recursive=True):
            shutil.copy(path, os.path.join(to, path.split('.dist-info')[0].rsplit('/', 1)[1] + '-License.txt'))


def libgcc(to):
    """Copies the libgcc_s of Debian 11, which needs an older glibc than the libgcc_s of newer systems."""
    with tempfile.TemporaryDirectory() as d:
        p = subprocess.run([ROOT + '/packaging/debian.py', ROOT + '/build/bullseye', d, 'libgcc-s1', 'gcc-10-base'])
        if p.returncode:
            sys.exit(p.returncode)
        copy(to, *glob.glob(d + '/lib/*/libgcc_s.so.1'))
        shutil.copy(d + '/usr/share/doc/gcc-10-base/copyright', to + '/libgcc_s-License.txt')


def copy(to, *paths):
    os.makedirs(to, exist_ok=True)
    for path in paths:
        shutil.copy(os.path.realpath(path), os.path.join(to, os.path.basename(path)))


def write(path, text, mode=0o644):
    with open(path, 'w') as f:
        f.write(text)
    os.chmod(path, mode)


def fill(folder):
    programs = [p.format(bin=ARGS.bin, obj=ARGS.obj) for p in PROGRAMS]
    copy(folder + '/bin', *programs)
    copy(folder + '/lib')
    if ARGS.cuda:
        for place in ARGS.cuda.split(':'):
            copy(folder + '/cuda', *(p for n in ('libcupti.so.1[0-9]', 'libcudart.so.*') for p in glob.glob(os.path.join(place, n))))
        copy(folder + '/cuda/newest', *glob.glob(ARGS.cuda.split(':')[0] + '/several/libcupti.so.*'))
    else:
        cuda_libraries(folder + '/cuda', *PACKAGES)
        cuda_libraries(folder + '/cuda/newest', *NEWEST)
    if not ARGS.native:
        libgcc(folder + '/lib')
    copy(folder + '/tests/gpu', *glob.glob(HERE + '/*.py'), HERE + '/kernels.ptx')
    copy(folder, ROOT + '/LICENSE')
    write(folder + '/README', README % '.'.join(map(str, max(map(glibc_of, programs)))))
    write(folder + '/quick', QUICK, 0o755)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, 'tfprof-gpu')
        fill(folder)
        with tarfile.open(ARGS.out, 'w:gz') as tar:
            tar.add(folder, arcname='tfprof-gpu')
    print('%s: %.1f MB' % (ARGS.out, os.path.getsize(ARGS.out) / 1e6))


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--bin', default='build/wheel/x86_64/out', help='the folder of the program and the collector')
    p.add_argument('--obj', default='build/wheel/x86_64/obj', help='the folder of the test programs')
    p.add_argument('--native', action='store_true', help='for this machine: programs may need its libraries')
    p.add_argument('--cuda', default='', help='folders with libcupti and libcudart, instead of the packages')
    p.add_argument('--out', default='build/tfprof-gpu.tar.gz')
    ARGS = p.parse_args()
    main()
