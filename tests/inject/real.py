#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the collector with NVIDIA's own libcupti and headers, without a driver. They come from packages of PyPI and are kept in
a scratch folder; the test is skipped if they cannot be had. The last line counts.

    tests/inject/real.py --bin build/check [--packages FOLDER] [--valgrind]
    tests/inject/real.py --bin build/san-thread --san thread
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, 'tests', d) for d in ('check', 'gpu')]
import fixtures  # noqa: E402
import step  # noqa: E402

# For each generation: CUPTI, the headers that it needs, and their places in the package.
GENERATIONS = {
    '13': ['nvidia-cuda-cupti==13.0.85', 'nvidia-cuda-runtime==13.0.96', 'nvidia-cuda-crt==13.0.88'],
    '13 newest': ['nvidia-cuda-cupti', 'nvidia-cuda-runtime', 'nvidia-cuda-crt'],
    '12': ['nvidia-cuda-cupti-cu12==12.9.79', 'nvidia-cuda-runtime-cu12==12.9.79', 'nvidia-cuda-nvcc-cu12==12.9.86'],
    '11': ['nvidia-cuda-cupti-cu11==11.8.87', 'nvidia-cuda-runtime-cu11==11.8.89', 'nvidia-cuda-nvcc-cu11==11.8.89'],
}
# The newest patch of each minor version, with the headers of a generation: offsets, and that the program runs normally
# if CUPTI cannot start.
MINORS = dict([('11.%d' % i, ('nvidia-cuda-cupti-cu11==11.%d.*' % i, '11')) for i in (7, 8)] +
              [('12.%d' % i, ('nvidia-cuda-cupti-cu12==12.%d.*' % i, '12')) for i in (0, 1, 2, 3, 4, 5, 6, 8, 9)] +
              [('13.%d' % i, ('nvidia-cuda-cupti==13.%d.*' % i, '13 newest')) for i in range(6)] +
              [('13.2 first', ('nvidia-cuda-cupti==13.2.23', '13 newest'))])
NVTX = ['nvidia-nvtx-cu12==12.9.79']
counts = {'passed': 0, 'failed': 0, 'skipped': 0}


def judge(name, ok, text=''):
    counts['passed' if ok else 'failed'] += 1
    if not ok:
        print('%s: %s' % (name, text))


def skip(name, why):
    counts['skipped'] += 1
    print('%s: skipped: %s' % (name, why))


def packages(name, wanted):
    """Returns the folder with the unpacked packages, or None if they cannot be had."""
    folder = os.path.join(ARGS.packages, name.replace(' ', '-'))
    with step.locked(folder):  # several steps of check-deep use it
        return folder if os.path.exists(folder + '/done') or install(name, folder, wanted) else None


def install(name, folder, wanted):
    """Unpacks packages into a folder. False if they cannot be had, which is counted as a skip."""
    shutil.rmtree(folder, ignore_errors=True)
    p = subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', '--no-deps', '--only-binary=:all:', '--no-compile',
                        '--disable-pip-version-check', '--root-user-action=ignore', '--target', folder] + wanted,
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=600)
    if p.returncode:
        lines = p.stderr.decode('utf-8', 'replace').strip().splitlines()
        skip(name, 'pip cannot install %s (%s)' % (' '.join(wanted), lines[-1] if lines else p.returncode))
        return False
    open(folder + '/done', 'w').close()
    return True


def found(folder, name):
    return sorted(glob.glob(folder + '/nvidia/**/' + name, recursive=True))


def includes(folder):
    dirs = {os.path.dirname(p) for n in ('cupti.h', 'cuda_runtime_api.h') for p in found(folder, n)}
    dirs |= {os.path.dirname(os.path.dirname(p)) for p in found(folder, 'crt/host_defines.h')}
    return [x for d in sorted(dirs) for x in ('-isystem', d)]


