// SPDX-License-Identifier: Apache-2.0
// Memory: use over time of each allocator, and what is allocated at its peak.
import { barList } from './charts.js';
import { copyButton, el } from './dom.js';
import { exact, nanoseconds, number, plain, quote, shorten } from './format.js';
import { stepChart } from './lines.js';
import { link } from './state.js';

const TOP = 24, SPARE = 0.01; // owners; share of the time that the timeline shows around the peak

function title(row) {
	return [row.device || 'unknown device', row.allocator].filter(Boolean).map(plain).join(' \u00b7 ');
}

function facts(row) {
	const list = [['Peak', row.peak_bytes, 'bytes'], ['Reserved', row.reserved_bytes, 'bytes'], ['Capacity', row.capacity_bytes, 'bytes'], ['Total allocated', row.allocated_bytes, 'bytes'],
		['Allocations', row.allocations, 'digits'], ['Releases', row.frees, 'digits']];
	return el('div', { class: 'facts' }, list.filter(([, v]) => v !== null && v !== undefined).map(([label, v, unit]) =>
		el('span', {}, el('span', { class: 'muted' }, label + ' '), el('strong', { title: exact(v, unit), 'data-fact': label }, number(v, unit)))),
	row.step === null ? null : el('span', { class: 'tag' }, 'step ' + row.step));
}

function owners(rows, unknown) {
	if (!rows.length)
		return el('p', { class: 'muted' }, unknown);
	const whole = rows.reduce((a, r) => a + r.bytes, 0);
	return [barList(rows.slice(0, TOP).map(r => ({ label: shorten(plain(r.op || '(unknown)'), 110), title: `${plain(r.op || '(unknown)')}: ${r.buffers.toLocaleString('en-US')} buffers`, value: r.bytes,
		link: link('scope', { q: r.op || '' }) })), 'bytes', whole), rows.length > TOP ? el('p', { class: 'muted' }, `and ${(rows.length - TOP).toLocaleString('en-US')} more`) : null];
}

// The time of all allocators together.
function span(use) {
	const all = use.filter(u => u.ns.length);
	return { from: all.reduce((a, u) => Math.min(a, u.ns[0]), Infinity), to: all.reduce((a, u) => Math.max(a, u.ns[u.ns.length - 1]), -Infinity) };
}

function pool(report, entry, i) {
	const d = entry.document, row = d.memory[i], use = d.use[i], live = d.live.filter(r => r.device === row.device && r.allocator === row.allocator);
	const at = use.bytes.reduce((best, v, k) => v > use.bytes[best] ? k : best, 0), whole = span(d.use);
	const around = Math.max(1000, Math.round((whole.to - whole.from) * SPARE));
	return el('section', { class: 'card' },
		el('div', { class: 'cardhead' }, el('h2', {}, title(row)), el('span', { class: 'grow' }),
			report.has('slices') && use.ns.length ? el('a', { href: link('timeline', { from: use.ns[at] - around, to: use.ns[at] + around }) }, 'Show on timeline') : null,
			i ? null : copyButton('Copy command', () => ['tfprof', ...entry.words].map(quote).join(' '))),
		facts(row),
		use.ns.length ? stepChart(use.ns, use.bytes, { unit: 'bytes', ...whole, name: 'Bytes in use over time', limit: row.capacity_bytes ? [row.capacity_bytes, 'capacity'] : null })
			: el('p', { class: 'muted' }, 'The file has no allocation times, only the peak.'),
		el('h3', {}, 'In use at the peak' + (use.ns.length ? ', ' + nanoseconds(use.ns[at] - whole.from) + ' after the first allocation' : '')),
		owners(live, row.allocations ? 'The file does not record which allocations were released.' : 'The file has no individual allocations.'));
}

export async function memoryPage(report, entry) {
	const order = entry.document.memory.map((_, i) => i).sort((a, b) => (entry.document.memory[b].peak_bytes || 0) - (entry.document.memory[a].peak_bytes || 0));
	return el('div', { class: 'stack overview' }, el('p', { class: 'hint' }, 'The charts show the bytes in use after every allocation and release. Below each chart are the operations that had memory in use at the peak.'),
		order.map(i => pool(report, entry, i)));
}
