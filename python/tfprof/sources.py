# SPDX-License-Identifier: Apache-2.0
"""Inputs that are not local paths: file objects and URLs, which fsspec reads."""
import os
import re
import tempfile
from typing import Any, Iterable, List, NamedTuple, Optional, Protocol, Tuple, Union

from . import errors


class NamedBytes(NamedTuple):
    """The contents of a file that the caller has read, and a name for messages."""
    name: str
    data: bytes


class Readable(Protocol):
    """A file object."""

    def read(self) -> Union[bytes, str]: ...


class Serializable(Protocol):
    """A protobuf message."""

    def SerializeToString(self) -> bytes: ...


class LiveGraph(Protocol):
    """A tf.Graph."""

    def as_graph_def(self, *, add_shapes: bool) -> Any: ...


Path = Union[str, 'os.PathLike[str]']
# A path, a URL, the contents of a file, a file object, or a message or graph of TensorFlow.
Source = Union[Path, bytes, bytearray, memoryview, NamedBytes, Readable, Serializable, LiveGraph]

_URL = re.compile(r'[A-Za-z][A-Za-z0-9+.-]+(::[A-Za-z0-9+.-]+)*://')


def is_url(source: object) -> bool:
    """True if the source is a text such as s3://bucket/trace.json."""
    return isinstance(source, str) and bool(_URL.match(source))


def is_path(source: object) -> bool:
    """True if the source is a path on this machine."""
    return isinstance(source, (str, os.PathLike)) and not is_url(source)


def _file_system(url: str) -> Tuple[Any, str]:
    """Returns the file system of a URL, and the path in it."""
    try:
        from fsspec.core import url_to_fs  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise ImportError('%s: URLs need fsspec: pip install fsspec' % url) from None
    fs, path = url_to_fs(url)
    return fs, path


def _read_url(url: str) -> NamedBytes:
    fs, path = _file_system(url)
    try:
        return NamedBytes(url, fs.cat_file(path))
    except FileNotFoundError:
        raise errors.InputNotFoundError('%s: no such file' % url, file=url) from None
    except PermissionError:
        raise errors.AccessError('%s: access denied' % url, file=url) from None


def read(source: Any) -> Any:
    """Reads a URL or a file object, and returns its contents as NamedBytes. Returns other sources as they are."""
    if is_url(source):
        return _read_url(source)
    if isinstance(source, (str, bytes, bytearray, memoryview, os.PathLike, NamedBytes)) or not hasattr(source, 'read'):
        return source
    data = source.read()
    name = getattr(source, 'name', '')
    return NamedBytes(name if isinstance(name, str) else '', data.encode() if isinstance(data, str) else bytes(data))


def _names(url: str) -> Optional[List[str]]:
    """Returns the URLs in a folder, or those that match a pattern; None for a single file."""
    fs, path = _file_system(url)
    if '*' in path:
        found = sorted(fs.glob(path))
        if not found:
            raise errors.InputNotFoundError('%s: nothing matches' % url, file=url)
    elif fs.isdir(path):
        found = sorted(fs.find(path, maxdepth=1))
    else:
        return None
    return [str(fs.unstrip_protocol(p)) for p in found]


class Local:
    """Local paths of sources. Sources without a local path are copied to a folder, which is removed with this object."""

    def __init__(self, sources: Iterable[Any]) -> None:
        self._folder: Optional[tempfile.TemporaryDirectory[str]] = None
        self.paths: List[str] = []
        copies = 0
        for source in sources:
            if is_path(source):
                self.paths.append(os.fspath(source))
                continue
            urls = _names(source) if is_url(source) else None
            for one in [source] if urls is None else urls:
                self.paths.append(self._copy(read(one), copies))
                copies += 1

    def _copy(self, source: Any, index: int) -> str:
        """Writes the contents of a source to a file; returns its path."""
        if isinstance(source, (bytes, bytearray, memoryview)):
            source = NamedBytes('', bytes(source))
        if not isinstance(source, NamedBytes):
            raise errors.InvalidArgumentError('a list of inputs has paths, URLs, bytes and file objects, not %s'
                                              % type(source).__name__)
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix='tfprof-')
        name = os.path.basename(source.name) or 'input_%d' % index
        path = os.path.join(self._folder.name, name)
        if os.path.exists(path):
            path = os.path.join(self._folder.name, str(index), name)
            os.mkdir(os.path.dirname(path))
        with open(path, 'wb') as f:
            f.write(source.data)
        return path


def is_folder_url(source: object) -> bool:
    """True if the source is the URL of a folder, or a pattern of URLs."""
    return is_url(source) and _names(str(source)) is not None
