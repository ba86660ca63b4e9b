# SPDX-License-Identifier: Apache-2.0
"""The answers of commands: rows with columns, and the document that they come from."""
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union, overload

from . import html
from .arrow import ArrowStream

if TYPE_CHECKING:
    import pandas

Record = Dict[str, Any]
_TYPES = {'integer': 'int64', 'number': 'float64', 'boolean': 'bool'}  # pandas types of columns without missing values
_NULLABLE = {'integer': 'Int64', 'number': 'float64', 'boolean': 'boolean'}
_NAMES = ('path', 'name', 'op', 'cause', 'change', 'step', 'device')  # a notebook shows these columns first, in this order
_MEASURES = ('share', 'saved_ns', 'total_ns', 'duration_ns', 'busy_ns', 'ns', 'removed_ns', 'after_ns')


class AnswerColumn(NamedTuple):
    """A column of an answer. type: 'string', 'array', 'integer', 'number' or 'boolean'. unit: '' if it has none."""
    name: str
    type: str
    unit: str


class Result(ArrowStream):
    """The answer of a command: a list of rows, each a dictionary.

    A name instead of an index is a member of the document: answer['verdict'] is answer.document['verdict'].
    columns: names, types and units of the columns. row_count: the number of all rows, also those beyond the limit
    top=. notes: the notes that the command printed. Arrow libraries read the rows directly: pyarrow.table(answer)."""

    def __init__(self, command: str, document: Record, open_stream: Callable[[int], None], notes: str) -> None:
        self._open = open_stream
        self.command = command
        self.document = document
        self.notes = notes
        self.rows: List[Record] = document['rows']
        self.columns = [AnswerColumn(c['name'], c['type'], c.get('unit', '')) for c in document.get('columns', [])]
        self.row_count: int = document.get('row_count', len(self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.rows)

    @overload
    def __getitem__(self, which: int) -> Record: ...

    @overload
    def __getitem__(self, which: slice) -> List[Record]: ...

    @overload
    def __getitem__(self, which: str) -> Any: ...

    def __getitem__(self, which: Union[int, slice, str]) -> Any:
        return self.document[which] if isinstance(which, str) else self.rows[which]

    def __contains__(self, what: object) -> bool:
        return what in self.document if isinstance(what, str) else what in self.rows

    def get(self, name: str, default: Any = None) -> Any:
        """Returns a member of the document, or the default if there is none with that name."""
        return self.document.get(name, default)

    def __eq__(self, other: object) -> bool:
        return self.rows == (other.rows if isinstance(other, Result) else other)

    __hash__ = None  # type: ignore[assignment]

    def to_pandas(self) -> 'pandas.DataFrame':
        """Returns a pandas.DataFrame. Works after the profile is closed, and without pyarrow."""
        import pandas
        names = [c.name for c in self.columns] or None
        frame = pandas.DataFrame(self.rows, columns=names)
        types = {c.name: (_NULLABLE if frame[c.name].isna().any() else _TYPES)[c.type]
                 for c in self.columns if c.type in _TYPES}
        return frame.astype(types)

    def _bar(self) -> Tuple[str, float]:
        """Returns the column that bars show, and the value of a whole bar."""
        numbers = [c for c in self.columns if c.type in _TYPES and c.unit in ('ns', 'us', 'bytes', 'percent')]
        chosen = next((n for m in _MEASURES for n in numbers if n.name == m), numbers[0] if numbers else None)
        if chosen is None:
            return '', 0
        most = max((r[chosen.name] or 0 for r in self.rows), default=0)
        return chosen.name, 100 if chosen.unit == 'percent' else most

    def _repr_html_(self) -> str:
        shown = self.rows[:html.ROWS]
        columns = [c for c in self.columns if any(r[c.name] not in (None, '', []) for r in shown)]
        columns.sort(key=lambda c: c.name != next((n for n in _NAMES if any(k.name == n for k in columns)), ''))
        measure, whole = self._bar()
        rows = [[html.cell(r[c.name], c.unit, (r[c.name] or 0) / whole if c.name == measure and whole else 0)
                 for c in columns] for r in shown]
        said = self.document.get('verdict', '')
        return html.table((c.name for c in columns), rows, ' '.join(filter(None, [said, self._count(len(shown))])))

    def _count(self, shown: int) -> str:
        return '%s: %d of %d rows' % (self.command, shown, self.row_count)

    def __repr__(self) -> str:
        return '<Result of %s; columns: %s>' % (self._count(len(self.rows)), ', '.join(c.name for c in self.columns))
