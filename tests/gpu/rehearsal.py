#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the checks for a GPU are in order themselves, on a machine without one: on fakes all pass, on fakes that lie
those fail that should, what is missing is named, and without a GPU nothing is run. The last line counts.

    tests/gpu/rehearsal.py --bin build/check
"""
import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIES = (('FAKE_TIMES', 'zero', '01_ 02_', 2), ('FAKE_TIMES', 'early', '01_', 1), ('FAKE_MUTE', '1', '01_ 05_ 12_', 2),
        ('FAKE_KERNEL_SIZE', '300', '02_', 0), ('FAKE_FAIL', 'ActivityEnable:2:49', '12_', 1), ('FAKE_HOLDER', 'x', '08_', 1))


def run(*words, **env):
    p = subprocess.run([sys.executable, '-B', HERE + '/run.py', '--bin', ARGS.bin, '--dump', ARGS.bin + '/fakes/dump'] + list(words),
                       env=dict(os.environ, **env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=6 * 3600)
    text = p.stdout.decode('utf-8', 'replace')
    m = re.search(r'^(\d+) passed, (\d+) failed, (\d+) skipped$', text, re.M)
    return p.returncode, tuple(map(int, m.groups())) if m else None, text


def main():
    wrong = []

    def judge(what, ok, text):
        if not ok:
            wrong.append(what)
            print('%s:\n%s' % (what, text[-3000:]))

    status, n, text = run()
    judge('without a GPU', (status, n) == (0, (0, 0, 16)) and 'there is no GPU here' in text, text)
    status, n, text = run('--rehearse', '--long')
    judge('all', (status, n) == (0, (16, 0, 0)) and 'not run' not in text, text)
    for name, value, checks, failed in LIES:
        status, n, text = run('--rehearse', *checks.split(), **{name: value})
        judge('%s=%s' % (name, value), n and n[1] == failed and status == bool(failed), text)
    status, n, text = run('--rehearse', '03_', '04_', '05_', TFPROF_GPU_WITHOUT='1')
    judge('without packages', (status, n) == (0, (0, 0, 3)) and 'the package torch is missing' in text, text)
    print('%d passed, %d failed, 0 skipped' % (3 + len(LIES) - len(wrong), len(wrong)))
    return 1 if wrong else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--bin', default='build/check')
    ARGS = p.parse_args()
    ARGS.bin = os.path.abspath(ARGS.bin)
    sys.exit(main())
