# SPDX-License-Identifier: Apache-2.0
"""The command mcp: raw lines, questions with known answers, the protocol's own Python SDK, and a public tokenizer."""
import os
import shutil

from step import ROOT, Result, Step, counted, run, scratch_python

SDK = ['mcp==2.3.0']
TOKENIZER = 'gpt-tokenizer@3'


def with_sdk(places):
    """Drives the server with the official SDK, in a scratch environment that is made once."""
    python, missing = scratch_python('venv-mcp', SDK)
    return missing or counted([python, '-B', 'tests/mcp/sdk_run.py', '--program', places['program']])


def tokens(places):
    """Counts the tokens of definitions and answers with a public tokenizer, which is installed below build once."""
    folder = os.path.join(ROOT, 'build', 'npm-mcp')
    if not shutil.which('npm'):
        return Result(skipped=1, note='npm is not installed')
    if not os.path.isdir(os.path.join(folder, 'node_modules', 'gpt-tokenizer')):
        os.makedirs(folder, exist_ok=True)
        status, text = run(['npm', '--silent', '--prefix', folder, 'install', TOKENIZER])
        if status:
            return Result(skipped=1, note='%s cannot be installed' % TOKENIZER, text=text)
    return counted(['python3', '-B', 'tests/mcp/tokens_run.py', '--program', places['program'], '--modules', folder])


STEPS = [
    Step('mcp', 'quick deep covered', 'tests/mcp/run.py --program {program}', seconds=10),
    Step('mcp-questions', 'quick deep', 'tests/mcp/questions_run.py --program {program}', seconds=10),
    Step('mcp-packaging', 'quick', 'tests/mcp/packaging_run.py --program {program}'),
    Step('mcp-sdk', 'deep', with_sdk, seconds=30),
    Step('mcp-tokens', 'deep', tokens, seconds=30),
]
