# SPDX-License-Identifier: Apache-2.0
"""GFile(name, mode), as in TensorFlow's gfile. It accepts text and bytes."""
from typing import Any, Iterator, List, Union

__all__ = ['GFile', 'Open']


class GFile:
    """A file. Reading returns text, or bytes if the mode has a 'b'; writing accepts both."""

    def __init__(self, name: Any, mode: str = 'r') -> None:
        self.name, self.mode = name, mode
        self._text = 'b' not in mode
        self._file = open(name, mode.replace('b', '') + 'b')

    def _give(self, b: bytes) -> Union[str, bytes]:
        return b.decode('utf-8') if self._text else b

    def read(self, n: int = -1) -> Union[str, bytes]:
        return self._give(self._file.read(n))

    def readline(self) -> Union[str, bytes]:
        return self._give(self._file.readline())

    def readlines(self) -> List[Union[str, bytes]]:
        return list(self)

    def __iter__(self) -> Iterator[Union[str, bytes]]:
        return (self._give(b) for b in self._file)

    def write(self, content: Union[str, bytes]) -> None:
        self._file.write(content.encode('utf-8') if isinstance(content, str) else content)

    def size(self) -> int:
        at = self._file.tell()
        try:
            return self._file.seek(0, 2)
        finally:
            self._file.seek(at)

    def seek(self, offset: int, whence: int = 0) -> None:
        self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> 'GFile':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


Open = GFile
