# SPDX-License-Identifier: Apache-2.0
"""tfprof_logger and ProfileContext: op logs of graphs, float operations, trainable variables, profiles of steps."""
import contextlib
import gzip
import io
import os
import tempfile
import types
import unittest
import warnings

import support
from support import path, printed, read

import tfprof
from tfprof import compat, graphdef, messages, model_analyzer, tfprof_logger, wire

# Shapes of tensors are written as '8x28x28x3'. The numbers are TensorFlow's own for the same operations.
FLOAT_OPS = [
    ('Neg', ['3x4'], '3x4', {}, 12),
    ('Rsqrt', ['3x4'], '3x4', {}, 24),
    ('Softmax', ['8x10'], '8x10', {}, 400),
    ('L2Loss', ['8x2x2x16'], '', {}, 1535),
    ('BiasAdd', ['8x28x14x8', '8'], '8x28x14x8', {}, 25088),
    ('Mul', ['3x4', ''], '3x4', {}, 12),
    ('SquaredDifference', ['3x4', '3x4'], '3x4', {}, 24),
    ('RsqrtGrad', ['3x4', '3x4'], '3x4', {}, 48),
    ('Mean', ['8'], '', {}, 8),
    ('Sum', ['8x10'], '8', {}, 72),
    ('MatMul', ['8x64', '64x10'], '8x10', {}, 10240),
    ('MatMul', ['9x4', '9x2'], '4x2', {'transpose_a': True}, 144),
    ('BatchMatMulV2', ['4x5x6', '4x6x7'], '4x5x7', {}, 1680),
    ('Conv2D', ['8x28x28x3', '3x3x3x8'], '8x14x14x8', {}, 677376),
    ('Conv3D', ['1x4x4x4x2', '2x2x2x2x3'], '1x4x4x4x3', {}, 6144),
    ('DepthwiseConv2dNative', ['8x4x4x8', '3x3x8x2'], '8x4x4x16', {}, 36864),
    ('Dilation2D', ['1x5x5x1', '2x2x1'], '1x5x5x1', {}, 200),
    ('MaxPool', ['8x28x28x8'], '8x14x14x8', {'ksize': [1, 2, 2, 1], 'data_format': 'NHWC'}, 50176),
    ('AvgPoolGrad', ['4', '8x14x14x8'], '8x28x28x8', {'ksize': [1, 2, 2, 1], 'data_format': 'NHWC'}, 100352),
    ('MaxPoolGrad', ['8x28x28x8', '8x14x14x8'], '8x28x28x8', {'ksize': [1, 2, 2, 1], 'data_format': 'NHWC'}, 62720),
    ('Conv2DBackpropInput', ['4', '3x3x3x8', '8x14x14x8'], '8x28x28x3',
     {'strides': [1, 2, 2, 1], 'data_format': 'NHWC'}, 677376),
    ('Conv2DBackpropFilter', ['8x28x28x3', '4', '8x14x14x8'], '3x3x3x8',
     {'strides': [1, 2, 2, 1], 'data_format': 'NHWC'}, 677376),
    ('AddN', ['3x4', '3x4', '3x4'], '3x4', {}, 24),
    ('Relu', ['3x4'], '3x4', {}, 0)]


def shape(text):
    return messages.TensorShapeProto(dim=[messages.Dim(size=int(d)) for d in text.split('x') if d])


def attr(value):
    if isinstance(value, bool):
        return graphdef._Attr(b=value)
    return graphdef._Attr(s=value) if isinstance(value, str) else graphdef._Attr(list=graphdef._List(i=value))


def node(name, op, inputs=(), outputs=(), **attrs):
    made = graphdef.NodeDef(name=name, op=op, input=list(inputs))
    made.attr = {k: attr(v) for k, v in attrs.items()}
    if outputs:
        made.attr['_output_shapes'] = graphdef._Attr(list=graphdef._List(shape=[shape(s) for s in outputs]))
    return made


