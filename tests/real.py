#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the program with what releases of the original said about their own test inputs.

REALDATA/expected/commands.json lists inputs, command, options, the file with the answer and what of it
to compare. What cannot be compared yet is skipped, and the reasons are counted.

    tests/real.py --realdata DIR [FILTER...]      a filter is a part of the answer's file name
"""
import argparse
import collections
import ctypes
import glob
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
spec = importlib.util.spec_from_file_location('recorded', os.path.join(HERE, 'recorded', 'run.py'))
recorded = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recorded)
KNOWN = dict(recorded.OPTIONS)


def why_not(entry):
    """Why an entry cannot be compared yet, or None."""
    compare = entry['compare']
    if compare.startswith('tensor_value'):
        if not os.path.exists(library()):
            return 'no library beside the program'
        return None if shutil.which('protoc') else 'no protoc'
    if compare.startswith('result message'):
        return recorded.NOT_YET.get('*.proto', 'no result messages through the program')
    if not compare.startswith('text after the Doc block'):
        return 'unknown comparison: ' + compare
    if set(entry['options']) - set(KNOWN):
        return 'options of an older generation'
    kind = entry['command'] + '.file'
    return next((w for p, w in recorded.NOT_YET.items() if recorded.matches(p, kind)), None)


def ask(entry):
    """(text after the line "Profile:", or None; what was printed)."""
    folder = os.path.join(ARGS.realdata, entry['inputs'])
    metas = sorted(glob.glob(os.path.join(folder, 'run_meta*')))
    words = [entry['command'], '--graph_path=' + os.path.join(folder, 'graph.pbtxt'),
             '--run_meta_path=' + ','.join(metas)]
    log = os.path.join(folder, 'tfprof_log')
    if os.path.exists(log):
        words.append('--op_log_path=' + log)
    for name, value in entry['options'].items():
        if isinstance(value, bool):
            value = str(value).lower()
        words.append('--%s=%s' % (name, ','.join(value) if isinstance(value, list) else value))
    with tempfile.TemporaryDirectory(prefix='tfprof-real-') as scratch:
        out = os.path.join(scratch, 'out')
        p = subprocess.run([ARGS.program] + words + ['--output=file:outfile=' + out],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           env=dict(os.environ, LC_ALL='C'), timeout=120)
        if p.returncode or not os.path.exists(out):
            return None, 'status %d: %s' % (p.returncode, p.stdout.decode('utf-8', 'replace'))
        with open(out, 'rb') as f:
            text = f.read()
    return text.split(b'\nProfile:\n', 1)[-1], ''


def library():
    return os.path.join(os.path.dirname(ARGS.program), 'libtfprof.so')


def tensors(text):
    """{node: lines of its tensor_value} of a GraphNodeProto as text."""
    found, names, inside = {}, [''], None
    for line in text.split('\n'):
        word = line.strip()
        if word == 'tensor_value {':
            inside = []
        elif word.endswith('{'):
            names.append('')
        elif word == '}' and inside is not None:
            found[names[-1]], inside = inside, None
        elif word == '}':
            names.pop()
        elif inside is not None:
            inside.append(word)
        elif word.startswith('name: ') and not names[-1]:
            names[-1] = word
    return found


def ask_tensors(entry):
    """The same of our answer: the library's result message, as text."""
    class Str(ctypes.Structure):
        _fields_ = [('data', ctypes.c_char_p), ('size', ctypes.c_size_t)]

    class Input(ctypes.Structure):
        _fields_ = [('size', ctypes.c_size_t), ('path', ctypes.c_char_p), ('path_size', ctypes.c_size_t),
                    ('bytes', ctypes.c_void_p), ('bytes_size', ctypes.c_size_t),
                    ('step', ctypes.c_int64)]

    put = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)

    class Run(ctypes.Structure):
        _fields_ = [('size', ctypes.c_size_t), ('flags', ctypes.c_uint), ('text', put),
                    ('text_user', ctypes.c_void_p), ('result', put), ('result_user', ctypes.c_void_p),
                    ('checkers', ctypes.c_void_p), ('n_checkers', ctypes.c_size_t)]

    lib, session, message = ctypes.CDLL(library()), ctypes.c_void_p(), []
    lib.tfp_error.restype = ctypes.c_char_p

    def must(code):
        if code:
            raise OSError(lib.tfp_error(session, None).decode())

    folder = os.path.join(ARGS.realdata, entry['inputs'])
    must(lib.tfp_open(ctypes.byref(session), None))
    for kind, name in [(1, 'graph.pbtxt'), (16, entry['checkpoint']), (2, 'run_meta'), (4, 'tfprof_log')]:
        path = os.path.join(folder, name).encode()
        given = Input(ctypes.sizeof(Input), path, len(path), None, 0, 0)
        must(lib.tfp_add(session, kind, ctypes.byref(given)))
    for name, value in entry['options'].items():
        values = [str(v) for v in (value if isinstance(value, list) else [value])]
        array = (Str * len(values))(*[Str(v.encode(), len(v.encode())) for v in values])
        must(lib.tfp_set(session, name.encode(), len(name), array, len(values), 0))
    take = put(lambda user, p, n: message.append(ctypes.string_at(p, n)) or 0)
    run = Run(ctypes.sizeof(Run), 0, put(), None, take, None, None, 0)
    must(lib.tfp_run(session, entry['command'].encode(), len(entry['command']), ctypes.byref(run)))
    lib.tfp_close(session)
    proto = os.path.join(ROOT, 'proto')
    p = subprocess.run(['protoc', '-I' + proto, '--decode=tensorflow.tfprof.GraphNodeProto',
                        os.path.join(proto, 'tfprof_output.proto')], input=b''.join(message),
                       stdout=subprocess.PIPE, check=True)
    return tensors(p.stdout.decode())


