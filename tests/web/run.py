#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports in a headless Chromium: every page of eight inputs, reached by its tab; numbers, search, zoom, links, accessibility;
clicks also in Firefox. Screenshots go to build/web/.

    tests/web/run.py --program build/check/tfprof [--shots FOLDER] [NAME...]
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'check')]
import cases  # noqa: E402
import inputs  # noqa: E402
from browser import Browser, Firefox, firefox  # noqa: E402
from built import has  # noqa: E402

PAGES = {'profile': ['overview', 'scope', 'graph', 'op', 'code'], 'recording': ['overview', 'scope', 'op', 'timeline', 'devices'],
         'xspace': ['overview', 'scope', 'op', 'timeline', 'devices'], 'pytorch': ['overview', 'scope', 'op', 'code', 'timeline', 'devices', 'memory', 'roofline'],
         'tpu': ['overview', 'scope', 'op', 'timeline', 'devices', 'roofline'], 'workers': ['overview', 'scope', 'op', 'code', 'timeline', 'devices'], 'graph': ['overview', 'scope', 'graph', 'op'], 'hostile': ['overview', 'scope', 'op'], 'large': ['overview', 'scope', 'graph', 'op'], 'diff': ['compare'],
         'steps': ['overview', 'scope', 'graph', 'op', 'code', 'memory'], 'snapshot': ['overview', 'scope', 'op', 'code', 'memory']}
SIZES = [(1280, 720, False), (390, 844, True)]
TAB, ENTER = '\ue004', '\ue007'
BROWSER, FIREFOX, URLS, MADE = None, None, {}, {}


