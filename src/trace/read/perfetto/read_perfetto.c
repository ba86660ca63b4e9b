/* SPDX-License-Identifier: Apache-2.0
 *
 * Perfetto traces in protobuf: the packets of the file, in one pass; see perfetto_internal.h.
 * Packets of other data sources are counted by their kind.
 */
#include "trace/read/perfetto/perfetto_internal.h"

#define FIELD_MAX     160                /* fields of TracePacket that are counted separately */
#define UNPACKED_MAX  ((size_t)64 << 20) /* size limit of a decompressed message */
#define SNIFF_PACKETS 16
#define STATE_CLEARED 1u /* bits of sequence_flags */
#define STATE_NEEDED  2u

/* How the data of a TracePacket field is treated: a use and a name for each field. */
enum { USED, SILENT, COUNTED };
static const struct field {
	const char *name; /* NULL: the field is not known */
	uint8_t use, type;
} fields[FIELD_MAX] = {
	[1] = { "ftrace_events", USED, WIRE_BYTES },
	[2] = { "process_tree", USED, WIRE_BYTES },
	[3] = { "trusted_uid", USED, WIRE_VARINT },
	[4] = { "inode_file_map", COUNTED, WIRE_BYTES },
	[5] = { "chrome_events", COUNTED, WIRE_BYTES },
	[6] = { "clock_snapshot", USED, WIRE_BYTES },
	[7] = { "sys_stats", COUNTED, WIRE_BYTES },
	[8] = { "timestamp", USED, WIRE_VARINT },
	[9] = { "process_stats", COUNTED, WIRE_BYTES },
	[10] = { "trusted_packet_sequence_id", USED, WIRE_VARINT },
	[11] = { "track_event", USED, WIRE_BYTES },
	[12] = { "interned_data", USED, WIRE_BYTES },
	[13] = { "sequence_flags", USED, WIRE_VARINT },
	[33] = { "trace_config", SILENT, WIRE_BYTES },
	[34] = { "ftrace_stats", COUNTED, WIRE_BYTES },
	[35] = { "trace_stats", SILENT, WIRE_BYTES },
	[36] = { "synchronization_marker", SILENT, WIRE_BYTES },
	[37] = { "profile_packet", COUNTED, WIRE_BYTES },
	[38] = { "battery", COUNTED, WIRE_BYTES },
	[39] = { "android_log", COUNTED, WIRE_BYTES },
	[40] = { "power_rails", COUNTED, WIRE_BYTES },
	[41] = { "incremental_state_cleared", USED, WIRE_VARINT },
	[42] = { "previous_packet_dropped", USED, WIRE_VARINT },
	[43] = { "process_descriptor", USED, WIRE_BYTES },
	[44] = { "thread_descriptor", USED, WIRE_BYTES },
	[45] = { "system_info", USED, WIRE_BYTES },
	[46] = { "trigger", SILENT, WIRE_BYTES },
	[47] = { "packages_list", COUNTED, WIRE_BYTES },
	[48] = { "chrome_benchmark_metadata", COUNTED, WIRE_BYTES },
	[49] = { "perfetto_metatrace", COUNTED, WIRE_BYTES },
	[50] = { "compressed_packets", USED, WIRE_BYTES },
	[51] = { "chrome_metadata", SILENT, WIRE_BYTES },
	[52] = { "gpu_counter_event", COUNTED, WIRE_BYTES },
	[53] = { "gpu_render_stage_event", USED, WIRE_BYTES },
	[54] = { "streaming_profile_packet", COUNTED, WIRE_BYTES },
	[57] = { "graphics_frame_event", COUNTED, WIRE_BYTES },
	[58] = { "timestamp_clock_id", USED, WIRE_VARINT },
	[59] = { "trace_packet_defaults", USED, WIRE_BYTES },
	[60] = { "track_descriptor", USED, WIRE_BYTES },
	[61] = { "module_symbols", COUNTED, WIRE_BYTES },
	[62] = { "vulkan_memory_event", COUNTED, WIRE_BYTES },
	[63] = { "gpu_log", COUNTED, WIRE_BYTES },
	[64] = { "deobfuscation_mapping", COUNTED, WIRE_BYTES },
	[65] = { "vulkan_api_event", COUNTED, WIRE_BYTES },
	[66] = { "perf_sample", COUNTED, WIRE_BYTES },
	[67] = { "cpu_info", SILENT, WIRE_BYTES },
	[68] = { "smaps_packet", COUNTED, WIRE_BYTES },
	[69] = { "service_event", SILENT, WIRE_BYTES },
	[70] = { "initial_display_state", COUNTED, WIRE_BYTES },
	[71] = { "gpu_mem_total_event", COUNTED, WIRE_BYTES },
	[72] = { "extension_descriptor", SILENT, WIRE_BYTES },
	[73] = { "memory_tracker_snapshot", COUNTED, WIRE_BYTES },
	[74] = { "streaming_allocation", COUNTED, WIRE_BYTES },
	[75] = { "streaming_free", COUNTED, WIRE_BYTES },
	[79] = { "trusted_pid", USED, WIRE_VARINT },
	[87] = { "first_packet_on_sequence", USED, WIRE_VARINT },
	[89] = { "trace_uuid", SILENT, WIRE_BYTES },
	[90] = { "track_event_range_of_interest", SILENT, WIRE_BYTES },
	[95] = { "etw_events", COUNTED, WIRE_BYTES },
	[98] = { "machine_id", USED, WIRE_VARINT },
	[99] = { "v8_js_code", COUNTED, WIRE_BYTES },
	[113] = { "clone_snapshot_trigger", SILENT, WIRE_BYTES },
	[124] = { "trace_provenance", SILENT, WIRE_BYTES },
	[126] = { "trace_attributes", SILENT, WIRE_BYTES },
	[128] = { "gpu_info", SILENT, WIRE_BYTES },
	[133] = { "zstd_compressed_packets", COUNTED, WIRE_BYTES },
};

