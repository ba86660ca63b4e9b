# SPDX-License-Identifier: Apache-2.0
"""tfprof.Profile: trees, text, files, errors, cancelling."""
import gc
import json
import os
import shutil
import signal
import tempfile
import threading
import unittest

import support
from support import MLP, path, read

import tfprof
from tfprof import _native, messages, wire


def loaded(**more):
    return tfprof.Profile(None, [path('run_meta_0.pb'), path('run_meta_1.pb')],
                          path('op_log.pb'), graph=path('graph.pb'), **more)


class Libraries(unittest.TestCase):
    def test_libraries(self):
        found = {x.name: x for x in tfprof.libraries()}
        self.assertEqual(['demangler', 'page', 'pcre2', 'protobuf-c', 'snappy', 'sqlite', 'zlib'], sorted(found))
        self.assertTrue(found['zlib'].available and found['zlib'].version[:1].isdigit())
        self.assertIn('JIT', found['pcre2'].feature)


class Trees(unittest.TestCase):
    def setUp(self):
        self.p = loaded()

    def tearDown(self):
        self.p.close()

    def test_what_is_loaded(self):
        self.assertEqual([0, 1], self.p.steps)
        self.assertEqual(['/job:localhost/replica:0/task:0/device:cpu:0'], self.p.devices)
        self.assertTrue(0 < self.p.coverage < 1)
        self.p.add_steps({7: path('run_meta_2.pb')})
        self.p.add_steps(path('run_meta_2.pb'))
        self.assertEqual([0, 1, 7, 8], self.p.steps)
        self.assertEqual('<Profile: steps 0 1 7 8>', repr(self.p))
        self.p.add_steps([path('run_meta_2.pb')] * 6)
        self.assertEqual('<Profile: steps 0 1 7 8 9 10 11 12 ...>', repr(self.p))
        self.assertEqual('<Profile: no steps>', repr(tfprof.Profile()))

    def test_workers(self):
        with tempfile.TemporaryDirectory() as top:
            for job in ('job_2', 'job_10'):
                os.mkdir(os.path.join(top, job))
                shutil.copy(os.path.join(MLP, 'profile.pb'), os.path.join(top, job, 'profile_100'))
            shutil.copy(os.path.join(MLP, 'run_meta_0.pb'), os.path.join(top, 'job_2', 'run_meta_7'))
            with tfprof.Profile(profile=os.path.join(top, 'job_*', 'profile_100')) as p:
                self.assertEqual(['job_2', 'job_10'], p.workers)
                self.assertEqual([0, 1, 2], p.steps)
                doc = json.loads(p.text('scope', by='worker', max_depth=1, output='json'))
                self.assertEqual(['job_2', 'job_10'], [r['worker'] for r in doc['rows']])
                alone = p.scope(worker_regexes=['job_2']).total.micros
            with tfprof.Profile(profile=[os.path.join(top, 'job_2')]) as p:
                self.assertEqual(['job_2'], p.workers)
                self.assertEqual(alone, p.scope().total.micros)
                self.assertEqual(p.scope(step=0).total.micros, p.scope(step=7).total.micros)
                self.assertEqual([0, 1, 2, 7], p.steps)
                self.assertEqual(alone, p.scope().total.micros)
            with self.assertRaises(tfprof.Error) as e:
                tfprof.Profile(profile=os.path.join(top, '*', 'none'))
            self.assertIn('nothing matches', str(e.exception))

    def test_scope_adds_up(self):
        root = self.p.scope(max_depth=10000)
        self.assertEqual('_TFProfRoot', root.name)
        rows = list(root.walk())
        self.assertGreater(len(rows), 50)
        for _, row in rows:
            for i, total in enumerate(row.total[:-1]):  # scopes count as definitions too
                own = 0 if row is root else row.own[i]
                self.assertEqual(total, own + sum(c.total[i] for c in row.children), row.name)

    def test_rows_are_those_of_the_text(self):
        options = {'max_depth': 5, 'order_by': 'bytes', 'select': 'bytes'}
        lines = self.p.text('scope', **options).split('Profile:\n')[1].splitlines()[1:]
        rows = ['  ' * d + r.name for d, r in self.p.scope(**options).walk()]
        self.assertEqual([x.split(' (')[0] for x in lines], rows)

    def test_other_metrics(self):
        with tfprof.Profile(os.path.join(support.ROOT, 'testdata', 'traces', 'training.pt.trace.json.gz')) as p:
            options = {'select': ['micros', 'self_micros', 'kernels'], 'order_by': 'kernels'}
            root, rows = p.scope(**options), p.records('scope', **options)
            self.assertGreater(root.total.kernels, 0)
            self.assertAlmostEqual(rows[0]['total_kernels'], root.total.kernels, delta=0.5)
            self.assertEqual(len(rows), sum(1 for _ in root.walk()))
            self.assertEqual(root.total.cpu_micros, root.total.self_micros)
            with self.assertRaisesRegex(AttributeError, 'bytes_accessed'):
                root.total.bytes_accessed  # pylint: disable=pointless-statement

    def test_op_is_a_list(self):
        root = self.p.op(order_by='micros', step=0)
        own = [c.own.micros for c in root.children]
        self.assertEqual(sorted(own, reverse=True), own)
        self.assertTrue(all(not c.children for c in root.children))
        matmul = root.find('MatMul')
        self.assertEqual(sum(n.own.micros for n in matmul.nodes), matmul.own.micros)
        self.assertEqual(sum(n.own.occurrence for n in matmul.nodes), matmul.own.occurrence)
        self.assertEqual((32, 12), matmul.nodes[0].input_shapes[0])

    def test_code_and_graph(self):
        self.assertTrue(self.p.code().children)
        node = next(r for _, r in self.p.graph(max_depth=100).walk() if r.devices)
        self.assertEqual(self.p.devices, node.devices)

    def test_advise(self):
        self.assertEqual({'OperationChecker': []}, self.p.advise(['OperationChecker']))
        self.assertEqual({}, self.p.advise([]))
        self.assertEqual(3, len(self.p.advise()))

    def test_options_do_not_stick(self):
        self.p.scope(max_depth=1, show_name_regexes=['nothing, at all'])
        self.assertTrue(self.p.scope().children)

    def test_pandas(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest('pandas is not installed')
        frame = self.p.scope(max_depth=3).to_pandas()
        self.assertEqual('_TFProfRoot', frame.name[0])
        self.assertEqual(self.p.scope().total.micros, frame.total_micros[0])

    def test_records(self):
        options = {'max_depth': 100, 'order_by': 'micros', 'select': ['micros', 'bytes']}
        rows = self.p.records('scope', stats=['mean', 'n'], **options)
        tree = [r for _, r in self.p.scope(**options).walk()]
        self.assertEqual([r.name for r in tree], [r['path'] for r in rows])
        self.assertEqual([(r.own.micros, r.total.bytes) for r in tree[1:]],
                         [(r['own_micros'], r['total_bytes']) for r in rows[1:]])
        steps = [self.p.records('scope', step=s, **options)[0]['total_micros'] for s in (0, 1)]
        self.assertEqual((sum(steps) / 2, 2), (rows[0]['total_micros_mean'], rows[0]['total_n']))
        self.assertEqual(self.p.records('op', step=[0, 1]), self.p.records('op', step='0..1'))
        self.assertEqual(self.p.records('op', step=[1]), self.p.records('op', step=1))
        document = self.p.document('code', max_depth=2)
        self.assertEqual(('code', [0, 1]), (document['view'], document['steps']['used']))
        self.assertGreater(document['truncation']['hidden_by']['max_depth'], 0)
        self.assertEqual(self.p.text('op', output='ndjson').splitlines()[0][:9], '{"path":"')
        self.assertEqual({'checker', 'report'}, set(self.p.document('advise')['rows'][0]))

    def test_frame_of_records(self):
        try:
            import pandas
        except ImportError:
            self.skipTest('pandas is not installed')
        frame = pandas.DataFrame(self.p.records('scope', stats='mean,cv'))
        self.assertEqual('int64', str(frame.own_micros.dtype))
        self.assertGreater(frame.sort_values('total_micros_cv').total_micros_cv.iloc[-1], 0)

    def test_files(self):
        with tempfile.TemporaryDirectory() as d:
            out = os.path.join(d, 'out')
            self.assertIn(out, self.p.timeline(out, step=0))
            self.p.pprof(out + '.gz')
            self.p.write(out + '.profile')
            self.assertEqual(['out.gz', 'out.profile', 'out_0'], sorted(os.listdir(d)))
            again = tfprof.Profile(profile=out + '.profile')
            self.assertEqual(again.to_bytes(), tfprof.Profile(profile=again.to_bytes()).to_bytes())
            for view in ('scope', 'graph', 'op', 'code'):
                self.assertEqual(self.p.text(view), again.text(view))

    def test_notes(self):
        self.p.text('code', account_displayed_op_only=True)
        self.assertIn('Note: code view ignores account_displayed_op_only\n', self.p.notes)
        self.p.scope()
        self.assertEqual('', self.p.notes)


class Inputs(unittest.TestCase):
    def test_bytes_and_messages(self):
        class Message:
            def SerializeToString(self):
                return read('run_meta_0.pb')
        want = tfprof.Profile(path('graph.pb'), [path('run_meta_0.pb')]).text('scope')
        self.assertEqual(want, tfprof.Profile(read('graph.pb'), {0: Message()}).text('scope'))
        self.assertEqual(want, tfprof.Profile(bytearray(read('graph.pb')), Message()).text('scope'))

    def test_progress_and_cancel(self):
        told = []
        big = read('graph.pb') * 4 + b'\x0a\x03\x0a\x01x' * 1000000
        tfprof.Profile(big, progress=lambda done, total: told.append((done, total)))
        self.assertEqual((len(big), len(big)), told[-1])
        with self.assertRaises(tfprof.CancelledError):
            tfprof.Profile(big, progress=lambda done, total: False)
        with self.assertRaises(ZeroDivisionError):
            tfprof.Profile(big, progress=lambda done, total: 1 // 0)
        for use in (lambda: s.add(1, b''), lambda: s.steps(), lambda: s.devices(), lambda: s.close()):
            s = _native.Session(progress=lambda done, total: use())
            with self.assertRaisesRegex(tfprof.Error, 'callback'):
                s.add(1, big)
        other = _native.Session()
        s = _native.Session(progress=lambda done, total: other.add(1, b''))
        s.add(1, big)

    def test_fork(self):
        for busy in (False, True):
            s = _native.Session()
            if busy:  # acts like a call on another thread
                s._lock.acquire()
            pid = os.fork()
            if not pid:
                signal.alarm(600)
                s.close()
                os._exit(0)
            self.assertEqual(0, os.waitpid(pid, 0)[1])
            if busy:
                s._lock.release()
            s.add(1, b'')
            s.close()

    def test_cancel_beside_close(self):
        s, calls = _native.Session(), []
        closing = threading.Thread(target=s.close)

        class Library:
            @staticmethod
            def tfp_cancel(_session):
                closing.start()
                closing.join(0.05)
                calls.append('cancelled')

            @staticmethod
            def tfp_close(_session):
                calls.append('closed')
        s._lib, lib = Library, s._lib
        handle = s._s
        s.cancel()
        closing.join()
        s.cancel()
        lib.tfp_close(handle)
        self.assertEqual(['cancelled', 'closed'], calls)

    def test_bytes_of_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            for i in range(2):
                p = tfprof.Profile(path('graph.pb'), {i: path('run_meta_0.pb')})
                p.write(os.path.join(folder, 'profile_%d' % i))
            self.assertEqual([0, 1], tfprof.Profile(profile=tfprof.Profile(profile=folder).to_bytes()).steps)

    def test_memory_limit(self):
        many = b''.join(b'\x0a\x0a\x0a\x08%08d' % i for i in range(100000))
        with self.assertRaisesRegex(tfprof.MemoryLimitError, 'the memory limit of 3000000 bytes'):
            tfprof.Profile(many, memory_limit=3000000)
        with self.assertRaisesRegex(tfprof.MemoryLimitError, 'the memory limit of 1 bytes'):
            tfprof.Profile(many, memory_limit=1)

    def test_recover(self):
        cut = read('graph.pb')[:-100]
        with self.assertRaises(tfprof.DataLossError):
            tfprof.Profile(cut)
        p = tfprof.Profile(cut, recover=True)
        self.assertRegex(p.notes, r'warning: .*; \d+ nodes before it are kept; lost are \d+ bytes')

    def test_numbers_that_would_be_cut(self):
        for bad in ({'memory_limit': -1}, {'memory_limit': 2**70}, {'threads': -1}, {'threads': 2**40}):
            with self.assertRaisesRegex(ValueError, '0 or more'):
                tfprof.Profile(read('graph.pb'), **bad)
        for bad in ({'memory_limit': 1.5}, {'threads': 'x'}):
            with self.assertRaises(TypeError):
                tfprof.Profile(read('graph.pb'), **bad)


class Errors(unittest.TestCase):
    def check(self, kind, sentence, f):
        with self.assertRaisesRegex(kind, sentence) as e:
            f()
        self.assertIsInstance(e.exception, tfprof.Error)
        return e.exception

    def test_sentences(self):
        p = loaded()
        e = self.check(tfprof.InvalidArgumentError, "did you mean 'micros'", lambda: p.scope(order_by='micro'))
        self.assertEqual('INVALID_ARGUMENT', e.code)
        self.check(ValueError, "did you mean '-max_depth'", lambda: p.text('scope', maxdepth=3))
        self.check(ValueError, 'whole number', lambda: p.scope(max_depth=2**70))
        self.check(ValueError, 'show_name_regexes|\\(', lambda: p.scope(show_name_regexes=['(']))
        self.check(tfprof.NotFoundError, 'step 9 is not loaded', lambda: p.scope(step=9))
        self.check(tfprof.NotFoundError, 'No such file', lambda: tfprof.Profile('/no/such'))
        self.check(tfprof.DataLossError, '.', lambda: tfprof.Profile(run_meta=[b'\xff' * 9]))
        self.check(tfprof.Error, '/no/folder', lambda: p.write('/no/folder/x'))
        self.check(ValueError, 'not int', lambda: tfprof.Profile(3))
        self.check(ValueError, 'not the number of a step', lambda: tfprof.Profile(run_meta={2**64: b''}))
        self.check(ValueError, '0 or more', lambda: tfprof.Profile(run_meta={-1: b''}))
        self.check(ValueError, 'unknown checker', lambda: p.advise(['X']))
        self.assertTrue(p.scope().children)

    def test_closed(self):
        with loaded() as p:
            rows = p.scope()
        self.assertEqual('_TFProfRoot', rows.name)
        self.assertEqual([], p.steps)
        self.assertEqual([], p.devices)
        p.close()
        p.cancel()
        for f in (p.scope, p.to_bytes, p.advise, lambda: p.coverage, lambda: p.add_steps([b''])):
            self.check(tfprof.Error, 'closed', f)

    def test_many_threads(self):
        p, seen, bad = loaded(), set(), []

        def ask():
            try:
                for _ in range(20):
                    seen.add(p.text('scope', max_depth=3))
                    tfprof.Profile(read('graph.pb')).scope()
            except BaseException as e:  # noqa: B902: seen by the test
                bad.append(e)
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(([], 1), (bad, len(seen)))
        del p
        gc.collect()


class Wire(unittest.TestCase):
    def test_deep_messages(self):
        data = b''
        for _ in range(3000):
            data = b'\x62' + bytes(self.varint(len(data))) + data
        m = messages.GraphNodeProto.FromString(data)
        self.assertEqual(3000 * 2, str(m).count('\n'))
        row = tfprof.Row(m, False)
        self.assertEqual(3001, sum(1 for _ in row.walk()))

    def varint(self, n):
        out = bytearray()
        wire.put_varint(out, n)
        return out

    def test_round_trip(self):
        m = messages.OptionsProto(max_depth=-5, select=['a', 'é"\n'], account_displayed_op_only=True)
        m.output = 'file:outfile=x'
        again = messages.OptionsProto.FromString(m.SerializeToString())
        self.assertEqual(m, again)
        self.assertEqual((-5, ['a', 'é"\n'], True, 0), (again.max_depth, list(again.select),
                                                      again.account_displayed_op_only, again.step))
        self.assertIn('select: "é\\"\\n"\n', str(again))
        with self.assertRaises(AttributeError):
            again.step = 3
        with self.assertRaises(AttributeError):
            m.no_such_field = 3

    def test_bad_bytes(self):
        for data in (b'\x0a', b'\x0a\x05ab', b'\xff' * 11, b'\x0c', b'\x0b', b'\x09\x01', b'\x0e'):
            with self.assertRaises(ValueError):
                messages.GraphNodeProto.FromString(data)
        self.assertEqual('x', messages.GraphNodeProto.FromString(b'\x2b\x08\x01\x2c\x0a\x01x').name)


if __name__ == '__main__':
    unittest.main()
