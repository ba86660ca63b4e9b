# SPDX-License-Identifier: Apache-2.0
"""The functions of TensorFlow's native profiler module, under the same names. They take and return serialized
messages, and print text on sys.stdout. Unlike in TensorFlow, bad input raises an exception. ProfileContext,
tfprof_logger and write_op_log are here too; they work without a TensorFlow session."""
import sys
from typing import Optional

from . import _native, errors, tfprof_logger
from .message_session import Text, add, add_step, new_session, run, say
from .messages import (AdviceProto, AdvisorOptionsProto, GraphNodeProto, MultiGraphNodeProto, OpLog,
                       OpLogProto, OptionsProto)
from .profile_context import ProfileContext
from .tfprof_logger import write_op_log

__all__ = ['AddStep', 'DeleteProfiler', 'NewProfiler', 'PrintModelAnalysis', 'Profile',
           'ProfilerFromFile', 'SerializeToString', 'WriteProfile', 'AdviceProto',
           'AdvisorOptionsProto', 'GraphNodeProto', 'MultiGraphNodeProto', 'OpLog', 'OpLogProto',
           'OptionsProto', 'ProfileContext', 'tfprof_logger', 'write_op_log']

_current: Optional[_native.Session] = None


def _the_one() -> _native.Session:
    if _current is None:
        raise errors.Error('no profiler yet: call NewProfiler or ProfilerFromFile first')
    return _current


def _replace(s: Optional[_native.Session]) -> None:
    global _current
    old, _current = _current, s
    if old is not None:
        old.close()


def NewProfiler(graph: bytes = b'', op_log: bytes = b'') -> bool:
    """Creates the profiler of this process, and closes the previous one."""
    _replace(new_session(graph, op_log))
    return True


def ProfilerFromFile(filename: Text) -> None:
    """Creates the profiler of this process from a ProfileProto, and closes the previous one."""
    s = _native.Session()
    say(sys.stderr, s.add(_native.PROFILE, _native.text(_native.raw(filename))))
    _replace(s)


def DeleteProfiler() -> None:
    """Closes the profiler of this process, if there is one."""
    _replace(None)


def AddStep(step: int, graph: bytes = b'', run_meta: bytes = b'', op_log: bytes = b'') -> float:
    """Adds a step. Returns the share of the graph's nodes that ran."""
    return add_step(_the_one(), step, graph, run_meta, op_log)


def Profile(command: Text, options: bytes) -> bytes:
    """Runs scope, graph, op, code (options: OptionsProto) or advise (AdvisorOptionsProto). The result
    is a GraphNodeProto, a MultiGraphNodeProto or an AdviceProto."""
    return run(_the_one(), command, options)


def PrintModelAnalysis(graph: bytes, run_meta: bytes, op_log: bytes, command: Text,
                       options: bytes) -> bytes:
    """Like Profile, but on a new profiler whose only step is step 0."""
    s = new_session(graph, op_log)
    try:
        add(s, _native.STEP, run_meta)
        return run(s, command, options)
    finally:
        s.close()


def SerializeToString() -> bytes:
    """Returns the profile as a serialized ProfileProto."""
    return _the_one().write_profile()


def WriteProfile(filename: Text) -> None:
    """Writes the profile as a ProfileProto."""
    _the_one().write_profile(_native.text(_native.raw(filename)))