/* ---- sniffing ---- */

/* True for the fields of a packet that contain its sequence, its user or a time, as far as the
 * bytes are available. */
static bool is_packet(struct leaf *l, uint64_t n, bool *numbered)
{
	size_t left = (size_t)(l->end - l->p);
	struct leaf m = leaf_of(str_make(l->p, n < left ? (size_t)n : left));

	l->p += n < left ? (size_t)n : left;
	for (unsigned i = 0; leaf_next(&m); i++) {
		uint32_t field = m.tag >> 3;
		if (field < FIELD_MAX && fields[field].name && (m.tag & 7) != fields[field].type)
			return false;
		if (i == 0 && (field >= FIELD_MAX || !fields[field].name))
			return false;
		*numbered |= m.tag == LEAF_TAG(3, WIRE_VARINT) ||
		             m.tag == LEAF_TAG(8, WIRE_VARINT) ||
		             m.tag == LEAF_TAG(10, WIRE_VARINT);
		leaf_skip(&m);
	}
	return !m.bad || n > left;
}

int sniff_perfetto(struct str head, struct str path)
{
	struct leaf l = leaf_of(head);
	struct str name = path;
	bool numbered = false;

	if (str_ends(name, S(".gz")))
		name.n -= 3;
	for (unsigned i = 0; i < SNIFF_PACKETS && leaf_next(&l); i++) {
		uint64_t n = l.tag == LEAF_TAG(1, WIRE_BYTES) ? leaf_varint(&l) : 0;
		if (l.tag != LEAF_TAG(1, WIRE_BYTES) || l.bad || !is_packet(&l, n, &numbered)) {
			numbered = false;
			break;
		}
	}
	if (numbered)
		return 100;
	return str_ends(name, S(".pftrace")) || str_ends(name, S(".perfetto-trace")) ? 60 : 0;
}

/* ---- packets ---- */

static void read_packet(struct perfetto *x, struct str bytes, bool unpacked);

