#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the provenance of a release as an in-toto statement with a predicate of SLSA 1.0: tools/provenance.py VERSION COMMIT
SECONDS FOLDER

The subjects are all files of the folder. The statement is not signed: the workflow that publishes a release signs it, with the
identity of the workflow.
"""
import datetime
import hashlib
import json
import os
import subprocess
import sys
from urllib.parse import quote

import sbom

TOOLS = (('make', '--version'), ('protoc', '--version'), ('protoc-gen-c', '--version'), ('esbuild', '--version'), ('python3', '--version'))


def subjects(folder):
    """Returns the files of a folder with their digests."""
    found = []
    for base, folders, names in os.walk(folder):
        folders.sort()
        for n in names:
            path = os.path.join(base, n)
            with open(path, 'rb') as f:
                found.append({'name': os.path.relpath(path, folder), 'digest': {'sha256': hashlib.sha256(f.read()).hexdigest()}})
    return sorted(found, key=lambda x: x['name'])


def tool(words):
    """Returns the version of a program that the release was made with; None if it is not there."""
    try:
        p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError:
        return None
    return p.stdout.decode('utf-8', 'replace').split('\n')[0].strip()


def dependencies(commit, origin):
    """Returns the commit, and what wheels and programs are built with: the compiler and the sources of libraries."""
    found = [{'uri': origin, 'digest': {'gitCommit': commit}}, {'uri': 'pkg:pypi/ziglang@' + sbom.zig_version()}]
    return found + [{'uri': 'pkg:deb/debian/%s@%s?arch=source' % (name, quote(version)), 'digest': {'sha256': sha256}}
                    for name, version, sha256, _ in sbom.sources()]


def main(version, commit, seconds, folder):
    time = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
    project = os.environ.get('PROJECT_URL')
    origin = os.environ.get('SOURCE_URI', 'git+file:tfprof')
    script = origin + '#tools/release.sh'
    versions = {words[0]: tool(words) for words in TOOLS}
    json.dump({
        '_type': 'https://in-toto.io/Statement/v1', 'subject': subjects(folder),
        'predicateType': 'https://slsa.dev/provenance/v1',
        'predicate': {
            'buildDefinition': {
                'buildType': script, 'externalParameters': dict({'version': version}, **({'project': project} if project else {})),
                'internalParameters': {'tools': {n: v for n, v in versions.items() if v}},
                'resolvedDependencies': dependencies(commit, origin)},
            'runDetails': {'builder': {'id': os.environ.get('BUILDER_ID', script)}, 'metadata': {'startedOn': time}}}},
        sys.stdout, indent=1)
    print()


if __name__ == '__main__':
    if len(sys.argv) != 5:
        raise SystemExit('usage: tools/provenance.py VERSION COMMIT SECONDS FOLDER')
    main(*sys.argv[1:])
