// SPDX-License-Identifier: Apache-2.0
// A tree shown as a table. Only the visible rows are DOM elements, so the number of rows does not affect the speed.
import { el, everyFrame, replace, replaceButtons } from './dom.js';

const ROW = 27, AROUND = 6, FIRST_ROWS = 26, FIRST_SHARE = 0.15;
const INDENT = 14, INDENT_SHARE = 0.45; // pixels per level; limit of the indent, as a share of the first column

// options: { name, columns(): [{ key, label, title, sort }], cells(i): [nodes], weight(i), label(i), title(i), select(i), open(i), sort(key) }
export class TreeTable {
	constructor(options) {
		this.o = options;
		this.head = el('div', { class: 'tt-row tt-head', role: 'row' });
		this.space = el('div', { class: 'tt-space', role: 'presentation' });
		this.rows = el('div', { class: 'tt-rows', role: 'presentation' }, this.space);
		this.body = el('div', { class: 'tt-body', role: 'rowgroup', tabindex: 0 }, this.rows);
		this.box = el('div', { class: 'tt', role: 'treegrid', 'aria-label': options.name },
			el('div', { role: 'rowgroup' }, this.head), this.body);
		this.draw = everyFrame(() => this.paint());
		this.body.addEventListener('scroll', this.draw, { passive: true });
		this.box.addEventListener('keydown', e => this.key(e));
		new ResizeObserver(this.draw).observe(this.body);
		this.open = new Set();
		this.list = [];
		this.selected = -1;
	}

	// order(i): children of an entry as they are shown; near: of a search, or null.
	set(tree, root, order, near) {
		if (this.tree !== tree)
			this.open = new Set(near ? [] : this.firstLevels(tree));
		Object.assign(this, { tree, root, order, near });
		this.relist();
	}

	// Entries that are open at first: the root, and large entries while their children fit.
	firstLevels(tree) {
		const whole = this.o.weight(0), list = [0], out = [];
		let rows = 1;
		while (list.length) {
			const i = list.shift(), below = tree.children(i);
			if (!below.length || (i && (this.o.weight(i) < whole * FIRST_SHARE || rows + below.length > FIRST_ROWS)))
				continue;
			out.push(i);
			rows += below.length;
			list.push(...below);
		}
		return out;
	}

	isOpen(i) {
		return i === this.root || this.open.has(i) || (this.near !== null && this.auto.has(i));
	}

	// The entries that are in the table, in order.
	relist() {
		const list = [], stack = [this.root];
		this.auto = new Set();
		if (this.near)
			this.openMatches();
		while (stack.length) {
			const i = stack.pop();
			list.push(i);
			if (!this.isOpen(i))
				continue;
			const below = this.order(i);
			for (let k = below.length - 1; k >= 0; k--)
				if (!this.near || this.near.near[below[k]])
					stack.push(below[k]);
		}
		this.list = list;
		this.space.style.height = list.length * ROW + 'px';
		this.box.setAttribute('aria-rowcount', list.length);
		this.headings();
		this.draw();
	}

	// Opens what is above the first matches.
	openMatches() {
		for (let i = 0; i < this.tree.n && this.auto.size < 400; i++)
			if (this.near.match[i])
				for (let k = this.tree.parent[i]; k >= 0 && !this.auto.has(k); k = this.tree.parent[k])
					this.auto.add(k);
	}

	headings() {
		replaceButtons(this.head, this.o.columns().map(c => el('div', {
			class: 'tt-cell' + (c.class ? ' ' + c.class : ''), role: 'columnheader', title: c.title,
			'aria-sort': c.sorted ? 'descending' : null,
		}, c.sort ? el('button', { type: 'button', onclick: () => this.o.sort(c.key) }, c.label, c.sorted ? ' \u25be' : '') : c.label)));
	}

	paint() {
		const from = Math.max(0, Math.floor(this.body.scrollTop / ROW) - AROUND);
		const to = Math.min(this.list.length, Math.ceil((this.body.scrollTop + this.body.clientHeight) / ROW) + AROUND);
		const rows = [];
		this.room = Math.max(INDENT, this.head.firstChild.clientWidth * INDENT_SHARE);
		for (let k = from; k < to; k++)
			rows.push(this.row(this.list[k], k));
		replace(this.rows, this.space, rows);
	}

