// SPDX-License-Identifier: Apache-2.0
// The first page: inputs, totals, hottest entries and advice.
import { barList, legend, stacked, utilisation } from './charts.js';
import { el } from './dom.js';
import { coverage, distinct, exact, number, percent, plain, shorten } from './format.js';
import { short } from './names.js';
import { link } from './state.js';
import { rowsTable } from './data.js';
import { Path } from './path.js';
import { Tree } from './tree.js';

const TOP = 8;
// A partition of the time of devices.
const PARTS = [['Compute', '--compute', 'compute_ns'], ['Exposed communication', '--communication', 'exposed_communication_ns'],
	['Exposed copy', '--copy', 'exposed_copy_ns'], ['Idle', '--idle', 'idle_ns']];

// A card; title: its heading, or { title, part } with a name for tests.
function card(title, ...content) {
	return el('section', { class: 'card' + (title === 'Steps' || title.part === 'why' ? ' whole' : ''), 'data-part': title.part }, el('h2', {}, title.title || title), content);
}

const FIGURES = [['peak_bytes', 'bytes', 'Peak memory', 'sum over nodes'], ['bytes', 'bytes', 'Requested memory', 'sum over nodes'], ['params', 'count', 'Parameters', ''], ['float_ops', 'count', 'Float operations', '']];

function tile(name, label, value, unit, note) {
	return el('div', { class: 'tile' }, el('span', { class: 'muted' }, label), el('strong', { 'data-metric': name, title: exact(value, unit) }, number(value, unit)), el('small', { class: 'muted' }, note));
}

// Step time is wall time. times: of each worker with a trace; the slowest one is shown.
function stepTime(times) {
	const t = times.reduce((a, b) => b.mean_ns > a.mean_ns ? b : a), several = t.steps > 1, out = t.steps_left_out;
	const spread = several && `mean of ${t.steps} ${t.guessed ? 'guessed ' : ''}steps; median ${number(t.median_ns, 'ns')}, ${number(t.min_ns, 'ns')} to ${number(t.max_ns, 'ns')}`;
	const note = [spread, out > 0 && `${out} ${out === 1 ? 'step' : 'steps'} without device work left out`].filter(Boolean).join('; ');
	return tile('step_ns', t.marked ? 'Step time' : 'Trace time', t.mean_ns, 'ns', [times.length > 1 && plain(t.worker), note].filter(Boolean).join(': '));
}

// The numbers at the top. counted: the coverage of float operations, or nothing. memory: the document of memory, or nothing. Times of operations are sums: in a trace they are no part of the step time, as operations run at the same time.
function figures(document, times, counted, memory) {
	const total = document.total || {}, steps = document.steps ? document.steps.used.length : 0, per = steps > 1 ? `average of ${steps} steps` : '';
	const list = times.length ? [['accelerator_micros', 'us', 'Device time', 'sum over operations' + (steps > 1 ? ', per step' : '')], ['cpu_micros', 'us', 'Host time', 'sum over operations' + (steps > 1 ? ', per step' : '')]]
		: [['micros', 'us', 'Time per step', per], ['accelerator_micros', 'us', 'On accelerators', percent(total.accelerator_micros, total.micros)], ['cpu_micros', 'us', 'On the CPU', percent(total.cpu_micros, total.micros)]];
	const bound = [total.uncounted > 0 ? 'at least: some calls are not counted' : '', coverage(counted)].filter(Boolean).join('; ');
	const tiles = [times.length ? stepTime(times) : null, ...[...list, ...FIGURES].filter(([m]) => total[m] > 0).map(([m, unit, label, note]) => tile(m, label, total[m], unit, m === 'float_ops' ? bound : note))].filter(Boolean);
	const peak = memory && !(total.peak_bytes > 0) ? memory.memory.reduce((a, b) => b.peak_bytes > a.peak_bytes ? b : a, { peak_bytes: 0 }) : { peak_bytes: 0 };
	if (peak.peak_bytes > 0) // of a file with memory alone, it is the first number
		tiles[total.accelerator_micros > 0 || total.cpu_micros > 0 ? 'push' : 'unshift'](tile('memory_peak_bytes', 'Peak memory', peak.peak_bytes, 'bytes', [peak.device, peak.allocator].filter(Boolean).map(plain).join(', ')));
	return tiles.length ? el('div', { class: 'tiles' }, tiles) : null;
}

