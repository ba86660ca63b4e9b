# SPDX-License-Identifier: Apache-2.0
"""The page of a fleet: one HTML file with the trends of its runs, the answers of the recipes, and links to the reports of single
workers. It has the style of the reports of tfprof, and no scripts."""
import base64
import hashlib
import os
import re
import tempfile
from html import escape
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple
from urllib.parse import quote

from .. import errors
from ..html import number
from ..profile import Profile
from ..sources import is_url
from .inputs import Copies
from .recipes import Answer, run_recipes
from .rows import CAUSES
from .store import Store
from .update import CAPTURE, Say, manifest

ROWS = 12  # maximum rows of each table
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 1240, 200, 84, 24, 12
# A partition of the time of devices: label, class, columns of the recipe time_by_day.
PARTS = (('Compute', 'compute', ('compute',)), ('Exposed communication', 'communication', ('exposed_communication',)),
         ('Exposed copies', 'copy', ('exposed_copy',)),
         ('Idle: host late', 'host', ('host_late', 'launch_latency')), ('Idle: other', 'idle', ('kernel_gap', 'wait', 'start_and_end')))
STYLE = '''
.trend { padding: 18px 20px 32px; } .trend .card { margin-bottom: 16px; } .legend .dot { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 6px; }
.trend figure { margin: 0; overflow-x: auto; } .trend .chart { min-width: 1000px; }
.chart a text { fill: var(--accent); } .chart .bad { fill: var(--up); } .chart .dot { fill: var(--compute); }
'''
# Cards with a table: recipe, title, values, the columns that are shown.
TABLES: Sequence[Tuple[str, str, Dict[str, str], Tuple[str, ...]]] = (
    ('regressed_runs', 'Runs compared with the run before', {}, ('run', 'before', 'steps', 'median_ns', 'before_median_ns', 'ratio', 'verdict')),
    ('causes_by_day', 'Causes of long steps', {}, ('day_since_1970', 'cause', 'workers', 'first', 'saved_share')),
    ('slowest_ranks', 'Slowest ranks', {}, ('run', 'rank', 'worker', 'steps', 'mean_ns', 'median_ns', 'more_ns')),
    ('slowest_workers', 'Slowest worker of each step', {}, ('run', 'step', 'worker', 'duration_ns', 'late_ns', 'why')),
    ('stragglers', 'Stragglers in communication', {}, ('run', 'worker', 'steps_as_last', 'waited_ns')),
    ('kernels_by_share', 'Kernels by their share of the device time', {}, ('name', 'count', 'total_ns', 'share', 'workers')),
    ('mfu_by_job', 'Share of the peak (MFU)', {}, ('run', 'workers', 'model', 'tflops_per_second', 'peak_tflops', 'mfu', 'uncounted_calls')),
    ('memory_headroom', 'Memory near the limit', {'used': '0.9'}, ('run', 'worker', 'device', 'peak_bytes', 'capacity_bytes', 'used')),
    ('failed_files', 'Refused files', {}, ('run', 'path', 'code', 'message')))
HEADINGS = {'more_ns': 'above the median', 'late_ns': 'above the median', 'waited_ns': 'others waited', 'first': 'as first cause',
            'used': 'share of the capacity', 'saved_share': 'step time saved without it', 'before': 'run before', 'before_median_ns': 'median before'}
SHARES = ('share', 'mfu', 'used', 'saved_share')


class Written(NamedTuple):
    """The page, and the reports beside it."""
    path: str
    reports: List[str]


# ---- the style ----------------------------------------------------------------------------------
def _style() -> str:
    """Returns the style of reports. Without scripts, the system chooses between light and dark."""
    here = os.path.dirname(os.path.abspath(__file__))
    installed = os.path.join(here, 'style.css')
    path = installed if os.path.exists(installed) else os.path.join(here, '..', '..', '..', 'web', 'style.css')
    with open(path, encoding='utf-8') as f:
        text = f.read()
    dark = re.search(r':root\[data-dark="true"\] \{(.*?)\n\}', text, re.S)
    if dark is None:
        raise ValueError('%s: no colours for dark pages' % path)
    fills = ''.join('.fill-%s { fill: var(--%s); background: var(--%s); }\n' % (c, c, c) for _, c, _ in PARTS)
    return '%s\n@media (prefers-color-scheme: dark) { :root {%s\n} }\n%s%s' % (text, dark.group(1), STYLE, fills)


