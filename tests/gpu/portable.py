#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The bundle for another machine, as make gpu-bundle makes it: its programs need glibc 2.17 and nothing else, and it runs in
roots of Debian 11 (glibc 2.31) that contain only Python and a shell.

    tests/gpu/portable.py [NAME...]
"""
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
sys.path.insert(0, os.path.join(ROOT, 'tests', 'check'))
import cases  # noqa: E402
import step  # noqa: E402
from cases import Skip  # noqa: E402

WHEEL = ROOT + '/build/wheel'
FAKES = ('libcupti.so.13', 'libcupti.so.12', 'libcupti.so.11.8', 'several/libcupti.so.13', 'libcuda.so.1', 'gpu/libcuda.so.1',
         'gpu/libcudart.so.13', 'gpu/libcublas.so.13', 'gpu/libcudnn.so.9')
# In place of Python: answers what ./quick asks, then loads NVIDIA's libraries instead of running the checks.
LOADS = '''#!/bin/sh
[ "$1" = -c ] && exec python3 "$@"
exec python3 -c 'import ctypes, glob
for path in sorted(glob.glob("/tfprof-gpu/cuda/**/lib*", recursive=True)):
    ctypes.CDLL(path)
    print("loaded", path)'
'''


def run(words, ok=(0,), **more):
    p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    text = p.stdout.decode('utf-8', 'replace')
    if p.returncode == 3 and 3 not in ok:
        raise Skip('compiler, sources or packages cannot be downloaded: ' + text[-300:])
    assert p.returncode in ok, '%s: status %d: %s' % (words, p.returncode, text[-3000:])
    return text


def make(t):
    """Builds the bundle, and fakes for the same machines, once."""
    with step.locked(WHEEL):
        run([ROOT + '/packaging/portable.sh', 'x86_64', 'out/tfprof', 'out/libtfprof_cupti.so', 'obj/gpu/program'] +
            ['obj/fakes/' + n for n in ('dump', 'ranges.so') + FAKES])
        run([sys.executable, '-B', HERE + '/bundle.py', '--out', t.tar])
        shutil.copytree(WHEEL + '/x86_64/obj/fakes', t.fakes)


def root_of_debian(*packages):
    """Makes a root of Debian 11 with the bundle, the fakes, and a replacement for Python that runs the checks."""
    run([ROOT + '/packaging/debian.py', '--closed', ROOT + '/build/bullseye', 'root', 'libc6', 'dash', 'coreutils', *packages])
    with tarfile.open(T.tar) as f:
        f.extractall('root')
    shutil.copytree(T.fakes, 'root/fakes')
    shutil.copytree(HERE + '/stand_in', 'root/tfprof-gpu/tests/gpu/stand_in')
    for folder in ('proc', 'dev', 'tmp', 'root'):
        os.makedirs('root/' + folder, exist_ok=True)


def inside(command, ok=(0,)):
    """Runs a command in the root, with processes and devices."""
    script = ('mount -t proc proc root/proc && mount --rbind /dev root/dev && '
              'exec chroot root /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root LC_ALL=C.UTF-8 /bin/sh -c "$0"')
    return run(['unshare', '--mount', '--pid', '--fork', 'sh', '-c', script, command], ok)


def needs_glibc_alone(t):
    """Each program needs glibc 2.17 or older and no other library; the README says so."""
    with tarfile.open(t.tar) as f:
        f.extractall('.')
    for path in glob.glob('tfprof-gpu/bin/*'):
        said = run(['readelf', '-dVW', path])
        needed = re.findall(r'NEEDED.*\[(.*)\]', said)
        assert all(re.match(r'(ld-linux|libc|libm|libdl|libpthread)\b', n) for n in needed), (path, needed)
        versions = [tuple(map(int, v.split('.'))) for v in re.findall(r'Name: GLIBC_(\d+\.\d+)', said)]
        assert versions and max(versions) <= (2, 17), (path, max(versions))
    with open('tfprof-gpu/README') as f:
        assert 'glibc 2.17 or newer' in f.read()


def starts(_):
    """In Debian 11 without libgcc_s, programs start, NVIDIA's libraries are loaded, and the checks say that there is no GPU."""
    root_of_debian('python3')
    for path in glob.glob('root/lib/x86_64-linux-gnu/libgcc_s*') + glob.glob('root/usr/lib/x86_64-linux-gnu/libgcc_s*'):
        os.unlink(path)
    assert '2.31' in inside('ls /lib/x86_64-linux-gnu/libc-*')
    assert inside('/tfprof-gpu/bin/tfprof --version').startswith('tfprof ')
    assert 'first lines of program.c' in inside('/tfprof-gpu/bin/program', ok=(2,))
    text = inside('cd /tfprof-gpu && ./quick')
    assert 'there is no GPU here' in text and text.endswith('0 passed, 0 failed, 16 skipped\n'), text
    with open('root/loads', 'w') as f:
        f.write(LOADS)
    os.chmod('root/loads', 0o755)
    text = inside('cd /tfprof-gpu && PYTHON=/loads ./quick')
    assert text.count('loaded ') == 5, text


def rehearsed(_):
    """In Debian 11 all checks pass on fakes, with one command that leaves one tar."""
    root_of_debian('python3')
    text = inside('cd /tfprof-gpu && rm -r cuda && mkdir cuda && cp /fakes/libcupti* /fakes/gpu/libcudart* cuda && cp -r '
                  '/fakes/several cuda/newest && ./quick --rehearse --fakes /fakes --limit 600', ok=(0, 1))
    assert text.endswith('\n16 passed, 0 failed, 0 skipped\n'), text
    with tarfile.open('root/tfprof-gpu/tfprof-gpu-results.tar.gz') as f:
        assert 'tfprof-gpu-results/results.txt' in f.getnames(), f.getnames()


class T:
    """The bundle, and fakes beside it."""
    tar = fakes = ''


def main():
    names = sys.argv[1:]
    missing = [tool for tool in ('apt-get', 'dpkg-deb', 'unshare', 'chroot', 'readelf') if not shutil.which(tool)]
    if missing or os.getuid() or os.uname().machine != 'x86_64':
        print('skipped: %s\n0 passed, 0 failed, 3 skipped' % (
            'missing: ' + ' '.join(missing) if missing else 'needs root, to change the root folder, and x86-64'))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        T.tar, T.fakes = folder + '/tfprof-gpu.tar.gz', folder + '/fakes'
        try:
            make(T)
        except Skip as e:
            print('skipped: %s\n0 passed, 0 failed, 3 skipped' % e)
            return 0
        return cases.run([f for f in (needs_glibc_alone, starts, rehearsed) if not names or f.__name__ in names], T)


if __name__ == '__main__':
    sys.exit(main())
