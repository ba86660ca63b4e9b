# SPDX-License-Identifier: Apache-2.0
"""Converts result messages to trees of rows."""
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from . import html
from .arrow import ArrowStream
from .messages import GraphNodeProto, MultiGraphNodeProto
from .wire import Message

if TYPE_CHECKING:
    import pandas

Shape = Optional[Tuple[int, ...]]


class _Numbers(NamedTuple):
    """The numbers of TensorFlow's result messages."""
    micros: int
    accelerator_micros: int
    cpu_micros: int
    bytes: int
    peak_bytes: int
    residual_bytes: int
    output_bytes: int
    params: int
    float_ops: int
    occurrence: int
    definitions: int


class Metrics(_Numbers):
    """Times in microseconds, sizes in bytes; occurrence: runs, definitions: graph nodes (op and code
    have no totals of these two). Every other metric that was selected is an attribute, too:
    scope(select='kernels').total.kernels."""
    selected: Dict[str, int] = {}

    def __getattr__(self, name: str) -> int:
        try:
            return self.selected[name]
        except KeyError:
            raise AttributeError('%r is not a selected metric' % name) from None


_FIELDS = ('exec_micros', 'accelerator_exec_micros', 'cpu_exec_micros', 'requested_bytes', 'peak_bytes',
           'residual_bytes', 'output_bytes', 'parameters', 'float_ops', 'run_count', 'definition_count')


def _metrics(m: Message, prefix: str) -> Metrics:
    values = m._parsed()
    found = Metrics(*[values.get(prefix + f, 0) for f in _FIELDS])
    found.selected = {x.name: x.total if prefix else x.own for x in m.metrics}
    return found


def _shape(m: Message) -> Shape:
    """Returns the sizes of the dimensions, -1 if unknown; None if the rank is unknown."""
    return None if m.unknown_rank else tuple(d.size for d in m.dim)


class Row:
    """A line of a view: its own numbers, and the totals of the line and all lines below it (in op: after it)."""

    __slots__ = ('_message', '_nodes', '_children')

    def __init__(self, message: Message, nodes: bool) -> None:
        self._message = message
        self._nodes = nodes
        self._children: Optional[List['Row']] = None

    @property
    def name(self) -> str:
        return str(self._message.name)

    @property
    def own(self) -> Metrics:
        own = _metrics(self._message, '')
        if self._nodes:  # their messages lack these numbers
            runs = [n.run_count for n in self._message.graph_nodes]
            selected, own = own.selected, own._replace(occurrence=sum(runs), definitions=len(runs))
            own.selected = selected
        return own

    @property
    def total(self) -> Metrics:
        return _metrics(self._message, 'total_')

    @property
    def children(self) -> List['Row']:
        if self._children is None:
            self._children = [Row(c, self._nodes) for c in self._message.children]
        return self._children

    @property
    def nodes(self) -> List['Row']:
        """Returns the graph nodes of this line, in op and code."""
        return [Row(n, False) for n in self._message.graph_nodes] if self._nodes else []

    @property
    def devices(self) -> List[str]:
        return [] if self._nodes else list(self._message.devices)

    @property
    def input_shapes(self) -> Dict[int, Shape]:
        return {} if self._nodes else {i: _shape(s) for i, s in self._message.input_shapes.items()}

    @property
    def tensor_value(self) -> List[Any]:
        """Returns the values of the tensor in row order, in scope and graph with a checkpoint and
        select='tensor_value'."""
        if self._nodes or not self._message.HasField('tensor_value'):
            return []
        t = self._message.tensor_value
        return list(t.value_double) or list(t.value_int64) or list(t.value_str)

    def walk(self) -> Iterator[Tuple[int, 'Row']]:
        """Yields (depth, row) of this row and all rows below it, in printed order."""
        stack: List[Tuple[int, Row]] = [(0, self)]
        while stack:
            depth, row = stack.pop()
            yield depth, row
            stack.extend((depth + 1, c) for c in reversed(row.children))

    def find(self, name: str) -> Optional['Row']:
        """Returns the first row with this name, from this row downwards, or None."""
        return next((row for _, row in self.walk() if row.name == name), None)

    def _lines(self) -> Iterator[Tuple[int, 'Row']]:
        """Yields (depth, row) of the rows of tables."""
        return self.walk()

    def to_pandas(self) -> 'pandas.DataFrame':
        """Returns a DataFrame with one line per row: depth, name, own_<metric>, total_<metric>. In op, the root has no line."""
        import pandas
        selected = list(self.own.selected)
        columns = ['depth', 'name'] + [p + f for p in ('own_', 'total_') for f in [*Metrics._fields, *selected]]
        lines = [(d, r.name) + sum((tuple(v) + tuple(v.selected[s] for s in selected) for v in (r.own, r.total)), ())
                 for d, r in self._lines()]
        return pandas.DataFrame.from_records(lines, columns=columns)

    def __repr__(self) -> str:
        return '<Row %r: %d us, %d bytes, %d children>' % (
            self.name, self.total.micros, self.total.bytes, len(self.children))


class Tree(Row, ArrowStream):
    """The root row of a view. notes: the notes that the command printed. Arrow libraries read the rows of the whole tree with
    the columns of -output csv: pyarrow.table(root)."""

    def __init__(self, message: Message, nodes: bool, view: str, open_stream: Callable[[int], None], notes: str) -> None:
        super().__init__(message, nodes)
        self._open = open_stream
        self.view = view
        self.notes = notes

    def _lines(self) -> Iterator[Tuple[int, Row]]:
        return ((d - 1, r) for d, r in self.walk() if d) if self.view == 'op' else self.walk()

    def _repr_html_(self) -> str:
        shown = []
        count = 0
        metrics = [f for f in Metrics._fields if getattr(self.total, f)] + [s for s in self.own.selected if s not in Metrics._fields]
        units = {f: 'us' if f.endswith('micros') else 'bytes' if f.endswith('bytes') else None for f in metrics}
        first = metrics[0] if metrics else ''
        whole = getattr(self.total, first, 0) or max((getattr(r.own, first, 0) for r in self.children), default=0)
        for depth, row in self._lines():
            count += 1
            if count > html.ROWS:
                continue
            total = row.total if self.view != 'op' else row.own
            shown.append([html.cell(row.name, indent=depth)] + [
                html.cell(getattr(total, m, 0), units[m], getattr(total, m, 0) / whole if m == first and whole else 0)
                for m in metrics])
        heads = ['name'] + [('' if self.view == 'op' else 'total_') + m for m in metrics]
        return html.table(heads, shown, '%s: %d of %d rows' % (self.view, len(shown), count))


def read(view: str, message: bytes, open_stream: Callable[[int], None], notes: str) -> Tree:
    """Returns the tree of a view's message."""
    if view in ('scope', 'graph'):
        return Tree(GraphNodeProto.FromString(message), False, view, open_stream, notes)
    root = Tree(MultiGraphNodeProto.FromString(message), True, view, open_stream, notes)
    if view == 'op':
        root._children = _types(root)
    return root


def _types(root: Row) -> List[Row]:
    """Returns the operation types. In the message, each type is a child of the previous one; here, all are children
    of the root."""
    rows: List[Row] = []
    at = root._message.children
    while at:
        row = Row(at[0], True)
        row._children = []
        rows.append(row)
        at = at[0].children
    return rows