	// Returns the indent of a level in pixels. Deep levels add less and less, which leaves room for names.
	indent(level) {
		return Math.round(this.room * (1 - Math.exp(-level * INDENT / this.room)));
	}

	row(i, place) {
		const { tree } = this, level = tree.depth[i] - tree.depth[this.root], below = tree.hasChildren(i);
		const open = below && this.isOpen(i), chosen = i === this.selected;
		const arrow = below
			? el('span', { class: 'tt-arrow' + (open ? ' open' : ''), 'aria-hidden': 'true', onclick: e => { e.stopPropagation(); this.toggle(i); } })
			: el('span', { class: 'tt-arrow none', 'aria-hidden': 'true' });
		const label = this.o.label(i), title = this.o.title(i);
		const name = el('div', { class: 'tt-cell tt-name', role: 'gridcell', style: { 'padding-left': 6 + this.indent(level) + 'px' } },
			arrow, el('span', { class: 'tt-text' + (this.near && this.near.match[i] ? ' match' : ''), title, dir: 'ltr' }, label));
		return el('div', {
			class: 'tt-row' + (chosen ? ' chosen' : ''), role: 'row', style: { top: place * ROW + 'px' }, 'aria-level': level + 1,
			'aria-rowindex': place + 1, 'aria-expanded': below ? String(open) : null, 'aria-selected': String(chosen), 'data-path': tree.path(i),
			id: chosen ? 'tt-chosen' : null,
			onclick: () => this.o.select(i), ondblclick: () => this.o.open(i),
		}, name, this.o.cells(i).map(c => el('div', { class: 'tt-cell num' + (c.class ? ' ' + c.class : ''), role: 'gridcell', title: c.title, style: c.style }, c.text)));
	}

	toggle(i) {
		if (this.isOpen(i)) {
			this.open.delete(i);
			this.auto.delete(i);
			if (this.near && this.auto.has(i))
				return;
			this.relistKeeping();
		} else {
			this.open.add(i);
			this.relistKeeping();
		}
	}

	relistKeeping() {
		const top = this.body.scrollTop;
		this.relist();
		this.body.scrollTop = top;
	}

	// Selects an entry, opens its ancestors and scrolls to it.
	choose(i, into) {
		this.selected = i;
		let changed = false;
		for (let k = this.tree.parent[i]; k >= 0 && k !== this.root; k = this.tree.parent[k])
			if (!this.open.has(k)) {
				this.open.add(k);
				changed = true;
			}
		if (changed)
			this.relist();
		const place = this.list.indexOf(i), y = place * ROW;
		this.box.setAttribute('aria-activedescendant', 'tt-chosen');
		if (into && place >= 0 && (y < this.body.scrollTop || y + ROW > this.body.scrollTop + this.body.clientHeight))
			this.body.scrollTop = Math.max(0, y - this.body.clientHeight / 3);
		this.draw();
	}

	key(e) {
		const place = this.list.indexOf(this.selected), i = this.selected;
		const move = k => this.o.select(this.list[Math.max(0, Math.min(this.list.length - 1, k))]);
		const page = Math.max(1, Math.floor(this.body.clientHeight / ROW) - 1);
		const keys = {
			ArrowDown: () => move(place + 1), ArrowUp: () => move(Math.max(0, place - 1)),
			PageDown: () => move(place + page), PageUp: () => move(place - page),
			Home: () => move(0), End: () => move(this.list.length - 1),
			ArrowRight: () => i >= 0 && this.tree.hasChildren(i) && (this.isOpen(i) ? move(place + 1) : this.toggle(i)),
			ArrowLeft: () => i >= 0 && (i !== this.root && this.open.has(i) ? this.toggle(i) : this.tree.parent[i] >= 0 && i !== this.root && this.o.select(this.tree.parent[i])),
			Enter: () => i >= 0 && this.o.open(i),
		};
		if (!keys[e.key] || e.target.tagName === 'BUTTON')
			return;
		e.preventDefault();
		keys[e.key]();
	}
}
