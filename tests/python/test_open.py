# SPDX-License-Identifier: Apache-2.0
"""tfprof.open and Profile(path) on inputs of every kind; summary, top, diff and coverage of each."""
import glob
import gzip
import json
import os
import shutil
import tempfile
import threading
import unittest

import support
from support import ROOT

import tfprof

TESTDATA = os.path.join(ROOT, 'testdata')
EXAMPLE = os.path.join(TESTDATA, 'example')


def example(name):
    return os.path.join(EXAMPLE, name)


def trace(name):
    return os.path.join(TESTDATA, 'traces', name)


PYTORCH = {'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'GPU'}], 'traceEvents': [
    {'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::mm', 'pid': 1, 'tid': 1, 'ts': 100, 'dur': 50,
     'args': {'External id': 7}},
    {'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 1, 'tid': 1, 'ts': 110, 'dur': 10,
     'args': {'correlation': 3}},
    {'ph': 'X', 'cat': 'kernel', 'name': 'gemm', 'pid': 0, 'tid': 7, 'ts': 130, 'dur': 400,
     'args': {'correlation': 3, 'device': 0, 'stream': 7, 'External id': 7}}]}


class EveryKind(unittest.TestCase):
    """Each input gives the same answers in the program and in Python."""

    def judge(self, source, steps=True, hottest=None):
        with tfprof.open(source) as p:
            page = p.summary()
            rows = p.top(3)
            self.assertEqual('tfprof/summary', page['schema']['name'])
            self.assertEqual(bool(p.steps), steps)
            self.assertTrue(0 < p.coverage <= 1 if steps else p.coverage == 0)
            self.assertLessEqual(len(rows), 3)
            self.assertEqual([r['path'] for r in rows], [r['path'] for r in page['nodes'][:3]])
            if hottest:
                self.assertEqual(hottest, rows[0]['path'])
            self.assertIn(rows[0]['path'], p.text('summary'))
            self.assertGreater(sum(1 for _ in p.scope(max_depth=99).walk()), 1)
            same = p.diff(p)
            self.assertEqual([], [r for r in same['rows'] if r['parent']])
            return page

    def test_profile(self):
        self.judge(example('profile_100'), hottest='input/DecodeJpeg')

    def test_xspace(self):
        self.judge(trace('trace.xplane.pb'))

    def test_pytorch(self):
        with tempfile.TemporaryDirectory() as d:
            name = os.path.join(d, 'a.pt.trace.json.gz')
            with gzip.open(name, 'wt') as f:
                json.dump(PYTORCH, f)
            page = self.judge(name, hottest='aten::mm')
            self.assertEqual(400, page['device_op_micros'])
            self.assertEqual(page['nodes'], self.judge(json.dumps(PYTORCH).encode())['nodes'])

    def test_step_time(self):
        with tfprof.open(trace('training.pt.trace.json.gz')) as p:
            (row,), doc = p.step_time(), p.document('steps')
            self.assertEqual(('gpu:0', 8), (row['device'], row['steps']))
            self.assertEqual(row['step_ns'], sum(row[k + '_ns'] for k in ('compute', 'exposed_communication', 'exposed_copy', 'idle')))
            lengths = [s['duration_ns'] for s in doc['steps']]
            self.assertEqual((min(lengths), max(lengths)), (row['min_ns'], row['max_ns']))
            self.assertLess(abs(sum(lengths) / 8 - row['step_ns']), 1)
        with tfprof.open(example('profile_100')) as p, self.assertRaises(tfprof.Error):
            p.step_time()

    def test_phases(self):
        with tfprof.open(os.path.join(ROOT, 'testdata', 'graphs', 'replay.pt.trace.json')) as p:
            prefill, decode = p.phases()
            self.assertEqual([('prefill', 1, 20, 0), ('decode', 2, 6, 2)],
                             [(r['phase'], r['steps'], r['tokens'], r['graph_launches']) for r in (prefill, decode)])
            self.assertEqual((25, None), (decode['padding'], prefill['padding']))
        with tfprof.open(trace('training.pt.trace.json.gz')) as p, self.assertRaises(tfprof.Error):
            p.phases()

    def test_step_without_work(self):
        steps = [{'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#%d' % i, 'pid': 1, 'tid': 1, 'ts': ts,
                  'dur': dur} for i, ts, dur in ((1, 90, 500), (2, 600, 50))]
        with tfprof.open(json.dumps(dict(PYTORCH, traceEvents=steps + PYTORCH['traceEvents'])).encode()) as p:
            self.assertEqual([1, 2], p.steps)
            self.assertRegex(p.text('summary'), r'(?m)^steps +2: 1, 2; slowest: 1 with 500us$')

    def test_nsight(self):
        self.judge(trace('nsys.sqlite'))

    def test_onnxruntime(self):
        self.judge(trace('onnxruntime.json'))

    def test_pprof(self):
        self.judge(trace('cpu.pb.gz'))

    def test_tensorrt(self):
        with tfprof.open(trace('tensorrt_layers.json'), trace('tensorrt_times.json')) as p:
            self.assertEqual([0], p.steps)
            self.assertGreater(p.top(1)[0]['own_micros'], 0)

    def test_recording(self):
        with tempfile.TemporaryDirectory() as d:
            shutil.copy(os.path.join(TESTDATA, 'small', 'train.tfspool'), d)
            folder, one = self.judge(d), self.judge(os.path.join(d, 'train.tfspool'))
            self.assertEqual(folder['nodes'], one['nodes'])
            with tfprof.Profile(d, spool_options={'leaf': 'op'}) as p, tfprof.Profile(spool=d) as q:
                self.assertNotEqual(sorted(r.name for _, r in p.op().walk()),
                                    sorted(r.name for _, r in q.op().walk()))

    def test_graph(self):
        page = self.judge(example('graph.pbtxt'), steps=False)
        self.assertAlmostEqual(2.19e6, page['parameters'], -4)

    def test_files_in_any_order(self):
        files = [example(x) for x in ('run_meta_0', 'tfprof_log', 'graph.pbtxt', 'run_meta_1')]
        page = self.judge(files, hottest='input/DecodeJpeg')
        self.assertTrue(page['float_ops'])
        with tfprof.open(*files) as p, tfprof.Profile(graph=files[2], run_meta=[files[0], files[3]],
                                                      op_log=files[1]) as q:
            self.assertEqual(q.text('op', select='micros', order_by='micros'), p.text('op', select='micros', order_by='micros'))
            self.assertEqual(q.coverage, p.coverage)

    def test_workers_and_patterns(self):
        with tempfile.TemporaryDirectory() as d:
            for job in 'ab':
                os.mkdir(os.path.join(d, job))
                shutil.copy(example('profile_100'), os.path.join(d, job, 'profile_100'))
            for source in (os.path.join(d, '*'), sorted(glob.glob(os.path.join(d, '*')))):
                with tfprof.open(source) as p:
                    self.assertEqual(['a', 'b'], p.workers)

    def test_bytes_as_the_file(self):
        for name in glob.glob(os.path.join(TESTDATA, 'traces', '[cnot]*.*')) + [example('profile_100')]:
            if 'tensorrt' in name:
                continue
            with open(name, 'rb') as f, tfprof.open(f.read()) as p, tfprof.open(name) as q:
                self.assertEqual(q.top(5), p.top(5), name)

    def test_all_rows(self):
        """Trees of a trace are complete without max_depth."""
        events = [{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::op%d' % i, 'pid': 1, 'tid': 1, 'ts': 100 + i, 'dur': 100 - 2 * i} for i in range(40)]
        with tfprof.open(json.dumps(dict(PYTORCH, traceEvents=events)).encode()) as p:
            self.assertEqual(40, len(p.op().children))
            self.assertEqual(41, sum(1 for _ in p.scope().walk()))
            self.assertEqual(5, len(p.op(max_depth=5).children))

    def test_what_cannot_be_opened(self):
        with self.assertRaisesRegex(tfprof.NotFoundError, '/no/such'):
            tfprof.open('/no/such')
        with self.assertRaisesRegex(tfprof.DataLossError, 'README.md'):
            tfprof.open(example('README.md'))
        with self.assertRaisesRegex(tfprof.InvalidArgumentError, 'recording_options'):
            tfprof.open(example('profile_100'), example('profile_200'), spool_options={'leaf': 'op'})
        with self.assertRaisesRegex(tfprof.InvalidArgumentError, 'bytes, a file object or a message'):
            tfprof.open(3)
        for nothing in ((), (None, ), ([], )):
            with self.assertRaisesRegex(tfprof.InvalidArgumentError, 'open needs a file'):
                tfprof.open(*nothing)
        with self.assertRaisesRegex(tfprof.DataLossError, 'is empty'):
            tfprof.open(b'')
        self.assertIn('open', tfprof.__all__)


class Top(unittest.TestCase):
    def setUp(self):
        self.p = tfprof.open(example('profile_100'))

    def test_metrics(self):
        rows = self.p.top(0)
        own = [r['own_micros'] for r in rows]
        self.assertEqual(sorted(own, reverse=True), own)
        self.assertAlmostEqual(100, sum(r['share'] for r in rows), 0)
        self.assertEqual(2, len(self.p.top(2, by='bytes')))
        self.assertIn('own_bytes', self.p.top(1, by='bytes')[0])
        conv = self.p.top(1, show_name_regexes=['.*Conv2D.*'], step=2)
        self.assertIn('Conv2D', conv[0]['path'])
        for by in ('no_such', 'micros -output none', ''):
            with self.assertRaises(tfprof.InvalidArgumentError):
                self.p.top(by=by)


class Diff(unittest.TestCase):
    def setUp(self):
        self.a, self.b = tfprof.open(example('profile_100')), tfprof.open(example('profile_200'))

    def root(self, document):
        return document['rows'][0]['difference_micros']

    def test_direction(self):
        forth, back = self.a.diff(self.b, all=True), self.b.diff(self.a, all=True)
        micros = [p.scope().total.micros for p in (self.a, self.b)]
        self.assertEqual(micros[1] - micros[0], self.root(forth))
        self.assertEqual(-self.root(forth), self.root(back))
        self.assertEqual(forth['rows'], self.a.diff(example('profile_200'), all=True)['rows'])

    def test_views_and_options(self):
        op = self.a.diff(self.b, 'op', select=['micros', 'bytes'], all=True)
        self.assertEqual('op', op['view'])
        self.assertIn('difference_bytes', op['rows'][0])
        steps = self.a.diff(steps=('fastest', 'slowest'), all=True)
        self.assertGreaterEqual(self.root(steps), 0)
        self.assertIn('the slowest step is', self.a.notes)
        with self.assertRaises(tfprof.InvalidArgumentError):
            self.a.diff(self.b, 'no_view')
        with self.assertRaises(TypeError):
            self.a.diff(self.b, no_such=1)
        self.b.close()
        with self.assertRaisesRegex(tfprof.Error, 'closed'):
            self.a.diff(self.b)

    def test_gates(self):
        found = self.b.diff(self.a, gate=['total.micros<1us', 'total.bytes<+99%', 'total.micros<+99%'])['gates']
        self.assertEqual(['fails', 'holds', 'inconclusive'], [g['result'] for g in found])
        self.assertEqual([False, True, False], [g['holds'] for g in found])

    def test_in_two_directions_at_once(self):
        failures = []

        def many(a, b):
            try:
                for _ in range(20):
                    a.diff(b)
            except BaseException as e:
                failures.append(e)
        threads = [threading.Thread(target=many, args=x) for x in ((self.a, self.b), (self.b, self.a))]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual([], failures)


if __name__ == '__main__':
    unittest.main()
