# SPDX-License-Identifier: Apache-2.0
"""Every recorded answer of the original through the Python package, called as the original's library
was: text with its banners, files, and the result message as protobuf text."""
import base64
import gzip
import json
import os
import re
import tempfile
import unittest

import support

from tfprof import compat, messages

BUILD_LINE = re.compile(r'^\d+ gradient nodes not accounted\n', re.M)
LOG_LINE = re.compile(r'^(\[libprotobuf |\d{4}-\d\d-\d\d \d\d:|[IWEF]\d{4} |WARNING: All log).*\n', re.M)
LOAD_LINE = re.compile(r'^(.* has no start time, skipping|found \d+ gpu allocator for 1 node)\n', re.M)
ALL_CHECKERS = ['ExpensiveOperationChecker', 'AcceleratorUtilizationChecker', 'OperationChecker',
                'JobChecker']


def open_text(name):
    if os.path.exists(name):
        return open(name, encoding='utf-8')
    return gzip.open(name + '.gz', 'rt', encoding='utf-8')


def load(folder, suffix):
    """Yields (session, lines of expected answers)."""
    with open_text(os.path.join(folder, 'load%s.json' % suffix)) as f:
        spec = json.load(f)

    def path(name):
        name = os.path.join(folder, name)
        return name if os.path.exists(name) else name + '.gz'

    session = compat.new_session()
    kinds = compat._native
    if spec.get('profile'):
        session.add(kinds.PROFILE, path(spec['profile']))
    else:
        if spec.get('graph'):
            session.add(kinds.GRAPH, path(spec['graph']))
        if spec.get('op_log'):
            session.add(kinds.OP_LOG, path(spec['op_log']))
    coverage = []
    for i, name in enumerate(spec.get('run_meta') or []):
        session.add(kinds.STEP, path(name), i)
        coverage.append(session.coverage())
    with open_text(os.path.join(folder, 'expected%s.jsonl' % suffix)) as f:
        lines = [json.loads(x) for x in f]
    return session, coverage, lines


def as_bytes(x):
    if isinstance(x, dict):
        return base64.b64decode(x.get('gunzipped_base64') or x.get('base64') or '')
    return x.encode('utf-8', 'surrogateescape')


def options_message(options, out):
    m = messages.OptionsProto()
    for name, value in options.items():
        if isinstance(value, list):
            getattr(m, name).extend(value)
        else:
            setattr(m, name, value.replace('%OUT%', out) if name == 'output' else value)
    return m.SerializeToString()


def said(text):
    """Returns standard error without messages of loading and of building views."""
    for pattern in (LOG_LINE, LOAD_LINE, BUILD_LINE):
        text = pattern.sub('', text)
    return text


class Recorded(unittest.TestCase):
    maxDiff = 4000

    def one(self, session, case):
        with tempfile.TemporaryDirectory() as tmp:
            out = os.path.join(tmp, 'out')
            if case['command'] == 'advise':
                m = messages.AdvisorOptionsProto()
                for c in case['options'].get('checkers', ALL_CHECKERS):
                    m.checkers[c] = messages.CheckerOption()
                options = m.SerializeToString()
            else:
                options = options_message(case['options'], out)
            with support.printed() as texts:
                result = compat.run(session, case['command'], options)
            if case.get('crashed'):
                return
            self.files(case, tmp, out)
        self.result(case, result)
        stdout, stderr = [x.replace(out, '%OUT%') for x in texts]
        if case['command'] == 'advise':
            split = re.compile(r'\n(\w+Checker):\n')
            a, b = (sorted(zip(x[1::2], x[2::2])) for x in map(split.split, (case['stdout'], stdout)))
            self.assertEqual(a, b)
        else:
            self.assertEqual(as_bytes(case['stdout']).decode('utf-8', 'replace'), stdout)
        self.assertEqual(said(as_bytes(case['stderr']).decode('utf-8', 'replace')), said(stderr))

    def files(self, case, tmp, out):
        have = {n: open(os.path.join(tmp, n), 'rb').read() for n in os.listdir(tmp)}
        want = {n.replace('%OUT%', 'out'): v for n, v in case['files'].items()}
        self.assertEqual(sorted(want), sorted(have))
        for n, v in want.items():
            got = gzip.decompress(have[n]) if have[n][:2] == b'\x1f\x8b' else have[n]
            self.assertEqual(as_bytes(v), got.replace(out.encode(), b'%OUT%'), n)

    def result(self, case, result):
        if 'proto' not in case:
            return
        kind = {'advise': messages.AdviceProto, 'scope': messages.GraphNodeProto,
                'graph': messages.GraphNodeProto}.get(case['command'], messages.MultiGraphNodeProto)
        self.assertEqual(case['proto'], str(kind.FromString(result)))


def add_tests():
    def make(folder, suffix):
        def test(self):
            session, coverage, lines = load(folder, suffix)
            self.assertEqual(coverage, lines[0]['coverage'] or [])
            for number, case in enumerate(lines[1:], 2):
                with self.subTest(line=number, command=case['command'], options=case['options']):
                    self.one(session, case)
            session.close()
        return test
    for name in sorted(os.listdir(support.RECORDED)):
        folder = os.path.join(support.RECORDED, name)
        for suffix in ('', '_profile'):
            spec = os.path.join(folder, 'load%s.json' % suffix)
            if os.path.exists(spec) or os.path.exists(spec + '.gz'):
                setattr(Recorded, 'test_%s%s' % (name, suffix), make(folder, suffix))


add_tests()

if __name__ == '__main__':
    unittest.main()
