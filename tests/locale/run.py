#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Output is the same in every locale. Locales are made with localedef in a scratch folder; printf %.1f first shows that they
work, with a comma under de_DE."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODEL = os.path.join(ROOT, 'testdata', 'models', 'textsum')
LINES = b'''scope -max_depth 4 -select micros,bytes,params,float_ops -order_by micros
op -select micros,bytes,occurrence -order_by micros
code -max_depth 8 -select micros,percent
scope -show_name_regexes .*lstm1.* | cat
advise
scope -max_depth x

'''
LOCALES = (('de_DE', 'UTF-8', b'0,5'), ('zh_CN', 'GBK', b'0.5'))


def ask(program, env):
    words = [program] + [os.path.join(MODEL, x + '.gz') for x in ('graph.pbtxt', 'run_meta', 'tfprof_log')]
    p = subprocess.run(words, input=LINES, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return p.returncode, p.stdout, p.stderr


def main():
    p = argparse.ArgumentParser(description='The same bytes in every locale.')
    p.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    program = os.path.abspath(p.parse_args().program)
    base = {k: v for k, v in os.environ.items()
            if not k.startswith('LC_') and k not in ('LANG', 'LANGUAGE', 'TERM')}
    want, passed, failed, skipped = ask(program, dict(base, LC_ALL='C', TERM='dumb')), 0, 0, 0
    tries = [('LANG=C', dict(base, LANG='C', TERM='xterm')), ('TERM unset', dict(base, LC_ALL='C'))]
    top = tempfile.mkdtemp(prefix='tfprof-locale-')
    for name, charset, half in LOCALES:
        full = '%s.%s' % (name, charset)
        env = dict(base, LOCPATH=top, LC_ALL=full, TERM='xterm')
        made = shutil.which('localedef') and subprocess.run(
            ['localedef', '-i', name, '-f', charset, os.path.join(top, full)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode in (0, 1)
        if not made or not os.path.isdir(os.path.join(top, full)):
            print('skipped: no locale ' + full)
            skipped += 1
            continue
        found = subprocess.run([shutil.which('printf'), '%.1f', '0' + half.decode()[1] + '5'], env=env,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout
        charmap = subprocess.run(['locale', 'charmap'], env=env, stdout=subprocess.PIPE).stdout.strip()
        if found != half or charmap != charset.encode():
            print('%s is not in force: %r, %r' % (full, found, charmap))
            failed += 1
            continue
        tries.append((full, env))
    for name, env in tries:
        same = ask(program, env) == want
        passed += same
        failed += not same
        if not same:
            print('FAILED: other bytes under ' + name)
    shutil.rmtree(top)
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
