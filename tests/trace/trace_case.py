# SPDX-License-Identifier: Apache-2.0
"""Runs tests of traces, and the programs that they need: tfprof, and trace_dump, which prints traces after the passes."""
import argparse
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'check'))
import built  # noqa: E402
import cases  # noqa: E402
from cases import equal  # noqa: E402, F401

BIN = ''                # folder of the programs
REALDATA = MODERN = ''  # the folders of real traces, and of the numbers of them in golden/


def write(content, name):
    with open(name, 'wb') as f:
        f.write(content)
    return name


def dump(path, *words):
    """Returns the output of trace_dump: a list with --slices, otherwise an object."""
    p = subprocess.run([os.path.join(BIN, 'trace_dump'), *words, path], capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    return [json.loads(line) for line in p.stdout.split('\n') if line] if '--slices' in words else json.loads(p.stdout)


def program(*words, status=0, given=b''):
    """Runs tfprof with given as standard input. Returns (standard output, standard error)."""
    p = subprocess.run([os.path.join(BIN, 'tfprof'), *words], capture_output=True, input=given, env=dict(os.environ, LC_ALL='C'))
    assert p.returncode == status, '%s: status %d: %s' % (words, p.returncode, p.stderr.decode())
    return p.stdout.decode(), p.stderr.decode()


def judge(name, *words, allowed=(0, 3)):
    """Runs a program of BIN on an input that may be damaged. Fails if the exit status is not allowed."""
    p = subprocess.run([os.path.join(BIN, name), *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=600)
    assert p.returncode in allowed, (words, p.returncode, p.stderr)


def rows(*words):
    """Returns {path: row} of a view, from its JSON output."""
    out, _ = program(*words, '-max_depth', '100', '-output', 'json')
    return {r['path']: r for r in json.loads(out[out.index('{'):])['rows']}


def same_times(profile, trace):
    """Asserts that a profile made from a trace has its times: each is rounded to a whole microsecond."""
    want, have = ({k: r for k, r in rows(path, 'scope', '-select', 'micros').items()} for path in (trace, profile))
    equal(sorted(have), sorted(want))
    for k, row in want.items():
        for kind in ('own_cpu_micros', 'own_accelerator_micros'):
            assert abs(row[kind] - have[k][kind]) < 1, (k, kind, row[kind], have[k][kind])


def check_schema(name, doc):
    """Validates a document with its schema. Does nothing if jsonschema is not installed."""
    try:
        import jsonschema
    except ImportError:
        return
    folder = os.path.join(cases.ROOT, 'docs', 'schema')
    schemas = {}
    for f in os.listdir(folder):
        with open(os.path.join(folder, f)) as s:
            schemas[f] = json.load(s)
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        resolver = jsonschema.RefResolver('', schemas[name + '.json'], store=schemas)
        jsonschema.Draft202012Validator(schemas[name + '.json'], resolver=resolver).validate(doc)


def no_sqlite():
    """Replaces a test that needs SQLite if the program was built without it."""
    raise cases.Skip('built without SQLite')


def main(doc, tests, write=None, sqlite=(), slow=(), real=False):
    """Runs the tests whose names contain a word of the command line; without a word all but the slow ones. sqlite: tests that need
    it; write: puts the script's files of testdata/traces into a folder; real: the tests read REALDATA. Returns the exit status."""
    global BIN, REALDATA, MODERN
    p = argparse.ArgumentParser(description=doc.split('\n')[0])
    p.add_argument('names', nargs='*')
    p.add_argument('--bin', default='build/check')
    if write:
        p.add_argument('--write', metavar='FOLDER')
    if real:
        p.add_argument('--realdata', required=True)
        p.add_argument('--modern')
    a = p.parse_args()
    if write and a.write:
        write(a.write)
        return 0
    if real:
        REALDATA = os.path.abspath(a.realdata)
        MODERN = os.path.abspath(a.modern or os.path.join(os.path.dirname(REALDATA), 'modern'))
    BIN = os.path.abspath(a.bin)
    chosen = [t for t in tests if (any(n in t.__name__ for n in a.names) if a.names else t not in slow)]
    absent = () if built.has(os.path.join(BIN, 'tfprof'), 'sqlite') else sqlite
    return cases.run([no_sqlite if t in absent else t for t in chosen])