// Labels that tell rows apart: reduced names, or the full names where reduced ones are equal.
function labels(names) {
	const list = names.map(n => plain(short(n))), full = list.map((l, i) => list.some((x, k) => x === l && names[k] !== names[i]) ? plain(names[i]) : l);
	return distinct(full, 90);
}

// A sentence about the base of the numbers in a card.
function base(text) {
	return text ? el('p', { class: 'hint base' }, text) : null;
}

const WHOLE = 'Sums over the whole trace.';

// The entries with the largest own numbers.
function hottest(tree, metric, page) {
	const v = tree.values(metric.name), order = Array.from(v.own.keys()).filter(i => v.own[i] > 0).sort((a, b) => v.own[b] - v.own[a]).slice(0, TOP);
	return barList(order.map(i => ({ label: shorten(tree.place(i), 90), title: plain(tree.path(i)), value: v.own[i],
		link: link(page, { select: tree.path(i), metric: metric.name }) })), metric.unit, v.total[0]);
}

async function hot(report, page, title) {
	const entry = await report.entry(page);
	if (!entry)
		return null;
	const tree = new Tree(entry.document), metric = tree.metrics[0], used = entry.document.steps ? entry.document.steps.used.length : 0;
	const per = metric && metric.unit === 'us' && used > 1 ? `Per step, the average of ${used} steps.` : '';
	return metric ? card(`${metric.unit === 'us' ? 'Hottest' : 'Largest'} ${title} by ${metric.label.toLowerCase()}`, base(per), hottest(tree, metric, page)) : null;
}

// Steps of a trace by what devices did, or without device work by their length; of a profile by where its nodes ran. marked: false for a
// trace without steps.
async function steps(report, marked) {
	const entry = await report.entry('steps');
	if (entry && !marked)
		return null; // the card of the devices has the whole trace
	if (entry && entry.document.steps.length) {
		const t = rowsTable(entry.document, 'steps'), devices = t.value('devices', 0);
		if (!devices)
			return card('Steps', stacked(t.count, [{ label: 'Step time', color: '--host', value: i => t.value('duration_ns', i) }],
				i => 'step ' + t.value('step', i), 'ns', 'Step time'));
		return card('Steps', stacked(t.count, PARTS.map(([label, color, name]) => ({ label, color, value: i => t.value(name.replace('compute_ns', 'compute_busy_ns'), i) / devices })),
			i => 'step ' + t.value('step', i), 'ns', devices > 1 ? `Step time by device activity (average of ${devices} devices)` : 'Step time by device activity'));
	}
	const list = report.all('step');
	if (!list.length)
		return null;
	const totals = [];
	for (let i = 0; i < list.length; i++) {
		const d = (await report.entry('step', i)).document;
		totals.push({ step: d.steps.used[0], ...d.total });
	}
	if (!totals.some(t => t.micros > 0))
		return null;
	const parts = [{ label: 'Accelerators', color: '--compute', value: i => totals[i].accelerator_micros }, { label: 'CPU', color: '--host', value: i => totals[i].cpu_micros }];
	return card('Steps', stacked(totals.length, parts, i => 'step ' + totals[i].step, 'us', 'Time on accelerators and CPU in each step'));
}

// The file of an entry if there is one for each of several workers, or ''.
function workerOf(report, entry) {
	return report.all(entry.name).length > 1 ? plain(entry.words[entry.words.length - 1].split('/').pop()) : '';
}

