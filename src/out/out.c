/* SPDX-License-Identifier: Apache-2.0
 *
 * Binds the rows of output.def to what writes them.
 */
#include "out/out.h"

static void put_text(const struct result *r, struct sink *to, struct arena *a)
{
	doc_write(to, a, r->q);
	switch (r->kind) {
	case VK_SCOPE:
	case VK_GRAPH: text_tree(r, to, a); break;
	case VK_OP:
	case VK_CODE: text_multi(r, to, a); break;
	case VK_N: break;
	}
}

static bool write_stdout(const struct result *r, struct emit *to, struct err *e)
{
	(void)e;
	put_text(r, to->out, to->a);
	return true;
}

static bool write_file(const struct result *r, struct emit *to, struct err *e)
{
	struct sink *s;

	if (!sink_file(&s, to->a, r->q->o->output.outfile, e))
		return false;
	put_text(r, s, to->a);
	return sink_close(s, e);
}

static bool write_none(const struct result *r, struct emit *to, struct err *e)
{
	(void)r;
	(void)to;
	(void)e;
	return true;
}

static bool (*const writers[OUT_N])(const struct result *, struct emit *, struct err *) = {
	[OUT_FILE] = write_file,
	[OUT_NONE] = write_none,
	[OUT_STDOUT] = write_stdout,
};

bool out_write(const struct result *r, struct emit *to, struct err *e)
{
	enum output_kind kind = r->q->o->output.kind;

	if (!writers[kind])
		return err_set(e, ERR_UNIMPLEMENTED, "-output %s is not available in this version",
		        output_rows[kind].name);
	return writers[kind](r, to, e);
}
