/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the Chrome JSON reader: one event as tokens, and flaws.
 */
#ifndef TFPROF_TRACE_CHROME_JSON_H
#define TFPROF_TRACE_CHROME_JSON_H

#include "io/json_in.h"
#include "trace/trace_build.h"

#define CHROME_TICKS    1000 /* ticks per microsecond; timelines of tfprof may have more */
#define CHROME_DECIMALS 3    /* number of decimals of a microsecond in a tick */
#define REPAIR_MAX      ((size_t)64 << 10) /* maximum length of a searched string end */

/* Kinds of flaws besides the flaws found by the tokenizer; each is reported once. */
enum chrome_flaw {
	FLAW_TRUNCATED,
	FLAW_TRUNCATED_GZIP,
	FLAW_DAMAGED_GZIP, /* occurs only with --recover */
	FLAW_QUOTE,
	FLAW_DAMAGED,
	FLAW_DEPTH,
	FLAW_DUPLICATE,
	FLAW_OVERFLOW,
	FLAW_NEGATIVE,
	FLAW_TIMELESS,
	FLAW_CONCATENATED,
	FLAW_TRAILING,
	FLAW_N
};

struct chrome_flaws {
	struct json_flaw_count count[FLAW_N];
	uint64_t found[FLAW_N]; /* 1 + position of the first flaw in the current item; 0: none */
	bool any;               /* true if any element of found is set */
};

/* The members of an event. */
enum chrome_key {
	KEY_PH,
	KEY_TS,
	KEY_DUR,
	KEY_CAT,
	KEY_PID,
	KEY_TID,
	KEY_NAME,
	KEY_ID,
	KEY_ARGS,
	KEY_N
};

/* The arguments that are read. */
enum chrome_arg {
	CARG_CORRELATION,
	CARG_DEVICE,
	CARG_STREAM,
	CARG_NAME,
	CARG_LABELS,
	CARG_RECORD,  /* read only together with an execution trace */
	CARG_DIALECT, /* later rows are read for one dialect only: ONNX Runtime */
	CARG_OP_NAME = CARG_DIALECT,
	CARG_PROVIDER,
	CARG_OUTPUT_SIZE,
	CARG_PARAMETER_SIZE,
	CARG_ACTIVATION_SIZE,
	CARG_INPUT_SHAPES,
	CARG_OUTPUT_SHAPES,
	CARG_NODE_INDEX,
	CARG_GRAPH_INDEX,
	CARG_PEAK,
	CARG_OTHERS /* rows of argument_rows from here on become arguments of the trace */
};
#define CHROME_ARGS_MAX 56 /* rows of argument_rows */
#define CHROME_OWN_ROWS 4  /* number of rows for tfprof's timelines */

struct chrome_event {
	uint64_t keys, args; /* bits of the members and arguments that are present */
	struct json_value key[KEY_N], arg[CHROME_ARGS_MAX];
	const char *args_at; /* start of the object with the arguments */
};

static inline bool event_has(const struct chrome_event *v, enum chrome_key k)
{
	return v->keys >> k & 1;
}
static inline bool event_has_arg(const struct chrome_event *v, unsigned row)
{
	return v->args >> row & 1;
}

/* Returns the text of a member, empty if the event lacks it. */
static inline struct str event_text(const struct chrome_event *v, enum chrome_key k)
{
	return event_has(v, k) ? v->key[k].text : S("");
}

/* Forms in which argument values are kept. */
enum argument_form {
	FORM_NONE,
	FORM_INT,
	FORM_TEXT,    /* for a list: its JSON without blanks */
	FORM_NUMBERS, /* for a list: its numbers, separated by commas */
	FORM_STACK    /* a call stack, innermost frame first, separated by ';' */
};
struct argument_row {
	struct str name;
	enum chrome_arg arg; /* the argument, or CARG_OTHERS */
	uint32_t key;        /* key of the argument in the trace: enum argument_key */
	enum argument_form form;
	bool own; /* true: the value differs between slices */
};
extern const struct argument_row argument_rows[];
extern const unsigned n_argument_rows;

/* Caches tracks by the texts of their process and thread. */
struct chrome_track {
	uint32_t track;
	uint32_t process; /* process of the thread */
};
struct chrome_label { /* name from a metadata event */
	struct str pid, tid;
	uint32_t name;
	bool thread;
};
struct chrome_device { /* device from the header of the file */
	int64_t id, memory, multiprocessors;
	uint32_t model; /* string id or ID_NONE */
};

struct category_row {
	const char *name;
	enum trace_category category;
	bool device; /* true: an event of this category goes to a stream */
	bool kineto; /* true: only one producer writes this category */
	bool exact;  /* true: a category of tfprof's timelines, which event names do not refine */
};

/* Data common to events with equal category, name and shared arguments. */
struct chrome_kind {
	struct category_row row;
	uint32_t event; /* event of the trace; ID_NONE: not created yet */
	bool instant;
};

/* For events of one producer that need more than a category: they are collected while the file is
 * read, and become slices at its end. */
struct chrome;
struct chrome_dialect {
	enum trace_source source;
	bool in_ps; /* true: ticks are picoseconds */
	/* Returns true if the event is collected; times are ticks. */
	bool (*take)(struct chrome *c, const struct chrome_event *v, int64_t ts, int64_t dur);
	void (*end)(struct chrome *c);
};

