// SPDX-License-Identifier: Apache-2.0
// The canvas of the timeline: draws the visible lanes; pans and zooms by mouse, keys and touch.
import { scaleLinear } from 'd3-scale';
import { el, everyFrame, sharp } from './dom.js';
import { nanoseconds } from './format.js';
import { fillOf, css, dark } from './palette.js';
import { firstAfter, GAP, HEAD, LANE } from './lanes.js';
import { fit } from './icicle.js';
import { hide, show } from './tooltip.js';

const AXIS = 24, STRIP = 22, MARK = 3, SHORTEST = 20; // pixels; the last one visible nanoseconds

// options: { select(row), moved(from, to), segment(s) }
export class Timeline {
	constructor(options) {
		this.o = options;
		this.canvas = el('canvas', { tabindex: 0, role: 'application', 'aria-label': 'Timeline: W and S zoom, A and D move, arrows scroll, 0 shows the whole trace' });
		this.box = el('div', { class: 'timeline' }, this.canvas);
		this.top = 0;
		this.selected = -1;
		this.hovered = -1;
		this.match = null;
		this.path = null; // the critical path, drawn as a strip below the axis and marked in its slices
		this.pointers = new Map();
		this.draw = everyFrame(() => this.paint());
		const on = (name, f, o) => this.canvas.addEventListener(name, f, o);
		on('wheel', e => this.wheel(e), { passive: false });
		on('pointerdown', e => this.down(e));
		on('pointermove', e => this.move(e));
		on('pointerup', e => this.up(e));
		on('pointercancel', e => this.pointers.delete(e.pointerId));
		on('pointerleave', () => { this.hovered = -1; hide(); this.draw(); });
		on('keydown', e => this.key(e));
		new ResizeObserver(this.draw).observe(this.box);
	}

	set(lanes, from, to) {
		this.lanes = lanes;
		this.box.style.setProperty('--content', lanes.height + AXIS + STRIP + 12 + 'px');
		this.place(from, to);
		this.draw();
	}

	// Pixels above the lanes.
	get head() {
		return AXIS + (this.path ? STRIP : 0);
	}

	x(t) {
		return this.gutter + (t - this.from) / (this.to - this.from) * (this.width - this.gutter);
	}

	time(x) {
		return this.from + (x - this.gutter) / (this.width - this.gutter) * (this.to - this.from);
	}

	limits() {
		return [this.lanes.document.start_ns, Math.max(this.lanes.document.end_ns, this.lanes.document.start_ns + SHORTEST)];
	}

	// Sets the visible time to an interval, moved into the trace.
	place(from, to) {
		const [start, end] = this.limits(), whole = end - start, length = Math.min(whole * 1.04, Math.max(SHORTEST, to - from));
		this.from = Math.max(start - whole * 0.02, Math.min(from, end + whole * 0.02 - length));
		this.to = this.from + length;
	}

	show(from, to) {
		this.place(from, to);
		this.o.moved(this.from, this.to);
		this.draw();
	}

	zoom(factor, at) {
		const t = at === undefined ? (this.from + this.to) / 2 : at;
		this.show(t - (t - this.from) * factor, t + (this.to - t) * factor);
	}

	pan(share) {
		const by = (this.to - this.from) * share;
		this.show(this.from + by, this.to + by);
	}

	all() {
		const [start, end] = this.limits();
		this.show(start - (end - start) * 0.01, end + (end - start) * 0.01);
	}

	scroll(by) {
		this.top = Math.max(0, Math.min(this.top + by, this.lanes.height + this.head - this.height));
		this.draw();
	}

	// ---- drawing ----

	paint() {
		this.width = this.box.clientWidth;
		this.gutter = this.width < 700 ? 96 : 220;
		if (!this.lanes || !this.width)
			return;
		this.height = Math.max(160, this.box.clientHeight);
		this.top = Math.max(0, Math.min(this.top, this.lanes.height + this.head - this.height));
		const c = sharp(this.canvas, this.width, this.height);
		c.font = '11px ' + css('--sans');
		c.textBaseline = 'middle';
		c.fillStyle = css('--surface');
		c.fillRect(0, 0, this.width, this.height);
		this.colors = [];
		this.text = dark() ? '#eef1f5' : '#17202b';
		const start = this.lanes.document.start_ns;
		this.marks = scaleLinear().domain([this.from - start, this.to - start]).ticks(Math.max(3, this.width / 140)).map(t => t + start);
		this.grid(c);
		for (const k of this.lanes.tracks)
			this.track(c, k);
		this.links(c);
		this.axis(c);
		if (this.path)
			this.strip(c);
	}

