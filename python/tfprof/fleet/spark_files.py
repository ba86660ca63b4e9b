# SPDX-License-Identifier: Apache-2.0
"""Access to file systems from the Spark driver, through Hadoop."""
import json
from typing import Any, Dict, Iterable, List, Tuple

from .plan import Failures, Item

FILE_MAX = (1 << 31) - (1 << 20)  # largest file that Spark can pass to a task


class Files:
    """The Hadoop file system that a path belongs to."""

    def __init__(self, spark: Any, path: str) -> None:
        self._jvm = spark._jvm
        self._path = spark._jvm.org.apache.hadoop.fs.Path
        self._fs = self._path(path).getFileSystem(spark._jsc.hadoopConfiguration())

    def local(self) -> bool:
        """True for the local file system."""
        return str(self._fs.getUri().getScheme()) == 'file'

    def glob(self, pattern: str) -> List[str]:
        found = self._fs.globStatus(self._path(pattern))
        return sorted(x.getPath().toString() for x in found or [])

    def listing(self, folder: str) -> Dict[str, Tuple[str, int]]:
        """Lists a folder as {name: (path, bytes)}. bytes is -1 for a subfolder."""
        found = {}
        for x in self._fs.listStatus(self._path(folder)):
            path = str(x.getPath().toString())
            found[_name(path)] = path, int(x.getLen()) if x.isFile() else -1
        return found

    def exists(self, path: str) -> bool:
        return bool(self._fs.exists(self._path(path)))

    def remove(self, path: str) -> None:
        self._fs.delete(self._path(path), True)

    def read(self, path: str) -> bytes:
        stream = self._fs.open(self._path(path))
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def write(self, path: str, data: bytes) -> None:
        """Writes a file under a temporary name, then renames it, so a partial file never has the final name."""
        part = self._path(path + '.part')
        stream = self._fs.create(part, True)
        stream.write(bytearray(data))
        stream.close()
        self._fs.delete(self._path(path), False)
        if not self._fs.rename(part, self._path(path)):
            raise OSError('cannot write %s' % path)


def _name(path: str) -> str:
    return path.rstrip('/').rsplit('/', 1)[-1]


def plain(path: str) -> str:
    """Returns a path without a leading "file:"."""
    return '/' + path[len('file:'):].lstrip('/') if path.startswith('file:') else path


def escape(path: str) -> str:
    """Escapes the glob characters of a path."""
    return ''.join('\\' + c if c in '{}[]*?\\' else c for c in path)


def expand(spark: Any, paths: Iterable[str]) -> List[str]:
    """Expands glob patterns. A pattern without matches stays as it is."""
    found: List[str] = []
    for p in paths:
        found += [plain(m) for m in Files(spark, p).glob(p)] or [p]
    return found


def committed(spark: Any, out: str) -> List[str]:
    """Returns the names of the complete runs."""
    files = Files(spark, out)
    return [str(json.loads(files.read(p).decode())['run']) for p in files.glob(out.rstrip('/') + '/_runs/*.json')]


def divide(spark: Any, items: Iterable[Item]) -> Tuple[List[Item], List[Item]]:
    """Returns (local files, all other files)."""
    here = Files(spark, '/').local()
    local, others = [], []
    for x in items:
        if x.path.startswith('file:') or (here and ':' not in x.path.split('/')[0]):
            local.append(x._replace(path=plain(x.path)))
        else:
            others.append(x)
    return local, others


def find(spark: Any, items: Iterable[Item]) -> Tuple[Dict[str, Item], Failures]:
    """Finds files by listing their folders. Returns {path in Spark's form: file}, and the files that cannot be read."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped, import-not-found, unused-ignore]
    folders: Dict[str, List[Item]] = {}
    for x in items:
        folders.setdefault(x.path.rstrip('/').rsplit('/', 1)[0] + '/', []).append(x)
    found: Dict[str, Item] = {}
    failed: Failures = []
    for folder, members in folders.items():
        try:
            there, why = Files(spark, folder).listing(folder), 'no such file'
        except Py4JJavaError as e:
            there, why = {}, str(e.java_exception.toString())
        for x in members:
            path, size = there.get(_name(x.path), ('', 0))
            if not path:
                failed.append((x, ('NOT_FOUND', '%s: %s' % (x.path, why))))
            elif size < 0:
                failed.append((x, ('INVALID_ARGUMENT', '%s: is a folder: expected the paths of its files' % x.path)))
            elif size > FILE_MAX:
                failed.append((x, ('RESOURCE', '%s: too large for Spark (%d bytes): the limit is %d' % (x.path, size, FILE_MAX))))
            else:
                found[path] = x
    return found, failed
