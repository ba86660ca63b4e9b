/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps the sample types of pprof to metrics, by name and unit.
 */
#include "model/read/pprof_internal.h"

/* Returns the number of bytes of a unit, or 0. "kilo" is 1024, as in pprof. */
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

/* Returns a list such as "a/count, b/bytes" of the sample types that are not in used (indexed by
 * type, or NULL). */
static struct str list_types(const struct pprof_in *p, const bool *used)
{
	struct sb b = sb_in(p->a);

	for (size_t i = 0; i < p->types.n; i++) {
		if (used && used[i])
			continue;
		sb_put(&b, b.n ? S(", ") : S(""));
		sb_put_name(&b, pprof_text(p, p->types.v[i].name));
		sb_char(&b, '/');
		sb_put_name(&b, pprof_text(p, p->types.v[i].unit));
	}
	return sb_str(&b);
}

/* Prefers the sample type that the user named. Returns false if the file lacks it. */
static bool prefer(struct pprof_in *p, struct str name, struct err *e)
{
	if (!name.n)
		return true;
	for (size_t i = 0; i < p->types.n; i++)
		if (str_eq(pprof_text(p, p->types.v[i].name), name)) {
			p->preferred = p->types.v[i].name;
			return true;
		}
	struct str all = list_types(p, NULL);
	return err_set(e, ERR_NOT_FOUND, "%.*s: no sample type '%.*s': expected one of %.*s",
	        STR(p->w.s->name), STR(name), STR(all));
}

bool pprof_choose_types(struct pprof_in *p, struct str name, struct err *e)
{
	bool used[TYPES_MAX] = { false };
	int64_t factor;

	if (!prefer(p, name, e))
		return false;
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
	for (int m = 0; m < MEANS_N; m++)
		if (p->type_of[m] >= 0)
			used[p->type_of[m]] = true;
	struct str unused = list_types(p, used);
	src_set_content(p->w.s, list_types(p, NULL));
	if (unused.n)
		note_line(ingest_notes(p->to),
		        "note: sample types without a metric of their own are not used: %.*s; "
		        "--sample=TYPE chooses one\n",
		        STR(unused));
	return true;
}

void pprof_count_unused(const struct pprof_in *p)
{
	for (size_t i = 0; i < p->types.n; i++) {
		const struct sample_type *t = &p->types.v[i];
		bool used = false;
		for (int m = 0; m < MEANS_N; m++)
			used |= p->type_of[m] == (int)i;
		struct str name = pprof_text(p, t->name), unit = pprof_text(p, t->unit);
		if (!used)
			src_count_unused(p->w.s,
			        str_fmt(p->a, "values of %.*s/%.*s", STR(name), STR(unit)),
			        p->samples);
	}
	src_count_unused(p->w.s, S("negative values"), p->negative);
}
