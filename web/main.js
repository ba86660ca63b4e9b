// SPDX-License-Identifier: Apache-2.0
// Opens the report and shows its pages.
import { button, el, replace, select } from './dom.js';
import { Report } from './data.js';
import { shorten, plain } from './format.js';
import { readNames, showFull } from './names.js';
import { link, onChange, read } from './state.js';
import { comparePage } from './page_compare.js';
import { memoryPage } from './page_memory.js';
import { overviewPage } from './page_overview.js';
import { rooflinePage } from './page_roofline.js';
import { tablesPage } from './page_tables.js';
import { timelinePage } from './page_timeline.js';
import { viewPage } from './page_view.js';

const VIEWS = [['scope', 'Scopes'], ['graph', 'Graph'], ['op', 'Types'], ['code', 'Code']];
const TABLES = ['devices', 'kernels', 'steps'];
const KNOWN = ['scope', 'graph', 'op', 'code', 'slices', 'names', 'diff', 'step', 'advise', 'summary', 'memory', 'roofline', 'critical', 'idle', 'why', 'job', ...TABLES];

// A page of one of several workers' traces, with a choice of the worker.
async function byWorker(report, name, make) {
	const all = report.all(name);
	if (all.length < 2)
		return make(0);
	const names = all.map(x => plain(x.words[x.words.length - 1].split('/').pop())), now = Math.max(0, names.indexOf(read().values.get('worker')));
	const choice = select('Worker', names.map((n, i) => [n, shorten(n, 60), i]), names[now], v => {
		location.hash = link(read().page, { worker: v });
	});
	return el('div', {}, el('div', { class: 'toolbar' }, el('label', {}, el('span', { class: 'muted' }, 'Worker'), choice)), await make(now));
}

// The pages that have something to show: [name, title, make].
function pages(report) {
	const out = [], tables = TABLES.filter(n => report.has(n)), rest = [...new Set(report.list.map(x => x.name))].filter(n => !KNOWN.includes(n));
	if (report.has('diff'))
		out.push(['compare', 'Compare', () => comparePage(report)]);
	else if (report.list.length > 1)
		out.push(['overview', 'Overview', () => overviewPage(report)]);
	for (const [name, title] of VIEWS)
		if (report.has(name))
			out.push([name, title, () => viewPage(report, name)]);
	if (report.has('slices'))
		out.push(['timeline', 'Timeline', () => byWorker(report, 'slices', k => timelinePage(report, k))]);
	if (tables.length)
		out.push(['devices', 'Devices', () => byWorker(report, tables[0], k => tablesPage(report, tables, k))]);
	for (const [name, title, make] of [['memory', 'Memory', memoryPage], ['roofline', 'Roofline', rooflinePage]])
		if (report.has(name))
			out.push([name, title, () => byWorker(report, name, async k => make(report, await report.entry(name, k)))]);
	for (const name of rest)
		out.push([name, name[0].toUpperCase() + name.slice(1), () => tablesPage(report, [name])]);
	if (!out.length)
		out.push(['advise', 'Advice', () => tablesPage(report, ['advise'])]);
	return out;
}

function theme() {
	const wanted = matchMedia('(prefers-color-scheme: dark)');
	const set = on => {
		document.documentElement.dataset.dark = String(on);
		dispatchEvent(new Event('resize'));
	};
	set(wanted.matches);
	wanted.addEventListener('change', e => { set(e.matches); show(); });
	return button('', { class: 'ghost theme', 'aria-label': 'Switch between light and dark', title: 'Light or dark' }, () => {
		set(document.documentElement.dataset.dark !== 'true');
		show();
	});
}

// A button that shows C++ functions with their full names.
function fullNames() {
	const b = button('Full names', { class: 'ghost', title: 'Show C++ functions with their result type, namespaces, parameters and all template arguments', 'aria-pressed': 'false' }, () => {
		const on = b.getAttribute('aria-pressed') !== 'true';
		b.setAttribute('aria-pressed', String(on));
		showFull(on);
		show();
	});
	return b;
}

let report, all, main, nav, shown = '';

async function show() {
	const { page } = read(), [name, title, make] = all.find(p => p[0] === page) || all[0];
	if (!read().page)
		history.replaceState(null, '', link(name));
	for (const a of nav.querySelectorAll('a'))
		a.toggleAttribute('aria-current', a.dataset.page === name);
	const current = nav.querySelector('[aria-current]');
	current.setAttribute('aria-current', 'page');
	nav.scrollLeft = current.offsetLeft - (nav.clientWidth - current.offsetWidth) / 2;
	const wanted = shown = location.hash;
	main.setAttribute('aria-busy', 'true');
	try {
		const content = await make();
		if (wanted !== shown)
			return;
		replace(main, el('h1', { class: 'sr' }, title), content);
	} catch (e) {
		replace(main, el('p', { class: 'empty bad', role: 'alert' }, 'This page cannot be shown: ' + e.message));
		console.error(e);
	}
	main.dataset.page = name;
	main.setAttribute('aria-busy', 'false');
}

function inputName() {
	const first = report.list.find(x => x.words.length > 1);
	const words = first ? first.words.slice(first.name === 'diff' ? 2 : 1).filter(w => w[0] !== '-' || w.includes('=')) : [];
	return words.map(w => plain(w.split('/').filter(Boolean).pop() || w)).join(first && first.name === 'diff' ? ' vs ' : ', ');
}

async function start() {
	const button_ = theme();
	document.body.append(el('div', { id: 'live', class: 'sr', role: 'status', 'aria-live': 'polite' }));
	try {
		report = await Report.open();
	} catch (e) {
		document.body.append(el('p', { class: 'empty bad', role: 'alert' }, 'The report cannot be read: ' + e.message));
		throw e;
	}
	const reduces = await readNames(report);
	all = pages(report);
	const name = inputName();
	document.title = (name ? shorten(name, 60) + ' \u2013 ' : '') + 'tfprof';
	nav = el('nav', { class: 'tabs', 'aria-label': 'Pages' }, all.map(([page, title]) => el('a', { href: link(page), 'data-page': page }, title)));
	main = el('main', { id: 'main', tabindex: -1 });
	document.body.append(el('header', {}, el('a', { class: 'skip', href: '#main', onclick: e => { e.preventDefault(); main.focus(); } }, 'Skip to the content'),
		el('span', { class: 'brand' }, 'tfprof'), el('span', { class: 'input clip', title: name }, name), nav, el('span', { class: 'grow' }), reduces ? fullNames() : null, button_), main);
	onChange(show);
	await show();
	document.documentElement.dataset.ready = 'true';
	performance.mark('ready');
}

start();
