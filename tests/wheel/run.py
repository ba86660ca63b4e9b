#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a wheel, installs it in an empty virtual environment, and uses the program, the package and the collector. Without
--portable, pip builds it from ./python for this machine. With it, packaging/wheel.sh builds it twice, with equal bytes, for any
Linux with glibc 2.17, the second time in another folder. --wheel tests a wheel that is built already, as far as this machine can run it.

    tests/wheel/run.py [--portable | --wheel FILE] [NAME...]
"""
import argparse
import functools
import glob
import hashlib
import http.server
import importlib.util
import json
import os
import pty
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'check'))
import cases  # noqa: E402
import step  # noqa: E402
from cases import Skip  # noqa: E402

SMALL = os.path.join(ROOT, 'testdata', 'small')
# The newest symbol versions that manylinux2014 allows.
NEWEST = {'GLIBC': (2, 17)}
SYSTEM = {'libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0', 'librt.so.1', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'}
MUSL = {'libc.so'}
MACHINES = {'x86_64': b'\x3e\0', 'aarch64': b'\xb7\0'}  # e_machine of ELF files
ASK = '''import tfprof
p = tfprof.open('%s/views.graph.pbtxt', '%s/views.run_meta_0.pbtxt')
assert p.scope().children and tfprof.__version__ == '%s', tfprof.__version__
assert {x.name for x in tfprof.libraries()} >= {'pcre2', 'zlib'}
'''


def plain():
    """Returns the environment without variables of make, Python and tfprof."""
    return {k: v for k, v in os.environ.items() if not k.startswith(('TFPROF_', 'PYTHON', 'MAKE', 'MFLAGS', 'PIP_NO_BINARY'))}


def run(words, **more):
    p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       **dict({'env': plain()}, **more))
    assert p.returncode == 0, '%s: status %d: %s' % (words, p.returncode, (p.stdout + p.stderr).decode('utf-8', 'replace')[-1500:])
    return p.stdout.decode()


def version():
    with open(os.path.join(ROOT, 'Makefile')) as f:
        return re.search(r'^VERSION := (\S+)$', f.read(), re.M).group(1)


def digest(path):
    with open(path, 'rb') as f:
        return hashlib.sha256(f.read()).hexdigest()


def build(portable, folder, root=ROOT):
    """Builds a wheel of the sources in root into the folder. Returns its path."""
    if portable:
        p = subprocess.run([os.path.join(root, 'packaging', 'wheel.sh')], stdin=subprocess.DEVNULL, env=plain(),
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if p.returncode == 3:
            raise Skip('compiler or sources cannot be downloaded')
        assert p.returncode == 0, p.stdout.decode('utf-8', 'replace')[-1500:]
        for path in glob.glob(os.path.join(root, 'build/wheel/*manylinux*%s.whl' % os.uname().machine)):
            shutil.copy(path, folder)
    else:
        run([sys.executable, '-m', 'pip', 'wheel', '--quiet', '--no-deps', '--no-index', '--no-build-isolation',
             '--wheel-dir', folder, os.path.join(root, 'python')])
    return glob.glob(os.path.join(folder, '*.whl'))[0]


def runs_here(t, musl=False):
    """Skips the case if this machine cannot run the wheel. musl: the programs of a musl wheel can run."""
    name = os.path.basename(t.wheel)
    loader = '/lib/ld-musl-%s.so.1' % os.uname().machine
    if not name.endswith(os.uname().machine + '.whl') or ('musllinux' in name and not (musl and os.path.exists(loader))):
        raise Skip('this machine cannot run %s' % name)


def copy_sources(to):
    """Copies the sources to another folder. The compiler and the tarballs are links; what the compiler has cached is not there."""
    names = run(['git', '-C', ROOT, 'ls-files', '-z', '--cached', '--others', '--exclude-standard']).split('\0')
    for name in names:
        if name and os.path.isfile(os.path.join(ROOT, name)):
            os.makedirs(os.path.dirname(os.path.join(to, name)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), os.path.join(to, name))
    os.makedirs(to + '/build/wheel')
    for path in glob.glob(ROOT + '/build/wheel/zig-[0-9]*') + [ROOT + '/build/wheel/sources']:
        os.symlink(path, os.path.join(to, 'build/wheel', os.path.basename(path)))


def reproducible(t):
    """Equal sources give equal bytes: a portable wheel also in another folder, with nothing that was compiled before."""
    if t.given:
        raise Skip('the wheel is built already')
    os.mkdir('again')
    root = ROOT
    if t.portable:
        root = os.path.abspath('another/folder')
        copy_sources(root)
    with step.locked(os.path.join(ROOT, 'build/wheel')):
        again = build(t.portable, 'again', root)
    assert os.path.basename(again) == os.path.basename(t.wheel) and digest(again) == digest(t.wheel)


def installed(t):
    """The program, the package and the collector work in the environment, and pip removes all their files."""
    runs_here(t)
    env = os.path.abspath('env')
    run([sys.executable, '-m', 'venv', env])
    before = {os.path.join(d, f) for d, _, names in os.walk(env) for f in names if not f.endswith('.pyc')}
    run([env + '/bin/python', '-m', 'pip', 'install', '--quiet', '--no-index', '--disable-pip-version-check', t.wheel])
    said = run([env + '/bin/tfprof', '--version']).split('\n')[0]
    assert said == 'tfprof ' + version(), said
    out = run([env + '/bin/tfprof', '--graph_path=%s/views.graph.pbtxt' % SMALL, 'scope', '-max_depth', '3'])
    assert '_TFProfRoot' in out, out
    run([env + '/bin/python', '-c', ASK % (SMALL, SMALL, version())])
    found = run([env + '/bin/tfprof', 'record', '--env', '-o', os.path.abspath('session')])
    assert env + '/lib/tfprof/libtfprof_cupti.so' in found, found
    run([env + '/bin/python', '-m', 'pip', 'uninstall', '--quiet', '--yes', 'tfprof'])
    after = {os.path.join(d, f) for d, _, names in os.walk(env) for f in names if not f.endswith('.pyc')}
    assert after == before, after ^ before


RECORDED = 150  # recorded answers of the original that are compared, drawn with a fixed seed


def recorded_answers(program, machine, root):
    """Compares the program with recorded answers of the original. Another processor is emulated, with the libraries in the root."""
    emulator = '' if machine == os.uname().machine else 'qemu-%s-static -L %s' % (machine, os.path.abspath(root))
    p = subprocess.run([sys.executable, '-B', os.path.join(ROOT, 'tests/recorded/run.py'), '--program', program, '--sample', str(RECORDED),
                        '--exec-prefix', emulator], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert p.stdout.decode().strip().split('\n')[-1] == '%d passed, 0 failed, 0 skipped' % RECORDED, p.stdout.decode()[-3000:]


def debian_root(root, suite, machine, *packages):
    """Unpacks packages of Debian. Returns the words that run a program in the root, without any environment variable."""
    arch = {'x86_64': 'amd64', 'aarch64': 'arm64'}[machine]
    cache = os.path.join(ROOT, 'build', 'roots-%s-%s' % (suite, arch))
    with step.locked(cache):
        p = subprocess.run([os.path.join(ROOT, 'packaging/debian.py'), '--closed', '--suite', suite, '--arch', arch, cache, root,
                            *packages], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=plain())
    if p.returncode == 3:
        raise Skip('%s for %s cannot be downloaded' % (suite, arch))
    assert p.returncode == 0, p.stdout.decode('utf-8', 'replace')[-1500:]
    os.makedirs(root + '/dev', exist_ok=True)
    os.mknod(root + '/dev/null', stat.S_IFCHR | 0o666, os.makedev(1, 3))  # pip opens it
    enter = ['env', '-i', shutil.which('chroot'), os.path.abspath(root)]
    if machine == os.uname().machine:
        return enter
    emulator = shutil.which('qemu-%s-static' % machine)
    if not emulator:
        raise Skip('qemu-user-static is missing')
    shutil.copy(emulator, root + '/emulator')
    return enter + ['/emulator']


def answers_in(enter, program):
    """The program answers in a root whose folder /data has the test data."""
    assert run(enter + [program, '--version']).startswith('tfprof %s\n' % version())
    assert '_TFProfRoot' in run(enter + [program, '--graph_path=/data/small/views.graph.pbtxt', 'scope', '-max_depth', '3'])
    assert 'aten::linear' in run(enter + [program, 'kernels', '/data/traces/nsys.sqlite'])
    assert 'Launch-bound' in run(enter + [program, 'summary', '/data/traces/trace.xplane.pb'])


def pristine_roots(t):
    """In a new Debian 11 and 12 without environment variables, pip installs the wheel; program and package answer. With
    musl, program and library answer in a root that has only the C library."""
    if not t.portable:
        raise Skip('only wheels of packaging/wheel.sh are for other systems')
    if os.getuid():
        raise Skip('chroot needs root')
    machine = next(m for m in MACHINES if t.wheel.endswith(m + '.whl'))
    if 'musllinux' in t.wheel:
        return musl_root(t, machine)
    for suite in ('bullseye', 'bookworm'):
        enter = debian_root(suite, suite, machine, 'libc6', 'python3', 'python3-pip')
        shutil.copytree(os.path.join(ROOT, 'testdata'), suite + '/data')
        os.makedirs(suite + '/tmp', exist_ok=True)
        shutil.copy(t.wheel, suite + '/data/')
        run(enter + ['/usr/bin/python3', '-m', 'pip', 'install', '--quiet', '--no-index', '--no-cache-dir', '--disable-pip-version-check',
                     '--target', '/opt/tfprof', '/data/' + os.path.basename(t.wheel)])
        answers_in(enter, '/opt/tfprof/bin/tfprof')
        run(enter + ['/usr/bin/python3', '-c', "import sys; sys.path.insert(0, '/opt/tfprof')\n" + ASK % ('/data/small', '/data/small', version())])
    recorded_answers(os.path.abspath(suite + '/opt/tfprof/bin/tfprof'), machine, suite)


USER = '''#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
	void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
	const char *(*version)(void) = library ? (const char *(*)(void))dlsym(library, "tfp_version") : 0;
	return version ? puts(version()) < 0 : puts(dlerror()) + 1;
}
'''


def musl_root(t, machine):
    """A root with the C library musl and the wheel's files, and nothing else."""
    enter = debian_root('musl', 'bookworm', machine, 'musl')
    with zipfile.ZipFile(t.wheel) as z:
        z.extractall('musl/wheel')
        program = next(n for n in z.namelist() if n.endswith('/scripts/tfprof'))
    os.chmod('musl/wheel/' + program, 0o755)
    os.makedirs('musl/tmp', exist_ok=True)
    shutil.copytree(os.path.join(ROOT, 'testdata'), 'musl/data')
    answers_in(enter, '/wheel/' + program)
    compiler = os.path.join(ROOT, 'build/wheel/%s-musl/bin/cc' % machine)
    if os.path.exists(compiler):  # the wheel was built here
        with open('user.c', 'w') as f:
            f.write(USER)
        cache = os.path.join(ROOT, 'build/wheel/zig-cache')
        run([compiler, '-dynamic', 'user.c', '-o', 'musl/user'], env=dict(plain(), ZIG_GLOBAL_CACHE_DIR=cache, ZIG_LOCAL_CACHE_DIR=cache))
        assert run(enter + ['/user', '/wheel/tfprof/libtfprof.so.0']).strip() == version()
    recorded_answers(os.path.abspath('musl/wheel/' + program), machine, 'musl')