def same_tensors(entry, path):
    """Why the values differ, or None."""
    with open(path, encoding='utf-8') as f:
        exp = tensors(f.read())
    try:
        got = ask_tensors(entry)
    except (OSError, subprocess.SubprocessError) as e:
        return str(e)
    number = re.compile(r'value_double: (.*)')

    def plain(lines):  # 1e-05 and 0.00001 are one number
        return [float(number.match(x).group(1)) if number.match(x) else x for x in lines]
    exp, got = ({k: plain(v) for k, v in x.items()} for x in (exp, got))
    return None if exp == got else 'expected %.300r, found %.300r' % (exp, got)


def main():
    top = os.path.join(ARGS.realdata, 'expected')
    with open(os.path.join(top, 'commands.json'), encoding='utf-8') as f:
        entries = json.load(f)
    passed, failed, skipped = 0, 0, collections.Counter()
    for entry in entries:
        name = entry['expected']
        if not all(w in name or w in entry['command'] for w in ARGS.filters):
            continue
        reason = why_not(entry)
        if reason:
            skipped['%s: %s' % (entry['command'], reason)] += 1
            continue
        if entry['compare'].startswith('tensor_value'):
            said = same_tensors(entry, os.path.join(top, name))
            passed, failed = passed + (not said), failed + bool(said)
            if said:
                print('FAILED %s %s\n%s' % (entry['command'], name, said))
            continue
        got, said = ask(entry)
        with open(os.path.join(top, name), 'rb') as f:
            exp = f.read()
        if got is not None and 'every blank removed' in entry['compare']:
            exp, got = (re.sub(rb' ', b'', x) for x in (exp, got))
        if got == exp:
            passed += 1
            continue
        failed += 1
        print('FAILED %s %s' % (entry['command'], name))
        print(said or recorded.differ(exp, got, name))
    for reason, n in sorted(skipped.items()):
        print('  %d skipped: %s' % (n, reason))
    if not passed + failed + sum(skipped.values()):
        print('no answer has that name')
    print('%d passed, %d failed, %d skipped' % (passed, failed, sum(skipped.values())))
    return 1 if failed else 0


if __name__ == '__main__':
    a = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    a.add_argument('filters', nargs='*')
    a.add_argument('--realdata', required=True)
    a.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    ARGS = a.parse_args()
    ARGS.realdata, ARGS.program = os.path.abspath(ARGS.realdata), os.path.abspath(ARGS.program)
    sys.exit(main())
