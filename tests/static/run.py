#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the static program has no interpreter and no needed libraries, is small, runs in an empty root, and prints the
same as the shared program. A program for another processor runs under qemu's user emulation.

    tests/static/run.py --program build/check/tfprof --static build/check/tfprof-static
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'check'))
import cases  # noqa: E402
from cases import Skip  # noqa: E402

SMALL = os.path.join(ROOT, 'testdata', 'small')
MODEL = ['--graph_path=%s/views.graph.pbtxt', '--op_log_path=%s/views.op_log.pbtxt', '--run_meta_path=%s/views.run_meta_0.pbtxt']
COMMANDS = [['scope', '-max_depth', '20'], ['op', '-select', 'micros,bytes,occurrence', '-order_by', 'micros'],
            ['scope', '-show_name_regexes', '.*(a|b).*'], ['graph', '-output', 'json'], ['advise']]
# Bytes. Most of the program is needed: in KiB, tfprof itself 1,900, C library 1,050, SQLite 1,000, PCRE2 530, libm 290, ncurses and
# libtinfo 230, libevent 160, unwind tables 610. Exceptions of snappy and libstdc++ need the unwind tables.
LARGEST = 7 << 20
CXX_NAMES = ['view/cxx_names', 'spool/timeline']  # golden cases with mangled names
RECORDED = 150  # recorded answers of the original that are compared, drawn with a fixed seed
MACHINES = {b'\x3e\0': 'x86_64', b'\xb7\0': 'aarch64'}  # e_machine of ELF files


def run(words, **more):
    p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, **more)
    return p.returncode, p.stdout, p.stderr


def machine(path):
    with open(path, 'rb') as f:
        return MACHINES[f.read(20)[18:]]


def model(folder):
    return [w % folder for w in MODEL]


def alone(t):
    """The program needs no other file, and has at most 7 MiB."""
    text = subprocess.run(['readelf', '-lWd', t.static], check=True, stdout=subprocess.PIPE).stdout.decode()
    assert 'INTERP' not in text and 'NEEDED' not in text, text
    assert os.path.getsize(t.static) <= LARGEST, os.path.getsize(t.static)
    kernel = re.search(r'ABI: (\d+)\.(\d+)', subprocess.run(['readelf', '-nW', t.static], check=True,
                                                           stdout=subprocess.PIPE).stdout.decode())
    musl = b'GNU C Library' not in open(t.static, 'rb').read()  # musl states no kernel version: it runs on any kernel since 2.6
    assert musl or (kernel and tuple(map(int, kernel.groups())) <= (3, 10)), kernel and kernel.group(0)


def answers(t):
    """The program prints the same as the shared program."""
    for words in COMMANDS:
        both = [run(p + model(SMALL) + words) for p in ([t.program], t.start)]
        assert both[0] == both[1] and both[0][0] == 0, (words, both)


def empty_root(t):
    """The program runs in a root that contains only itself and its inputs."""
    os.mkdir('root')
    shutil.copy(t.static, 'root/tfprof')
    shutil.copytree(SMALL, 'root/small')
    enter = ['chroot', 'root'] if os.getuid() == 0 else ['unshare', '-r', 'chroot', 'root']
    if len(t.start) > 1:
        shutil.copy(t.start[0], 'root/emulator')
        enter.append('/emulator')
    if not shutil.which(enter[0]) or run(enter + ['/tfprof', 'help'])[0]:
        raise Skip('no chroot here') if run(enter + ['/none'])[0] == 125 else AssertionError(run(enter + ['/tfprof', 'help']))
    for words in COMMANDS:
        inside = run(enter + ['/tfprof'] + model('/small') + words)
        outside = run([t.program] + model(SMALL) + words)
        assert inside[1].replace(b'/small/', SMALL.encode() + b'/') == outside[1] and inside[0] == 0, (words, inside)


def libraries(t):
    """The program contains the libraries of the shared program, and loads none."""
    one, other = (re.sub(r'(?m)^(\w\S* +yes).*', r'\1', run(p + ['--version'])[1].decode().split('\ncupti')[0])
                  for p in ([t.program], t.start))
    assert one == other, (one, other)
    said = run(t.start + ['doctor'])[1].decode()
    assert 'not checked: this program is static' in said, said


def page(t):
    """The program writes pages, with the notices of the JavaScript modules in them."""
    code, _, err = run(t.start + ['report', os.path.join(ROOT, 'testdata/traces/trace.xplane.pb'), '-o', 'page.html'])
    assert code == 0, err
    with open('page.html', encoding='utf-8') as f:
        assert 'Mike Bostock' in f.read()


def recorded(t):
    """Recorded answers of the original are equal, byte for byte."""
    p = subprocess.run([sys.executable, '-B', os.path.join(ROOT, 'tests/recorded/run.py'), '--program', t.static, '--sample', str(RECORDED),
                        '--exec-prefix', ' '.join(t.start[:-1])], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    last = p.stdout.decode().strip().split('\n')[-1]
    assert last == '%d passed, 0 failed, 0 skipped' % RECORDED, p.stdout.decode()[-3000:]


def cxx_names(t):
    """Names of C++ functions are equal to those of the shared program."""
    p = subprocess.run([sys.executable, '-B', os.path.join(ROOT, 'tests/cli/run.py'), '--program', t.static, '--exec-prefix', ' '.join(t.start[:-1]),
                        *CXX_NAMES], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert p.stdout == b'%d passed, 0 failed, 0 skipped\n' % len(CXX_NAMES), p.stdout.decode()[-3000:]


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', default=os.path.join(ROOT, 'build/check/tfprof'))
    p.add_argument('--static', default=os.path.join(ROOT, 'build/check/tfprof-static'))
    a = p.parse_args()
    a.program, a.static = os.path.abspath(a.program), os.path.abspath(a.static)
    a.start = [a.static]  # the words that run the static program
    if machine(a.static) != os.uname().machine:
        a.start.insert(0, shutil.which('qemu-%s-static' % machine(a.static)))
        if not a.start[0]:
            print('skipped: qemu-user-static is missing\n0 passed, 0 failed, 1 skipped')
            sys.exit(0)
    sys.exit(cases.run([alone, answers, empty_root, libraries, page, cxx_names, recorded], a))
