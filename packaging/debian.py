#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of Debian 11 (glibc 2.31) or of another release, whatever this machine has: packages are downloaded with apt into a
folder and unpacked. The system, its sources and its lists stay as they are. Each release and architecture needs its own CACHE.

    packaging/debian.py CACHE ROOT PACKAGE...           these packages
    packaging/debian.py --closed CACHE ROOT PACKAGE...  and all that they depend on: a root to change into
    packaging/debian.py --suite bookworm --arch arm64 ...

Status 3: they cannot be downloaded.
"""
import argparse
import glob
import os
import subprocess
import sys

SOURCE = 'deb [arch=%s signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian %s main\n'


class Missing(Exception):
    """The packages cannot be downloaded."""


def apt(cache, arch, *words):
    places = {'Dir::Etc::SourceList': cache + '/sources.list', 'Dir::Etc::SourceParts': '/dev/null',
              'Dir::Etc::Preferences': '/dev/null', 'Dir::Etc::PreferencesParts': '/dev/null',
              'Dir::State': cache + '/state', 'Dir::State::Status': cache + '/status', 'Dir::Cache': cache + '/cache',
              'APT::Architecture': arch, 'APT::Architectures': arch, 'APT::Install-Recommends': 'false',
              'APT::Sandbox::User': 'root', 'Debug::NoLocking': 'true'}
    try:
        p = subprocess.run(['apt-get', '-qq'] + ['-o%s=%s' % x for x in places.items()] + list(words), cwd=cache + '/debs',
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except FileNotFoundError:
        raise Missing('apt-get is missing') from None
    if p.returncode:
        raise Missing(p.stdout.decode('utf-8', 'replace')[-1000:])
    return p.stdout.decode()


def prepare(cache, suite, arch):
    for folder in ('state/lists/partial', 'cache/archives/partial', 'debs'):
        os.makedirs(os.path.join(cache, folder), exist_ok=True)
    for name, text in (('sources.list', SOURCE % (arch, suite)), ('status', '')):
        with open(os.path.join(cache, name), 'w') as f:
            f.write(text)


def download(cache, closed, names, suite, arch):
    """Returns the files of the packages; closed: and of those that they depend on."""
    cache = os.path.abspath(cache)
    prepare(cache, suite, arch)
    if not glob.glob(cache + '/state/lists/*_Packages*'):
        apt(cache, arch, 'update')
    if closed:
        lines = apt(cache, arch, '--print-uris', 'install', *names).splitlines()
        names = [x.split()[1].split('_')[0] for x in lines if x.startswith("'")]
    wanted = [n for n in names if not glob.glob('%s/debs/%s_*.deb' % (cache, n))]
    if wanted:
        apt(cache, arch, 'download', *wanted)
    return [sorted(glob.glob('%s/debs/%s_*.deb' % (cache, n)))[-1] for n in names]


def unpack(cache, root, names, closed, suite, arch):
    os.makedirs(root, exist_ok=True)
    for path in download(cache, closed, names, suite, arch):
        subprocess.run(['dpkg-deb', '-x', path, root], check=True)


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--closed', action='store_true')
    p.add_argument('--suite', default='bullseye')
    p.add_argument('--arch', default='amd64')
    p.add_argument('cache')
    p.add_argument('root')
    p.add_argument('packages', nargs='+')
    args = p.parse_args()
    try:
        unpack(args.cache, args.root, args.packages, args.closed, args.suite, args.arch)
    except Missing as e:
        print(e, file=sys.stderr)
        sys.exit(3)