INDEX = ['uv==0.13.9', 'pipx==1.18.4']


def package_index(t):
    """uvx and pipx run the program from a package index, without a cache, within 60 seconds."""
    runs_here(t)
    here, python = os.getcwd(), None
    os.chdir(ROOT)
    try:
        python, missing = step.scratch_python('venv-index', INDEX, '--only-binary=:all:')
    finally:
        os.chdir(here)
    if missing:
        raise Skip(missing.note)
    name = os.path.basename(t.wheel)
    os.makedirs('index/tfprof')
    shutil.copy(t.wheel, 'index/tfprof/')
    with open('index/tfprof/index.html', 'w') as f:
        f.write('<!DOCTYPE html><a href="%s#sha256=%s">%s</a>' % (name, digest(t.wheel), name))
    quiet = type('Quiet', (http.server.SimpleHTTPRequestHandler,), {'log_message': lambda *words: None})
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(quiet, directory=os.path.abspath('index')))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url, tools = 'http://127.0.0.1:%d/' % server.server_port, os.path.join(ROOT, os.path.dirname(python))
    words = ['tfprof', 'summary', os.path.join(ROOT, 'testdata/traces/trace.xplane.pb')]
    env = {'HOME': os.path.abspath('home'), 'PATH': os.environ['PATH'], 'UV_CACHE_DIR': os.path.abspath('cache'), 'UV_PYTHON': sys.executable}
    try:
        for tool in (['uvx', '--index-url', url], ['pipx', 'run', '--index-url', url]):
            start = time.monotonic()
            assert 'Launch-bound' in run([os.path.join(tools, tool[0])] + tool[1:] + words, env=env), tool
            seconds = time.monotonic() - start
            print('%s: %.1f s without a cache' % (tool[0], seconds))
            assert seconds <= 60, (tool, seconds)
    finally:
        server.shutdown()