// The average step of each device of each worker: a row of step_time, with the worker.
async function stepTimes(report) {
	const rows = [];
	for (let k = 0; k < report.all('steps').length; k++) {
		const entry = await report.entry('steps', k);
		rows.push(...entry.document.step_time.map(row => ({ ...row, worker: workerOf(report, entry) })));
	}
	return rows;
}

// How the step time of each device divides. The parts add up to it.
async function devices(report) {
	const rows = await stepTimes(report);
	if (!rows.length)
		return null;
	const parts = PARTS.map(([label, color, name]) => ({ label, color, value: i => rows[i][name] })).filter(p => rows.some((_, i) => p.value(i) > 0));
	const shown = rows.slice(0, TOP).map((_, i) => i), label = i => [rows[i].worker, plain(rows[i].device)].filter(Boolean).join(' ');
	const count = Math.max(...rows.map(r => r.steps));
	return card({ title: 'Step time by device', part: 'device' }, base(count > 1 ? `Per step, the average of ${count} steps.` : ''), utilisation(rows.length, parts, label, i => number(rows[i].step_ns, 'ns')),
		el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Step time by device' }, el('table', { class: 'plain' },
			el('thead', {}, el('tr', {}, el('td', {}), shown.map(i => el('th', { scope: 'col' }, shorten(label(i), 24))))),
			el('tbody', {}, parts.map(p => el('tr', {}, el('th', { scope: 'row' }, el('i', { class: 'swatch', style: { background: `var(${p.color})` } }), p.label),
				shown.map(i => el('td', { title: exact(p.value(i), 'ns') }, number(p.value(i), 'ns'), ' ', el('span', { class: 'muted' }, percent(p.value(i), rows[i].step_ns))))))))),
		el('a', { href: link('devices') }, 'All devices and kernels'));
}

// The places of one cause, of idle time or of why; a place of a worker links to its slices on the timeline. worker: null if the
// places are of several workers.
function places(cause, worker) {
	const label = (p, f) => plain(f(p.name)) + (p.waits_for ? ', for ' + plain(f(p.waits_for)) : '');
	const onTimeline = p => worker !== null && ['op', 'line', 'call', 'kernel', 'copy', 'range'].includes(p.kind) ? link('timeline', { worker, q: p.kind === 'call' ? p.name.split(' in ')[0] : p.name }) : undefined;
	const first = cause.places.slice(0, TOP), names = labels(first.map(p => p.name));
	return [barList(first.map((p, i) => ({ label: names[i] + (p.waits_for ? ', for ' + shorten(plain(short(p.waits_for)), 40) : ''), title: label(p, name => name), value: p.ns, link: onTimeline(p) })), 'ns', cause.ns),
		cause.places.length > TOP ? el('p', { class: 'muted' }, `and ${(cause.places.length - TOP).toLocaleString('en-US')} more`) : null];
}

// A line with a bar, whose content opens with a click.
function fold(text, ns, whole, open, ...content) {
	return el('details', { class: 'cause', open }, el('summary', {}, el('span', { class: 'bar', style: { '--share': ns / whole } }, el('span', { class: 'clip' }, text)),
		el('span', { class: 'num', title: exact(ns, 'ns') }, number(ns, 'ns')), el('span', { class: 'num muted' }, percent(ns, whole))), content);
}

// The verdict, and what a step would be shorter without each cause; a click on a cause shows its places and what people do about it.
function whyCard(d, worker) {
	return card({ title: [worker, plain(d.verdict)].filter(Boolean).join(': '), part: 'why' }, d.causes.map((c, i) => fold(c.id.replace(/_/g, ' '), c.saved_ns, d.window_ns, i === 0,
		base(`Without it, ${/step/.test(d.of) ? 'the step' : 'the trace'} is ${number(c.saved_ns, 'ns')} shorter. ` + (c.where.length ? `Its places, as shares of the ${number(c.cost_ns, 'ns')} that they take, also beside other work:` : '')),
		places({ places: c.where, ns: c.cost_ns }, worker), el('p', { class: 'hint' }, c.advice))));
}