def program(*words):
    p = subprocess.run([ARGS.program, *words], capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    return p.stdout


def words(name):
    if name not in MADE:
        MADE[name] = inputs.words(name, ARGS.shots)
    return MADE[name]


def url(name):
    """Returns the address of an input's report, which is made once."""
    if name not in URLS:
        URLS[name] = 'file://' + inputs.report(ARGS.program, words(name), os.path.join(ARGS.shots, name + '.html'))
    return URLS[name]


def quiet():
    errors = BROWSER.errors()
    assert not errors, errors


def go(name, page):
    BROWSER.open(url(name))
    BROWSER.page(page)


def scheme(dark):
    """Sets the preferred color scheme: light or dark."""
    BROWSER.scheme(dark)
    BROWSER.until('return document.documentElement.dataset.dark === arguments[0] && document.querySelector("main").getAttribute("aria-busy") === "false"', str(dark).lower())
    BROWSER.settle()


def pages_of(name):
    """Opens every page of an input by clicking, in light and dark, and saves pictures. The console stays empty."""
    BROWSER.size(*SIZES[0])
    BROWSER.open(url(name))
    found = BROWSER.js('return [...document.querySelectorAll(".tabs a")].map(a => a.dataset.page)')
    assert set(found) >= set(PAGES[name]), found
    for page in found:
        BROWSER.page(page)
        assert not BROWSER.js('return document.querySelector("[role=alert]") && document.querySelector("[role=alert]").innerText')
        assert BROWSER.js('return document.querySelector("main").innerText.length') > 20, page
        for width, height, mobile in SIZES:
            BROWSER.size(width, height, mobile)
            for dark in (True, False):
                scheme(dark)
                BROWSER.shot(os.path.join(ARGS.shots, '%s-%s-%d%s.png' % (name, page, width, '-dark' if dark else '')))
            wide = BROWSER.js('return document.documentElement.scrollWidth')
            assert wide <= width, '%s is %d wide at %d' % (page, wide, width)
        BROWSER.size(*SIZES[0])
    quiet()


def case_of(name):
    def case():
        pages_of(name)
    case.__name__ = 'pages_' + name
    case.__doc__ = pages_of.__doc__
    return case


def in_firefox(case):
    """Runs a case in Firefox, which is started at the first call."""
    def run():
        global BROWSER, FIREFOX
        if not firefox():
            raise cases.Skip('no Firefox (Debian: firefox-esr)')
        FIREFOX = FIREFOX or Firefox()
        chromium, BROWSER = BROWSER, FIREFOX
        try:
            case()
        finally:
            BROWSER = chromium
    run.__name__ = 'firefox_' + case.__name__
    run.__doc__ = case.__doc__
    return run


def every_page():
    """Every page of the inputs opens from disk, with an empty console; a picture of each is saved."""
    for name in ('profile', 'xspace', 'pytorch', 'diff', 'large'):
        BROWSER.open(url(name))
        for page in BROWSER.js('return [...document.querySelectorAll(".tabs a")].map(a => a.dataset.page)'):
            BROWSER.page(page)
            assert not BROWSER.js('return document.querySelector("[role=alert]") && document.querySelector("[role=alert]").innerText')
            BROWSER.shot(os.path.join(ARGS.shots, '%s-%s-firefox.png' % (name, page)))
        quiet()


def lines(out):
    """Returns {name: (own, total)} of a view's text."""
    return {m[1]: (m[2], m[3]) for m in re.finditer(r'^ *(\S+) \((\S+?)/(\S+?)[,)]', out, re.M)}


def shown_rows():
    """Returns {path: texts of the cells} of the tree table."""
    return BROWSER.js('return Object.fromEntries([...document.querySelectorAll(".tt-body .tt-row")].map(r => [r.dataset.path, [...r.querySelectorAll(".num")].map(c => c.textContent)]))')


def numbers_of_the_command():
    """Scope and code show the totals and own times that the text answers print; op its times."""
    go('profile', 'scope')
    search('re:conv|Decode|Mul')
    found, said = shown_rows(), lines(program('scope', words('profile')[0], '-max_depth', '100'))
    both = [p for p in found if p in said]
    assert len(both) > 10, found
    for path in both:
        own, total = said[path]
        assert (found[path][0], found[path][2]) == (total, own), (path, found[path], said[path])
    BROWSER.page('op')
    found = shown_rows()
    said = dict(re.findall(r'^(\w+) +(\S+) \(', program('op', words('profile')[0], '-max_depth', '100', '-select', 'micros'), re.M))
    assert said and all(found[k][0] == v for k, v in said.items()), (found, said)


def numbers_of_a_trace():
    """Averages of a trace's steps are printed as by the command: decimals, nanoseconds below 1us, parts of a run."""
    for name, metric in (('pytorch', 'accelerator_micros'), ('rare', 'cpu_micros')):
        out = program('scope', words(name)[0], '-max_depth', '100', '-select', metric + ',occurrence')
        said = {m[1]: m.groups()[1:] for m in re.finditer(r'^ *(.+?) \(([^/\n]+)/([^,\n]+), [^|\n]*/([^/|\n]+)\|', out, re.M)}
        go(name, 'scope')
        search('re:.')
        found = {k: (v[2], v[0], v[3]) for k, v in shown_rows().items()}
        assert len(said) > 3 and said.items() <= found.items(), (said, found)
    assert found['aten::item'] == ('60ns', '60ns', '0.20') and found['aten::relu'][0] == '3.00us', found


def numbers_that_are_not_known():
    """Cells of float operations mark unknown numbers in the same way as the command."""
    out = program('scope', words('pytorch')[0], '-max_depth', '100', '-select', 'float_ops')
    said = {m[1]: m.groups()[1:] for m in re.finditer(r'^ *(\S+) \(([^/ ]+)/([^/ ]+) flops\)', out, re.M)}
    BROWSER.open(url('pytorch') + '#/scope?metric=float_ops&q=re:.')
    found = {k: (v[2], v[0]) for k, v in shown_rows().items()}
    assert said.items() <= found.items() and found, (said, found)
    assert ('?', '?') in found.values() and found['_TFProfRoot'][1].startswith('\u2265'), found
    share = re.search(r'known for ([0-9.]+)%', program('summary', words('pytorch')[0]))[1]
    for page in 'scope', 'roofline', 'overview':
        go('pytorch', page)
        shown = re.search(r'known for ([0-9.]+)% of the device time', BROWSER.js('return document.body.innerText'))
        assert shown and abs(float(shown[1]) - float(share)) <= 0.05, (page, shown, share)


def numbers_of_devices():
    """The tables of a trace have the headings and cells of devices, kernels and steps."""
    for name in ('xspace', 'pytorch'):
        go(name, 'devices')
        shown = BROWSER.js('return [...document.querySelectorAll("table.rows")].map(t => [...t.rows].map(r => [...r.cells].map(c => c.textContent.replace(/ [\u25be\u25b4]$/, ""))))')
        for command in ('devices', 'kernels', 'steps'):
            for block in program(command, words(name)[0], '--top', '0').strip().split('\n\n'):
                rows = [[c if c != '-' else '' for c in re.split('  +', line.strip())] for line in block.splitlines() if not re.fullmatch('[A-Z].*:', line)]
                assert any(t[0] == rows[0] and sorted(t) == sorted(rows) for t in shown), (command, rows, shown)


def step_time_is_the_headline():
    """The first number of a trace is the wall time of a step; its parts on each device add up to it."""
    ns = lambda text: int(re.sub(r'\D', '', text))
    for name in ('pytorch', 'xspace', 'tpu', 'rare', 'recording'):
        go(name, 'overview')
        said = json.loads(program('steps', words(name)[0], '--top', '0', '-output', 'json'))
        lengths = [s['duration_ns'] for s in said['steps']]
        tiles = dict(BROWSER.js('return [...document.querySelectorAll(".tile strong")].map(x => [x.dataset.metric, x.title])'))
        assert list(tiles)[:1] == ['step_ns'] and abs(ns(tiles['step_ns']) - sum(lengths) / len(lengths)) <= 1 and 'micros' not in tiles, (name, tiles, lengths)
        assert 'of the time' not in BROWSER.text('.tiles')
        parts = BROWSER.js('return [...document.querySelectorAll("[data-part=device] tbody tr")].map(r => [...r.querySelectorAll("td")].map(c => c.title))')
        parts = list(zip(*parts))
        assert len(parts) == len(said['step_time']) and all(sum(map(ns, column)) == ns(tiles['step_ns']) for column in parts), (name, parts, tiles)
    go('truncated', 'overview')
    tile = BROWSER.text('.tile')
    assert '95' in tile and 'mean of 2 steps' in tile and tile.endswith('; 1 step without device work left out'), tile
    go('profile', 'overview')
    assert BROWSER.js('return document.querySelector(".tile strong").dataset.metric') == 'micros'
    go('pytorch', 'overview')
    assert BROWSER.js('return [...document.querySelectorAll(".base")].map(x => x.textContent)').count('Sums over the whole trace.') == 2
    quiet()


def verdict_comes_first():
    """The first card has the verdict and the causes of the command; a place leads to its slices on the timeline."""
    causes = 0
    for name in ('recording', 'pytorch'):
        go(name, 'overview')
        said = json.loads(program('why', words(name)[0], '-output', 'json'))
        assert BROWSER.js('return document.querySelector(".card").dataset.part') == 'why', name
        assert BROWSER.js('return document.querySelector("[data-part=why] h2").textContent') == said['verdict'], name
        shown = BROWSER.js('return [...document.querySelectorAll("[data-part=why] summary")].map(s => [s.querySelector(".bar").textContent, s.querySelector(".num").title])')
        assert [[text, int(re.sub(r'\D', '', ns))] for text, ns in shown] == [[c['id'].replace('_', ' '), c['saved_ns']] for c in said['causes']], (name, shown)
        causes += len(shown)
    assert causes
    BROWSER.js('document.querySelector("[data-part=why] a[href]").click()')
    BROWSER.until('const m = document.querySelector("main"); return m.dataset.page === "timeline" && m.getAttribute("aria-busy") === "false"')
    quiet()


def causes_of_idle_time():
    """Causes are those of the command and add up to the idle time. A click shows the places; a place leads to the timeline."""
    for name in ('pytorch', 'xspace'):
        go(name, 'overview')
        device = json.loads(program('idle', words(name)[0], '-output', 'json'))['devices'][0]
        shown = BROWSER.js('return [...document.querySelectorAll("[data-part=idle] summary")].map(s => [s.querySelector(".bar").textContent, s.querySelector(".num").title])')
        assert shown == [[c['text'], '%s ns' % format(c['ns'], ',')] for c in sorted(device['causes'], key=lambda c: -c['ns'])], (shown, device)
        assert sum(c['ns'] for c in device['causes']) == device['idle_ns']
    go('pytorch', 'overview')
    device = json.loads(program('idle', words('pytorch')[0], '-output', 'json'))['devices'][0]
    cause = [c for c in device['causes'] if c['places'] and c['places'][0]['kind'] == 'op'][-1]
    opened = 'const d = [...document.querySelectorAll("[data-part=idle] details")].find(d => d.querySelector(".bar").textContent === arguments[0]);'
    BROWSER.js(opened + 'if (!d.open) d.querySelector("summary").click()', cause['text'])
    BROWSER.settle()
    assert cause['places'][0]['name'] in BROWSER.js(opened + 'return d.innerText', cause['text'])
    BROWSER.js(opened + 'd.querySelector("a[href]").click()', cause['text'])
    BROWSER.until('const m = document.querySelector("main"); return m.dataset.page === "timeline" && m.getAttribute("aria-busy") === "false"')
    assert re.match(r'[1-9]\d* found', BROWSER.text('#found')), BROWSER.text('#found')
    quiet()


def numbers_of_memory():
    """Peaks and the ops with allocated memory equal the output of the command, for a trace and for steps of TensorFlow."""
    for name in ('steps', 'pytorch'):
        go(name, 'memory')
        said = json.loads(program('memory', words(name)[0], '--top', '0', '-output', 'json'))
        peaks = BROWSER.js('return [...document.querySelectorAll("[data-fact=Peak]")].map(x => x.title)')
        assert peaks == ['%s bytes' % format(r['peak_bytes'], ',') for r in sorted(said['memory'], key=lambda r: -r['peak_bytes'])], (peaks, said['memory'])
        cards = BROWSER.js('return [...document.querySelectorAll("section.card")].map(c => [...c.querySelectorAll(".bars")]'
                           '.map(b => [...b.querySelectorAll(".bar")].map(x => x.textContent))).filter(c => c.length)')
        rows = [owner for card in cards for owner in card[-1]]
        owners = sorted({(r['device'], r['allocator'], r['line'] or r['op']) for r in said['live']})
        assert rows and sorted(rows) == sorted(o for _, _, o in owners), (rows, owners)
        kinds = sorted({(r['device'], r['allocator'], r['kind']) for r in said['live']})
        shown = [kind for card in cards for bars in card[:-1] for kind in bars]
        assert not shown or sorted(shown) == sorted(k for _, _, k in kinds), (shown, kinds)
        assert shown or name == 'steps', name
    box = BROWSER.js('const r = document.querySelector("svg.chart").getBoundingClientRect(); return [r.width, r.height]')
    BROWSER.pointer('svg.chart', box[0] / 2, box[1] / 2, click=False)
    assert 'After' in BROWSER.text('.tooltip'), BROWSER.text('.tooltip')
    BROWSER.click('.cardhead a')
    BROWSER.until('return document.querySelector("main").dataset.page === "timeline"')
    quiet()


def memory_of_a_snapshot():
    """The first number of a snapshot is its peak. Its page has a card for each device and pool with the bytes in use at its peak, by
    kind and by line."""
    go('snapshot', 'overview')
    said = json.loads(program('memory', words('snapshot')[0], '--top', '0', '-output', 'json'))
    assert BROWSER.js('const t = document.querySelector(".tile strong"); return [t.dataset.metric, t.title]') == [
        'memory_peak_bytes', '%s bytes' % format(max(r['peak_bytes'] for r in said['memory']), ',')]
    go('snapshot', 'memory')
    said = json.loads(program('memory', words('snapshot')[0], '--top', '0', '-output', 'json'))
    cards = BROWSER.js('return [...document.querySelectorAll("section.card")].map(c => [c.querySelector("h2").textContent,'
                       ' [...c.querySelectorAll(".bars")].map(b => [...b.querySelectorAll(".bar")].map(x => x.textContent)), c.textContent])')
    assert len(cards) == len(said['memory'])
    for title, (kinds, lines), text in cards:
        device, pool = title.split(' \u00b7 ')
        live = [r for r in said['live'] if r['device'] == device and pool in (r['allocator'], 'all pools')]
        sums = {key: {r[key]: sum(x['bytes'] for x in live if x[key] == r[key]) for r in live} for key in ('kind', 'line')}
        for shown, key in (kinds, 'kind'), (lines, 'line'):
            largest = sorted(sums[key], key=lambda k: -sums[key][k])
            assert shown == largest[:24], (title, key, shown, largest)
        for kind in sums['kind']:
            assert kind in BROWSER.js('return [...document.querySelectorAll(".legend li")].map(x => x.textContent)'), kind
        assert ('Out of memory' in text) == (pool == 'all pools'), text
    quiet()


def moments_and_segments():
    """A click shows the memory at a moment by kind, a drag shows a part of the time; the map has a row for each segment."""
    go('snapshot', 'memory')
    said = json.loads(program('memory', words('snapshot')[0], '--top', '0', '-output', 'json'))
    largest = max(range(len(said['memory'])), key=lambda i: said['memory'][i]['peak_bytes'])
    width = BROWSER.js('return document.querySelector("svg.chart").getBoundingClientRect().width')
    BROWSER.pointer('svg.chart', width * .6, 60)
    BROWSER.until('return document.querySelector(".moment .bar")')
    shown = BROWSER.js('return [...document.querySelectorAll(".moment .bar")].map(x => x.textContent)')
    use = said['by_kind'][largest]
    start, end = use['ns'][0], use['ns'][-1]
    at = [start + (end - start) * part for part in (.5, .65)]
    near = [i for i, t in enumerate(use['ns']) if at[0] <= t <= at[1]]
    assert set(shown) in [{k['kind'] for k in use['kinds'] if k['bytes'][i] > 0} for i in near], shown
    live = said['live_at'][largest]
    owners = BROWSER.js('return [...document.querySelectorAll(".liveat .bar")].map(x => x.textContent)')
    rows = [[live['owners'][r[0]]['line'] or live['owners'][r[0]]['op'] for r in m['rows']] for m in live['moments'] if start + (end - start) * .4 <= m['ns'] <= start + (end - start) * .75]
    assert owners in rows, (owners, rows)
    marks = 'return [...document.querySelectorAll("section.card svg.chart")[0].querySelectorAll("text")].map(x => x.textContent).join()'
    whole = BROWSER.js(marks)
    BROWSER.pointer('svg.chart', width / 2, 60, to=width / 2 + 90)
    BROWSER.until('return [...document.querySelectorAll("button")].some(b => b.textContent === "Show all")')
    assert BROWSER.js(marks) != whole
    BROWSER.js('[...document.querySelectorAll("button")].find(b => b.textContent === "Show all").click()')
    assert BROWSER.js(marks) == whole
    BROWSER.js('[...document.querySelectorAll(".segments button")].forEach(b => b.click())')
    rows = 'return [...document.querySelectorAll(".segments")].reduce((a, s) => a + s.querySelectorAll("g").length, 0)'
    BROWSER.until('%s === %d' % (rows, len(said['segments'])))
    quiet()


def numbers_of_the_roofline():
    """The table has the cells of the command; a point for each op with both numbers; the roof where the file has peaks."""
    for name, points, roofs in (('tpu', 8, 1), ('pytorch', 0, 0)):
        go(name, 'roofline')
        shown = BROWSER.js('return [...document.querySelectorAll("table.rows tbody tr")].map(r => [...r.children].map(c => c.textContent))')
        lines = program('roofline', words(name)[0], '--top', '0').split('\n\n')[1].splitlines()[1:]
        assert len(lines) == len(shown)
        for line, row in zip(lines, shown):
            cells = re.split(r'  +', line.strip())
            assert [c for c in cells if c != '?'] == [c for c in row if c], (line, row)
        assert BROWSER.js('return [document.querySelectorAll(".chart .point").length, document.querySelectorAll(".chart .roof").length]') == [points, roofs]
    go('tpu', 'roofline')
    BROWSER.js('document.querySelector(".chart .point:last-of-type").dispatchEvent(new MouseEvent("click"))')
    assert 'jit(train)/layer_0/convolution' in BROWSER.text('.details'), BROWSER.text('.details')
    quiet()


def numbers_of_diff():
    """Both sides and the difference equal those of diff."""
    go('diff', 'compare')
    found = shown_rows()
    said = {m[1]: m.groups()[1:] for m in re.finditer(r'^ *(\S+) \(A:(\S+) B:(\S+)\) (\S+)', program('diff', *words('diff'), '-all', '-max_depth', '2'), re.M)}
    assert said['input'][2] == found['input'][2], (said['input'], found['input'])
    assert sum(found.get(k, [0, 0, 0])[2] == v[2] for k, v in said.items() if k in found) >= 5, (found, said)


def advice_leads_there():
    """Clicking a line of advice that names a node or a type opens the page with this entry selected."""
    for text, page, name in (('operation type: ReadFile', 'op', 'ReadFile'), ('node: gradients/conv2/Conv2D_grad/Conv2DBackpropInput', 'scope', 'gradients/conv2/Conv2D_grad/Conv2DBackpropInput')):
        go('profile', 'overview')
        BROWSER.js('[...document.querySelectorAll(".advice li a")].find(a => a.textContent.includes(arguments[0])).click()', text)
        BROWSER.until('const m = document.querySelector("main"); return m.dataset.page === arguments[0] && m.getAttribute("aria-busy") === "false"', page)
        assert BROWSER.text('.details .path') == name, BROWSER.text('.details .path')
    quiet()


def significance_of_diff():
    """A difference within the variation of the steps is noise; all others have a probability."""
    go('diff', 'compare')
    said = json.loads(program('diff', 'scope', *words('diff'), '-all', '--min_size', '0', '-select', 'micros', '-output', 'json'))
    p = {r['path']: r['p_micros'] for r in said['rows']}
    shown = {k: v[4] for k, v in shown_rows().items()}
    assert said['level'] == 0.05 and len(shown) > 5 and any(v == 'noise' for v in shown.values()) and any(v.startswith('p') for v in shown.values()), shown
    for k, v in shown.items():
        assert (v == 'noise') == (p[k] is not None and p[k] > 0.05) and (v == '') == (p[k] is None), (k, v, p[k])
    quiet()


def search(text):
    """Types into the search. Returns the result line of the page."""
    BROWSER.type('.toolbar input', text)
    return BROWSER.until('const t = document.querySelector("#found").innerText; return t && !t.startsWith("Searching") && new URLSearchParams(location.hash.split("?")[1]).get("q") === arguments[0] && t', text)


def search_filters_and_counts():
    """A search for text, ignoring case, or for a pattern after re: leaves matches and their ancestors, and adds up matches
    once."""
    go('profile', 'scope')
    said = search('conv2dbackprop')
    assert re.match(r'6 found, ', said), said
    assert search('re:^Conv2DBackprop') == said
    assert 'q=re%3A%5EConv2DBackprop' in BROWSER.js('return location.hash')
    rows = shown_rows()
    assert 'input' not in rows and any(k.endswith('Conv2DBackpropInput') for k in rows), rows
    assert search('^Conv2DBackprop').startswith('0 found'), 'text is no pattern'
    assert 'nvalid reg' in search('re:(') or 'nterminated' in BROWSER.text('#found'), BROWSER.text('#found')
    BROWSER.js('window.Worker = undefined')
    assert 'does not allow regular expressions' in search('re:Conv'), BROWSER.text('#found')
    assert re.match(r'6 found, ', search('conv2dbackprop'))
    quiet()


def address_cannot_hang():
    """A pattern that never ends is stopped, and the page answers meanwhile and afterwards; a broken address opens a page."""
    endless = r'((((\w+)+)+)+)+!'
    for name, page in (('profile', 'scope'), ('xspace', 'timeline'), ('diff', 'compare')):
        for query in ('(a+)+$', endless):
            BROWSER.open(url(name) + '#/%s?q=%s' % (page, urllib.parse.quote(query)))
            assert BROWSER.text('#found').startswith('0 found'), (page, BROWSER.text('#found'))
        BROWSER.open(url(name) + '#/%s?q=%s' % (page, urllib.parse.quote('re:' + endless)))
        assert BROWSER.text('#found').startswith('Searching'), BROWSER.text('#found')
        BROWSER.until('return !document.querySelector("#found").innerText.startsWith("Searching")')
        # Firefox's engine may end the pattern itself, before the page does, if its stack is full.
        assert re.fullmatch(r'Stopped( after 5 s)?: the pattern backtracks too much', BROWSER.text('#found')), BROWSER.text('#found')
        assert re.match(r'[1-9]\d* found', search('re:[a-z]')), BROWSER.text('#found')
    for address in ('#/%zz', '#/%zz?q=%zz', '#/scope?q=%', '#/%ff', '#/timeline?from=1e999&to=-1e999'):
        BROWSER.open(url('xspace') + address)
        assert not BROWSER.js('return document.querySelector("[role=alert]")'), address
        assert BROWSER.js('return document.querySelector("main").innerText.length') > 20, address
    quiet()


def zoom_and_link():
    """A click in the icicle zooms; the address leads there again; the breadcrumb leads back."""
    go('profile', 'scope')
    width = BROWSER.js('return document.querySelector(".icicle canvas").clientWidth')
    BROWSER.pointer('.icicle canvas', width * 0.6, 32)
    BROWSER.settle()
    zoomed = BROWSER.js('return new URLSearchParams(location.hash.split("?")[1]).get("zoom")')
    assert zoomed, BROWSER.js('return location.hash')
    assert zoomed in shown_rows() and '_TFProfRoot' not in shown_rows()
    address = BROWSER.js('return location.href')
    BROWSER.open(address)
    assert BROWSER.text('.crumbs [aria-current]') == zoomed.split('/')[-1]
    BROWSER.click('.crumbs button')
    BROWSER.settle()
    assert '_TFProfRoot' in shown_rows()


def keyboard_in_the_table():
    """Arrows move, open and close; Enter zooms."""
    go('profile', 'scope')
    BROWSER.js('document.querySelector(".tt-body").focus()')
    chosen = 'const r = document.querySelector(".tt-row.chosen"); return r && r.dataset.path'
    BROWSER.key('\ue015')
    BROWSER.settle()
    first = BROWSER.js(chosen)
    assert first == 'input', first
    opened = 'return document.querySelector(".tt-row.chosen").getAttribute("aria-expanded")'
    before = BROWSER.js(opened)
    BROWSER.key('\ue012' if before == 'true' else '\ue014')
    BROWSER.settle()
    assert BROWSER.js(opened) != before
    BROWSER.key('\ue007')
    BROWSER.settle()
    assert BROWSER.text('.crumbs [aria-current]') == 'input'


def keyboard_alone():
    """Tab moves through a page in visual order. Enter opens pages and sorts tables, and the focus stays."""
    BROWSER.open(url('tpu'))
    stops = []
    for _ in range(10):
        BROWSER.key(TAB)
        stops.append(BROWSER.js('const a = document.activeElement; return a.dataset.page || a.getAttribute("aria-label") || a.textContent'))
    assert stops[:1] + stops[-3:] == ['Skip to the content', 'Switch between light and dark', 'Step time by device', 'All devices and kernels'], stops
    assert stops[1:-3] == ['overview', 'scope', 'op', 'timeline', 'devices', 'roofline'], stops
    BROWSER.key(ENTER)
    BROWSER.until('const m = document.querySelector("main"); return m.dataset.page === "devices" && m.getAttribute("aria-busy") === "false"')
    for page, sorting in (('devices', 'table.rows .sort'), ('scope', '.tt-head button')):
        BROWSER.page(page)
        BROWSER.js('[...document.querySelectorAll(arguments[0])][1].focus()', sorting)
        BROWSER.key(ENTER)
        BROWSER.settle()
        assert BROWSER.js('return document.activeElement === [...document.querySelectorAll(arguments[0])][1]', sorting)
    quiet()


def metric_and_sort():
    """Another metric shows the numbers of its command; a click on a heading sorts."""
    go('profile', 'scope')
    BROWSER.js('const s = document.querySelector(".toolbar select"); s.value = "bytes"; s.dispatchEvent(new Event("change"))')
    BROWSER.settle()
    said = lines(program('scope', words('profile')[0], '-max_depth', '2', '-select', 'bytes'))
    found = shown_rows()
    for k in ('conv1', 'gradients', 'input'):  # the page prints three digits
        number, unit = re.fullmatch(r'([0-9.]+)(\D+)', said[k][1]).groups()
        assert float(re.fullmatch(r'([0-9.]+)' + unit, found[k][0])[1]) == float('%.3g' % float(number)), (found, said)
    BROWSER.js('[...document.querySelectorAll(".tt-head button")].find(b => b.textContent.startsWith("Name")).click()')
    BROWSER.settle()
    names = [k for k in BROWSER.js('return [...document.querySelectorAll(".tt-body .tt-row[aria-level=\\"2\\"]")].map(r => r.dataset.path)')]
    assert names == sorted(names) and len(names) > 5, names


def workers_are_chosen():
    """In a folder of traces, the tables and the timeline of each worker equal those of its file, also when served."""
    folder = words('workers')[0]
    p = subprocess.Popen([ARGS.program, 'serve', folder], stdout=subprocess.PIPE, text=True) if has(ARGS.program, 'libevent') else None
    try:
        for address in [url('workers')] + ([p.stdout.readline().strip()] if p else []):
            BROWSER.open(address)
            for rank in range(2):
                name = 'rank%d.pt.trace.json' % rank
                BROWSER.page('devices')
                BROWSER.js('const s = document.querySelector("main .toolbar select"); s.value = arguments[0]; s.dispatchEvent(new Event("change"))', name)
                busy = json.loads(program('devices', os.path.join(folder, name), '-output', 'json'))['devices'][0]['busy_ns']
                BROWSER.until('const c = [...document.querySelectorAll("table.rows tbody td")].map(c => c.title); return c.includes(arguments[0])', '%s ns' % format(busy, ','))
            BROWSER.page('timeline')
            BROWSER.js('const s = document.querySelector("main .toolbar select"); s.value = "rank1.pt.trace.json"; s.dispatchEvent(new Event("change"))')
            BROWSER.until('return location.hash.includes("worker=rank1") && document.querySelector("main").getAttribute("aria-busy") === "false"')
            BROWSER.type('.toolbar input', 'gemm<')
            BROWSER.key('\ue007')
            BROWSER.settle()
            assert '3,250 ns' in BROWSER.text('.details'), BROWSER.text('.details')
            quiet()
    finally:
        if p:
            p.terminate()
            p.communicate(timeout=600)


def timeline_moves():
    """Keys zoom and move. Clicking a slice shows its details and its launch. The search finds slices."""
    go('xspace', 'timeline')
    BROWSER.js('document.querySelector(".timeline canvas").focus()')
    BROWSER.key('w', 'w')
    BROWSER.until('return location.hash.includes("from=")')
    BROWSER.key('0')
    BROWSER.type('.toolbar input', 'gemm')
    BROWSER.settle()
    assert BROWSER.text('#found') == '4 found', BROWSER.text('#found')
    BROWSER.key('\ue007')
    BROWSER.settle()
    text = BROWSER.text('.details')
    assert 'gemm_kernel' in text and '250 ns' in text and 'Show launch' in text, text
    BROWSER.click('.details button')
    BROWSER.settle()
    assert 'cuLaunchKernel' in BROWSER.text('.details') and 'Launches' in BROWSER.text('.details'), BROWSER.text('.details')
    quiet()


def path_on_the_timeline():
    """The critical path: its places on the overview, its segments on the timeline, underlined slices, a click and the switch."""
    said = json.loads(program('critical', words('pytorch')[0], '-output', 'json'))
    go('pytorch', 'overview')
    card = BROWSER.js('return [...document.querySelectorAll(".card")].find(c => c.innerText.startsWith("Critical path")).innerText')
    lines = program('critical', words('pytorch')[0], '--top', '0').splitlines()
    for row in lines[lines.index('', 3) + 2:]:
        assert re.split('  +', row)[1] in card, (row, card)
    BROWSER.js('[...document.querySelectorAll(".card a")].find(a => a.innerText === "Show the path on the timeline").click()')
    BROWSER.until('const m = document.querySelector("main"); return m.dataset.page === "timeline" && m.getAttribute("aria-busy") === "false"')
    underlined = '''const c = document.querySelector(".timeline canvas"), k = c.width / c.clientWidth, copy = document.createElement("canvas"), box = copy.getContext("2d", { willReadFrequently: true });
        [copy.width, copy.height] = [c.width, c.height]; box.drawImage(c, 0, 0);
        const d = box.getImageData(220 * k, 50 * k, c.width - 220 * k, c.height - 50 * k).data;
        box.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent"); box.fillRect(0, 0, 1, 1);
        const want = box.getImageData(0, 0, 1, 1).data;
        let n = 0; for (let i = 0; i < d.length; i += 4) n += d[i] === want[0] && d[i + 1] === want[1] && d[i + 2] === want[2]; return n'''
    BROWSER.settle()
    assert BROWSER.js(underlined) > 10
    BROWSER.click('[aria-pressed]')
    BROWSER.settle()
    assert BROWSER.js(underlined) == 0 and 'path=no' in BROWSER.js('return location.hash')
    for s in said['segments']:
        BROWSER.open(url('pytorch') + '#/timeline?from=%d&to=%d' % (s['start_ns'], s['start_ns'] + max(20, s['duration_ns'])))
        width = BROWSER.js('return document.querySelector(".timeline canvas").clientWidth')
        BROWSER.pointer('.timeline canvas', 220 + (width - 220) * 0.4, 35)
        BROWSER.settle()
        text = BROWSER.text('.details')
        assert 'Duration %s ns' % format(s['duration_ns'], ',') in text and (s['name'] or '') in text, (s, text)
        if s['slice'] is not None:
            BROWSER.click('.details button')
            BROWSER.settle()
            assert BROWSER.text('.details h2') == s['name'], BROWSER.text('.details')
    quiet()


def names_are_text():
    """No name of the hostile profile becomes markup, a script or another title; all are shown."""
    BROWSER.open(url('hostile'))
    for page in PAGES['hostile']:
        BROWSER.page(page)
        assert not BROWSER.js('return document.querySelector("main img, main script, main b, main iframe")'), page
        assert 'owned' not in BROWSER.js('return document.title')
    BROWSER.page('scope')
    BROWSER.type('.toolbar input', 'document.title')
    BROWSER.settle()
    shown = BROWSER.text('.tt-body')
    assert 'document.title="owned"' in shown, shown[:300]
    BROWSER.type('.toolbar input', 'evil')
    BROWSER.settle()
    assert '\\u202eevil\\u202c' in BROWSER.text('.tt-body')
    quiet()


def functions_are_reduced():
    """Names of C++ functions are shown as in text, with the full name in the tooltip; the button in the header shows full names."""
    full, reduced = inputs.FUNCTION, inputs.REDUCED
    assert reduced in program('kernels', words('functions')[0]) and full in program('kernels', words('functions')[0], '-full_names')
    for page, where in (('overview', 'main'), ('scope', '.tt-body'), ('devices', 'main')):
        go('functions', page)
        if page == 'scope':
            search('at::native')  # not in the reduced name
            assert BROWSER.text('#found').startswith('1 found'), BROWSER.text('#found')
            search(reduced)
        shown = BROWSER.text(where)
        assert reduced in shown and full not in shown, (page, shown)
        assert BROWSER.js('return [...document.querySelectorAll("[title]")].some(e => e.title.endsWith(arguments[0]))', full), page
        BROWSER.click('header [aria-pressed]')
        BROWSER.until('return document.querySelector("main").getAttribute("aria-busy") === "false"')
        BROWSER.settle()
        assert full in BROWSER.text(where), (page, BROWSER.text(where))
    go('functions', 'timeline')
    BROWSER.type('.toolbar input', reduced)
    BROWSER.settle()
    BROWSER.js('[...document.querySelectorAll("button")].find(b => b.innerText === "Next").click()')
    BROWSER.settle()
    assert BROWSER.text('.details h2') == full, BROWSER.text('.details')
    quiet()


def large_is_usable():
    """100,000 nodes: search and zoom answer."""
    BROWSER.open(url('large'))
    BROWSER.page('scope')
    search('re:Conv2DBackpropInput$')
    assert re.match(r'1\d,\d{3} found', BROWSER.text('#found')), BROWSER.text('#found')
    assert BROWSER.js('return document.querySelectorAll(".tt-row").length') < 100
    quiet()


def dark_and_print():
    """The button changes the color scheme. The page can be printed."""
    for name, page in (('profile', 'scope'), ('xspace', 'timeline')):
        go(name, page)
        BROWSER.click('.theme')
        BROWSER.until('return document.documentElement.dataset.dark === "true" && document.querySelector("main").getAttribute("aria-busy") === "false"')
    assert len(BROWSER.do('POST', '/print')) > 10000
    quiet()


def served_page():
    """The page of the server shows the same numbers as a report, and requests steps and slices."""
    if not has(ARGS.program, 'libevent'):
        raise cases.Skip('no libevent in this build')
    import signal
    for name in ('profile', 'xspace', 'pytorch', 'tpu', 'recording', 'diff'):
        p = subprocess.Popen([ARGS.program, 'serve', *words(name)], stdout=subprocess.PIPE, text=True)
        BROWSER.open(p.stdout.readline().strip())
        for page in BROWSER.js('return [...document.querySelectorAll(".tabs a")].map(a => a.dataset.page)'):
            BROWSER.page(page)
            assert not BROWSER.js('return document.querySelector("[role=alert]") && document.querySelector("[role=alert]").innerText')
        if name == 'profile':
            BROWSER.page('scope')
            BROWSER.js('const s = document.querySelectorAll(".toolbar select")[1]; s.value = "2"; s.dispatchEvent(new Event("change"))')
            BROWSER.until('const r = document.querySelector(".tt-body .tt-row .num"); return r && r.textContent === arguments[0]',
                          lines(program('scope', words(name)[0], '-max_depth', '1', '-step', '2'))['_TFProfRoot'][1])
        quiet()
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=600)


