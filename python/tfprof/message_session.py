# SPDX-License-Identifier: Apache-2.0
"""Sessions whose inputs, options and results are serialized messages, as in TensorFlow's modules. compat and
model_analyzer use these functions."""
import sys
from typing import IO, Any, Union

from . import _native, errors
from .messages import AdvisorOptionsProto, OptionsProto

Text = Union[str, bytes]
_VIEWS = ('scope', 'graph', 'op', 'code')


def say(to: IO[Any], b: bytes) -> None:
    """Writes bytes to a stream: unchanged if the stream accepts bytes, otherwise as text."""
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
        say(sys.stderr, s.add(kind, source, step))


def _set_options(s: _native.Session, serialized: bytes) -> None:
    """Sets the options from a message. Options that the message lacks become 0, false or empty."""
    try:
        options = OptionsProto.FromString(serialized)
    except ValueError as e:
        raise errors.InvalidArgumentError('the options are not an OptionsProto message: %s' % e,
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
    """Runs a command, writes its text to stdout and its notes to stderr, and returns the serialized result."""
    name = _native.text(_native.raw(command))
    if name == 'advise':
        asked = AdvisorOptionsProto.FromString(options).checkers
        answer = s.run(name, result=True, checkers=list(asked))
    elif name in _VIEWS:
        _set_options(s, options)
        answer = s.run(name, result=True, banners=True, may=(_native.OK, _native.NO_STEP))
    else:
        raise errors.InvalidArgumentError('unknown command: %s' % name, 'INVALID_ARGUMENT')
    say(sys.stdout, answer.text)
    say(sys.stderr, answer.notes)
    return answer.result


def add_step(s: _native.Session, step: int, graph: Any, run_meta: Any, op_log: Any) -> float:
    add(s, _native.GRAPH, graph)
    add(s, _native.STEP, run_meta, step)
    add(s, _native.OP_LOG, op_log)
    return s.coverage()
