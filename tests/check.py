#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a tier on what make has built, and counts: called by make check and its kin.

Each step (steps.py) ends in a line "N passed, N failed, N skipped"; so does the whole.
    tests/check.py --bin build/check [--filter NAME] quick|deep|real
"""
import argparse
import concurrent.futures
import glob
import os
import re
import resource
import signal
import sys
import time

from steps import (CPUS, MANY, ROOT, Result, clang_format, counted, data_tools, docs, faults, header,
                   inject, limits, lint, models, prose, python_load, recorded, replay, security, unit,
                   valgrind)

SKIPPED = re.compile(r'^(?:skip|\S+: skip|skipped: |\[  SKIPPED \] (?!\d)).*', re.M)


# ---- tiers --------------------------------------------------------------------------------------
def units(bin_dir, only=None):
    return [(os.path.basename(s)[:-2], lambda s=s: unit(os.path.join(bin_dir, 'unit',
                                                                     os.path.basename(s)[:-2])))
            for s in sorted(glob.glob('tests/unit/test_*.c')) if not only or only(s)]


# Of spools as profiles, what valgrind has the time for: cuts and damage have unit tests.
SPOOLS_SLOWLY = ['names', 'ranges', 'join', 'wrap', 'steps_marks', 'gpus', 'ranks', 'clock', 'sums', 'kept', 'size']


def spool(bin_dir, program=None, names=()):
    return counted([sys.executable, '-B', 'tests/spool/run.py', '--program', program or os.path.join(bin_dir, 'tfprof'),
                    '--make', os.path.join(bin_dir, 'spool_make')] + list(names))


# What reads spools, and the parts of the collector by themselves.
SPOOLS = re.compile(r'test_(spool|spool_join|gpu_use|demangle|names|plan|pool|ring)\.c')


def under_valgrind(program):
    """A script that runs a program under valgrind."""
    path = os.path.join(ROOT, 'build', 'valgrind', os.path.basename(program))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write('#!/bin/sh\nexec valgrind -q --error-exitcode=99 %s "$@"\n' % os.path.join(ROOT, program))
    os.chmod(path, 0o755)
    return path


def keys(program, seeds):
    return counted([sys.executable, '-B', 'tests/term/keys.py', '--program', program, '--seeds', seeds])


def waits(bin_dir):
    return counted([sys.executable, '-B', 'tests/waits.py', '--program', os.path.join(bin_dir, 'tfprof'),
                    '--make', os.path.join(bin_dir, 'spool_make')])


def real_cupti(bin_dir, *more):
    return counted([sys.executable, '-B', 'tests/inject/real.py', '--bin', bin_dir] + list(more))


def spool_goldens(bin_dir, *more):
    return counted([sys.executable, '-B', 'tests/cli/run.py', '--program', os.path.join(bin_dir, 'tfprof'), 'spool/'] + list(more))


def collector(bin_dir, tsan):
    """The tests that tests/inject/README.md lists, each under ASan and UBSan, TSan and valgrind."""
    plain = 'build/check'
    steps = [('inject', lambda: inject(bin_dir, '--san', 'address,undefined', '--long')),
             ('inject-tsan', lambda: inject(tsan, '--san', 'thread')),
             ('inject-valgrind', lambda: inject(plain, '--valgrind')),
             ('inject-options-20', lambda: inject(plain, '--options', '--times-over=20', '--jobs=8')),
             ('inject-real', lambda: real_cupti(plain)),
             ('inject-real-asan', lambda: real_cupti(bin_dir, '--san', 'address,undefined')),
             ('inject-real-tsan', lambda: real_cupti(tsan, '--san', 'thread')),
             ('inject-real-valgrind', lambda: real_cupti(plain, '--valgrind')),
             ('gpu-rehearsal', lambda: counted([sys.executable, '-B', 'tests/gpu/rehearsal.py', '--bin', plain])),
             ('cli-spool-tsan', lambda: spool_goldens(tsan)),
             ('cli-spool-valgrind', lambda: spool_goldens(plain, '--exec-prefix', 'valgrind -q --error-exitcode=99')),
             ('spool-tsan', lambda: spool(tsan)),
             ('spool-valgrind', lambda: spool(plain, under_valgrind(plain + '/tfprof'), SPOOLS_SLOWLY))]
    steps += [('tsan-' + n, f) for n, f in units(tsan, SPOOLS.search)]
    for source in filter(SPOOLS.search, sorted(glob.glob('tests/unit/test_*.c'))):
        program = os.path.join(plain, 'unit', os.path.basename(source)[:-2])
        steps.append(('valgrind-' + os.path.basename(program), lambda p=program: unit(under_valgrind(p))))
    return steps


# These are given the filter, and find in it what is theirs.
SELECTING = ('cli', 'examples', 'recorded', 'recorded-threads', 'tsan-recorded', 'upstream', 'recorded-real')


# They begin first: what begins late ends late.
LONGEST = ('lint', 'spool-valgrind', 'differential', 'inject-valgrind', 'inject', 'gpu-quick', 'spool-tsan', 'gpu-rehearsal', 'cost', 'data',
           'spool-original', 'inject-tsan', 'faults', 'limits', 'valgrind', 'data-tools', 'checkpoint-oracle',
           'tsan-test_spool_join', 'cli', 'term', 'record', 'locales', 'pprof', 'checkpoint', 'errors')


def filters(step):
    """What a step is to select its tests by: nothing, if it is itself what was asked for."""
    return [ARGS.filter] if ARGS.filter not in step else []


def quick(bin_dir):
    program = os.path.join(bin_dir, 'tfprof')
    return units(bin_dir) + [
        ('layers', lambda: counted([sys.executable, '-B', 'tools/check_layers.py'])),
        ('symbols', lambda: counted(['sh', 'tools/check_symbols.sh', bin_dir])),
        ('hardening', lambda: counted(['sh', 'tools/check_hardening.sh', bin_dir])),
        ('format', clang_format), ('header', header), ('docs', lambda: docs(bin_dir)), ('prose', prose), ('models', lambda: models(bin_dir)),
        ('install', lambda: counted([sys.executable, '-B', 'tests/install.py', '--bin', bin_dir])),
        ('python-load', lambda: python_load(bin_dir)),
        ('checkpoint', lambda: counted([sys.executable, '-B', 'tests/checkpoint.py', '--program',
                                        program])),
        ('recover', lambda: counted([sys.executable, '-B', 'tests/recover.py', '--program', program,
                                        '--make', os.path.join(bin_dir, 'spool_make')])),
        ('timelines', lambda: counted([sys.executable, '-B', 'tests/timeline_check.py', '--program',
                                       program])),
        ('pprof', lambda: counted([sys.executable, '-B', 'tests/pprof_check.py', '--program', program])),
        ('diffs', lambda: counted([sys.executable, '-B', 'tests/diff_check.py', '--program', program])),
        ('sessions', lambda: counted([sys.executable, '-B', 'tests/cli/sessions.py', '--program', program])),
        ('data', lambda: counted([sys.executable, '-B', 'tests/data/run.py', '--program', program])),
        ('large', lambda: counted([sys.executable, '-B', 'tests/large.py', '--program', program])),
        ('spool', lambda: spool(bin_dir)),
        ('traces', lambda: counted([sys.executable, '-B', 'tests/trace/run.py', '--bin', bin_dir])),
        ('traces-kineto', lambda: counted([sys.executable, '-B', 'tests/trace/kineto_run.py', '--bin', bin_dir])),
        ('record', lambda: counted([sys.executable, '-B', 'tests/record/run.py', '--program', program, '--tools',
                                    bin_dir])),
        ('inject', lambda: inject(bin_dir)),
        # t28 waits for silences, which a busy machine makes by itself: check-deep runs it under the options too.
        ('inject-options', lambda: inject(bin_dir, '--options', '--', 't06', 't08', 't23', 't25')),
        ('gpu-quick', lambda: counted([sys.executable, '-B', 'tests/gpu/rehearsal.py', '--quick', '--bin', bin_dir])),
        ('api', lambda: counted([sys.executable, '-B', 'tests/api/run.py', '--bin', bin_dir])),
        ('python', lambda: counted([sys.executable, '-B', 'tests/python/run.py', '--bin', bin_dir])),
        ('cli', lambda: counted([sys.executable, '-B', 'tests/cli/run.py', '--program', program] + filters('cli'))),
        ('examples', lambda: counted([sys.executable, '-B', 'tests/examples/run.py', '--program', program] + filters('examples'))),
        ('errors', lambda: counted([sys.executable, '-B', 'tests/errors/run.py', '--program', program])),
        ('term', lambda: counted([sys.executable, '-B', 'tests/term/run.py', '--program', program, '--tools', bin_dir])),
        ('keys', lambda: keys(program, '1-6')),
        ('waits', lambda: waits(bin_dir)),
        ('locales', lambda: counted([sys.executable, '-B', 'tests/locale/run.py', '--program', program])),
        ('faults', lambda: faults(bin_dir)),
        ('security', lambda: security(bin_dir)),
        ('recorded', lambda: recorded(program, '1', *filters('recorded'))),
        ('recorded-threads', lambda: recorded(program, MANY, *filters('recorded-threads'), skips=False))]


SAN_ENV = {'ASAN_OPTIONS': 'detect_leaks=1:abort_on_error=1', 'UBSAN_OPTIONS': 'print_stacktrace=1',
           'TSAN_OPTIONS': 'halt_on_error=1:abort_on_error=1'}


# MSan does not see what a library writes that was built without it. Tests that look at such bytes, and who writes them:
MSAN_BLIND = {'test_api_spool': 'PCRE2, why a pattern is wrong', 'test_pprof': 'protobuf-c',
              'test_profilepb': 'protobuf-c', 'test_resultpb': 'protobuf-c', 'test_rx': 'PCRE2, why a pattern is wrong',
              'test_pattern_limits': 'PCRE2', 'test_rx_subst': 'PCRE2', 'test_sstable': 'snappy'}


def deep(bin_dir):
    os.environ.update(SAN_ENV)
    tsan = ARGS.tsan
    steps = units(bin_dir)
    steps += [('tsan-' + n, f) for n, f in units(tsan, lambda s: re.search(r'par|input|session|api', s))]
    steps += [('msan-' + n, f) for n, f in units(ARGS.msan, lambda s: os.path.basename(s)[:-2] not in MSAN_BLIND)]
    seeds = sorted(glob.glob('testdata/recorded/*/*.pb') + glob.glob('testdata/recorded/*/*.pbtxt'))
    steps.append(('libprotobuf', lambda: counted(
        [sys.executable, '-B', 'tests/oracle/pb_differential.py', '--try',
         os.path.join(bin_dir, 'oracle', 'pb_try'), '--judge', 'build/gen-cc/pb_judge'] + seeds)))
    steps += replays(bin_dir)
    steps += [('api', lambda: counted([sys.executable, '-B', 'tests/api/run.py', '--bin', bin_dir,
                                       '--san', 'address,undefined'])),
              ('api-tsan', lambda: counted([sys.executable, '-B', 'tests/api/run.py', '--bin', tsan,
                                            '--san', 'thread'])),
              ('python', lambda: counted([sys.executable, '-B', 'tests/python/run.py', '--bin', bin_dir,
                                          '--preload', 'libasan.so,libubsan.so'])),
              ('checkpoint', lambda: counted([sys.executable, '-B', 'tests/checkpoint.py', '--sanitized',
                                              '--program', os.path.join(bin_dir, 'tfprof')])),
              ('recover', lambda: counted([sys.executable, '-B', 'tests/recover.py', '--sample', '800', '--program',
                                           os.path.join(bin_dir, 'tfprof')])),
              ('checkpoint-oracle', lambda: counted([sys.executable, '-B', 'tests/oracle/checkpoint.py',
                                                     '--program', os.path.join(bin_dir, 'tfprof')])),
              ('data', lambda: counted([sys.executable, '-B', 'tests/data/run.py', '--all', '--program',
                                        os.path.join(bin_dir, 'tfprof')])),
              ('data-tools', lambda: data_tools(os.path.join(bin_dir, 'tfprof'))),
              ('large', lambda: counted([sys.executable, '-B', 'tests/large.py', 'whole', '--program',
                                         os.path.join(bin_dir, 'tfprof')])),
              ('large-tsan', lambda: counted([sys.executable, '-B', 'tests/large.py', 'threads', '--program',
                                              os.path.join(tsan, 'tfprof')])),
              ('diffs', lambda: counted([sys.executable, '-B', 'tests/diff_check.py', '--seeds', '6', '--program',
                                         os.path.join(bin_dir, 'tfprof')])),
              ('spool', lambda: spool(bin_dir)),
              ('traces', lambda: counted([sys.executable, '-B', 'tests/trace/run.py', '--bin', bin_dir])),
              ('traces-kineto', lambda: counted([sys.executable, '-B', 'tests/trace/kineto_run.py', '--bin', bin_dir])),
              ('spool-original', lambda: counted([sys.executable, '-B', 'tests/oracle/spool.py', '--make',
                                                  os.path.join(bin_dir, 'spool_make'), '--program',
                                                  os.path.join(bin_dir, 'tfprof')])),
              ('record', lambda: counted([sys.executable, '-B', 'tests/record/run.py', '--tools', bin_dir, '--program',
                                          os.path.join(bin_dir, 'tfprof')])),
              ('keys', lambda: keys(os.path.join(bin_dir, 'tfprof'), '1-40')),
              ('waits', lambda: waits(bin_dir)),
              ('sessions', lambda: counted([sys.executable, '-B', 'tests/cli/sessions.py', '--seeds', '100-150',
                                            '--program', os.path.join(bin_dir, 'tfprof')])),
              ('differential', lambda: counted([sys.executable, '-B', 'tests/oracle/differential.py', '--seeds',
                                                '1-40', '--seconds', '60', '--program',
                                                os.path.join(bin_dir, 'tfprof')]))]
    steps += collector(bin_dir, tsan)
    steps += [('cli', lambda: counted([sys.executable, '-B', 'tests/cli/run.py', '--program',
                                       os.path.join(bin_dir, 'tfprof')] + filters('cli'))),
              ('faults', lambda: faults('build/check', '--all')),
              ('limits', lambda: limits('build/check')),
              ('static', lambda: counted([sys.executable, '-B', 'tests/static.py'])),
              ('wheel', lambda: counted([sys.executable, '-B', 'tests/wheel.py', '--portable'])),
              ('valgrind', lambda: valgrind('build/check')),
              ('lint', lint),
              ('recorded', lambda: recorded(os.path.join(bin_dir, 'tfprof'), MANY, *filters('recorded'))),
              ('tsan-recorded', lambda: recorded(os.path.join(tsan, 'tfprof'), MANY, '--inputs-only',
                                                 *filters('tsan-recorded'), skips=False)),
              ('cost', lambda: counted([sys.executable, '-B', 'tests/bench/guard.py']))]
    return steps


def replays(bin_dir):
    names = [os.path.basename(s)[:-2] for s in sorted(glob.glob('tests/fuzz/fuzz_*.c'))]
    return [('replay-' + n, lambda n=n: replay(os.path.join(bin_dir, 'fuzz', n), 'testdata/fuzz/' + n[len('fuzz_'):]))
            for n in names]


def covered(bin_dir):
    """What says which lines are reached: no test of the build itself, nor of the collector, which is not counted;
    nothing that takes long. No faults: they hit the calls by which the compiler's library writes its counts, too."""
    program = os.path.join(bin_dir, 'tfprof')
    left_out = ('layers', 'symbols', 'hardening', 'format', 'header', 'install', 'python-load', 'python', 'api', 'docs',
                'models', 'inject', 'gpu-quick', 'examples', 'locales', 'faults', 'security', 'recorded')
    return [s for s in quick(bin_dir) if s[0] not in left_out] + replays(bin_dir)