def accessibility():
    """axe-core finds no problem on any page of any input, wide and narrow, light and dark."""
    found = glob.glob(os.path.join(inputs.ROOT, 'build', 'web', 'node_modules', 'axe-core', 'axe.min.js')) + glob.glob('/usr/share/nodejs/axe-core/axe.min.js')
    if not found:
        raise cases.Skip('no axe-core: npm install --prefix build/web axe-core')
    with open(found[0]) as f:
        axe = f.read()
    bad = []
    for name in PAGES:
        BROWSER.open(url(name))
        for page in BROWSER.js('return [...document.querySelectorAll(".tabs a")].map(a => a.dataset.page)'):
            BROWSER.page(page)
            for size, dark in ((SIZES[0], True), (SIZES[0], False), (SIZES[1], False)):
                BROWSER.size(*size)
                scheme(dark)
                BROWSER.devtools('Runtime.evaluate', expression=axe)
                result = BROWSER.do('POST', '/execute/async', script='const d = arguments[0]; axe.run(document).then(r => d(r.violations.map(v => '
                                    'v.id + ": " + v.help + " (" + v.nodes.slice(0, 2).map(n => n.target.join(" ") + " " + (n.any[0] ? n.any[0].message : "")).join("; ") + ")")))', args=[])
                bad += ['%s %s %d%s: %s' % (name, page, size[0], ' dark' if dark else '', v) for v in result]
    BROWSER.size(*SIZES[0])
    assert not bad, '\n  '.join([''] + bad)
    BROWSER.errors()


def main():
    global BROWSER
    chosen = [case_of(n) for n in PAGES] + [numbers_of_the_command, numbers_of_a_trace, numbers_that_are_not_known, numbers_of_devices, step_time_is_the_headline, verdict_comes_first, causes_of_idle_time, numbers_of_memory, memory_of_a_snapshot, moments_and_segments, numbers_of_the_roofline, numbers_of_diff, advice_leads_there, significance_of_diff, search_filters_and_counts, address_cannot_hang, zoom_and_link, keyboard_in_the_table, keyboard_alone,
                                           metric_and_sort, workers_are_chosen, timeline_moves, path_on_the_timeline, names_are_text, functions_are_reduced, large_is_usable, dark_and_print, served_page, accessibility]
    chosen += [in_firefox(c) for c in (every_page, numbers_of_the_command, numbers_of_diff, search_filters_and_counts, address_cannot_hang, zoom_and_link, keyboard_in_the_table,
                                       metric_and_sort, timeline_moves, path_on_the_timeline, names_are_text, functions_are_reduced, served_page)]
    if ARGS.names:
        chosen = [c for c in chosen if any(n in c.__name__ for n in ARGS.names)]
    if not has(ARGS.program, 'page') or not shutil.which('chromedriver'):
        print('skipped: %s' % ('no chromedriver (Debian: chromium-driver)' if has(ARGS.program, 'page') else 'no page in this build'))
        print('0 passed, 0 failed, %d skipped' % len(chosen))
        return 0
    BROWSER = Browser()
    try:
        return cases.run(chosen)
    finally:
        BROWSER.close()
        if FIREFOX:
            FIREFOX.close()


if __name__ == '__main__':
    a = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    a.add_argument('--program', default=os.path.join(inputs.ROOT, 'build/check/tfprof'))
    a.add_argument('--shots', default=os.path.join(inputs.ROOT, 'build', 'web'))
    a.add_argument('names', nargs='*')
    ARGS = a.parse_args()
    ARGS.program, ARGS.shots = os.path.abspath(ARGS.program), os.path.abspath(ARGS.shots)
    os.makedirs(ARGS.shots, exist_ok=True)
    sys.exit(main())
