#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheels for Windows and macOS with packaging/wheel.sh, and tests their programs and libraries: what they need of the
system, what they export and, under wine, the answers of the program for Windows, byte for byte. Nothing here runs programs for
macOS.

    tests/port/run.py --program build/check/tfprof [--targets x86_64-windows,aarch64-macos,x86_64-macos] [NAME...]
    tests/port/run.py --wheel FILE         tests a wheel that is built already
"""
import argparse
import base64
import csv
import glob
import hashlib
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
import tty
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'check'))
import cases  # noqa: E402
import macho  # noqa: E402
import step  # noqa: E402
from cases import Skip  # noqa: E402

DATA = 'testdata/'
PROFILE = DATA + 'example/profile_100'
with open(os.path.join(ROOT, 'packaging', 'targets.txt')) as targets:
    TAGS = {row[0]: row[3] for row in map(str.split, targets) if row[0].endswith(('-windows', '-macos'))}
# Libraries of every Windows 10 and every macOS 11.
WINDOWS = re.compile(r'(api-ms-win-crt-[a-z]+-l1-1-0|KERNEL32|SHELL32|ADVAPI32|ntdll)\.dll', re.I)
MACOS = {'/usr/lib/libSystem.B.dylib'}
CPUS = {'aarch64-macos': 0x0100000c, 'x86_64-macos': 0x01000007}
# Symbols that the linker adds to each file.
MACOS_OWN = {'__mh_execute_header', '__mh_dylib_header', '___dso_handle'}
# Tools for wheels, from the package index.
TOOLS = ['check-wheel-contents==0.6.3', 'twine==7.0.0']
COMMANDS = [['summary', PROFILE], ['scope', PROFILE, '-max_depth', '3'], ['op', PROFILE, '-select', 'micros,bytes', '-output', 'json'],
            ['code', PROFILE], ['graph', PROFILE, '-output', 'csv'], ['advise', PROFILE], ['help', 'all'], ['schema'],
            ['why', DATA + 'traces/trace.xplane.pb'], ['kernels', DATA + 'traces/nsys.sqlite'], ['steps', DATA + 'traces/trace.pftrace'],
            ['summary', DATA + 'traces/training.pt.trace.json.gz'], ['flops', DATA + 'traces/onnxruntime.json'],
            ['summary', DATA + 'example/run_meta_*', DATA + 'example/graph.pbtxt'], ['scope', 'no/file'], ['scope', '-no_option', PROFILE],
            ['diff', PROFILE, DATA + 'example/profile_200'], ['memory', DATA + 'traces/trace.xplane.pb'], ['devices', DATA + 'traces/nsys.sqlite']]
# Golden cases that cannot be equal under wine, and why.
ELSEWHERE = {'convert/no_folder': 'below a file, Windows reports a missing folder',
             'diff/baseline': 'symbolic links, which wine does not show to programs',
             'folder/odd_files': 'symbolic links',
             'input/bare_standard_input': 'named pipes of Unix',
             'input/line_break_in_name': 'names that Windows does not allow',
             'script/no_memory': 'pipes to sh',
             'workers/names': 'names that Windows does not allow'}


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


def end_wine(t):
    """Ends the services of wine, which write to its folder."""
    if t.shell:
        t.shell.communicate(timeout=600)
        subprocess.run(['wineserver', '-k', '-w'], env=dict(os.environ, WINEPREFIX=os.path.join(t.folder, 'wine')), timeout=600)


def extracted(t, target):
    """Returns {base name: path} of the package and the program in a wheel."""
    if target not in t.wheels:
        raise Skip('%s is not among --targets' % target)
    folder = os.path.join(t.folder, target)
    if not os.path.exists(folder):
        with zipfile.ZipFile(t.wheels[target]) as z:
            z.extractall(folder)
    return {os.path.basename(p): p for p in glob.glob(folder + '/tfprof/*') + glob.glob(folder + '/*.data/scripts/*')}


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
        inside = {'LICENSE', 'd3', 'libiberty', 'pcre2', 'protobuf-c', 'snappy', 'sqlite3', 'zlib', 'zig', 'libc++'}
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


def macos_files(t):
    """Programs and libraries for macOS are for the processor of their wheel and for macOS 11, need libSystem only, and export the
    public functions only. Those for arm64, which the system does not start otherwise, have a valid signature."""
    targets = [x for x in t.wheels if x in CPUS]
    if not targets:
        raise Skip('no target for macOS is among --targets')
    for target in targets:
        files = extracted(t, target)
        for name, public, path in (('tfprof', set(), None), ('libtfprof.dylib', declared(), '@rpath/libtfprof.dylib')):
            file = macho.MachO(files[name])
            assert (file.cpu, file.needed, file.name, file.oldest) == (CPUS[target], MACOS, path, 11), (target, name, vars(file))
            assert set(file.exports) - MACOS_OWN == {'_' + n for n in public}, (target, name, file.exports)
            if target == 'aarch64-macos':
                file.check_signature()


def tools(t):
    """check-wheel-contents and twine find nothing."""
    here = os.getcwd()
    os.chdir(ROOT)
    try:
        python, missing = step.scratch_python('venv-port', TOOLS)
    finally:
        os.chdir(here)
    if missing:
        raise Skip(missing.note)
    folder = os.path.join(ROOT, os.path.dirname(python))
    for wheel in t.wheels.values():
        words = [[folder + '/check-wheel-contents', wheel], [folder + '/twine', 'check', '--strict', wheel]]
        for p in map(run, words):
            assert p.returncode == 0, (p.args, p.stdout, p.stderr)


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


def long_paths(t):
    """Paths with blanks that are longer than 260 characters can be read, listed, expanded and written."""
    env = wine(t)
    program = extracted(t, 'x86_64-windows')['tfprof.exe']
    folder = os.path.join(os.getcwd(), *['a folder with a long name %02d %s' % (i, 'x' * 60) for i in range(4)])
    os.makedirs(folder)
    shutil.copy(os.path.join(ROOT, PROFILE), folder + '/profile 100')
    inside = 'Z:' + folder.replace('/', '\\')
    assert len(inside) > 260
    expected = run([t.program, 'scope', PROFILE, '-output', 'csv']).stdout
    for name in ('profile 100', 'PROFILE*'):
        p = run(['wine', program, 'scope', inside + '\\' + name, '-output', 'csv:outfile=' + inside + '\\a b.csv'], env=env)
        assert p.returncode == 0, p
        with open(folder + '/a b.csv', 'rb') as f:
            assert f.read() == expected
        os.unlink(folder + '/a b.csv')
    assert os.listdir(folder) == ['profile 100'], os.listdir(folder)


def programs(t):
    """The prompt passes answers to programs in PATH, and starts none of the current folder."""
    env = wine(t)
    program = extracted(t, 'x86_64-windows')['tfprof.exe']
    shutil.copy(program, 'planted.exe')
    for line, status, part in ((b'op | find "MatMul"\n', 0, b'MatMul'), (b'op | planted --version\n', 1, b'No such file or directory')):
        p = subprocess.run(['wine', program, os.path.join(ROOT, PROFILE)], input=line, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           timeout=600)
        assert p.returncode == status and part in p.stdout, (line, p)


class Console:
    """A program in a console of wine, which is shown in a terminal of 100 columns."""

    def __init__(self, words, env):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe(words[0], words, env)
        tty.setraw(self.terminal)  # wine sets this for each line, after the prompt is shown
        termios.tcsetwinsize(self.terminal, (40, 100))
        self.seen = ''

    def read(self, seconds):
        """Adds what is shown within the time to self.seen. False: the program has closed the terminal."""
        if select.select([self.terminal], [], [], seconds)[0]:
            try:
                self.seen += os.read(self.terminal, 65536).decode('utf-8', 'replace')
            except OSError:
                return False
        self.seen = re.sub(r'\x1b\[[?0-9;]*[A-Za-z]', '', self.seen)
        return True

    def expect(self, text):
        """Waits for the text, and returns what was shown until then."""
        end = time.monotonic() + 120
        while text not in self.seen and time.monotonic() < end and self.read(0.1):
            pass
        assert text in self.seen, (text, self.seen[-3000:])
        seen, self.seen = self.seen, ''
        return seen

    def type(self, text):
        os.write(self.terminal, text.encode())

    def end(self):
        """Returns the status of the program, which is killed after a time."""
        end = time.monotonic() + 60
        while time.monotonic() < end and self.read(0.1):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
        else:
            os.kill(self.pid, signal.SIGKILL)
            status = os.waitpid(self.pid, 0)[1]
        os.close(self.terminal)
        return status


def console(t):
    """In a console, typed lines are read as UTF-8, answers have the width of the console, and Ctrl-Z ends the program."""
    cases.need_terminal()
    os.makedirs('測定')
    c = Console(['wine', extracted(t, 'x86_64-windows')['tfprof.exe'], os.path.join(ROOT, PROFILE)], dict(wine(t), TERM='xterm'))
    try:
        c.expect('tfprof>')
        c.type('op -output csv:outfile=測定/ä.csv\r')
        c.expect('tfprof>')
        c.type('help op\r')
        text = c.expect('tfprof>')
        c.type('\x1a\r')
    finally:
        status = c.end()
    width = max(len(line.rstrip()) for line in text.split('\n'))
    assert 80 < width <= 100, (width, text)
    assert status == 0 and os.listdir('測定') == ['ä.csv'], (status, os.listdir('測定'))


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
             '--exec-prefix', 'wine', '--jobs', '2'], env=env, timeout=7200)
    text = p.stdout.decode('utf-8', 'replace')
    assert re.search(r'^\d{4} passed, 0 failed, 0 skipped$', text, re.M), text[-3000:]


def golden(t):
    """The golden cases are equal, except those in ELSEWHERE."""
    env = wine(t)
    top = os.path.join(ROOT, 'tests/cli')
    names = {os.path.relpath(p, top)[:-len('.sh')] for p in glob.glob(top + '/*/*.sh')}
    assert set(ELSEWHERE) < names, set(ELSEWHERE) - names
    p = run([sys.executable, '-B', top + '/run.py', '--program', extracted(t, 'x86_64-windows')['tfprof.exe'], '--exec-prefix', 'wine',
             '--jobs', '2', *sorted(names - set(ELSEWHERE))], env=env, timeout=7200)
    assert p.stdout == b'%d passed, 0 failed, 0 skipped\n' % (len(names) - len(ELSEWHERE)), p.stdout.decode('utf-8', 'replace')[-3000:]


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
    p.add_argument('--wheel', action='append', default=[], type=os.path.abspath, help='test this wheel, which is built already')
    p.add_argument('names', nargs='*')
    t = p.parse_args()
    t.shell = None  # a program that runs under wine until the end
    t.folder = tempfile.mkdtemp()
    try:
        if t.wheel:
            t.wheels = {next(x for x, tag in TAGS.items() if path.endswith(tag + '.whl')): path for path in t.wheel}
        else:
            t.wheels = {x: build(x, t.folder) for x in t.targets.split(',')}
        return cases.run([f for f in (wheels, tools, windows_imports, macos_files, answers, paths, long_paths, programs, console, session,
                                      left_out, library, recorded, golden) if not t.names or f.__name__ in t.names], t)
    except Skip as e:
        print('skipped: %s\n0 passed, 0 failed, 1 skipped' % e)
        return 0
    except AssertionError as e:
        print('%s\n0 passed, 1 failed, 0 skipped' % e)
        return 1
    finally:
        end_wine(t)
        shutil.rmtree(t.folder, ignore_errors=True)



if __name__ == '__main__':
    sys.exit(main())
