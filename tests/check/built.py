# SPDX-License-Identifier: Apache-2.0
"""Reads from `tfprof --version` which optional libraries a program was built with."""
import json
import subprocess


def libraries(program):
    """Returns {name: its object} of every library that the program lists."""
    out = subprocess.run([program, '--version', '-output', 'json'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout
    return {x['name']: x for x in json.loads(out.decode() or '{"libraries": []}')['libraries']}


def has(program, part):
    """True if the program was built with `part`: libedit, snappy or demangler."""
    return libraries(program).get(part, {}).get('available', False)
