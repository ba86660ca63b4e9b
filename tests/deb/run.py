#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the Debian packages with packaging/deb.sh, checks them with lintian, and unpacks, uses and removes them with
dpkg in a root of their own. Compares the interface of the library with the recorded one.

    tests/deb/run.py [--bin build/check] [--packages FOLDER]

--packages takes packages that are built already.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'check'))
import cases  # noqa: E402
from cases import Skip  # noqa: E402

NAMES = {'tfprof', 'libtfprof0', 'libtfprof-dev', 'python3-tfprof'}
SMALL = os.path.join(ROOT, 'testdata', 'small')
ASK = '''import tfprof
p = tfprof.Profile('%s/views.graph.pbtxt', ['%s/views.run_meta_0.pbtxt'])
assert p.scope().children and tfprof.__file__.startswith('%s'), tfprof.__file__
print(tfprof.__version__)
'''
USER = '''#include <stdio.h>
#include <tfprof/tfprof.h>
int main(void) { return puts(tfp_version()) < 0; }
'''


def need(*tools):
    """Skips the case where one of the tools is missing."""
    for tool in tools:
        if not shutil.which(tool):
            raise Skip('%s is missing' % tool)


def run(words, ok=(0,), **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(('TFPROF_', 'PYTHON', 'MAKE', 'MFLAGS'))}
    p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       env=dict(env, **more.pop('env', {})), **more)
    text = p.stdout.decode('utf-8', 'replace')
    assert p.returncode in ok, '%s: status %d: %s' % (words, p.returncode, text[-2000:])
    return text


def version():
    with open(os.path.join(ROOT, 'Makefile')) as f:
        return re.search(r'^VERSION := (\S+)$', f.read(), re.M).group(1)


def packages(t):
    """Returns the four packages; builds them once."""
    if not t.packages:
        need('dpkg-buildpackage', 'dh', 'dh_python3')
        run([os.path.join(ROOT, 'packaging', 'deb.sh')])
        t.packages = os.path.join(ROOT, 'build', 'deb')
    found = [p for p in glob.glob(os.path.join(t.packages, '*.deb')) if '-dbgsym_' not in p]
    assert {os.path.basename(p).split('_')[0] for p in found} == NAMES, found
    return found


def built(t):
    """There are four packages of this version."""
    for path in packages(t):
        assert run(['dpkg-deb', '-f', path, 'Version']).strip() == version() + '-0upstream1', path


def lintian(t):
    """lintian reports no errors and no warnings."""
    need('lintian')
    packages(t)
    changes = glob.glob(os.path.join(t.packages, '*.changes'))
    assert len(changes) == 1, changes
    run(['lintian', '--allow-root', '--fail-on', 'error,warning'] + changes)


def dpkg(*words):
    """Runs dpkg in the folder root, which lacks the packages of the system that these packages depend on."""
    root = os.path.abspath('root')
    return run(['dpkg', '--root=' + root, '--force-depends', '--force-not-root', '--force-script-chrootless',
                '--force-bad-path', '--log=' + os.path.abspath('log')] + list(words))


def files():
    """Returns the files and links in the root, without dpkg's own."""
    return {os.path.join(d, n) for d, _, names in os.walk('root') for n in names if '/var/' not in d + '/'}


def prepare_root():
    for folder in ('info', 'updates', 'triggers'):
        os.makedirs('root/var/lib/dpkg/' + folder)
    for name in ('status', 'available'):
        open('root/var/lib/dpkg/' + name, 'w').close()
    os.makedirs('root/var/log')


def user_program(usr, lib):
    """A program that is linked with the installed library, both ways, prints the version."""
    need('cc', 'pkg-config')
    with open('user.c', 'w') as f:
        f.write(USER)
    words = run(['pkg-config', '--define-variable=prefix=' + usr, '--cflags', '--libs', 'tfprof'],
                env={'PKG_CONFIG_PATH': lib + '/pkgconfig'}).split()
    run(['cc', 'user.c', '-o', 'user'] + words)
    assert run(['./user'], env={'LD_LIBRARY_PATH': lib}).strip() == version()


def installed(t):
    """The program, the collector, the library and the Python package work in the root, and dpkg removes all their files."""
    found = packages(t)
    prepare_root()
    dpkg('--unpack', *found)
    usr = os.path.abspath('root/usr')
    lib = glob.glob(usr + '/lib/*/libtfprof.so.0')[0].rsplit('/', 1)[0]
    env = {'LD_LIBRARY_PATH': lib, 'PYTHONPATH': usr + '/lib/python3/dist-packages', 'PYTHONDONTWRITEBYTECODE': '1'}
    assert run([usr + '/bin/tfprof', '--version']).split('\n')[0] == 'tfprof ' + version()
    out = run([usr + '/bin/tfprof', '--graph_path=%s/views.graph.pbtxt' % SMALL, 'scope', '-max_depth', '3'])
    assert '_TFProfRoot' in out, out
    found = run([usr + '/bin/tfprof', 'record', '--env', '-o', os.path.abspath('session')])
    assert lib + '/tfprof/libtfprof_cupti.so' in found, found
    python = '/usr/bin/python3' if os.path.exists('/usr/bin/python3') else sys.executable
    assert run([python, '-c', ASK % (SMALL, SMALL, usr)], env=env).strip() == version()
    user_program(usr, lib)
    dpkg('--remove', *sorted(NAMES))
    assert not files(), files()


def abi(t):
    """The library has the recorded interface, and a changed one is reported."""
    need('abidw', 'abidiff')
    library = os.path.join(ROOT, t.bin, 'libtfprof.so')
    if not os.path.exists(library):
        raise Skip('%s is not built' % library)
    if not glob.glob(os.path.join(ROOT, 'packaging/abi/*.%s.xml' % os.uname().machine)):
        raise Skip('no interface is recorded for %s' % os.uname().machine)
    shutil.copytree(os.path.join(ROOT, 'packaging'), 'packaging')
    shutil.copytree(os.path.join(ROOT, 'include'), 'include')
    run(['packaging/abi.sh', library])
    record = glob.glob('packaging/abi/*.%s.xml' % os.uname().machine)[0]
    with open(record) as f:
        text = f.read()
    gone = re.sub(r"(<elf-symbol name=')tfp_version'", r"\1tfp_edition'", text)
    assert gone != text
    with open(record, 'w') as f:
        f.write(gone)
    assert 'tfp_edition' in run(['packaging/abi.sh', library], ok=(1,))


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--bin', default='build/check')
    p.add_argument('--packages')
    a = p.parse_args()
    a.packages = a.packages and os.path.abspath(a.packages)
    sys.exit(cases.run([built, lintian, installed, abi], a))
