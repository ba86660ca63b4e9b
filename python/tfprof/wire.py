# SPDX-License-Identifier: Apache-2.0
"""Protobuf messages without the protobuf package: wire format, text format and a table-driven message class. A parsed
message is read-only. Its fields are decoded on access, one level at a time, so no function recurses, whatever the
depth of the message."""
import re
import struct
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple, Type, Union

Bytes = Union[bytes, memoryview]


class Field(NamedTuple):
    """One row of a message's table. kind: int, bool, enum, double, string or message; for a map, the kind of its
    values."""
    name: str
    kind: str
    repeated: bool = False
    message: Any = None          # class of a message; names of an enum
    key: Optional[str] = None    # kind of the keys of a map


def _varint(data: Bytes, at: int) -> Tuple[int, int]:
    if at < len(data) and data[at] < 0x80:
        return data[at], at + 1
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError('a varint is cut off or too long')
        b = data[at]
        at += 1
        value |= (b & 0x7f) << shift
        if b < 0x80:
            return value & (2**64 - 1), at
        shift += 7


def fields(data: memoryview) -> Iterator[Tuple[int, int, Any]]:
    """Yields (number, wire type, value) of each field. Groups are skipped."""
    at = open_groups = 0
    end = len(data)
    while at < end:
        tag, at = _varint(data, at) if data[at] > 0x7f else (data[at], at + 1)
        number, kind = tag >> 3, tag & 7
        value: Any = None
        if kind == 0:
            value, at = _varint(data, at)
        elif kind == 2 or kind == 1 or kind == 5:
            n = 8 if kind == 1 else 4
            if kind == 2:
                n, at = _varint(data, at)
            if n > end - at:
                raise ValueError('a field ends behind its message')
            value, at = data[at:at + n], at + n
        elif kind == 3:
            open_groups += 1
        elif kind == 4 and open_groups:
            open_groups -= 1
            continue
        else:
            raise ValueError('wire type %d' % kind)
        if not open_groups:
            yield number, kind, value
    if open_groups:
        raise ValueError('a group has no end')


def put_varint(out: bytearray, value: int) -> None:
    value &= 2**64 - 1
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)


_DEFAULTS: Dict[str, Any] = {'int': 0, 'enum': 0, 'bool': False, 'double': 0.0, 'string': ''}


def _scalar(kind: str, value: Any) -> Any:
    if kind == 'string':
        return bytes(value).decode('utf-8', 'surrogateescape')
    if kind == 'double':
        return struct.unpack('<d', value)[0]
    if kind == 'bool':
        return bool(value)
    return value - 2**64 if value >= 2**63 else value


_WIRE = {'string': 2, 'message': 2, 'double': 1}


def _packed(kind: str, data: memoryview) -> Iterator[Any]:
    if kind == 'double':
        for i in range(0, len(data) - 7, 8):
            yield _scalar(kind, data[i:i + 8])
        return
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield _scalar(kind, value)


class Repeated(List[Any]):
    """A list field. For a list of messages, add() creates the items."""

    def __init__(self, message: Any = None) -> None:
        super().__init__()
        self._message = message

    def add(self, **values: Any) -> Any:
        item = self._message(**values)
        self.append(item)
        return item


_NOTHING: Dict[str, Any] = {}  # the fields that have not been decoded yet


