/* SPDX-License-Identifier: Apache-2.0
 *
 * The recording: the file in which one process stores the GPU work it launched, and the layout of
 * the session folder that holds such files. Shared by the encoder, which runs inside other
 * programs, and the decoder; includes no other header of ours.
 *
 * A file is a sequence of blocks, each written with one write(2). All numbers are little-endian.
 * Counts of launches may precede the blocks (struct spool_count).
 *
 *   block:   0  magic          8 bytes, SPOOL_MAGIC
 *            8  version        u32
 *           12  payload        u32, bytes after the header, at most SPOOL_PAYLOAD_MAX
 *           16  sequence       u32, 0 in the first block, then one more each
 *           20  records        u32, in the payload
 *           24  base           u64, ns; times of the block start from here
 *           32  writer         u32, process id: a block of another writer does not belong here
 *           36  checksum       u32, CRC-32C of the payload
 *           40  checksum       u32, CRC-32C of bytes 0 to 39
 *           44  payload
 *
 *   record: tag byte (kind, flags << 5), then varints; signed ones in zigzag form
 *
 * Within a block, times and correlations are differences from the last record of their kind.
 * Repeated contents (a kernel with its launch configuration, a call on a thread, a range on a
 * thread) are written once into a numbered slot and then referred to by its number. Slots end with
 * the block, so each block can be read without the blocks before it. Only strings belong to the
 * whole file: they come before their first use, ids count upwards from 1, and id 0 means no string.
 * A file whose last record is not SPOOL_END was truncated.
 */
#ifndef TFPROF_IO_BLOCK_FORMAT_H
#define TFPROF_IO_BLOCK_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_MAGIC       "TFPSPL\r\n"
#define SPOOL_MAGIC_SIZE  8
#define SPOOL_VERSION     1
#define SPOOL_HEADER      44
#define SPOOL_PAYLOAD_MAX ((uint32_t)4 << 20)
#define SPOOL_BLOCK_MIN   ((size_t)64 << 10) /* smallest buffer the encoder accepts */
#define SPOOL_TEXT_MAX    ((size_t)16 << 10) /* the encoder truncates longer texts */

/* The session folder:
 *   <host>-<pid>-<start time>-<random>.tfspool    one per process
 *   control                                       lines of `tfprof ctl`
 *   options                                       options of `tfprof record` for the reader
 *
 * A line of control is "<time, ns since 1970> <word>[ <label>]
 * " with a word of SPOOL_CONTROL_*; a line of options is an option of the program, such as
 * "--step-nvtx=...". */
#define SPOOL_SUFFIX        ".tfspool"
#define SPOOL_CONTROL       "control"
#define SPOOL_OPTIONS       "options"
#define SPOOL_CONTROL_START "start"
#define SPOOL_CONTROL_STOP  "stop"
#define SPOOL_CONTROL_STEP  "step"
#define SPOOL_CONTROL_FLUSH "flush"

/* The beginning of a file: counts of what the process has launched so far. The collector stores
 * these bytes in shared memory and counts in them, so they are correct even after the process was
 * killed. A file without them has no counts. Numbers have the byte order of the machine, which is
 * little-endian. */
#define SPOOL_COUNT_MAGIC   "TFPCNT\r\n"
#define SPOOL_COUNT_VERSION 1
#define SPOOL_COUNT_SHARDS  16 /* groups of threads, each with a cache line of its own */
struct spool_count {
	char magic[SPOOL_MAGIC_SIZE];
	uint32_t version;
	uint32_t size;   /* size of this struct; the first block follows it */
	uint32_t writer; /* process id */
	uint32_t flags;  /* SPOOL_COUNT_* */
	uint32_t status; /* set by `tfprof record`: 1 + the status from waitpid; 0: not known */
	uint32_t unused[9];
	struct spool_count_shard {
		/* Number of calls, while recording, that launch a kernel, and that launch a
		 * graph. */
		uint64_t kernels, graphs;
		/* Number of further calls whose kernels may or may not be recorded: they may have
		 * been captured into a graph, or were made while recording started or stopped. */
		uint64_t unsure;
		uint64_t unused[5];
	} shard[SPOOL_COUNT_SHARDS];
};
enum {
	SPOOL_COUNT_ON = 1,      /* launches are counted */
	SPOOL_COUNT_PART = 2,    /* some launches were not counted */
	SPOOL_COUNT_LATE = 4,    /* the writer updates the counts from time to time, not at once */
	SPOOL_COUNT_GRAPHS = 8,  /* a launch of a graph gives one record */
	SPOOL_COUNT_EXITS = 32,  /* the process began to close its recording at exit */
	SPOOL_COUNT_SHUT = 64,   /* the program has closed the descriptor of the recording */
	SPOOL_COUNT_CHANGED = 16 /* SPOOL_COUNT_GRAPHS changed while recording */
};

