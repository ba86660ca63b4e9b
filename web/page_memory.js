// SPDX-License-Identifier: Apache-2.0
// Memory: use over time of each allocator, and what is allocated at its peak.
import { barList, figure, legend } from './charts.js';
import { button, copyButton, el, replace, svg } from './dom.js';
import { exact, nanoseconds, number, percent, plain, quote, shorten } from './format.js';
import { stepChart } from './lines.js';
import { link } from './state.js';

const TOP = 24, SPARE = 0.01; // owners; share of the time that the timeline shows around the peak
const SEGMENTS = 40, ROW = 14, SIZE = 150; // segments that are shown first; pixels of the height of a segment and of the width of its text

function title(row) {
	return [row.device || 'unknown device', row.allocator].filter(Boolean).map(plain).join(' \u00b7 ');
}

function facts(row, state) {
	const list = [['Peak', row.peak_bytes, 'bytes'], ['Reserved', row.reserved_bytes, 'bytes'], ['Capacity', row.capacity_bytes, 'bytes'], ['Total allocated', row.allocated_bytes, 'bytes'],
		['Allocations', row.allocations, 'digits'], ['Releases', row.frees, 'digits'], ['Reserved and unused at the peak', state.unused_bytes, 'bytes'],
		['Largest free block at the end', state.largest_free_bytes, 'bytes'], ['Fragmentation', state.fragmentation, 'percent'], ['Allocated before the first entry', state.before_bytes, 'bytes'], ['Last used before the peak', state.past_use_bytes, 'bytes'], ['Never freed', state.never_freed_bytes, 'bytes']];
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
	if (!byKind)
		return stepChart(use.ns, use.bytes, options);
	const layers = byKind.kinds.filter(k => k.bytes.some(v => v > 0)).map(k => ({ label: plain(k.kind), color: COLORS[k.kind] || '--idle', values: k.bytes }));
	return [stepChart(byKind.ns, byKind.ns.map((_, i) => layers.reduce((a, l) => a + l.values[i], 0)), { ...options, layers }), legend(layers)];
}

// The live set at the moment of the document that is nearest to a time. The document has the largest rows of a moment in each hundredth of the time.
function liveAt(liveSets, use, t) {
	if (!liveSets || !liveSets.moments.length)
		return null;
	const at = liveSets.moments.reduce((a, m) => Math.abs(m.ns - t) < Math.abs(a.ns - t) ? m : a);
	const shown = at.rows.reduce((a, r) => a + r[1], 0), more = at.row_count - at.rows.length;
	return el('div', { class: 'liveat' }, el('h3', {}, `Live set ${nanoseconds(at.ns - use.ns[0])} after the first allocation, the largest use near this moment: ${number(at.bytes, 'bytes')}`),
		barList(at.rows.map(([k, bytes, buffers]) => {
			const o = liveSets.owners[k], name = [o.line, o.op || o.size_class].filter(Boolean).map(plain).join(' \u00b7 ') || '(unknown)';
			return { label: shorten(name, 110), title: [`${name}: ${buffers.toLocaleString('en-US')} buffers`, o.module, o.kind].filter(Boolean).map(plain).join(', '), value: bytes };
		}), 'bytes', at.bytes),
		more ? el('p', { class: 'muted' }, `${more.toLocaleString('en-US')} more rows with ${number(at.bytes - shown, 'bytes')} are left out; the copied command lists them.`) : null);
}

// The use at a moment that was clicked, by kind, and the live set, with the command that lists it.
function moment(entry, use, byKind, liveSets, i, t) {
	const after = Math.round(t - use.ns[0]), bytes = byKind ? byKind.kinds.reduce((a, k) => a + k.bytes[i], 0) : use.bytes[i];
	const list = byKind ? byKind.kinds.filter(k => k.bytes[i] > 0).map(k => ({ label: plain(k.kind), value: k.bytes[i] })).sort((a, b) => b.value - a.value) : [];
	return [el('h3', {}, `In use ${nanoseconds(after)} after the first allocation: ${number(bytes, 'bytes')} `,
		copyButton('Copy command that lists the owners', () => ['tfprof', ...entry.words, '-at', after + 'ns'].map(quote).join(' '))),
	list.length ? el('div', { class: 'moment' }, barList(list, 'bytes', bytes)) : null, liveAt(liveSets, use, t)];
}

