# SPDX-License-Identifier: Apache-2.0
"""The eight inputs of the page's tests, made on the spot or from testdata."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, 'tests', 'models'), os.path.join(ROOT, 'tests', 'trace')]
import kineto  # noqa: E402
import tower_profile  # noqa: E402
import wire  # noqa: E402

EXAMPLE = os.path.join(ROOT, 'testdata', 'example')
HOSTILE = ['<script>document.title="owned"</script>', '</script><img src=x onerror=document.title="owned">', 'javascript:document.title="owned"',
           '"><b>bold</b>', "';document.title='owned';'", '\u202eevil\u202c', '{{7*7}}', '../../etc/passwd', '&lt;b&gt;', '<!--', ']]>', '${1+1}']


def write(path, data):
    with open(path, 'wb') as f:
        f.write(data)
    return path


def hostile():
    """A ProfileProto whose names are markup, scripts, controls, and 1 MB long."""
    names = [n.encode() for n in HOSTILE] + [b'nul\x01\x02\x1b[31m', b'long' + b'x' * 1000000]
    return b''.join(wire.sub(1, wire.num(1, i) + wire.sub(2, b''.join(
        [wire.sub(1, b'top/' + name), wire.sub(5, name[:80] if i < len(HOSTILE) else b'Op'), wire.num(13, i), wire.sub(12, wire.num(1, 0) + wire.sub(2, tower_profile.exec_profile(i, 0)))])))
        for i, name in enumerate(names)) + wire.sub(3, wire.varint(0))


def copied(source, path):
    with open(os.path.join(ROOT, 'testdata', source), 'rb') as f:
        return write(path, f.read())


NAMES = ['profile', 'recording', 'xspace', 'pytorch', 'graph', 'hostile', 'large', 'diff']


def words(name, folder='.'):
    """The words of tfprof report for an input; its files are made in the folder."""
    at = os.path.join(os.path.abspath(folder), name)
    if name == 'recording':
        return [copied('small/train.tfspool', at + '-4711-1-00000001.tfspool')]
    if name == 'pytorch':
        return [write(at + '.pt.trace.json', as_bytes(kineto.trace(kineto.steps())))]
    if name == 'graph':
        return [copied('example/graph.pbtxt', at + '.pbtxt')]
    if name == 'hostile':
        return [write(at + '_profile', hostile())]
    if name == 'large':
        return [write(at + '_profile', tower_profile.profile(large_blocks()))]
    return {'profile': [EXAMPLE + '/profile_100'], 'diff': [EXAMPLE + '/profile_100', EXAMPLE + '/profile_200'],
            'xspace': [os.path.join(ROOT, 'testdata', 'traces', 'trace.xplane.pb')]}[name]


def as_bytes(data):
    return data if isinstance(data, bytes) else data.encode()


def large_blocks(nodes=100000):
    few, more = len(tower_profile.nodes(1)), len(tower_profile.nodes(2))
    return max(1, (nodes - few) // (more - few) + 1)


def report(program, words, path):
    p = subprocess.run([program, 'report', *words, '-o', path], capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    return path