class Message:
    """A message that is described by the table FIELDS (number -> Field). Fields are attributes."""
    __slots__ = ('_data', '_read_only', '_values')
    FIELDS: Dict[int, Field] = {}
    NAMES: Dict[str, Field] = {}

    def __init_subclass__(cls) -> None:
        cls.NAMES = {f.name: f for f in cls.FIELDS.values()}

    def __init__(self, **values: Any) -> None:
        self._data: Optional[memoryview] = None
        self._read_only = False
        self._values: Dict[str, Any] = {}
        for name, value in values.items():
            setattr(self, name, value)

    @classmethod
    def FromString(cls, data: Bytes) -> Any:
        m = cls._later(memoryview(data))
        m._parsed()
        return m

    @classmethod
    def _later(cls, data: memoryview) -> 'Message':
        m = cls.__new__(cls)
        put = object.__setattr__
        put(m, '_data', data)
        put(m, '_read_only', True)
        put(m, '_values', _NOTHING)
        return m

    def _parsed(self) -> Dict[str, Any]:
        if self._values is _NOTHING:
            values: Dict[str, Any] = {}
            table, take = self.FIELDS, self._take
            for number, kind, value in fields(self._data or memoryview(b'')):
                f = table.get(number)
                if f is None:
                    continue
                if kind == 0 and f.kind == 'int' and not f.repeated:
                    values[f.name] = value if value < 2**63 else value - 2**64
                else:
                    take(values, f, kind, value)
            object.__setattr__(self, '_values', values)
        return self._values

    @staticmethod
    def _take(values: Dict[str, Any], f: Field, kind: int, value: Any) -> None:
        if f.key is not None:
            if kind == 2:
                k, v = _entry(f, value)
                values.setdefault(f.name, {})[k] = v
        elif f.repeated and kind == 2 and f.kind not in ('string', 'message'):
            values.setdefault(f.name, Repeated()).extend(_packed(f.kind, value))
        elif kind == _WIRE.get(f.kind, 0):
            v = f.message._later(value) if f.kind == 'message' else _scalar(f.kind, value)
            if f.repeated:
                values.setdefault(f.name, Repeated(f.message)).append(v)
            else:
                values[f.name] = v

    def __getattr__(self, name: str) -> Any:
        f = type(self).NAMES.get(name)
        if f is None or name.startswith('__'):
            raise AttributeError('%s has no field %s' % (type(self).__name__, name))
        values = self._parsed()
        if name in values:
            return values[name]
        if f.key is not None or f.repeated:
            return values.setdefault(name, {} if f.key is not None else Repeated(f.message))
        return f.message() if f.kind == 'message' else _DEFAULTS[f.kind]

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith('_'):
            object.__setattr__(self, name, value)
            return
        f = type(self).NAMES.get(name)
        if f is None:
            raise AttributeError('%s has no field %s' % (type(self).__name__, name))
        if self._read_only:
            raise AttributeError('a parsed %s is read-only' % type(self).__name__)
        if f.repeated:
            items = Repeated(f.message)
            items.extend(value)
            value = items
        self._values[name] = value

    def __dir__(self) -> List[str]:
        return sorted(set(super().__dir__()) | set(type(self).NAMES))

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]

    def HasField(self, name: str) -> bool:
        return name in self._parsed()

    def SerializeToString(self) -> bytes:
        if self._read_only:
            return bytes(self._data or b'')
        out = bytearray()
        for number, f in sorted(self.FIELDS.items()):
            if f.name in self._values:
                _put_field(out, number, f, self._values[f.name])
        return bytes(out)

    def __str__(self) -> str:
        return to_text(self)

    def __repr__(self) -> str:
        return '<%s%s>' % (type(self).__name__, ' %r' % self.name if 'name' in type(self).NAMES else '')


def _entry(f: Field, data: memoryview) -> Tuple[Any, Any]:
    """Returns the key and the value of a map entry."""
    assert f.key is not None
    key, value = _DEFAULTS[f.key], None
    for number, kind, v in fields(data):
        if number == 1 and kind == _WIRE.get(f.key, 0):
            key = _scalar(f.key, v)
        elif number == 2 and kind == _WIRE.get(f.kind, 0):
            value = f.message._later(v) if f.kind == 'message' else _scalar(f.kind, v)
    if value is None:
        value = f.message._later(memoryview(b'')) if f.kind == 'message' else _DEFAULTS[f.kind]
    return key, value


def _put_value(out: bytearray, number: int, kind: str, value: Any) -> None:
    put_varint(out, number << 3 | _WIRE.get(kind, 0))
    if kind == 'double':
        out += struct.pack('<d', value)
    elif kind in ('string', 'message'):
        data = value.SerializeToString() if kind == 'message' else value
        data = data.encode('utf-8', 'surrogateescape') if isinstance(data, str) else bytes(data)
        put_varint(out, len(data))
        out += data
    else:
        if not -2**63 <= int(value) < 2**63:
            raise ValueError('%d does not fit into 64 bits' % value)
        put_varint(out, int(value))


