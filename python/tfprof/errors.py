# SPDX-License-Identifier: Apache-2.0
"""Errors of the library, each with a one-line message."""
import errno
from typing import Dict, Optional, Type


class Error(Exception):
    """The base class of all errors of the library.

    code: the name of the error code, such as 'DATA_LOSS'. file: the input that the error is about, offset: the byte
    in it; both None if unknown."""
    file: Optional[str]
    offset: Optional[int]

    def __init__(self, sentence: str, code: str = 'FAILED', file: Optional[str] = None,
                 offset: Optional[int] = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.file = file
        self.offset = offset

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ''


class InvalidArgumentError(Error, ValueError):
    """A command, an option, a value or a pattern is invalid."""

    def __init__(self, sentence: str, code: str = 'INVALID_ARGUMENT', file: Optional[str] = None,
                 offset: Optional[int] = None) -> None:
        super().__init__(sentence, code, file, offset)


class NotFoundError(Error, LookupError):
    """The profile or view does not have the requested step, call stacks or output; or a file is missing
    (InputNotFoundError)."""


class InputNotFoundError(NotFoundError, FileNotFoundError):
    """A file does not exist."""

    def __init__(self, sentence: str, code: str = 'NOT_FOUND', file: Optional[str] = None,
                 offset: Optional[int] = None) -> None:
        super().__init__(sentence, code, file, offset)
        self.errno, self.strerror, self.filename = errno.ENOENT, 'No such file or directory', file


class AccessError(Error, PermissionError):
    """The system refuses access to a file."""

    def __init__(self, sentence: str, code: str = 'PERMISSION_DENIED', file: Optional[str] = None,
                 offset: Optional[int] = None) -> None:
        super().__init__(sentence, code, file, offset)
        self.errno, self.strerror, self.filename = errno.EACCES, 'Permission denied', file


class DataLossError(Error, ValueError):
    """An input cannot be parsed."""


class UnimplementedError(Error, NotImplementedError):
    """The requested feature is not implemented in this version."""


class CancelledError(Error):
    """The call was cancelled by cancel() or by a callback."""


class MemoryLimitError(Error, MemoryError):
    """The memory limit is reached, or the system has no memory left."""


_BY_CODE: Dict[int, Type[Error]] = {
    1: InvalidArgumentError, 2: InputNotFoundError, 3: AccessError, 4: DataLossError, 5: UnimplementedError,
    8: CancelledError, 10: NotFoundError, 11: MemoryLimitError}


def make(code: int, name: str, sentence: str, file: Optional[str] = None, offset: Optional[int] = None) -> Error:
    """Returns the exception for an error code of the library."""
    return _BY_CODE.get(code, Error)(sentence, name, file, offset)
