#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs make install into a staging folder. A program is linked with the installed library through pkg-config, shared and
static; the installed program finds the collector after a move, also if libraries have a folder of their own.

    tests/install/run.py --bin build/check
"""
import argparse
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'check'))
from step import ROOT, run  # noqa: E402

USER = '''#include <stdio.h>
#include <tfprof/tfprof.h>
int main(void) { return puts(tfp_version()) < 0; }
'''
INSTALLED = ('/bin/tfprof', '/lib/libtfprof.a', '/lib/libtfprof.so', '/lib/tfprof/libtfprof_cupti.so',
             '/include/tfprof/tfprof.h', '/pkgconfig/tfprof.pc', '/man1/tfprof-scope.1', '/completions/tfprof',
             '/site-functions/_tfprof', '/vendor_completions.d/tfprof.fish')


def install(name, *more):
    """Returns (folder, status, output of make)."""
    stage = os.path.join(ROOT, ARGS.bin, name)
    shutil.rmtree(stage, ignore_errors=True)
    return (stage,) + run(['make', '--no-print-directory', 'CONFIG=' + os.path.basename(ARGS.bin), 'WERROR=1',
                           'PREFIX=/opt/tfprof', 'DESTDIR=' + stage, *more, 'install'],
                          {'MAKEFLAGS': '', 'MFLAGS': '', 'MAKELEVEL': ''})


def built_on(stage, exe, how, more):
    """Returns the fault of a program that is linked in this way, or ''."""
    lib, source = os.path.join(stage, 'opt/tfprof/lib'), os.path.join(stage, 'user.c')
    with open(source, 'w') as f:
        f.write(USER)
    status, text = run(['pkg-config'] + how + ['--define-variable=prefix=opt/tfprof', '--cflags', '--libs', 'tfprof'],
                       {'PKG_CONFIG_PATH': os.path.join(lib, 'pkgconfig')})
    if not status:
        status, text = run(['cc', source, '-o', exe] + more + text.split(), cwd=stage)
    if not status:
        status, text = run([exe], {'LD_LIBRARY_PATH': lib})
    said = run([os.path.join(stage, 'opt/tfprof/bin/tfprof'), '--version'])[1].split('\n')[0]
    return '%s: %s; the program says %s' % (exe, text, said) if status or said != 'tfprof ' + text.strip() else ''


def missing(stage):
    """Returns the files that were not installed, or ''."""
    there = {os.path.join(d, f)[len(stage):] for d, _, names in os.walk(stage + '/opt') for f in names}
    return ', '.join(f for f in INSTALLED if not any(p.endswith(f) for p in there))


def collector_found(stage, lib):
    """Returns the fault of the program after everything is moved, or ''."""
    moved = stage + '.moved'
    shutil.rmtree(moved, ignore_errors=True)
    os.rename(stage, moved)
    status, text = run([moved + '/opt/tfprof/bin/tfprof', 'record', '--env', '-o', moved + '/session'])
    found = not status and '%s/opt/tfprof/%s/tfprof/libtfprof_cupti.so' % (moved, lib) in text
    return '' if found else '%s: %s' % (lib, text)


def main():
    # snappy's archive needs the C++ run time, which comes with a C++ compiler.
    static = os.path.isabs(run(['cc', '-print-file-name=libstdc++.a'])[1].strip())
    stage, status, text = install('stage')
    wrong = [text] if status else [missing(stage), built_on(stage, os.path.join(stage, 'shared'), [], [])]
    if not status and static:
        wrong.append(built_on(stage, os.path.join(stage, 'static'), ['--static'], ['-static']))
    if not status:
        wrong.append(collector_found(stage, 'lib'))
    lib = 'lib/x86_64-linux-gnu'
    stage, status, text = install('stage.lib', 'LIBDIR=/opt/tfprof/' + lib)
    wrong.append(text if status else collector_found(stage, lib))
    bad = [x for x in wrong if x]
    print('\n'.join(bad) if static else '\n'.join(bad + ['no libstdc++.a: static linking not tried']))
    print('%d passed, %d failed, %d skipped' % (len(wrong) - len(bad), len(bad), not static))
    return 1 if bad else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--bin', default='build/check')
    ARGS = p.parse_args()
    sys.exit(main())