def run(words, env=None, **more):
    if env:
        env = dict(env, ASAN_OPTIONS='detect_leaks=0')
    p = subprocess.run((UNDER if env is not None else []) + words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                       env=env and dict(env, PATH=os.environ['PATH'], LC_ALL='C'), **more)
    return p.returncode, p.stdout.decode('utf-8', 'replace')


def generation(name, wanted, scratch):
    folder = packages(name, wanted)
    if not folder:
        return
    cupti = [p for p in found(folder, 'libcupti.so.*')]
    flags = SAN + ['-std=gnu11', '-I', ROOT + '/src'] + includes(folder)
    for cc in ('gcc', 'clang'):
        if shutil.which(cc):
            status, text = run([cc] + flags + ['-fsyntax-only', ROOT + '/tools/probe/cupti_layout.c'])
            judge('01 offsets, CUDA %s, %s' % (name, cc), not status, text[:2000])
    exe = scratch + '/real_cupti'
    status, text = run(['gcc'] + flags + ['-o', exe, ROOT + '/tests/inject/real_cupti.c', '-pthread', '-ldl'] + objects())
    if not status:
        status, text = run([exe, cupti[0]], {})
        print('CUDA %s: %s' % (name, text.strip()))
    judge('02 and 04 records and calls, CUDA %s' % name, not status, (status, text[:2000]))
    fixtures_of(name, folder, cupti[0])
    for driver in ('a driver without a GPU', 'no driver')[:1 if SAN or UNDER else 2]:  # Python itself is built without the sanitizer
        dormant(name, driver, cupti[0], scratch)


# The fake CUPTI whose records have the layout of a generation.
LAYOUTS = {'13': ('libcupti.so.13', 130001), '12': ('libcupti.so.12', 28), '11': ('libcupti.so.11.8', 18)}


def fixtures_of(name, folder, cupti):
    """Raw buffers are readable by the real iterator, and its assembler accepts the kernels of tests/gpu."""
    if name in LAYOUTS and not UNDER:
        wrong, n = fixtures.check_buffers(ARGS.bin, cupti, *LAYOUTS[name])
        judge('16 raw buffers, CUDA %s' % name, not wrong and n >= 11, wrong)
    ptxas = found(folder, 'ptxas')
    if name == '12' and ptxas and not UNDER:
        os.chmod(ptxas[0], 0o755)
        wrong = fixtures.check_ptx(ptxas[0])
        judge('PTX of the checks on a GPU', not wrong, wrong)


def minor(name, wanted, headers, scratch):
    folder, beside = packages(name, [wanted]), packages(headers, GENERATIONS[headers])
    if not folder or not beside:
        return
    if found(folder, 'cupti.h'):  # the package of 11.7 has none
        flags = ['-std=gnu11', '-I', ROOT + '/src'] + includes(folder) + includes(beside)
        status, text = run(['gcc'] + flags + ['-fsyntax-only', ROOT + '/tools/probe/cupti_layout.c'])
        judge('01 offsets, CUDA %s' % name, not status, text[:2000])
    cupti = found(folder, 'libcupti.so.*')[0]
    several(name, cupti)
    for driver in ('a driver without a GPU', 'no driver')[:1 if SAN or UNDER else 2]:
        dormant(name, driver, cupti, scratch)


def several(name, cupti):
    """From 13.3 on, libcupti has all functions with a subscriber, which the collector uses only together."""
    with open(ROOT + '/src/collect/cupti_abi.h') as f:
        wanted = {'cupti' + x for x in re.findall(r'^\tF\((\w+_v2), 1,', f.read(), re.M)}
    has = set(run(['nm', '-D', '--defined-only', cupti])[1].replace('@', ' ').split())
    if [int(x) for x in name.split()[0].split('.')] >= [13, 3]:
        judge('17 functions with a subscriber, CUDA %s' % name, len(wanted) == 12 and wanted <= has, wanted - has)


def objects():
    return sorted(p for p in glob.glob(os.path.join(ARGS.bin, 'obj/collector/src/*/*.o')))


