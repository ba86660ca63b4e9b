# SPDX-License-Identifier: Apache-2.0
"""The ctypes interface of libtfprof, and the class Session. Independent of messages and views."""
import contextlib
import ctypes
import operator
import os
import threading
import weakref
from typing import Any, Callable, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import errors, sources
from .sources import NamedBytes, Source

GRAPH, STEP, OP_LOG, PROFILE, CHECKPOINT, RECORDING, ANY = 1, 2, 4, 8, 16, 32, 64
OK, FAILED, NO_STEP = 0, 9, 10
_LENIENT, _BANNERS, _KEEP_ATTRS, _RECOVER = 1, 1, 1, 2

ProgressCallback = Callable[[int, int], Any]

_Put = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_Progress = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)


class _Config(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('flags', ctypes.c_uint), ('threads', ctypes.c_uint),
                ('memory_limit', ctypes.c_uint64), ('progress', _Progress),
                ('user', ctypes.c_void_p)]


class _Str(ctypes.Structure):
    _fields_ = [('data', ctypes.c_char_p), ('size', ctypes.c_size_t)]


class _Input(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('path', ctypes.c_char_p),
                ('path_size', ctypes.c_size_t), ('bytes', ctypes.c_char_p),
                ('bytes_size', ctypes.c_size_t), ('step', ctypes.c_int64),
                ('how', ctypes.POINTER(_Str)), ('n_how', ctypes.c_size_t)]


class _Run(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('flags', ctypes.c_uint), ('text', _Put),
                ('text_user', ctypes.c_void_p), ('result', _Put), ('result_user', ctypes.c_void_p),
                ('checkers', ctypes.POINTER(_Str)), ('n_checkers', ctypes.c_size_t),
                ('words', ctypes.POINTER(_Str)), ('n_words', ctypes.c_size_t),
                ('other', ctypes.c_void_p)]


class _Arrow(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('table', _Str), ('command', _Str), ('run', _Str),
                ('worker', _Str), ('rows', ctypes.c_uint64), ('words', ctypes.POINTER(_Str)),
                ('n_words', ctypes.c_size_t), ('other', ctypes.c_void_p)]


class _Library(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('name', ctypes.c_char_p), ('feature', ctypes.c_char_p),
                ('available', ctypes.c_int), ('version', ctypes.c_char * 64)]


_S = ctypes.c_void_p
_LENGTH = ctypes.POINTER(ctypes.c_size_t)
# Texts are returned as addresses because they may contain a NUL.
_FUNCTIONS: List[Tuple[str, Any, List[Any]]] = [
    ('tfp_version', ctypes.c_char_p, []),
    ('tfp_library', ctypes.c_int, [ctypes.c_size_t, ctypes.POINTER(_Library)]),
    ('tfp_code_name', ctypes.c_char_p, [ctypes.c_int]),
    ('tfp_open', ctypes.c_int, [ctypes.POINTER(_S), ctypes.POINTER(_Config)]),
    ('tfp_close', None, [_S]),
    ('tfp_error', _S, [_S, _LENGTH]),
    ('tfp_error_file', _S, [_S, _LENGTH, ctypes.POINTER(ctypes.c_int64)]),
    ('tfp_notes', _S, [_S, _LENGTH]),
    ('tfp_cancel', None, [_S]),
    ('tfp_add', ctypes.c_int, [_S, ctypes.c_int, ctypes.POINTER(_Input)]),
    ('tfp_add_steps', ctypes.c_int, [_S, ctypes.POINTER(_Input), ctypes.c_size_t, _LENGTH]),
    ('tfp_add_paths', ctypes.c_int, [_S, ctypes.POINTER(_Str), ctypes.c_size_t]),
    ('tfp_add_files', ctypes.c_int, [_S, ctypes.POINTER(_Str), ctypes.c_size_t]),
    ('tfp_worker', _S, [_S, ctypes.c_size_t, _LENGTH]),
    ('tfp_coverage', ctypes.c_int, [_S, ctypes.POINTER(ctypes.c_double)]),
    ('tfp_steps', ctypes.c_size_t, [_S, ctypes.POINTER(ctypes.c_int64), ctypes.c_size_t]),
    ('tfp_device', _S, [_S, ctypes.c_size_t, _LENGTH]),
    ('tfp_set', ctypes.c_int, [_S, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(_Str),
                               ctypes.c_size_t, ctypes.c_uint]),
    ('tfp_reset', ctypes.c_int, [_S]),
    ('tfp_run', ctypes.c_int, [_S, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(_Run)]),
    ('tfp_diff', ctypes.c_int, [_S, _S, ctypes.POINTER(_Str), ctypes.c_size_t, ctypes.POINTER(_Run)]),
    ('tfp_arrow_stream', ctypes.c_int, [_S, ctypes.POINTER(_Arrow), ctypes.c_void_p]),
    ('tfp_arrow_table', ctypes.c_int, [ctypes.c_size_t, ctypes.POINTER(ctypes.c_char_p), ctypes.c_void_p]),
    ('tfp_write_profile', ctypes.c_int, [_S, ctypes.c_char_p, ctypes.c_size_t, _Put, _S]),
]

