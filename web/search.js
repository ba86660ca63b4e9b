// SPDX-License-Identifier: Apache-2.0
// Searches names for text or, after "re:", for a pattern; upper and lower case are equal. A pattern runs in a worker that is
// stopped after LIMIT seconds: JavaScript's engine backtracks, so the time of a pattern has no bound. Firefox may end such a
// pattern earlier, with an error of its stack.
import { reduce } from './names.js';
import { onChange } from './state.js';

const PREFIX = 're:', LIMIT = 5; // seconds of matching
export const HINT = 'Text (case is ignored), or re: and a regular expression, such as re:^conv|pool$';

// The worker: reports its start, so that only matching counts towards LIMIT, then the matches or why there are none.
const PROGRAM = `onmessage = ({ data: { pattern, names } }) => {
	postMessage({ started: true });
	let test;
	try {
		test = new RegExp(pattern, 'i');
	} catch (e) {
		return postMessage({ note: e.message });
	}
	try {
		postMessage({ match: Uint8Array.from(names, n => test.test(n) ? 1 : 0) });
	} catch (e) {
		postMessage({ note: 'Stopped: the pattern backtracks too much' });
	}
};`;

// Returns the pattern of a query, or null if the query is text.
export function patternOf(query) {
	return query.startsWith(PREFIX) ? query.slice(PREFIX.length) : null;
}

let stop = () => {}; // ends the running worker

// Runs a pattern over names. Calls done({ match }) or done({ note }) once, unless another search starts.
function inWorker(pattern, names, done) {
	let worker, timer = 0, address;
	const end = answer => {
		stop = () => {};
		clearTimeout(timer);
		worker?.terminate();
		URL.revokeObjectURL(address);
		if (answer)
			done(answer);
	};
	const refused = () => end({ note: 'This browser does not allow regular expressions on this page. Search for text instead.' });
	stop = () => end(null);
	try {
		address = URL.createObjectURL(new Blob([PROGRAM], { type: 'text/javascript' }));
		worker = new Worker(address);
	} catch (e) {
		return refused();
	}
	worker.onerror = e => { e.preventDefault(); refused(); };
	worker.onmessage = ({ data }) => {
		if (data.started)
			timer = setTimeout(() => end({ note: `Stopped after ${LIMIT} s: the pattern backtracks too much` }), 1000 * LIMIT);
		else
			end(data);
	};
	worker.postMessage({ pattern, names });
}

// Searches n entries; name(i): the name of one. Text is also found in the reduced name. Calls found({ match, note }) for text once,
// for a pattern at once and at its end.
// match: 1 for each entry found; null while nothing is known. note: a text for the reader.
export function search(query, n, name, found) {
	stop();
	const pattern = patternOf(query);
	if (!(pattern ?? query))
		return found({ match: null, note: '' });
	if (pattern === null) {
		const text = query.toLowerCase(), has = s => s.toLowerCase().includes(text);
		return found({ match: Uint8Array.from({ length: n }, (_, i) => has(name(i)) || has(reduce(name(i))) ? 1 : 0), note: '' });
	}
	found({ match: null, note: 'Searching\u2026' });
	const ids = new Map(); // each name is sent once
	const id = Int32Array.from({ length: n }, (_, i) => ids.get(name(i)) ?? ids.set(name(i), ids.size).size - 1);
	inWorker(pattern, [...ids.keys()], ({ match, note }) => found(match ? { match: Uint8Array.from(id, k => match[k]), note: '' } : { match: null, note }));
}

// The page with the search is left. This runs before the next page is made, because modules run before main.js starts.
onChange(() => stop());
