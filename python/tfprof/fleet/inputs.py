# SPDX-License-Identifier: Apache-2.0
"""The input files: lists paths, patterns, folders and URLs, and copies remote files to this machine. URLs (s3://, gs://,
abfs://, hf://, memory://, ...) are read through fsspec."""
import datetime
import glob
import os
import random
import re
import shutil
import stat as modes
import time
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, TypeVar

from ..parquet import RECORDING, is_recording
from ..sources import is_url
from .plan import CAPTURES
from .rows import key

ATTEMPTS = 8  # for each request to a remote store
RANGE = 8 << 20  # bytes per request
KINDS = ((modes.S_ISFIFO, 'a FIFO'), (modes.S_ISCHR, 'a device'), (modes.S_ISBLK, 'a device'), (modes.S_ISSOCK, 'a socket'))
T = TypeVar('T')


class Stat(NamedTuple):
    """Identifies the contents of a file. etag is empty for local files."""
    bytes: int
    modified_ns: int
    etag: str


def file_system(url: str) -> Tuple[Any, str]:
    """Returns the fsspec file system of a URL, and the path in it."""
    try:
        from fsspec.core import url_to_fs  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise ImportError('%s: URLs need fsspec: pip install fsspec' % url) from None
    try:
        fs, path = url_to_fs(url)
    except ValueError as e:
        raise ValueError('%s: unknown scheme: %s' % (url, e)) from None
    except ImportError as e:
        raise ImportError('%s: a package is missing: %s' % (url, e)) from None
    return fs, path


def retry(what: str, call: Callable[[], T]) -> T:
    """Calls a function, again after a failure that may be temporary, up to ATTEMPTS times."""
    for attempt in range(ATTEMPTS):
        try:
            return call()
        except (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError):
            raise
        except Exception as e:  # each file system raises its own exceptions
            if attempt == ATTEMPTS - 1:
                raise OSError('%s: %d attempts failed, at last with: %s' % (what, ATTEMPTS, e)) from e
            time.sleep(min(5.0, 0.05 * 2 ** attempt) * (0.5 + random.random()))
    raise AssertionError


# ---- listing ------------------------------------------------------------------------------------
def changed_at(info: Dict[str, Any]) -> float:
    """Returns the time of the last change of a remote file in seconds since 1970, as its file system states it; 0: unknown."""
    for name in ('LastModified', 'last_modified', 'mtime', 'updated', 'created'):
        when: Any = info.get(name)
        if isinstance(when, str):
            try:
                when = datetime.datetime.fromisoformat(when.replace('Z', '+00:00'))
            except ValueError:
                continue
        if isinstance(when, datetime.datetime):
            return when.timestamp()
        if isinstance(when, (int, float)) and when:
            return float(when)
    return 0.0


def _remote_stat(info: Dict[str, Any]) -> Stat:
    ns = int(changed_at(info) * 1e9)
    etag = next((str(info[k]) for k in ('ETag', 'etag', 'content_md5', 'md5Hash', 'oid', 'blob_id') if info.get(k)), '')
    return Stat(int(info.get('size') or 0), ns, etag.strip('"'))


def _list_url(url: str) -> Dict[str, Stat]:
    """Returns the files of a URL, of a pattern of URLs, or of the URL of a folder."""
    fs, path = file_system(url)

    def found() -> Dict[str, Any]:
        fs.invalidate_cache()
        if any(c in path for c in '*?['):
            there: Dict[str, Any] = fs.glob(path, detail=True)
            for name, info in list(there.items()):
                if info['type'] == 'directory':
                    del there[name]
                    there.update(fs.find(name, detail=True))
            return there
        info = fs.info(path)
        return dict(fs.find(path, detail=True)) if info['type'] == 'directory' else {path: info}
    try:
        infos = retry(url, found)
    except FileNotFoundError:
        infos = {}
    infos = {name: i for name, i in infos.items() if i['type'] == 'file' and not name.rsplit('/', 1)[-1].startswith('.')}
    if not infos:
        raise FileNotFoundError('%s: nothing found: no file has this name, matches or lies below' % url)
    return {str(fs.unstrip_protocol(name)): _remote_stat(i) for name, i in infos.items()}


def _walk(folder: str) -> List[str]:
    """Returns the files below a folder, without hidden ones. A folder with recordings counts as a file."""
    found: List[str] = []
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith('.'))
        if any(map(RECORDING.search, names)):
            found.append(base)
            names = [n for n in names if not RECORDING.search(n)]
        found += [os.path.join(base, n) for n in sorted(names) if not n.startswith('.')]
    if not found:
        raise FileNotFoundError('%s: the folder has no files' % folder)
    return found


