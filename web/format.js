// SPDX-License-Identifier: Apache-2.0
// Numbers as the commands print them (src/base/fmt.c).

const TIMES = ['us', 'ms', 'sec'];
let ofTrace = false; // the input is a trace, whose times have three digits

export function useTimesOfTraces() {
	ofTrace = true;
}

// At most two decimals; a tie goes to the even digit, as in the commands. Ties are odd multiples of 1/2, 1/4 or 1/8.
function fixed(v, decimals) {
	const scale = 10 ** decimals, tie = v * 2 ** (decimals + 1) % 2;
	if (Math.abs(tie) !== 1)
		return v.toFixed(decimals);
	return (2 * Math.round(v * scale / 2) / scale).toFixed(decimals);
}

function fixed2(v) {
	return fixed(v, 2);
}

// As fmt_fraction does for times: an integer below 1000 has no decimals, all other numbers have two, and a time below 1us is in nanoseconds.
// Times of traces have three digits, as put_time_si writes them; a mean below 1ns has decimals.
function micros(n) {
	const ns = Number((n * 1000).toPrecision(15));
	let unit = 1, i = 0;
	if (ofTrace)
		return Math.abs(ns) < 0.5 && ns ? fixed2(ns) + 'ns' : nanoseconds(Math.round(ns));
	if (n > 0 && n < 1)
		return (Number.isInteger(ns) ? ns : fixed2(ns)) + 'ns';
	for (; i + 1 < TIMES.length && n / unit >= 1000; i++)
		unit *= 1000;
	return (i === 0 && Number.isInteger(n) ? n : fixed2(n / unit)) + TIMES[i];
}

// Nanoseconds with three digits, as the tables of traces have them.
export function nanoseconds(v) {
	const units = ['ns', 'us', 'ms', 's'];
	let u = 0;
	for (; u < 3 && Math.abs(v) >= 999.5; u++)
		v /= 1000;
	return fixed(v, !u || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2) + units[u];
}

// The share of the device time for which float operations are known. d: a document with coverage, or null.
export function coverage(d) {
	return d && d.coverage !== undefined ? `known for ${number(100 * d.coverage, 'percent')} of the device time` : '';
}

export function number(v, unit) {
	if (v === null || v === undefined)
		return '';
	if (unit === 'ns')
		return nanoseconds(v);
	if (unit === 'digits')
		return String(v);
	if (unit === 'percent')
		return fixed2(v) + '%';
	if (unit === 'permille')
		return fixed(v / 10, 1) + '%';
	if (unit === 'thousandths')
		return fixed2(v / 1000);
	if (unit === 'bytes/s')
		return si(v, SIZES) + '/s';
	if (unit === 'ratio' && v < 1000)
		return v < 0.1 && v ? Number(v.toPrecision(2)).toString() : fixed2(v);
	return unit === 'us' ? micros(v) : si(v, unit === 'bytes' ? SIZES : COUNTS);
}

const COUNTS = ['', 'k', 'M', 'G', 'T', 'P', 'E'], SIZES = ['B', 'KB', 'MB', 'GB', 'TB', 'PB', 'EB'];

// Three digits and the prefix of the unit (fmt_si, fmt_si_bytes).
function si(v, units) {
	let size = Math.abs(v), u = 0;
	for (; u + 1 < units.length && size >= 999.5; u++)
		size /= 1000;
	return (v < 0 ? '-' : '') + fixed(size, (!u && Number.isInteger(size)) || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2) + units[u];
}

// A number beside an axis: without zeros at its end.
export function tick(v, unit) {
	return v ? number(v, unit).replace(/(\.\d*?)0+(?=\D*$)/, '$1').replace(/\.(?=\D*$)/, '') : '0';
}

// A difference with its sign and three digits (fmt_quantity).
export function difference(v, unit) {
	const units = unit === 'us' ? TIMES : unit === 'bytes' ? SIZES : COUNTS;
	let size = Number(Math.abs(v).toPrecision(3)), i = 0;
	while (size >= 1000 && i + 1 < units.length) {
		size /= 1000;
		i++;
	}
	return (v < 0 ? '-' : '+') + Number(size.toPrecision(3)) + units[i];
}

export function percent(part, whole) {
	return whole ? fixed2(100 * part / whole) + '%' : '';
}

// All digits, for tooltips.
export function exact(v, unit) {
	if (v === null || v === undefined)
		return '';
	const names = { us: ' \u00b5s', ns: ' ns', bytes: ' bytes' };
	return v.toLocaleString('en-US') + (names[unit] || '');
}

// A word of a command line as a shell reads it.
export function quote(word) {
	return /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'";
}

// Returns text without characters that could change the direction or the line of the surrounding text.
export function plain(text) {
	return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
		c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

// At most n characters, with the middle left out.
export function shorten(text, n) {
	if (text.length <= n)
		return text;
	const head = Math.ceil((n - 1) / 2);
	return text.slice(0, head) + '\u2026' + text.slice(text.length - (n - 1 - head));
}

// Shortens texts so that texts that differ remain different: where they would become equal, the part in which they differ is shown.
export function distinct(texts, n) {
	const made = texts.map(t => shorten(t, n));
	return texts.map((t, i) => {
		const alike = texts.filter((x, k) => made[k] === made[i] && x !== t);
		if (!alike.length)
			return made[i];
		const same = Math.min(...alike.map(x => { let k = 0; while (k < t.length && x[k] === t[k]) k++; return k; }));
		const head = Math.floor(n / 4), from = Math.max(head, same - 8);
		return t.slice(0, head) + '\u2026' + (t.length - from > n - head - 2 ? t.slice(from, from + n - head - 2) + '\u2026' : t.slice(from));
	});
}
