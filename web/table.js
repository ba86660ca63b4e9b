// SPDX-License-Identifier: Apache-2.0
// A table of a document: sorts by a click on a heading, filters by text, shows a hundred rows at a time.
import { button, el, replace, replaceButtons } from './dom.js';
import { exact, number, plain } from './format.js';
import { reduce, short } from './names.js';

const SHOWN = 100;

function isNumber(column) {
	return column.type === 'integer' || column.type === 'number';
}

// The columns that the command prints: those with a heading and a value. options: { name, sort, filter, cell(column, row) -> node or undefined, limit }
export function dataTable(t, options) {
	const title = c => c.title ?? c.name.replace(/_/g, ' ');
	const columns = t.columns.filter(c => title(c) && Array.from({ length: t.count }, (_, i) => t.value(c.name, i)).some(v => v !== null));
	let sort = options.sort || null, down = true, text = '', limit = options.limit || SHOWN;
	const body = el('tbody'), head = el('tr'), more = el('div', { class: 'more' });
	const unit = c => c.unit || (c.type === 'number' ? 'real' : 'digits');

	const has = name => [name, reduce(name)].some(s => s.toLowerCase().includes(text));

	function chosen() {
		let rows = Array.from({ length: t.count }, (_, i) => i);
		if (text)
			rows = rows.filter(i => columns.some(c => c.type === 'string' && has(String(t.value(c.name, i) ?? ''))));
		if (sort) {
			const c = columns.find(x => x.name === sort), sign = down ? -1 : 1;
			const key = i => t.value(sort, i);
			if (c)
				rows.sort((a, b) => isNumber(c) ? sign * ((key(a) ?? -Infinity) - (key(b) ?? -Infinity)) : -sign * String(key(a)).localeCompare(String(key(b))));
		}
		return rows;
	}

	function cell(c, i) {
		const v = t.value(c.name, i);
		const own = options.cell && options.cell(c, i);
		if (own)
			return el('td', { class: isNumber(c) ? 'num' : '' }, own);
		if (isNumber(c))
			return el('td', { class: 'num' + (v ? '' : ' faint'), title: exact(v, unit(c)) }, number(v, unit(c)));
		const s = v === null || v === undefined ? '' : String(v);
		return el('td', { class: 'text', title: plain(s) }, el('span', { class: 'clip' }, plain(short(s))));
	}

	function draw() {
		const rows = chosen();
		replaceButtons(head, columns.map(c => el('th', { scope: 'col', class: isNumber(c) ? 'num' : '', 'aria-sort': sort === c.name ? (down ? 'descending' : 'ascending') : null },
			button(title(c) + (sort === c.name ? down ? ' \u25be' : ' \u25b4' : ''), { class: 'sort' }, () => {
				down = sort === c.name ? !down : true;
				sort = c.name;
				draw();
			}))));
		replace(body, rows.slice(0, limit).map(i => el('tr', {}, columns.map(c => cell(c, i)))));
		replaceButtons(more, rows.length > limit
			? button(`Show more (${limit} of ${rows.length.toLocaleString('en-US')})`, { class: 'ghost' }, () => { limit *= 4; draw(); }) : null);
	}

	draw();
	const filter = options.filter && t.count > 12 ? el('input', {
		type: 'search', placeholder: 'Filter', 'aria-label': 'Filter ' + options.name, oninput: e => { text = e.target.value.toLowerCase(); draw(); },
	}) : null;
	return el('div', { class: 'data' }, filter, el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': options.name },
		el('table', { class: 'rows' }, el('thead', {}, head), body)), more);
}