// The cards of all ranks together, then of each worker.
async function why(report) {
	const cards = report.has('job') ? [whyCard((await report.entry('job')).document, null)] : [];
	for (let k = 0; k < Math.min(TOP, report.all('why').length); k++) {
		const entry = await report.entry('why', k);
		cards.push(whyCard(entry.document, workerOf(report, entry)));
	}
	return cards;
}

// Idle time of each device by cause; a click on a cause shows its places.
async function idle(report) {
	const devices = [], missing = new Set();
	for (let k = 0; k < report.all('idle').length; k++) {
		const entry = await report.entry('idle', k), worker = workerOf(report, entry);
		devices.push(...entry.document.devices.filter(d => d.idle_ns > 0).map(d => ({ ...d, worker, label: [worker, plain(d.device)].filter(Boolean).join(' ') })));
		entry.document.missing.forEach(m => missing.add(`The file does not contain ${m.what}.` + (m.cure ? `  To record this, use ${m.cure}.` : '')));
	}
	if (!devices.length)
		return null;
	const content = devices.slice(0, TOP).map((d, i) => [devices.length > 1 ? el('h3', {}, `${d.label}: ${number(d.idle_ns, 'ns')}`) : null,
		[...d.causes].sort((a, b) => b.ns - a.ns).map((c, k) => fold(c.text, c.ns, d.idle_ns, i + k === 0, places(c, d.worker)))]);
	return card({ title: 'Idle time by cause', part: 'idle' }, base(WHOLE), content, [...missing].map(m => el('p', { class: 'hint' }, m)));
}

// The entry of a worker's critical path; the longest one if there are several.
async function longestPath(report) {
	let longest = null;
	for (let k = 0; k < report.all('critical').length; k++) {
		const entry = await report.entry('critical', k);
		if (!longest || entry.document.window_ns > longest.document.window_ns)
			longest = entry;
	}
	return longest;
}

async function critical(report) {
	const entry = await longestPath(report);
	if (!entry || !entry.document.window_ns)
		return null;
	const d = entry.document, path = new Path(d), worker = workerOf(report, entry);
	const parts = path.kinds.map(k => ({ label: k.label, color: k.color, value: () => k.ns }));
	const at = { worker, from: path.from, to: path.to }, names = labels(d.places.slice(0, TOP).map(p => p.name === null ? p.text : p.name));
	return card(path.title, worker || path.mark ? el('p', { class: 'hint' }, worker, worker && path.mark && ': ', path.mark) : null, utilisation(1, parts, () => d.step || 'trace', () => ''), legend(parts),
		barList(d.places.slice(0, TOP).map((p, i) => ({ label: p.name === null ? p.text : names[i], value: p.ns, link: link('timeline', { ...at, q: p.name }),
			title: [p.text, p.name, p.line].filter(Boolean).map(plain).join('\n') })), 'ns', d.window_ns),
		el('a', { href: link('timeline', at) }, 'Show the path on the timeline'));
}

async function kernels(report) {
	const entry = await report.entry('kernels');
	if (!entry || !entry.document.kernels.length)
		return null;
	const rows = entry.document.kernels, whole = rows.reduce((a, r) => a + r.total_ns, 0), shown = rows.slice(0, TOP);
	const several = new Set(rows.map(r => r.device)).size > 1, names = labels(shown.map(r => r.name));
	return card('Hottest kernels', base(WHOLE), barList(shown.map((r, i) => ({ label: (several ? plain(r.device) + ': ' : '') + names[i], value: r.total_ns, link: link('devices'), title: plain(r.name) })), 'ns', whole));
}

const PHASE_COLUMNS = [['steps', 'Steps'], ['tokens', 'Tokens'], ['step_mean_ns', 'Step time', 'ns'], ['tokens_per_second', 'Tokens/s'], ['attention', 'Attention', '%'], ['matrix', 'Matrix', '%']];

