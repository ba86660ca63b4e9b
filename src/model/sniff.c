/* SPDX-License-Identifier: Apache-2.0
 *
 * Estimates the format of a file. All formats begin with field 1, a message, whose contents differ:
 *
 *   GraphDef      NodeDef      1 name  2 op (text)  3 input  4 device  5 attr
 *   RunMetadata   StepStats    1 DeviceStepStats { 1 device ... }
 *   OpLogProto    OpLogEntry   1 name  2 float_ops (varint)  3 types  4 CodeDef
 *   ProfileProto  map entry    1 key (varint)  2 ProfileNode { 1 name ... }
 *
 * A GraphDef may be inside other messages, which begin so:
 *
 *   MetaGraphDef  MetaInfoDef  1 version  2 OpList { 1 OpDef { 1 name ... } }  4 tags ...
 *                 GraphDef (field 2)
 *   SavedModel    1 schema version (varint)  2 MetaGraphDef
 *
 * Text begins with the name of one of their fields.
 */
#include "model/sniff.h"

#include "io/pb.h"
#include "io/block_format.h"
#include "model/read/read.h"

#define SNIFF_RECORDS 16 /* maximum number of top-level records that are examined */

enum kind { KIND_GRAPH, KIND_RUN, KIND_OPLOG, KIND_PROFILE, KIND_N };

struct str sniff_message(struct leaf *l)
{
	const uint8_t *p = l->p;
	uint64_t n = 0;

	if (!varint_get(&p, l->end, &n) || n > INT32_MAX) {
		l->bad = true;
		return S("");
	}
	if (n > (size_t)(l->end - p))
		n = (uint64_t)(l->end - p);
	l->p = p + n;
	return str_make(p, (size_t)n);
}

bool sniff_is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((uint8_t)s.p[i] < 0x20 || s.p[i] == 0x7f)
			return false;
	return s.n > 0;
}

bool sniff_begins_with_name(struct str s)
{
	struct leaf l = leaf_of(s);

	return leaf_next(&l) && l.tag == LEAF_TAG(1, WIRE_BYTES) &&
	       sniff_is_name(sniff_message(&l));
}

/* Rates a record of field 1 that begins with a name: NodeDef or OpLogEntry. */
static void judge_named(struct leaf l, int *points)
{
	struct str s;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(2, WIRE_VARINT): points[KIND_OPLOG] += 4; break;
		case LEAF_TAG(2, WIRE_BYTES):
		case LEAF_TAG(5, WIRE_BYTES): points[KIND_GRAPH] += 4; break;
		case LEAF_TAG(4, WIRE_BYTES):
			s = sniff_message(&l);
			points[s.n && !sniff_is_name(s) ? KIND_OPLOG : KIND_GRAPH] += 2;
			continue;
		default: break;
		}
		leaf_skip(&l);
	}
}

/* Rates a record of field 1 of the top message. */
static void judge_record(struct str record, int *points)
{
	struct leaf l = leaf_of(record);
	struct str first;

	if (!leaf_next(&l))
		return;
	if (l.tag == LEAF_TAG(1, WIRE_VARINT)) {
		leaf_varint(&l);
		if (leaf_next(&l) && l.tag == LEAF_TAG(2, WIRE_BYTES) &&
		        sniff_begins_with_name(sniff_message(&l)))
			points[KIND_PROFILE] += 4;
		return;
	}
	if (l.tag == LEAF_TAG(2, WIRE_BYTES)) { /* a node without a name but with an op */
		points[KIND_GRAPH] += sniff_is_name(sniff_message(&l));
		return;
	}
	if (l.tag != LEAF_TAG(1, WIRE_BYTES))
		return;
	first = sniff_message(&l);
	if (sniff_begins_with_name(first)) {
		points[KIND_RUN] += 8;
	} else if (sniff_is_name(first)) {
		points[KIND_GRAPH]++;
		points[KIND_OPLOG]++;
		judge_named(l, points);
	}
}

/* Rates binary bytes. Returns false if they are not a message. */
static bool judge_binary(struct str head, int *points)
{
	struct leaf l = leaf_of(head);
	int records = 0;

	while (records++ < SNIFF_RECORDS && leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES))
			judge_record(sniff_message(&l), points);
		else if ((l.tag & 7) == WIRE_BYTES)
			sniff_message(&l);
		else if (l.tag == LEAF_TAG(1, WIRE_VARINT))
			return false;
		else
			leaf_skip(&l);
	}
	return records > 1 && !l.bad;
}

/* True for a message whose field 1 is a message that begins with a name: GraphDef, OpList. */
static bool has_named(struct str s)
{
	struct leaf l = leaf_of(s);

	return leaf_next(&l) && l.tag == LEAF_TAG(1, WIRE_BYTES) &&
	       sniff_begins_with_name(sniff_message(&l));
}

/* True for a MetaInfoDef with its OpList. A NodeDef has its type, a text, in the same field. */
static bool is_meta_info(struct str s)
{
	struct leaf l = leaf_of(s);

	if (leaf_next(&l) && l.tag == LEAF_TAG(1, WIRE_BYTES)) {
		sniff_message(&l);
		leaf_next(&l);
	}
	return l.tag == LEAF_TAG(2, WIRE_BYTES) && has_named(sniff_message(&l));
}

/* True for a MetaGraphDef. The library of a GraphDef is in the same field, but has no names at that
 * position. */
