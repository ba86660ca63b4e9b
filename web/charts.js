// SPDX-License-Identifier: Apache-2.0
// Small charts for the overview: lists of bars and stacked bars.
import { scaleLinear } from 'd3-scale';
import { el, replace, svg } from './dom.js';
import { number, percent, tick } from './format.js';

// A figure that is drawn anew when its width changes. make(width, again): its content; again(): draws it anew.
export function figure(make) {
	const box = el('figure');
	let width = 0;
	const again = () => replace(box, make(width, again));
	new ResizeObserver(() => {
		const now = Math.floor(box.clientWidth);
		if (now && now !== width) {
			width = now;
			again();
		}
	}).observe(box);
	return box;
}

// items: [{ label, value, link, title }]
export function barList(items, unit, whole) {
	const most = Math.max(...items.map(x => x.value), 1);
	return el('ol', { class: 'bars' }, items.map(x => el('li', {},
		el('a', { href: x.link, title: x.title || x.label, class: 'bar', style: { '--share': x.value / most } }, el('span', { class: 'clip' }, x.label || '(no name)')),
		el('span', { class: 'num' }, number(x.value, unit)), el('span', { class: 'num muted' }, percent(x.value, whole)))));
}

export function legend(parts) {
	return el('ul', { class: 'legend' }, parts.map(p => el('li', {}, el('i', { style: { background: `var(${p.color})` } }), p.label)));
}

// One column per step. parts: [{ label, color, value(i) }]
export function stacked(n, parts, label, unit, name) {
	return figure(width => columns(width, n, parts, label, unit, name));
}

function columns(width, n, parts, label, unit, name) {
	parts = parts.filter(p => Array.from({ length: n }, (_, i) => p.value(i)).some(v => v > 0));
	const height = 190, left = 62, bottom = 22, top = 8;
	const sums = Array.from({ length: n }, (_, i) => parts.reduce((a, p) => a + p.value(i), 0));
	const y = scaleLinear().domain([0, Math.max(...sums, 1)]).nice(4).range([height - bottom, top]);
	const step = (width - left) / n, bar = Math.min(72, Math.max(1, step - Math.min(6, step / 4)));
	const ticks = y.ticks(4).map(v => svg('g', {},
		svg('line', { x1: left, x2: width, y1: y(v), y2: y(v), class: 'grid' }),
		svg('text', { x: left - 8, y: y(v) + 4, 'text-anchor': 'end' }, tick(v, unit))));
	const every = Math.ceil(n / Math.max(1, Math.min(16, (width - left) / 64)));
	const bars = sums.map((sum, i) => {
		let below = 0;
		const x = left + i * step + (step - bar) / 2;
		const boxes = parts.filter(p => p.value(i) > 0).map(p => {
			const from = below, v = p.value(i);
			below += v;
			return svg('rect', { x, width: bar, y: y(below), height: Math.max(0, y(from) - y(below)), style: { fill: `var(${p.color})` } });
		});
		const tip = [label(i), ...parts.filter(p => p.value(i) > 0).map(p => `${p.label}: ${number(p.value(i), unit)}`)].join('\n');
		return svg('g', {}, svg('title', {}, tip), boxes,
			i % every === 0 ? svg('text', { x: x + bar / 2, y: height - 6, 'text-anchor': 'middle' }, label(i)) : null);
	});
	return [svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': name, class: 'chart' }, ticks, bars), legend(parts)];
}

// One line per thing. parts as above.
export function utilisation(n, parts, label, note) {
	return el('div', { class: 'util' }, Array.from({ length: n }, (_, i) => {
		const sum = parts.reduce((a, p) => a + p.value(i), 0) || 1;
		return [el('span', { class: 'clip', title: label(i) }, label(i)),
			el('span', { class: 'track', title: parts.map(p => `${p.label}: ${percent(p.value(i), sum)}`).join('\n') },
				parts.map(p => el('i', { style: { background: `var(${p.color})`, width: 100 * p.value(i) / sum + '%' } }))),
			el('span', { class: 'num' }, note(i))];
	}));
}
