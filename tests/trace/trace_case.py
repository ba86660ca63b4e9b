# SPDX-License-Identifier: Apache-2.0
"""Runs the programs that tests of traces ask: tfprof, and trace_dump, which prints traces after the passes."""
import json
import os
import subprocess

BIN = ''  # the folder of the programs; set by the scripts that import this


def write(content, name):
    with open(name, 'wb') as f:
        f.write(content)
    return name


def dump(path, *words):
    """Returns what trace_dump prints of a trace: with --slices a list, otherwise one object."""
    p = subprocess.run([os.path.join(BIN, 'trace_dump'), *words, path], capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    return [json.loads(line) for line in p.stdout.split('\n') if line] if '--slices' in words else json.loads(p.stdout)


def program(*words, status=0, given=b''):
    """Runs tfprof, with given on its standard input; returns (standard output, standard error)."""
    p = subprocess.run([os.path.join(BIN, 'tfprof'), *words], capture_output=True, input=given, env=dict(os.environ, LC_ALL='C'))
    assert p.returncode == status, '%s: status %d: %s' % (words, p.returncode, p.stderr.decode())
    return p.stdout.decode(), p.stderr.decode()


def rows(*words):
    """Returns {path: row} of a view, from JSON."""
    out, _ = program(*words, '-max_depth', '100', '-output', 'json')
    return {r['path']: r for r in json.loads(out[out.index('{'):])['rows']}


def equal(found, expected, what=''):
    assert found == expected, '%s: expected %r, found %r' % (what, expected, found)


def check_schema(name, doc):
    """Validates a document with the schema of its name; checks nothing if the validator is not installed."""
    try:
        import jsonschema
    except ImportError:
        return
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), 'docs', 'schema')
    schemas = {}
    for f in os.listdir(folder):
        with open(os.path.join(folder, f)) as s:
            schemas[f] = json.load(s)
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        resolver = jsonschema.RefResolver('', schemas[name + '.json'], store=schemas)
        jsonschema.Draft202012Validator(schemas[name + '.json'], resolver=resolver).validate(doc)