def _put_field(out: bytearray, number: int, f: Field, value: Any) -> None:
    if f.key is not None:
        for k, v in value.items():
            entry = bytearray()
            _put_value(entry, 1, f.key, k)
            _put_value(entry, 2, f.kind, v)
            put_varint(out, number << 3 | 2)
            put_varint(out, len(entry))
            out += entry
    elif f.repeated:
        for v in value:
            _put_value(out, number, f.kind, v)
    elif f.kind == 'message' or value:
        _put_value(out, number, f.kind, value)


# ---- text ----

_ESCAPES = {9: '\\t', 10: '\\n', 13: '\\r', 34: '\\"', 39: "\\'", 92: '\\\\'}


def _quote(s: str) -> str:
    return '"%s"' % ''.join(_ESCAPES.get(ord(c)) or ('\\%03o' % ord(c) if ord(c) < 32 or ord(c) == 127
                                                     else c) for c in s)


def _show(f: Field, kind: str, value: Any) -> str:
    if kind == 'string':
        return _quote(value)
    if kind == 'bool':
        return 'true' if value else 'false'
    if kind == 'enum' and f.message:
        return str(f.message.get(value, value))
    return str(value)


def _items(m: Message) -> Iterator[Tuple[Field, str, Any]]:
    """Yields (field, 'value' or 'entry', value) for all fields that are set, in the order of field numbers."""
    values = m._parsed()
    for _, f in sorted(m.FIELDS.items()):
        value: Any = values.get(f.name)
        if f.key is not None:
            for k in sorted(value or {}):
                yield f, 'entry', (k, value[k])
        elif f.repeated:
            for v in value or []:
                yield f, 'value', v
        elif value is not None and (f.kind == 'message' or value):
            yield f, 'value', value


def _entry_items(f: Field, key: Any, value: Any) -> Iterator[Tuple[Field, str, Any]]:
    if key:
        yield Field('key', f.key or ''), 'value', key
    if f.kind == 'message' or value:
        yield Field('value', f.kind, message=f.message), 'value', value


def to_text(m: Message) -> str:
    """Returns the message in protobuf's text format."""
    lines: List[str] = []
    stack = [_items(m)]
    while stack:
        indent = '  ' * (len(stack) - 1)
        for f, what, value in stack[-1]:
            if what == 'entry' or f.kind == 'message':
                lines.append('%s%s {\n' % (indent, f.name))
                stack.append(_entry_items(f, *value) if what == 'entry' else _items(value))
                break
            lines.append('%s%s: %s\n' % (indent, f.name, _show(f, f.kind, value)))
        else:
            stack.pop()
            if stack:
                lines.append('  ' * (len(stack) - 1) + '}\n')
    return ''.join(lines)


# ---- from text ----

_TOKEN = re.compile(rb'''(?:\s+|\#[^\n]*)*(?:("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|([-+.\w]+)|([][{}<>:;,/])|\Z)''')
_ESCAPED = re.compile(rb'\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|(.))', re.S)
_LETTERS = {b'n': b'\n', b't': b'\t', b'r': b'\r', b'a': b'\a', b'b': b'\b', b'f': b'\f', b'v': b'\v'}


