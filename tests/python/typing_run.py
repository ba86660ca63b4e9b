#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the types of the package, and of programs that use it, with mypy --strict and pyright. Needs both of them, pandas and
pandas-stubs.

    tests/python/typing_run.py --bin build/check
"""
import argparse
import inspect
import json
import os
import subprocess
import sys
import tempfile
import typing

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'check'))
sys.path.insert(0, os.path.join(ROOT, 'python'))
import cases  # noqa: E402


def examples(annotation):
    """Returns texts of values for each alternative of a type."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is type(None):
        return ['None']
    if origin is typing.Literal:
        return [repr(x) for x in arguments]
    if origin is typing.Union:
        return [text for x in arguments for text in examples(x)]
    if origin and issubclass(origin, typing.Sequence):
        return ['[%s]' % examples(arguments[0])[0]]
    plain = {int: '3', float: '0.5', str: "'x'", bool: 'True', typing.Any: 'p'}
    return [plain[annotation]] if annotation in plain else ['pathlib.Path("x")']


def calls(name, method):
    """Returns one call with each value of each argument, and with the arguments that have no default."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    needed = {x.name: '%s=%s' % (x.name, examples(x.annotation)[0]) for x in parameters
              if x.default is x.empty and x.kind != x.VAR_POSITIONAL}
    lines = []
    for x in parameters:
        if x.kind == x.VAR_POSITIONAL:
            lines.append("%s('a', 'b')" % name)
            continue
        for text in examples(x.annotation):
            lines.append('%s(%s)' % (name, ', '.join({**needed, x.name: '%s=%s' % (x.name, text)}.values())))
    return lines or ['%s()' % name]


def program_that_calls_everything():
    """Returns a program that uses each argument of each typed method."""
    from tfprof import _commands
    lines = ['import pathlib', 'import tfprof', 'p = tfprof.open("x")', 'tree: tfprof.Tree', 'result: tfprof.Result']
    methods = [('p.' + n, m) for n, m in vars(_commands.Commands).items() if not n.startswith('_')]
    methods += [('p.steps', _commands.StepNumbers.__call__), ('p.devices', _commands.DeviceNames.__call__)]
    for name, method in methods:
        answer = inspect.signature(method).return_annotation
        lines += ['%s = %s' % (answer.__name__.lower(), call) if answer else call for call in calls(name, method)]
    return '\n'.join(lines) + '\n'


def check(words, expected=0):
    """Runs a checker in the scratch environment. Returns its output; the status must be as expected."""
    p = subprocess.run([sys.executable, '-m'] + words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT,
                       env=dict(os.environ, MYPYPATH=os.path.join(ROOT, 'python')))
    text = p.stdout.decode()
    assert p.returncode == expected, text[-3000:]
    return text


def mypy(*files, **how):
    return check(['mypy', '--strict', '--cache-dir', os.path.join(ROOT, 'build', 'mypy'), *files], **how)


def pyright(folder, *files, **how):
    with open(os.path.join(folder, 'pyrightconfig.json'), 'w') as f:
        json.dump({'include': [os.path.relpath(x, folder) for x in files], 'extraPaths': [os.path.join(ROOT, 'python')], 'typeCheckingMode': 'standard'}, f)
    return check(['pyright', '--pythonpath', sys.executable, '--project', folder], **how)


def package():
    """The package itself has no findings."""
    mypy('python/tfprof')
    with tempfile.TemporaryDirectory() as folder:
        pyright(folder, os.path.join(ROOT, 'python', 'tfprof'))


def users():
    """A program that calls everything, and one as users write it, have no findings."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'everything.py')
        with open(path, 'w') as f:
            f.write(program_that_calls_everything())
        for program in (path, os.path.join(HERE, 'typed.py')):
            mypy(program)
            pyright(folder, program)


def mistakes():
    """Each line with the comment "wrong" has a finding, and no other line has one."""
    path = os.path.join(HERE, 'mistyped.py')
    with open(path) as f:
        wrong = [i for i, line in enumerate(f, 1) if line.endswith('# wrong\n')]
    with tempfile.TemporaryDirectory() as folder:
        for text in (mypy(path, expected=1), pyright(folder, path, expected=1)):
            found = {int(line.split('mistyped.py:')[1].split(':')[0]) for line in text.splitlines() if 'mistyped.py:' in line}
            assert found == set(wrong), (found, wrong, text)


def runs():
    """The program with types also runs."""
    subprocess.run([sys.executable, os.path.join(HERE, 'typed.py')], check=True, cwd=ROOT,
                   env=dict(os.environ, PYTHONPATH=os.path.join(ROOT, 'python')))


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--bin', default='build', help='the folder with libtfprof.so')
    args = p.parse_args()
    os.environ['TFPROF_LIBRARY'] = os.path.join(os.path.abspath(args.bin), 'libtfprof.so')
    return cases.run([package, users, mistakes, runs])


if __name__ == '__main__':
    sys.exit(main())