// A row for each segment, from its first to its last address; the darker a part, the more of it is in use.
function drawSegments(width, list) {
	const whole = width - SIZE, most = list[0].bytes;
	return svg('svg', { viewBox: `0 0 ${width} ${list.length * ROW}`, width, height: list.length * ROW, role: 'img', 'aria-label': 'Map of the segments', class: 'chart' }, list.map((s, k) => {
		const y = k * ROW, n = s.parts_percent.length, length = Math.max(n, whole * s.bytes / most), cells = [];
		for (let i = 0, end; i < n; i = end) {
			for (end = i + 1; end < n && s.parts_percent[end] === s.parts_percent[i];)
				end++;
			if (s.parts_percent[i])
				cells.push(svg('rect', { x: SIZE + length * i / n, y, width: length * (end - i) / n, height: ROW - 3, class: 'used', style: { opacity: s.parts_percent[i] / 100 } }));
		}
		return svg('g', {}, svg('title', {}, [`${s.address}: ${number(s.bytes, 'bytes')} in ${s.blocks.toLocaleString('en-US')} blocks`, `in use ${number(s.used_bytes, 'bytes')}`,
			`largest free block ${number(s.largest_free_bytes, 'bytes')}`].join('\n')),
		svg('text', { x: 0, y: y + ROW - 5 }, `${number(s.bytes, 'bytes')}, ${percent(s.used_bytes, s.bytes)} used`),
		svg('rect', { x: SIZE, y, width: length, height: ROW - 3, class: 'free' }), cells);
	}));
}

// The segments of a pool at the end, and how much of their free memory is in smaller blocks than the largest one.
function segments(list, left) {
	if (!list.length)
		return null;
	const sum = key => list.reduce((a, s) => a + s[key], 0), free = sum('bytes') - sum('used_bytes'), largest = Math.max(...list.map(s => s.largest_free_bytes));
	const map = el('div', { class: 'segments' }), show = n => replace(map, figure(width => drawSegments(width, list.slice(0, n))),
		n < list.length ? button(`Show all ${list.length} segments`, { class: 'ghost' }, () => show(list.length)) : null);
	show(SEGMENTS);
	return [el('h3', {}, 'Segments at the end'), el('p', { class: 'muted' }, `${list.length.toLocaleString('en-US')} segments have ${number(sum('bytes'), 'bytes')}, of which ` +
		`${number(sum('used_bytes'), 'bytes')} are in use. The largest free block has ${number(largest, 'bytes')}` + (free > 0 ? `, ${percent(largest, free)} of the free memory.` : '.') +
		(left ? ` ${left.toLocaleString('en-US')} smaller segments of the file are left out.` : '')), map];
}

function pool(report, entry, i) {
	const d = entry.document, row = d.memory[i], use = d.use[i], byKind = d.by_kind && d.by_kind[i].ns.length ? d.by_kind[i] : null;
	const state = (d.pools || []).find(r => r.device === row.device && r.allocator === row.allocator && r.worker === row.worker) || {}, chosen = el('div'), live = d.live.filter(r => isOf(r, row));
	const first = d.memory.findIndex(r => r.device === row.device) === i; // the row of the device itself, if it has several
	const at = use.bytes.reduce((best, v, k) => v > use.bytes[best] ? k : best, 0), whole = span(d.use);
	const around = Math.max(1000, Math.round((whole.to - whole.from) * SPARE));
	return el('section', { class: 'card' },
		el('div', { class: 'cardhead' }, el('h2', {}, title(row)), el('span', { class: 'grow' }),
			report.has('slices') && use.ns.length ? el('a', { href: link('timeline', { from: use.ns[at] - around, to: use.ns[at] + around }) }, 'Show on timeline') : null,
			i ? null : copyButton('Copy command', () => ['tfprof', ...entry.words].map(quote).join(' '))),
		facts(row, state), first ? errors((d.ooms || []).filter(r => r.device === row.device)) : null,
		use.ns.length ? useChart(use, byKind, { unit: 'bytes', ...whole, pick: (k, t) => replace(chosen, moment(entry, use, byKind, d.live_at && d.live_at[i], k, t)), name: 'Bytes in use over time', limit: row.capacity_bytes ? [row.capacity_bytes, 'capacity'] : null })
			: el('p', { class: 'muted' }, 'The file has no allocation times, only the peak.'),
		chosen,
		el('h3', {}, 'In use at the peak' + (use.ns.length ? ', ' + nanoseconds(use.ns[at] - whole.from) + ' after the first allocation' : '')),
		kinds(live), kinds(live) ? el('h3', {}, 'By line, or by op where no line is known') : null,
		owners(live, row.allocations ? 'The file does not record which allocations were released.' : 'The file has no individual allocations.'),
		segments((d.segments || []).filter(r => r.device === row.device && r.allocator === row.allocator && r.worker === row.worker), d.segments_left_out));
}

export async function memoryPage(report, entry) {
	const order = entry.document.memory.map((_, i) => i).sort((a, b) => (entry.document.memory[b].peak_bytes || 0) - (entry.document.memory[a].peak_bytes || 0));
	return el('div', { class: 'stack overview' }, el('p', { class: 'hint' }, 'The charts show the bytes in use after every allocation and release. Drag to zoom into a time range, click for the kinds of memory and the live set at a moment. The table below each chart lists the memory in use at the peak.'),
		order.map(i => pool(report, entry, i)));
}