class _Tokens:
    """The tokens of a text: strings with their quotes, words and signs, then b'' at the end."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self.now = b''
        self.next()

    def next(self) -> bytes:
        """Returns the current token and advances to the next one."""
        before, m = self.now, _TOKEN.match(self._data, self._at)
        if not m:
            raise ValueError('line %d of the text has an unexpected character' % self.line())
        self.now, self._at = m.group(m.lastindex) if m.lastindex else b'', m.end()
        return before

    def line(self) -> int:
        return self._data.count(b'\n', 0, self._at) + 1

    def fail(self) -> ValueError:
        return ValueError('line %d of the text: unexpected %r' % (self.line(), self.now.decode('utf-8', 'replace')))


def _unescape(m: Any) -> bytes:
    if m.group(1):
        return bytes([int(m.group(1), 8) & 255])
    letter: bytes = m.group(3)
    return bytes([int(m.group(2), 16)]) if m.group(2) else _LETTERS.get(letter, letter)


def _text_value(t: _Tokens, f: Optional[Field]) -> Any:
    """Returns the next value of a field that is not a message. f is None for an unknown field."""
    if t.now[:1] in (b'"', b"'"):
        parts = []
        while t.now[:1] in (b'"', b"'"):
            parts.append(_ESCAPED.sub(_unescape, t.next()[1:-1]))
        return b''.join(parts).decode('utf-8', 'surrogateescape')
    if not re.match(rb'[-+.\w]', t.now):
        raise t.fail()
    word = t.next().decode('ascii', 'replace')
    if f is None or f.kind == 'string':
        return word
    if f.kind == 'bool':
        return word in ('true', 'True', 't', '1')
    try:
        return float(word) if f.kind == 'double' else int(word, 0) if not re.match('0[0-7]', word) else int(word, 8)
    except ValueError:
        if f.kind == 'enum' and word in (f.message or {}).values():
            return next(k for k, v in f.message.items() if v == word)
        raise ValueError('line %d of the text: %r is not a number' % (t.line(), word)) from None


def _entry_class(f: Field) -> Any:
    return type('Entry', (Message,), {'FIELDS': {1: Field('key', f.key or ''), 2: Field('value', f.kind, False, f.message)}})


class _Open:
    """A message whose text has not ended yet. message is None for an unknown field."""

    def __init__(self, message: Any, parent: Any = None, field: Optional[Field] = None) -> None:
        self.message, self.parent, self.field = message, parent, field
        self.items: Optional[Field] = None  # inside a list [a, b]
        self.in_list = False

    def close(self) -> None:
        f, parent = self.field, self.parent
        if self.message is None or f is None or parent is None:
            return
        if f.key is not None:
            getattr(parent, f.name)[self.message.key] = self.message.value
        elif f.repeated:
            getattr(parent, f.name).append(self.message)
        else:
            setattr(parent, f.name, self.message)


def _open_child(top: _Open, f: Optional[Field]) -> _Open:
    if f is None or (f.kind != 'message' and f.key is None):
        return _Open(None)
    return _Open(_entry_class(f)() if f.key is not None else f.message(), top.message, f)


def _field_of(t: _Tokens, top: _Open) -> Optional[Field]:
    """Returns the field with the next name, or None if it is unknown, such as an extension in brackets."""
    if t.now == b'[':
        while t.now not in (b']', b''):
            t.next()
        t.next()
        return None
    if not re.match(rb'\w', t.now):
        raise t.fail()
    name = t.next().decode('ascii', 'replace')
    return type(top.message).NAMES.get(name) if top.message is not None else None


def from_text(cls: Any, data: bytes) -> Any:
    """Parses a message from protobuf's text format. Fields that are not in its table are left out."""
    t, root = _Tokens(data), cls()
    stack = [_Open(root)]
    while t.now or len(stack) > 1:
        top = stack[-1]
        if t.now in (b',', b';'):
            t.next()
            continue
        if top.in_list and t.now == b']':
            top.in_list = False
            t.next()
            continue
        if t.now in (b'}', b'>') and len(stack) > 1 and not top.in_list:
            t.next()
            stack.pop().close()
            continue
        f = top.items if top.in_list else _field_of(t, top)
        if not top.in_list and t.now == b':':
            t.next()
        if not top.in_list and t.now == b'[':
            top.items, top.in_list = f, True
            t.next()
        elif t.now in (b'{', b'<'):
            t.next()
            stack.append(_open_child(top, f))
        elif not t.now:
            raise ValueError('the text ends within a message')
        else:
            value = _text_value(t, f if f is not None and f.kind != 'message' else None)
            if f is None or top.message is None or f.kind == 'message':
                continue
            if f.repeated:
                getattr(top.message, f.name).append(value)
            else:
                setattr(top.message, f.name, value)
    return root


MessageType = Type[Message]