/* Kinds of records, and the names of their totals. The values are stored in files: append only. */
#define SPOOL_KINDS(X)                                                                             \
	X(INFO, "facts")                                                                           \
	X(STRING, "strings")                                                                       \
	X(CLOCK, "clock readings")                                                                 \
	X(DEVICE, "devices")                                                                       \
	X(CONTEXT, "contexts")                                                                     \
	X(THREAD, "threads")                                                                       \
	X(KERNEL, "kernels")                                                                       \
	X(COPY, "copies")                                                                          \
	X(SET, "memsets")                                                                          \
	X(MEMORY, "allocations")                                                                   \
	X(API, "calls")                                                                            \
	X(SYNC, "synchronisations")                                                                \
	X(GRAPH, "graph launches")                                                                 \
	X(OVERHEAD, "overheads")                                                                   \
	X(RANGE, "range events")                                                                   \
	X(MARK, "step marks")                                                                      \
	X(SUM, "sums")                                                                             \
	X(LOST, "losses")                                                                          \
	X(GAP, "gaps")                                                                             \
	X(NOTE, "notes")                                                                           \
	X(END, "ends")                                                                             \
	X(NODE, "graph nodes")
#define SPOOL_KIND_ENUM(name, text) SPOOL_##name,
enum spool_kind { SPOOL_NONE, SPOOL_KINDS(SPOOL_KIND_ENUM) SPOOL_N };
_Static_assert(SPOOL_N <= 32, "kinds have five bits of the tag");

/* Text that the struct does not own: it belongs to the caller when encoding, to the window when
 * decoding. */
struct spool_text {
	const char *p;
	size_t n;
};

/* A fact about the process. Keys: tfprof (version of the recorder), pid, ppid, pidns (inode), start
 * (of the process, ns since 1970), host, exe, argv (NUL between words), cwd, cupti, driver, runtime
 * (versions as CUPTI and the driver report them), libcupti (its path), level, options
 * (TFPROF_OPTS), launches (of kernels, in decimal: written at the end if each launch was compared
 * with the kernels received), and "env.<NAME>" of RANK, LOCAL_RANK, WORLD_SIZE, OMPI_*, PMI_*,
 * PMIX_*, SLURM_*, TORCHELASTIC_RUN_ID, TFPROF_JOB, CUDA_VISIBLE_DEVICES. */
struct spool_info {
	struct spool_text key, value;
};

struct spool_string {
	uint32_t id; /* counts upwards from 1 */
	struct spool_text text;
};

/* One moment on three clocks, ns; read at the start and at the end of a CUPTI session and with each
 * flush. Times of calls, operations and allocations are on CUPTI's clock, which usually equals
 * REALTIME; times of ranges, marks, gaps and of the end are on REALTIME. */
struct spool_clock {
	uint64_t realtime, monotonic_raw;
	uint64_t cupti; /* 0: unknown */
	uint64_t width; /* time within which all three were read; 0: unknown */
};

struct spool_device {
	uint32_t id; /* the process's own number for the device */
	uint8_t uuid[16];
	uint8_t mig_uuid[16]; /* UUID of the GPU partition (MIG), otherwise zeros */
	uint32_t name;        /* string */
	uint64_t memory;      /* bytes */
	uint32_t multiprocessors, major, minor;
};

struct spool_context {
	uint32_t id, device;
};

struct spool_thread {
	uint32_t tid;
	uint32_t name; /* string */
};

/* The place where an operation ran. */
struct spool_where {
	uint32_t device, context, stream;
};

/* Start and length of work on the GPU are 0 if CUPTI could not time it. */
struct spool_kernel {
	uint64_t start, length;
	uint32_t correlation;
	uint32_t name; /* string: mangled, as CUPTI reports it */
	struct spool_where at;
	uint32_t grid[3], block[3];
	uint32_t registers, static_shared, dynamic_shared;
	uint32_t graph; /* 0: not launched by a graph */
	uint64_t graph_node;
};

