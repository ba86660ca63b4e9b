#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the bill of materials of a release as SPDX 2.3 (JSON): tools/sbom.py VERSION SHA256 SECONDS

SHA256 is that of the tarball, SECONDS its time. The C libraries are those that wheels contain, from packaging/sources.txt;
the JavaScript modules are those that the bundled page contains.
"""
import datetime
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODULES = [os.path.join(ROOT, 'node_modules'), '/usr/share/nodejs']


def package(name, version, licence, sha256=None, comment=None):
    made = {'SPDXID': 'SPDXRef-' + re.sub('[^A-Za-z0-9.-]', '-', name), 'name': name, 'downloadLocation': 'NOASSERTION',
            'filesAnalyzed': False, 'licenseConcluded': licence, 'licenseDeclared': licence, 'copyrightText': 'NOASSERTION'}
    if version:
        made['versionInfo'] = version
    if sha256:
        made['checksums'] = [{'algorithm': 'SHA256', 'checksumValue': sha256}]
    if comment:
        made['comment'] = comment
    return made


def sources():
    """Returns (name, version, SHA-256, licence) of the C libraries of wheels; the version is that of Debian's source package."""
    with open(os.path.join(ROOT, 'packaging', 'sources.txt')) as f:
        return [line.split(None, 3) for line in f.read().splitlines() if line.strip() and not line.startswith('#')]


def libraries():
    """Returns the C libraries of wheels; the upstream version is Debian's without epoch, suffix and revision."""
    for name, version, sha256, licence in sources():
        upstream = re.sub(r'^\d+:|\.dfsg|-[^-]*$', '', version)
        yield package(name, upstream, licence, sha256, 'linked statically into wheels, programs and images')


def zig_version():
    with open(os.path.join(ROOT, 'packaging', 'portable.sh')) as f:
        return re.search(r'ziglang=(\S+)', f.read()).group(1)


def runtime():
    """Returns the libraries of zig's compiler that wheels and programs contain."""
    version = zig_version()
    for name in ('libc++', 'libc++abi', 'libunwind'):
        yield package(name, None, 'Apache-2.0 WITH LLVM-exception', None, 'of zig %s, linked statically into wheels' % version)
    yield package('compiler-rt', None, 'MIT', None, 'of zig %s, linked statically into wheels' % version)
    yield package('musl', None, 'MIT', None, 'of zig %s, linked statically into programs and images' % version)
    yield package('mingw-w64', None, 'ZPL-2.1', None, 'of zig %s, linked statically into wheels for Windows' % version)


def modules(name='d3-scale'):
    """Returns the JavaScript module and its dependencies, each once."""
    found, names = {}, [name]
    while names:
        name = names.pop()
        if name in found:
            continue
        path = next((p for p in (os.path.join(m, name, 'package.json') for m in MODULES) if os.path.exists(p)), None)
        if not path:
            raise SystemExit('tools/sbom.py: %s is missing: tools/deps.sh build installs it' % name)
        with open(path, encoding='utf-8') as f:
            about = json.load(f)
        found[name] = package(name, about['version'], about['license'], None, 'bundled into generated/web-1.c')
        names += about.get('dependencies', {})
    return [found[n] for n in sorted(found)]


def main(version, sha256, seconds):
    time = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
    own = package('tfprof', version, 'Apache-2.0', sha256)
    own['packageFileName'] = 'tfprof-%s.tar.gz' % version
    linked = list(libraries()) + list(runtime())
    bundled = modules()
    relations = [('SPDXRef-DOCUMENT', 'DESCRIBES', own)]
    relations += [(own['SPDXID'], 'DEPENDS_ON', p) for p in linked]
    relations += [(own['SPDXID'], 'CONTAINS', p) for p in bundled]
    document = {
        'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': 'tfprof-' + version,
        'documentNamespace': 'https://spdx.org/spdxdocs/tfprof-%s-%s' % (version, sha256),
        'creationInfo': {'created': time, 'creators': ['Tool: tools/sbom.py']},
        'packages': [own] + linked + bundled,
        'relationships': [{'spdxElementId': a, 'relationshipType': kind, 'relatedSpdxElement': p['SPDXID']}
                          for a, kind, p in relations]}
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == '__main__':
    if len(sys.argv) != 4:
        raise SystemExit('usage: tools/sbom.py VERSION SHA256 SECONDS')
    main(*sys.argv[1:])
