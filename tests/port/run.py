#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheels for Windows and macOS with packaging/wheel.sh, and tests their programs and libraries: what they need of the
system, what they export and, under wine, the answers of the program for Windows, byte for byte. Nothing here runs programs for
macOS.

    tests/port/run.py --program build/check/tfprof [--targets x86_64-windows,aarch64-macos,x86_64-macos] [NAME...]
"""
import argparse
import base64
import csv
import glob
import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'check'))
import cases  # noqa: E402
import step  # noqa: E402
from cases import Skip  # noqa: E402

DATA = 'testdata/'
PROFILE = DATA + 'example/profile_100'
TAGS = {'x86_64-windows': 'win_amd64', 'aarch64-macos': 'macosx_11_0_arm64', 'x86_64-macos': 'macosx_11_0_x86_64'}
# Libraries of every Windows 10 and every macOS 11.
WINDOWS = re.compile(r'(api-ms-win-crt-[a-z]+-l1-1-0|KERNEL32|SHELL32|ADVAPI32|ntdll)\.dll', re.I)
MACOS = {'/usr/lib/libSystem.B.dylib'}
CPUS = {'aarch64-macos': 0x0100000c, 'x86_64-macos': 0x01000007}
LC_LOAD_DYLIB, LC_BUILD_VERSION = 0xc, 0x32
COMMANDS = [['summary', PROFILE], ['scope', PROFILE, '-max_depth', '3'], ['op', PROFILE, '-select', 'micros,bytes', '-output', 'json'],
            ['code', PROFILE], ['graph', PROFILE, '-output', 'csv'], ['advise', PROFILE], ['help', 'all'], ['schema'],
            ['why', DATA + 'traces/trace.xplane.pb'], ['kernels', DATA + 'traces/nsys.sqlite'], ['steps', DATA + 'traces/trace.pftrace'],
            ['summary', DATA + 'traces/training.pt.trace.json.gz'], ['flops', DATA + 'traces/onnxruntime.json'],
            ['summary', DATA + 'example/run_meta_*', DATA + 'example/graph.pbtxt'], ['scope', 'no/file'], ['scope', '-no_option', PROFILE],
            ['diff', PROFILE, DATA + 'example/profile_200'], ['memory', DATA + 'traces/trace.xplane.pb'], ['devices', DATA + 'traces/nsys.sqlite']]
RECORDED = 150  # recorded answers of the original that are compared, drawn with a fixed seed


def run(words, **more):
    return subprocess.run(words, **dict({'stdin': subprocess.DEVNULL, 'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, 'timeout': 600,
                                         'cwd': ROOT}, **more))


def wine(t):
    """Returns the environment for wine, which has a folder of its own. Skips the case if wine is not installed."""
    if not shutil.which('wine'):
        raise Skip('wine is not installed')
    if 'x86_64-windows' not in t.wheels:
        raise Skip('x86_64-windows is not among --targets')
    env = dict(os.environ, WINEPREFIX=os.path.join(t.folder, 'wine'), WINEDEBUG='-all')
    if not t.shell:
        # The first program starts services of wine, which write messages and keep its pipes open. They run as long as a program.
        t.shell = subprocess.Popen(['wine', 'cmd.exe'], env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(['wine', 'cmd.exe', '/c', 'exit'], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=600)
    return env


def extracted(t, target):
    """Returns {base name: path} of the files of a wheel."""
    if target not in t.wheels:
        raise Skip('%s is not among --targets' % target)
    folder = os.path.join(t.folder, target)
    if not os.path.exists(folder):
        with zipfile.ZipFile(t.wheels[target]) as z:
            z.extractall(folder)
    return {os.path.basename(p): p for p in glob.glob(folder + '/**', recursive=True) if os.path.isfile(p)}


def declared():
    with open(os.path.join(ROOT, 'include', 'tfprof', 'tfprof.h')) as f:
        return set(re.findall(r'TFP_API [^;]*?\b(tfp_\w+)\(', f.read()))


def wheels(t):
    """Each wheel has the tag of its system, correct checksums of all files, the licences, and no collector."""
    for target, path in t.wheels.items():
        with zipfile.ZipFile(path) as z:
            names = set(z.namelist())
            info = next(n[:-len('WHEEL')] for n in names if n.endswith('.dist-info/WHEEL'))
            tags = re.findall(r'^Tag: (.*)$', z.read(info + 'WHEEL').decode(), re.M)
            assert tags == ['py3-none-' + TAGS[target]] and path.endswith(tags[0] + '.whl'), (path, tags)
            rows = list(csv.reader(z.read(info + 'RECORD').decode().splitlines()))
            assert {r[0] for r in rows} == names, names ^ {r[0] for r in rows}
            for name, digest, size in rows:
                if name != info + 'RECORD':
                    found = base64.urlsafe_b64encode(hashlib.sha256(z.read(name)).digest()).rstrip(b'=').decode()
                    assert digest == 'sha256=' + found and int(size) == z.getinfo(name).file_size, name
        inside = {'LICENSE', 'd3', 'pcre2', 'protobuf-c', 'snappy', 'sqlite3', 'zlib', 'zig', 'libc++'}
        inside |= {'mingw-w64'} if target.endswith('windows') else set()
        missing = {n for n in inside if info + 'licenses/' + n not in names}
        assert not missing and not any('cupti' in n for n in names), (missing, names)
        library, program = ('tfprof.dll', 'tfprof.exe') if target.endswith('windows') else ('libtfprof.dylib', 'tfprof')
        assert 'tfprof/' + library in names and any(n.endswith('.data/scripts/' + program) for n in names), names


def windows_imports(t):
    """Program and library for Windows need libraries of the system only, and the library exports the public functions only."""
    files = extracted(t, 'x86_64-windows')
    for name in ('tfprof.exe', 'tfprof.dll'):
        text = run(['objdump', '-p', files[name]]).stdout.decode()
        needed = re.findall(r'DLL Name: (\S+)', text)
        assert needed and all(WINDOWS.fullmatch(n) for n in needed), (name, needed)
    table = text.split('[Ordinal/Name Pointer] Table', 1)[1].split('\n\n', 1)[0]
    found = set(re.findall(r'\b(tfp_\w+)$', table, re.M))
    assert found == declared() and len(re.findall(r'^\s+\[', table, re.M)) == len(found), found ^ declared()


def load_commands(path, cpu):
    """Returns the libraries that a Mach-O file loads, and the oldest system that it runs on."""
    with open(path, 'rb') as f:
        data = f.read()
    magic, kind, _, _, count = struct.unpack_from('<5I', data)
    assert (magic, kind) == (0xfeedfacf, cpu), (path, hex(magic), hex(kind))
    at, needed, oldest = 32, set(), None
    for _ in range(count):
        command, size = struct.unpack_from('<2I', data, at)
        if command == LC_LOAD_DYLIB:
            name = at + struct.unpack_from('<I', data, at + 8)[0]
            needed.add(data[name:data.index(b'\0', name)].decode())
        elif command == LC_BUILD_VERSION:
            oldest = struct.unpack_from('<I', data, at + 12)[0] >> 16
        at += size
    return needed, oldest


def macos_imports(t):
    """Programs and libraries for macOS are for the processor of their wheel and for macOS 11, and need libSystem only."""
    targets = [x for x in t.wheels if x in CPUS]
    if not targets:
        raise Skip('no target for macOS is among --targets')
    for target in targets:
        files = extracted(t, target)
        for name in ('tfprof', 'libtfprof.dylib'):
            needed, oldest = load_commands(files[name], CPUS[target])
            assert needed == MACOS and oldest == 11, (target, name, needed, oldest)


def both(t, words, env, **more):
    """Runs the program for Windows and the one for this machine; returns both results."""
    program = extracted(t, 'x86_64-windows')['tfprof.exe']
    return [(p.returncode, p.stdout, p.stderr) for p in (run(['wine', program] + words, env=env, **more), run([t.program] + words, **more))]


def answers(t):
    """Under wine, the program prints the same bytes as the program for this machine, with the same status."""
    env = wine(t)
    for words in COMMANDS:
        there, here = both(t, words, env)
        assert there == here, (words, there, here)


def paths(t):
    """Backslashes, drive letters and names in other scripts lead to files, also after outfile=."""
    env = wine(t)
    folder = os.path.join(os.getcwd(), 'Prüfung 測定')
    os.mkdir(folder)
    shutil.copy(os.path.join(ROOT, PROFILE), folder + '/profil_ö')
    inside = 'Z:' + folder.replace('/', '\\')
    there, here = both(t, ['scope', inside + '\\profil_ö', '-max_depth', '2'], env)[0], run([t.program, 'scope', folder + '/profil_ö',
                                                                                         '-max_depth', '2'])
    assert there[0] == 0 and there[1] == here.stdout, there
    for words in (['scope', inside + '\\profil_*', '-output', 'csv:outfile=' + inside + '\\ä.csv'],
                  ['scope', inside + '\\profil_ö', '-o', inside + '\\ä.csv']):
        p = run(['wine', extracted(t, 'x86_64-windows')['tfprof.exe']] + words, env=env)
        assert p.returncode == 0 and sorted(os.listdir(folder)) == ['profil_ö', 'ä.csv'], (words, p, os.listdir(folder))
        with open(folder + '/ä.csv', 'rb') as f:
            text = f.read()
        assert text.startswith(b'path,') and b'\r' not in text, text[:200]
        os.unlink(folder + '/ä.csv')


def session(t):
    """Lines of standard input and inputs from a pipe give the same answers; baselines are saved and replaced."""
    env = wine(t)
    program = extracted(t, 'x86_64-windows')['tfprof.exe']
    with open(os.path.join(ROOT, PROFILE), 'rb') as f:
        profile = f.read()
    for words, text in ([PROFILE], b'op\nscope -max_depth 1\r\nop -select bytes > out.txt\n'), (['-', 'op'], profile):
        there, here = [subprocess.run(p + [w.replace(DATA, os.path.join(ROOT, DATA)) for w in words], input=text, env=env,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600) for p in (['wine', program], [t.program])]
        assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr), (words, there, here)
    for word in (b'saved', b'replaced'):
        p = run(['wine', program, 'baseline', 'save', 'main', os.path.join(ROOT, PROFILE)], env=env, cwd=os.getcwd())
        assert p.returncode == 0 and word in p.stdout, p
    assert os.listdir('.tfprof/baselines') == ['main'], os.listdir('.tfprof/baselines')


def left_out(t):
    """Commands that are not in the program say so."""
    env = wine(t)
    program = extracted(t, 'x86_64-windows')['tfprof.exe']
    for words, part in ((['record', 'ls'], b'record is not built into this program for Windows'),
                        (['ctl', 'dir', 'status'], b'ctl is not built into this program for Windows'),
                        (['doctor'], b'doctor is not built into this program for Windows'),
                        (['ui', PROFILE], b'ui is not in this build'), (['serve', PROFILE], b'serve is not in this build')):
        p = run(['wine', program] + words, env=env)
        assert p.returncode in (1, 3) and part in p.stderr and not p.stdout, (words, p)


def recorded(t):
    """The recorded answers of the original are equal, byte for byte."""
    env = wine(t)
    p = run([sys.executable, '-B', os.path.join(ROOT, 'tests/recorded/run.py'), '--program', extracted(t, 'x86_64-windows')['tfprof.exe'],
             '--exec-prefix', 'wine', '--sample', str(RECORDED), '--jobs', '2'], env=env, timeout=3600)
    last = p.stdout.decode().strip().split('\n')[-1]
    assert last == '%d passed, 0 failed, 0 skipped' % RECORDED, p.stdout.decode()[-3000:]


def library(t):
    """A C program links with the library for Windows and gets answers from it."""
    env = wine(t)
    build = os.path.join(ROOT, 'build/wheel/x86_64-windows')
    made = run([build + '/bin/cc', '-I' + os.path.join(ROOT, 'include'), os.path.join(ROOT, 'examples/op_types.c'),
                build + '/obj/tfprof.lib', '-o', os.path.join(os.getcwd(), 'example.exe')])
    assert made.returncode == 0, made.stderr.decode()[-1500:]
    shutil.copy(extracted(t, 'x86_64-windows')['tfprof.dll'], '.')
    p = run(['wine', os.path.join(os.getcwd(), 'example.exe'), DATA + 'example/graph.pbtxt', DATA + 'example/run_meta_0'], env=env)
    assert p.returncode == 0 and b'MatMul' in p.stdout, p


def build(target, folder):
    """Builds a wheel and returns its path in the folder."""
    with step.locked(os.path.join(ROOT, 'build/wheel')):
        p = run([os.path.join(ROOT, 'packaging/wheel.sh'), target], stderr=subprocess.STDOUT, timeout=5400)
        if p.returncode == 3:
            raise Skip('the compiler or the sources cannot be downloaded')
        assert p.returncode == 0, '%s: %s' % (target, p.stdout.decode('utf-8', 'replace')[-1500:])
        return shutil.copy(os.path.join(ROOT, p.stdout.decode().strip().split('\n')[-1]), folder)


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', default=os.path.join(ROOT, 'build/check/tfprof'), type=os.path.abspath)
    p.add_argument('--targets', default=','.join(TAGS))
    p.add_argument('names', nargs='*')
    t = p.parse_args()
    t.shell = None  # a program that runs under wine until the end
    with tempfile.TemporaryDirectory() as t.folder:
        try:
            t.wheels = {x: build(x, t.folder) for x in t.targets.split(',')}
        except Skip as e:
            print('skipped: %s\n0 passed, 0 failed, 1 skipped' % e)
            return 0
        except AssertionError as e:
            print('%s\n0 passed, 1 failed, 0 skipped' % e)
            return 1
        status = cases.run([f for f in (wheels, windows_imports, macos_imports, answers, paths, session, left_out, library, recorded)
                            if not t.names or f.__name__ in t.names], t)
        if t.shell:
            t.shell.communicate(timeout=600)
        return status


if __name__ == '__main__':
    sys.exit(main())