/* Values of CUpti_ActivityMemoryKind. All others are device memory or unknown. */
enum { SPOOL_PAGEABLE = 1, SPOOL_PINNED = 2 };

struct spool_copy {
	uint64_t start, length, bytes;
	uint32_t correlation;
	uint8_t kind, from, to, flags; /* CUpti_ActivityMemcpyKind, ..MemoryKind (2), ..Flag */
	struct spool_where at;
	bool peer; /* the next two fields are valid: a copy between devices */
	uint32_t from_device, to_device;
	uint32_t graph;
	uint64_t graph_node;
};

/* Names of copies by kind, also used in sums. */
#define SPOOL_COPY_KINDS 11
static inline const char *spool_copy_name(unsigned kind)
{
	static const char *const names[SPOOL_COPY_KINDS] = { "Memcpy", "MemcpyHtoD", "MemcpyDtoH",
		"MemcpyHtoA", "MemcpyAtoH", "MemcpyAtoA", "MemcpyAtoD", "MemcpyDtoA", "MemcpyDtoD",
		"MemcpyHtoH", "MemcpyPtoP" };

	return names[kind < SPOOL_COPY_KINDS ? kind : 0];
}

struct spool_set {
	uint64_t start, length, bytes;
	uint32_t correlation;
	uint8_t memory; /* CUpti_ActivityMemoryKind */
	struct spool_where at;
	uint32_t graph;
	uint64_t graph_node;
};

struct spool_memory {
	uint64_t time, address, bytes;
	uint32_t correlation;
	bool freed;
	uint8_t memory; /* CUpti_ActivityMemoryKind */
	struct spool_where at;
	uint32_t name; /* string or 0 */
};

/* A call of the runtime or driver interface. */
struct spool_api {
	uint64_t start, length;
	uint32_t correlation;
	uint32_t name; /* string: "cudaLaunchKernel", "cuLaunchKernel" */
	uint32_t tid;
	uint32_t result;
};

struct spool_sync {
	uint64_t start, length;
	uint32_t correlation;
	uint8_t type; /* CUpti_ActivitySynchronizationType */
	uint32_t context, stream, event;
};

/* One launch of a whole graph whose nodes are not recorded. */
struct spool_graph {
	uint64_t start, length;
	uint32_t correlation;
	struct spool_where at;
	uint32_t graph;
};

struct spool_overhead {
	uint64_t start, length;
	uint32_t kind; /* CUpti_ActivityOverheadKind */
	uint32_t tid;
};

/* Kinds of NVTX events. START and END pair by id, on any threads. */
enum spool_range_op { SPOOL_PUSH, SPOOL_POP, SPOOL_START, SPOOL_STOP, SPOOL_INSTANT };
struct spool_range {
	enum spool_range_op op;
	uint64_t time;
	uint32_t tid;
	uint32_t domain; /* string, 0: the default domain */
	uint32_t name;   /* string, 0 for POP and STOP */
	uint64_t id;     /* for START and STOP */
};

/* Marks that may begin or end a step. */
enum spool_mark_what { SPOOL_STEP, SPOOL_PROFILER_START, SPOOL_PROFILER_STOP };
struct spool_mark {
	enum spool_mark_what what;
	uint64_t time;
	uint32_t label; /* string or 0 */
};

/* Exact sums by name, which replace single records from --max-size on. */
struct spool_sum {
	enum spool_kind what; /* KERNEL, COPY, SET or API */
	uint32_t name;        /* string; for copies spool_copy_name, for memsets "Memset" */
	uint32_t device;      /* 0 for API */
	uint32_t scope;       /* string: the enclosing ranges, separated by '/'; or 0 */
	uint64_t from, to;    /* time of the first and the last operation */
	uint64_t count, sum, min, max; /* ns */
	uint64_t bytes;
};

