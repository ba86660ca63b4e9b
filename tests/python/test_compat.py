# SPDX-License-Identifier: Apache-2.0
"""tfprof.compat and tfprof.model_analyzer: the interface of TensorFlow's own modules."""
import os
import tempfile
import unittest

import support
from support import path, printed, read

import tfprof
from tfprof import compat, gfile, model_analyzer
from tfprof.model_analyzer import ProfileOptionBuilder

BASE = dict(account_type_regexes=['.*'], start_name_regexes=['.*'], show_name_regexes=['.*'])


class Compat(unittest.TestCase):
    def setUp(self):
        self.assertTrue(compat.NewProfiler(read('graph.pb'), read('op_log.pb')))

    def tearDown(self):
        compat.DeleteProfiler()

    def options(self, **more):
        return model_analyzer._build_options(dict(BASE, select=['micros'], **more)).SerializeToString()

    def test_one_profiler(self):
        coverage = compat.AddStep(0, b'', read('run_meta_0.pb'), b'')
        self.assertTrue(0 < coverage < 1)
        with printed() as texts:
            result = compat.Profile(b'scope', self.options())
        node = compat.GraphNodeProto.FromString(result)
        self.assertEqual('_TFProfRoot', node.name)
        self.assertGreater(node.total_exec_micros, 0)
        self.assertEqual(node.total_exec_micros, sum(c.total_exec_micros for c in node.children))
        self.assertIn('=========================Options=============================\n'
                      '-max_depth                  10\n', texts[0])
        with printed() as again:
            same = compat.PrintModelAnalysis(read('graph.pb'), read('run_meta_0.pb'), read('op_log.pb'),
                                             'scope', self.options())
        self.assertEqual((result, texts), (same, again))

    def test_written_and_read(self):
        compat.AddStep(3, b'', read('run_meta_0.pb'), b'')
        with tempfile.TemporaryDirectory() as d:
            name = os.path.join(d, 'p')
            compat.WriteProfile(name.encode())
            with open(name, 'rb') as f:
                self.assertEqual(compat.SerializeToString(), f.read())
            with printed() as before:
                compat.Profile('op', self.options())
            compat.ProfilerFromFile(name.encode())
            with printed() as after:
                compat.Profile('op', self.options(step=3))
        self.assertIn('MatMul', before[0])
        self.assertIn('MatMul', after[0])

    def test_missing_step(self):
        with printed() as texts:
            result = compat.Profile('scope', self.options(step=8))
        self.assertEqual((b'', 'Options -step=8 not found.\nAvailable steps: \n'), (result, texts[1]))
        self.assertTrue(texts[0].endswith('End of Report==========================\n'))

    def test_bad_words(self):
        with self.assertRaisesRegex(tfprof.InvalidArgumentError, 'unknown command: foo'):
            compat.Profile('foo', b'')
        with self.assertRaisesRegex(tfprof.InvalidArgumentError, 'OptionsProto'):
            compat.Profile('scope', b'\xff')
        with self.assertRaises(tfprof.DataLossError):
            compat.NewProfiler(b'\xff\xff', b'')
        with self.assertRaises(tfprof.NotFoundError):
            compat.ProfilerFromFile('/no/such')
        with self.assertRaises(TypeError):
            compat.ProfilerFromFile(0)
        compat.DeleteProfiler()
        compat.DeleteProfiler()
        with self.assertRaisesRegex(tfprof.Error, 'no profiler yet'):
            compat.SerializeToString()

    def test_names_of_no_metric(self):
        with printed() as texts:
            compat.Profile('scope', self.options(order_by='no_such').replace(b'micros', b'nonsen'))
        self.assertIn('-order_by                   no_such\n', texts[0])
        self.assertIn('Unknown select: nonsen', texts[0])


