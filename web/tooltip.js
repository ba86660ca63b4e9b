// SPDX-License-Identifier: Apache-2.0
// One tooltip for all canvases.
import { el, replace } from './dom.js';

let box = null;

// rows: [label, value]; hidden without a title.
export function show(event, title, rows) {
	if (!box) {
		box = el('div', { class: 'tooltip', role: 'presentation', hidden: true });
		document.body.append(box);
	}
	box.hidden = !title;
	if (!title)
		return;
	replace(box, el('strong', {}, title),
		el('dl', {}, rows.filter(r => r && r[1] !== '').map(([k, v]) => [el('dt', {}, k), el('dd', {}, v)])));
	const width = box.offsetWidth, height = box.offsetHeight, gap = 14;
	let x = event.clientX + gap, y = event.clientY + gap;
	if (x + width > innerWidth - 8)
		x = Math.max(8, event.clientX - width - gap);
	if (y + height > innerHeight - 8)
		y = Math.max(8, event.clientY - height - gap);
	box.style.transform = `translate(${x}px, ${y}px)`;
}

export function hide() {
	if (box)
		box.hidden = true;
}