_lib: Optional[ctypes.CDLL] = None


def library() -> ctypes.CDLL:
    """Returns the library: the file that TFPROF_LIBRARY names, otherwise the library in this package, otherwise the installed
    one."""
    global _lib
    if _lib is None:
        beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'libtfprof.so.0')
        given = os.environ.get('TFPROF_LIBRARY') or (beside if os.path.exists(beside) else 'libtfprof.so.0')
        try:
            lib = ctypes.CDLL(given)
            for name, result, arguments in _FUNCTIONS:
                f = getattr(lib, name)
                f.restype, f.argtypes = result, arguments
        except (OSError, AttributeError) as e:
            raise ImportError('libtfprof.so.0 cannot be loaded (%s); install it, or set '
                              'TFPROF_LIBRARY to its path' % e) from None
        _lib = lib
    return _lib


def version() -> str:
    """Returns the version of the library."""
    return str(library().tfp_version().decode())


class Library(NamedTuple):
    """A library that libtfprof uses. version is '' if unknown."""
    name: str
    available: bool
    version: str
    feature: str


def libraries() -> List[Library]:
    """Returns the libraries that libtfprof uses, for bug reports."""
    found: List[Library] = []
    x = _Library(ctypes.sizeof(_Library))
    while library().tfp_library(len(found), ctypes.byref(x)) == OK:
        found.append(Library(x.name.decode(), bool(x.available), x.version.decode(), x.feature.decode()))
    return found


def text(b: bytes) -> str:
    """Decodes a name. Invalid UTF-8 is kept when the name is passed back."""
    return b.decode('utf-8', 'surrogateescape')


def raw(s: Union[str, bytes]) -> bytes:
    if isinstance(s, str):
        return s.encode('utf-8', 'surrogateescape')
    if isinstance(s, (bytes, bytearray, memoryview)):
        return bytes(s)
    raise TypeError('a text is str or bytes, not %s' % type(s).__name__)


def _number(name: str, value: int, bits: int) -> int:
    """Checks the range of a number, which ctypes would truncate."""
    n = operator.index(value)
    if not 0 <= n < 2**bits:
        raise errors.InvalidArgumentError('%s is 0 or more, and below 2**%d, not %d' % (name, bits, n),
                                          'INVALID_ARGUMENT')
    return n