	grid(c) {
		c.fillStyle = css('--line');
		for (const t of this.marks)
			c.fillRect(Math.round(this.x(t)), AXIS, 1, this.height);
	}

	axis(c) {
		c.fillStyle = css('--surface');
		c.fillRect(0, 0, this.width, AXIS);
		c.fillStyle = css('--muted');
		c.textAlign = 'center';
		const start = this.lanes.document.start_ns;
		for (const t of this.marks)
			if (this.x(t) > this.gutter + 20)
				c.fillText(this.tick(t - start), this.x(t), AXIS / 2);
		c.textAlign = 'left';
		c.fillText(nanoseconds(this.to - this.from), 8, AXIS / 2);
		c.fillStyle = css('--line');
		c.fillRect(0, AXIS - 1, this.width, 1);
	}

	// A time after the start, with the digits that the zoom needs.
	tick(t) {
		const step = (this.to - this.from) / 8, units = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]];
		const [name, size] = units.find(u => Math.max(Math.abs(t), step) >= u[1]) || units[3];
		const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / size))));
		return (t / size).toFixed(digits) + name;
	}

	track(c, k) {
		const y0 = this.head + k.y - this.top;
		if (y0 + k.height < this.head || y0 - HEAD > this.height)
			return;
		c.save();
		c.beginPath();
		c.rect(this.gutter, this.head, this.width, this.height);
		c.clip();
		k.lists.forEach((rows, lane) => this.lane(c, rows, y0 + (k.folded ? 0 : lane * LANE), k.folded));
		c.globalAlpha = 1;
		c.restore();
		c.fillStyle = css('--surface');
		c.fillRect(0, y0 - (k.newGroup ? HEAD : GAP / 2), this.gutter - 1, k.height + GAP + (k.newGroup ? HEAD : 0));
		if (k.newGroup && k.title) {
			c.font = '600 11px ' + css('--sans');
			c.fillStyle = css('--muted');
			c.fillText(fit(c, k.title, this.width - 20), 8, y0 - HEAD / 2 + 1);
			c.font = '11px ' + css('--sans');
		}
		c.fillStyle = css('--text');
		c.fillText(fit(c, (k.lists.length > 1 ? k.folded ? '\u25b8 ' : '\u25be ' : '') + k.name, this.gutter - 20), 8, y0 + LANE / 2);
	}

	lane(c, rows, y, thin) {
		if (y > this.height || y + LANE < this.head)
			return;
		const { start, length } = this.lanes, scale = (this.width - this.gutter) / (this.to - this.from);
		let drawn = -1;
		for (let k = firstAfter(this.lanes, rows, this.from); k < rows.length; k++) {
			const i = rows[k];
			if (start[i] > this.to)
				break;
			const from = this.gutter + (start[i] - this.from) * scale, to = from + Math.max(length[i] * scale, 1);
			if (to - drawn < 0.6 && i !== this.selected)
				continue;
			drawn = to;
			this.slice(c, i, Math.max(from, this.gutter - 2), Math.min(to, this.width + 2), y, thin);
		}
	}

	slice(c, i, x, end, y, thin) {
		const id = this.lanes.nameId(i), w = end - x;
		const color = this.colors[id] || (this.colors[id] = fillOf(this.lanes.names(i)));
		if (this.match)
			c.globalAlpha = this.match[i] ? 1 : 0.2;
		c.fillStyle = color;
		c.fillRect(x, y, w > 3 ? w - 0.6 : w, LANE - 2);
		this.mark(c, i, y);
		if (i === this.selected || i === this.hovered) {
			c.strokeStyle = css(i === this.selected ? '--accent' : '--text');
			c.lineWidth = i === this.selected ? 2 : 1;
			c.strokeRect(x + 0.5, y + 0.5, Math.max(1, w - 1), LANE - 3);
		}
		if (w > 34 && !thin) {
			c.fillStyle = this.text;
			c.fillText(fit(c, this.lanes.labels(i), w - 8), x + 4, y + LANE / 2 - 0.5);
		}
	}

	// Underlines the parts of a slice that are on the path.
	mark(c, i, y) {
		const parts = this.path && this.path.slices.get(this.lanes.table.value('slice', i));
		c.fillStyle = css('--accent');
		for (const s of parts || [])
			c.fillRect(this.x(s.start_ns), y + LANE - 2 - MARK, Math.max(1, this.x(s.start_ns + s.duration_ns) - this.x(s.start_ns)), MARK);
	}

	// The path, in the colours of its kinds.
	strip(c) {
		const { path } = this, colors = new Map(path.kinds.map(k => [k.kind, css(k.color)]));
		c.fillStyle = css('--surface');
		c.fillRect(0, AXIS, this.width, STRIP);
		c.save();
		c.beginPath();
		c.rect(this.gutter, AXIS, this.width, STRIP);
		c.clip();
		const bar = (x, width, color) => {
			c.fillStyle = color;
			c.fillRect(x, AXIS + 3, width, STRIP - 6);
		};
		let times = new Map(), column = -1; // of the segments that are narrower than a pixel: time by colour
		const flush = () => {
			if (times.size)
				bar(column, 1, [...times].reduce((most, x) => x[1] > most[1] ? x : most)[0]);
			times = new Map();
		};
		for (let k = path.after(this.from); k < path.segments.length && path.segments[k].start_ns <= this.to; k++) {
			const s = path.segments[k], x = this.x(s.start_ns), end = this.x(s.start_ns + s.duration_ns), color = colors.get(s.kind);
			if (Math.floor(x) !== column || end - x >= 1)
				flush();
			column = Math.floor(x);
			if (end - x >= 1)
				bar(x, end - x, color);
			else
				times.set(color, (times.get(color) || 0) + s.duration_ns);
		}
		flush();
		if (this.chosen) {
			const x = this.x(this.chosen.start_ns), end = this.x(this.chosen.start_ns + this.chosen.duration_ns);
			c.strokeStyle = css('--text');
			c.lineWidth = 2;
			c.strokeRect(x + 1, AXIS + 4, Math.max(1, end - x - 2), STRIP - 8);
		}
		c.restore();
		c.fillStyle = css('--text');
		c.font = '600 11px ' + css('--sans');
		c.fillText(fit(c, 'Critical path', this.gutter - 16), 8, AXIS + STRIP / 2);
		c.font = '11px ' + css('--sans');
		c.fillStyle = css('--line');
		c.fillRect(0, AXIS + STRIP - 1, this.width, 1);
	}

	// The segment of the path at a time, if any.
	segmentAt(t) {
		const s = this.path.segments[this.path.after(t)];
		return s && s.start_ns <= t ? s : undefined;
	}

	// The middle of a slice on the screen.
	point(i) {
		for (const k of this.lanes.tracks)
			for (let lane = 0; lane < k.lists.length; lane++) {
				const at = firstAfter(this.lanes, k.lists[lane], this.lanes.start[i] - 0.5);
				for (let j = at; j < Math.min(at + 3, k.lists[lane].length); j++)
					if (k.lists[lane][j] === i)
						return this.head + k.y - this.top + (k.folded ? 0 : lane * LANE) + LANE / 2;
			}
		return -1;
	}

	// Lines between the launch and what it launched.
	links(c) {
		if (this.selected < 0)
			return;
		const { lanes } = this, launch = lanes.table.value('launch', this.selected), number = lanes.table.value('slice', this.selected);
		const from = launch !== null ? lanes.rowOf(launch) : this.selected;
		const to = launch !== null ? [this.selected] : number === null ? [] : lanes.launchedBy(number);
		c.strokeStyle = css('--accent');
		c.lineWidth = 1.5;
		for (const i of to.slice(0, 64)) {
			if (from < 0)
				continue;
			const x0 = this.x(lanes.end(from)), x1 = this.x(lanes.start[i]), y0 = this.point(from), y1 = this.point(i);
			c.beginPath();
			c.moveTo(x0, y0);
			c.bezierCurveTo((x0 + x1) / 2, y0, (x0 + x1) / 2, y1, x1, y1);
			c.stroke();
		}
	}

	// ---- input ----

	hit(e) {
		const box = this.canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top - this.head + this.top;
		if (y < this.top)
			return this.path && x >= this.gutter ? { segment: this.segmentAt(this.time(x)) } : {};
		for (const k of this.lanes.tracks) {
			if (y < k.y || y >= k.y + k.height)
				continue;
			if (x < this.gutter)
				return { track: k };
			const t = this.time(x), slack = (this.to - this.from) / (this.width - this.gutter) * 2;
			for (const rows of k.folded ? k.lists : [k.lists[Math.floor((y - k.y) / LANE)]]) {
				const i = rows && rows[firstAfter(this.lanes, rows, t - slack)];
				if (i !== undefined && this.lanes.start[i] <= t + slack)
					return { row: i };
			}
		}
		return {};
	}

	wheel(e) {
		const box = this.canvas.getBoundingClientRect();
		if (e.ctrlKey || e.metaKey) {
			e.preventDefault();
			this.zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 150), this.time(e.clientX - box.left));
		} else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
			e.preventDefault();
			this.pan((e.deltaX || e.deltaY) / (this.width - this.gutter));
		} else if (this.lanes.height + this.head > this.height) {
			e.preventDefault();
			this.scroll(e.deltaY);
		}
	}

	down(e) {
		this.canvas.setPointerCapture(e.pointerId);
		this.pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
		this.moved = 0;
	}

	move(e) {
		const before = this.pointers.get(e.pointerId);
		if (!before) {
			const { row, segment } = this.hit(e);
			if ((row ?? -1) !== this.hovered) {
				this.hovered = row ?? -1;
				this.draw();
			}
			if (segment)
				return show(e, this.path.name(segment).slice(0, 300), [['Critical path', this.path.texts.get(segment.kind)], ['Duration', nanoseconds(segment.duration_ns)]]);
			if (row === undefined)
				return hide();
			const count = this.lanes.table.value('count', row);
			return show(e, this.lanes.names(row).slice(0, 300), [['Duration', nanoseconds(this.lanes.length[row])], ['Start', this.tick(this.lanes.start[row] - this.lanes.document.start_ns)],
				['Category', this.lanes.table.value('category', row)], count > 1 ? ['Slices', count + ' (named after the longest)'] : null]);
		}
		hide();
		const others = [...this.pointers].filter(([id]) => id !== e.pointerId).map(p => p[1]);
		if (others.length) {
			const far = Math.max(20, Math.abs(before.x - others[0].x)), now = Math.max(20, Math.abs(e.clientX - others[0].x));
			this.zoom(far / now, this.time((e.clientX + others[0].x) / 2 - this.canvas.getBoundingClientRect().left));
		} else {
			this.moved += Math.abs(e.clientX - before.x) + Math.abs(e.clientY - before.y);
			this.pan((before.x - e.clientX) / (this.width - this.gutter));
			this.scroll(before.y - e.clientY);
		}
		this.pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
	}

	up(e) {
		this.pointers.delete(e.pointerId);
		if (this.moved > 4)
			return;
		const { row, track, segment } = this.hit(e);
		if (segment) {
			this.chosen = segment;
			this.o.segment(segment);
		} else if (track) {
			track.folded = !track.folded;
			this.lanes.arrange();
		} else {
			this.choose(row ?? -1);
		}
		this.draw();
	}

	choose(row) {
		this.chosen = null;
		this.selected = row;
		this.o.select(row);
		this.draw();
	}

	// Selects a slice and scrolls to it.
	find(row) {
		this.choose(row);
		const room = Math.max(this.lanes.length[row] * 6, SHORTEST), middle = this.lanes.start[row] + this.lanes.length[row] / 2;
		if (this.lanes.start[row] < this.from || this.lanes.end(row) > this.to || this.lanes.length[row] < (this.to - this.from) / 400)
			this.show(middle - room / 2, middle + room / 2);
		const y = this.point(row);
		if (y < this.head || y > this.height)
			this.scroll(y - this.height / 2);
	}

	key(e) {
		const keys = { w: () => this.zoom(0.7), s: () => this.zoom(1 / 0.7), a: () => this.pan(-0.15), d: () => this.pan(0.15), '+': () => this.zoom(0.7), '-': () => this.zoom(1 / 0.7),
			ArrowLeft: () => this.pan(-0.15), ArrowRight: () => this.pan(0.15), ArrowUp: () => this.scroll(-40), ArrowDown: () => this.scroll(40), 0: () => this.all(), Escape: () => this.choose(-1) };
		if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey)
			return;
		e.preventDefault();
		keys[e.key]();
	}
}
