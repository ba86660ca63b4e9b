# SPDX-License-Identifier: Apache-2.0
"""Tables with bars for notebooks. Every text is escaped."""
from html import escape
from typing import Any, Iterable, List, Optional, Sequence, Tuple

ROWS = 20  # rows of a table that a notebook shows
_NAME = 96  # characters of a name
_CELL = 'style="text-align:%s;white-space:nowrap;%s"'
_BAR = 'background:linear-gradient(90deg,rgba(66,133,244,.3) %.1f%%,transparent 0)'
_TIMES = (('s', 1e9), ('ms', 1e6), ('us', 1e3), ('ns', 1))
_SIZES = (('GB', 1e9), ('MB', 1e6), ('KB', 1e3), ('B', 1))


def _scaled(value: float, scale: Sequence[Tuple[str, float]]) -> str:
    """Returns a number in the largest unit in which it is at least 1."""
    name, per = next(((n, p) for n, p in scale if abs(value) >= p), scale[-1])
    return '%.*f %s' % (0 if per == 1 else 2, value / per, name)


def number(value: float, unit: Optional[str]) -> str:
    """Returns a number as text, with its unit."""
    if unit in ('ns', 'us'):
        return _scaled(value * (1000 if unit == 'us' else 1), _TIMES)
    if unit == 'bytes':
        return _scaled(value, _SIZES)
    if unit == 'percent':
        return '%.1f %%' % value
    if unit == 'permille':
        return '%.1f %%' % (value / 10)
    return '{:,}'.format(value) if isinstance(value, int) else '{:,.6g}'.format(value)


def cell(value: Any, unit: Optional[str] = None, bar: float = 0, indent: int = 0) -> str:
    """Returns a cell of a table. bar: its length, from 0 to 1."""
    style = _BAR % (100 * min(max(bar, 0), 1)) if bar > 0 else ''
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return '<td %s>%s</td>' % (_CELL % ('right', style), escape(number(value, unit)))
    text = '' if value is None else ', '.join(map(str, value)) if isinstance(value, list) else str(value)
    short = text if len(text) <= _NAME else text[:_NAME // 3] + '...' + text[-(2 * _NAME // 3):]
    if indent:
        style += ';padding-left:%dem' % (indent + 1)
    return '<td %s title="%s">%s</td>' % (_CELL % ('left', style), escape(text, True), escape(short))


def table(heads: Iterable[str], rows: Iterable[Sequence[str]], below: str) -> str:
    """Returns a table of finished cells, with a line below it."""
    lines: List[str] = ['<table class="tfprof"><thead><tr>']
    lines += ['<th style="text-align:left">%s</th>' % escape(h) for h in heads]
    lines.append('</tr></thead><tbody>')
    lines += ['<tr>%s</tr>' % ''.join(r) for r in rows]
    lines.append('</tbody></table>')
    return '%s<p>%s</p>' % (''.join(lines), escape(below))


def frame(page: str) -> str:
    """Returns a page as a frame of a notebook, which cannot reach the notebook around it."""
    return ('<iframe sandbox="allow-scripts allow-popups" style="width:100%%;height:720px;border:1px solid #8884" '
            'srcdoc="%s"></iframe>' % escape(page, True))
