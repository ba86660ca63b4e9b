# SPDX-License-Identifier: Apache-2.0
"""Errors of the library, each with a one-line message."""
from typing import Dict, Type


class Error(Exception):
    """The base class of all errors of the library. code is the name of the error code, such as 'DATA_LOSS'."""

    def __init__(self, sentence: str, code: str = 'FAILED') -> None:
        super().__init__(sentence)
        self.code = code


class InvalidArgumentError(Error, ValueError):
    """A command, an option, a value or a pattern is invalid."""


class NotFoundError(Error, LookupError):
    """A file is missing, or the profile or view does not have the requested step, call stacks or output."""


class DataLossError(Error, ValueError):
    """An input cannot be parsed."""


class UnimplementedError(Error, NotImplementedError):
    """The requested feature is not implemented in this version."""


class CancelledError(Error):
    """The call was cancelled by cancel() or by a callback."""


class MemoryLimitError(Error, MemoryError):
    """The memory limit is reached, or the system has no memory left."""


_BY_CODE: Dict[int, Type[Error]] = {
    1: InvalidArgumentError, 2: NotFoundError, 4: DataLossError, 5: UnimplementedError,
    8: CancelledError, 10: NotFoundError, 11: MemoryLimitError}


def make(code: int, name: str, sentence: str) -> Error:
    """Returns the exception for an error code of the library."""
    return _BY_CODE.get(code, Error)(sentence, name)