def float_op_graph():
    nodes = []
    for i, (op, inputs, output, attrs, _) in enumerate(FLOAT_OPS):
        names = ['in%d_%d' % (i, k) for k in range(len(inputs))]
        nodes += [node(n, 'Placeholder', (), [s]) for n, s in zip(names, inputs)]
        nodes.append(node('op%d' % i, op, names + ['^in%d_0' % i], [output], **attrs))
    return graphdef.GraphDef(node=nodes)


def training_graph():
    return graphdef.GraphDef(node=[
        node('w', 'VariableV2', (), ['3x4']), node('slot', 'VariableV2', (), ['3x4']),
        node('split', 'Split', (), ['3x4', '3x2']), node('square', 'Square', ['split:1'], ['3x2']),
        node('train', 'ApplyMomentum', ['w', 'slot', 'square:0'], ['3x4'])])


def silent(f, *args, **more):
    """Returns (result, text on standard error)."""
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        return f(*args, **more), err.getvalue()


def entries(op_log):
    return {e.name: (e.float_ops, list(e.types)) for e in op_log.log_entries}


class Logger(unittest.TestCase):
    def test_float_operations(self):
        made, said = silent(tfprof_logger.merge_default_with_oplog, float_op_graph())
        self.assertEqual('', said)
        found = entries(made)
        for i, (op, _, _, _, n) in enumerate(FLOAT_OPS):
            self.assertEqual(n, found.get('op%d' % i, (0, []))[0], op)

    def test_forms_of_a_graph(self):
        graph = training_graph()
        meta = graphdef._MetaGraph(graph_def=graph)
        variable = graphdef._VariableDef(variable_name='slot:0').SerializeToString().decode()
        meta.collection_def = {'trainable_variables': graphdef._Collection(
            bytes_list=graphdef._Bytes(value=[variable]))}
        saved = graphdef._SavedModel(meta_graphs=[meta]).SerializeToString()
        guessed = {'w': (0, ['_trainable_variables']), 'square': (6, [])}
        listed = {'slot': (0, ['_trainable_variables']), 'square': (6, [])}
        plain, binary = graph.SerializeToString(), meta.SerializeToString()
        for source, expected in ((plain, guessed), (gzip.compress(plain), guessed), (str(graph).encode(), guessed),
                                 (binary, listed), (str(meta).encode(), listed), (b'\x08\x01' + saved, listed),
                                 (types.SimpleNamespace(SerializeToString=lambda: plain), guessed)):
            made, said = silent(tfprof_logger.merge_default_with_oplog, source)
            self.assertEqual(expected, entries(made), said)
            self.assertEqual(expected is guessed, 'that an optimizer updates (1 of 2)' in said)
        for source, total in ((binary, 'slot'), (plain, 'w')):  # the library finds the same variables
            with tfprof.open(source) as p:
                names = [r.name for _, r in p.scope(account_type_regexes=['_trainable_variables'],
                                                    account_displayed_op_only=True).walk()]
                self.assertEqual(['_TFProfRoot', total], names)

    def test_merges_with_the_callers(self):
        mine = messages.OpLogProto(log_entries=[
            messages.OpLogEntry(name='square', float_ops=5, types=['mine']),
            messages.OpLogEntry(name='other', code_def=messages.CodeDef(traces=[messages.Trace(file_id=7)]))])
        mine.id_to_string = {7: 'a.py'}
        made, _ = silent(tfprof_logger.merge_default_with_oplog, training_graph(), mine)
        self.assertEqual({'square': (5, ['mine']), 'other': (0, []), 'w': (0, ['_trainable_variables'])},
                         entries(made))
        self.assertEqual('a.py', made.id_to_string[7])
        again, said = silent(tfprof_logger.merge_default_with_oplog, training_graph(), made.SerializeToString())
        self.assertEqual((entries(made), ''), (entries(again), said))

    def test_shapes_of_a_run(self):
        graph = graphdef.GraphDef(node=[node('a', 'Placeholder'), node('n', 'Neg', ['a'])])
        run = b"step_stats { dev_stats { node_stats { node_name: 'a' output { tensor_description { shape { " \
              b"dim { size: 5 } dim { size: 2 } } } } } } }"
        made, said = silent(tfprof_logger.merge_default_with_oplog, graph)
        self.assertEqual(({}, '1 ops no flops stats due to incomplete shapes.\n'), (entries(made), said))
        made, said = silent(tfprof_logger.merge_default_with_oplog, graph, None, run)
        self.assertEqual(({'n': (10, [])}, ''), (entries(made), said))

    def test_written_for_the_profiler(self):
        with tempfile.TemporaryDirectory() as d:
            silent(tfprof_logger.write_op_log, path('graph.pb'), d, run_meta=path('run_meta_0.pb'))
            log = os.path.join(d, 'tfprof_log')
            with tfprof.open(path('graph.pb'), log) as p, tfprof.open(path('graph.pb'), path('op_log.pb')) as q:
                for options in ({'select': 'params', 'account_type_regexes': ['_trainable_variables']},
                                {'select': 'float_ops', 'min_float_ops': 1, 'order_by': 'float_ops'}):
                    self.assertEqual(q.text('scope', **options), p.text('scope', **options))

    def test_a_live_graph(self):
        frames = [('train.py', 3, 'main', 'x = f()'), ('', None, None, 'y')]
        graph = types.SimpleNamespace(
            as_graph_def=lambda add_shapes: training_graph(),
            get_operations=lambda: [types.SimpleNamespace(name='square', traceback=frames)],
            get_collection=lambda name: [types.SimpleNamespace(op=types.SimpleNamespace(name='slot'))])
        made, said = silent(tfprof_logger.merge_default_with_oplog, graph)
        self.assertEqual(({'square': (6, []), 'slot': (0, ['_trainable_variables'])}, ''), (entries(made), said))
        made = compat.OpLogProto.FromString(made.SerializeToString())
        traces = made.log_entries[0].code_def.traces
        text = made.id_to_string
        self.assertEqual([('train.py', 3, 'main', 'x = f()', -1), ('none', -1, 'none', 'y', -1)],
                         [(text[t.file_id], t.lineno, text[t.function_id], text[t.line_id], t.func_start_line)
                          for t in traces])
        self.assertEqual([0], [len(e.code_def.traces) for e in tfprof_logger.merge_default_with_oplog(
            graph, add_trace=False).log_entries if e.name == 'square'])

    def test_what_cannot_be_done(self):
        write = compat.write_op_log
        self.assertIs(write, compat.tfprof_logger.write_op_log)
        with self.assertRaisesRegex(tfprof.InvalidArgumentError, 'an op log needs a graph'):
            write(None, '.')
        with self.assertRaisesRegex(tfprof.NotFoundError, '/no/such'):
            write('/no/such', '.')
        with self.assertRaisesRegex(tfprof.DataLossError, 'the graph cannot be parsed'):
            write(b'\xff\xff', '.')
        with self.assertRaisesRegex(tfprof.DataLossError, 'line 2 of the text'):
            write(b'node {\n name: }', '.')
        with self.assertRaises(tfprof.InvalidArgumentError):
            write(3, '.')
        with self.assertRaisesRegex(tfprof.DataLossError, 'damaged'):
            write(gzip.compress(b'abc' * 99)[:20], '.')


