/* SPDX-License-Identifier: Apache-2.0
 *
 * The schema of a batch: a struct with a child per column. The whole schema is one block with a
 * user per ArrowSchema, as in arrow.c. The unit and the description of a column are metadata of its
 * schema.
 */
#include <stdlib.h>

#include "export/arrow/arrow.h"

static void release_schema(struct ArrowSchema *x)
{
	ARROW_RELEASE(x);
}

static char *put_text(struct arrow_layout *l, struct str s)
{
	char *p = arrow_take(l, s.n + 1);

	if (p && s.n)
		memcpy(p, s.p, s.n);
	return p;
}

/* Writes a length and bytes at *p, and advances *p. */
static void put_sized(char **p, struct str s)
{
	int32_t n = (int32_t)s.n;

	memcpy(*p, &n, sizeof n);
	if (s.n)
		memcpy(*p + sizeof n, s.p, s.n);
	*p += sizeof n + s.n;
}

static char *put_pairs(struct arrow_layout *l, const struct arrow_pair *pairs, size_t n)
{
	size_t size = sizeof(int32_t);
	int32_t count = (int32_t)n;

	for (size_t i = 0; i < n; i++)
		size += 2 * sizeof(int32_t) + pairs[i].key.n + pairs[i].value.n;
	char *made = arrow_take(l, size), *p = made;
	if (!made)
		return NULL;
	memcpy(p, &count, sizeof count);
	p += sizeof count;
	for (size_t i = 0; i < n; i++) {
		put_sized(&p, pairs[i].key);
		put_sized(&p, pairs[i].value);
	}
	return made;
}

static void make_schema(struct arrow_layout *l, struct ArrowSchema *to, const char *format,
        const char *name, bool nullable)
{
	l->users++;
	if (l->base && to)
		*to = (struct ArrowSchema){ .format = format,
			.name = name,
			.flags = nullable ? ARROW_FLAG_NULLABLE : 0,
			.release = release_schema,
			.private_data = l->base };
}

/* Fills the schema of a dictionary of texts with its indices. */
static void put_indices(struct arrow_layout *l, struct ArrowSchema *to, const char *name)
{
	struct ArrowSchema *texts = arrow_take(l, sizeof *texts);

	make_schema(l, texts, "u", "", true);
	make_schema(l, to, "i", name, true);
	if (to)
		to->dictionary = texts;
}

static void put_column(
        struct arrow_layout *l, struct ArrowSchema *to, const struct column *c, const char *doc)
{
	static const char *const formats[] = {
		[COLUMN_INTEGER] = "l", [COLUMN_REAL] = "g", [COLUMN_BOOL] = "b"
	};
	struct arrow_pair pairs[2];
	size_t n = 0;
	const char *name = put_text(l, c->name);

	if (c->type == COLUMN_TEXT) {
		put_indices(l, to, name);
	} else if (c->type == COLUMN_LIST) {
		struct ArrowSchema **children = arrow_take(l, sizeof *children),
		                   *child = arrow_take(l, sizeof *child);
		put_indices(l, child, "item");
		make_schema(l, to, "+l", name, true);
		if (children && to) {
			children[0] = child;
			to->children = children;
			to->n_children = 1;
		}
	} else {
		make_schema(l, to, formats[c->type], name, true);
	}
	if (c->unit)
		pairs[n++] = (struct arrow_pair){ S("unit"), str_of(c->unit) };
	if (doc)
		pairs[n++] = (struct arrow_pair){ S("description"), str_of(doc) };
	const char *metadata = n ? put_pairs(l, pairs, n) : NULL;
	if (metadata && to)
		to->metadata = metadata;
}

/* Input of arrow_schema. */
struct described {
	const struct column *columns;
	const char *const *docs;
	size_t n;
	const struct arrow_pair *pairs;
	size_t n_pairs;
};

static size_t lay_out(const struct described *d, uint8_t *base, struct ArrowSchema *out)
{
	struct arrow_layout l;
	arrow_block_begin(&l, base);
	struct ArrowSchema **children = arrow_take(&l, d->n * sizeof *children);
	struct ArrowSchema *columns = arrow_take(&l, d->n * sizeof *columns);

	for (size_t i = 0; i < d->n; i++) {
		put_column(&l, columns ? &columns[i] : NULL, &d->columns[i],
		        d->docs ? d->docs[i] : NULL);
		if (children)
			children[i] = &columns[i];
	}
	const char *metadata = put_pairs(&l, d->pairs, d->n_pairs);
	make_schema(&l, out, "+s", "", false);
	arrow_block_end(&l);
	if (children) {
		out->children = children;
		out->n_children = (int64_t)d->n;
		out->metadata = metadata;
	}
	return l.at;
}

bool arrow_schema(struct ArrowSchema *out, const struct column *columns, const char *const *docs,
        size_t n, const struct arrow_pair *pairs, size_t n_pairs)
{
	const struct described d = { columns, docs, n, pairs, n_pairs };
	uint8_t *base = calloc(1, lay_out(&d, NULL, out));

	if (!base)
		return false;
	lay_out(&d, base, out);
	return true;
}