static struct pf_sequence *find_sequence(struct perfetto *x, uint32_t id)
{
	struct pf_sequence made = { .id = id, .generation = 1 };
	uint32_t i;

	if (imap_get(&x->sequence_of, id, &i))
		return &x->sequences.v[i];
	imap_put(&x->sequence_of, id, (uint32_t)x->sequences.n, false);
	VEC_PUSH(x->a, &x->sequences, made);
	return &x->sequences.v[x->sequences.n - 1];
}

static void count_field(struct perfetto *x, uint32_t field)
{
	if (field >= FIELD_MAX || !fields[field].name)
		x->unused[0]++;
	else if (fields[field].use == COUNTED)
		x->unused[field]++;
}

/* Splits a packet into its parts. Returns false if the packet is malformed. */
static bool parse(struct perfetto *x, struct str bytes, struct pf_packet *p)
{
	struct leaf l = leaf_of(bytes);

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(8, WIRE_VARINT):
			p->timestamp = leaf_varint(&l);
			p->has_time = true;
			break;
		case LEAF_TAG(10, WIRE_VARINT): p->sequence = (uint32_t)leaf_varint(&l); break;
		case LEAF_TAG(11, WIRE_BYTES): p->event = leaf_bytes(&l); break;
		case LEAF_TAG(13, WIRE_VARINT): p->flags = (uint32_t)leaf_varint(&l); break;
		case LEAF_TAG(12, WIRE_BYTES): p->interned = leaf_bytes(&l); break;
		case LEAF_TAG(1, WIRE_BYTES): p->ftrace = leaf_bytes(&l); break;
		case LEAF_TAG(2, WIRE_BYTES): p->tree = leaf_bytes(&l); break;
		case LEAF_TAG(6, WIRE_BYTES): p->clocks = leaf_bytes(&l); break;
		case LEAF_TAG(41, WIRE_VARINT): p->cleared = leaf_varint(&l) != 0; break;
		case LEAF_TAG(42, WIRE_VARINT): p->dropped = leaf_varint(&l) != 0; break;
		case LEAF_TAG(43, WIRE_BYTES): p->process = leaf_bytes(&l); break;
		case LEAF_TAG(44, WIRE_BYTES): p->thread = leaf_bytes(&l); break;
		case LEAF_TAG(45, WIRE_BYTES): p->info = leaf_bytes(&l); break;
		case LEAF_TAG(50, WIRE_BYTES): p->packed = leaf_bytes(&l); break;
		case LEAF_TAG(53, WIRE_BYTES): p->stage = leaf_bytes(&l); break;
		case LEAF_TAG(58, WIRE_VARINT): p->clock = (uint32_t)leaf_varint(&l); break;
		case LEAF_TAG(59, WIRE_BYTES): p->defaults = leaf_bytes(&l); break;
		case LEAF_TAG(60, WIRE_BYTES): p->descriptor = leaf_bytes(&l); break;
		default: count_field(x, l.tag >> 3); leaf_skip(&l);
		}
	}
	return !l.bad;
}

static void read_uuids(struct perfetto *x, struct leaf *l, uint32_t field, struct pf_sequence *q)
{
	struct pf_uuids *to = field == 31 ? &q->extra : &q->extra_real;
	struct leaf one = *l;
	uint64_t uuid;

	if ((l->tag & 7) == WIRE_BYTES)
		one = leaf_of(leaf_bytes(l));
	do {
		uuid = leaf_varint(&one);
		if (!one.bad && to->n < PF_EXTRA_MAX)
			VEC_PUSH(x->a, to, uuid);
	} while ((l->tag & 7) == WIRE_BYTES && one.p < one.end && !one.bad);
	if ((l->tag & 7) == WIRE_VARINT)
		*l = one;
}

