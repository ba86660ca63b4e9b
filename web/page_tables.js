// SPDX-License-Identifier: Apache-2.0
// Pages of tables: devices and kernels of traces, recordings, and every document without a page of its own.
import { copyButton, el } from './dom.js';
import { quote } from './format.js';
import { columnsOf, Table, table } from './data.js';
import { dataTable } from './table.js';

// Columns without a heading in the text of the commands: times since 1970, which the timeline has, and causes of idle time.
const HIDDEN = ['from', 'to', 'host_late', 'launch_latency', 'kernel_gap', 'event_wait', 'other_process', 'unknown_wait', 'unknown_launch', 'before_first', 'after_last']
	.map(name => name + '_ns').concat('cause');
const SORTS = { kernels: 'total_ns', devices: 'busy_ns' };

function section(title, t, command, sort) {
	if (!t.count)
		return null;
	return el('section', { class: 'card' }, el('div', { class: 'cardhead' }, el('h2', {}, title), el('span', { class: 'muted' }, t.count.toLocaleString('en-US') + (t.count === 1 ? ' row' : ' rows')),
		el('span', { class: 'grow' }), copyButton('Copy command', () => ['tfprof', ...command].map(quote).join(' '))),
	dataTable(t, { name: title, filter: true, sort, hide: HIDDEN }));
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
		.map(([key, rows]) => {
			const columns = columnsOf(rows);
			return [name(key), new Table(columns, rows.length, (c, i) => rows[i][columns[c].name] ?? null)];
		});
}

export async function tablesPage(report, names, which = 0) {
	const out = [];
	for (const n of names) {
		const entry = await report.entry(n, Math.min(which, report.all(n).length - 1));
		const hasOwn = title => names.concat('steps').some(other => other !== n && name(other) === title && report.has(other));
		if (entry)
			out.push(tables(entry.document).map(([title, t]) => section(hasOwn(title) ? title + ' by device' : title, t, entry.words, SORTS[n])));
	}
	return el('div', { class: 'stack' }, out);
}
