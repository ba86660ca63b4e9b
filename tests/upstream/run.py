#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the program with answers of releases of the original on their own test inputs.

REALDATA/expected/commands.json lists inputs, command, options, the file with the answer and the parts to compare. Entries that
cannot be compared are skipped, and the reasons are counted.

    tests/upstream/run.py --realdata DIR [FILTER...]      a filter is a part of the answer's file name
"""
import argparse
import collections
import glob
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
spec = importlib.util.spec_from_file_location('recorded', os.path.join(ROOT, 'tests', 'recorded', 'run.py'))
recorded = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recorded)
KNOWN = dict(recorded.OPTIONS)


def why_not(entry):
    """Returns why an entry cannot be compared, or None."""
    compare = entry['compare']
    if compare.startswith(('tensor_value', 'result message')):
        return None if os.path.exists(library()) else 'no library beside the program'
    if not compare.startswith('text after the Doc block'):
        return 'unknown comparison: ' + compare
    return 'options of an older generation' if set(entry['options']) - set(KNOWN) else None


def ask(entry):
    """Returns (text after the line "Profile:", or None; output)."""
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
                           env=dict(os.environ, LC_ALL='C'), timeout=600)
        if p.returncode or not os.path.exists(out):
            return None, 'status %d: %s' % (p.returncode, p.stdout.decode('utf-8', 'replace'))
        with open(out, 'rb') as f:
            text = f.read()
    return text.split(b'\nProfile:\n', 1)[-1], ''


def library():
    return os.path.join(os.path.dirname(ARGS.program), 'libtfprof.so')


def tensors(text):
    """Returns {node: lines of its tensor_value} of a GraphNodeProto as text."""
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


def message(entry):
    """Returns tfprof's result message as text, using the Python package."""
    os.environ['TFPROF_LIBRARY'] = library()
    sys.path[:0] = [p for p in [os.path.join(ROOT, 'python')] if p not in sys.path]
    from tfprof import compat, messages
    folder = os.path.join(ARGS.realdata, entry['inputs'])
    kinds, session = compat._native, compat.new_session()
    for kind, name in [(kinds.GRAPH, 'graph.pbtxt'), (kinds.CHECKPOINT, entry.get('checkpoint')),
                       (kinds.OP_LOG, 'tfprof_log'), (kinds.STEP, 'run_meta')]:
        if name and (name == entry.get('checkpoint') or os.path.exists(os.path.join(folder, name))):
            session.add(kind, os.path.join(folder, name))
    options = messages.OptionsProto()
    for name, value in entry['options'].items():
        if name == 'device_regexes':  # an option of an older version; here it matches everything
            continue
        if isinstance(value, list):
            getattr(options, name).extend(value)
        else:
            setattr(options, name, value)
    options.output = 'none'
    kind = messages.GraphNodeProto if entry['command'] in ('scope', 'graph') else messages.MultiGraphNodeProto
    result = compat.run(session, entry['command'], options.SerializeToString())
    session.close()
    return str(kind.FromString(result))


def same_tensors(entry, path):
    """Returns why the values differ, or None."""
    with open(path, encoding='utf-8') as f:
        exp = tensors(f.read())
    try:
        got = tensors(message(entry))
    except OSError as e:
        return str(e)
    number = re.compile(r'value_double: (.*)')

    def plain(lines):  # 1e-05 and 0.00001 are one number
        return [float(number.match(x).group(1)) if number.match(x) else x for x in lines]
    exp, got = ({k: plain(v) for k, v in x.items()} for x in (exp, got))
    return None if exp == got else 'expected %.300r, found %.300r' % (exp, got)


def same_message(entry, path):
    """Returns the difference of the result messages, or None."""
    with open(path, encoding='utf-8') as f:
        exp = f.read()
    got = message(entry)
    # Older text writes the key 0 of a map, and formats numbers differently; the values are equal.
    plain = [re.sub(r'\n *key: 0(?=\n)', '', re.sub(r'(?<=value_double: ).*', lambda m: repr(float(m.group())), x))
             for x in (exp, got)]
    return None if plain[0] == plain[1] else recorded.differ(exp.encode(), got.encode(), os.path.basename(path))


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
        if entry['compare'].startswith(('tensor_value', 'result message')):
            same = same_tensors if entry['compare'].startswith('tensor_value') else same_message
            said = same(entry, os.path.join(top, name))
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
