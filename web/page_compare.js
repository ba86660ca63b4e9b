// SPDX-License-Identifier: Apache-2.0
// The difference of two sides: a flame graph coloured by change, and a table.
import { copyButton, el, replace, select } from './dom.js';
import { difference, exact, number, plain, quote, shorten } from './format.js';
import { inOrder } from './metrics.js';
import { TreePage } from './page_tree.js';
import { change } from './palette.js';
import { link, read } from './state.js';
import { describe, Tree } from './tree.js';

class DiffTree extends Tree {
	link() {
		this.flat = false;
		this.shift = 0;
		this.n = this.table.count;
		super.link();
		this.label0 = 'all';
	}

	name(i) {
		return i === 0 ? 'all' : super.name(i);
	}
}

// A probability as a word: below the level a difference is not chance.
function significance(p, level) {
	if (p === null || p === undefined)
		return { text: '' };
	const text = p < 0.001 ? 'p<0.001' : 'p=' + p.toFixed(p < 0.01 ? 3 : 2);
	return p > level ? { text: 'noise', class: 'faint', title: text } : { text, title: text };
}

// Returns the metrics that are not 0 in all entries of both sides.
function metricsOf(tree, sides) {
	return inOrder(tree.table.columns.filter(c => c.name.startsWith('difference_')).map(c => describe(c, c.name.slice(11)))
		.filter(m => sides.some(s => tree.table.numbers(`total_${m.name}_${s}`).some(v => v !== 0))));
}

class ComparePage extends TreePage {
	constructor(entry) {
		const tree = new DiffTree(entry.document), sides = [entry.document.subtrahend, entry.document.minuend], metrics = metricsOf(tree, sides);
		super(tree, metrics, 'change');
		Object.assign(this, { entry, document: entry.document, sides, metrics });
		this.names = this.shortNames();
	}

	// Returns the names of the sides: the file names, if they differ.
	shortNames() {
		const names = this.sides.map(s => this.document.sides.find(x => x.name === s)).map(x => plain(x.path.split('/').filter(Boolean).pop() || x.name));
		return names[0] === names[1] ? this.sides : names;
	}

	total(side) {
		return this.tree.table.numbers(`total_${this.metric.name}_${side}`);
	}

	rowLabel(i) {
		return this.tree.label(i) + this.state(i);
	}

	build(choice) {
		this.create('Differential icicle chart. The table has the same entries', 'Table of the differences', i => change(this.share(i)));
		const nodes = this.document.nodes;
		const page = el('div', { class: 'view' },
			el('div', { class: 'toolbar' }, choice, this.metricChoice(() => this.refresh()), this.box, this.found, el('span', { class: 'grow' }), copyButton('Copy command', () => ['tfprof', ...this.entry.words, '-select', this.metric.name, '-order_by', this.metric.name].map(quote).join(' '))),
			el('p', { class: 'hint' }, el('span', { class: 'swatch less' }), `less in ${this.names[1]}`, el('span', { class: 'swatch more' }), `more in ${this.names[1]} than in ${this.names[0]}. Width: sum of both sides. `,
				`${nodes.both.toLocaleString('en-US')} nodes in both, ${nodes.gone} only in ${this.names[0]}, ${nodes.new} only in ${this.names[1]}, ${nodes.renamed} renamed.`, this.metrics.some(m => this.tree.table.has('p_' + m.name)) ? ' Grey: the difference is within the variation between steps.' : ''),
			this.gates(), this.crumbs, this.panes);
		this.look();
		this.describe(this.selected);
		return page;
	}

	gates() {
		const list = this.document.gates || [];
		return list.length ? el('ul', { class: 'notes' }, list.map(g => el('li', { class: g.holds ? '' : 'bad' }, `${g.rule} ${g.result === 'inconclusive' ? 'is inconclusive' : g.result}: ${g.text}`))) : null;
	}

	state(i) {
		const state = this.tree.value('state', i), other = this.tree.value('renamed', i);
		return other ? '  \u2192 ' + shorten(plain(other), 60) : state === 'new' || state === 'gone' ? `  (only in ${state === 'gone' ? this.names[0] : this.names[1]})` : '';
	}

	judge(i) {
		return significance(this.chance(i), this.document.level);
	}

	isNoise(i) {
		return this.chance !== null && this.chance(i) > this.document.level;
	}

	share(i) {
		if (this.isNoise(i))
			return 0;
		const both = this.first[i] + this.last[i];
		return both ? (this.last[i] - this.first[i]) / both * 2 : 0;
	}

