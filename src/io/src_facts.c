/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts about an input besides its data, found by its reader.
 */
#include "io/src.h"

#include "base/num.h"

void src_set_producer(struct src *s, struct str producer)
{
	s->facts->producer = str_copy(s->facts->a, producer);
}

void src_set_content(struct src *s, struct str content)
{
	s->facts->content = str_copy(s->facts->a, content);
}

void facts_count_unused(struct src_facts *f, struct str kind, uint64_t n)
{
	struct src_unused made = { .n = n };

	if (!n)
		return;
	for (size_t i = 0; i < f->unused.n; i++)
		if (str_eq(f->unused.v[i].kind, kind)) {
			f->unused.v[i].n = num_add_u64(f->unused.v[i].n, n);
			return;
		}
	made.kind = str_copy(f->a, kind);
	VEC_PUSH(f->a, &f->unused, made);
}

struct str src_calls_path(const struct src *s)
{
	const struct src_options *o = s->options;

	for (size_t i = 0; i < o->n_calls; i++)
		if (str_eq(o->calls[i].trace, s->name))
			return o->calls[i].path;
	return STR_NONE;
}

void src_count_unused(struct src *s, struct str kind, uint64_t n)
{
	facts_count_unused(s->facts, kind, n);
}
