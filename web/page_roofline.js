// SPDX-License-Identifier: Apache-2.0
// Roofline: float operations per second of ops by their intensity, below the peaks of the device.
import { scaleLog, scaleSqrt } from 'd3-scale';
import { figure } from './charts.js';
import { copyButton, el, replace, svg } from './dom.js';
import { coverage, exact, nanoseconds, number, plain, quote, shorten, tick } from './format.js';
import { rowsTable } from './data.js';
import { fillOf } from './palette.js';
import { dataTable } from './table.js';
import { hide, show } from './tooltip.js';

const HEIGHT = 380, LEFT = 96, BOTTOM = 40, TOP = 28, RIGHT = 16, LABEL = 150, POINTS = 400;

// A domain of whole powers of ten around the values.
function decades(values) {
	const low = Math.floor(Math.log10(Math.min(...values))), high = Math.ceil(Math.log10(Math.max(...values)) + 1e-9);
	return [10 ** low, 10 ** Math.max(high, low + 1)];
}

function powers([low, high]) {
	const out = [], step = Math.max(1, Math.ceil(Math.log10(high / low) / 8));
	for (let k = Math.round(Math.log10(low)); k <= Math.round(Math.log10(high)); k += step)
		out.push(10 ** k);
	return out;
}

// Peaks, each pair once.
function roofs(peaks) {
	const seen = new Map();
	for (const p of peaks)
		if (p.flops_per_second > 0 && p.bytes_per_second > 0)
			seen.set(p.flops_per_second + '/' + p.bytes_per_second, p);
	return [...seen.values()];
}

function chart(width, rows, peaks, select) {
	const list = roofs(peaks), value = r => r.float_ops / r.bytes_accessed;
	const ridge = list.map(p => p.flops_per_second / p.bytes_per_second);
	const dx = decades([...rows.map(value), ...ridge]), dy = decades([...rows.map(r => r.flops_per_second), ...list.map(p => p.flops_per_second)]);
	const x = scaleLog().domain(dx).range([LEFT, width - RIGHT]), y = scaleLog().domain(dy).range([HEIGHT - BOTTOM, TOP]);
	const size = scaleSqrt().domain([0, rows[0].time_ns]).range([3, 15]);
	const grid = [...powers(dx).map(v => svg('g', {}, svg('line', { x1: x(v), x2: x(v), y1: TOP, y2: HEIGHT - BOTTOM, class: 'grid' }), svg('text', { x: x(v), y: HEIGHT - BOTTOM + 16, 'text-anchor': 'middle' }, tick(v, v < 1000 ? 'ratio' : 'count')))),
		...powers(dy).map(v => svg('g', {}, svg('line', { x1: LEFT, x2: width - RIGHT, y1: y(v), y2: y(v), class: 'grid' }), svg('text', { x: LEFT - 8, y: y(v) + 4, 'text-anchor': 'end' }, tick(v, 'flop/s'))))];
	const lines = list.map((p, i) => {
		const from = Math.max(dx[0], dy[0] / p.bytes_per_second);
		return svg('path', { class: 'roof', d: `M${x(from)} ${y(from * p.bytes_per_second)}L${x(ridge[i])} ${y(p.flops_per_second)}H${width - RIGHT}` });
	});
	// Labels end where the flat part of the roof begins. All points are below the roof, so labels do not cover them.
	const labels = list.map((p, i) => svg('text', { x: Math.max(x(ridge[i]) - 8, LEFT + LABEL), y: y(p.flops_per_second) - 8, 'text-anchor': 'end', class: 'strong' }, `${tick(p.flops_per_second, 'flop/s')} flop/s, ${tick(p.bytes_per_second, 'bytes/s')}`));
	const points = rows.slice().reverse().map(r => svg('circle', { cx: x(value(r)), cy: y(r.flops_per_second), r: size(r.time_ns), class: 'point', style: { fill: fillOf(r.type || r.op) },
		onpointermove: e => show(e, shorten(plain(r.op), 300), [['Time', nanoseconds(r.time_ns)], ['Rate', number(r.flops_per_second, 'flop/s') + ' flop/s'], ['Memory', number(r.bytes_per_second, 'bytes/s')],
			['Intensity', number(value(r), 'flop/B') + ' flop/B'], r.roof === null ? null : ['Roof', number(r.roof, 'percent') + ', ' + r.bound + ' bound, ' + nanoseconds(r.saved_ns) + ' saved there']]), onpointerleave: hide, onclick: () => select(r) }));
	return svg('svg', { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: 'img', 'aria-label': 'Float operations per second against float operations per byte', class: 'chart' }, grid,
		svg('text', { x: (LEFT + width) / 2, y: HEIGHT - 6, 'text-anchor': 'middle' }, 'float operations per byte'), lines, points, labels);
}

export async function rooflinePage(report, entry) {
	const d = entry.document, rows = d.roofline, drawn = rows.filter(r => r.float_ops > 0 && r.bytes_accessed > 0).slice(0, POINTS), known = roofs(d.peaks).length > 0;
	const details = el('section', { class: 'details', 'aria-label': 'Selected op' }, el('p', { class: 'muted' }, 'Click a point to see its numbers.'));
	const select = r => replace(details, el('h2', { class: 'path' }, plain(r.op)), el('div', { class: 'facts' }, [['Time', exact(r.time_ns, 'ns')], ['Runs', exact(r.runs)], ['Float operations', (r.rated_ns < r.time_ns ? '\u2265' : '') + exact(r.float_ops)],
		['Bytes accessed', exact(r.bytes_accessed, 'bytes')], ['Rate', number(r.flops_per_second, 'flop/s') + ' flop/s'], ['Memory', number(r.bytes_per_second, 'bytes/s')], ['Type', plain(r.type || r.op)], ['Device', plain(r.device)]]
		.map(([k, v]) => el('span', {}, el('span', { class: 'muted' }, k + ' '), v))));
	const text = !drawn.length ? 'The chart is empty: no op in the file has both float operations and bytes accessed.'
		: 'Each point is an op; larger points are ops that take more time. ' + (known ? 'The line is the limit of the device: its memory bandwidth on the left, its float operations per second on the right.' : 'The peaks of the device are not known, so no line is drawn.');
	const counted = coverage(d) && ` Float operations are ${coverage(d)}.`;
	return el('div', { class: 'stack' }, el('p', { class: 'hint' }, text, counted),
		drawn.length ? el('section', { class: 'card' }, el('h2', {}, 'Roofline'), figure(width => chart(width, drawn, d.peaks, select)), details) : null,
		el('section', { class: 'card' }, el('div', { class: 'cardhead' }, el('h2', {}, 'Ops'), el('span', { class: 'muted' }, d.row_count.toLocaleString('en-US') + (d.row_count === 1 ? ' row' : ' rows')), el('span', { class: 'grow' }),
			copyButton('Copy command', () => ['tfprof', ...entry.words].map(quote).join(' '))), dataTable(rowsTable(d, 'roofline'), { name: 'Ops', filter: true, sort: 'time_ns' })));
}
