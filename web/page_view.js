// SPDX-License-Identifier: Apache-2.0
// A view (scope, graph, op, code): icicle and table of the same tree.
import { announce, copyButton, el, replace, select } from './dom.js';
import { coverage, exact, number, percent, plain, quote, shorten } from './format.js';
import { TreePage } from './page_tree.js';
import { fill } from './palette.js';
import { patternOf } from './search.js';
import { read, update } from './state.js';
import { Tree } from './tree.js';

const HINTS = {
	scope: 'Nodes grouped by the parts of their names between slashes. The total of a scope includes all nodes below it.',
	graph: 'The nodes below a node are its inputs.',
	op: 'Each row is the sum of the nodes of one operation type.',
	code: 'Call stacks, with the outermost line at the top. The total of a line includes the lines that it calls.',
};

function escaped(path) {
	return path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

class ViewPage extends TreePage {
	constructor(entry, report) {
		const tree = new Tree(entry.document);
		super(tree, tree.metrics, 'total');
		Object.assign(this, { entry, report });
		this.groups = this.group();
		this.whole = this.tree;
		this.reduced = report.live && entry.document.truncation && entry.document.truncation.hidden_by.min > 0;
	}

	get metrics() {
		return this.tree.metrics;
	}

	// In live mode, small entries are omitted: requests the entries for a metric or below an entry.
	async ask(metric, path) {
		const start = path ? ['-start_name_regexes', escaped(path)] : [];
		this.tree = new Tree(await this.report.reduced(this.entry.run, metric, start));
		if (!path)
			this.whole = this.tree;
		this.metric = this.tree.metrics.find(m => m.name === metric) || this.tree.metrics[0];
		this.groups = this.group();
		this.zoomed = this.selected = path ? this.tree.find(path) : 0;
		this.look();
		this.choose(this.selected, false);
	}

	// Returns the hue of an entry, from its scope below the root. The largest scopes get the first hues.
	group() {
		const { tree } = this, groups = new Int32Array(tree.n);
		let top = 0;
		while (tree.children(top).length === 1)
			top = tree.children(top)[0];
		const total = this.metric ? tree.values(this.metric.name).total : new Float64Array(tree.n);
		tree.children(top).sort((a, b) => total[b] - total[a]).forEach((i, k) => groups.fill(k, i, tree.end[i]));
		return groups;
	}

	build() {
		this.create('Icicle chart. The table has the same entries', 'Table of the entries', i => fill(this.groups[i], this.tree.label(i)));
		const page = el('div', { class: 'view' }, this.toolbar(), this.crumbs, this.panes);
		this.look();
		this.choose(this.selected, false, true);
		return page;
	}

	toolbar() {
		const steps = this.entry.document.steps;
		const all = steps ? steps.loaded : [];
		const used = steps && steps.used.length === 1 ? 'step ' + steps.used[0] : all.length > 1 ? 'average of ' + steps.used.length + ' steps' : '';
		return el('div', { class: 'toolbar' },
			this.metricChoice(name => {
				if (this.reduced)
					return this.ask(name);
				this.groups = this.group();
				this.refresh();
				this.choose(this.selected, false);
			}),
			this.reduced ? el('span', { class: 'tag' }, `entries below 1/${(this.tree.document.seen || 5000).toLocaleString('en-US')} of the total are hidden; zoom in to show them`) : null,
			this.report.live && all.length > 1 ? this.stepChoice(all) : used ? el('span', { class: 'tag' }, used) : null,
			this.box, this.found,
			el('span', { class: 'grow' }),
			copyButton('Copy command', () => this.command()));
	}

	// Live only: the view of one step.
	stepChoice(all) {
		const now = read().values.get('step') || '-1';
		return el('label', {}, el('span', { class: 'muted' }, 'Step'), select('Step', [['-1', 'average'], ...all.map(s => [String(s), String(s)])], now, v => {
			update({ step: v === '-1' ? '' : v });
			dispatchEvent(new HashChangeEvent('hashchange'));
		}));
	}

	columns() {
		const m = this.metric;
		return [{ key: 'name', label: 'Name', class: 'tt-name', sort: true, sorted: this.sort === 'name' },
			{ key: 'total', label: this.tree.flat ? m.label : 'Total', title: m.label + ' of the entry' + (this.tree.flat ? '' : ' and all entries below it'), class: 'num', sort: true, sorted: this.sort === 'total' },
			{ key: 'share', label: 'Share', class: 'num share', title: 'Share of the total' },
			...this.tree.flat ? [] : [{ key: 'own', label: 'Own', title: m.label + ' of the entry itself', class: 'num own', sort: true, sorted: this.sort === 'own' }],
			...this.runs ? [{ key: 'runs', label: 'Runs', class: 'num wide', title: 'Mean number of executions per step', sort: true, sorted: this.sort === 'runs' }] : []];
	}

	cells(i) {
		const { metric: m, values, tree } = this, whole = values.total[0];
		const share = whole ? values.total[i] / whole : 0;
		const accounted = tree.value('accounted', i) !== false;
		return [{ text: tree.text(m, 'total', i), title: exact(values.total[i], m.unit) },
			{ text: percent(values.total[i], whole), class: 'share', style: { '--share': share } },
			...tree.flat ? [] : [{ text: accounted ? tree.text(m, 'own', i) : '--', title: exact(values.own[i], m.unit), class: values.own[i] ? 'own' : 'own faint' }],
			...this.runs ? [{ text: number(this.runs.total[i], tree.flat ? 'digits' : 'count'), class: 'wide' }] : []];
	}

	tip(i) {
		const { tree, values, metric: m } = this, whole = values.total[0];
		const types = tree.value('types', i) || [], type = tree.value('type', i);
		return [shorten(plain(tree.path(i)) || 'all', 300), [[tree.flat ? m.label : 'Total', tree.text(m, 'total', i) + '  ' + percent(values.total[i], whole)],
			tree.flat ? null : ['Own', tree.text(m, 'own', i)], type && !tree.flat ? ['Type', plain(type)] : null,
			this.marked && this.marked.match[i] ? ['Search', 'match'] : null, types.length ? ['Device', shorten(plain((tree.value('device', i) || []).join(', ')), 80)] : null]];
	}

	// Applies metric, search and order to both drawings.
	refresh() {
		if (!this.metric)
			return;
		const { tree } = this;
		this.values = tree.values(this.metric.name);
		this.runs = tree.table.has('total_occurrence') && this.metric.name !== 'occurrence' ? tree.values('occurrence') : null;
		this.mark(x => `${x.count.toLocaleString('en-US')} found, ${number(x.total, this.metric.unit)} (${percent(x.total, this.values.total[0])})`);
		this.draw({ total: this.values.total, own: this.values.own, runs: this.runs ? this.runs.total : this.values.total });
	}

	choose(i, zoom, quiet) {
		if (zoom && this.reduced && (i === 0 ? this.tree !== this.whole : this.tree === this.whole && this.tree.kind !== 'code' && i !== this.zoomed))
			return i ? this.ask(this.metric.name, this.tree.path(i)) : this.ask(this.metric.name);
		super.choose(i, zoom);
		if (!quiet) {
			update({ select: i ? this.tree.path(i) : '' });
			announce(this.tree.label(i) + ', ' + this.tree.text(this.metric, 'total', i));
		}
	}

	describe(i) {
		const { tree } = this, rows = [];
		for (const m of tree.metrics) {
			const v = tree.values(m.name);
			rows.push(el('tr', {}, el('th', { scope: 'row' }, m.label), el('td', { title: exact(v.total[i], m.unit) }, tree.text(m, 'total', i)),
				tree.flat ? null : el('td', { title: exact(v.own[i], m.unit) }, tree.text(m, 'own', i)), el('td', { class: 'muted' }, percent(v.total[i], v.total[0]))));
		}
		const facts = [['Type', tree.flat ? null : tree.value('type', i)], ['File', tree.value('file', i) && tree.value('file', i) + ':' + tree.value('line', i)],
			['Function', tree.value('function', i)], ['Nodes', tree.value('nodes', i)], ['Device', (tree.value('device', i) || []).join(', ')]];
		replace(this.details, el('h2', { class: 'path' }, shorten(plain(tree.path(i)) || 'all', 1000).replace('_TFProfRoot', 'all')),
			el('div', { class: 'facts' }, facts.filter(f => f[1]).map(([k, v]) => el('span', {}, el('span', { class: 'muted' }, k + ' '), shorten(plain(String(v)), 200)))),
			el('table', { class: 'plain' }, el('thead', {}, el('tr', {}, el('td', {}), el('th', { scope: 'col' }, tree.flat ? 'Value' : 'Total'), tree.flat ? null : el('th', { scope: 'col' }, 'Own'), el('th', { scope: 'col' }, 'Share'))), el('tbody', {}, rows)));
	}

	// The command line that prints what is shown.
	command() {
		const words = ['tfprof', ...this.entry.words, '-select', this.metric.name, '-order_by', this.sort === 'name' ? 'name' : this.metric.name];
		const step = read().values.get('step');
		if (step)
			words.push('-step', step);
		if (this.zoomed && this.tree.kind === 'scope')
			words.push('-start_name_regexes', escaped(this.tree.path(this.zoomed)));
		if (this.query)
			words.push('-show_name_regexes', '(?i).*(?:' + (patternOf(this.query) ?? escaped(this.query)) + ').*');
		return words.map(quote).join(' ');
	}
}

export async function viewPage(report, name) {
	const entry = await report.entry(name), step = read().values.get('step');
	const document = report.live && step ? await report.run([...entry.run, '-step', step]) : entry.document;
	const page = new ViewPage({ ...entry, document }, report);
	if (!page.metric)
		return el('p', { class: 'empty' }, 'The entries of this view have no time, memory or parameters to show.');
	const summary = page.metrics.some(m => m.name === 'float_ops') && await report.entry('summary');
	const counted = summary ? coverage(summary.document.float_ops_coverage) : '';
	return el('div', {}, el('p', { class: 'hint' }, HINTS[name] || '', counted && ` Float operations are ${counted}.`), page.build());
}
