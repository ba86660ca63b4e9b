/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a model as a baseline, the text format that model/read/read_baseline.c reads: nodes in
 * byte order of their names, nothing that varies from one run to the next.
 */
#include "base/crc32c.h"
#include "base/fmt.h"
#include "model/read/read.h"
#include "export/out.h"

/* Writes a field. Escapes the escape character, and characters that end a field or a list, as
 * \xNN. */
static void put_field(struct sb *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		uint8_t c = (uint8_t)s.p[i];
		if (c < 0x20 || c == 0x7f || c == '\\' || c == '|')
			sb_fmt(b, "\\x%02x", c);
		else
			sb_char(b, (char)c);
	}
}

static void put_shape(struct sb *b, const struct model *m, uint32_t shape)
{
	size_t from = b->n;

	text_shape(b, m, shape);
	if (b->n == from)
		sb_char(b, '-');
}

static void put_node(struct sb *b, const struct model *m, uint32_t node)
{
	const struct node *x = &m->nodes.v[node];
	size_t n;
	const uint32_t *types = model_types(m, x->types, &n);

	sb_put(b, S("node\t"));
	put_field(b, node_name(m, node));
	sb_char(b, '\t');
	put_field(b, model_str(m, x->op));
	sb_char(b, '\t');
	put_shape(b, m, x->shape);
	sb_char(b, '\t');
	fmt_i64(b, x->float_ops);
	sb_char(b, '\t');
	put_field(b, device_name(m, x->device));
	sb_char(b, '\t');
	for (size_t i = 0; i < n; i++) {
		if (i)
			sb_char(b, '|');
		put_field(b, model_str(m, types[i]));
	}
	sb_char(b, '\n');
}

static void put_run(struct sb *b, const struct model *m, const struct step *s, uint32_t cell)
{
	static const enum value order[] = { V_RUNS, V_ACCELERATOR_MICROS, V_CPU_MICROS, V_BYTES,
		V_PEAK_BYTES, V_RESIDUAL_BYTES, V_OUTPUT_BYTES, V_KERNELS, V_BYTES_ACCESSED,
		V_CALL_FLOPS, V_UNCOUNTED };
	size_t n = sizeof order / sizeof *order - (model_ticks(m) > 1 ? 0 : 4);
	struct tally t = { { 0 } };

	step_tally(s, cell, model_ticks(m), &t);
	sb_put(b, S("run\t"));
	fmt_i64(b, s->id);
	for (size_t i = 0; i < n; i++) {
		sb_char(b, '\t');
		fmt_i64(b, t.v[order[i]]);
	}
	sb_char(b, '\n');
}

/* Writes the lines in b, empties it, and extends the checksum of the file by them. */
static void put_lines(struct sink *to, struct sb *b, uint32_t *checksum)
{
	*checksum = crc32c_more(*checksum, b->p, b->n);
	sink_put(to, sb_str(b));
	b->n = 0;
}

/* Appends a comment line for each fact that is known. Line breaks are escaped. */
static void put_facts(struct sb *b, const struct baseline_facts *facts)
{
	const struct str values[] = { facts->command, facts->host, facts->devices };
	static const char *const names[] = { BASELINE_COMMAND, BASELINE_HOST, BASELINE_DEVICES };

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		if (!values[i].n)
			continue;
		sb_put(b, str_of(names[i]));
		sb_put_name(b, values[i]);
		sb_char(b, '\n');
	}
}

void baseline_write(
        const struct model *m, const struct baseline_facts *facts, struct sink *to, struct arena *a)
{
	struct sb b = sb_in(a);
	uint32_t checksum = 0;

	sb_put(&b, S(BASELINE_HEAD "\n"));
	if (model_ticks(m) > 1)
		sb_fmt(&b, "ticks\t%lld\n", (long long)model_ticks(m));
	put_facts(&b, facts);
	for (size_t i = 0; i < m->steps.n; i++)
		sb_fmt(&b, "step\t%lld\n", (long long)m->steps.v[i]->id);
	put_lines(to, &b, &checksum);
	for (size_t i = 0; i < m->by_name.n; i++) {
		uint32_t node = m->by_name.v[i];
		put_node(&b, m, node);
		for (size_t k = 0; k < m->steps.n; k++) {
			uint32_t cell = step_cell(m->steps.v[k], node);
			if (cell != ID_NONE)
				put_run(&b, m, m->steps.v[k], cell);
		}
		put_lines(to, &b, &checksum);
	}
	sink_fmt(to, "end\t%08x\n", (unsigned)checksum);
}
