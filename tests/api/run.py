#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds programs on the public header and the built library, and runs them: the examples as C99 and as
C++17, on the shared library and on the archive; two sessions in two threads; random calls; the library
in a Python that has its own readline. The last line counts.

    tests/api/run.py --bin build
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MLP = os.path.join(ROOT, 'testdata', 'recorded', 'mlp_0')
STRICT = ['-pedantic', '-Wall', '-Wextra', '-Werror', '-I', os.path.join(ROOT, 'include')]
counts = {'passed': 0, 'failed': 0, 'skipped': 0}


def run(words, **env):
    p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       env=dict(os.environ, LC_ALL='C', **env), cwd=ROOT, timeout=600)
    return p.returncode, p.stdout.decode('utf-8', 'backslashreplace')


def judge(name, why):
    """Counts a check. why: the failure, or an empty text."""
    counts['failed' if why else 'passed'] += 1
    if why:
        print('%s:\n%s' % (name, why.rstrip()))


def skip(name, why):
    counts['skipped'] += 1
    print('%s: skipped: %s' % (name, why))


def build(source, out, compiler, flags, link):
    status, text = run(compiler + flags + STRICT + [source, '-o', out] + link)
    return text if status else ''


def example_says(exe, **env):
    files = [os.path.join(MLP, f) for f in ('graph.pb', 'run_meta_0.pb', 'run_meta_1.pb', 'run_meta_2.pb')]
    status, text = run([exe] + files, **env)
    lines = text.strip().split('\n')
    times = [float(x.split()[0]) for x in lines if ' us ' in x and ' runs ' in x]
    if status or len(lines) != 10 or sorted(times, reverse=True) != times or len(times) != 10 or 'MatMul' not in text:
        return 'status %d\n%s' % (status, text)
    return refuses_missing(exe, ['/no/such', '/no/such'], **env)


def refuses_missing(exe, files, **env):
    status, text = run([exe] + files, **env)
    return '' if status == 1 and "NOT_FOUND: " in text and '/no/such' in text else 'status %d\n%s' % (status, text)


def kernels_say(exe, **env):
    status, text = run([exe, os.path.join(ROOT, 'testdata', 'traces', 'training.pt.trace.json.gz')], **env)
    lines = text.strip().split('\n')
    if status or len(lines) != 4 or lines[0].split()[:5] != ['25.522', 'ms', '81.3%', '96', 'x']:
        return 'status %d\n%s' % (status, text)
    return refuses_missing(exe, ['/no/such'], **env)