class ModelAnalyzer(unittest.TestCase):
    def test_absent_options(self):
        o = model_analyzer._build_options({})
        self.assertEqual((10, -1, 'name', 'stdout', 0, [], []),
                         (o.max_depth, o.step, o.order_by, o.output, o.min_bytes, o.select,
                          o.account_type_regexes))

    def test_profile(self):
        with printed() as texts:
            node = model_analyzer.profile(read('graph.pb'), op_log=read('op_log.pb'))
        self.assertGreater(node.total_parameters, 0)
        self.assertIn('_trainable_variables', texts[0])
        with self.assertRaisesRegex(ValueError, 'unknown cmd: foo'):
            model_analyzer.profile(read('graph.pb'), cmd='foo')
        with printed():
            advice = model_analyzer.advise(path('graph.pb'), read('run_meta_0.pb'))
        self.assertEqual(['AcceleratorUtilizationChecker', 'ExpensiveOperationChecker',
                          'OperationChecker'], sorted(advice.checkers))

    def test_profiler(self):
        a, b = model_analyzer.Profiler(read('graph.pb'), read('op_log.pb')), model_analyzer.Profiler()
        self.assertGreater(a.add_step(1, read('run_meta_0.pb')), 0)
        quiet = ProfileOptionBuilder(ProfileOptionBuilder.time_and_memory()).with_empty_output().build()
        with printed() as texts:
            op, code = a.profile_operations(quiet), a.profile_python(quiet)
            scope, graph = a.profile_name_scope(quiet), a.profile_graph(quiet)
            none = b.profile_name_scope(quiet)
        self.assertEqual('', texts[0])
        for x in (op, code, scope, graph):
            self.assertGreater(x.total_exec_micros, 0)
        self.assertEqual(0, none.total_exec_micros)
        self.assertEqual({'JobChecker': {}}, {k: v for k, v in model_analyzer.ALL_ADVICE.items()
                                             if k == 'JobChecker'})
        self.assertTrue(a.serialize_to_string())

    def test_builder(self):
        o = (ProfileOptionBuilder().with_max_depth(3).with_min_memory(1, 2, 3, 4)
             .with_min_execution_time(5, 6, 7).with_min_parameters(8).with_min_occurrence(9)
             .with_min_float_operations(10).with_accounted_types(['a'])
             .with_node_names(show_name_regexes=['s'], hide_name_regexes=['h'])
             .account_displayed_op_only(True).with_timeline_output('t').order_by('bytes')
             .select(['bytes']).with_step(4).build())
        self.assertEqual(
            [3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ['a'], ['.*'], ['s'], ['h'], [], True,
             'timeline:outfile=t', 'bytes', ['bytes'], 4],
            [o[k] for k in ('max_depth', 'min_bytes', 'min_peak_bytes', 'min_residual_bytes',
                            'min_output_bytes', 'min_micros', 'min_accelerator_micros', 'min_cpu_micros',
                            'min_params', 'min_occurrence', 'min_float_ops', 'account_type_regexes',
                            'start_name_regexes', 'show_name_regexes', 'hide_name_regexes',
                            'trim_name_regexes', 'account_displayed_op_only', 'output', 'order_by',
                            'select', 'step')])
        self.assertEqual(100, ProfileOptionBuilder().build()['max_depth'])
        self.assertEqual(['params'], model_analyzer.PRINT_PARAMS_ON_DEVICE['select'][1:])
        self.assertEqual('float_ops', ProfileOptionBuilder.float_operation()['order_by'])

    def test_dump_to_file(self):
        with tempfile.TemporaryDirectory() as d:
            name = os.path.join(d, 'out')
            o = dict(model_analyzer.FLOAT_OPS_OPTIONS, dump_to_file=name)
            with printed() as texts:
                model_analyzer.print_model_analysis(read('graph.pb'), op_log=read('op_log.pb'),
                                                    tfprof_options=o)
            self.assertTrue(os.path.getsize(name))
        self.assertEqual('', texts[0])
        self.assertIn('-dump_to_file option is deprecated.', texts[1])


class Files(unittest.TestCase):
    def test_gfile(self):
        with tempfile.TemporaryDirectory() as d:
            name = os.path.join(d, 'f')
            with gfile.Open(name, 'w') as f:
                f.write(b'one\n')
                f.write('zwei ä\n')
            with gfile.GFile(name) as f:
                self.assertEqual((12, 'one\n', ['zwei ä\n']), (f.size(), f.readline(), f.readlines()))
            with gfile.GFile(name, 'rb') as f:
                f.seek(4)
                self.assertEqual('zwei ä\n'.encode(), f.read())


if __name__ == '__main__':
    unittest.main()
