#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts tokens with a public tokenizer: the definitions of the tools together, and every answer to the questions, which must
not have more tokens than allowed.

    tests/mcp/tokens_run.py --program build/check/tfprof --modules build/npm-mcp
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
from client import Server  # noqa: E402
from questions import QUESTIONS  # noqa: E402

DEFINITIONS_MOST, ANSWER_MOST, QUESTION_MOST = 1500, 2000, 8000
COUNT = '''
const tokenizers = ['o200k_base', 'cl100k_base'].map(name => require('gpt-tokenizer/encoding/' + name));
let text = '';
process.stdin.on('data', d => text += d).on('end', () => console.log(JSON.stringify(
  JSON.parse(text).map(t => Math.max(...tokenizers.map(x => x.encode(t).length))))));
'''


def count(texts, modules):
    out = subprocess.run(['node', '-e', COUNT], input=json.dumps(texts), capture_output=True, text=True, cwd=modules)
    assert not out.returncode, out.stderr
    return json.loads(out.stdout)


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', required=True, type=os.path.abspath)
    p.add_argument('--modules', required=True)
    args = p.parse_args()
    bad = []
    with Server(args.program, '--allow', cases.TESTDATA) as server:
        definitions = json.dumps(server.ask('tools/list')['result']['tools'], separators=(',', ':'))
        answers = [[server.text(tool, **arguments) for tool, arguments in calls] for _, calls, _, _ in QUESTIONS]
        answers.append([server.text('help', topic='all')])
        for view in ('op', 'scope', 'code', 'graph'):
            answers.append([server.text('table', file='example/profile_100', view=view)])
    counts = count([definitions] + [text for texts in answers for text in texts], args.modules)
    print('definitions: %d tokens; answers: %d to %d' % (counts[0], min(counts[1:]), max(counts[1:])))
    if counts[0] > DEFINITIONS_MOST:
        bad.append('the definitions have %d tokens' % counts[0])
    rest = iter(counts[1:])
    for (question, *_), texts in zip(QUESTIONS + [('help', ), *[('table', )] * 4], answers):
        found = [next(rest) for _ in texts]
        if max(found) > ANSWER_MOST or sum(found) > QUESTION_MOST:
            bad.append('%s: %s tokens' % (question, found))
    print('\n'.join(bad))
    print('%d passed, %d failed, 0 skipped' % (len(counts) - len(bad), len(bad)))
    sys.exit(1 if bad else 0)