def real(bin_dir):
    program = os.path.join(bin_dir, 'tfprof')
    if not ARGS.realdata:
        return [('real', lambda: Result(skipped=1, note='REALDATA is not set'))]
    steps = [('upstream', lambda: counted([sys.executable, '-B', 'tests/real.py', '--program', program,
                                          '--realdata', ARGS.realdata] + filters('upstream'))),
            ('checkpoint-real', lambda: counted([sys.executable, '-B', 'tests/checkpoint.py', '--program', program,
                                                 '--realdata', ARGS.realdata, 'hostile', 'damage_real'])),
            ('traces-real', lambda: counted([sys.executable, '-B', 'tests/trace/real.py', '--bin', bin_dir, '--realdata',
                                             ARGS.realdata] + (['--modern', ARGS.modern] if ARGS.modern else []))),
            ('traces-kineto-real', lambda: counted([sys.executable, '-B', 'tests/trace/kineto_real.py', '--bin', bin_dir,
                                                    '--realdata', ARGS.realdata] +
                                                   (['--modern', ARGS.modern] if ARGS.modern else [])))]
    if ARGS.golden:
        release = os.path.join(ARGS.golden, 'release')
        steps.append(('recorded-real', lambda: recorded(
            program, MANY, '--data', release if os.path.isdir(release) else ARGS.golden, '--realdata',
            ARGS.realdata, *filters('recorded-real'))))
    else:
        steps.append(('recorded-real', lambda: Result(skipped=1, note='GOLDEN is not set')))
    return steps


