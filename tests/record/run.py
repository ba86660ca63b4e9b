#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses record, ctl, gpu and doctor as shells, schedulers and users do; compares the environment of a program below record with
the one without record.

    tests/record/run.py --program build/tfprof --tools build/release [NAME...]
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'check'), os.path.join(os.path.dirname(HERE), 'spool')]
import ctl
import doctor
import fake
import gpu
import hostile
import process
import session
from built import has
from cases import no_terminal
from rig import ARGS, LIBRARY, Bad, put

ROOT = os.path.dirname(os.path.dirname(HERE))


def do(name, f):
    top = tempfile.mkdtemp(prefix='tfprof-record-')
    back = os.getcwd()
    os.chdir(top)
    os.mkdir('bin')
    shutil.copy(ARGS.program, 'bin/tfprof')
    collector = os.path.join(os.path.dirname(ARGS.program), LIBRARY)
    if os.path.exists(collector):
        shutil.copy(collector, 'bin')
    else:
        put('bin/' + LIBRARY, '')
    try:
        f()
        return True
    except (Bad, OSError, ValueError, KeyError, IndexError, subprocess.SubprocessError) as e:
        print('FAILED %s: %s: %s' % (name, type(e).__name__, e))
        return False
    finally:
        os.chdir(back)
        shutil.rmtree(top)


def main():
    tests = {k[5:]: v for m in (process, session, fake, ctl, gpu, doctor, hostile) for k, v in vars(m).items() if k.startswith('test_')}
    passed = failed = skipped = 0
    wants = {} if shutil.which('bash') else {'keys': 'bash'}
    if no_terminal():
        wants['keys'] = wants['hangup'] = 'terminal: ' + no_terminal()
    top = pathlib.Path(tempfile.gettempdir()).resolve()
    if os.getuid() == 0 and not all(p.stat().st_mode & 1 for p in (top, *top.parents)):
        wants['shut_path'] = 'temporary folder that all may enter'
    if not has(ARGS.program, 'demangler'):
        wants.update(fake_run='demangler in this build', gpu_text='demangler in this build')
    for name, f in tests.items():
        if ARGS.names and name not in ARGS.names:
            continue
        if name in wants:
            print('%s: skipped: no %s' % (name, wants[name]))
            skipped += 1
            continue
        began = time.time()
        good = do(name, f)
        if ARGS.slow:
            print('%5.1fs %s' % (time.time() - began, name))
        passed += good
        failed += not good
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description='Uses record, ctl, gpu and doctor.')
    p.add_argument('names', nargs='*')
    p.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    p.add_argument('--tools', default=os.path.join(ROOT, 'build', 'release'))
    p.add_argument('--accept', action='store_true')
    p.add_argument('--slow', action='store_true', help='say how long each took')
    p.parse_args(namespace=ARGS)
    ARGS.program = os.path.abspath(ARGS.program)
    ARGS.fakes = os.path.abspath(os.path.join(ARGS.tools, 'fakes'))
    ARGS.spool_make = os.path.abspath(os.path.join(ARGS.tools, 'spool_make'))
    sys.exit(main())
