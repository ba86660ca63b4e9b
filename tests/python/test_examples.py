# SPDX-License-Identifier: Apache-2.0
"""Programs of users of the original, with changed imports and recorded graphs in place of live ones, and the examples of
python/README.md."""
import os
import re
import shutil
import tempfile
import types
import unittest
import warnings

import support
from support import MLP, printed, read

import tfprof
import tower_profile
from tfprof import compat, gfile, model_analyzer

HERE = os.path.dirname(os.path.abspath(__file__))
IMPORTS = {
    'from tensorflow.python.pywrap_tensorflow import ProfilerFromFile':
        'from tfprof.compat import ProfilerFromFile',
    'from tensorflow.python.profiler import model_analyzer': 'from tfprof import model_analyzer',
    'from tensorflow.python import pywrap_tensorflow as pwtf': 'from tfprof import compat as pwtf',
    'from tensorflow import gfile': 'from tfprof import gfile'}


class InFolder(unittest.TestCase):
    """Runs each test in an empty folder of its own."""

    def setUp(self):
        self.folder, self.before = tempfile.mkdtemp(), os.getcwd()
        os.chdir(self.folder)

    def tearDown(self):
        os.chdir(self.before)
        shutil.rmtree(self.folder)
        compat.DeleteProfiler()


class Notebook(InFolder):
    def cells(self):
        with open(os.path.join(HERE, 'notebook.txt')) as f:
            source = f.read()
        for old, new in IMPORTS.items():
            self.assertIn(old, source)
            source = source.replace(old, new)
        at = source.index('import numpy')
        return source[:at], source[at:]

    def setUp(self):
        super().setUp()
        with open('resnet50_v2_bnr_b64_log', 'wb') as f:
            f.write(tower_profile.profile())
        self.names = {}

    def tearDown(self):
        super().tearDown()
        if 'TMP_FILE_PATH' in self.names:
            os.remove(self.names['TMP_FILE_PATH'])

    def run_cell(self, source):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # its patterns are not raw strings
            exec(source, self.names)

    def test_lines_of_ten_steps(self):
        with printed() as texts:
            self.run_cell(self.cells()[0])
        lines = self.names['lines_by_steps']
        self.assertEqual((10, '', ''), (len(lines), texts[0], texts[1]))
        self.assertEqual(1, len({len(x) for x in lines}))
        self.assertIn('conv1/conv2d/Conv2D_grad/Conv2DBackpropFilter (', '\n'.join(lines[3]))
        for line in lines[3][:-1]:
            self.assertRegex(line, r'^ +v/tower_0/\S+ \([\d.]+K?M?B/[\d.]+K?M?B(, \d+us/\d+us){3}\)$')

    def test_whole(self):
        try:
            import numpy  # noqa: F401
        except ImportError:
            self.skipTest('numpy is not installed')
        with printed() as texts:
            for part in self.cells():
                self.run_cell(part)
        rows = self.names['parsed_lines_by_steps'].shape[1]
        table = texts[0].splitlines()
        self.assertEqual('Parsed (10, %d, 6) profile entries; the shape is (runs, ops per run, stats per '
                         'op)' % rows, table[0])
        self.assertEqual([10] * rows, [len(x.split(',')) for x in table[1:]])
        shown = {tuple(x.split(',')[:2]): x.split(',') for x in table[1:]}
        nodes = tower_profile.nodes(4)
        i = [n for n, _ in nodes].index('v/tower_0/cg/resnet_v20/conv1/conv2d/Conv2D')
        line = shown['resnet_v20/conv1', 'Conv2D']
        gpu = sum(tower_profile.times(i, s)[0] for s in range(10)) / 10
        self.assertAlmostEqual(gpu, float(line[6]), 5)


