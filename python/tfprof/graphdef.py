# SPDX-License-Identifier: Apache-2.0
"""Reads the data for an op log from TensorFlow graphs and run metadata: names, operations, inputs, shapes and trained
variables. The files may be binary or text, and gzip-compressed. A MetaGraphDef or the first graph of a SavedModel is
accepted, too."""
import gzip
import os
import re
import zlib
from typing import Any, Dict, Iterator, List, Optional, Tuple

from . import errors
from .messages import Dim, TensorShapeProto
from .wire import Field, Message, fields, from_text


class _List(Message):
    FIELDS = {3: Field('i', 'int', True), 7: Field('shape', 'message', True, TensorShapeProto)}


class _Tensor(Message):
    FIELDS = {2: Field('tensor_shape', 'message', message=TensorShapeProto)}


class _Attr(Message):
    FIELDS = {1: Field('list', 'message', message=_List), 2: Field('s', 'string'), 3: Field('i', 'int'),
              5: Field('b', 'bool'), 7: Field('shape', 'message', message=TensorShapeProto),
              8: Field('tensor', 'message', message=_Tensor)}


class NodeDef(Message):
    FIELDS = {1: Field('name', 'string'), 2: Field('op', 'string'), 3: Field('input', 'string', True),
              5: Field('attr', 'message', message=_Attr, key='string')}


class GraphDef(Message):
    FIELDS = {1: Field('node', 'message', True, NodeDef)}


class _Bytes(Message):
    FIELDS = {1: Field('value', 'string', True)}


class _Collection(Message):
    FIELDS = {1: Field('node_list', 'message', message=_Bytes), 2: Field('bytes_list', 'message', message=_Bytes)}


class _MetaGraph(Message):
    FIELDS = {2: Field('graph_def', 'message', message=GraphDef),
              4: Field('collection_def', 'message', message=_Collection, key='string')}


class _SavedModel(Message):
    FIELDS = {2: Field('meta_graphs', 'message', True, _MetaGraph)}


class _VariableDef(Message):
    FIELDS = {1: Field('variable_name', 'string')}


class _TensorDescription(Message):
    FIELDS = {2: Field('shape', 'message', message=TensorShapeProto)}


class _NodeOutput(Message):
    FIELDS = {1: Field('slot', 'int'), 3: Field('tensor_description', 'message', message=_TensorDescription)}


class _NodeStats(Message):
    FIELDS = {1: Field('node_name', 'string'), 7: Field('output', 'message', True, _NodeOutput)}


class _DeviceStats(Message):
    FIELDS = {2: Field('node_stats', 'message', True, _NodeStats)}


class _StepStats(Message):
    FIELDS = {1: Field('dev_stats', 'message', True, _DeviceStats)}


class RunMetadata(Message):
    FIELDS = {1: Field('step_stats', 'message', message=_StepStats)}


_TEXT = re.compile(rb'\A\s*(#[^\n]*\n\s*)*(node|versions|version|library|meta_info_def|graph_def|saver_def|'
                   rb'collection_def|step_stats|partition_graphs|cost_graph|log_entries|id_to_string)\s*[{:<]')


def read(source: Any, what: str) -> bytes:
    """Returns the decompressed bytes of a source: a path, bytes, or a message with SerializeToString."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if os.path.isdir(path):
            path = os.path.join(path, 'saved_model.pb')
        try:
            with open(path, 'rb') as f:
                data = f.read()
        except OSError as e:
            raise errors.NotFoundError('cannot open %r: %s' % (path, e.strerror), 'NOT_FOUND') from None
    elif isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
    elif hasattr(source, 'SerializeToString'):
        data = source.SerializeToString()
    else:
        raise errors.InvalidArgumentError('a %s is a path, bytes or a message, not %s' % (
            what, type(source).__name__), 'INVALID_ARGUMENT')
    try:
        return gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data
    except (OSError, EOFError, zlib.error) as e:
        raise errors.DataLossError('the %s is damaged: %s' % (what, e), 'DATA_LOSS') from None


def parse(cls: Any, source: Any, what: str) -> Any:
    """Parses a message of this class, in binary or text form."""
    data = read(source, what)
    try:
        return from_text(cls, data) if _TEXT.match(data) else cls.FromString(data)
    except ValueError as e:
        raise errors.DataLossError('the %s cannot be parsed: %s' % (what, e), 'DATA_LOSS') from None


def _is_node(data: memoryview) -> bool:
    found = dict((n, bytes(v)) for n, kind, v in fields(data) if kind == 2 and n in (1, 2))
    return len(found) == 2 and re.fullmatch(rb'[A-Za-z_>][\w>/.-]*', found[2]) is not None


def _first(data: memoryview, number: int) -> Optional[memoryview]:
    return next((v for n, kind, v in fields(data) if n == number and kind == 2), None)


def _form(data: memoryview) -> Any:
    """Returns the message class of a binary graph. A SavedModel begins with its version; field 2 of a MetaGraphDef is
    the graph, field 2 of a GraphDef its library."""
    first = next(fields(data), None)
    if first and first[:2] == (1, 0):
        return _SavedModel
    inner = _first(data, 2)
    node = _first(inner, 1) if inner is not None else None
    return _MetaGraph if node is not None and _is_node(node) else GraphDef


Shapes = Dict[str, List[Optional[List[int]]]]
VARIABLES = {'Variable', 'VariableV2', 'VarHandleOp', 'AutoReloadVariable'}
_APPLY = re.compile(r'(Resource)?(Sparse)?Apply[A-Z]')


def _shape(p: Any) -> Optional[List[int]]:
    return None if p.unknown_rank else [d.size for d in p.dim]


def _shape_proto(shape: Optional[List[int]]) -> TensorShapeProto:
    if shape is None:
        return TensorShapeProto(unknown_rank=True)
    return TensorShapeProto(dim=[Dim(size=d) for d in shape])


def _shapes_of(node: Any) -> List[Optional[List[int]]]:
    """Returns the shapes of the node's outputs, from its attributes."""
    if '_output_shapes' in node.attr:
        return [_shape(s) for s in node.attr['_output_shapes'].list.shape]
    if node.op == 'Const' and 'value' in node.attr:
        return [_shape(node.attr['value'].tensor.tensor_shape)]
    if 'shape' in node.attr and node.attr['shape'].HasField('shape') and (
            node.op in VARIABLES and node.op != 'VarHandleOp' or node.op.startswith('Placeholder')):
        return [_shape(node.attr['shape'].shape)]
    return []


