// SPDX-License-Identifier: Apache-2.0
// Slices of a timeline by track and lane, with their rows on the screen.
import { table } from './data.js';
import { plain } from './format.js';
import { short } from './names.js';

export const LANE = 16, HEAD = 20, GAP = 6;

export class Lanes {
	constructor(document) {
		const t = table(document), n = t.count;
		Object.assign(this, { document, table: t, n, start: t.numbers('start_ns'), length: t.numbers('duration_ns'), tracks: [] });
		const track = t.numbers('track'), lane = t.numbers('lane');
		const at = new Map(document.tracks.map((k, i) => [k.track, i]));
		const lists = document.tracks.map(k => Array.from({ length: k.lanes }, () => []));
		this.place = new Array(n);
		for (let i = 0; i < n; i++)
			lists[at.get(track[i])][lane[i]].push(i);
		let group = null;
		document.tracks.forEach((k, i) => {
			const title = [k.process, k.device].filter(Boolean).join(' \u00b7 ');
			this.tracks.push({ ...k, name: plain(k.name), title: plain(title), newGroup: title !== group, lists: lists[i], folded: false });
			group = title;
		});
		const texts = [], labels = [], id = t.raw('name');
		this.nameId = id; // a small number, equal for equal names
		this.names = i => texts[id(i)] ?? (texts[id(i)] = plain(t.value('name', i)));
		this.labels = i => labels[id(i)] ?? (labels[id(i)] = plain(short(t.value('name', i)))); // as they are shown
		this.byNumber = null;
		this.arrange();
	}

	// Sets the vertical place of each track.
	arrange() {
		let y = 0;
		for (const k of this.tracks) {
			if (k.newGroup)
				y += HEAD;
			k.y = y;
			k.height = (k.folded ? 1 : Math.max(1, k.lists.length)) * LANE;
			y += k.height + GAP;
		}
		this.height = y;
	}

	// The row of a slice's number in the trace, or -1.
	rowOf(number) {
		if (!this.byNumber) {
			this.byNumber = new Map();
			for (let i = 0; i < this.n; i++) {
				const s = this.table.value('slice', i);
				if (s !== null)
					this.byNumber.set(s, i);
			}
		}
		return this.byNumber.get(number) ?? -1;
	}

	// Returns the rows with a given launch number.
	launchedBy(number) {
		if (!this.byLaunch) {
			this.byLaunch = new Map();
			for (let i = 0; i < this.n; i++) {
				const s = this.table.value('launch', i);
				if (s !== null)
					this.byLaunch.set(s, [...this.byLaunch.get(s) || [], i]);
			}
		}
		return this.byLaunch.get(number) || [];
	}

	end(i) {
		return this.start[i] + this.length[i];
	}
}

// The first of a lane's rows that ends after t; rows of a lane do not overlap.
export function firstAfter(lanes, rows, t) {
	let low = 0, high = rows.length;
	while (low < high) {
		const mid = (low + high) >> 1;
		if (lanes.end(rows[mid]) <= t)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}