def _take(source: Any) -> Tuple[Optional[bytes], Optional[bytes]]:
    """Returns (path, bytes) of a source. For bytes, the path is their name, or None."""
    source = sources.read(source)
    if isinstance(source, NamedBytes):
        return os.fsencode(source.name) or None, bytes(source.data)
    if isinstance(source, (str, os.PathLike)):
        return os.fsencode(source), None
    if isinstance(source, (bytes, bytearray, memoryview)):
        return None, bytes(source)
    if hasattr(source, 'as_graph_def'):
        source = source.as_graph_def(add_shapes=True)
    if hasattr(source, 'SerializeToString'):
        return None, source.SerializeToString()
    raise errors.InvalidArgumentError(
        'an input is a path, a URL, bytes, a file object or a message, not %s' % type(source).__name__,
        'INVALID_ARGUMENT')


def _input(source: Any, step: int = 0, how: Sequence[str] = ()) -> _Input:
    path, data = _take(source)
    if not -2**63 <= step < 2**63:
        raise errors.InvalidArgumentError('%d is not the number of a step' % step, 'INVALID_ARGUMENT')
    return _Input(ctypes.sizeof(_Input), path, len(path or b''), data, len(data or b''), step,
                  _strings(how), len(how))


def _strings(values: Iterable[Union[str, bytes]]) -> Any:
    items = [raw(v) for v in values]
    return (_Str * len(items))(*[_Str(b, len(b)) for b in items])


class Answer(NamedTuple):
    """The result of a command: its code, output, result message and notes."""
    code: int
    text: bytes
    result: bytes
    notes: bytes


class _Collector:
    """A callback that collects its arguments. Exceptions are stored and raised later, never passed into the
    library."""

    def __init__(self) -> None:
        self.parts: List[bytes] = []
        self.failure: Optional[BaseException] = None
        self.put = _Put(self._put)

    def _put(self, _user: Any, p: int, n: int) -> int:
        try:
            self.parts.append(ctypes.string_at(p, n))
            return 0
        except BaseException as e:  # noqa: B902: it is raised again behind the call
            self.failure = e
            return 1

    def bytes(self) -> bytes:
        if self.failure:
            raise self.failure
        return b''.join(self.parts)


_sessions: 'weakref.WeakSet[Session]' = weakref.WeakSet()


def _after_fork() -> None:
    for s in list(_sessions):
        s._after_fork()


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_after_fork)


