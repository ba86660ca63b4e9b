/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the parts of the Perfetto reader: read_perfetto.c (packets), perfetto_intern.c
 * (interned texts), perfetto_clock.c (times), perfetto_track.c (descriptors of tracks),
 * perfetto_event.c and perfetto_gpu.c (events into slices), perfetto_sched.c (switches of threads).
 *
 *   Trace              packet 1
 *   TracePacket        ftrace_events 1  process_tree 2  clock_snapshot 6  timestamp 8
 * trusted_packet_sequence_id 10 track_event 11  interned_data 12  sequence_flags 13
 *                      incremental_state_cleared 41  previous_packet_dropped 42
 *                      process_descriptor 43  thread_descriptor 44  system_info 45
 *                      compressed_packets 50  gpu_render_stage_event 53  timestamp_clock_id 58
 *                      trace_packet_defaults 59  track_descriptor 60
 *   TracePacketDefaults  track_event_defaults 11 { track_uuid 11  extra_counter_track_uuids 31
 *                      extra_double_counter_track_uuids 45 }  timestamp_clock_id 58
 *   InternedData       event_categories 1  event_names 2  debug_annotation_names 3
 *                      graphics_contexts 23  gpu_specifications 24
 *                      debug_annotation_string_values 29, each { iid 1  text 2 }
 *   ClockSnapshot      clocks 1 { clock_id 1  timestamp 2  is_incremental 3
 *                      unit_multiplier_ns 4 }  primary_trace_clock 2
 *
 * Packets of one writer form a sequence: interned texts, defaults and clocks 64 to 127 belong to
 * it.
 */
#ifndef TFPROF_TRACE_PERFETTO_INTERNAL_H
#define TFPROF_TRACE_PERFETTO_INTERNAL_H

#include "io/wire.h"
#include "trace/trace_build.h"

#define PF_EXTRA_MAX ((size_t)64) /* maximum number of extra counters of an event */

enum pf_kind {
	PF_CATEGORY = 1, /* the values are field numbers of InternedData */
	PF_NAME = 2,
	PF_KEY = 3,
	PF_CONTEXT = 23,
	PF_STAGE = 24,
	PF_TEXT = 29
};

/* An interned text. */
struct pf_text {
	uint32_t generation; /* generation of the sequence's state to which the text belongs */
	uint32_t text;       /* string id */
	uint32_t value;      /* for a category: enum trace_category; for a key: key of the
	                        argument */
	int64_t pid;         /* process id of a context */
};

/* A moment on a clock, and the same moment on the clock of the trace. */
struct pf_moment {
	int64_t at, time;
};

struct pf_clock {
	VEC(struct pf_moment) moments; /* sorted by time on this clock */
	int64_t unit;                  /* ns per unit */
	int64_t last;                  /* last time of an incremental clock */
	bool incremental;
};

struct pf_uuids {
	uint64_t *v;
	size_t n, cap;
};

struct pf_sequence {
	uint32_t id, generation;
	bool valid; /* true: the interned texts are complete */
	uint32_t clock;
	bool has_track, has_thread;
	uint64_t track;
	int64_t pid, tid;
	int64_t micros; /* time of the last event, to which incremental times are added */
	struct pf_uuids extra, extra_real;
};

/* A track defined by its descriptors. */
struct pf_track {
	uint64_t parent;
	uint32_t track; /* track of the trace; ID_NONE while it has no event */
	uint32_t name;  /* string id, or ID_NONE */
	uint32_t thread_name;
	bool has_process, has_thread, counter, incremental;
	bool work; /* true: the track has device work */
	int64_t pid, tid, unit, sum;
};

/* A thread gets a CPU, loses its CPU, or wakes up. */
struct pf_switch {
	uint64_t at; /* ns on the boottime clock */
	int32_t tid;
	bool runs, ready; /* as in struct thread_switch */
};

/* Reasons for leaving events out. */
enum pf_lost {
	PF_LOST_STATE,   /* the event needs interned texts that were overwritten */
	PF_LOST_CLOCK,   /* the time of the event cannot be converted */
	PF_LOST_TIME,    /* the event has no time */
	PF_LOST_PHASE,   /* a legacy event with another phase, or an event without a type */
	PF_LOST_NESTED,  /* an annotation of several values */
	PF_LOST_PACKED,  /* compressed packets that are damaged or too large */
	PF_LOST_DAMAGED, /* malformed messages */
	PF_LOST_N
};

