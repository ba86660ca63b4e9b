// SPDX-License-Identifier: Apache-2.0
// The rows of a view as a tree: arrays in pre-order, as the program has them.
import { table } from './data.js';
import { number, plain, useTimesOfTraces } from './format.js';
import { inOrder, isOccurrence, label } from './metrics.js';
import { short } from './names.js';

export function describe(column, name, flat) {
	return { name, unit: flat && isOccurrence(name) ? 'digits' : column.unit || 'count', label: label(name) };
}

export class Tree {
	constructor(document) {
		const t = this.table = table(document);
		this.document = document;
		this.kind = document.view;
		this.flat = this.kind === 'op';
		this.n = t.count + (this.flat ? 1 : 0);
		this.shift = this.flat ? 1 : 0; // entry i is row i - shift; of op the root has no row
		this.parent = new Int32Array(this.n).fill(-1);
		this.depth = new Int32Array(this.n);
		this.end = new Int32Array(this.n); // the first entry after those below it
		this.cache = new Map();
		this.link();
		this.metrics = inOrder(t.columns.filter(c => c.name.startsWith('total_')).map(c => describe(c, c.name.slice(6), this.flat))
			.filter(m => m.name !== 'uncounted' && this.whole(m.name) > 0));
		// Of a trace, whose host and device run at the same time, no metric adds up the times of both.
		if (t.has('total_kernels')) {
			useTimesOfTraces();
			this.metrics = this.metrics.filter(m => m.name !== 'micros').map(m => ({ ...m, label: { accelerator_micros: 'Device time', cpu_micros: 'Host time' }[m.name] || m.label }));
		}
	}

	link() {
		if (this.flat) {
			this.parent.fill(0, 1);
			this.depth.fill(1, 1);
		} else {
			const path = this.table.raw('path'), up = this.table.raw('parent'), at = new Map();
			for (let i = 0; i < this.n; i++) {
				at.set(path(i), i);
				const p = up(i);
				this.parent[i] = p === null ? -1 : at.get(p) ?? 0;
				this.depth[i] = this.parent[i] < 0 ? 0 : this.depth[this.parent[i]] + 1;
			}
		}
		for (let i = this.n - 1; i >= 0; i--) {
			this.end[i] = Math.max(this.end[i], i + 1);
			if (this.parent[i] >= 0)
				this.end[this.parent[i]] = Math.max(this.end[this.parent[i]], this.end[i]);
		}
	}

	whole(metric) {
		const whole = this.document.total && this.document.total[metric];
		return whole !== undefined ? whole : this.n ? this.values(metric).total[0] : 0;
	}

	// {own, total} of a metric, by entry. An op's total is its own: the command's is cumulative.
	values(metric) {
		const key = 'values ' + metric;
		if (this.cache.has(key))
			return this.cache.get(key);
		const own = this.table.numbers('own_' + metric);
		let out = { own, total: this.table.numbers('total_' + metric) };
		if (this.flat) {
			const all = new Float64Array(this.n);
			all.set(own, 1);
			out = { own: all, total: all.slice() };
			out.total[0] = this.document.total[metric] ?? own.reduce((a, b) => a + b, 0);
			out.own[0] = 0;
		}
		this.cache.set(key, out);
		return out;
	}

	// A number of an entry as text: "?" if no part of it is known, with "≥" before it if parts are not.
	text(metric, which, i) {
		const v = this.values(metric.name)[which][i];
		const lacks = metric.name === 'float_ops' && this.table.has('own_uncounted') && this.values('uncounted')[which][i] > 0;
		return lacks && !v ? '?' : (lacks ? '\u2265' : '') + number(v, metric.unit);
	}

	path(i) {
		return this.flat && i === 0 ? '' : this.table.value('path', i - this.shift);
	}

	// Returns the last part of the path.
	name(i) {
		const path = this.path(i), up = this.parent[i];
		if (i === 0 && (this.flat || path === '_TFProfRoot'))
			return 'all';
		const above = up >= 0 ? this.path(up) : '';
		return above && path.startsWith(above + '/') ? path.slice(above.length + 1) : path;
	}

	// Returns the last part of the path as text; names of C++ functions are reduced.
	label(i) {
		return plain(short(this.name(i))) || '(no name)';
	}

	// Returns the path as text, with the last part reduced.
	place(i) {
		return plain(short(this.path(i)));
	}

	find(path) {
		for (let i = 0; i < this.n; i++)
			if (this.path(i) === path)
				return i;
		return 0;
	}

	value(name, i) {
		return this.flat && i === 0 ? null : this.table.value(name, i - this.shift);
	}

	hasChildren(i) {
		return this.end[i] > i + 1;
	}

	// Children in the order of the file.
	children(i) {
		const out = [];
		for (let k = i + 1; k < this.end[i]; k = this.end[k])
			out.push(k);
		return out;
	}

	ancestors(i) {
		const out = [];
		for (let k = i; k >= 0; k = this.parent[k])
			out.unshift(k);
		return out;
	}

	// Counts the entries of a search, without the root, and marks those above or below them. total: sum of the outermost.
	around(match, values) {
		const near = new Uint8Array(this.n);
		let count = 0, total = 0, below = 0;
		match[0] = 0;
		for (let i = 0; i < this.n; i++) {
			if (match[i]) {
				count++;
				near[i] = 1;
				if (i >= below) {
					total += values.total[i];
					below = this.end[i];
				}
				for (let k = this.parent[i]; k >= 0 && !near[k]; k = this.parent[k])
					near[k] = 1;
			}
			if (i < below)
				near[i] = 1;
		}
		return { match, near, count, total };
	}
}
