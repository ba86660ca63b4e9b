/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes messages with our readers, for pb_differential.py.
 *   pb_try binary|text TYPE < records > answers
 * A record is a length (4 bytes, host order) and its bytes. An answer is a letter and a record: 'g'
 * good, 'b' bad, '!' if our own parts disagree; the bytes are those of the message packed again
 * (binary) or translated (text), or the error sentence.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/pb_twin.h"
#include "io/pb.h"
#include "tf_checkpoint.pb-c.h"
#include "tf_graph.pb-c.h"
#include "tf_step.pb-c.h"
#include "tfprof_log.pb-c.h"
#include "tfprof_output.pb-c.h"

static const ProtobufCMessageDescriptor *const types[] = { &tensorflow__graph_def__descriptor,
	&tensorflow__run_metadata__descriptor, &tensorflow__tfprof__profile_proto__descriptor,
	&tensorflow__tfprof__op_log_proto__descriptor, &tensorflow__saved_tensor_slices__descriptor,
	&tensorflow__bundle_entry_proto__descriptor,
	&tensorflow__tfprof__multi_graph_node_proto__descriptor };

static char try_binary(
        const ProtobufCMessageDescriptor *d, struct str in, struct arena *a, struct str *out)
{
	struct err e = { .a = a };
	size_t at;
	bool good = pb_gate(d, in, 0, &at);
	ProtobufCMessage *m = pb_unpack(d, in, S("in"), a, &e);

	*out = e.text;
	if (good != (m != NULL))
		return '!';
	if (!m)
		return 'b';
	*out = pb_pack(m, a);
	return pb_gate(d, pb_clean(d, in, a), 0, &at) ? 'g' : '!';
}

static char try_text(
        const ProtobufCMessageDescriptor *d, struct str in, struct arena *a, struct str *out)
{
	struct err e = { .a = a };
	bool ok = pbtext_encode(d, in, S("in"), a, out, &e);
	size_t at;

	if (!ok)
		*out = e.text;
	if (ok && (!pb_gate(d, *out, 0, &at) || !pbtext_sniff(in)))
		return '!';
	return ok ? 'g' : 'b';
}

/* Answers one record of n bytes. Its memory is exact, so that a sanitizer sees one byte too many.
 */
static bool answer(bool text, const ProtobufCMessageDescriptor *d, uint32_t n, struct arena *a)
{
	struct arena_mark mark = arena_mark(a);
	struct str out = S("");
	char *p = malloc(n), c;

	if (n && (!p || fread(p, 1, n, stdin) != n))
		return false;
	c = (text ? try_text : try_binary)(d, str_make(p, n), a, &out);
	n = (uint32_t)out.n;
	fwrite(&c, 1, 1, stdout);
	fwrite(&n, 4, 1, stdout);
	if (n)
		fwrite(out.p, 1, n, stdout);
	fflush(stdout);
	free(p);
	arena_reset(a, mark);
	return true;
}

int main(int argc, char **argv)
{
	struct account account = { .limit = 0 };
	struct work w = { .account = &account };
	static const ProtobufCMessageDescriptor *d;
	static struct arena a;
	uint32_t n;

	for (size_t i = 0; argc == 3 && i < sizeof(types) / sizeof(*types); i++)
		if (strcmp(types[i]->short_name, argv[2]) == 0)
			d = types[i];
	if (!d || setjmp(w.escape))
		return 2;
	arena_init(&a, &w);
	while (fread(&n, 4, 1, stdin) == 1)
		if (!answer(argv[1][0] == 't', d, n, &a))
			return 2;
	arena_free(&a);
	return 0;
}