struct perfetto {
	struct src *s;
	struct trace_build *b;
	struct arena *a;
	struct imap sequence_of; /* key: id; value: index in sequences */
	VEC(struct pf_sequence) sequences;
	struct intern text_keys; /* key: sequence, kind and iid */
	VEC(struct pf_text) texts;
	struct imap clock_of; /* key: sequence << 32 | clock; shared clocks have the sequence 0 */
	VEC(struct pf_clock) clocks;
	uint32_t trace_clock; /* 0: not known yet */
	int64_t epoch;        /* ns from the clock of the trace to the realtime clock */
	bool has_epoch;
	struct intern track_keys;
	VEC(uint32_t) track_of; /* key: key of a track; value: index in tracks */
	VEC(struct pf_track) tracks;
	struct imap process_names, thread_names; /* key: number; value: string id */
	VEC(struct pf_switch) switches;
	VEC(uint32_t) queues, stages; /* string ids: names of GPU queues and stages */
	struct gunzip *unpack;
	VEC(uint8_t) unpacked;
	uint64_t packets, events;
	uint64_t lost[PF_LOST_N];
	uint64_t *unused; /* indexed by field of TracePacket */
};

/* The parts of a packet. Missing texts are empty. */
struct pf_packet {
	uint64_t timestamp;
	uint32_t clock; /* 0: the default clock of the sequence */
	uint32_t sequence, flags;
	bool has_time, cleared, dropped;
	struct str ftrace, event, interned, defaults, descriptor, process, thread, clocks, packed,
	        tree, stage, info;
};

/* ---- perfetto_intern.c ---- */

/* Adds the texts of InternedData to a sequence. */
void pf_intern(struct perfetto *x, const struct pf_sequence *q, struct str data);
/* Returns an interned text, or NULL; valid until the next text is added. */
const struct pf_text *pf_text(
        const struct perfetto *x, const struct pf_sequence *q, enum pf_kind kind, uint64_t iid);
enum trace_category pf_category(struct str name);
/* Returns the argument for an annotation; PF_CORRELATION for a correlation. */
#define PF_CORRELATION (ID_NONE - 1)
uint32_t pf_key(struct perfetto *x, struct str name);

/* ---- perfetto_clock.c ---- */

void pf_clock_snapshot(struct perfetto *x, uint32_t sequence, struct str data);
/* Converts the time of a packet to the clock of the trace. Returns false, and counts the packet, if
 * it has no time. */
bool pf_time(struct perfetto *x, struct pf_sequence *q, const struct pf_packet *p, int64_t *at);

/* ---- perfetto_track.c ---- */

void pf_describe(struct perfetto *x, struct str descriptor);
void pf_describe_thread(
        struct perfetto *x, struct pf_sequence *q, struct str process, struct str thread);
void pf_process_tree(struct perfetto *x, struct str tree);
/* Finds or adds a track; the pointer is valid until the next track is added. */
struct pf_track *pf_track_of_uuid(struct perfetto *x, uint64_t uuid);
struct pf_track *pf_track_of_thread(struct perfetto *x, int64_t pid, int64_t tid);
struct pf_track *pf_track_of_sequence(struct perfetto *x, const struct pf_sequence *q);
/* Finds or adds the track of asynchronous events with an id in a scope. */
struct pf_track *pf_track_of_id(struct perfetto *x, int64_t pid, struct str scope, uint64_t id);
/* Returns the number of a track in the trace. */
uint32_t pf_track_number(struct perfetto *x, struct pf_track *k);
/* Sets names, processes and devices. */
void pf_tracks_end(struct perfetto *x);

/* ---- perfetto_event.c, perfetto_gpu.c ---- */

void pf_event(struct perfetto *x, struct pf_sequence *q, const struct pf_packet *p);
void pf_stage(struct perfetto *x, struct pf_sequence *q, const struct pf_packet *p);

/* ---- perfetto_sched.c ---- */

/* Reads the scheduling events of a bundle. Returns false if it has none, or their times are on
 * another clock. */
bool pf_scheduled(struct perfetto *x, struct str bundle);
/* Adds the times in which threads could run but had no CPU. Must be called after all tracks are
 * known. */
void pf_switches_end(struct perfetto *x);

#endif
