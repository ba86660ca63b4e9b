/* SPDX-License-Identifier: Apache-2.0
 *
 * Which metric a sample type of pprof becomes, by its name and unit.
 */
#include "model/pprof_internal.h"

static const struct unit {
	const char *name;
	bool time;
	int64_t factor; /* nanoseconds or bytes */
} units[] = {
	{ "nanoseconds", true, 1 },
	{ "ns", true, 1 },
	{ "microseconds", true, 1000 },
	{ "us", true, 1000 },
	{ "milliseconds", true, 1000000 },
	{ "ms", true, 1000000 },
	{ "seconds", true, 1000000000 },
	{ "s", true, 1000000000 },
	{ "bytes", false, 1 },
	{ "byte", false, 1 },
	{ "kilobytes", false, 1 << 10 },
	{ "megabytes", false, 1 << 20 },
};

static enum meaning meaning_of(struct str name, struct str unit, int64_t *factor)
{
	static const char *const gpu[] = { "gpu", "cuda", "accelerator", "device" };

	*factor = 1;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (!str_eq(unit, str_of(units[i].name)))
			continue;
		*factor = units[i].factor;
		for (size_t k = 0; units[i].time && k < sizeof gpu / sizeof *gpu; k++)
			if (str_contains(name, str_of(gpu[k])))
				return MEANS_ACCELERATOR;
		return units[i].time                    ? MEANS_CPU
		       : str_contains(name, S("inuse")) ? MEANS_RESIDUAL
		       : str_contains(name, S("peak"))  ? MEANS_PEAK
		       : str_contains(name, S("residual"))
		               ? MEANS_RESIDUAL
		               : (str_contains(name, S("output")) ? MEANS_OUTPUT : MEANS_BYTES);
	}
	return MEANS_COUNT;
}

void pprof_choose_types(struct pprof_in *p)
{
	struct sb unused = sb_in(p->a);
	int64_t factor;

	for (int i = 0; i < MEANS_N; i++)
		p->type_of[i] = -1;
	for (size_t i = 0; i < p->types.n; i++) {
		const struct sample_type *t = &p->types.v[i];
		enum meaning m =
		        meaning_of(pprof_text(p, t->name), pprof_text(p, t->unit), &factor);
		if (p->type_of[m] >= 0 && (!p->preferred || t->name != p->preferred))
			continue;
		p->type_of[m] = (int)i;
		p->scale[m] = factor;
	}
	for (size_t i = 0; i < p->types.n; i++) {
		bool used = false;
		for (int m = 0; m < MEANS_N; m++)
			used |= p->type_of[m] == (int)i;
		if (used)
			continue;
		sb_put(&unused, unused.n ? S(", ") : S(""));
		sb_put_name(&unused, pprof_text(p, p->types.v[i].name));
		sb_char(&unused, '/');
		sb_put_name(&unused, pprof_text(p, p->types.v[i].unit));
	}
	if (unused.n)
		note_line(ingest_notes(p->to),
		        "note: sample types without a metric of their own are not used: %.*s\n",
		        STR(sb_str(&unused)));
}