def lay_out(folder):
    """Writes inputs for random_calls.c: intact and damaged files, and patterns of all kinds."""
    os.mkdir(folder)
    spool = os.path.join(ROOT, 'testdata', 'small', 'train.tfspool')
    for name in ('graph.pb', 'run_meta_0.pb', 'profile.pb', 'op_log.pb'):
        if os.path.exists(os.path.join(MLP, name)):
            shutil.copy(os.path.join(MLP, name), folder)
    for name, options in (('rec', None), ('rec_pattern', '--step-nvtx=Profiler.*'), ('rec_bad_pattern', '--step-kernel=('),
                          ('rec_slow', '--step-nvtx=([a-zA-Z#.:_0-9]+)+!'), ('rec_cut', '--step-nvtx=pytorch')):
        os.mkdir(os.path.join(folder, name))
        with open(spool, 'rb') as f, open(os.path.join(folder, name, 'train.tfspool'), 'wb') as to:
            data = f.read()
            at = len(data) // 2
            to.write(data if name != 'rec_cut' else data[:at] + b'damaged!' + data[at + 8:])
        if options:
            with open(os.path.join(folder, name, 'options'), 'w') as f:
                f.write(options + '\n')
    with open(os.path.join(folder, 'graph.pb'), 'rb') as f:
        data = f.read()
    for name, part in (('cut.pb', data[:len(data) // 2]), ('noise', bytes(range(256)) * 4)):
        with open(os.path.join(folder, name), 'wb') as f:
            f.write(part)


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--bin', default='build', help='the folder with libtfprof.so and libtfprof.a')
    p.add_argument('--san', default='', help='the sanitizers it was built with')
    p.add_argument('--seeds', type=int, default=1, help='sequences of random calls')
    args = p.parse_args()
    bin_dir = os.path.abspath(args.bin)
    tmp = tempfile.mkdtemp(prefix='tfprof-api-')
    try:
        check(bin_dir, tmp, ['-fsanitize=' + args.san] if args.san else [], args.seeds)
    finally:
        shutil.rmtree(tmp)
    print('%(passed)d passed, %(failed)d failed, %(skipped)d skipped' % counts)
    return 1 if counts['failed'] else 0


def check(bin_dir, tmp, san, seeds):
    os.symlink(os.path.join(bin_dir, 'libtfprof.so'), os.path.join(tmp, 'libtfprof.so.0'))
    cc = [os.environ.get('CC') or 'cc'] + san
    cxx = next(([c, '-x', 'c++'] + san for c in ('g++', 'clang++') if shutil.which(c)), None)
    so = ['-x', 'none', os.path.join(tmp, 'libtfprof.so.0')]
    status, libs = run(['pkg-config', '--libs', 'libprotobuf-c', 'libpcre2-8', 'zlib'])
    with open(os.path.join(bin_dir, 'libtfprof.a'), 'rb') as f:
        text = f.read()
    snappy = ['-lsnappy'] if b'snappy_uncompress' in text else []
    snappy += ['-lsqlite3'] if b'sqlite3_step' in text else []
    snappy += ['-lstdc++'] if b'__cxa_demangle' in text else []
    archive = ['-x', 'none', os.path.join(bin_dir, 'libtfprof.a')] + libs.split() + snappy + ['-lm', '-pthread']
    examples = [('op_types', example_says), ('top_kernels', kernels_say)]
    for name, compiler, std, link in (('C99, shared', cc, 'c99', so), ('C99, archive', cc, 'c99', archive),
                                      ('C++17, shared', cxx, 'c++17', so)):
        if not compiler:
            skip(name, 'no C++ compiler')
            continue
        for example, says in examples:
            exe = os.path.join(tmp, example)
            why = build(os.path.join(ROOT, 'examples', example + '.c'), exe, compiler, ['-std=' + std], link)
            judge('example %s, %s' % (example, name), why or says(exe, LD_LIBRARY_PATH=tmp))
    exe = os.path.join(tmp, 'two_sessions')
    why = build(os.path.join(ROOT, 'tests', 'api', 'two_sessions.c'), exe, cc, ['-std=c99', '-pthread'], so)
    if not why:
        status, text = run([exe, os.path.join(MLP, 'profile.pb')], LD_LIBRARY_PATH=tmp)
        why = text if status else ''
    judge('two sessions', why)
    exe = os.path.join(tmp, 'long_use')
    why = build(os.path.join(ROOT, 'tests', 'api', 'long_use.c'), exe, cc, ['-std=gnu11', '-pthread'], so)
    if not why:
        status, text = run([exe, os.path.join(MLP, 'profile.pb'), '200' if san else '2500'], LD_LIBRARY_PATH=tmp)
        why = text if status else ''
    judge('long use', why)
    exe, folder = os.path.join(tmp, 'random_calls'), os.path.join(tmp, 'inputs')
    why = build(os.path.join(ROOT, 'tests', 'api', 'random_calls.c'), exe, cc, ['-std=gnu11'], so)
    lay_out(folder)
    for seed in range(1, seeds + 1):
        status, text = (1, why) if why else run([exe, str(seed), '300', folder], LD_LIBRARY_PATH=tmp)
        judge('random calls, seed %d' % seed, 'status %d\n%s' % (status, text) if status else '')
    for example, _ in examples:
        with open(os.path.join(ROOT, 'examples', example + '.c')) as f:
            judge(example + ' is short', '' if len(f.readlines()) < 60 else 'it has 60 lines or more')
    needs = run(['ldd', os.path.join(bin_dir, 'libtfprof.so')])[1]
    judge('prompt libraries', needs if 'libedit' in needs or 'readline' in needs else '')
    if san:
        return  # a sanitizer's runtime must be the first library of the process
    code = ('import readline, ctypes; lib = ctypes.CDLL(%r); lib.tfp_version.restype = ctypes.c_char_p; '
            'assert lib.tfp_version()' % os.path.join(bin_dir, 'libtfprof.so'))
    status, text = run([sys.executable, '-c', code])
    judge('beside readline', text if status else '')


if __name__ == '__main__':
    sys.exit(main())
