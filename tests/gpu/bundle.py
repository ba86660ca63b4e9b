#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one tar for a machine that has a GPU, its driver and Python 3, and nothing else: program, collector, test
programs, the libraries that they are linked to, and NVIDIA's libcupti and libcudart (from PyPI, or of --cuda).

    tests/gpu/bundle.py --bin build/release/bundle --out build/tfprof-gpu.tar.gz
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
# The C library is the machine's own, as for the recorded programs.
SYSTEM = re.compile(r'(linux-vdso|ld-linux|libc|libm|libdl|libpthread|librt|libutil)\b')
PROGRAMS = ('tfprof', 'libtfprof_cupti.so', 'dump', 'ranges.so', 'program')
README = """tfprof for a machine with an NVIDIA GPU
=======================================

Needs: Linux on x86-64 with glibc %s or newer, the NVIDIA driver, Python 3.8 or newer (its standard library alone).

    ./quick                    eleven checks, less than nine minutes; the results are tfprof-gpu-results.tar.gz
    ./quick --out FOLDER 01 03 some of them, results in FOLDER and FOLDER.tar.gz
    bin/tfprof record -- PROGRAM

Checks with PyTorch and JAX run where these are installed, and are reported as not run elsewhere.
"""
QUICK = """#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit
TFPROF_GPU_LIBRARIES=${TFPROF_GPU_LIBRARIES:-$here/cuda}
export TFPROF_GPU_LIBRARIES
exec "${PYTHON:-python3}" -B "$here/tests/gpu/run.py" --quick --bin "$here/bin" --dump "$here/bin/dump" \\
	--gpu-program "$here/bin/program" "$@"
"""


def needed(path):
    """Returns the libraries that the loader finds for a program, except those of the C library."""
    text = subprocess.run(['ldd', path], stdout=subprocess.PIPE, check=True).stdout.decode()
    if 'not found' in text:
        sys.exit('%s: a library is missing:\n%s' % (path, text))
    return {name: at for name, at in re.findall(r'^\s*(\S+) => (/\S+)', text, re.M) if not SYSTEM.match(name)}


def glibc_of(paths):
    """Returns the newest version of glibc that one of the files needs."""
    found = set()
    for path in paths:
        with open(path, 'rb') as f:
            found |= {tuple(map(int, v.split(b'.'))) for v in re.findall(rb'\0GLIBC_(\d+\.\d+)(?=[.\0])', f.read())}
    return '.'.join(map(str, max(found)))


def cuda_libraries(to):
    """Returns libcupti and libcudart of NVIDIA's packages."""
    with tempfile.TemporaryDirectory() as d:
        p = subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', '--no-deps', '--only-binary=:all:', '--no-compile',
                            '--disable-pip-version-check', '--root-user-action=ignore', '--target', d] + list(PACKAGES),
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if p.returncode:
            sys.exit('pip cannot install %s:\n%s' % (' '.join(PACKAGES), p.stderr.decode()))
        copy(to, *(x for n in ('libcupti.so.*', 'libcudart.so.*') for x in glob.glob(d + '/nvidia/**/' + n, recursive=True)))
        licences = glob.glob(d + '/*.dist-info/**/License*', recursive=True)
        for path in licences:
            shutil.copy(path, os.path.join(to, path.split('.dist-info')[0].rsplit('/', 1)[1] + '-License.txt'))


def copy(to, *paths):
    os.makedirs(to, exist_ok=True)
    for path in paths:
        shutil.copy(os.path.realpath(path), os.path.join(to, os.path.basename(path)))


def write(path, text, mode=0o644):
    with open(path, 'w') as f:
        f.write(text)
    os.chmod(path, mode)


def fill(folder):
    copy(folder + '/bin', *(os.path.join(ARGS.bin, name) for name in PROGRAMS))
    libraries = {}
    for path in glob.glob(folder + '/bin/*'):
        libraries.update(needed(os.path.join(ARGS.bin, os.path.basename(path))))
    copy(folder + '/lib')
    for name, path in libraries.items():
        shutil.copy(os.path.realpath(path), os.path.join(folder, 'lib', name))
    if ARGS.cuda:
        copy(folder + '/cuda', *(p for n in ('libcupti.so.1[0-9]', 'libcudart.so.*') for d in ARGS.cuda.split(':')
                                 for p in glob.glob(os.path.join(d, n))))
    else:
        cuda_libraries(folder + '/cuda')
    copy(folder + '/tests/gpu', *glob.glob(HERE + '/*.py'), HERE + '/kernels.ptx')
    copy(folder, ROOT + '/LICENSE')
    write(folder + '/README', README % glibc_of(glob.glob(folder + '/bin/*') + glob.glob(folder + '/lib/*')))
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
    p.add_argument('--bin', default='build/release/bundle', help='the folder of the programs, linked for the bundle')
    p.add_argument('--cuda', default='', help='folders with libcupti and libcudart, instead of the packages')
    p.add_argument('--out', default='build/tfprof-gpu.tar.gz')
    ARGS = p.parse_args()
    main()
