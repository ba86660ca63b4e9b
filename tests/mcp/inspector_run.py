#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives tfprof mcp with the command line of the MCP inspector, which starts the server once for each method.

    tests/mcp/inspector_run.py --program build/check/tfprof --modules build/npm-inspector
"""
import argparse
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'check')]
import cases  # noqa: E402
from client import PATIENCE  # noqa: E402
from run import TOOLS, TRACE  # noqa: E402


def inspect(method, *words, status=0):
    """Returns the result that the inspector prints, or its message if the status is 1."""
    cli = os.path.join(ARGS.modules, 'node_modules', '.bin', 'mcp-inspector')
    p = subprocess.run([cli, '--cli', ARGS.program, 'mcp', '--allow', cases.TESTDATA, '--method', method, *words],
                       capture_output=True, text=True, timeout=PATIENCE)
    assert p.returncode == status, (method, p.stdout, p.stderr)
    return p.stderr if status else json.loads(p.stdout)


def call(tool, *arguments):
    return inspect('tools/call', '--tool-name', tool, *[w for a in arguments for w in ('--tool-arg', a)])


def lists():
    """The inspector accepts the lists of tools, resources and prompts."""
    cases.equal([t['name'] for t in inspect('tools/list')['tools']], TOOLS)
    resources = inspect('resources/list')['resources']
    text = inspect('resources/read', '--uri', resources[0]['uri'])['contents'][0]
    cases.equal(text['uri'], resources[0]['uri'])
    for prompt in inspect('prompts/list')['prompts']:
        words = [w for a in prompt['arguments'] for w in ('--prompt-args', a['name'] + '=' + TRACE)]
        assert TRACE in inspect('prompts/get', '--prompt-name', prompt['name'], *words)['messages'][0]['content']['text']


def calls():
    """Tools accept arguments in the forms to which the inspector converts them: texts, numbers and lists."""
    answer = call('table', 'file=' + TRACE, 'view=steps', 'limit=3', 'filter=["step>=12"]')
    found = json.loads(answer['content'][0]['text'])
    cases.equal([r['step'] for r in found['rows']], [12, 13, 14])
    assert 'verdict' in json.loads(call('summary', 'file=' + TRACE)['content'][0]['text'])
    answer = call('table', 'file=no_such_file', 'view=op')
    assert answer['isError'] and 'does not exist' in answer['content'][0]['text'], answer


def refusals():
    """A path outside of the allowed folders and an unknown tool are errors of the protocol."""
    text = inspect('tools/call', '--tool-name', 'table', '--tool-arg', 'file=/etc/passwd', '--tool-arg', 'view=op', status=1)
    assert 'is outside of the allowed folders' in text, text
    inspect('tools/call', '--tool-name', 'no_such_tool', status=1)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--program', required=True, type=os.path.abspath)
    parser.add_argument('--modules', required=True, type=os.path.abspath)
    ARGS = parser.parse_args()
    sys.exit(cases.run([lists, calls, refusals]))
