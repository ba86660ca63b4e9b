/* SPDX-License-Identifier: Apache-2.0
 *
 * The likely role of a file, by its first bytes.
 */
#include <errno.h>

#include "model/input_internal.h"
#include "model/sniff.h"
#include "model/unsupported_format.h"

unsigned input_guess(struct str head, struct str path)
{
	unsigned role = 0;
	int best = 1;

	for (size_t i = 0; i < n_inputs; i++) {
		int score = inputs[i].sniff(head, path);
		if (score > best) {
			best = score;
			role = inputs[i].role;
		}
	}
	return role;
}

bool input_guess_file(struct str path, unsigned *role, const struct unsupported_format **foreign,
        struct work *work, struct err *e)
{
	const struct input_from from = { .name = path };
	struct scratch own;
	struct src *s;
	uint64_t size;
	bool ok = true;

	*role = 0;
	*foreign = NULL;
	scratch_open(&own, work);
	errno = 0;
	bool regular = input_is_regular(&own.a, &from, &size);
	if (!regular && errno) {
		ok = err_system(e, "cannot open", path, errno);
	} else if (regular && !str_eq(path, S("-"))) {
		ok = src_open(&s, &own.a, path, e);
		if (ok) {
			s->damage->recover =
			        true; /* the intact part of truncated gzip data counts */
			src_need(s, SNIFF_BYTES);
			ok = !src_failed(s);
			struct str head = str_make(s->p, (size_t)(s->end - s->p));
			*foreign = unsupported_format_find(str_sub(head, 0, SNIFF_BYTES), path);
			*role = *foreign ? 0 : input_guess(head, path);
			src_close(s);
		}
	}
	scratch_close(&own);
	return ok;
}