	columns() {
		const sorted = key => ({ key, sort: true, sorted: this.sort === key });
		return [{ label: 'Name', class: 'tt-name', ...sorted('name') }, { label: shorten(this.names[0], 16), title: this.names[0], class: 'num', ...sorted('first') },
			{ label: shorten(this.names[1], 16), title: this.names[1], class: 'num', ...sorted('last') }, { label: 'Difference', class: 'num diff', ...sorted('change') }, { label: 'Ratio', class: 'num wide', key: 'ratio' },
			...this.chance ? [{ label: 'Significance', class: 'num chance', title: `Rank test over the steps of both sides: the probability of such a difference by chance. Above ${this.document.level}, the difference is noise.`, ...sorted('chance') }] : []];
	}

	cells(i) {
		const m = this.metric, d = this.last[i] - this.first[i];
		return [{ text: number(this.first[i], m.unit), title: exact(this.first[i], m.unit) }, { text: number(this.last[i], m.unit), title: exact(this.last[i], m.unit) },
			{ text: d ? difference(d, m.unit) : '0', class: 'diff ' + (d > 0 ? 'up' : d < 0 ? 'down' : 'faint'), title: exact(d, m.unit) }, { text: this.first[i] && this.last[i] ? '\u00d7' + (this.last[i] / this.first[i]).toFixed(2) : '', class: 'wide' },
			...this.chance ? [{ ...this.judge(i), class: 'chance ' + (this.judge(i).class || '') }] : []];
	}

	tip(i) {
		const m = this.metric, d = this.last[i] - this.first[i];
		return [shorten(plain(this.tree.path(i)), 300), [[this.names[0], number(this.first[i], m.unit)], [this.names[1], number(this.last[i], m.unit)], ['Difference', d ? difference(d, m.unit) : '0'],
			this.chance && this.chance(i) !== null ? ['Significance', this.judge(i).title + (this.isNoise(i) ? ', noise' : '')] : null]];
	}

	refresh() {
		const { tree } = this;
		[this.first, this.last] = this.sides.map(s => this.total(s));
		const chance = 'p_' + this.metric.name;
		this.chance = tree.table.has(chance) ? i => tree.table.value(chance, i) : null;
		const both = this.first.map((v, i) => v + this.last[i]), size = this.first.map((v, i) => Math.abs(v - this.last[i]));
		this.values = { total: both, own: both };
		this.mark(x => x.count.toLocaleString('en-US') + ' found');
		this.draw({ first: this.first, last: this.last, change: size, chance: this.chance && size.map((v, i) => this.chance(i) === null ? -2 : -this.chance(i)) });
	}

	// All metrics of an entry on both sides.
	describe(i) {
		const cell = (v, m, d) => el('td', { title: exact(v, m.unit), class: d ? v > 0 ? 'up' : v < 0 ? 'down' : 'faint' : '' }, d ? v ? difference(v, m.unit) : '0' : number(v, m.unit));
		const rows = this.metrics.map(m => {
			const [x, y] = this.sides.map(s => this.tree.table.value(`total_${m.name}_${s}`, i) || 0);
			return el('tr', {}, el('th', { scope: 'row' }, m.label), cell(x, m), cell(y, m), cell(y - x, m, true));
		});
		replace(this.details, el('h2', { class: 'path' }, i ? shorten(plain(this.tree.path(i)), 1000) : 'all', this.state(i)),
			el('table', { class: 'plain' }, el('thead', {}, el('tr', {}, el('td', {}), this.names.map(n => el('th', { scope: 'col' }, shorten(n, 24))), el('th', { scope: 'col' }, 'Difference'))), el('tbody', {}, rows)));
	}
}

export async function comparePage(report) {
	const list = report.all('diff'), entries = [];
	for (let i = 0; i < list.length; i++)
		try {
			entries.push(await report.entry('diff', i));
		} catch (e) {
			// The sides have nothing to compare in this view.
		}
	const chosen = read().values.get('view') || 'scope';
	const entry = entries.find(x => x.document.view === chosen) || entries[0];
	const choice = el('label', {}, el('span', { class: 'muted' }, 'View'), select('View', entries.map(x => [x.document.view, x.document.view]), entry.document.view,
		v => { location.hash = link('compare', { view: v }); }));
	const page = new ComparePage(entry);
	return page.metrics.length ? page.build(choice) : el('div', {}, choice, el('p', { class: 'empty' }, 'Neither side has time, memory or parameters to compare.'));
}