// The phases of a server of language models.
async function phases(report) {
	const entry = await report.entry('phases');
	if (!entry)
		return null;
	const rows = entry.document.phases, columns = PHASE_COLUMNS.filter(([name]) => rows.some(r => r[name]));
	const cell = (v, unit) => v === null ? '' : unit === '%' ? percent(v, 100) : number(v, unit);
	return card({ title: 'Phases', part: 'phases' }, el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Phases' }, el('table', { class: 'plain' },
		el('thead', {}, el('tr', {}, el('td', {}), columns.map(([, title]) => el('th', { scope: 'col' }, title)))),
		el('tbody', {}, rows.map(r => el('tr', {}, el('th', { scope: 'row' }, r.phase), columns.map(([name, , unit]) => el('td', {}, cell(r[name], unit)))))))),
	el('a', { href: link('phases') }, 'All figures by phase'));
}

const CHECKERS = { AcceleratorUtilizationChecker: 'Accelerator utilization', ExpensiveOperationChecker: 'Expensive operations', OperationChecker: 'Operations', JobChecker: 'Job',
	HottestChecker: 'Hottest places', SlowestStepChecker: 'Slowest step' };
const PLACE = /^top \d+ (scope|node|graph node|operation type): (.*?)(?:, cpu: [^,]*, accelerator: [^,]*)?, total: [^,]*$/;

// Returns a line of advice. If it names a node or a type, it is a link to that entry.
function line(report, text) {
	const found = PLACE.exec(text), page = found && found[1] === 'operation type' ? 'op' : 'scope';
	return el('li', {}, found && report.has(page) ? el('a', { href: link(page, { select: found[2] }) }, plain(text)) : plain(text));
}

// The reports of a checker share one heading.
async function advice(report) {
	const entry = await report.entry('advise'), groups = new Map();
	for (const r of entry ? entry.document.rows : [])
		if (r.report.trim())
			groups.set(r.checker, [...groups.get(r.checker) || [], r.report]);
	return groups.size ? card('Advice', [...groups].map(([checker, reports]) => el('div', { class: 'advice' }, el('h3', {}, CHECKERS[checker] || checker),
		reports.map(r => [el('ul', {}, r.split('\n').map(t => line(report, t))),
			checker === 'ExpensiveOperationChecker' && !PLACE.test(r.split('\n')[0]) && report.has('code') ? el('a', { href: link('code') }, 'Show code lines') : null])))) : null;
}

function notes(first) {
	const list = first.warnings || [];
	return list.length ? card('Notes', el('ul', { class: 'notes' }, list.map(w => el('li', {}, plain(w))))) : null;
}

function inputs(first) {
	const list = first.sources || [];
	return list.length ? card('Input', el('table', { class: 'plain' }, el('tbody', {}, list.slice(0, 50).map(s => el('tr', {}, el('th', { scope: 'row' }, s.kind.replace(/_/g, ' ')), el('td', { class: 'text' }, plain(s.path)))),
		list.length > 50 ? el('tr', {}, el('td', {}, `and ${list.length - 50} more`)) : null))) : null;
}

export async function overviewPage(report) {
	const first = (await report.entry(report.list[0].name)).document, summary = await report.entry('summary'), memory = await report.entry('memory');
	const times = summary ? summary.document.step_time : [];
	const parts = await Promise.all([why(report), steps(report, times.some(t => t.marked || t.steps > 1)), devices(report), phases(report), idle(report), critical(report), hot(report, 'op', 'operation types'), hot(report, 'scope', 'nodes'), kernels(report), hot(report, 'code', 'code lines'), advice(report)]);
	return el('div', { class: 'overview' }, figures(first, times, summary && summary.document.float_ops_coverage, memory && memory.document), el('div', { class: 'cards' }, parts, notes(first), inputs(first)));
}