# ---- cells --------------------------------------------------------------------------------------
def day(number_of_day: int) -> str:
    """Returns a day as text. Days before 1970 and after 9999 are numbers."""
    import datetime
    try:
        return (datetime.date(1970, 1, 1) + datetime.timedelta(days=number_of_day)).isoformat()
    except OverflowError:
        return str(number_of_day)


def _text(column: str, value: Any) -> str:
    if value is None:
        return ''
    if column == 'day_since_1970':
        return day(value)
    if column in SHARES:
        return '%.1f %%' % (100 * value)
    if isinstance(value, (int, float)):
        unit = 'ns' if column.endswith('_ns') else 'bytes' if column.endswith('_bytes') else None
        return number(value, unit) if unit or isinstance(value, int) else '%.4g' % value
    return str(value)


def _heading(column: str) -> str:
    return HEADINGS.get(column) or re.sub('_(ns|bytes|since_1970)$', '', column).replace('_', ' ')


def _cell(column: str, value: Any, link: Optional[str]) -> str:
    text = escape(_text(column, value))
    if isinstance(value, (int, float)) and column != 'day_since_1970':
        return '<td class="num">%s</td>' % text
    inner = '<a href="%s">%s</a>' % (escape(link, True), text) if link else text
    name = 'clip bad' if value == 'regressed' else 'clip'
    return '<td class="text"><span class="%s" title="%s">%s</span></td>' % (name, text, inner)


def _table(found: Answer, columns: Sequence[str], links: Dict[Tuple[str, str], str]) -> str:
    at = {c: i for i, c in enumerate(found.columns)}
    kinds = [any(isinstance(r[at[c]], (int, float)) for r in found.rows) and c != 'day_since_1970' for c in columns]
    lines = ['<div class="scroll"><table class="rows"><thead><tr>']
    lines += ['<th%s>%s</th>' % (' class="num"' if k else '', escape(_heading(c))) for c, k in zip(columns, kinds)]
    lines.append('</tr></thead><tbody>')
    for row in found.rows[:ROWS]:
        link = links.get((row[at['run']], row[at['worker']])) if 'worker' in at and 'run' in at else None
        cells = [_cell(c, row[at[c]], link if c == 'worker' else None) for c in columns]
        lines.append('<tr>%s</tr>' % ''.join(cells))
    lines.append('</tbody></table></div>')
    return ''.join(lines)


# ---- charts -------------------------------------------------------------------------------------
def _frame(name: str, most: float, unit: Callable[[float], str], inside: List[str]) -> str:
    """Returns a chart with lines at quarters of its largest value."""
    lines = []
    for i in range(5):
        y = _y(most * i / 4, most)
        lines.append('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" class="grid"/><text x="%d" y="%.1f" text-anchor="end">%s</text>'
                     % (LEFT, WIDTH - 12, y, y, LEFT - 8, y + 4, escape(unit(most * i / 4))))
    return ('<figure><svg class="chart" viewBox="0 0 %d %d" width="100%%" role="img" aria-label="%s">%s%s</svg></figure>'
            % (WIDTH, HEIGHT, escape(name, True), ''.join(lines), ''.join(inside)))