def tell(name, r, seconds):
    word = 'FAILED' if r.failed else 'ok' if r.passed else 'skip'
    print('%-7s%-20s %5d passed %3d failed %5d skipped %6.1fs%s' % (
        word, name, r.passed, r.failed, r.skipped, seconds, '  ' + r.note if r.note else ''))
    if r.skipped and not r.failed:
        print(''.join('    %s\n' % x for x in SKIPPED.findall(r.text)), end='')
    if r.text.strip() and (r.failed or name.startswith(('recorded', 'upstream', 'tsan-rec', 'cost'))):
        print('\n'.join('    ' + x for x in r.text.rstrip().split('\n')))
    sys.stdout.flush()


def timed(name, f):
    t = time.time()
    try:
        r = f()
    except OSError as e:
        r = Result(failed=1, text=str(e))
    return name, r, time.time() - t


# What people, batch systems and other profilers set for the programs they start, and would change what ours say.
SET_BY_OTHERS = re.compile(
    r'(CUDA|NVTX)_INJECTION64_PATH$|CUDA_VISIBLE_DEVICES$|TFPROF_(?!ORACLE$)|(LOCAL_)?RANK$|WORLD_SIZE$|TORCHELASTIC_|OMPI_|PMIX?_|SLURM_|'
    r'NO_COLOR$|CLICOLOR|PAGER$|MANPAGER$|LESS|COLUMNS$|LINES$|XDG_|POSIXLY_CORRECT$|GREP_|CDPATH$|ENV$|BASH_ENV$|TMOUT$|INPUTRC$|'
    r'EDITRC$|HIST|TMUX|TZ$|LANGUAGE$|GZIP$|PYTHON(WARNINGS|UTF8|IOENCODING|HASHSEED|OPTIMIZE|STARTUP|INSPECT)$')