def _list_local(path: str) -> List[str]:
    given = [path]
    if not os.path.lexists(path):
        given = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else []
        if not given:
            raise FileNotFoundError('%s: %s' % (path, 'nothing matches' if glob.has_magic(path) else 'no such file'))
    found: List[str] = []
    for p in given:
        if os.path.isdir(p) and not (is_recording(p) and not RECORDING.search(p)):
            try:
                found += _walk(p.rstrip('/') or p)
            except FileNotFoundError:
                if given == [path]:
                    raise
        else:
            found.append(p)
    if not found:
        raise FileNotFoundError('%s: only empty folders match' % path)
    return found


def absolute(path: str) -> str:
    """Returns a path in the form in which the table `files` stores it."""
    return path if is_url(path) else os.path.abspath(path)


def expand(paths: Iterable[str]) -> Tuple[List[str], Dict[str, Stat]]:
    """Returns the files of paths, patterns, folders and URLs, and the state of the remote ones. Raises FileNotFoundError if one
    of them matches no file."""
    found: List[str] = []
    remote: Dict[str, Stat] = {}
    for p in paths:
        if is_url(p):
            remote.update(_list_url(p))
        else:
            found += _list_local(os.path.abspath(p))
    return found + list(remote), remote


def covering(given: Sequence[str]) -> Callable[[str], bool]:
    """Returns a function that is true for the files that the paths, patterns and folders of a build include."""
    names, folders, patterns = set(), [], []
    for word in given:
        stored = key(word)
        names.add(stored)
        folders.append(stored.rstrip('/') + '/')
        if any(c in word for c in '*?[') and (is_url(word) or not os.path.lexists(word)):
            patterns.append(_expression(stored))
    below = tuple(folders)
    return lambda path: path in names or path.startswith(below) or any(p.match(path) for p in patterns)


def _expression(given: str) -> 're.Pattern[str]':
    """Returns the regular expression of a pattern; it matches the files below matching folders, too."""
    parts = re.split(r'(\*\*/?|\*|\?|\[[^\]]*\])', given)
    rules = {'**': '.*', '**/': '(?:.*/)?', '*': '[^/]*', '?': '[^/]'}
    pattern = ''.join(rules.get(p) or (p.replace('[!', '[^') if p.startswith('[') else re.escape(p)) for p in parts)
    return re.compile(r'(?:%s)(?:/.*)?\Z' % pattern, re.DOTALL)


# ---- files --------------------------------------------------------------------------------------
def special(mode: int) -> str:
    """Returns the kind of a file, such as a pipe; empty for a regular file or a folder."""
    return next((name for test, name in KINDS if test(mode)), '')


def local_stat(path: str) -> Stat:
    """Returns the state of a local file; for a folder, the total size of its files and the time of their latest change."""
    s = os.stat(path)
    if not modes.S_ISDIR(s.st_mode):
        return Stat(s.st_size, s.st_mtime_ns, '')
    inside = [os.stat(e.path) for e in os.scandir(path) if e.is_file()]
    return Stat(sum(x.st_size for x in inside), max([s.st_mtime_ns, *(x.st_mtime_ns for x in inside)]), '')


def remote_stat(url: str) -> Stat:
    fs, path = file_system(url)
    return _remote_stat(retry(url, lambda: fs.info(path)))


def fetch(url: str, known: Optional[Stat], folder: str) -> str:
    """Copies a remote file into a folder, range by range. Returns the path of the copy, which has the file's name."""
    fs, path = file_system(url)
    state = known or remote_stat(url)
    parent, name = path.rstrip('/').rsplit('/', 1) if '/' in path else ('', path)
    captures = [n for n in CAPTURES if parent.endswith('/' + n)]
    to = os.path.join(folder, *captures, name)
    os.makedirs(os.path.dirname(to), exist_ok=True)
    with open(to, 'wb') as f:
        for start in range(0, state.bytes, RANGE):
            end = min(start + RANGE, state.bytes)

            def part(start: int = start, end: int = end) -> bytes:
                data: bytes = fs.cat_file(path, start=start, end=end)
                if len(data) != end - start:
                    raise OSError('%d bytes were received: %d were expected' % (len(data), end - start))
                return data
            f.write(retry(url, part))
    return to


class Copies:
    """Local paths of input files. Remote files are copied into a temporary folder, which clear() empties."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._count = 0

    def of(self, paths: List[str], states: Dict[str, Stat]) -> Tuple[List[str], Dict[str, str]]:
        """Returns the local paths of the files of a worker, and {local path: URL} of the copies."""
        self._count += 1
        to = os.path.join(self._folder, str(self._count))
        found, urls = [], {}
        for p in paths:
            if is_url(p):
                copy = fetch(p, states.get(p), to)
                urls[copy] = p
                p = copy
            found.append(p)
        return found, urls

    def clear(self) -> None:
        shutil.rmtree(os.path.join(self._folder, str(self._count)), ignore_errors=True)