struct execution_trace;
struct chrome {
	const struct execution_trace *calls;  /* execution trace of the process, or NULL */
	uint64_t skipped[128];                /* number of events of each unused phase */
	uint64_t joined;                      /* number of events that have a call in `calls` */
	const struct chrome_dialect *dialect; /* may be NULL */
	void *dialect_state;
	uint32_t texts; /* number of JSON texts of the file before the current one */
	struct json_in json;
	struct trace_build *b;
	struct arena *a;
	struct err *e;
	struct chrome_flaws flaws;
	struct sb text;                 /* unescaped strings of the current event */
	uint8_t arg_slots[128];         /* hash table of argument_rows */
	uint64_t wanted;                /* rows requested by the trace */
	uint64_t own_args, shared_args; /* wanted rows that are arguments of a slice, and of an
	                                   event */
	bool kineto;
	bool own; /* true: a timeline written by tfprof */
	enum trace_source own_source;
	int64_t ticks;     /* ticks per microsecond */
	unsigned decimals; /* number of decimals of a microsecond in a tick */
	bool lost;         /* true: no further event followed the damage */
	unsigned inside;   /* number of events that reached the end of the input */
	uint64_t events;
	int64_t rank, world;
	uint32_t launches; /* the process whose calls launch device work, or ID_NONE */
	struct intern tracks, processes; /* keys of tracks and processes */
	uint32_t last_track[2];          /* indexes in track: of the last thread and the last
	                                    stream */
	struct intern kind_keys;
	VEC(struct chrome_kind) kinds;
	size_t kind_bytes;       /* bytes of the keys of kinds */
	struct chrome_kind kind; /* the current kind, if it is not stored */
	VEC(struct chrome_track) track;
	VEC(uint32_t) process;
	VEC(struct chrome_label) labels;
	VEC(struct chrome_device) devices;
	VEC(int64_t) memory_devices; /* numbers of devices whose memory was allocated */
	struct intern other_names;   /* categories in PyTorch traces that tfprof does not
	                                interpret */
	VEC(uint64_t) other_counts;  /* number of events of each of these categories */
};

/* Reads the number of the argument of a row. Returns false and sets the number to 0 if the event
 * lacks the argument. */
bool chrome_arg_int(struct chrome *c, const struct chrome_event *v, unsigned row, int64_t *out);
/* Reads the number of the argument with a key. Returns false if the event lacks the argument. */
bool chrome_arg_of(struct chrome *c, const struct chrome_event *v, uint32_t key, int64_t *out);

/* Reads an event; the next character is its bracket. On failure the stop of the tokenizer has the
 * reason. */
bool chrome_event_read(struct chrome *c, struct chrome_event *v);
/* Prepares the search for arguments. */
void chrome_args_init(struct chrome *c);
/* Returns the index of a key of an event; KEY_N for ignored keys. */
enum chrome_key chrome_key(struct str key);

/* Returns the key of a track. Its first character is 't' for a thread, 'd' for a stream of a
 * device, 'o' for a track of a timeline that tfprof wrote. */
#define PLACE_KEY_MAX 256
struct str chrome_place_key(
        char buffer[static PLACE_KEY_MAX], char kind, struct str a, struct str b);

/* Processes a metadata event of a timeline that tfprof wrote. */
void chrome_own_event(struct chrome *c, const struct chrome_event *v);

/* Finds or adds the kind of an event. The pointer is valid until the next kind is added. */
struct chrome_kind *chrome_kind(struct chrome *c, const struct chrome_event *v, bool instant);
/* Returns the trace event of a kind, with the arguments common to all its slices. */
uint32_t chrome_kind_event(
        struct chrome *c, const struct chrome_event *v, struct chrome_kind *kind);
/* Adds the arguments that the slices of an event share, or the arguments of one slice. */
void chrome_put_args(struct chrome *c, const struct chrome_event *v, bool own);

/* Adds an event to the trace. */
void chrome_emit(struct chrome *c, const struct chrome_event *v);
/* Opens the execution trace of the run, if the source's options name one. */
bool chrome_join_open(struct chrome *c, struct err *e);
/* Adds the data of the execution trace to an event, or to one slice of the event. */
void chrome_join(struct chrome *c, const struct chrome_event *v, bool own);
/* Adds the graph of the calls. */
void chrome_join_end(struct chrome *c);
/* Adds data of the whole file: names, devices, ranks. */
void chrome_emit_end(struct chrome *c);

/* Reads a member of the object around the events, if the member is known; its value is next. */
bool chrome_header(struct chrome *c, struct str key);

/* Reads a number, possibly quoted, times 10^decimals. Sets *out to 0 if the value is not a
 * number. */
bool chrome_number(struct chrome *c, const struct json_value *v, unsigned decimals, int64_t *out);
/* Reads the digits at the end of "stream 7". */
bool chrome_trailing_number(struct str s, int64_t *out);
/* Returns the bytes of a string, or the text of another value; valid until the next event. */
struct str chrome_text(struct chrome *c, const struct json_value *v);
/* Finds or adds the process of an event. */
uint32_t chrome_process(struct chrome *c, const struct chrome_event *v);
/* Finds or adds the track of an event: a thread, or a stream of a device; returns an index in
 * c->track. */
uint32_t chrome_track(struct chrome *c, const struct chrome_event *v, bool device);

/* Reads a file. dialect may be NULL. The state lives in a. */
bool chrome_read_file(struct src *s, struct trace_build *b, const struct chrome_dialect *dialect,
        void *state, struct arena *a, struct err *e);

/* Stores a flaw of the current item. at: position in the window. */
void chrome_flaw(struct chrome *c, enum chrome_flaw flaw, const char *at);
/* Ends the item, and counts its flaws. */
void chrome_take(struct chrome *c);
/* Makes the caller read the item again with more of the input, if there is more. */
bool chrome_more(struct chrome *c);
/* Counts the data that the reader does not use. */
void chrome_count_unused(struct chrome *c);
/* Adds a note for each kind of flaw. Returns false (*e filled) if nothing could be read because of
 * flaws. */
bool chrome_flaws_end(struct chrome *c);

#endif