def dormant(name, driver, cupti, scratch):
    """05: If CUPTI finds no GPU, the program runs as without the collector."""
    session = tempfile.mkdtemp(dir=scratch)
    fakes = os.path.join(ARGS.bin, 'fakes')
    env = {'LD_LIBRARY_PATH': fakes, 'TFPROF_SESSION': session, 'TFPROF_CUPTI_PATH': cupti,
           'CUDA_INJECTION64_PATH': os.path.join(ARGS.bin, 'libtfprof_cupti.so')}
    words = [fakes + '/program', 'init', 'launch:5', 'exit:3']
    if driver == 'no driver':
        # Calls the injection without a driver, which only a test can do.
        code = 'import ctypes, sys; r = ctypes.CDLL(%r).InitializeInjection(); sys.exit(3 if r == 1 else 4)'
        words = [sys.executable, '-c', code % env['CUDA_INJECTION64_PATH']]
    begin = time.time()
    status, text = run(words, env)
    spent = time.time() - begin
    log = ''.join(open(p).read() for p in glob.glob(session + '/*.log'))
    judge('05 %s, CUDA %s' % (driver, name), status == 3 and not text and log.count('\n') == 1 and
          log.startswith('no GPU work is recorded: '),
          (status, text, log))
    print('CUDA %s, %s: %.0f ms in all; %s' % (name, driver, spent * 1000, log.strip()))


def nvtx(scratch):
    folder = packages('nvtx', NVTX)
    if not folder:
        return
    header = found(folder, 'nvtx3/nvToolsExt.h')
    flags = SAN + ['-std=gnu11', '-isystem', os.path.dirname(os.path.dirname(header[0])), ROOT + '/tests/inject/real_nvtx.c']
    exe, module = scratch + '/real_nvtx', scratch + '/module.so'
    status, text = run(['gcc'] + flags + ['-o', exe, '-pthread', '-ldl'])
    status2, text2 = run(['gcc', '-DMODULE', '-shared', '-fPIC'] + flags + ['-o', module, '-ldl'])
    judge('29 builds', not status and not status2, text + text2)
    session = tempfile.mkdtemp(dir=scratch)
    collector = os.path.join(ARGS.bin, 'libtfprof_cupti.so')
    status, text = run([exe, module], {'NVTX_INJECTION64_PATH': collector, 'TFPROF_SESSION': session})
    spools = glob.glob(session + '/*.tfspool')
    rows = run([os.path.join(ARGS.bin, 'fakes/dump')] + spools)[1] if len(spools) == 1 else ''
    wanted = ['"domain": "module", "name": "registered"', '"name": "outer"', '"name": "wide \u00e4"', '"name": "mark"',
              '"name": "across threads"', '"name": "deep"']
    missing = [w for w in wanted if w not in rows]
    judge('29 ranges by the real header', not status and not text and not missing, (status, text, missing, rows[-500:]))
    judge('29 depth', rows.count('"name": "deep"') == 128, rows.count('"name": "deep"'))


def main():
    os.makedirs(ARGS.packages, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name, wanted in GENERATIONS.items():
            generation(name, wanted, scratch)
        for name, (wanted, headers) in MINORS.items():
            minor(name, wanted, headers, scratch)
        nvtx(scratch)
    print('%d passed, %d failed, %d skipped' % tuple(counts[k] for k in ('passed', 'failed', 'skipped')))
    return 1 if counts['failed'] else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--bin', default='build/check')
    p.add_argument('--packages', default=os.path.join(ROOT, 'build', 'nvidia'))
    p.add_argument('--san', default='')
    p.add_argument('--valgrind', action='store_true')
    ARGS = p.parse_args()
    SAN = ['-fsanitize=' + ARGS.san] if ARGS.san else []
    UNDER = ['valgrind', '-q', '--error-exitcode=77'] if ARGS.valgrind else []
    ARGS.bin, ARGS.packages = os.path.abspath(ARGS.bin), os.path.abspath(ARGS.packages)
    sys.exit(main())
