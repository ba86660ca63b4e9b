# SPDX-License-Identifier: Apache-2.0
"""Tests the typed methods for commands, their results, inputs without a path, and the members of errors."""
import csv
import gzip
import io
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

import support
from support import ROOT

import tfprof
from tfprof import html

TRAINING = os.path.join(ROOT, 'testdata', 'traces', 'training.pt.trace.json.gz')
TABLES = ('kernels', 'devices', 'steps', 'roofline', 'flops', 'critical', 'idle', 'why')


def chain(depth):
    """Returns a trace with ops nested this deep."""
    events = [{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::op%d' % i, 'pid': 1, 'tid': 1, 'ts': 100 + i, 'dur': 2 * (depth - i)}
              for i in range(depth)]
    return json.dumps({'schemaVersion': 1, 'traceEvents': events}).encode()


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.p = tfprof.open(TRAINING)

    def test_rows_are_those_of_csv(self):
        for command in TABLES:
            rows = self.p.records(command)
            lines = list(csv.reader(io.StringIO(self.p.text(command, output='csv', top=0))))
            self.assertEqual(lines[0], list(rows[0]), command)
            self.assertEqual(len(lines) - 1, len(rows), command)
            self.assertEqual([str(v) if v is not None else '' for v in rows[0].values()], lines[1], command)

    def test_methods_answer_as_their_commands(self):
        for command in TABLES:
            method = getattr(self.p, command)
            self.assertEqual(self.p.records(command), method().rows, command)
            self.assertEqual(self.p.document(command)['columns'], [
                {k: v for k, v in c._asdict().items() if v} for c in method().columns], command)
        self.assertEqual(self.p.records('scope', select=['micros'])[0]['path'], self.p.scope(select=['micros']).name)
        self.assertEqual(self.p.records('what-if', 'host=0'), self.p.what_if('host=0').rows)

    def test_all_rows_unless_limited(self):
        events = [{'ph': 'X', 'cat': 'kernel', 'name': 'k%d' % i, 'pid': 0, 'tid': 7, 'ts': 100 * i, 'dur': 9 + i,
                   'args': {'device': 0, 'stream': 7}} for i in range(30)]
        trace = {'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'GPU'}], 'traceEvents': events}
        with tfprof.open(json.dumps(trace).encode()) as p:
            whole, few = p.kernels(), p.kernels(5)
            self.assertEqual((30, 30, 5, 30), (len(whole), whole.row_count, len(few), few.row_count))
            self.assertEqual(whole[:5], p.records('kernels', top=5))
            self.assertIn('(20 of 30 rows', p.text('kernels'))

    def test_all_levels_unless_limited(self):
        with tfprof.open(chain(15)) as p:
            self.assertEqual(15, max(r['depth'] for r in p.records('scope')))
            self.assertEqual(15, max(d for d, _ in p.scope().walk()))
            self.assertEqual(3, max(r['depth'] for r in p.records('scope', max_depth=4)))
            self.assertEqual(0, p.document('scope')['truncation']['hidden_by']['max_depth'])

    def test_options_of_one_command(self):
        self.assertEqual(self.p.document('devices')['idle'], self.p.devices(table='idle').rows)
        self.assertEqual(self.p.why(as_='ranks'), self.p.records('why', as_='ranks'))
        self.assertEqual(['input_pipeline'], [r['cause'] for r in self.p.why(cause='input_pipeline')])
        with self.assertRaisesRegex(tfprof.Error, 'input_pipeline'):
            self.p.why(fail_on=['input_pipeline>1ms', 'garbage_collection'])
        fast, slow = (self.p.roofline(peak_flops=x)[0]['roof_ns'] for x in ('989T', '98T'))
        self.assertGreater(slow, fast)
        halved = self.p.what_if("kernel:.*elementwise kernel.*|.*void at.*=0")  # a word with blanks
        self.assertLess(halved['after_ns'], halved['before_ns'])

    def test_lists_that_are_commands(self):
        self.assertEqual(list(range(10, 18)), self.p.steps)
        self.assertEqual(self.p.steps, [r['step'] for r in self.p.steps()])
        self.assertEqual(list, type(pickle.loads(pickle.dumps(self.p.devices))))

    def test_result(self):
        why = self.p.why()
        self.assertIn('Input-bound', why['verdict'])
        self.assertIn('verdict', why)
        self.assertIn(why[0], why)
        self.assertEqual(why.rows, list(why))
        self.assertEqual((why.document['cause'], None), (why.get('cause'), why.get('no_such')))
        self.assertEqual(['', 'ns', 'percent'], [why.columns[i].unit for i in (0, 1, 3)])
        self.assertEqual(why, self.p.why())
        self.assertRegex(repr(why), '^<Result of why: 1 of 1 rows; columns: cause, ')

    def test_summary_without_nodes(self):
        with tfprof.open(os.path.join(ROOT, 'testdata', 'memory', 'snapshot.pickle')) as p:
            answer = p.summary()
            self.assertEqual(0, len(answer))
            self.assertEqual('PyCapsule', type(answer.__arrow_c_stream__()).__name__)

    def test_diff(self):
        answer = self.p.diff(TRAINING, 'op', all=True, steps=(11, 12), select=['micros', 'kernels'])
        self.assertEqual(answer.row_count, len(answer))
        self.assertIn('difference_kernels', answer[0])
        gated = self.p.diff(TRAINING, 'op', gate='total.micros<1us')
        self.assertEqual(False, gated['gates'][0]['holds'])
        for x in (answer, gated, self.p.diff(steps=('fastest', 'slowest'))):
            self.assertIn('"arrow_array_stream"', repr(x.__arrow_c_stream__()))

    def test_capsules(self):
        for x in (self.p.kernels(), self.p.scope(), self.p.table('kernels'), self.p.arrow('kernels', top=1)):
            self.assertIn('"arrow_array_stream"', repr(x.__arrow_c_stream__()))

    def test_data_frames(self):
        try:
            import pandas
            import polars
            import pyarrow
        except ImportError as e:
            self.skipTest('%s is not installed' % e.name)
        kernels, scope = self.p.kernels(), self.p.scope()
        names = [c.name for c in kernels.columns]
        for frame in (kernels.to_pandas(), kernels.to_polars(), polars.DataFrame(kernels), pandas.DataFrame(kernels)):
            self.assertEqual((names, (4, 10)), (list(frame.columns), frame.shape))
        self.assertEqual((names, 4), (pyarrow.table(kernels).schema.names, kernels.to_arrow().num_rows))
        self.assertEqual(kernels.to_arrow().to_pylist(), kernels.rows)
        self.assertEqual(len(self.p.records('scope')), scope.to_arrow().num_rows)
        for answer in (scope, self.p.op(), self.p.summary(), self.p.top()):
            self.assertEqual([answer.to_arrow().num_rows] * 2, [len(answer.to_pandas()), len(answer.to_polars())])
        self.assertEqual(self.p.table('nodes').to_pandas().shape, self.p.table('nodes').to_polars().shape)
        for diff in (self.p.diff(TRAINING, all=True, steps=(11, 12)), self.p.diff(TRAINING, gate='total.micros<1us')):
            self.assertEqual((diff.rows, len(diff)), (diff.to_arrow().to_pylist(), len(diff.to_polars())))
        frame = self.p.critical().to_pandas()
        self.assertEqual('int64', str(frame.duration_ns.dtype))
        with tfprof.open(TRAINING) as closed:
            idle = closed.idle()
        self.assertEqual(len(idle), len(idle.to_pandas()))
        with self.assertRaisesRegex(tfprof.Error, 'closed'):
            idle.to_arrow()
        gaps = self.p.flops().to_pandas()
        self.assertEqual('Int64', str(gaps.stated_flops.dtype))


class Html(unittest.TestCase):
    def test_result(self):
        with tfprof.open(TRAINING) as p:
            page = p.critical()._repr_html_()
            self.assertIn('critical: 20 of 60 rows', page)
            self.assertEqual(20, page.count('linear-gradient'))
            self.assertIn(' ms</td>', page)
            self.assertIn('Input-bound', p.why()._repr_html_())
            self.assertIn('scope: 16 of 16 rows', p.scope()._repr_html_())

    def test_profile(self):
        with tfprof.open(TRAINING) as p, tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'a page.html')
            p.report(path)
            with open(path, encoding='utf-8') as f:
                page = f.read()
            p.report(pathlib.Path(path), step=11)
            with open(path, encoding='utf-8') as f:
                self.assertNotEqual(page, f.read())
            self.assertTrue(page.startswith('<!doctype html>') or page.startswith('<!DOCTYPE html>'))
            shown = p._repr_html_()
            self.assertTrue(shown.startswith('<iframe sandbox="allow-scripts'))
            self.assertIn(page[:15].replace('<', '&lt;').replace('>', '&gt;'), shown)
            self.assertIn('scope', p.text('scope', max_depth=1))
            with self.assertRaises(FileNotFoundError):
                p.report(os.path.join(folder, 'no', 'x.html'))

    def test_escapes(self):
        events = [{'ph': 'X', 'cat': 'cpu_op', 'name': '<script>"&', 'pid': 1, 'tid': 1, 'ts': 1, 'dur': 9}]
        with tfprof.open(json.dumps({'schemaVersion': 1, 'traceEvents': events}).encode()) as p:
            for page in (p.top()._repr_html_(), p.scope()._repr_html_(), p.op()._repr_html_()):
                self.assertNotIn('<script', page)
                self.assertIn('&lt;script&gt;&quot;&amp;', page)

    def test_units(self):
        for value, unit, text in ((1250000, 'ns', '1.25 ms'), (12, 'us', '12.00 us'), (3, 'ns', '3 ns'), (0, 'us', '0 ns'),
                                  (1.5e9, 'bytes', '1.50 GB'), (12.34, 'percent', '12.3 %'), (12345, None, '12,345')):
            self.assertEqual(text, html.number(value, unit))


class Sources(unittest.TestCase):
    def test_without_a_path(self):
        with open(TRAINING, 'rb') as f:
            data = f.read()
        with tfprof.open(TRAINING) as p:
            want = p.kernels()
        with open(TRAINING, 'rb') as f:
            given = [pathlib.Path(TRAINING), data, bytearray(data), memoryview(data), io.BytesIO(data), f,
                     io.StringIO(gzip.decompress(data).decode()), tfprof.NamedBytes('run.json.gz', data)]
            for source in given:
                with tfprof.open(source) as p:
                    self.assertEqual(want, p.kernels(), type(source))

    def test_lists(self):
        with open(TRAINING, 'rb') as f:
            data = f.read()
        for sources in ((io.BytesIO(data), TRAINING), (data, data), (tfprof.NamedBytes('a/x', data), tfprof.NamedBytes('b/x', data))):
            with tfprof.open(*sources) as p:
                self.assertEqual(2, len(p.workers))
        with self.assertRaisesRegex(tfprof.InvalidArgumentError, 'not int'):
            tfprof.open(3, data)

    def test_urls(self):
        try:
            import fsspec
        except ImportError:
            with self.assertRaisesRegex(ImportError, 'memory://a.json: URLs need fsspec: pip install fsspec'):
                tfprof.open('memory://a.json')
            return
        fs = fsspec.filesystem('memory')
        with open(TRAINING, 'rb') as f:
            data = f.read()
        for name in ('job/rank0.pt.trace.json.gz', 'job/rank1.pt.trace.json.gz'):
            fs.pipe_file('/' + name, data)
        with tfprof.open('memory://job/rank0.pt.trace.json.gz') as p, tfprof.open(TRAINING) as q:
            self.assertEqual(p.kernels(), q.kernels())
        for url in ('memory://job/*.gz', 'memory://job'):
            with tfprof.open(url) as p:
                self.assertEqual(2, len(p.workers), url)
        for url in ('memory://none', 'memory://job/none*'):
            with self.assertRaises(FileNotFoundError) as e:
                tfprof.open(url)
            self.assertEqual(url, e.exception.file)


class Errors(unittest.TestCase):
    def test_missing_file(self):
        with self.assertRaises(FileNotFoundError) as e:
            tfprof.open('/no/such')
        self.assertIsInstance(e.exception, tfprof.NotFoundError)
        self.assertEqual(('/no/such', '/no/such', 2, None),
                         (e.exception.file, e.exception.filename, e.exception.errno, e.exception.offset))
        self.assertEqual("cannot open '/no/such': No such file or directory", str(e.exception))

    def test_no_permission(self):
        with tfprof.open(TRAINING) as p, self.assertRaises(PermissionError) as e:
            p.write('/sys/tfprof')
        self.assertIsInstance(e.exception, tfprof.AccessError)
        self.assertTrue(e.exception.file.startswith('/sys/'), e.exception.file)

    def test_a_missing_step_is_no_missing_file(self):
        with tfprof.open(TRAINING) as p, self.assertRaises(tfprof.NotFoundError) as e:
            p.scope(step=99)
        self.assertNotIsInstance(e.exception, OSError)

    def damaged(self, name, data):
        """Opens a damaged file; the error has the file and the offset that its message states."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name)
            with open(path, 'wb') as f:
                f.write(data)
            with self.assertRaises(tfprof.DataLossError) as e:
                tfprof.open(path)
            self.assertEqual(path, e.exception.file)
            self.assertIn('byte %d' % e.exception.offset, str(e.exception))
            again = pickle.loads(pickle.dumps(e.exception))
            self.assertEqual((str(e.exception), path, e.exception.offset), (str(again), again.file, again.offset))

    def test_offsets(self):
        with open(os.path.join(ROOT, 'testdata', 'example', 'profile_100'), 'rb') as f:
            self.damaged('profile', f.read()[:-99])
        with open(os.path.join(ROOT, 'testdata', 'memory', 'snapshot.pickle'), 'rb') as f:
            self.damaged('a.pickle', f.read()[:-99])
        with open(os.path.join(ROOT, 'testdata', 'example', 'profile_100'), 'rb') as f:
            self.damaged('profile.gz', gzip.compress(f.read())[:-99])


class Program(unittest.TestCase):
    def run_module(self, *words, **env):
        p = subprocess.run([sys.executable, '-B', '-m', 'tfprof', *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           env=dict(os.environ, PYTHONPATH=os.path.join(ROOT, 'python'), **env))
        return p.returncode, p.stdout.decode(), p.stderr.decode()

    def test_runs_the_program(self):
        status, out, _ = self.run_module('kernels', TRAINING, '--top=1')
        with tfprof.open(TRAINING) as p:
            self.assertEqual((0, p.text('kernels', top=1)), (status, out))
        self.assertEqual(2, self.run_module('no_such_command')[0])

    def test_says_that_it_is_missing(self):
        with tempfile.TemporaryDirectory() as empty:
            library = os.path.join(empty, 'libtfprof.so')
            os.symlink(os.environ['TFPROF_LIBRARY'], library)
            status, _, err = self.run_module('--version', TFPROF_LIBRARY=library, PATH=empty)
        self.assertEqual((127, True), (status, 'not installed' in err))


if __name__ == '__main__':
    unittest.main()
