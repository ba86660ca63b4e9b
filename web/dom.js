// SPDX-License-Identifier: Apache-2.0
// Makes elements. Text becomes text nodes: nothing here reads markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) {
		if (value === null || value === undefined || value === false)
			continue;
		if (name.startsWith('on'))
			node.addEventListener(name.slice(2), value);
		else if (name === 'style')
			for (const [k, v] of Object.entries(value))
				node.style.setProperty(k, v);
		else
			node.setAttribute(name, value === true ? '' : value);
	}
	for (const child of children.flat(Infinity))
		if (child !== null && child !== undefined && child !== false)
			node.append(child);
	return node;
}

export function el(name, attributes, ...children) {
	return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes, ...children) {
	return fill(document.createElementNS(SVG, name), attributes, children);
}

export function replace(node, ...children) {
	node.replaceChildren(...children.flat(Infinity).filter(x => x !== null && x !== undefined && x !== false));
	return node;
}

// Replaces the children of a node. If a button in them had the focus, the button at the same position gets the focus.
export function replaceButtons(node, ...children) {
	const at = [...node.querySelectorAll('button')].indexOf(document.activeElement);
	replace(node, ...children);
	if (at >= 0)
		node.querySelectorAll('button')[at]?.focus();
	return node;
}

// A select element; options: [value, label].
export function select(label, options, value, change) {
	const box = el('select', { 'aria-label': label, onchange: () => change(box.value) },
		options.map(([v, text]) => el('option', { value: v, selected: v === value }, text)));
	return box;
}

export function button(label, attributes, press) {
	return el('button', { type: 'button', ...attributes, onclick: press }, label);
}

// Copies text and confirms it on the button for a moment.
export function copyButton(label, text) {
	const b = button(label, { class: 'ghost' }, async () => {
		try {
			await navigator.clipboard.writeText(text());
		} catch (e) {
			const area = el('textarea', {}, text());
			document.body.append(area);
			area.select();
			document.execCommand('copy');
			area.remove();
		}
		b.textContent = 'Copied';
		setTimeout(() => { b.textContent = label; }, 1200);
	});
	return b;
}

// One message that screen readers read when it changes.
export function announce(text) {
	document.getElementById('live').textContent = text;
}

// Calls draw once per frame, however often it is asked.
export function everyFrame(draw) {
	let asked = false;
	return () => {
		if (asked)
			return;
		asked = true;
		requestAnimationFrame(() => {
			asked = false;
			draw();
		});
	};
}

// Sizes a canvas to its box, in device pixels; returns its context in CSS pixels.
export function sharp(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1;
	const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.height = height + 'px';
	}
	const c = canvas.getContext('2d');
	c.setTransform(ratio, 0, 0, ratio, 0, 0);
	return c;
}
