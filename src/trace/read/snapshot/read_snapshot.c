/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory snapshots of PyTorch: the file. A snapshot that ends early is read up to there with
 * recover.
 */
#include "trace/read/snapshot/snapshot.h"

/* True if the text names members of a snapshot. */
static bool names_snapshot(struct str head)
{
	return str_contains(head, S("device_traces")) ||
	       (str_contains(head, S("segments")) &&
	               (str_contains(head, S("total_size")) || str_contains(head, S("blocks"))));
}

int sniff_snapshot(struct str head, struct str path)
{
	(void)path;
	if (pickle_begins_dict(head))
		return names_snapshot(head) ? 100 : 0;
	return pickle_is_json(head) && names_snapshot(head) ? 95 : 0;
}

static bool is_root(const struct pickle_value *v)
{
	return v->type == PICKLE_OBJECT && v->kind == OBJECT_ROOT;
}

bool read_snapshot(struct src *s, struct trace_build *b, struct arena *a, struct err *e)
{
	struct snapshot *x = ARENA_NEW(a, struct snapshot);
	const struct pickle_caller caller = { .close = snapshot_close,
		.user = x,
		.texts = &x->texts,
		.notes = build_notes(b),
		.what = "snapshot" };
	struct pickle_value root = { .type = PICKLE_NONE };
	bool cut = false, good;

	snapshot_init(x, s, b, a);
	good = pickle_read_either(s, &caller, &root, &cut, a);
	s->damage->kept = x->entries + x->segments.n;
	if (!good)
		return false;
	if (!is_root(&root) && !x->entries)
		return err_set(e, ERR_DATA_LOSS,
		        "%.*s: not a memory snapshot: a dict with segments and device_traces was "
		        "expected",
		        STR(s->name));
	snapshot_end(x);
	if (!cut && src_need(s, 1))
		note_line(build_notes(b),
		        "note: %.*s: the bytes from %llu on come after the end of the snapshot and "
		        "are not read\n",
		        STR(s->name), (unsigned long long)src_at(s));
	return !src_failed(s);
}
