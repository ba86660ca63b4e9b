# SPDX-License-Identifier: Apache-2.0
"""The functions of TensorFlow's native profiler module, under their names: serialized messages in,
serialized results out, text on sys.stdout. Unlike there, bad input raises an exception. Also ProfileContext,
tfprof_logger and write_op_log, which work without a session of TensorFlow."""
import sys
from typing import IO, Any, Optional, Union

from . import _native, errors, tfprof_logger
from .tfprof_logger import write_op_log
from .messages import (AdviceProto, AdvisorOptionsProto, GraphNodeProto, MultiGraphNodeProto, OpLog,
                       OpLogProto, OptionsProto)

__all__ = ['AddStep', 'DeleteProfiler', 'NewProfiler', 'PrintModelAnalysis', 'Profile',
           'ProfilerFromFile', 'SerializeToString', 'WriteProfile', 'AdviceProto',
           'AdvisorOptionsProto', 'GraphNodeProto', 'MultiGraphNodeProto', 'OpLog', 'OpLogProto',
           'OptionsProto', 'ProfileContext', 'tfprof_logger', 'write_op_log']

Text = Union[str, bytes]
_VIEWS = ('scope', 'graph', 'op', 'code')
_current: Optional[_native.Session] = None


def __getattr__(name: str) -> Any:
    if name == 'ProfileContext':  # its module uses this one
        from .profile_context import ProfileContext
        return ProfileContext
    raise AttributeError('module %r has no attribute %r' % (__name__, name))


def _say(to: IO[Any], b: bytes) -> None:
    """Bytes as they are where the stream can take them."""
    if not b:
        return
    inner = getattr(to, 'buffer', None)
    if inner is None:
        to.write(b.decode('utf-8', 'replace'))
    else:
        to.flush()
        inner.write(b)
    to.flush()


def new_session(graph: Any = b'', op_log: Any = b'') -> _native.Session:
    s = _native.Session()
    for kind, source in ((_native.GRAPH, graph), (_native.OP_LOG, op_log)):
        add(s, kind, source)
    return s


def add(s: _native.Session, kind: int, source: Any, step: int = 0) -> None:
    """Adds an input unless it is missing or empty."""
    if source is not None and not (isinstance(source, (bytes, str)) and not source):
        _say(sys.stderr, s.add(kind, source, step))


def _set_options(s: _native.Session, serialized: bytes) -> None:
    """The options of a message; what is not in it is 0, false or empty."""
    try:
        options = OptionsProto.FromString(serialized)
    except ValueError as e:
        raise errors.InvalidArgumentError('the options are no OptionsProto: %s' % e,
                                          'INVALID_ARGUMENT') from None
    s.reset()
    for f in OptionsProto.NAMES.values():
        value = getattr(options, f.name)
        if f.repeated:
            s.set(f.name, value, lenient=True)
        elif f.name not in ('output', 'dump_to_file') or value:
            s.set(f.name, [('true' if value else 'false') if f.kind == 'bool' else str(value)],
                  lenient=True)


def run(s: _native.Session, command: Text, options: bytes) -> bytes:
    """Runs a command, its text on stdout and its remarks on stderr; the serialized result."""
    name = _native.text(_native.raw(command))
    if name == 'advise':
        asked = AdvisorOptionsProto.FromString(options).checkers
        answer = s.run(name, result=True, checkers=list(asked))
    elif name in _VIEWS:
        _set_options(s, options)
        answer = s.run(name, result=True, banners=True, may=(_native.OK, _native.NO_STEP))
    else:
        raise errors.InvalidArgumentError('unknown command: %s' % name, 'INVALID_ARGUMENT')
    _say(sys.stdout, answer.text)
    _say(sys.stderr, answer.notes)
    return answer.result


def _the_one() -> _native.Session:
    if _current is None:
        raise errors.Error('there is no profiler: NewProfiler or ProfilerFromFile makes one')
    return _current


def _replace(s: Optional[_native.Session]) -> None:
    global _current
    old, _current = _current, s
    if old is not None:
        old.close()


def NewProfiler(graph: bytes = b'', op_log: bytes = b'') -> bool:
    """Makes the profiler of this process, instead of an earlier one."""
    _replace(new_session(graph, op_log))
    return True


def ProfilerFromFile(filename: Text) -> None:
    """Makes the profiler of this process from a ProfileProto, instead of an earlier one."""
    s = _native.Session()
    _say(sys.stderr, s.add(_native.PROFILE, _native.text(_native.raw(filename))))
    _replace(s)


def DeleteProfiler() -> None:
    """Drops the profiler of this process, if there is one."""
    _replace(None)


def add_step(s: _native.Session, step: int, graph: Any, run_meta: Any, op_log: Any) -> float:
    add(s, _native.GRAPH, graph)
    add(s, _native.STEP, run_meta, step)
    add(s, _native.OP_LOG, op_log)
    return s.coverage()


def AddStep(step: int, graph: bytes = b'', run_meta: bytes = b'', op_log: bytes = b'') -> float:
    """Adds a step; the share of the graph's nodes that ran."""
    return add_step(_the_one(), step, graph, run_meta, op_log)


def Profile(command: Text, options: bytes) -> bytes:
    """Runs scope, graph, op, code (options: OptionsProto) or advise (AdvisorOptionsProto). The result
    is a GraphNodeProto, a MultiGraphNodeProto or an AdviceProto."""
    return run(_the_one(), command, options)


def PrintModelAnalysis(graph: bytes, run_meta: bytes, op_log: bytes, command: Text,
                       options: bytes) -> bytes:
    """The same on a profiler of its own, whose only step is 0."""
    s = new_session(graph, op_log)
    try:
        add(s, _native.STEP, run_meta)
        return run(s, command, options)
    finally:
        s.close()


def SerializeToString() -> bytes:
    """The profiler as a ProfileProto."""
    return _the_one().write_profile()


def WriteProfile(filename: Text) -> None:
    """Writes the profiler as a ProfileProto."""
    _the_one().write_profile(_native.text(_native.raw(filename)))
