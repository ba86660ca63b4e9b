# SPDX-License-Identifier: Apache-2.0
"""Errors of the library, each with a one-line message."""
from typing import Dict, Type


class Error(Exception):
    """Any failure of the library. code is its name, such as 'DATA_LOSS'."""

    def __init__(self, sentence: str, code: str = 'FAILED') -> None:
        super().__init__(sentence)
        self.code = code


class InvalidArgumentError(Error, ValueError):
    """A command, an option, a value or a pattern."""


class NotFoundError(Error, LookupError):
    """A file; a step, call stacks or an output that this profile or view has not."""


class DataLossError(Error, ValueError):
    """Bytes that cannot be parsed."""


class UnimplementedError(Error, NotImplementedError):
    """Known, but not in this version."""


class CancelledError(Error):
    """Ended by cancel() or by a callback."""


class MemoryLimitError(Error, MemoryError):
    """Memory, or the limit that was set for it, is at its end."""


_BY_CODE: Dict[int, Type[Error]] = {
    1: InvalidArgumentError, 2: NotFoundError, 4: DataLossError, 5: UnimplementedError,
    8: CancelledError, 10: NotFoundError, 11: MemoryLimitError}


def make(code: int, name: str, sentence: str) -> Error:
    """The exception for a code of the library."""
    return _BY_CODE.get(code, Error)(sentence, name)
