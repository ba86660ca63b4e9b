# SPDX-License-Identifier: Apache-2.0
"""The interface of TensorFlow's tfprof_logger: makes op logs from graphs, with float operations, trainable variables
and call stacks.

A graph is a path, bytes or a message (GraphDef, MetaGraphDef or SavedModel), which needs no TensorFlow session, or a
tf.Graph, which also has call stacks. Shapes come from the graph (as_graph_def(add_shapes=True)) and from run_meta.
"""
import os
import sys
from typing import Any, Dict, Tuple

from . import errors
from .graphdef import Graph, parse
from .messages import CodeDef, OpLogEntry, OpLogProto, Trace
from .profile import Profile

__all__ = ['TRAINABLE_VARIABLES', 'REGISTERED_FLOP_STATS', 'merge_default_with_oplog', 'write_op_log']

TRAINABLE_VARIABLES = '_trainable_variables'
REGISTERED_FLOP_STATS = 'flops'


class _Strings:
    """Numbers the strings of call stacks, starting after the strings of an earlier op log."""

    def __init__(self, first: int) -> None:
        self._ids: Dict[str, int] = {}
        self._first = first
        self.none = self.of('none')

    def of(self, text: Any) -> int:
        return self._ids.setdefault(str(text), self._first + len(self._ids)) if text else self.none

    def by_id(self) -> Dict[int, str]:
        return {i: s for s, i in self._ids.items()}


def _float_ops(graph: Graph) -> Tuple[Dict[str, int], int]:
    """Returns the float operations per node, and the number of nodes with unknown shapes."""
    with Profile(graph.with_shapes()) as p:
        rows = list(p.records('scope', select='float_ops', max_depth=1 << 30))
    return {r['path']: r['own_float_ops'] for r in rows if r['own_float_ops']}, sum(r['own_uncounted'] for r in rows)


def _traces(live: Any, strings: _Strings) -> Dict[str, CodeDef]:
    """Returns the call stacks of the operations of a tf.Graph."""
    found = {}
    for op in live.get_operations():
        code = CodeDef()
        for file, line_number, function, line in op.traceback or ():
            code.traces.append(Trace(file_id=strings.of(file), lineno=line_number or -1,
                                     function_id=strings.of(function), line_id=strings.of(line), func_start_line=-1))
        found[op.name] = code
    return found


def _entries(op_log: Any) -> Dict[str, Dict[str, Any]]:
    return {e.name: {'name': e.name, 'float_ops': e.float_ops, 'types': list(e.types),
                     'code_def': e.code_def if e.HasField('code_def') else None} for e in op_log.log_entries}


def merge_default_with_oplog(graph: Any, op_log: Any = None, run_meta: Any = None, add_trace: bool = True,
                             add_trainable_var: bool = True) -> Any:
    """Returns an OpLogProto: the caller's op log (a message, bytes or a path) plus data from the graph. Types are
    added to the caller's entries; float operations and call stacks are added only to entries that have none. Call
    stacks (add_trace) need a tf.Graph, because serialized graphs have none."""
    if graph is None:
        raise errors.InvalidArgumentError(
            'an op log needs a graph: TensorFlow is not asked for its default graph; give a tf.Graph, or a GraphDef as '
            'a path, bytes or a message', 'INVALID_ARGUMENT')
    of = graph if isinstance(graph, Graph) else Graph(graph)
    given = parse(OpLogProto, op_log, 'op log') if op_log is not None else OpLogProto()
    for sentence in of.fill_shapes(run_meta) if run_meta is not None else ():
        sys.stderr.write(sentence)
    strings = _Strings(max(given.id_to_string, default=-1) + 1)
    merged = _entries(given)
    listed = any(TRAINABLE_VARIABLES in e['types'] for e in merged.values())

    def entry(name: str) -> Dict[str, Any]:
        return merged.setdefault(name, {'name': name, 'float_ops': 0, 'types': [], 'code_def': None})

    float_ops, missing = _float_ops(of)
    for name, n in float_ops.items():
        entry(name)['float_ops'] = entry(name)['float_ops'] or n
    if add_trace and of.live is not None and hasattr(of.live, 'get_operations'):
        for name, code in _traces(of.live, strings).items():
            entry(name)['code_def'] = entry(name)['code_def'] or code
    if add_trainable_var:
        variables, note = of.trained()
        if listed and note:  # the caller's list takes precedence over a guess
            variables, note = [], ''
        sys.stderr.write(note)
        for name in variables:
            if TRAINABLE_VARIABLES not in entry(name)['types']:
                entry(name)['types'].append(TRAINABLE_VARIABLES)
    if missing and run_meta is None:
        sys.stderr.write('%d ops no flops stats due to incomplete shapes.\n' % missing)
    made = OpLogProto()
    for e in merged.values():
        made.log_entries.append(OpLogEntry(**{k: v for k, v in e.items() if v is not None}))
    made.id_to_string = {**strings.by_id(), **given.id_to_string}
    return made


def write_op_log(graph: Any, log_dir: Any, op_log: Any = None, run_meta: Any = None, add_trace: bool = True) -> None:
    """Writes log_dir/tfprof_log, an input for --op_log_path. See merge_default_with_oplog."""
    made = merge_default_with_oplog(graph, op_log, run_meta, add_trace)
    with open(os.path.join(os.fspath(log_dir), 'tfprof_log'), 'wb') as f:
        f.write(made.SerializeToString())