static bool is_meta_graph(struct str s)
{
	struct leaf l = leaf_of(s);

	if (leaf_next(&l) && l.tag == LEAF_TAG(1, WIRE_BYTES)) {
		struct str first = sniff_message(&l);
		if (is_meta_info(first))
			return true;
		if (sniff_begins_with_name(first))
			return false;
		leaf_next(&l);
	}
	return l.tag == LEAF_TAG(2, WIRE_BYTES) && has_named(sniff_message(&l));
}

enum graph_form sniff_graph_form(struct str head)
{
	if (!head.n)
		return GRAPH_PLAIN;
	if (is_meta_graph(head))
		return GRAPH_META;
	struct leaf l = leaf_of(head);
	if (!leaf_next(&l) || l.tag != LEAF_TAG(1, WIRE_VARINT))
		return GRAPH_PLAIN;
	leaf_varint(&l);
	return leaf_next(&l) && l.tag == LEAF_TAG(2, WIRE_BYTES) && is_meta_graph(sniff_message(&l))
	               ? GRAPH_SAVED
	               : GRAPH_PLAIN;
}

struct str sniff_word(struct str s)
{
	size_t i = 0, from;

	while (i < s.n) {
		if (s.p[i] == '#')
			while (i < s.n && s.p[i] != '\n')
				i++;
		else if (s.p[i] != ' ' && (s.p[i] < '\t' || s.p[i] > '\r'))
			break;
		else
			i++;
	}
	for (from = i; i < s.n; i++)
		if (s.p[i] != '_' && (s.p[i] < 'a' || s.p[i] > 'z'))
			break;
	return str_make(s.p + from, i - from);
}

static void judge_text(struct str head, int *points)
{
	static const struct {
		const char *word;
		enum kind kind;
	} words[] = {
		{ "node", KIND_GRAPH },
		{ "library", KIND_GRAPH },
		{ "versions", KIND_GRAPH },
		{ "version", KIND_GRAPH },
		{ "debug_info", KIND_GRAPH },
		{ "step_stats", KIND_RUN },
		{ "cost_graph", KIND_RUN },
		{ "partition_graphs", KIND_RUN },
		{ "function_graphs", KIND_RUN },
		{ "session_metadata", KIND_RUN },
		{ "log_entries", KIND_OPLOG },
		{ "id_to_string", KIND_OPLOG },
		{ "nodes", KIND_PROFILE },
		{ "has_trace", KIND_PROFILE },
		{ "steps", KIND_PROFILE },
		{ "miss_accelerator_stream", KIND_PROFILE },
	};
	struct str word = sniff_word(head);

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_eq(word, str_of(words[i].word)))
			points[words[i].kind] += 16;
}

/* True if the file name contains one of the given words. */
static bool path_says(struct str path, const char *const *words)
{
	path = str_base(path);
	for (; *words; words++)
		if (str_contains(path, str_of(*words)))
			return true;
	return false;
}

/* Converts the points of one kind, compared with the best other kind, to 0 ... 100. The path
 * decides ties. */
static int sniff(struct str head, struct str path, enum kind kind, const char *const *words)
{
	int points[KIND_N] = { 0 }, other = 0;
	bool named = path_says(path, words);

	head = str_sub(head, 0, SNIFF_BYTES);
	if (head.n == 0)
		return named ? 20 : 1;
	if (pbtext_sniff(head) > 0)
		judge_text(head, points);
	if (points[KIND_GRAPH] + points[KIND_RUN] + points[KIND_OPLOG] + points[KIND_PROFILE] ==
	                0 &&
	        !judge_binary(head, points))
		return 0;
	for (int k = 0; k < KIND_N; k++)
		if (k != (int)kind && points[k] > other)
			other = points[k];
	if (points[kind] == 0)
		return other || !named ? 0 : 10;
	if (points[kind] < other)
		return 5;
	return (points[kind] > other ? 60 : 30) + (points[kind] >= 8 ? 20 : 0) + (named ? 20 : 0);
}

int sniff_graph(struct str head, struct str path)
{
	static const char *const words[] = { "graph", NULL };

	if (sniff_graph_form(str_sub(head, 0, SNIFF_BYTES)) != GRAPH_PLAIN)
		return 90;
	return sniff(head, path, KIND_GRAPH, words);
}

int sniff_run(struct str head, struct str path)
{
	static const char *const words[] = { "run_meta", "runmeta", "step_stats", NULL };

	return sniff(head, path, KIND_RUN, words);
}

int sniff_oplog(struct str head, struct str path)
{
	static const char *const words[] = { "op_log", "oplog", "tfprof_log", NULL };

	return sniff(head, path, KIND_OPLOG, words);
}

int sniff_profile(struct str head, struct str path)
{
	static const char *const words[] = { "profile", NULL };

	return sniff(head, path, KIND_PROFILE, words);
}

int sniff_baseline(struct str head, struct str path)
{
	(void)path;
	return str_starts(head, S(BASELINE_HEAD "\n")) ? 100 : 0;
}

int sniff_spool(struct str head, struct str path)
{
	if (str_starts(head, str_make(SPOOL_MAGIC, SPOOL_MAGIC_SIZE)) ||
	        str_starts(head, str_make(SPOOL_COUNT_MAGIC, SPOOL_MAGIC_SIZE)))
		return 100;
	return str_ends(path, S(SPOOL_SUFFIX)) ? 60 : 0;
}
