# SPDX-License-Identifier: Apache-2.0
"""Reads profiles and traces, and shows where the time, memory and float operations of a model go.

    import tfprof
    p = tfprof.open('trace.xplane.pb')
    print(p.top(5))
    for depth, row in p.scope(max_depth=3, order_by='micros').walk():
        print('  ' * depth, row.name, row.total.micros)

tfprof.compat and tfprof.model_analyzer have the interface of TensorFlow's own profiler modules."""
from ._native import Library, libraries, version
from .arrow import ArrowTable, Column, Schema, schemas
from .errors import (AccessError, CancelledError, DataLossError, Error, InputNotFoundError, InvalidArgumentError,
                     MemoryLimitError, NotFoundError, UnimplementedError)
from .parquet import export
from .profile import Profile
from .profile import open_any as open
from .result import AnswerColumn, Result
from .rows import Metrics, Row, Tree
from .sources import NamedBytes, Source

__version__ = version()
__all__ = ['AccessError', 'AnswerColumn', 'ArrowTable', 'CancelledError', 'Column', 'DataLossError', 'Error',
           'InputNotFoundError', 'InvalidArgumentError', 'Library', 'MemoryLimitError', 'Metrics', 'NamedBytes',
           'NotFoundError', 'Profile', 'Result', 'Row', 'Schema', 'Source', 'Tree', 'UnimplementedError', 'export',
           'libraries', 'open', 'schemas', 'version']