def tensor_name(text: str) -> Tuple[str, int]:
    """Splits the name of an input: 'a:1' is ('a', 1), and the control input '^a' is ('a', -1)."""
    if text.startswith('^'):
        return text[1:], -1
    name, _, index = text.partition(':')
    return name, int(index) if index.isdigit() else 0


class Graph:
    """A graph: its nodes by name, the shapes of their outputs, the trained variables, and how these were found."""

    def __init__(self, source: Any) -> None:
        self.live = source if hasattr(source, 'as_graph_def') else None
        data = read(source.as_graph_def(add_shapes=True) if self.live is not None else source, 'graph')
        try:
            self._parse(data)
        except ValueError as e:
            raise errors.DataLossError('the graph cannot be parsed: %s' % e, 'DATA_LOSS') from None

    def _parse(self, data: bytes) -> None:
        meta: Any = None
        if _TEXT.match(data):
            meta = from_text(_MetaGraph, data)
            graph = meta.graph_def if meta.HasField('graph_def') else from_text(GraphDef, data)
        else:
            form = _form(memoryview(data))
            graph = meta = form.FromString(data)
            if form is _SavedModel:
                meta = meta.meta_graphs[0] if meta.meta_graphs else _MetaGraph()
            if form is not GraphDef:
                graph = meta.graph_def
        self.nodes: Dict[str, Any] = {}
        for node in graph.node:
            self.nodes.setdefault(node.name, node)
        self.shapes: Shapes = {name: _shapes_of(node) for name, node in self.nodes.items()}
        self._collected = self._collection(meta) if isinstance(meta, _MetaGraph) else None

    def _collection(self, meta: Any) -> Optional[List[str]]:
        found = meta.collection_def.get('trainable_variables')
        if found is None:
            return None
        texts = [_VariableDef.FromString(v.encode('utf-8', 'surrogateescape')).variable_name
                 for v in found.bytes_list.value] + list(found.node_list.value)
        return [tensor_name(t)[0] for t in texts]

    def fill_shapes(self, run_meta: Any) -> Iterator[str]:
        """Fills in unknown shapes from run metadata. Returns messages about contradictory shapes."""
        for device in parse(RunMetadata, run_meta, 'run metadata').step_stats.dev_stats:
            for stats in device.node_stats:
                if not stats.output or stats.node_name not in self.nodes:
                    continue
                known = self.shapes[stats.node_name]
                for i, output in enumerate(stats.output):
                    ran = _shape(output.tensor_description.shape)
                    known.extend([None] * (i + 1 - len(known)))
                    have = known[i]
                    if have is None or (ran and len(have) == len(ran) and all(
                            a in (-1, b) for a, b in zip(have, ran))):
                        known[i] = ran
                    elif -1 in have:
                        yield 'Node %s incompatible shapes: Shapes %s and %s are not compatible.\n' % (
                            stats.node_name, tuple(have), tuple(ran or ()))

    def with_shapes(self) -> bytes:
        """Returns an encoded GraphDef for the library, which reads shapes from the attribute _output_shapes, takes each
        input for the first output of a node, and counts control inputs: later outputs are nodes of their own."""
        made: Dict[str, NodeDef] = {}

        def put(name: str, op: str, inputs: List[str], attr: Dict[str, Any], shapes: List[Optional[List[int]]]) -> None:
            known = {'_output_shapes': _Attr(list=_List(shape=[_shape_proto(s) for s in shapes]))} if shapes else {}
            made[name] = NodeDef(name=name, op=op, input=inputs, attr={**attr, **known})

        def source(text: str) -> str:
            node, index = tensor_name(text)
            if index <= 0:
                return node
            shapes = self.shapes.get(node, [])
            put('%s#%d' % (node, index), 'Identity', [], {}, shapes[index:index + 1])
            return '%s#%d' % (node, index)

        for name, node in self.nodes.items():
            inputs = [source(i) for i in node.input if tensor_name(i)[1] >= 0]
            put(name, node.op, inputs, node.attr, self.shapes[name])
        return GraphDef(node=list(made.values())).SerializeToString()

    def trained(self) -> Tuple[List[str], str]:
        """Returns the trained variables, and a note on how they were found ('' if the graph lists them)."""
        if self.live is not None and hasattr(self.live, 'get_collection'):
            return [v.op.name for v in self.live.get_collection('trainable_variables')], ''
        if self._collected is not None:
            return self._collected, ''
        variables = [n for n, node in self.nodes.items() if node.op in VARIABLES]
        updated = {tensor_name(node.input[0])[0] for node in self.nodes.values()
                   if _APPLY.match(node.op) and len(node.input)}
        trained = [n for n in variables if n in updated]
        if not variables:
            return [], ''
        return trained or variables, 'note: the graph does not name its trainable variables; counted as trainable: %s (%d of %d)\n' % (
            'the variables that an optimizer updates' if 0 < len(trained) < len(variables) else 'all variables',
            len(trained or variables), len(variables))