def plain_surroundings():
    """What surrounds us (nohup, a job in the background, a login script) is not for the programs we test."""
    for name in filter(SET_BY_OTHERS.match, list(os.environ)):
        del os.environ[name]
    os.umask(0o022)
    few, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if few < 1024:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024 if most == resource.RLIM_INFINITY else min(1024, most), most))
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for n in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:  # subprocess sees to these
        if signal.getsignal(n) == signal.SIG_IGN:
            signal.signal(n, lambda *_: None)


def main():
    plain_surroundings()
    steps = {'quick': quick, 'deep': deep, 'real': real, 'covered': covered}[ARGS.tier](ARGS.bin)
    if ARGS.filter:
        steps = [s for s in steps if ARGS.filter in s[0] or s[0] in SELECTING]
    steps.sort(key=lambda s: LONGEST.index(s[0]) if s[0] in LONGEST else len(LONGEST))
    results = []
    # One more than there are CPUs: some of them wait for clocks and terminals.
    with concurrent.futures.ThreadPoolExecutor(CPUS + 1) as pool:
        for done in concurrent.futures.as_completed([pool.submit(timed, *s) for s in steps]):
            name, r, seconds = done.result()
            if ARGS.filter and not r.passed and not r.skipped and (not r.failed or 'has that name' in r.text):
                continue
            tell(name, r, seconds)
            results.append(r)
    sums = [sum(getattr(r, k) for r in results) for k in ('passed', 'failed', 'skipped')]
    if ARGS.filter and not any(sums):
        print('no test has "%s" in its name' % ARGS.filter)
        sums[1] = 1
    print('%d passed, %d failed, %d skipped' % tuple(sums))
    return 1 if sums[1] else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('tier', choices=['quick', 'deep', 'real', 'covered'])
    p.add_argument('--bin', default='build')
    p.add_argument('--tsan', default='build/san-thread')
    p.add_argument('--msan', default='build/san-memory')
    p.add_argument('--filter', default='')
    p.add_argument('--realdata', default='')
    p.add_argument('--golden', default='')
    p.add_argument('--modern', default='')
    ARGS = p.parse_args()
    for k in ('realdata', 'golden', 'modern'):
        if getattr(ARGS, k):
            setattr(ARGS, k, os.path.abspath(getattr(ARGS, k)))
    os.chdir(ROOT)
    sys.exit(main())
