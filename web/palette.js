// SPDX-License-Identifier: Apache-2.0
// Colours of what is drawn on canvases; the rest is in style.css.

const HUES = [212, 28, 152, 268, 345, 190, 48, 96, 310, 12, 232, 172];

export function dark() {
	return document.documentElement.dataset.dark === 'true';
}

export function css(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function hash(text) {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return h >>> 0;
}

// A fill on which text is readable. group: a number, of which the hue is; text: shades it a little.
export function fill(group, text) {
	const shade = hash(text) % 9 - 4;
	const hue = HUES[group % HUES.length];
	return dark() ? `hsl(${hue} 36% ${33 + shade}%)` : `hsl(${hue} 62% ${79 + shade}%)`;
}

export function fillOf(text) {
	return fill(hash(text), text);
}

export const CATEGORIES = { compute: '--compute', communication: '--communication', copy: '--copy', host: '--host', idle: '--idle' };

// From blue (the last side has less) over grey to red; share: -1 .. 1.
export function change(share) {
	const hue = share > 0 ? 4 : 214, strength = Math.min(1, Math.abs(share));
	const grey = dark() ? 30 : 90, full = dark() ? 42 : 66;
	return `hsl(${hue} ${Math.round(72 * Math.sqrt(strength))}% ${Math.round(grey + (full - grey) * Math.sqrt(strength))}%)`;
}
