# SPDX-License-Identifier: Apache-2.0
"""The command mcp: raw lines, questions with known answers, the protocol's own Python SDK and inspector, and a public
tokenizer."""
import os
import shutil

from step import ROOT, Result, Step, counted, run, scratch_python

SDK = ['mcp==2.3.0']
TOKENIZER = 'gpt-tokenizer@3'
INSPECTOR = '@modelcontextprotocol/inspector@0.15'


def with_sdk(places):
    """Drives the server with the official SDK, in a scratch environment that is made once."""
    python, missing = scratch_python('venv-mcp', SDK)
    return missing or counted([python, '-B', 'tests/mcp/sdk_run.py', '--program', places['program']])


def with_modules(script, folder, package):
    """Returns the function that runs a script with a package of npm, which is installed below build once."""
    def step(places):
        home = os.path.join(ROOT, 'build', folder)
        if not shutil.which('npm'):
            return Result(skipped=1, note='npm is not installed')
        if not os.path.isdir(os.path.join(home, 'node_modules', package.rsplit('@', 1)[0])):
            os.makedirs(home, exist_ok=True)
            status, text = run(['npm', '--silent', '--prefix', home, 'install', package])
            if status:
                return Result(skipped=1, note='%s cannot be installed' % package, text=text)
        return counted(['python3', '-B', script, '--program', places['program'], '--modules', home])
    return step


STEPS = [
    Step('mcp', 'quick deep covered', 'tests/mcp/run.py --program {program}', seconds=10),
    Step('mcp-questions', 'quick deep', 'tests/mcp/questions_run.py --program {program}', seconds=10),
    Step('mcp-packaging', 'quick', 'tests/mcp/packaging_run.py --program {program}'),
    Step('mcp-real', 'real', 'tests/mcp/real_run.py --program {program} --realdata {realdata}', seconds=15),
    Step('mcp-warm', 'deep', 'tests/mcp/warm_run.py --program {program} --folder build/mcp-warm', seconds=30),
    Step('mcp-sdk', 'deep', with_sdk, seconds=30),
    Step('mcp-tokens', 'deep', with_modules('tests/mcp/tokens_run.py', 'npm-mcp', TOKENIZER), seconds=30),
    Step('mcp-inspector', 'deep', with_modules('tests/mcp/inspector_run.py', 'npm-inspector', INSPECTOR), seconds=60),
]