class Text(unittest.TestCase):
    """Protobuf's text format is read and written."""

    def test_forms(self):
        text = b'''# a comment
          log_entries { name: "a" "b\\n\\x41\\101" types: ["x", 'y'] unknown { deep < a: 1 > } float_ops: 0x10, }
          log_entries: < name: 'c'; types: 'z' code_def { traces { lineno: -3 } traces [ { file_id: 1 }, {} ] } >
          [ext.name/here] { a: 1 } id_to_string { key: 3 value: "s" } other: [1, 2] more: NAME'''
        m = wire.from_text(messages.OpLogProto, text)
        self.assertEqual([('ab\nAA', 16, ['x', 'y']), ('c', 0, ['z'])],
                         [(e.name, e.float_ops, list(e.types)) for e in m.log_entries])
        self.assertEqual([(-3, 0), (0, 1), (0, 0)], [(t.lineno, t.file_id) for t in m.log_entries[1].code_def.traces])
        self.assertEqual({3: 's'}, m.id_to_string)
        self.assertEqual(m.SerializeToString(), wire.from_text(messages.OpLogProto, str(m).encode()).SerializeToString())

    def test_damage(self):
        for text in (b'log_entries {', b'}', b'log_entries { name: }', b'log_entries { float_ops: x }', b'a: "b',
                     b'log_entries { types: [', b': 3', b'log_entries { name "x" ] }'):
            with self.assertRaises(ValueError, msg=text):
                wire.from_text(messages.OpLogProto, text)
        deep = wire.from_text(messages.OpLogProto, b'a { ' * 100000 + b'}' * 100000)  # not read by recursion
        self.assertEqual(b'', deep.SerializeToString())


