#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs a static program as a container image: packaging/image.py VERSION PROCESSOR SECONDS PROGRAM OUT.tar

PROCESSOR is amd64 or arm64. The image has the program and licences only, and runs as user 65532, like the image of
packaging/Containerfile. The archive has the layout of an OCI image and the list that docker load reads, so podman, docker
and skopeo load it. Equal inputs give equal bytes; no container runtime is needed.
"""
import datetime
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
USER = 65532
LICENCES = ('LICENSE', 'web/notices.txt')


def archive(files, seconds):
    """Returns a tar archive. files: {name: (bytes, mode)}; the bytes of a folder are None."""
    to = io.BytesIO()
    with tarfile.open(fileobj=to, mode='w', format=tarfile.USTAR_FORMAT) as tar:
        for name, (data, mode) in files.items():
            entry = tarfile.TarInfo(name)
            entry.mtime, entry.mode = seconds, mode
            if data is None:
                entry.type = tarfile.DIRTYPE
            else:
                entry.size = len(data)
            tar.addfile(entry, None if data is None else io.BytesIO(data))
    return to.getvalue()


def layer(program, licences, seconds):
    files = {}
    with open(program, 'rb') as f:
        files['tfprof'] = f.read(), 0o755
    files['licences'] = None, 0o755
    for path in licences:
        with open(path, 'rb') as f:
            files['licences/' + os.path.basename(path)] = f.read(), 0o644
    return archive(files, seconds)


class Blobs:
    """The blobs of an image, by digest."""

    def __init__(self):
        self.files = {}

    def add(self, kind, data):
        """Returns the descriptor of a blob."""
        digest = hashlib.sha256(data).hexdigest()
        self.files['blobs/sha256/' + digest] = data, 0o644
        return {'mediaType': 'application/vnd.oci.image.' + kind, 'digest': 'sha256:' + digest, 'size': len(data)}

    def add_json(self, kind, value):
        return self.add(kind, json.dumps(value, sort_keys=True).encode())


def pack(version, processor, seconds, program, licences=()):
    """Returns the archive of the image."""
    contents = layer(program, [os.path.join(ROOT, p) for p in LICENCES] + sorted(licences), seconds)
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
    labels = {'org.opencontainers.image.title': 'tfprof', 'org.opencontainers.image.version': version,
              'org.opencontainers.image.licenses': 'Apache-2.0'}
    blobs = Blobs()
    config = blobs.add_json('config.v1+json', {
        'architecture': processor, 'os': 'linux', 'created': created,
        'config': {'User': '%d:%d' % (USER, USER), 'Entrypoint': ['/tfprof'], 'Labels': labels},
        'rootfs': {'type': 'layers', 'diff_ids': ['sha256:' + hashlib.sha256(contents).hexdigest()]},
        'history': [{'created': created, 'created_by': 'packaging/image.py'}]})
    packed = blobs.add('layer.v1.tar+gzip', gzip.compress(contents, 9, mtime=0))
    manifest = blobs.add_json('manifest.v1+json', {
        'schemaVersion': 2, 'mediaType': 'application/vnd.oci.image.manifest.v1+json', 'config': config, 'layers': [packed]})
    tag = 'tfprof:' + version
    manifest['annotations'] = {'org.opencontainers.image.ref.name': version, 'io.containerd.image.name': 'docker.io/library/' + tag}
    manifest['platform'] = {'architecture': processor, 'os': 'linux'}
    place = {d: 'blobs/sha256/' + d[len('sha256:'):] for d in (config['digest'], packed['digest'])}
    listed = [{'Config': place[config['digest']], 'RepoTags': [tag], 'Layers': [place[packed['digest']]]}]
    files = {'oci-layout': (b'{"imageLayoutVersion": "1.0.0"}', 0o644),
             'index.json': (json.dumps({'schemaVersion': 2, 'mediaType': 'application/vnd.oci.image.index.v1+json',
                                        'manifests': [manifest]}, sort_keys=True).encode(), 0o644),
             'manifest.json': (json.dumps(listed).encode(), 0o644)}
    return archive(dict(files, **{'blobs': (None, 0o755), 'blobs/sha256': (None, 0o755)}, **dict(sorted(blobs.files.items()))), seconds)


def main(version, processor, seconds, program, to):
    folder = os.environ.get('LICENCES')  # of the libraries in the program
    licences = [os.path.join(folder, n) for n in os.listdir(folder)] if folder else []
    data = pack(version, processor, int(seconds), program, licences)
    with open(to, 'wb') as f:
        f.write(data)


if __name__ == '__main__':
    if len(sys.argv) != 6 or sys.argv[2] not in ('amd64', 'arm64'):
        raise SystemExit('usage: packaging/image.py VERSION amd64|arm64 SECONDS PROGRAM OUT.tar')
    main(*sys.argv[1:])
