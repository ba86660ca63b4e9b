// SPDX-License-Identifier: Apache-2.0
// Labels, units and order of the metrics.

/* global METRICS: {name: {label, unit, least}} of src/metric/metric.def, from tools/web.sh */

const NAMES = Object.keys(METRICS), UNITS = ['TIME', 'BYTES'];

export function label(name) {
	return METRICS[name]?.label || name[0].toUpperCase() + name.slice(1).replace(/_/g, ' ');
}

// True for runs and definitions, which the text output of op prints with all digits.
export function isOccurrence(name) {
	return !METRICS[name] || METRICS[name].unit === 'OCCURRENCE';
}

// Returns the sort key of a metric: times first, then sizes, then counts, each in the order of the table; metrics that the table lacks come last.
function place(name) {
	const group = UNITS.indexOf(METRICS[name]?.unit), at = NAMES.indexOf(name);
	return (group < 0 ? UNITS.length : group) * 1000 + (at < 0 ? NAMES.length : at);
}

export function inOrder(metrics) {
	return metrics.sort((a, b) => place(a.name) - place(b.name));
}

// The names of the metrics with an option -min_<name>.
export function minima() {
	return NAMES.filter(name => METRICS[name].least).sort((a, b) => place(a) - place(b));
}