class Session:
    """A loaded profile. Several threads may use a session; their calls run one after the other. Ctrl-C ends the call
    in progress."""

    def __init__(self, threads: int = 0, memory_limit: int = 0,
                 progress: Optional[ProgressCallback] = None, keep_attrs: bool = True,
                 recover: bool = False) -> None:
        self._s = _S()
        self._lib = library()
        self._lock = threading.Lock()
        self._open = threading.RLock()  # between cancel, which waits for no call, and close
        self._calling = 0  # the thread in which the callback runs
        self._progress = progress
        self._failure: Optional[BaseException] = None
        self._callback = _Progress(self._on_progress) if progress else _Progress()
        flags = (_KEEP_ATTRS if keep_attrs else 0) | (_RECOVER if recover else 0)
        config = _Config(ctypes.sizeof(_Config), flags,
                         _number('threads', threads, 32), _number('memory_limit', memory_limit, 64),
                         self._callback, None)
        code = self._lib.tfp_open(ctypes.byref(self._s), ctypes.byref(config))
        if code:
            raise self._error(code)
        _sessions.add(self)

    def _after_fork(self) -> None:
        """Runs in a forked child: abandons the session if another thread was in a call, which never ends in the child."""
        if self._calling == threading.get_ident():
            return
        if self._lock.locked():
            self._s = _S()
        self._lock, self._open = threading.Lock(), threading.RLock()

    def _on_progress(self, _user: Any, done: int, total: int) -> int:
        self._calling = threading.get_ident()
        try:
            assert self._progress
            return 1 if self._progress(done, total) is False else 0
        except BaseException as e:  # noqa: B902: it is raised again behind the call
            self._failure = e
            return 1
        finally:
            self._calling = 0

    def _own(self) -> 'threading.Lock':
        """Returns the lock. Raises in a callback, because the call that runs the callback holds the lock."""
        if self._calling == threading.get_ident():
            raise errors.Error('a callback cannot use the session that calls it')
        return self._lock

    def close(self) -> None:
        with self._own():
            with self._open:
                s, self._s = self._s, _S()
            if s:
                self._lib.tfp_close(s)

    def __del__(self) -> None:
        if getattr(self, '_s', None):
            self.close()

    def cancel(self) -> None:
        """Ends the call that is in progress on another thread."""
        with self._open:
            if self._s:
                self._lib.tfp_cancel(self._s)

    def _error(self, code: int) -> errors.Error:
        n, offset = ctypes.c_size_t(), ctypes.c_int64(-1)
        p = self._lib.tfp_error(self._s, ctypes.byref(n))
        sentence = ctypes.string_at(p, n.value).decode('utf-8', 'replace')
        p = self._lib.tfp_error_file(self._s, ctypes.byref(n), ctypes.byref(offset))
        return errors.make(code, self._lib.tfp_code_name(code).decode(), sentence,
                           text(ctypes.string_at(p, n.value)) if p else None,
                           offset.value if offset.value >= 0 else None)

    def _notes(self) -> bytes:
        n = ctypes.c_size_t()
        return ctypes.string_at(self._lib.tfp_notes(self._s, ctypes.byref(n)), n.value)

    def _call(self, f: Any, *arguments: Any, may: Union[Sequence[int], Callable[[], Sequence[int]]] = (OK,),
              long: bool = False, also: Optional['Session'] = None) -> Tuple[int, bytes]:
        """Calls a function. Returns (code, notes); raises for unexpected codes. long: whether the call may take long.
        also: a second session that the call uses."""
        with contextlib.ExitStack() as held:
            for s in sorted({self, also or self}, key=id):  # in a fixed order, to avoid a deadlock of two calls
                held.enter_context(s._own())
            if not self._s or (also and not also._s):
                raise errors.Error('the profile is closed')
            self._failure = None
            code = self._wait(f, arguments) if long else f(self._s, *arguments)
            if self._failure:
                raise self._failure
            if code not in (may() if callable(may) else may):
                raise self._error(code)
            return code, self._notes()

    def _wait(self, f: Any, arguments: Tuple[Any, ...]) -> int:
        """Runs f so that the main thread can still be interrupted."""
        if threading.current_thread() is not threading.main_thread():
            return int(f(self._s, *arguments))
        codes: List[int] = []
        worker = threading.Thread(target=lambda: codes.append(f(self._s, *arguments)))
        worker.start()
        interrupted: Optional[BaseException] = None
        while worker.is_alive():
            try:
                worker.join()
            except KeyboardInterrupt as e:
                interrupted = e
                self.cancel()
        if interrupted:
            raise interrupted
        return codes[0]

    # ---- loading ----

    def add(self, kind: int, source: Source, step: int = 0, how: Sequence[str] = ()) -> bytes:
        """Adds an input. Returns the notes. how: the options for a recording."""
        return self._call(self._lib.tfp_add, kind, ctypes.byref(_input(source, step, how)),
                          long=True)[1]

    def add_steps(self, steps: Sequence[Tuple[int, Source]]) -> bytes:
        """Adds steps, which are read in parallel."""
        v = (_Input * len(steps))(*[_input(source, step) for step, source in steps])
        return self._call(self._lib.tfp_add_steps, v, len(steps), None, long=True)[1]

    def add_paths(self, paths: Iterable[Any]) -> bytes:
        """Adds profiles, folders of profiles, or patterns; several profiles are workers."""
        v = _strings([os.fsencode(p) for p in paths])
        return self._call(self._lib.tfp_add_paths, v, len(v), long=True)[1]

    def add_files(self, paths: Iterable[Any]) -> bytes:
        """Adds files of any format as one profile."""
        v = _strings([os.fsencode(p) for p in paths])
        return self._call(self._lib.tfp_add_files, v, len(v), long=True)[1]

    def coverage(self) -> float:
        x = ctypes.c_double()
        self._call(self._lib.tfp_coverage, ctypes.byref(x))
        return x.value

    def steps(self) -> List[int]:
        with self._own():
            if not self._s:
                return []
            n = self._lib.tfp_steps(self._s, None, 0)
            v = (ctypes.c_int64 * n)()
            self._lib.tfp_steps(self._s, v, n)
            return list(v)

    def _names(self, f: Any) -> List[str]:
        names: List[str] = []
        n = ctypes.c_size_t()
        with self._own():
            while self._s:
                p = f(self._s, len(names), ctypes.byref(n))
                if not p:
                    break
                names.append(text(ctypes.string_at(p, n.value)))
        return names

    def devices(self) -> List[str]:
        return self._names(self._lib.tfp_device)

    def workers(self) -> List[str]:
        return self._names(self._lib.tfp_worker)

    # ---- commands ----

    def reset(self) -> None:
        self._call(self._lib.tfp_reset)

    def set(self, name: str, values: Iterable[Union[str, bytes]], lenient: bool = False) -> None:
        v, b = _strings(values), raw(name)
        self._call(self._lib.tfp_set, b, len(b), v, len(v), _LENIENT if lenient else 0)

    def run(self, command: Union[str, bytes], words: Sequence[str] = (), *, result: bool = False,
            banners: bool = False, checkers: Optional[Iterable[str]] = None,
            may: Sequence[int] = (OK,)) -> Answer:
        """Runs a command. words: the command's own options and arguments, as on the command line."""
        printed, message = _Collector(), _Collector()
        names = None if checkers is None else _strings(checkers)
        how = _Run(ctypes.sizeof(_Run), _BANNERS if banners else 0, printed.put, None,
                   message.put if result else _Put(), None, names, len(names or ()), _strings(words), len(words))
        if names is not None and not len(names):
            how.checkers = (_Str * 1)()
        b = raw(command)
        code, notes = self._call(self._lib.tfp_run, b, len(b), ctypes.byref(how), may=may, long=True)
        return Answer(code, printed.bytes(), message.bytes(), notes)

    def diff(self, other: 'Session', words: Sequence[Union[str, bytes]]) -> Answer:
        """Runs diff: self is the left side, other the right side. A gate that fails or is inconclusive raises no error."""
        printed, v = _Collector(), _strings(words)
        how = _Run(ctypes.sizeof(_Run), 0, printed.put)
        code, notes = self._call(self._lib.tfp_diff, other._s, v, len(v), ctypes.byref(how), also=other,
                                 may=lambda: (OK, FAILED) if printed.parts else (OK,), long=True)
        return Answer(code, printed.bytes(), b'', notes)

    def write_profile(self, path: Optional[Union[str, bytes, 'os.PathLike[str]']] = None) -> bytes:
        """Writes a ProfileProto to path, or returns its bytes without a path."""
        got = _Collector()
        b = None if path is None else os.fsencode(path)
        self._call(self._lib.tfp_write_profile, b, len(b or b''), got.put, None,
                   long=True)
        return got.bytes()

    # ---- Arrow ----

    def arrow_stream(self, address: int, *, table: Optional[str] = None, command: Optional[str] = None,
                     words: Sequence[str] = (), run: Optional[str] = None, worker: Optional[str] = None,
                     rows: int = 0, other: Optional['Session'] = None) -> bytes:
        """Fills the ArrowArrayStream at an address; returns the notes. words: options and arguments of the command.
        other: the right side of diff."""
        texts = [None if v is None else raw(v) for v in (table, command, run, worker)]
        what = _Arrow(ctypes.sizeof(_Arrow), *[_Str(b, len(b or b'')) for b in texts],
                      _number('rows', rows, 64), _strings(words), len(words), other and other._s)
        return self._call(self._lib.tfp_arrow_stream, ctypes.byref(what), address, also=other, long=True)[1]