class Snippets(InFolder):
    """Calls from tutorials and articles, with the names that they use."""

    def setUp(self):
        super().setUp()
        contrib = types.SimpleNamespace(tfprof=types.SimpleNamespace(model_analyzer=model_analyzer))
        self.tf = types.SimpleNamespace(contrib=contrib, profiler=model_analyzer,
                                        get_default_graph=lambda: read('graph.pb'))

    def test_trainable_variables(self):
        tf = self.tf
        with printed() as texts:
            param_stats = tf.contrib.tfprof.model_analyzer.print_model_analysis(
                tf.get_default_graph(), op_log=read('op_log.pb'),
                tfprof_options=tf.contrib.tfprof.model_analyzer.
                TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
            print('total_params: %d' % param_stats.total_parameters)
        self.assertRegex(texts[0], r'total_params: [1-9]\d*\n$')

    def test_float_operations(self):
        tf = self.tf
        with printed() as texts:
            tf.contrib.tfprof.model_analyzer.print_model_analysis(
                tf.get_default_graph(), op_log=read('op_log.pb'),
                tfprof_options=tf.contrib.tfprof.model_analyzer.FLOAT_OPS_OPTIONS)
        self.assertIn('# float_ops', texts[0])

    def test_time_and_memory(self):
        tf, run_metadata = self.tf, read('run_meta_0.pb')
        with printed() as texts:
            tf.contrib.tfprof.model_analyzer.print_model_analysis(
                tf.get_default_graph(),
                run_meta=run_metadata,
                tfprof_options=tf.contrib.tfprof.model_analyzer.PRINT_ALL_TIMING_MEMORY)
        self.assertRegex(texts[0], r'_TFProfRoot \(--/[\d.]+KB, --/[\d.]+ms')

    def test_types_of_ones_own(self):
        op_log = compat.OpLog()
        node = tfprof.Profile(read('graph.pb')).scope(account_type_regexes='VariableV2', max_depth=9)
        names = [r.name for _, r in node.walk() if r.own.params][:2]
        for name in names:
            entry = op_log.log_entries.add()
            entry.name = name
            entry.types.append('pool_logit')
        root = tfprof.Profile(read('graph.pb'), op_log=op_log).scope(account_type_regexes=['pool_logit'])
        self.assertEqual(sum(node.find(n).own.params for n in names), root.total.params)

    def test_run_metadata_through_gfile(self):
        run_metadata = types.SimpleNamespace(SerializeToString=lambda: read('run_meta_0.pb'))
        with gfile.Open(os.path.join(self.folder, 'run_meta'), 'w') as f:
            f.write(run_metadata.SerializeToString())
        self.assertEqual([0], tfprof.Profile(read('graph.pb'), 'run_meta').steps)

    def test_options_of_a_profile_context(self):
        tf = self.tf
        builder = tf.profiler.ProfileOptionBuilder
        opts = builder(builder.time_and_memory()).order_by('micros').build()
        opts2 = tf.profiler.ProfileOptionBuilder.trainable_variables_parameter()
        profiler = tf.profiler.Profiler(read('graph.pb'), read('op_log.pb'))
        profiler.add_step(15, read('run_meta_0.pb'))
        with printed():
            ops, scopes = profiler.profile_operations(opts), profiler.profile_name_scope(opts2)
        self.assertEqual('MatMul', ops.children[0].name)
        self.assertGreater(scopes.total_parameters, 0)

    def test_training_with_steps(self):
        tf, n_steps = self.tf, 2
        profiler = tf.profiler.Profiler(tf.get_default_graph())
        for i in range(n_steps + 1):
            profiler.add_step(i, read('run_meta_%d.pb' % i))
        option_builder = tf.profiler.ProfileOptionBuilder
        opts = (option_builder(option_builder.time_and_memory()).
                with_step(-1).
                with_file_output('test-%s.txt' % 100).
                select(['micros', 'bytes', 'occurrence']).order_by('micros').
                build())
        with printed():
            profiler.profile_operations(options=opts)
        with open('test-100.txt') as f:
            self.assertIn('MatMul', f.read())

    def test_python_code(self):
        with printed() as texts:
            opts = model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS.copy()
            opts['account_type_regexes'] = ['.*']
            opts['show_name_regexes'] = ['.*models.py.*']
            opts['account_displayed_op_only'] = False
            opts['select'] = ['micros']
            tfprof_node = model_analyzer.print_model_analysis(
                read('graph.pb'), read('run_meta_0.pb'), read('op_log.pb'), cmd='code', options=opts)
        self.assertIn('models.py', texts[0])
        self.assertGreater(tfprof_node.total_exec_micros, 0)


class Readme(InFolder):
    def test_every_example(self):
        for name in os.listdir(MLP):
            if name.endswith('.pb'):
                shutil.copy(os.path.join(MLP, name), self.folder)
        for job in ('job_0', 'job_1'):
            os.mkdir(job)
            shutil.copy('profile.pb', job + '/profile_100')
        shutil.copy(os.path.join(support.ROOT, 'testdata', 'traces', 'training.pt.trace.json.gz'), '.')
        os.mkdir('run1')
        shutil.copy(os.path.join(support.ROOT, 'testdata', 'small', 'train.tfspool'), 'run1')
        with open(os.path.join(support.ROOT, 'python', 'README.md'), encoding='utf-8') as f:
            examples = re.findall(r'```python\n(.*?)```', f.read(), re.S)
        self.assertGreater(len(examples), 4)
        names = {}
        with printed() as texts:
            for e in examples:
                exec(e, names)
        self.assertIn("did you mean 'micros'?", texts[0])
        self.assertTrue(os.path.exists('timeline.json_0') and os.path.exists('ops.txt'))


if __name__ == '__main__':
    unittest.main()
