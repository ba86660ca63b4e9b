// SPDX-License-Identifier: Apache-2.0
// Pages of tables: devices and kernels of traces, recordings, and every document without a page of its own.
import { copyButton, el } from './dom.js';
import { exact, nanoseconds, quote } from './format.js';
import { rowsTable, table } from './data.js';
import { dataTable } from './table.js';

const SORTS = { kernels: 'total_ns', devices: 'busy_ns' };

// A start, counted from the first row as in the text of the command; documents have the clock of the source.
function start(t, i) {
	const at = t.value('start_ns', i);
	return el('span', { title: exact(at, 'ns') }, nanoseconds(at - t.value('start_ns', 0)));
}

function section(title, t, command, sort) {
	if (!t.count)
		return null;
	return el('section', { class: 'card' }, el('div', { class: 'cardhead' }, el('h2', {}, title), el('span', { class: 'muted' }, t.count.toLocaleString('en-US') + (t.count === 1 ? ' row' : ' rows')),
		el('span', { class: 'grow' }), copyButton('Copy command', () => ['tfprof', ...command].map(quote).join(' '))),
	dataTable(t, { name: title, filter: true, sort, cell: (c, i) => c.name === 'start_ns' ? start(t, i) : undefined }));
}

function name(key) {
	return key === 'gpus' ? 'GPUs' : key[0].toUpperCase() + key.slice(1).replace(/_/g, ' ');
}

// Returns the members of a document that are lists of rows, as tables. The table with the name of the document comes first.
export function tables(document) {
	const own = document.schema.name.replace('tfprof/', '');
	if (document.arrays || Array.isArray(document.rows))
		return [[name(document.view || own), table(document)]];
	return Object.entries(document).filter(([key, v]) => Array.isArray(v) && v.length && typeof v[0] === 'object' && !['sources', 'columns', 'tracks', 'sides'].includes(key))
		.sort(([a], [b]) => (b === own) - (a === own))
		.map(([key]) => [name(key), rowsTable(document, key)]);
}

export async function tablesPage(report, names, which = 0) {
	const out = [], shown = new Set(); // several commands print some of the tables
	for (const n of names) {
		const entry = await report.entry(n, Math.min(which, report.all(n).length - 1));
		const hasOwn = title => names.concat('steps').some(other => other !== n && name(other) === title && report.has(other));
		for (const [own, t] of entry ? tables(entry.document) : []) {
			const title = hasOwn(own) ? own + ' by device' : own;
			if (!shown.has(title))
				out.push(section(title, t, entry.words, SORTS[n]));
			shown.add(title);
		}
	}
	return el('div', { class: 'stack' }, out);
}