def full_screen(program):
    """tfprof ui shows its first panel in a terminal, and q ends it."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(program, [program, 'ui', os.path.join(ROOT, 'testdata/traces/trace.xplane.pb')],
                  dict(plain(), TERM='xterm-256color', LINES='24', COLUMNS='80'))
    seen, asked, end = b'', False, time.monotonic() + 30
    try:
        while time.monotonic() < end:
            if not asked and b'1 scope' in seen:
                os.write(terminal, b'q')
                asked = True
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 65536)
    except OSError:  # the program has ended
        pass
    finally:
        os.close(terminal)
        if time.monotonic() >= end:
            os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
    assert asked and status == 0, (status, seen[-1500:])


def everything(t):
    """The portable wheel's program has every library: it reads SQLite, demangles names as GCC does, writes and serves pages, and
    fills the terminal."""
    if not t.portable:
        raise Skip('only wheels of packaging/wheel.sh have every library')
    runs_here(t, musl=True)
    with zipfile.ZipFile(t.wheel) as z:
        name = next(n for n in z.namelist() if n.endswith('/scripts/tfprof'))
        z.extract(name, 'wheel')
    program = os.path.abspath(os.path.join('wheel', name))
    os.chmod(program, 0o755)
    lines = run([program, '--version']).split('\n')[1:]
    missing = [line for line in lines if not re.search(r'^cupti |  yes\b|^$', line)]
    assert not missing and any(line.startswith('libevent') for line in lines), lines
    assert 'aten::linear' in run([program, os.path.join(ROOT, 'testdata/traces/nsys.sqlite'), 'kernels'])
    run([sys.executable, '-B', os.path.join(ROOT, 'tests/cli/run.py'), '--program', program, 'view/cxx_names', 'spool/timeline'])
    full_screen(program)
    run([program, 'report', os.path.join(ROOT, 'testdata/traces/trace.xplane.pb'), '-o', 'page.html'])
    with open('page.html', encoding='utf-8') as f:
        assert '<script' in f.read()
    server = subprocess.Popen([program, 'serve', os.path.join(ROOT, 'testdata/traces/trace.xplane.pb')], env=plain(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        with urllib.request.urlopen(server.stdout.readline().decode().strip()) as answer:
            assert b'<script' in answer.read()
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate()
    assert server.returncode == 0, server.returncode


def old_systems(t):
    """The wheel needs no newer C library and no other system library, and is for the processor that its name states."""
    if not t.portable:
        raise Skip('only wheels of packaging/wheel.sh are for other systems')
    with zipfile.ZipFile(t.wheel) as z:
        z.extractall('wheel')
    programs = [p for p in glob.glob('wheel/**', recursive=True) if os.path.isfile(p) and open(p, 'rb').read(4) == b'\x7fELF']
    assert len(programs) == 3, programs
    musl, machine = 'musllinux' in t.wheel, next(code for name, code in MACHINES.items() if t.wheel.endswith(name + '.whl'))
    for path in programs:
        with open(path, 'rb') as f:
            assert f.read(20)[18:] == machine, path
        text = run(['readelf', '-dVW', path])
        needed = set(re.findall(r'\(NEEDED\).*\[(.*)\]', text))
        assert needed and needed <= (MUSL if musl else SYSTEM), (path, needed)
        for name, number in set(re.findall(r'Name: ([A-Z]+)_([0-9.]+)', text)):
            newest = NEWEST.get(name)
            assert newest and tuple(map(int, number.split('.'))) <= newest, (path, name, number)


def contents(t):
    """The wheel has the licences of what it contains, completions for three shells, and an author."""
    with zipfile.ZipFile(t.wheel) as z:
        names = z.namelist()
        info = next(n[:-len('METADATA')] for n in names if n.endswith('.dist-info/METADATA'))
        assert b'Mike Bostock' in z.read(info + 'licenses/d3') and info + 'licenses/LICENSE' in names, names
        if t.portable:
            inside = {'libedit', 'libevent', 'libiberty', 'ncurses', 'pcre2', 'protobuf-c', 'snappy', 'sqlite3', 'zlib', 'zig', 'libc++'}
            missing = {n for n in inside if info + 'licenses/' + n not in names}
            assert not missing, missing
        assert b'\nAuthor: ' in z.read(info + 'METADATA')
        with open(os.path.join(ROOT, 'packaging', 'agents', 'server.json')) as f:  # the MCP registry reads the owner from it
            assert '<!-- mcp-name: %s -->' % json.load(f)['name'] in z.read(info + 'METADATA').decode()
    for name in ('bash-completion/completions/tfprof', 'zsh/site-functions/_tfprof', 'fish/vendor_completions.d/tfprof.fish'):
        assert any(n.endswith('data/share/' + name) for n in names), name


def exports(t):
    """The library in the wheel exports the functions of the public header, and nothing else."""
    with zipfile.ZipFile(t.wheel) as z:
        z.extract('tfprof/libtfprof.so.0', 'wheel')
    lines = run(['nm', '-D', '--defined-only', 'wheel/tfprof/libtfprof.so.0']).splitlines()
    found = {line.split()[-1].split('@')[0] for line in lines}
    with open(os.path.join(ROOT, 'include', 'tfprof', 'tfprof.h')) as f:
        declared = set(re.findall(r'TFP_API [^;]*?\b(tfp_\w+)\(', f.read()))
    assert len(declared) > 30 and found == declared, (found - declared, declared - found)


def backend(code, **more):
    """Runs code with the build backend in a Python process of its own."""
    where = os.path.join(ROOT, 'python', 'build_backend')
    return subprocess.run([sys.executable, '-B', '-c', 'import sys; sys.path.insert(0, %r); import backend; %s' % (where, code)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def source_distribution(t):
    """Equal sources give equal source distributions; pip installs one without protoc and esbuild."""
    if t.portable:
        raise Skip('tests of wheels for this machine have it')
    for folder in ('a', 'b'):
        os.mkdir(folder)
        p = backend('backend.build_sdist(%r)' % folder, env=plain())
        assert p.returncode == 0, p.stderr.decode()[-1500:]
    path = 'a/tfprof-%s.tar.gz' % version()
    assert digest(path) == digest('b' + path[1:])
    env = os.path.abspath('env')
    run([sys.executable, '-m', 'venv', env])
    os.mkdir('bin')
    for name in ('protoc', 'protoc-gen-c', 'esbuild'):
        with open('bin/' + name, 'w') as f:
            f.write('#!/bin/sh\nexit 1\n')
        os.chmod('bin/' + name, 0o755)
    run([env + '/bin/pip', 'install', '--quiet', '--no-index', '--no-build-isolation', '--disable-pip-version-check', path],
        env=dict(plain(), PATH=os.path.abspath('bin') + ':' + os.environ['PATH']))
    run([env + '/bin/python', '-c', ASK % (SMALL, SMALL, version())])
    run([env + '/bin/tfprof', 'report', os.path.join(ROOT, 'testdata/traces/trace.xplane.pb'), '-o', 'page.html'])
    with open('page.html', encoding='utf-8') as f:
        assert 'Mike Bostock' in f.read()


def editable(t):
    """An editable install uses the package and the build folder of the clone."""
    if t.portable:
        raise Skip('tests of wheels for this machine have it')
    env = os.path.abspath('env')
    run([sys.executable, '-m', 'venv', env])
    run([env + '/bin/pip', 'install', '--quiet', '--no-index', '--no-build-isolation', '--disable-pip-version-check', '--editable',
         os.path.join(ROOT, 'python')])
    run([env + '/bin/python', '-c', ASK % (SMALL, SMALL, version())])
    found = run([env + '/bin/python', '-c', 'import tfprof; print(tfprof.__file__)']).strip()
    assert found == os.path.join(ROOT, 'python', 'tfprof', '__init__.py'), found
    assert run([env + '/bin/tfprof', '--version']).startswith('tfprof ' + version())


def missing_tools(t):
    """Without a compiler, the build ends with one line that names what is missing."""
    del t
    os.mkdir('nothing')
    p = backend("backend.build_wheel('.')", env=dict(plain(), PATH=os.path.abspath('nothing')))
    lines = p.stderr.decode().strip().split('\n')
    assert p.returncode == 1 and len(lines) == 1, lines
    assert all(w in lines[0] for w in ('a C compiler', 'make', 'pkg-config', 'tools/deps.sh build')), lines


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--portable', action='store_true', help='the wheel of packaging/wheel.sh')
    p.add_argument('--wheel', dest='given', help='a wheel of packaging/wheel.sh that is built already')
    p.add_argument('names', nargs='*')
    t = p.parse_args()
    t.portable = t.portable or bool(t.given)
    missing = [m for m in ('pip', 'venv', 'ensurepip') if not importlib.util.find_spec(m)]
    if missing:
        print('skipped: this Python has no %s\n0 passed, 0 failed, 1 skipped' % ', '.join(missing))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            with step.locked(os.path.join(ROOT, 'build/wheel')):
                t.wheel = os.path.abspath(t.given or build(t.portable, folder))
        except Skip as e:
            print('skipped: %s\n0 passed, 0 failed, 1 skipped' % e)
            return 0
        except AssertionError as e:
            print('%s\n0 passed, 1 failed, 0 skipped' % e)
            return 1
        print('%s: %d bytes' % (os.path.basename(t.wheel), os.path.getsize(t.wheel)))
        return cases.run([f for f in (installed, contents, exports, everything, old_systems, pristine_roots, package_index, source_distribution,
                                      editable, missing_tools, reproducible) if not t.names or f.__name__ in t.names], t)


if __name__ == '__main__':
    sys.exit(main())
