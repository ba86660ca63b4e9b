// SPDX-License-Identifier: Apache-2.0
// A chart of one number over time, as steps: its value holds until the next moment.
import { scaleLinear } from 'd3-scale';
import { figure } from './charts.js';
import { button, svg } from './dom.js';
import { nanoseconds, number, tick } from './format.js';
import { hide, show } from './tooltip.js';

const HEIGHT = 180, LEFT = 76, BOTTOM = 22, TOP = 10, RIGHT = 12, DRAG = 5; // pixels; a shorter drag is a click

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

// times: ascending nanoseconds; options: { unit, name, from, to: the time that is shown, limit: [value, label], layers: [{ label, color, values }] that add up
// to the values, pick(index, time): called on a click }. Dragging shows a part of the time.
export function stepChart(times, values, options) {
	let shown = { from: options.from, to: options.to };
	return figure((width, again) => {
		const zoom = (from, to) => {
			shown = { from, to };
			again();
		};
		const part = shown.from > options.from || shown.to < options.to;
		return [draw(width, ...cut(times, values, options, shown), zoom),
			part ? button('Show all', { class: 'ghost' }, () => zoom(options.from, options.to)) : null];
	});
}

// The moments of a part of the time: times, values and options as for draw.
function cut(times, values, options, { from, to }) {
	const first = indexAt(times, from), end = indexAt(times, to) + 1, part = list => list.slice(first, end);
	return [part(times).map(t => Math.max(t, from)), part(values),
		{ ...options, from, to, start: options.from, first, layers: (options.layers || []).map(l => ({ ...l, values: part(l.values) })) }];
}

// The area between the sums of two lists of layers.
function between(times, x, y, end, lower, upper) {
	const sum = (list, i) => list.reduce((a, l) => a + l.values[i], 0), forth = [], back = [];
	for (let i = 0; i < times.length; i++) {
		const left = x(times[i]).toFixed(1), right = x(i + 1 < times.length ? times[i + 1] : end).toFixed(1);
		forth.push(`${left} ${y(sum(upper, i)).toFixed(1)}H${right}`);
		back.push(`${right} ${y(sum(lower, i)).toFixed(1)}H${left}`);
	}
	return `M${forth.join('L')}L${back.reverse().join('L')}Z`;
}

function draw(width, times, values, options, zoom) {
	const start = options.from, end = Math.max(options.to, start + 1);
	const most = values.reduce((a, v) => Math.max(a, v), 1), limit = options.limit && options.limit[0] < 4 * most ? options.limit : null;
	const x = scaleLinear().domain([start, end]).range([LEFT, width - RIGHT]);
	const y = scaleLinear().domain([0, Math.max(most, limit ? limit[0] : 0)]).nice(4).range([HEIGHT - BOTTOM, TOP]);
	const at = Math.max(0, values.findIndex(v => v === most));
	let line = `M${x(times[0])} ${y(values[0])}`;
	for (let i = 1; i < times.length; i++)
		line += `H${x(times[i]).toFixed(1)}V${y(values[i]).toFixed(1)}`;
	line += `H${x(end)}`;
	const layers = (options.layers || []).map((l, k, all) => svg('path', { d: between(times, x, y, end, all.slice(0, k), all.slice(0, k + 1)), style: { fill: `var(${l.color})` }, class: 'layer' }));
	const ticks = y.ticks(4).map(v => svg('g', {}, svg('line', { x1: LEFT, x2: width - RIGHT, y1: y(v), y2: y(v), class: 'grid' }),
		svg('text', { x: LEFT - 8, y: y(v) + 4, 'text-anchor': 'end' }, tick(v, options.unit))));
	const moments = scaleLinear().domain([start - options.start, end - options.start]).ticks(Math.max(2, width / 140)).filter(t => Number.isInteger(t) && x(options.start + t) < width - 36)
		.map(t => svg('text', { x: x(options.start + t), y: HEIGHT - 5, 'text-anchor': t ? 'middle' : 'start' }, tick(t, 'ns')));
	const cursor = svg('line', { y1: TOP, y2: HEIGHT - BOTTOM, class: 'cursor', visibility: 'hidden' });
	const chosen = svg('rect', { y: TOP, height: HEIGHT - BOTTOM - TOP, class: 'chosen', visibility: 'hidden' });
	const timeAt = e => {
		const box = chart.getBoundingClientRect();
		return x.invert((e.clientX - box.left) * width / box.width);
	};
	let pressed = null; // the pixel and the time where a drag began
	const drag = t => {
		const [left, right] = [x(Math.min(t, pressed.t)), x(Math.max(t, pressed.t))];
		chosen.setAttribute('x', left);
		chosen.setAttribute('width', right - left);
		chosen.setAttribute('visibility', right - left > DRAG ? 'visible' : 'hidden');
	};
	const move = e => {
		const t = Math.min(Math.max(timeAt(e), pressed ? start : -Infinity), pressed ? end : Infinity);
		if (t < start || t > end)
			return leave();
		if (pressed)
			drag(t);
		const i = indexAt(times, t);
		cursor.setAttribute('x1', x(t));
		cursor.setAttribute('x2', x(t));
		cursor.setAttribute('visibility', 'visible');
		show(e, t < times[0] ? 'before the first allocation' : number(values[i], options.unit), [['After', nanoseconds(t - options.start)],
			...(options.layers || []).filter(l => t >= times[0] && l.values[i] > 0).map(l => [l.label, number(l.values[i], options.unit)])]);
	};
	const leave = () => {
		cursor.setAttribute('visibility', 'hidden');
		hide();
	};
	const press = e => {
		const t = timeAt(e);
		if (e.button || t < start || t > end)
			return;
		pressed = { at: e.clientX, t };
		chart.setPointerCapture(e.pointerId);
	};
	const release = e => {
		const begin = pressed, t = Math.min(Math.max(timeAt(e), start), end);
		pressed = null;
		if (!begin)
			return;
		if (Math.abs(e.clientX - begin.at) > DRAG)
			zoom(Math.min(t, begin.t), Math.max(t, begin.t));
		else if (options.pick && t >= times[0])
			options.pick(options.first + indexAt(times, t), t);
	};
	const chart = svg('svg', { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: 'img', 'aria-label': options.name, class: 'chart', onpointermove: move, onpointerleave: leave, onpointerdown: press, onpointerup: release },
		ticks, moments, layers.length ? layers : svg('path', { d: `${line}V${y(0)}H${x(times[0])}Z`, class: 'area' }), svg('path', { d: line, class: 'line' }),
		limit ? svg('g', {}, svg('line', { x1: LEFT, x2: width - RIGHT, y1: y(limit[0]), y2: y(limit[0]), class: 'limit' }), svg('text', { x: width - 16, y: y(limit[0]) - 4, 'text-anchor': 'end' }, limit[1])) : null,
		svg('circle', { cx: x(times[at]), cy: y(values[at]), r: 4, class: 'peak' }), chosen, cursor);
	return chart;
}
