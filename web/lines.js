// SPDX-License-Identifier: Apache-2.0
// A chart of one number over time, as steps: its value holds until the next moment.
import { scaleLinear } from 'd3-scale';
import { el, svg } from './dom.js';
import { nanoseconds, number } from './format.js';
import { hide, show } from './tooltip.js';

const HEIGHT = 180, LEFT = 76, BOTTOM = 22, TOP = 10;

// The last index whose time is not after t.
function indexAt(times, t) {
	let low = 0, high = times.length - 1;
	while (low < high) {
		const mid = (low + high + 1) >> 1;
		if (times[mid] <= t)
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

// times: ascending nanoseconds; options: { unit, name, limit: [value, label], press(time) }
export function stepChart(times, values, options) {
	const width = Math.max(320, Math.min(1240, innerWidth - 120)), start = times[0], end = Math.max(times[times.length - 1], start + 1);
	const most = values.reduce((a, v) => Math.max(a, v), 1), limit = options.limit && options.limit[0] < 4 * most ? options.limit : null;
	const x = scaleLinear().domain([start, end]).range([LEFT, width - 12]);
	const y = scaleLinear().domain([0, Math.max(most, limit ? limit[0] : 0)]).nice(4).range([HEIGHT - BOTTOM, TOP]);
	const at = values.findIndex(v => v === most);
	let line = `M${x(start)} ${y(values[0])}`;
	for (let i = 1; i < times.length; i++)
		line += `H${x(times[i]).toFixed(1)}V${y(values[i]).toFixed(1)}`;
	line += `H${x(end)}`;
	const ticks = y.ticks(4).map(v => svg('g', {}, svg('line', { x1: LEFT, x2: width - 12, y1: y(v), y2: y(v), class: 'grid' }),
		svg('text', { x: LEFT - 8, y: y(v) + 4, 'text-anchor': 'end' }, v ? number(v, options.unit) : '0')));
	const moments = scaleLinear().domain([0, end - start]).ticks(width / 140).map(t => svg('text', { x: Math.min(x(start + t), width - 30), y: HEIGHT - 5, 'text-anchor': 'middle' }, nanoseconds(t)));
	const cursor = svg('line', { y1: TOP, y2: HEIGHT - BOTTOM, class: 'cursor', visibility: 'hidden' });
	const move = e => {
		const box = chart.getBoundingClientRect(), t = x.invert((e.clientX - box.left) * width / box.width);
		if (t < start || t > end)
			return leave();
		const i = indexAt(times, t);
		cursor.setAttribute('x1', x(t));
		cursor.setAttribute('x2', x(t));
		cursor.setAttribute('visibility', 'visible');
		show(e, number(values[i], options.unit), [['After', nanoseconds(t - start)]]);
	};
	const leave = () => {
		cursor.setAttribute('visibility', 'hidden');
		hide();
	};
	const chart = svg('svg', { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: 'img', 'aria-label': options.name, class: 'chart', onpointermove: move, onpointerleave: leave },
		ticks, moments, svg('path', { d: `${line}V${y(0)}H${x(start)}Z`, class: 'area' }), svg('path', { d: line, class: 'line' }),
		limit ? svg('g', {}, svg('line', { x1: LEFT, x2: width - 12, y1: y(limit[0]), y2: y(limit[0]), class: 'limit' }), svg('text', { x: width - 16, y: y(limit[0]) - 4, 'text-anchor': 'end' }, limit[1])) : null,
		svg('circle', { cx: x(times[at]), cy: y(most), r: 4, class: 'peak' }), cursor);
	return el('figure', {}, chart);
}
