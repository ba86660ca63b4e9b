// SPDX-License-Identifier: Apache-2.0
// Memory: use over time of each allocator, and what is allocated at its peak.
import { barList, legend } from './charts.js';
import { copyButton, el } from './dom.js';
import { exact, nanoseconds, number, plain, quote, shorten } from './format.js';
import { stepChart } from './lines.js';
import { link } from './state.js';

const TOP = 24, SPARE = 0.01; // owners; share of the time that the timeline shows around the peak

function title(row) {
	return [row.device || 'unknown device', row.allocator].filter(Boolean).map(plain).join(' \u00b7 ');
}

function facts(row, state) {
	const list = [['Peak', row.peak_bytes, 'bytes'], ['Reserved', row.reserved_bytes, 'bytes'], ['Capacity', row.capacity_bytes, 'bytes'], ['Total allocated', row.allocated_bytes, 'bytes'],
		['Allocations', row.allocations, 'digits'], ['Releases', row.frees, 'digits'], ['Reserved and unused at the peak', state.unused_bytes, 'bytes'],
		['Largest free block at the end', state.largest_free_bytes, 'bytes'], ['Allocated before the first entry', state.before_bytes, 'bytes'], ['Never freed', state.never_freed_bytes, 'bytes']];
	return el('div', { class: 'facts' }, list.filter(([, v]) => v !== null && v !== undefined).map(([label, v, unit]) =>
		el('span', {}, el('span', { class: 'muted' }, label + ' '), el('strong', { title: exact(v, unit), 'data-fact': label }, number(v, unit)))),
	row.step === null ? null : el('span', { class: 'tag' }, 'step ' + row.step));
}

// What the rows of the live set are grouped by: a line of the program where it is known, else an op.
function ownerOf(row) {
	return plain(row.line || row.op || '(unknown)');
}

// Adds up the rows of each owner, the largest first.
function byOwner(rows) {
	const sums = new Map();
	for (const r of rows) {
		const sum = sums.get(ownerOf(r)) || { owner: ownerOf(r), op: r.op, line: r.line, bytes: 0, buffers: 0, kinds: new Set() };
		sum.bytes += r.bytes;
		sum.buffers += r.buffers;
		if (r.kind)
			sum.kinds.add(`${plain(r.kind)} (${plain(r.rule)})`);
		sums.set(sum.owner, sum);
	}
	return [...sums.values()].sort((a, b) => b.bytes - a.bytes);
}

function owners(rows, unknown) {
	if (!rows.length)
		return el('p', { class: 'muted' }, unknown);
	const whole = rows.reduce((a, r) => a + r.bytes, 0), all = byOwner(rows);
	return [barList(all.slice(0, TOP).map(r => ({ label: shorten(r.owner, 110), title: [`${r.owner}: ${r.buffers.toLocaleString('en-US')} buffers`, ...r.kinds].join(', '), value: r.bytes,
		link: r.line ? undefined : link('scope', { q: r.op || '' }) })), 'bytes', whole), all.length > TOP ? el('p', { class: 'muted' }, `and ${(all.length - TOP).toLocaleString('en-US')} more`) : null];
}

// The live set by kind.
function kinds(rows) {
	const sums = new Map();
	for (const r of rows)
		if (r.kind)
			sums.set(r.kind, (sums.get(r.kind) || 0) + r.bytes);
	if (!sums.size)
		return null;
	const list = [...sums].sort((a, b) => b[1] - a[1]).map(([kind, bytes]) => ({ label: plain(kind), title: plain(kind), value: bytes }));
	return [el('h3', {}, 'By kind, which is guessed from the call stacks and the names of ops'), barList(list, 'bytes', rows.reduce((a, r) => a + r.bytes, 0))];
}

// Errors for lack of memory on a device.
function errors(rows) {
	return rows.map(r => el('p', {}, `Out of memory ${nanoseconds(r.at_ns)} after the first allocation: ${number(r.requested_bytes, 'bytes')} were requested` +
		(r.missing_bytes === null ? '.' : `, ${number(r.missing_bytes, 'bytes')} were missing.`)));
}

// The time of all allocators together.
function span(use) {
	const all = use.filter(u => u.ns.length);
	return { from: all.reduce((a, u) => Math.min(a, u.ns[0]), Infinity), to: all.reduce((a, u) => Math.max(a, u.ns[u.ns.length - 1]), -Infinity) };
}

// True if a row of another table belongs to an allocator, or to a device with several.
function isOf(r, row) {
	return r.device === row.device && (r.allocator === row.allocator || row.allocator === 'all pools');
}

const COLORS = { parameters: '--compute', gradients: '--communication', 'optimizer state': '--copy', activations: '--host', inputs: '--loading', 'communication buffers': '--accent' };

// The use over time, by kind where it is known.
function useChart(use, byKind, options) {
	if (!byKind || !byKind.ns.length)
		return stepChart(use.ns, use.bytes, options);
	const layers = byKind.kinds.filter(k => k.bytes.some(v => v > 0)).map(k => ({ label: plain(k.kind), color: COLORS[k.kind] || '--idle', values: k.bytes }));
	return [stepChart(byKind.ns, byKind.ns.map((_, i) => layers.reduce((a, l) => a + l.values[i], 0)), { ...options, layers }), legend(layers)];
}

function pool(report, entry, i) {
	const d = entry.document, row = d.memory[i], use = d.use[i], state = (d.pools || [])[i] || {}, live = d.live.filter(r => isOf(r, row));
	const first = d.memory.findIndex(r => r.device === row.device) === i; // the row of the device itself, if it has several
	const at = use.bytes.reduce((best, v, k) => v > use.bytes[best] ? k : best, 0), whole = span(d.use);
	const around = Math.max(1000, Math.round((whole.to - whole.from) * SPARE));
	return el('section', { class: 'card' },
		el('div', { class: 'cardhead' }, el('h2', {}, title(row)), el('span', { class: 'grow' }),
			report.has('slices') && use.ns.length ? el('a', { href: link('timeline', { from: use.ns[at] - around, to: use.ns[at] + around }) }, 'Show on timeline') : null,
			i ? null : copyButton('Copy command', () => ['tfprof', ...entry.words].map(quote).join(' '))),
		facts(row, state), first ? errors((d.ooms || []).filter(r => r.device === row.device)) : null,
		use.ns.length ? useChart(use, d.by_kind && d.by_kind[i], { unit: 'bytes', ...whole, name: 'Bytes in use over time', limit: row.capacity_bytes ? [row.capacity_bytes, 'capacity'] : null })
			: el('p', { class: 'muted' }, 'The file has no allocation times, only the peak.'),
		el('h3', {}, 'In use at the peak' + (use.ns.length ? ', ' + nanoseconds(use.ns[at] - whole.from) + ' after the first allocation' : '')),
		kinds(live), kinds(live) ? el('h3', {}, 'By line, or by op where no line is known') : null,
		owners(live, row.allocations ? 'The file does not record which allocations were released.' : 'The file has no individual allocations.'));
}

export async function memoryPage(report, entry) {
	const order = entry.document.memory.map((_, i) => i).sort((a, b) => (entry.document.memory[b].peak_bytes || 0) - (entry.document.memory[a].peak_bytes || 0));
	return el('div', { class: 'stack overview' }, el('p', { class: 'hint' }, 'The charts show the bytes in use after every allocation and release. The table below each chart lists the memory in use at the peak.'),
		order.map(i => pool(report, entry, i)));
}
