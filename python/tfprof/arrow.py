# SPDX-License-Identifier: Apache-2.0
"""Tables and answers as Arrow streams, through the Arrow PyCapsule interface: pyarrow.table(x), polars.DataFrame(x),
duckdb.sql('from x') and pandas.DataFrame.from_arrow(x) accept them directly. This module needs no Arrow library."""
import ctypes
import struct
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional

from ._native import library

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Stream(ctypes.Structure):
    _fields_ = [(n, ctypes.c_void_p) for n in ('get_schema', 'get_next', 'get_last_error', 'release', 'private')]


class _Schema(ctypes.Structure):
    pass


_Schema._fields_ = [('format', ctypes.c_char_p), ('name', ctypes.c_char_p), ('metadata', ctypes.c_void_p),
                    ('flags', ctypes.c_int64), ('n_children', ctypes.c_int64),
                    ('children', ctypes.POINTER(ctypes.POINTER(_Schema))),
                    ('dictionary', ctypes.POINTER(_Schema)), ('release', ctypes.c_void_p),
                    ('private', ctypes.c_void_p)]


def _release(x: Any) -> None:
    """Releases a struct that no consumer has taken."""
    if x.release:
        _Release(x.release)(ctypes.addressof(x))


# ---- capsules -----------------------------------------------------------------------------------
_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_held: Dict[int, Any] = {}  # structs by address, as long as their capsules live
_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, _Destructor]
_api.PyCapsule_GetName.restype = ctypes.c_char_p
_api.PyCapsule_GetName.argtypes = [ctypes.c_void_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]


def _free(capsule: int) -> None:
    x = _held.pop(_api.PyCapsule_GetPointer(capsule, _api.PyCapsule_GetName(capsule)), None)
    if x is not None:
        _release(x)


_destroy = _Destructor(_free)


def _capsule(x: Any, name: bytes) -> Any:
    address = ctypes.addressof(x)
    _held[address] = x
    return _api.PyCapsule_New(address, name, _destroy)


class ArrowStream:
    """Rows that any Arrow consumer can read. Each read opens a new stream, so the profile must be open then.

    The profile may be closed while a stream is read. Nothing can be added to the profile while the stream of a table
    is open."""

    _open: Callable[[int], None]

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> Any:
        stream = _Stream()
        self._open(ctypes.addressof(stream))
        return _capsule(stream, b'arrow_array_stream')

    def to_arrow(self) -> 'pyarrow.Table':
        """Returns a pyarrow.Table."""
        import pyarrow
        table: pyarrow.Table = pyarrow.RecordBatchReader.from_stream(self).read_all()
        return table

    def to_polars(self) -> 'polars.DataFrame':
        """Returns a polars.DataFrame. Needs polars 1.10 or later."""
        import polars
        return polars.DataFrame(ArrowTable(self._open, ''))

    def to_pandas(self) -> 'pandas.DataFrame':
        """Returns a pandas.DataFrame. Needs pyarrow."""
        frame: pandas.DataFrame = self.to_arrow().to_pandas()
        return frame


class ArrowTable(ArrowStream):
    """A table of a profile, or the rows of an answer."""

    def __init__(self, open_stream: Callable[[int], None], what: str) -> None:
        self._open = open_stream
        self._what = what

    def to_pyarrow(self) -> 'pyarrow.RecordBatchReader':
        """Returns a pyarrow.RecordBatchReader, which reads batch by batch."""
        import pyarrow
        reader: pyarrow.RecordBatchReader = pyarrow.RecordBatchReader.from_stream(self)
        return reader

    def __repr__(self) -> str:
        return '<ArrowTable: %s>' % self._what


# ---- schemas ------------------------------------------------------------------------------------
_NUMBERS = {b'l': 'int64', b'g': 'float64'}  # key: format string of the Arrow C data interface


class Column(NamedTuple):
    """A column of a table; type: 'text', 'int64' or 'float64'."""
    name: str
    type: str
    unit: str
    description: str


class Schema(NamedTuple):
    """A table with its fixed columns."""
    table: str
    version: str
    description: str
    columns: List[Column]


def _pairs(address: Optional[int]) -> Dict[str, str]:
    """Decodes the metadata at an address: the number of pairs, then each text after its size."""
    at = address or 0

    def number() -> int:
        nonlocal at
        at += 4
        return int(struct.unpack('=i', ctypes.string_at(at - 4, 4))[0])

    def word() -> str:
        nonlocal at
        n = number()
        at += n
        return ctypes.string_at(at - n, n).decode()

    found: Dict[str, str] = {}
    for _ in range(number() if address else 0):
        key = word()
        found[key] = word()
    return found


def schemas() -> List[Schema]:
    """Returns the tables of Profile.table with their columns, which are the same for every input."""
    found: List[Schema] = []
    name = ctypes.c_char_p()
    while True:
        x = _Schema()
        if library().tfp_arrow_table(len(found), ctypes.byref(name), ctypes.byref(x)):
            return found
        columns = []
        for i in range(x.n_children):
            c = x.children[i].contents
            pairs = _pairs(c.metadata)
            columns.append(Column(c.name.decode(), 'text' if c.dictionary else _NUMBERS[c.format], pairs.get('unit', ''),
                                  pairs.get('description', '')))
        pairs = _pairs(x.metadata)
        found.append(Schema((name.value or b'').decode(), pairs['schema_version'], pairs['description'], columns))
        _release(x)
