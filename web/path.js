// SPDX-License-Identifier: Apache-2.0
// The critical path of a step: segments without gaps, each of a kind, and the slices that they belong to.
import { nanoseconds, percent, plain } from './format.js';

const COLORS = { compute: '--compute', communication: '--communication', copy: '--copy', data_loading: '--loading', kernel_gap: '--idle', launch_latency: '--idle', wait: '--idle', not_known: '--idle' };

export class Path {
	constructor(document) {
		this.from = document.from_ns;
		this.to = document.from_ns + document.window_ns;
		const work = document.step && document.step_ns !== document.window_ns;
		this.title = `Critical path of ${document.step || 'the whole trace'}: ${nanoseconds(work ? document.step_ns : document.window_ns)}`;
		// The path ends with the last device work of the step.
		this.mark = work ? `The mark of the step lasts ${nanoseconds(document.step_ns)}; the critical path lasts ${nanoseconds(document.window_ns)}, up to the last device work of the step.` : '';
		this.segments = document.segments;
		this.left = document.row_count - document.segments.length; // segments after those of the document
		this.texts = new Map(document.kinds.map(k => [k.kind, k.text]));
		this.kinds = document.kinds.map(k => ({ kind: k.kind, ns: k.ns, label: `${k.text} ${percent(k.ns, document.window_ns)}`, color: Path.color(k.kind) }));
		this.slices = new Map();
		for (const s of this.segments)
			if (s.slice !== null)
				this.slices.get(s.slice)?.push(s) ?? this.slices.set(s.slice, [s]);
	}

	static color(kind) {
		return COLORS[kind] || '--host';
	}

	name(segment) {
		return segment.name === null ? this.texts.get(segment.kind) : plain(segment.name);
	}

	// The first segment that ends after t, by its index.
	after(t) {
		let low = 0, high = this.segments.length;
		while (low < high) {
			const mid = (low + high) >> 1, s = this.segments[mid];
			if (s.start_ns + s.duration_ns <= t)
				low = mid + 1;
			else
				high = mid;
		}
		return low;
	}
}
