/* SPDX-License-Identifier: Apache-2.0
 *
 * Which metric a sample type of pprof becomes, by its name and unit.
 */
#include "model/pprof_internal.h"

#include "base/quantity.h"

/* Returns the bytes of a unit, in which "kilo" is 1024 as pprof has it, or 0. */
static int64_t byte_unit(struct str unit)
{
	return str_eq(unit, S("bytes")) || str_eq(unit, S("byte")) ? 1
	       : str_eq(unit, S("kilobytes"))                      ? 1 << 10
	       : str_eq(unit, S("megabytes"))                      ? 1 << 20
	                                                           : 0;
}

static enum meaning meaning_of(struct str name, struct str unit, int64_t *factor)
{
	static const char *const gpu[] = { "gpu", "cuda", "accelerator", "device" };

	*factor = quantity_time_unit(unit);
	if (*factor) {
		for (size_t k = 0; k < sizeof gpu / sizeof *gpu; k++)
			if (str_contains(name, str_of(gpu[k])))
				return MEANS_ACCELERATOR;
		return MEANS_CPU;
	}
	*factor = byte_unit(unit);
	if (*factor)
		return str_contains(name, S("inuse"))      ? MEANS_RESIDUAL
		       : str_contains(name, S("peak"))     ? MEANS_PEAK
		       : str_contains(name, S("residual")) ? MEANS_RESIDUAL
		       : str_contains(name, S("output"))   ? MEANS_OUTPUT
		                                           : MEANS_BYTES;
	*factor = 1;
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
