// SPDX-License-Identifier: Apache-2.0
// Documents: from the file, or from the server.
import { minima } from './metrics.js';

// Column-wise view of a document's rows, made of objects or of parallel arrays (docs/schema/arrays.json).
export class Table {
	constructor(columns, count, get, raw) {
		this.columns = columns;
		this.count = count;
		this.index = new Map(columns.map((c, i) => [c.name, i]));
		this.get = get; // (column number, row)
		this.raw = raw || null;
	}

	has(name) {
		return this.index.has(name);
	}

	// The values of a column as an array; numbers without a value are 0.
	numbers(name) {
		const out = new Float64Array(this.count), c = this.index.get(name);
		if (c !== undefined)
			for (let i = 0; i < this.count; i++)
				out[i] = this.get(c, i) || 0;
		return out;
	}

	value(name, row) {
		const c = this.index.get(name);
		return c === undefined ? null : this.get(c, row);
	}
}

function strings(d) {
	const out = new Array(d.rest.length);
	let before = '';
	for (let i = 0; i < out.length; i++)
		out[i] = before = d.shared[i] ? before.slice(0, d.shared[i]) + d.rest[i] : d.rest[i];
	return out;
}

// A column as it is, made of its steps, or of an earlier one and what differs from it.
function whole(column, earlier, count) {
	if (column === null || Array.isArray(column) || typeof column !== 'object')
		return column;
	if (column.steps) {
		let at = 0;
		return column.steps.map(step => step === null ? null : at += step);
	}
	const base = earlier[column.base], out = Array.isArray(base) ? base.slice() : new Array(count).fill(base);
	let row = 0;
	column.rows.forEach((step, i) => {
		row += step;
		out[row] = column.values[i];
	});
	return out;
}

export function table(d) {
	if (d.table)
		return d.table;
	if (!d.arrays) {
		d.table = rowsTable(Array.isArray(d.columns) ? { rows: d.rows, columns: { rows: d.columns } } : d, 'rows');
		return d.table;
	}
	const text = strings(d), arrays = d.arrays.reduce((out, a) => [...out, whole(a, out, d.count)], []);
	const cell = (c, i) => Array.isArray(arrays[c]) ? arrays[c][i] : arrays[c];
	d.table = new Table(d.columns, d.count, (c, i) => {
		const v = cell(c, i), type = d.columns[c].type;
		if (v === null || type === 'integer' || type === 'number')
			return v;
		if (type === 'boolean')
			return v === 1;
		return type === 'array' ? d.lists[v].map(k => text[k]) : text[v];
	}, name => {
		const c = d.columns.findIndex(x => x.name === name);
		return i => cell(c, i);
	});
	return d.table;
}

// A member of a document that lists rows as objects. The document describes its columns, else each is a text.
export function rowsTable(d, key) {
	const rows = d[key], columns = d.columns?.[key] || Object.keys(rows[0] || {}).map(name => ({ name, type: 'string' }));
	return new Table(columns, rows.length, (c, i) => rows[i][columns[c].name] ?? null);
}

const LARGE = 100000; // entries
const SEEN = [5000, 50000, 500000], ENOUGH = 200; // the share of everything that an entry needs is 1 / SEEN; the first with enough rows
const VIEWS = ['scope', 'graph', 'code'];

async function unpack(text) {
	const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
	return JSON.parse(await new Response(stream).text());
}

// The report: {documents: [{name, words, document}]}. live: documents come when they are asked for.
export class Report {
	static async open() {
		const text = document.getElementById('data').textContent;
		const report = new Report();
		report.live = text === 'live';
		const data = report.live ? await (await fetch('v1/index')).json() : await unpack(text);
		if (data.version !== 1)
			throw new Error(`version ${data.version} of the report is not supported`);
		report.tool = data.tool;
		report.list = data.documents;
		report.entries = data.entries || 0;
		return report;
	}

	all(name) {
		return this.list.filter(x => x.name === name);
	}

	has(name) {
		return this.list.some(x => x.name === name);
	}

	// The entry of a name, with its document.
	async entry(name, which = 0) {
		const x = this.all(name)[which];
		if (x && !x.document)
			x.document = this.isLarge(x) ? await this.reduced(x.run) : await this.run(x.run);
		return x;
	}

	// Live only: a view with more entries than the page should hold comes without the smallest ones.
	isLarge(x) {
		return this.live && this.entries > LARGE && VIEWS.includes(x.run[0]);
	}

	// Asks for the entries that are wide enough to be seen, by a metric, else by the first that is not 0.
	async reduced(words, metric, more = []) {
		const { total } = await this.run([...words, ...more, '-max_depth', '1']);
		const by = metric || minima().find(m => total[m] > 0);
		if (!by)
			return this.run([...words, ...more, '-max_depth', '6']);
		let answer;
		for (const seen of SEEN) {
			const least = Math.max(1, Math.floor(total[by] / seen));
			answer = await this.run([...words, ...more, '-min_' + by, String(least)]);
			answer.seen = seen;
			if (answer.count >= ENOUGH || least === 1)
				break;
		}
		return answer;
	}

	// Live only: the document of a command line.
	async run(words) {
		const answer = await fetch('v1/run?' + words.map(w => 'w=' + encodeURIComponent(w)).join('&'));
		const text = await answer.text();
		if (!answer.ok)
			throw new Error(text.trim());
		return JSON.parse(text);
	}
}
