// SPDX-License-Identifier: Apache-2.0
// Reduced names of C++ functions, as the text of the commands has them; the program makes them (docs/schema/names.json).

const reduced = new Map();
let full = false;

// Reads the names of all loaded traces. Returns true if one is reduced.
export async function readNames(report) {
	for (let k = 0; k < report.all('names').length; k++)
		for (const [name, text] of (await report.entry('names', k)).document.names)
			reduced.set(name, text);
	return reduced.size > 0;
}

// True: names are shown in full.
export function showFull(on) {
	full = on;
}

// Returns the reduced name. In a path, only the last part is reduced.
export function reduce(name) {
	for (let from = 0; from >= 0 && reduced.size; from = name.indexOf('/', from) + 1 || -1) {
		const text = reduced.get(name.slice(from));
		if (text !== undefined)
			return name.slice(0, from) + text;
	}
	return name;
}

// Returns the name as it is shown.
export function short(name) {
	return full ? name : reduce(name);
}
