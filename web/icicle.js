// SPDX-License-Identifier: Apache-2.0
// An icicle (flame graph, root on top) on a canvas. Draws only what is wider than half a pixel.
import { el, everyFrame, sharp } from './dom.js';
import { hide, show } from './tooltip.js';
import { css, dark } from './palette.js';

const ROW = 21, LEAST = 0.5, LABEL = 28, LEVELS = 200, ELLIPSIS = 12;

// options: { fill(i), label(i), tip(i) -> [title, rows], select(i), zoom(i) }
export class Icicle {
	constructor(options) {
		this.o = options;
		this.canvas = el('canvas', { role: 'img', 'aria-label': options.name, tabindex: -1 });
		this.box = el('div', { class: 'icicle' }, this.canvas);
		this.draw = everyFrame(() => this.paint());
		this.hits = [];
		this.selected = -1;
		this.hovered = -1;
		this.zoomed = 0;
		this.canvas.addEventListener('mousemove', e => this.hover(e));
		this.canvas.addEventListener('mouseleave', () => { this.hovered = -1; hide(); this.draw(); });
		this.canvas.addEventListener('click', e => this.click(e));
		new ResizeObserver(this.draw).observe(this.box);
	}

	// found: {match, near} of a search, or null.
	set(tree, values, zoomed, selected, found) {
		Object.assign(this, { tree, values, zoomed, selected, found });
		this.draw();
	}

	// Lays out the ancestors of the zoomed entry in full width, then what is below it.
	layout(width) {
		const { tree, zoomed, values } = this, hits = [];
		const up = tree.ancestors(zoomed);
		up.forEach((i, level) => hits.push({ i, level, x: 0, w: width }));
		const whole = values.total[zoomed] || 1, stack = [{ i: zoomed, level: up.length - 1, x: 0, w: width }];
		while (stack.length) {
			const at = stack.pop(), below = tree.children(at.i).sort((a, b) => values.total[b] - values.total[a] || a - b);
			let x = at.x;
			for (const k of below) {
				const w = width * values.total[k] / whole;
				if (at.level + 1 >= LEVELS || !w)
					break;
				const box = { i: k, level: at.level + 1, x, w };
				hits.push(box);
				if (w < LEAST) {
					const rest = below.slice(below.indexOf(k));
					Object.assign(box, { many: rest.length, w: width * rest.reduce((sum, i) => sum + values.total[i], 0) / whole });
					break;
				}
				stack.push(box);
				x += w;
			}
		}
		return hits;
	}

	paint() {
		const width = this.box.clientWidth;
		if (!this.tree || !width)
			return;
		this.hits = this.layout(width);
		const levels = this.hits.reduce((m, h) => Math.max(m, h.level), 0) + 1;
		const c = sharp(this.canvas, width, levels * ROW + 1);
		c.clearRect(0, 0, width, levels * ROW + 1);
		c.font = '12px ' + css('--sans');
		c.textBaseline = 'middle';
		for (const h of this.hits)
			this.box_(c, h);
	}

	box_(c, h) {
		const y = h.level * ROW, dim = this.found && !this.found.near[h.i];
		const gap = h.w > 3 ? 1 : 0;
		c.globalAlpha = dim ? 0.25 : 1;
		c.fillStyle = h.many || h.i === 0 || h.level < this.tree.depth[this.zoomed] ? css('--raised') : this.o.fill(h.i);
		c.fillRect(h.x, y, Math.max(h.w - gap, LEAST), ROW - 1);
		if (this.found && this.found.match[h.i]) {
			c.fillStyle = css('--accent');
			c.fillRect(h.x, y + ROW - 4, Math.max(h.w - gap, LEAST), 3);
		}
		if (h.i === this.selected || h.i === this.hovered) {
			c.strokeStyle = h.i === this.selected ? css('--accent') : css('--text');
			c.lineWidth = h.i === this.selected ? 2 : 1;
			c.strokeRect(h.x + 1, y + 1, Math.max(h.w - gap - 2, 0), ROW - 3);
		}
		if (h.w >= LABEL) {
			c.fillStyle = dark() ? '#eef1f5' : '#17202b';
			c.fillText(fit(c, h.many ? h.many.toLocaleString('en-US') + ' smaller entries' : this.o.label(h.i), h.w - 10), h.x + 5, y + ROW / 2);
		}
		c.globalAlpha = 1;
	}

	at(e) {
		const box = this.canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
		const hit = this.hits.find(h => x >= h.x && x < h.x + h.w && y >= h.level * ROW && y < (h.level + 1) * ROW);
		this.many = hit && hit.many ? hit : null;
		return hit ? hit.i : -1;
	}

	hover(e) {
		const i = this.at(e);
		if (i !== this.hovered) {
			this.hovered = i;
			this.draw();
		}
		if (i < 0)
			hide();
		else
			show(e, ...this.many ? [`${this.many.many.toLocaleString('en-US')} smaller entries`, [['Parent', this.o.label(this.tree.parent[i])]]] : this.o.tip(i));
		this.canvas.style.cursor = i < 0 ? 'default' : 'pointer';
	}

	click(e) {
		const i = this.at(e);
		if (i >= 0)
			this.o.select(i);
	}
}

const widths = new Map();

// The text cut to a width, by the mean width of its letters and then exactly.
export function fit(c, text, room) {
	const most = Math.floor(room / 4);
	let s = text.length > most ? text.slice(0, most) : text;
	const key = c.font + s;
	if (widths.size > 20000)
		widths.clear();
	if (!widths.has(key))
		widths.set(key, c.measureText(s).width);
	const w = widths.get(key);
	if (w <= room && s.length === text.length)
		return s;
	s = s.slice(0, Math.max(0, Math.floor(s.length * Math.min(1, (room - ELLIPSIS) / w))));
	return s.length > 1 ? s + '\u2026' : '';
}
