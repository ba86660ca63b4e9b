/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading recordings: blocks, clocks, and the process that made one. The layout is in
 * block_format.h.
 */
#ifndef TFPROF_IO_RECORDING_IN_H
#define TFPROF_IO_RECORDING_IN_H

#include "io/block_format.h"
#include "io/src.h"

/* ---- block decode ----
 *
 * The decoder of recordings: reads one record after the other from an input. A block is checked
 * whole, by its checksum, before any of its records is returned. Damage is skipped up to the next
 * block and reported; truncation is reported too; a missing end record is not a fault. Hostile
 * bytes never cost more memory than their own size.
 */

struct block_decoder {
	struct src *s;
	struct arena *a;
	struct err *e;
	const uint8_t *p, *end;    /* remaining records of the block */
	uint32_t left;             /* number of remaining records */
	uint32_t blocks;           /* number of valid blocks so far */
	uint32_t writer, sequence; /* of the file, and of the next block */
	uint64_t block_at;
	bool damaged;             /* true: there is damage just before the next block */
	bool ended;               /* true: the last record was an end record */
	struct spool_count count; /* launch counts of the file; version 0: it has none */
	VEC(struct str) strings;  /* indexed by id; NULL: unknown id */
	struct spool_slots slots;
};

/* Bytes that could not be used. */
struct spool_damage {
	uint64_t at, skipped;
	const char *why;  /* the reason, such as "the checksum does not match" */
	uint32_t records; /* number of records in these bytes if the block's header is intact,
	                     otherwise 0 */
	bool cut;         /* true: the file is truncated here, as after a killed writer or a crashed
	                     machine: in the middle of a block, or in zeros up to its end */
};

enum spool_event { SPOOL_EVENT_RECORD, SPOOL_EVENT_DAMAGE, SPOOL_EVENT_END, SPOOL_EVENT_FAILED };

/* Starts at the current position of s. The strings live in a. */
void block_decode_init(struct block_decoder *g, struct src *s, struct arena *a, struct err *e);

/* Returns the next record (its texts are valid until the next call), or skipped bytes, or the end
 * of the file. FAILED: reading failed, or the version is unsupported; *e has the sentence. */
enum spool_event block_decode(
        struct block_decoder *g, struct spool_record *r, struct spool_damage *d);

/* Returns the string of an id; p is NULL if the id is 0 or the string was lost. */
static inline struct str block_decode_string(const struct block_decoder *g, uint32_t id)
{
	return id < g->strings.n ? g->strings.v[id] : STR_NONE;
}

/* ---- block decode: shared by its files ---- */

/* Shared by block_decode.c and block_check.c: the step to the next block. */

/* Makes the next valid block the current block, and returns RECORD. Otherwise returns the same
 * values as block_decode. */
enum spool_event spool_block_next(struct block_decoder *g, struct spool_damage *d);

/* ---- block fault ---- */

/* Collects the faults of a recording: truncation, as after a killed process, and damage, which is
 * an error unless the user asks for recovery. */

struct spool_fault {
	uint64_t kept;          /* number of readable records */
	uint64_t places, bytes; /* number of damaged places, and of their bytes */
	uint64_t records;       /* number of records lost in them, as far as known */
	uint64_t written;       /* total number of records, from the end record; 0: no end record */
	struct spool_damage first; /* first damaged place */
	struct spool_damage cut;   /* truncation; why is NULL if the file is not truncated */
};

/* Stores a result of block_decode. r or d is filled, depending on the event. */
void spool_fault_take(struct spool_fault *f, enum spool_event event, const struct spool_record *r,
        const struct spool_damage *d);

/* Returns false and fills *e if the recording is damaged. others: true if the data of other files
 * can be used. */
bool spool_fault_judge(const struct spool_fault *f, struct str name, bool others, struct err *e);

/* Describes the damage: "a.tfspool: byte 96: ...; 17 records are kept; lost are 40 bytes". */
void spool_fault_text(struct sb *b, const struct spool_fault *f, struct str name);

/* ---- clock map ----
 *
 * Maps CUPTI's clock to the system's clock, by the clock readings in a recording. If CUPTI's clock
 * is not CLOCK_REALTIME, times of calls and operations are interpolated between the readings around
 * them, which removes offset and drift. Mapped times are on the system's clock as of the first
 * reading; later changes of that clock have no effect.
 */

struct clock_pair {
	uint64_t cupti, raw; /* raw: CLOCK_MONOTONIC_RAW */
};

struct clock_map {
	VEC(struct clock_pair) pairs; /* sorted by time */
	uint64_t origin;              /* realtime minus raw at the first reading */
	bool apart;                   /* true: CUPTI's clock differs from CLOCK_REALTIME */
	int64_t offset;               /* CUPTI's clock minus realtime at the first reading, ns */
	uint64_t width; /* duration of the longest reading, ns; the error is at most half of it */
	bool unbounded; /* true: a reading has no duration */
};

/* Adds the next reading. Drops a reading in which a clock does not advance. */
void clock_map_add(struct clock_map *m, struct arena *a, const struct spool_clock *c);

/* Converts a time of CUPTI's clock to the system's clock; 0 stays 0. At least one reading must
 * exist. */
uint64_t clock_map_time(const struct clock_map *m, uint64_t cupti);

/* Writes a sentence without a full stop: "the clock of CUPTI was 3.000000 s ahead of the system's;
 * ...". */
#define CLOCK_MAP_TEXT 192
void clock_map_text(char text[CLOCK_MAP_TEXT], const struct clock_map *m);

/* ---- process identity ---- Identifies the process of a recording: process, program, rank and job,
 * from its facts. Groups processes into jobs, and assigns one number to each GPU, whatever number
 * each process uses for it. */

struct process_identity {
	struct str host, program; /* program: last component of argv[0] or of exe */
	struct str named;         /* the job before jobs of different launchers were separated */
	struct str job;           /* empty: unknown */
	int64_t pid, parent;      /* 0: unknown */
	int64_t rank;             /* -1: unknown */
	uint64_t started;         /* ns since 1970 */
	unsigned job_from, rank_from; /* rows in the tables of variables; 0: none yet */
};

void process_identity_init(struct process_identity *w);

/* Stores a fact if its key describes the process. Copies texts to a. */
void process_identity_take(
        struct process_identity *w, struct arena *a, const struct spool_info *fact);

/* Separates jobs that have the same name or none: if a rank occurs twice, the processes of each
 * launcher are a job, named "7-p4711" or "p4711" after the launcher's pid. */
void process_identity_jobs(struct process_identity *const *v, size_t n, struct arena *a);

/* A GPU in the view of one process. */
struct spool_gpu {
	uint8_t uuid[16]; /* zeros: unknown; the GPU is then identified by host and id */
	struct str host;
	uint32_t id;     /* the process's own number for the GPU */
	uint32_t number; /* result: number among all GPUs */
};

/* Numbers the GPUs. Uses the processes' own numbers if they agree, otherwise the order of hosts and
 * of the highest number that any process uses. */
void process_identity_gpus(struct spool_gpu *v, size_t n, struct arena *a);

#endif
