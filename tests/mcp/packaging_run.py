#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks packaging/agents and docs/MCP.md against the tools of the program.

    tests/mcp/packaging_run.py --program build/check/tfprof
"""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'check')]
import cases  # noqa: E402
from cases import ROOT, equal  # noqa: E402
from client import Server  # noqa: E402

AGENTS = os.path.join(ROOT, 'packaging', 'agents')


def tools():
    with Server(ARGS.program) as s:
        return {t['name']: t for t in s.ask('tools/list')['result']['tools']}


def listed(path):
    """Returns the rows of the table of tools in a document: the name, and the other cells."""
    with open(path) as f:
        return {m[1]: m[2] for m in re.finditer(r'^\| `(\w+)` \|(.*)$', f.read(), re.M)}


def skill():
    """SKILL.md has a name and a description, and names each tool and each column that it explains."""
    path = os.path.join(AGENTS, 'skills', 'tfprof', 'SKILL.md')
    with open(path) as f:
        text = f.read()
    head = dict(line.split(': ', 1) for line in text.split('---')[1].strip().split('\n'))
    equal(head['name'], 'tfprof')
    assert 20 < len(head['description']) <= 1024, len(head['description'])
    equal(list(listed(path)), list(tools()))
    views = tools()['table']['inputSchema']['properties']['view']['enum']
    named = re.search(r'`table` \| rows of a view: (.*?) and others', text)[1]
    for view in named.split(', '):
        assert view in views, view


def manifest():
    """server.json names the program's version and a package that starts the server. It keeps to the rules of the registry."""
    with open(os.path.join(AGENTS, 'server.json')) as f:
        x = json.load(f)
    version = subprocess.run([ARGS.program, '--version'], capture_output=True, text=True, check=True).stdout.split()[1]
    equal((x['version'], [p['version'] for p in x['packages']]), (version, [version]))
    assert len(x['description']) <= 100 and len(x['title']) <= 100 and len(x['name']) <= 200, x
    assert re.fullmatch(r'[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+', x['name']), x['name']
    assert set(x) <= {'$schema', 'name', 'title', 'description', 'version', 'repository', 'websiteUrl', 'icons', 'packages', 'remotes',
                      '_meta'}, list(x)
    with open(os.path.join(ROOT, 'python', 'README.md')) as f:
        assert '<!-- mcp-name: %s -->' % x['name'] in f.read(), 'the registry compares the name with the README of the package'
    for p in x['packages']:
        equal(p['registryType'], 'pypi')
        for a in p['packageArguments']:
            needed = {'positional': {'value', 'valueHint'}, 'named': {'name'}}[a['type']]
            assert needed & set(a) and a.get('format', 'string') in ('string', 'number', 'boolean', 'filepath'), a
        equal((p['identifier'], p['transport']), ('tfprof', {'type': 'stdio'}))
        words = [a.get('value') or a['name'] for a in p['packageArguments']]
        equal(words, ['mcp', '--allow'])
        with Server(ARGS.program, *words[1:], '.') as s:
            assert s.ask('ping')['result'] == {}


def manual():
    """docs/MCP.md lists the tools with their arguments."""
    rows = listed(os.path.join(ROOT, 'docs', 'MCP.md'))
    equal(list(rows), list(tools()))
    for name, tool in tools().items():
        own = [a for a in tool['inputSchema']['properties'] if a not in ('options', 'max_tokens')]
        equal(re.findall(r'`(\w+)`', rows[name].split('|')[0]), own, name)


if __name__ == '__main__':
    ARGS = cases.arguments(__doc__)
    sys.exit(cases.run([skill, manifest, manual]))