static void read_event_defaults(struct perfetto *x, struct pf_sequence *q, struct str message)
{
	struct leaf l = leaf_of(message);

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(11, WIRE_VARINT):
			q->track = leaf_varint(&l);
			q->has_track = true;
			break;
		case LEAF_TAG(31, WIRE_VARINT):
		case LEAF_TAG(31, WIRE_BYTES):
		case LEAF_TAG(45, WIRE_VARINT):
		case LEAF_TAG(45, WIRE_BYTES): read_uuids(x, &l, l.tag >> 3, q); break;
		default: leaf_skip(&l);
		}
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
}

static void clear_defaults(struct pf_sequence *q)
{
	q->clock = 0;
	q->has_track = false;
	q->extra.n = q->extra_real.n = 0;
}

static void read_defaults(struct perfetto *x, struct pf_sequence *q, struct str message)
{
	struct leaf l = leaf_of(message);

	clear_defaults(q);
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(11, WIRE_BYTES): read_event_defaults(x, q, leaf_bytes(&l)); break;
		case LEAF_TAG(58, WIRE_VARINT): q->clock = (uint32_t)leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
}

/* Reads the version of the service that wrote the trace. */
static void read_info(struct perfetto *x, struct str message)
{
	struct leaf l = leaf_of(message);

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(4, WIRE_BYTES))
			build_producer(x->b, leaf_bytes(&l));
		else
			leaf_skip(&l);
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
}

static void clear_state(struct pf_sequence *q)
{
	q->generation++;
	q->valid = true;
	clear_defaults(q);
}

/* Decompresses packets into x->unpacked. */
static bool unpack(struct perfetto *x, struct str in)
{
	const char *why;
	int rc = 1;

	if (!x->unpack)
		x->unpack = gunzip_open_zlib(x->a);
	gunzip_restart(x->unpack);
	x->unpacked.n = 0;
	while (rc > 0 && !gunzip_at_end(x->unpack) && x->unpacked.n < UNPACKED_MAX) {
		VEC_ROOM(x->a, &x->unpacked, in.n + 256);
		uint8_t *out = x->unpacked.v + x->unpacked.n;
		size_t room = x->unpacked.cap < UNPACKED_MAX ? x->unpacked.cap : UNPACKED_MAX;
		rc = gunzip_run(x->unpack, &in, &out, x->unpacked.v + room, &why);
		x->unpacked.n = (size_t)(out - x->unpacked.v);
	}
	return gunzip_at_end(x->unpack);
}

static void read_unpacked(struct perfetto *x, struct str packed)
{
	struct leaf l;

	if (!unpack(x, packed)) {
		x->lost[PF_LOST_PACKED]++;
		return;
	}
	l = leaf_of(str_make(x->unpacked.v, x->unpacked.n));
	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES))
			read_packet(x, leaf_bytes(&l), true);
		else
			leaf_skip(&l);
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
}

static void read_packet(struct perfetto *x, struct str bytes, bool unpacked)
{
	struct pf_packet p = { .timestamp = 0 };
	struct pf_sequence *q;

	x->packets++;
	if (!parse(x, bytes, &p)) {
		x->lost[PF_LOST_DAMAGED]++;
		return;
	}
	if (p.packed.p) {
		if (unpacked)
			x->lost[PF_LOST_PACKED]++;
		else
			read_unpacked(x, p.packed);
		return;
	}
	q = find_sequence(x, p.sequence);
	if (p.dropped)
		q->valid = false;
	if (p.cleared || p.flags & STATE_CLEARED)
		clear_state(q);
	if (p.flags & STATE_NEEDED && !q->valid) {
		x->lost[PF_LOST_STATE]++;
		return;
	}
	if (p.defaults.p)
		read_defaults(x, q, p.defaults);
	if (p.interned.p)
		pf_intern(x, q, p.interned);
	if (p.clocks.p)
		pf_clock_snapshot(x, q->id, p.clocks);
	if (p.process.p || p.thread.p)
		pf_describe_thread(x, q, p.process, p.thread);
	if (p.descriptor.p)
		pf_describe(x, p.descriptor);
	if (p.tree.p)
		pf_process_tree(x, p.tree);
	if (p.info.p)
		read_info(x, p.info);
	if (p.ftrace.p && !pf_scheduled(x, p.ftrace))
		x->unused[1]++;
	if (p.event.p)
		pf_event(x, q, &p);
	if (p.stage.p)
		pf_stage(x, q, &p);
}

