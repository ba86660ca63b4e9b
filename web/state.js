// SPDX-License-Identifier: Apache-2.0
// The state of the page is the fragment of its URL: #/page?metric=micros&q=conv

const listeners = [];

// Decodes the escapes of an address. A text with a malformed escape stays as it is.
function decoded(text) {
	try {
		return decodeURIComponent(text);
	} catch (e) {
		return text;
	}
}

export function read() {
	const text = location.hash.replace(/^#\/?/, ''), cut = text.indexOf('?');
	const page = decoded(cut < 0 ? text : text.slice(0, cut));
	return { page, values: new URLSearchParams(cut < 0 ? '' : text.slice(cut + 1)) };
}

export function link(page, values = {}) {
	const query = new URLSearchParams(Object.entries(values).filter(([, v]) => v !== '' && v !== null && v !== undefined));
	const text = query.toString();
	return '#/' + encodeURIComponent(page) + (text ? '?' + text : '');
}

// Changes values of the page that is shown; undefined and '' remove one. No new entry of the history.
export function update(values) {
	const now = read(), all = Object.fromEntries(now.values);
	history.replaceState(null, '', link(now.page, { ...all, ...values }));
}

export function go(page, values) {
	location.hash = link(page, values);
}

export function onChange(f) {
	listeners.push(f);
}

window.addEventListener('hashchange', () => listeners.forEach(f => f()));