def _y(value: float, most: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / most


def _below(x: float, text: str) -> str:
    short = text if len(text) <= 24 else text[:8] + '...' + text[-13:]
    return '<text x="%.1f" y="%d" text-anchor="middle">%s</text>' % (x, HEIGHT - 6, escape(short))


def _places(count: int, most: float = WIDTH) -> List[float]:
    """Returns the x coordinates of a number of marks, from the left. most: maximum distance of two marks."""
    wide = min(most, (WIDTH - 12 - LEFT) / max(count, 1))
    return [LEFT + wide * (i + 0.5) for i in range(count)]


def _labelled(count: int) -> Set[int]:
    """Returns the marks that have a label: at most 8."""
    every = -(-count // 8)
    return set(range(0, count, max(every, 1)))


def trend(runs: Sequence[Tuple[str, int, str]]) -> str:
    """Returns the chart of the median step of each run. runs: (name, median in ns, verdict), by time."""
    most = max([m for _, m, _ in runs] + [1]) * 1.05
    xs, labels = _places(len(runs)), _labelled(len(runs))
    points = ' '.join('%.1f,%.1f' % (x, _y(m, most)) for x, (_, m, _) in zip(xs, runs))
    inside = ['<polyline class="line" points="%s"/>' % points]
    radius = min(4, max(1.5, (WIDTH - LEFT) / 3 / max(len(runs), 1)))  # dots of many runs do not cover each other
    for i, (x, (run, median, verdict)) in enumerate(zip(xs, runs)):
        title = '%s: %s%s' % (run, number(median, 'ns'), ', ' + verdict if verdict and verdict != 'no' else '')
        inside.append('<circle cx="%.1f" cy="%.1f" r="%g" class="%s"><title>%s</title></circle>'
                      % (x, _y(median, most), radius, 'bad' if verdict == 'regressed' else 'dot', escape(title)))
        if i in labels:
            inside.append(_below(x, run))
    return _frame('Median step of each run', most, lambda v: number(v, 'ns'), inside)


def days(found: Answer) -> str:
    """Returns the chart of the parts of an average step on each day, from the recipe time_by_day."""
    at = {c: i for i, c in enumerate(found.columns)}
    xs, labels = _places(len(found.rows), 120), _labelled(len(found.rows))
    wide = min(64.0, 0.8 * (WIDTH - 12 - LEFT) / max(len(found.rows), 1))
    inside = []
    for i, (x, row) in enumerate(zip(xs, found.rows)):
        low = 0.0
        for label, name, columns in PARTS:
            share = sum(row[at[c]] or 0 for c in columns)
            top = _y(low + share, 1)
            inside.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="fill-%s"><title>%s: %s, %.1f %%</title></rect>'
                          % (x - wide / 2, top, wide, max(_y(low, 1) - top, 0), name, day(row[at['day_since_1970']]), escape(label), 100 * share))
            low += share
        if i in labels:
            inside.append(_below(x, day(row[at['day_since_1970']])))
    legend = ''.join('<li><span class="dot fill-%s"></span>%s</li>' % (name, escape(label)) for label, name, _ in PARTS)
    return _frame('Parts of the time of devices, by day', 1, lambda v: '%.0f %%' % (100 * v), inside) + '<ul class="legend">%s</ul>' % legend


# ---- reports ------------------------------------------------------------------------------------
def _slug(run: str, worker: str) -> str:
    """Returns a file name that is unique for each worker."""
    plain = re.sub('[^A-Za-z0-9._-]+', '-', '%s-%s' % (run, worker))[:80].strip('.-')
    return '%s-%s.html' % (plain, hashlib.sha256(('%s\0%s' % (run, worker)).encode('utf-8', 'replace')).hexdigest()[:8])


def _wanted(answers: Dict[str, Answer], most: int) -> List[Tuple[str, str]]:
    """Returns the workers that the tables name, at most `most` of them, the first rows of each table first."""
    found: Dict[Tuple[str, str], None] = {}
    for i in range(ROWS):
        for name, _, _, columns in TABLES:
            rows = answers[name].rows if 'worker' in columns and name in answers else []
            if i < len(rows):
                at = answers[name].columns
                found[rows[i][at.index('run')], rows[i][at.index('worker')]] = None
    return list(found)[:most]


def _write_reports(files: Dict[Tuple[str, str], List[str]], wanted: List[Tuple[str, str]], folder: str, say: Say) -> Dict[Tuple[str, str], str]:
    """Writes the reports of workers. Returns {(run, worker): path}; a worker whose files cannot be read has none."""
    made = {}
    with tempfile.TemporaryDirectory(prefix='tfprof-fleet-') as work:
        copies = Copies(work)
        for place in wanted:
            path = os.path.join(folder, _slug(*place))
            try:
                local, _ = copies.of(files.get(place, []), {})
                if not local:
                    continue
                os.makedirs(folder, exist_ok=True)
                with Profile(local[0] if len(local) == 1 else local) as profile:
                    profile.report(path)
                made[place] = path
            except (errors.Error, OSError) as e:
                say('%s %s: no report: %s' % (*place, e))
            copies.clear()
    return made


# ---- the page -----------------------------------------------------------------------------------
def _tile(label: str, value: str, note: str = '') -> str:
    return ('<div class="tile"><span class="muted">%s</span><strong>%s</strong><small class="muted">%s</small></div>'
            % (escape(label), escape(value), escape(note)))


def _card(title: str, inside: str, note: str = '') -> str:
    hint = '<p class="hint">%s</p>' % escape(note) if note else ''
    return '<section class="card"><h2>%s</h2>%s%s</section>' % (escape(title), hint, inside)


_TIMES = '''SELECT s.run, s.median_ns FROM (SELECT run, CAST(percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ns) AS BIGINT) AS median_ns
FROM steps WHERE duration_ns IS NOT NULL GROUP BY run) s
JOIN (SELECT run, max(modified_ns) AS modified_ns FROM files GROUP BY run) t ON s.run = t.run ORDER BY t.modified_ns, s.run'''


def _tiles(rows: Sequence[Any], runs: Sequence[Tuple[str, int, str]]) -> str:
    count: Dict[str, int] = {}
    for r in rows:
        count[r.status] = count.get(r.status, 0) + 1
    lossy = count.get('partial', 0) + count.get('truncated', 0)
    regressed = sum(v == 'regressed' for _, _, v in runs)
    tiles = [_tile('Runs', '{:,}'.format(len({r.run for r in rows}))), _tile('Workers', '{:,}'.format(len({(r.run, r.worker) for r in rows if r.part}))),
             _tile('Files', '{:,}'.format(len(rows)), '%d refused, %d with losses' % (count.get('refused', 0), lossy))]
    if runs:
        tiles.append(_tile('Median step', number(runs[-1][1], 'ns'), 'of the newest run, ' + runs[-1][0]))
        tiles.append(_tile('Regressed runs', str(regressed), 'compared with the run before'))
    return '<div class="tiles">%s</div>' % ''.join(tiles)


def write(out: str, path: str, reports: int = 10, say: Say = lambda line: None) -> Written:
    """Writes the page of an output to an HTML file, and the reports of the most conspicuous workers into a folder beside it.
    reports: the maximum number of reports."""
    store = Store(out)
    state = store.state()
    rows = list(manifest(store, state).values())
    if not rows:
        raise ValueError('%s: no build: the table files is empty' % out)
    names = [(n, v) for n, _, v, _ in TABLES if n != 'causes_by_day' or state.of(CAUSES)]
    answers, (times,) = run_recipes(out, [*names, ('time_by_day', {})], [_TIMES])
    compared = answers['regressed_runs']
    verdicts = {r[0]: r[compared.columns.index('verdict')] for r in compared.rows}
    runs = [(run, median, verdicts.get(run, '')) for run, median in times.rows]
    files: Dict[Tuple[str, str], List[str]] = {}
    for r in sorted(rows, key=lambda r: (r.steps is None, r.path)):  # the main file of a worker first
        if r.format != CAPTURE:  # the trace finds its captures itself
            files.setdefault((r.run, r.worker), []).append(r.path)
    base = re.sub(r'\.html?$', '', path) + '_reports'
    made = _write_reports(files, _wanted(answers, reports), base, say)
    links = {place: quote('%s/%s' % (os.path.basename(base), os.path.basename(p))) for place, p in made.items()}
    body = [_tiles(rows, runs)]
    if runs:
        body.append(_card('Median step of each run', trend(runs), 'Runs by the time of their files. Regressed runs are red.'))
    if answers['time_by_day'].rows:
        body.append(_card('What steps consisted of', days(answers['time_by_day'])))
    for name, title, _, columns in TABLES:
        if name in answers and answers[name].rows:
            left = len(answers[name].rows) - ROWS
            note = '%s: the first %d of %d rows' % (name, ROWS, len(answers[name].rows)) if left > 0 else name
            body.append(_card(title, _table(answers[name], columns, links), note))
    _save(path, out, ''.join(body))
    return Written(path, sorted(made.values()))


def _save(path: str, out: str, body: str) -> None:
    style = _style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    title = escape(out if is_url(out) else os.path.basename(os.path.abspath(out)))
    page = ('<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'sha256-%s\'; base-uri \'none\'; form-action \'none\'">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">\n'
            '<meta name="generator" content="tfprof">\n<title>tfprof: fleet %s</title>\n<style>%s</style>\n</head>\n<body>\n'
            '<header><span class="brand">tfprof</span><span class="input clip">fleet %s</span></header>\n<main class="overview trend">%s</main>\n</body>\n</html>\n'
            % (digest, title, style, title, body))
    part = path + '.tmp'
    with open(part, 'w', encoding='utf-8', errors='replace') as f:
        f.write(page)
    os.replace(part, path)