/* Lost records. A count belongs to this loss alone; it is not a running total. */
enum spool_lost_why {
	SPOOL_LOST_DROPPED, /* CUPTI had no buffer */
	SPOOL_LOST_UNKNOWN, /* records of an unknown kind or size */
	SPOOL_LOST_UNTIMED, /* recorded, but with impossible times */
	SPOOL_LOST_RANGES,  /* range events: buffers full, or nesting too deep */
	SPOOL_LOST_WRITE,   /* records that could not be written to the file */
	SPOOL_LOST_KEPT,    /* never delivered by CUPTI; a lower bound */
	SPOOL_LOST_KERNELS, /* kernels whose launches are known but whose records are missing */
	SPOOL_LOST_UNREAD,  /* records of a buffer of CUPTI that CUPTI cannot read */
	SPOOL_LOST_NAMES,   /* names that share the place of another name, or were shortened */
	SPOOL_LOST_RUNNING, /* recorded without times, because they had not ended when recording
	                       ended */
	SPOOL_LOST_WHY_N
};
struct spool_lost {
	enum spool_lost_why why;
	uint64_t count;
	bool at_least; /* a lower bound; 0: possibly none */
};

/* A period in which nothing was recorded. */
struct spool_gap {
	uint64_t from, to;
	uint32_t why; /* string: a sentence without full stop */
};

/* The creation of a graph node, on REALTIME; or its copy in another graph, such as the executable
 * one, whose time is 0. */
struct spool_node {
	uint64_t id;       /* as graph_node of kernels, copies and memsets */
	uint64_t original; /* the node that was copied; 0: none */
	uint64_t time;
	uint32_t tid;
};

struct spool_note {
	struct spool_text text; /* a finished sentence without full stop */
};

struct spool_end {
	uint64_t time;
	uint64_t totals[SPOOL_N]; /* number of records of each kind before this record; filled by
	                             the encoder */
};

struct spool_record {
	enum spool_kind kind;
	union {
		struct spool_info info;
		struct spool_string string;
		struct spool_clock clock;
		struct spool_device device;
		struct spool_context context;
		struct spool_thread thread;
		struct spool_kernel kernel;
		struct spool_copy copy;
		struct spool_set set;
		struct spool_memory memory;
		struct spool_api api;
		struct spool_sync sync;
		struct spool_graph graph;
		struct spool_overhead overhead;
		struct spool_range range;
		struct spool_mark mark;
		struct spool_sum sum;
		struct spool_lost lost;
		struct spool_gap gap;
		struct spool_note note;
		struct spool_end end;
		struct spool_node node;
	};
};

/* State that the encoder and the decoder keep within a block. A slot is valid if its stamp equals
 * the block's stamp. */
#define SPOOL_SLOTS 512
struct spool_slots {
	uint32_t stamp; /* 1 + number of the block */
	struct spool_kernel_slot {
		uint32_t stamp;
		uint32_t name;
		struct spool_where at;
		uint32_t shape[9]; /* grid, block, registers, static and dynamic shared memory */
	} kernel[SPOOL_SLOTS];
	struct spool_slot {
		uint32_t stamp, name, tid;
		uint32_t more; /* result of a call; domain of a range */
	} api[SPOOL_SLOTS], range[SPOOL_SLOTS];
	struct {
		uint64_t time;
		uint64_t node; /* node of a CUDA graph */
		uint32_t correlation;
	} last[SPOOL_N];
};

/* ---- block encode ----
 *
 * Encodes records of a recording into blocks, in the caller's buffer. Does not allocate, print or
 * access files; fails only if a block is full. An encoder must not be used by two threads at a
 * time.
 *
 *   block_encode_init(&p, getpid());
 *   block_encode_begin(&p, buffer, sizeof buffer, now);
 *   if (!block_encode(&p, &record)) {                      if the block is full:
 *           write(fd, buffer, block_encode_finish(&p));    a block per write
 *           block_encode_begin(&p, buffer, sizeof buffer, now);
 *           block_encode(&p, &record);                     an empty block has room
 *   }
 */

struct block_encoder {
	uint8_t *block, *p, *end; /* the block, the next record, the end of the buffer */
	uint64_t base;
	uint32_t writer, sequence, records;
	uint64_t totals[SPOOL_N];
	struct spool_slots slots;
};

void block_encode_init(struct block_encoder *p, uint32_t writer);

/* Starts a block in a buffer of at least SPOOL_BLOCK_MIN bytes. base: a time close to the times of
 * the records, ns. */
void block_encode_begin(struct block_encoder *p, void *buffer, size_t size, uint64_t base);

/* Adds a record. Returns false and changes nothing if the block is full. Texts are truncated to
 * SPOOL_TEXT_MAX bytes. */
bool block_encode(struct block_encoder *p, const struct spool_record *r);

/* Completes the block and returns its size; 0 if it has no records. */
size_t block_encode_finish(struct block_encoder *p);

#endif