class GraphAlone(unittest.TestCase):
    """The options of the first tutorial work with only a graph."""

    def test_parameters_and_float_operations(self):
        with printed():
            params = model_analyzer.print_model_analysis(
                read('graph.pb'), tfprof_options=model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
            expected = model_analyzer.profile(read('graph.pb'), op_log=read('op_log.pb'))
            flops = model_analyzer.print_model_analysis(
                read('graph.pb'), read('run_meta_0.pb'), tfprof_options=model_analyzer.FLOAT_OPS_OPTIONS)
        self.assertEqual(expected.total_parameters, params.total_parameters)
        self.assertGreater(params.total_parameters, 0)
        self.assertGreater(flops.total_float_ops, 0)


class Context(unittest.TestCase):
    def run_steps(self, context, n=3):
        for i in range(n):
            context.add_step(read('run_meta_%d.pb' % (i % 3)) if context.traces_step() else None, path('graph.pb'))

    def test_profiles(self):
        options = model_analyzer.ProfileOptionBuilder(
            model_analyzer.ProfileOptionBuilder.time_and_memory()).with_empty_output().build()
        with tempfile.TemporaryDirectory() as top, printed():
            d = os.path.join(top, 'made')
            with compat.ProfileContext(d, trace_steps=[0, 2], dump_steps=[2], debug=True) as context:
                context.add_auto_profiling('op', options, [0, 2])
                self.run_steps(context)
                context.trace_next_step()
                self.assertTrue(context.traces_step())
                context.dump_next_step()
                self.run_steps(context, 1)
                self.assertGreater(context.profiler.profile_operations(options).total_exec_micros, 0)
            self.assertEqual(['profile_2', 'profile_3', 'run_meta_0', 'run_meta_2', 'run_meta_3'],
                             sorted(os.listdir(d)))
            self.assertEqual([0, 2], sorted(context.get_profiles('op')))
            self.assertEqual([0, 2, 3], tfprof.open(os.path.join(d, 'profile_3')).steps)
            self.assertEqual([0, 2, 3], tfprof.open(d).steps)

    def test_without_steps(self):
        with self.assertWarnsRegex(RuntimeWarning, 'add_step'):
            with compat.ProfileContext('/no/such') as context:
                with self.assertRaisesRegex(tfprof.UnimplementedError, 'cannot observe Session.run'):
                    context.profiler
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            with compat.ProfileContext('/no/such', enabled=False) as context:
                self.run_steps(context)
                self.assertIsNone(context.profiler)
        with self.assertRaisesRegex(ValueError, 'up to 100 steps'):
            compat.ProfileContext('.', trace_steps=range(101))
        with self.assertRaisesRegex(ValueError, 'Unknown cmd'):
            compat.ProfileContext('.').add_auto_profiling('foo', {}, [1])
        with self.assertRaisesRegex(ValueError, 'No autoprofiler'):
            compat.ProfileContext('.').get_profiles('op')
        with self.assertRaises(AttributeError):
            compat.NoSuchName


if __name__ == '__main__':
    unittest.main()
