// SPDX-License-Identifier: Apache-2.0
// Code that the pages with a tree share (views and differences): an icicle chart and a table of the same entries, search, zoom, and the state in the address.
import { button, el, replace, select } from './dom.js';
import { plain, shorten } from './format.js';
import { Icicle } from './icicle.js';
import { HINT, search } from './search.js';
import { read, update } from './state.js';
import { TreeTable } from './treetable.js';

// A subclass defines metrics, values (the numbers that are drawn), columns, cells, tip, describe, and refresh, which calls draw.
export class TreePage {
	// sort: the order to use if the address names none.
	constructor(tree, metrics, sort) {
		const values = read().values;
		Object.assign(this, { tree, byDefault: sort });
		this.metric = metrics.find(m => m.name === values.get('metric')) || metrics[0];
		this.query = values.get('q') || '';
		this.sort = values.get('sort') || sort;
		this.zoomed = values.get('zoom') ? tree.find(values.get('zoom')) : 0;
		this.selected = values.get('select') ? tree.find(values.get('select')) : this.zoomed;
	}

	// Creates the chart, the table and the elements around them. fill: returns the colour of an entry.
	create(chart, table, fill) {
		this.icicle = new Icicle({ name: chart, fill, label: i => this.tree.label(i), tip: i => this.tip(i), select: i => this.choose(i, true) });
		this.rows = new TreeTable({
			name: table, columns: () => this.columns(), cells: i => this.cells(i), weight: i => this.values.total[i], label: i => this.rowLabel(i), title: i => plain(this.tree.name(i)),
			select: i => this.choose(i, false), open: i => this.choose(i, true), sort: key => { this.sort = key; this.refresh(); },
		});
		this.found = el('span', { class: 'muted', id: 'found' });
		this.crumbs = el('nav', { class: 'crumbs', 'aria-label': 'Zoom' });
		this.details = el('section', { class: 'details', 'aria-label': 'Selected entry' });
		this.panes = el('div', { class: 'split' }, el('div', { class: 'pane' }, this.icicle.box, this.details), el('div', { class: 'pane' }, this.rows.box));
		this.box = el('input', {
			type: 'search', placeholder: 'Search names', title: HINT, 'aria-label': 'Search names', value: this.query, spellcheck: 'false',
			oninput: () => { this.query = this.box.value; this.look(); },
		});
	}

	// Returns a list from which the user selects the metric; changed is called after each selection.
	metricChoice(changed) {
		return el('label', {}, el('span', { class: 'muted' }, 'Metric'), select('Metric', this.metrics.map(m => [m.name, m.label]), this.metric && this.metric.name, v => {
			this.metric = this.metrics.find(m => m.name === v);
			changed(v);
		}));
	}

	rowLabel(i) {
		return this.tree.label(i);
	}

	// Searches the names, and draws.
	look() {
		search(this.query, this.tree.n, i => plain(this.tree.name(i)) || this.tree.label(i), hits => {
			this.hits = hits;
			this.refresh();
		});
	}

	// Marks the matches of the search; text returns the message about them.
	mark(text) {
		this.marked = this.hits.match ? this.tree.around(this.hits.match, this.values) : null;
		this.found.textContent = this.marked ? text(this.marked) : this.hits.note;
	}

	// Draws the entries, sorted by the selected numbers or by label.
	draw(numbers) {
		const { tree } = this, by = numbers[this.sort];
		const order = i => tree.children(i).sort((a, b) => by ? by[b] - by[a] || a - b : tree.label(a) < tree.label(b) ? -1 : 1);
		this.rows.set(tree, this.zoomed, order, this.marked);
		this.icicle.set(tree, this.values, this.zoomed, this.selected, this.marked);
		replace(this.crumbs, tree.ancestors(this.zoomed).map((i, k) => [k ? el('span', { class: 'muted', 'aria-hidden': 'true' }, '\u203a') : null,
			i === this.zoomed ? el('span', { 'aria-current': 'location' }, shorten(tree.label(i), 60)) : button(shorten(tree.label(i), 40), { class: 'link' }, () => this.choose(i, true))]));
		update({ metric: this.metric.name === this.metrics[0].name ? '' : this.metric.name, q: this.query, sort: this.sort === this.byDefault ? '' : this.sort,
			zoom: this.zoomed ? tree.path(this.zoomed) : '' });
	}

	// Selects an entry in the chart and in the table; if zoom is true and it has children, also zooms to it.
	choose(i, zoom) {
		this.selected = i;
		if (zoom && this.tree.hasChildren(i) && this.zoomed !== i) {
			this.zoomed = i;
			this.refresh();
		}
		this.rows.choose(i, true);
		this.icicle.selected = i;
		this.icicle.draw();
		this.describe(i);
	}
}