/* ---- the file ---- */

static void note_unused(struct perfetto *x)
{
	struct sb b = sb_in(x->a);

	for (uint32_t i = 1; i <= FIELD_MAX; i++) {
		uint64_t n = x->unused[i % FIELD_MAX];
		const char *name = i % FIELD_MAX ? fields[i].name : "of unknown kinds";
		src_count_unused(x->s, str_fmt(x->a, "packets %s", name), n);
		if (n)
			sb_fmt(&b, "%s%s (%llu)", b.n ? ", " : "", name, (unsigned long long)n);
	}
	if (b.n)
		note_line(build_notes(x->b), "note: packets that are not used: %.*s\n",
		        STR(sb_str(&b)));
}

static void note_lost(struct perfetto *x)
{
	static const char *const why[PF_LOST_N] = {
		[PF_LOST_STATE] = "packets with names that were overwritten",
		[PF_LOST_CLOCK] = "events with times of an unknown clock",
		[PF_LOST_TIME] = "events without a time",
		[PF_LOST_PHASE] = "events of other types",
		[PF_LOST_NESTED] = "annotations with lists or messages",
		[PF_LOST_PACKED] = "compressed packets that are damaged or too large",
		[PF_LOST_DAMAGED] = "ends of damaged messages",
	};

	for (unsigned i = 0; i < PF_LOST_N; i++) {
		src_count_unused(x->s, str_of(why[i]), x->lost[i]);
		note_count(build_notes(x->b), x->lost[i], "note: %.*s {is|are} left out\n",
		        STR(str_counted(x->a, x->lost[i], str_of(why[i]))));
	}
}

static void read_top(struct perfetto *x, struct wire *w)
{
	struct str bytes;

	while (wire_next(w)) {
		if (w->field != 1 || w->type != WIRE_BYTES)
			wire_skip(w);
		else if (wire_leaf(w, &bytes))
			read_packet(x, bytes, false);
	}
}

/* Fails for a trace without events. */
static bool refuse_empty(struct perfetto *x, struct err *e)
{
	if (x->lost[PF_LOST_STATE])
		return err_set(e, ERR_DATA_LOSS,
		        "%.*s: no event has a name: Perfetto's buffer overwrote all names; record "
		        "with a larger buffer, or with clear_period_ms of incremental_state_config",
		        STR(x->s->name));
	return err_set(e, ERR_DATA_LOSS,
	        "%.*s: no track events among %.*s: a trace with the data source track_event was "
	        "expected",
	        STR(x->s->name), STR(str_counted(x->a, x->packets, S("packets"))));
}

bool read_perfetto(struct src *s, struct trace_build *b, struct arena *a, struct err *e)
{
	struct perfetto *x = ARENA_NEW(a, struct perfetto);
	struct wire w;

	*x = (struct perfetto){ .s = s, .b = b, .a = a };
	x->unused = ARENA_ARRAY(a, FIELD_MAX, uint64_t);
	imap_init(&x->sequence_of, a);
	imap_init(&x->clock_of, a);
	imap_init(&x->process_names, a);
	imap_init(&x->thread_names, a);
	intern_init(&x->text_keys, a);
	intern_init(&x->track_keys, a);
	build_start(b, TRACE_PERFETTO, 1000);
	wire_init(&w, s, "a Perfetto trace", e);
	read_top(x, &w);
	pf_tracks_end(x);
	pf_switches_end(x);
	build_origin(b, x->epoch, x->has_epoch);
	note_unused(x);
	note_lost(x);
	if (!wire_done(&w, x->packets))
		return false;
	return x->events || refuse_empty(x, e);
}
