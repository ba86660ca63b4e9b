# SPDX-License-Identifier: Apache-2.0
"""The build backend for `pip install ./python` and for source distributions: builds tfprof with make in the root of the
sources, for this machine, and packs a wheel. packaging/wheel.sh makes wheels for other machines."""
import gzip
import io
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile

import wheel

BUILT = ('build/tfprof', 'build/libtfprof.so', 'build/libtfprof_cupti.so')
# Requirements of a build: programs, and modules of pkg-config. Release archives contain the code that protoc generates.
PROGRAMS, GENERATORS = ('make', 'pkg-config'), ('protoc', 'protoc-gen-c')
MODULES = ('libprotobuf-c', 'libpcre2-8', 'zlib')
LEFT_OUT, KEPT = ('tests/', 'testdata/', '.ci/', '.github/'), ('tests/rules.mk',)  # for source distributions


def _generated():
    return os.path.isdir(os.path.join(wheel.ROOT, 'generated'))


def missing():
    """Returns the programs and libraries that a build needs and this machine lacks."""
    compilers = (os.environ.get('CC') or 'cc').split()[:1] + ['gcc', 'clang']
    found = [] if any(map(shutil.which, compilers)) else ['a C compiler']
    found += [p for p in PROGRAMS + (() if _generated() else GENERATORS) if not shutil.which(p)]
    if 'pkg-config' not in found:
        found += [m for m in MODULES if subprocess.call(['pkg-config', '--exists', m])]
    return found


def _make(targets, folder=wheel.ROOT):
    # The job slots of a make that runs pip must not be used by the make below.
    env = {k: v for k, v in os.environ.items() if k not in ('MAKEFLAGS', 'MAKELEVEL', 'MFLAGS', 'MAKEOVERRIDES')}
    return subprocess.call(['make', '--no-print-directory', '-C', folder, *targets], env=env, stdout=sys.stderr)


def _build():
    if not os.path.exists(os.path.join(wheel.ROOT, 'Makefile')):
        raise SystemExit('tfprof is built from its whole repository: pip install ./python in a clone of it')
    lacks = missing()
    if lacks:
        raise SystemExit('tfprof cannot be built: missing: %s; "sh tools/deps.sh build" in the sources installs what is needed'
                         % ', '.join(lacks))
    status = _make(BUILT)
    if status:
        raise SystemExit('tfprof cannot be built (status %d of make)' % status)
    return sysconfig.get_platform().replace('-', '_').replace('.', '_')


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    platform = _build()
    return wheel.pack(wheel_directory, [platform], os.path.join(wheel.ROOT, 'build'))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    platform = _build()
    return wheel.pack_editable(wheel_directory, platform, os.path.join(wheel.ROOT, 'build'))


# ---- source distributions -----------------------------------------------------------------------
def _sources():
    """Returns the paths of the source files, below the root."""
    p = subprocess.run(['git', '-C', wheel.ROOT, 'ls-files', '-z'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) \
        if os.path.exists(os.path.join(wheel.ROOT, '.git')) and shutil.which('git') else None
    if p and not p.returncode:
        names = p.stdout.decode().split('\0')
    else:  # no repository: a source distribution
        names = []
        for folder, folders, files in os.walk(wheel.ROOT):
            folders[:] = [f for f in folders if f not in ('build', '__pycache__') and not f.endswith('.egg-info')]
            names += [os.path.relpath(os.path.join(folder, f), wheel.ROOT) for f in files]
    return sorted(n for n in names if n and (n in KEPT or not n.startswith(LEFT_OUT)) and os.path.isfile(os.path.join(wheel.ROOT, n)))


def _project():
    """Returns pyproject.toml for the root of a source distribution."""
    text = wheel.text('python', 'pyproject.toml')
    return text.replace('backend-path = ["build_backend"]', 'backend-path = ["python/build_backend"]').replace(
        'readme = "README.md"', 'readme = "python/README.md"')


def _seconds():
    given = os.environ.get('SOURCE_DATE_EPOCH')
    p = subprocess.run(['git', '-C', wheel.ROOT, 'log', '-1', '--format=%ct'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) \
        if not given and shutil.which('git') else None
    return int(given or (p.stdout.strip() if p else b'') or 315532800)


def build_sdist(sdist_directory, config_settings=None):
    """Packs the sources, with the code that protoc, esbuild and Python generate. Equal sources give equal bytes."""
    name = 'tfprof-%s' % wheel.version()
    with tempfile.TemporaryDirectory() as work:
        root = os.path.join(work, name)
        for n in _sources():
            os.makedirs(os.path.dirname(os.path.join(root, n)), exist_ok=True)
            shutil.copy(os.path.join(wheel.ROOT, n), os.path.join(root, n))
        if not _generated():
            protos = sorted(n[:-6] for n in os.listdir(os.path.join(root, 'proto')) if n.endswith('.proto'))
            if _make(['GEN=generated', 'HAVE_WEB=1', 'generated/web-1.c'] + ['generated/%s.pb-c.c' % p for p in protos], root):
                raise SystemExit('the generated code cannot be made; "sh tools/deps.sh build" installs what it needs')
            shutil.rmtree(os.path.join(root, 'build'), ignore_errors=True)
        for path, text in (('pyproject.toml', _project()), ('PKG-INFO', wheel.metadata())):
            with open(os.path.join(root, path), 'w', encoding='utf-8') as f:
                f.write(text)
        _pack(work, name, os.path.join(sdist_directory, name + '.tar.gz'))
    return name + '.tar.gz'


def _pack(work, name, to):
    seconds = _seconds()

    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ''
        entry.mtime, entry.mode = seconds, 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode='w', format=tarfile.PAX_FORMAT) as tar:
        for folder, folders, files in os.walk(os.path.join(work, name)):
            folders.sort()
            for f in sorted(files):
                path = os.path.join(folder, f)
                tar.add(path, os.path.relpath(path, work), filter=plain)
    with open(to, 'wb') as f, gzip.GzipFile(filename='', fileobj=f, mode='wb', compresslevel=9, mtime=0) as z:
        z.write(whole.getvalue())


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel
