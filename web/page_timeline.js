// SPDX-License-Identifier: Apache-2.0
// Timeline: lanes of devices, streams and threads.
import { legend } from './charts.js';
import { button, el, replace } from './dom.js';
import { exact, nanoseconds, plain } from './format.js';
import { Lanes } from './lanes.js';
import { Path } from './path.js';
import { HINT, search } from './search.js';
import { read, update } from './state.js';
import { Timeline } from './timeline.js';

const ROWS = 100000, SETTLE = 200; // of an answer of the server; milliseconds without a movement

export async function timelinePage(report, which) {
	const entry = await report.entry('slices', which), critical = await report.entry('critical', which);
	const path = critical ? new Path(critical.document) : null;
	let lanes = new Lanes(entry.document), matches = [], at = -1, timer = 0;
	const details = el('section', { class: 'details', 'aria-label': 'Selected slice' }), found = el('span', { class: 'muted', id: 'found' });
	const view = new Timeline({ select: describe, moved, segment });

	function describe(row) {
		const t = lanes.table;
		if (row < 0)
			return replace(details, el('p', { class: 'muted' }, 'Click a slice to see its details. Zoom with W and S or with Ctrl and the wheel, move with A and D or by dragging, and press 0 to show the whole trace.'));
		const track = lanes.tracks.find(k => k.track === t.value('track', row)), count = t.value('count', row);
		const launch = t.value('launch', row), from = launch === null ? -1 : lanes.rowOf(launch), number = t.value('slice', row), to = number === null ? [] : lanes.launchedBy(number);
		const facts = [['Duration', exact(lanes.length[row], 'ns')], ['Start', exact(lanes.start[row] - entry.document.start_ns, 'ns')], ['Category', t.value('category', row)],
			['Track', [track.title, track.name].filter(Boolean).join(' \u00b7 ')], count > 1 ? ['Slices', count.toLocaleString('en-US') + ' (named after the longest)'] : null,
			from >= 0 ? ['Launched', nanoseconds(lanes.start[row] - lanes.start[from]) + ' before its start'] : null, to.length ? ['Launches', to.length === 1 ? lanes.labels(to[0]) : to.length + ' slices'] : null];
		replace(details, el('h2', { class: 'path' }, lanes.names(row).slice(0, 1000)),
			el('div', { class: 'facts' }, facts.filter(Boolean).map(([k, v]) => el('span', {}, el('span', { class: 'muted' }, k + ' '), v)),
				from >= 0 ? button('Show launch', { class: 'link' }, () => view.find(from)) : null, to.length ? button('Show launched work', { class: 'link' }, () => view.find(to[0])) : null));
	}

	// Describes a segment of the critical path.
	function segment(s) {
		const row = s.slice === null ? -1 : lanes.rowOf(s.slice);
		view.selected = row;
		replace(details, el('h2', { class: 'path' }, path.name(s).slice(0, 1000)),
			el('div', { class: 'facts' }, [['Critical path', path.texts.get(s.kind)], ['Duration', exact(s.duration_ns, 'ns')], ['Start', exact(s.start_ns - entry.document.start_ns, 'ns')],
				s.track === null ? null : ['Track', plain(s.track)], s.line === null ? null : ['Line', plain(s.line)]].filter(Boolean)
				.map(([k, v]) => el('span', {}, el('span', { class: 'muted' }, k + ' '), v)),
			row >= 0 ? button('Show slice', { class: 'link' }, () => view.find(row)) : null));
	}

	// Shows or hides the path.
	function follow(on) {
		view.path = on ? path : null;
		button_.setAttribute('aria-pressed', String(on));
		update({ path: on ? '' : 'no' });
		replace(kinds, on ? [el('p', { class: 'hint' }, `${path.title}. The strip at the top shows the path; in the tracks, its parts are underlined. ${path.mark}`,
			path.left ? `  The strip shows the first ${path.segments.length.toLocaleString('en-US')} of ${(path.segments.length + path.left).toLocaleString('en-US')} segments.` : ''), legend(path.kinds)] : []);
		view.draw();
	}

	// Remembers the time that is shown; live, asks for its details once the movement ends.
	function moved(from, to) {
		clearTimeout(timer);
		timer = setTimeout(async () => {
			update({ from: Math.round(from), to: Math.round(to) });
			const d = lanes.document;
			if (!report.live || !entry.document.resolution_ns || (d.from_ns <= from && d.to_ns >= to && d.resolution_ns <= (to - from) / view.width))
				return;
			const length = to - from, answer = await report.run([...entry.run.slice(0, entry.run.indexOf('slices')), 'slices', String(Math.floor(from - length)), String(Math.ceil(to + length)), String(ROWS)]);
			lanes = new Lanes({ ...answer, start_ns: entry.document.start_ns, end_ns: entry.document.end_ns });
			view.selected = -1;
			view.set(lanes, from, to);
			look(box.value);
		}, SETTLE);
	}

	function look(text) {
		update({ q: text });
		search(text, lanes.n, lanes.names, hits => {
			matches = [];
			view.match = hits.match;
			for (let i = 0; hits.match && i < lanes.n; i++)
				if (hits.match[i])
					matches.push(i);
			matches.sort((a, b) => lanes.start[a] - lanes.start[b]);
			at = -1;
			found.textContent = hits.match ? `${matches.length.toLocaleString('en-US')} found` : hits.note;
			view.draw();
		});
	}

	function next(by) {
		if (!matches.length)
			return;
		at = (at + by + matches.length) % matches.length;
		view.find(matches[at]);
		found.textContent = `${at + 1} of ${matches.length.toLocaleString('en-US')}`;
	}

	const values = read().values;
	const box = el('input', { type: 'search', placeholder: 'Search slices', title: HINT, 'aria-label': 'Search slices', value: values.get('q') || '', oninput: () => look(box.value),
		onkeydown: e => { if (e.key === 'Enter') next(e.shiftKey ? -1 : 1); } });
	const kinds = el('div', { class: 'pathkinds' }), button_ = path && button('Critical path', { class: 'ghost' }, () => follow(!view.path));
	const d = entry.document, reduced = d.resolution_ns > 0;
	const margin = (d.end_ns - d.start_ns) * 0.01;
	const [from, to] = ['from', 'to'].map(name => Number(values.get(name)));
	view.set(lanes, ...to > from ? [from, to] : [d.start_ns - margin, d.end_ns + margin]);
	if (path)
		follow(values.get('path') !== 'no');
	if (box.value)
		look(box.value);
	describe(-1);
	return el('div', { class: 'view' }, el('div', { class: 'toolbar' }, box, button('Previous', { class: 'ghost' }, () => next(-1)), button('Next', { class: 'ghost' }, () => next(1)), found, el('span', { class: 'grow' }),
		el('span', { class: 'muted' }, d.slices.toLocaleString('en-US') + ' slices'),
		button_, path && button('Show path', { class: 'ghost' }, () => view.show(path.from, path.to)),
		button('\u2212', { class: 'ghost', 'aria-label': 'Zoom out' }, () => view.zoom(1 / 0.6)), button('+', { class: 'ghost', 'aria-label': 'Zoom in' }, () => view.zoom(0.6)), button('Fit', { class: 'ghost' }, () => view.all())),
	reduced && !report.live ? el('p', { class: 'hint' }, `Adjacent slices shorter than ${nanoseconds(d.resolution_ns)} are drawn as one. `, el('code', {}, 'tfprof serve'), ' shows every slice.') : null,
	kinds, view.box, details);
}
